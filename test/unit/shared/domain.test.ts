import fc from 'fast-check';
import t from 'tap';
import { newEntry } from '../../../src/gateway/cache/entry.ts';
import { commonSlot } from '../../../src/gateway/live/accounts/live-balances.ts';
import { canonicalRequest, parseTarget } from '../../../src/shared/domain/canonical-request.ts';
import { cutText, cutToBytes } from '../../../src/shared/domain/cut-text.ts';
import { describeEpoch, epochAt, firstSlotOfEpoch } from '../../../src/shared/domain/epoch-info.ts';
import { ERRORS, type ErrorCode, GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { describeNetwork } from '../../../src/shared/domain/network-snapshot.ts';
import { parseExactJson } from '../../../src/shared/domain/parse-exact-json.ts';
import { describePerformance } from '../../../src/shared/domain/performance-sample.ts';
import { describePriorityFee } from '../../../src/shared/domain/priority-fee-estimate.ts';
import { quotedInSentence, quotedName } from '../../../src/shared/domain/quoted-name.ts';
import { SlotTime, TARGET_SLOT_MS } from '../../../src/shared/domain/slot-time.ts';
import { toSol } from '../../../src/shared/domain/sol-amount.ts';
import { RawJson, toJson } from '../../../src/shared/domain/to-json.ts';
import {
  isWithinOneUnit,
  unitsOfBody,
  unitsOfBytes,
  unitsOfText,
  unitsOfUpstream,
} from '../../../src/shared/domain/units.ts';
import { ownTurn } from '../../../src/shared/runtime/own-turn.ts';
import { TemplatedText, toTemplatedText } from '../../../src/shared/runtime/templated-text.ts';
import { ERROR_REFERENCE } from '../../../src/shared/site/error-reference.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { HOSTILE_NAMES } from '../../support/hostile-names.ts';
import { ManualClock } from '../../support/manual-clock.ts';

t.test('canonical-request', async (t) => {
  const canonical = (target: string): string => parseTarget(target).canonical;

  t.test('a path is kept verbatim from the first /api/v1 on', async (t) => {
    for (const [target, path] of [
      ['/api/v1/slot', '/api/v1/slot'],
      ['/api/v1/balance/A-b.c_d~9', '/api/v1/balance/A-b.c_d~9'],
      ['/base/api/v1/slot', '/api/v1/slot'],
      ['https://gateway.example:8787/api/v1/slot', '/api/v1/slot'],
      ['/api/v1/x/api/v1/y', '/api/v1/x/api/v1/y'],
      ['/api/v1/slot#fragment?a=1', '/api/v1/slot'],
      ['/api/v1/slot?', '/api/v1/slot'],
      ['/api/v1/slot?&&', '/api/v1/slot'],
    ] as const)
      t.equal(canonical(target), path, target);
  });

  t.test('the method is separated by a space', async (t) => {
    t.equal(canonicalRequest('GET', '/api/v1/slot'), 'GET /api/v1/slot');
    t.equal(canonicalRequest('SUB', '/api/v1/stream?receipts=1'), 'SUB /api/v1/stream?receipts=1');
  });

  t.test('a path outside the grammar leads to no route', async (t) => {
    for (const target of [
      '',
      '/',
      'api/v1',
      '/api/v1/',
      '/api/v1//slot',
      '/api/v1/%73lot',
      '/api/v1/slot/',
      '/api/v1/a b',
      '/api/v1/é',
      '/api/v1/a;b',
      '*',
    ])
      t.throws(() => parseTarget(target), { code: 'route_not_found' }, JSON.stringify(target));
  });

  t.test('every query has one canonical spelling', async (t) => {
    for (const [query, spelling] of [
      ['b=2&a=1', 'a=1&b=2'],
      ['ab=2&a=1', 'a=1&ab=2'],
      ['a', 'a='],
      ['a=', 'a='],
      ['a==b', 'a=%3Db'],
      ['a=b?c', 'a=b%3Fc'],
      ['a=1+2', 'a=1%202'],
      ['a=1%2B2', 'a=1%2B2'],
      ['%61=%62', 'a=b'],
      ['a=%7e%2d', 'a=~-'],
      ['a=%c3%a9', 'a=%C3%A9'],
      ['a=é', 'a=%C3%A9'],
      ["a=!'()*", 'a=%21%27%28%29%2A'],
      ['a=%00', 'a=%00'],
      ['a=%EF%BB%BF', 'a=%EF%BB%BF'],
      ['a=1;b=2', 'a=1%3Bb%3D2'],
      ['a=1&B=2', 'B=2&a=1'],
      ['%F0%90%80%80=1&%EF%BF%BF=2', '%EF%BF%BF=2&%F0%90%80%80=1'],
    ] as const)
      t.equal(canonical(`/api/v1/x?${query}`), `/api/v1/x?${spelling}`, query);
  });

  t.test('an ambiguous query is rejected', async (t) => {
    for (const query of [
      'a=%',
      'a=%4',
      'a=%zz',
      'a=%+1',
      'a=%ff',
      'a=%C3',
      'a=%ED%A0%80',
      'a=1&a=1',
      'a=1&a=2',
      'a=1&b=2&%61=3',
      '=1',
      '&=',
      '%=1',
    ])
      t.throws(() => parseTarget(`/api/v1/x?${query}`), { code: 'invalid_query' }, query);
  });

  t.test('a request is at most 2,045 bytes long, counted as it is signed', async (t) => {
    const long = (bytes: number): string => `/api/v1/x?a=${'b'.repeat(bytes - 'GET /api/v1/x?a='.length)}`;
    t.equal(canonicalRequest('GET', long(2045)).length, 2045);
    t.throws(() => parseTarget(long(2046)), { code: 'uri_too_long' });
    t.throws(() => parseTarget(`/api/v1/x?a=${'é'.repeat(400)}`), { code: 'uri_too_long' });
    t.throws(
      () => parseTarget(`/api/v1/x?${'a&'.repeat(7000)}`),
      { code: 'uri_too_long' },
      'before anything is decoded',
    );
    t.throws(() => parseTarget(`/api/v1/x?${'a&'.repeat(65)}`), { message: 'a query has at most 64 parameters' });
    t.equal(canonical(`/api/v1/x?a=${'%61'.repeat(1000)}`).length, 1012, 'a long spelling of a short request');
  });

  /** Returns one of the many spellings of a text in a query, chosen by `choices`. */
  function spell(text: string, choices: () => number): string {
    let spelled = '';
    for (const byte of Buffer.from(text)) {
      const character = String.fromCharCode(byte);
      const hex = byte.toString(16).padStart(2, '0');
      if (/[\w.~!*-]/.test(character) && choices() % 2 === 0) spelled += character;
      else if (character === ' ' && choices() % 2 === 0) spelled += '+';
      else spelled += `%${choices() % 2 === 0 ? hex : hex.toUpperCase()}`;
    }
    return spelled;
  }

  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });
  const parameters = fc.uniqueArray(fc.tuple(word, word), { selector: ([name]) => name, maxLength: 5 });

  t.test('all spellings and orders of a query give the same request', async (t) => {
    fc.assert(
      fc.property(parameters, fc.infiniteStream(fc.nat()), (pairs, stream) => {
        const choices = (): number => stream.next().value;
        const query = pairs.map(([name, value]) => `${spell(name, choices)}=${spell(value, choices)}`);
        const shuffled = query.map((piece) => [choices(), piece] as const).sort(([a], [b]) => a - b);
        const target = `/api/v1/x?${shuffled.map(([, piece]) => piece).join('&')}`;
        const sorted = [...pairs].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        t.same(parseTarget(target).query, sorted);
        return canonical(target) === canonical(`/api/v1/x?${query.join('&')}`);
      }),
    );
  });

  t.test('the canonical spelling of a canonical request is itself, and follows the grammar of receipts', async (t) => {
    fc.assert(
      fc.property(parameters, (pairs) => {
        const target = `/api/v1/x?${new URLSearchParams(pairs)}`;
        const request = canonicalRequest('GET', target);
        return request === canonicalRequest('GET', request.slice(4)) && /^GET \/[A-Za-z0-9._~%?&=/-]*$/.test(request);
      }),
    );
    t.pass();
  });
});

t.test('common-slot', async (t) => {
  const span = fc.tuple(fc.nat(30), fc.nat(10)).map(([sinceSlot, more]) => ({ sinceSlot, slot: sinceSlot + more }));

  t.test('it is the newest slot that lies in all spans, and there is none if they have no slot in common', async () => {
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 8 }), (spans) => {
        const shared = Array.from({ length: 41 }, (_, slot) => slot).filter((slot) =>
          spans.every((each) => each.sinceSlot <= slot && slot <= each.slot),
        );
        return commonSlot(spans) === shared.at(-1);
      }),
    );
  });

  t.test('a state that changed after the last slot known of another has no slot in common with it', async (t) => {
    const unchanged = { sinceSlot: 100, slot: 104 };
    t.equal(commonSlot([unchanged, { sinceSlot: 104, slot: 104 }]), 104);
    t.equal(commonSlot([unchanged, { sinceSlot: 105, slot: 105 }]), undefined);
    t.equal(commonSlot([]), undefined, 'nothing has no slot');
  });
});

t.test('cut-text', async (t) => {
  t.test('a text is cut between characters, and what is short enough stays as it is', async (t) => {
    t.equal(cutText('12345', 5), '12345');
    t.equal(cutText('123456', 5), '1234…');
    t.equal(cutText('🐕🐕🐕🐕🐕', 5), '🐕🐕🐕🐕🐕');
    t.equal(cutText('🐕🐕🐕🐕🐕🐕', 5), '🐕🐕🐕🐕…');
    t.equal(cutText('1🐕2🐕3🐕', 5), '1🐕2🐕…');
  });

  t.test('a text is cut to bytes of UTF-8, ellipsis included', async (t) => {
    t.equal(cutToBytes('12345678', 8), '12345678');
    t.equal(cutToBytes('123456789', 8), '12345…');
    t.equal(cutToBytes('🐕🐕', 8), '🐕🐕');
    t.equal(cutToBytes('🐕🐕1', 8), '🐕…');
    t.equal(Buffer.byteLength(cutToBytes('é'.repeat(1_000_000), 4096)), 4095, 'an odd byte is left over');
  });
});

t.test('epoch-info', async (t) => {
  const info = { blockHeight: 0, transactionCount: null, slotsInEpoch: 432_000 };

  t.test('the first slot of any epoch follows from the current one', async (t) => {
    const mainnet = { ...info, epoch: 580, slotIndex: 1_234, absoluteSlot: 580 * 432_000 + 1_234 };
    const firstSlots = [0, 1, 580, 581].map((epoch) => firstSlotOfEpoch(mainnet, epoch));
    t.same(firstSlots, [0, 432_000, 250_560_000, 250_992_000]);
  });

  t.test('on a cluster that warmed up, the first epochs are shorter', async (t) => {
    // devnet's schedule: firstNormalEpoch 14, firstNormalSlot 524256
    const devnet = { ...info, epoch: 900, slotIndex: 5, absoluteSlot: 524_256 + (900 - 14) * 432_000 + 5 };
    const ofDevnet = [0, 1, 2, 13, 14, 15].map((epoch) => firstSlotOfEpoch(devnet, epoch));
    t.same(ofDevnet, [0, 32, 96, 262_112, 524_256, 956_256]);
  });
});

t.test('gateway-error', async (t) => {
  const codes = Object.keys(ERRORS) as ErrorCode[]; // the table's own keys

  t.test('every code has the status of the table, and a body with two members', async (t) => {
    for (const code of codes) {
      const error = new GatewayError(code, 'why');
      t.match(code, /^[a-z]+(_[a-z]+)*$/);
      t.equal(error.status, ERRORS[code].status);
      t.equal(JSON.stringify(error), `{"error":"${code}","message":"why"}`);
    }
  });

  t.test('the reference has the meaning and the cure of every error, and of no other', async (t) => {
    t.strictSame(Object.keys(ERROR_REFERENCE).sort(), codes.toSorted());
    for (const [code, { meaning, fix }] of Object.entries(ERROR_REFERENCE)) t.ok(meaning !== '' && fix !== '', code);
  });

  t.test('every 503 has a Retry-After, other errors only when it is given', async (t) => {
    for (const code of codes)
      t.equal(new GatewayError(code, '').retryAfter, ERRORS[code].status === 503 ? 1 : undefined, code);
    t.equal(new GatewayError('stale', '', { retryAfter: 9 }).retryAfter, 9);
    t.equal(new GatewayError('rate_limited', '', { retryAfter: 3 }).retryAfter, 3);
    t.equal(new GatewayError('rpc_error', '', { status: 503 }).retryAfter, 1);
  });

  t.test('details are kept outside the body', async (t) => {
    const error = new GatewayError('rpc_error', 'no', { status: 404, rpcCode: -32009, cause: 'http://key@node' });
    t.match(error, { status: 404, rpcCode: -32009, cause: 'http://key@node' });
    t.equal(JSON.stringify(error), '{"error":"rpc_error","message":"no"}');
    t.equal(new GatewayError('method_not_allowed', '', { allow: 'GET' }).allow, 'GET');
  });

  t.test('any other thrown value becomes an internal error without details', async (t) => {
    const known = new GatewayError('not_found', 'x');
    t.equal(GatewayError.from(known), known);
    for (const thrown of [new Error('http://key@node'), 'text', undefined, null]) {
      const error = GatewayError.from(thrown);
      t.equal(JSON.stringify(error), '{"error":"internal_error","message":"internal error"}');
      t.equal(error.status, 500);
      t.equal(error.cause, thrown);
    }
  });
});

t.test('network-snapshot', async (t) => {
  const epoch = {
    absoluteSlot: 1000,
    blockHeight: 900,
    epoch: 7,
    slotIndex: 430,
    slotsInEpoch: 432,
    transactionCount: null,
  };
  const frame = { seq: 3, stream: 'abc', updatedAt: 1 };

  t.test('an unknown member is null, never 0', async (t) => {
    t.same(
      describeNetwork(
        { slot: 1000, epoch, performance: null, priorityFee: null, consensus: null, health: 'ok' },
        frame,
      ),
      {
        slot: 1000,
        blockHeight: 900,
        epoch: 7,
        epochProgress: 0.99537,
        slotIndex: 430,
        slotsInEpoch: 432,
        tps: null,
        nonVoteTps: null,
        slotTimeMs: null,
        priorityFee: null,
        priorityFeeLevels: null,
        transactionCount: null,
        consensus: null,
        health: 'ok',
        seq: 3,
        stream: 'abc',
        updatedAt: 1,
      },
    );
  });

  t.test('a slot ahead of the epoch answer may lie in the next epoch', async (t) => {
    const parts = { epoch, performance: null, priorityFee: null, consensus: null, health: 'ok' } as const;
    t.match(describeNetwork({ ...parts, slot: 1001 }, frame), { epoch: 7, slotIndex: 431 });
    t.match(describeNetwork({ ...parts, slot: 1002 }, frame), { epoch: 8, slotIndex: 0, epochProgress: 0 });
    t.match(describeNetwork({ ...parts, slot: 569 }, frame), { epoch: 6, slotIndex: 431 });
  });

  t.test('epoch and index identify the slot, however far it is', async () => {
    fc.assert(
      fc.property(fc.integer({ min: -5000, max: 5000 }), (distance) => {
        const { epoch: number, slotIndex } = epochAt(epoch, 1000 + distance);
        const inside = slotIndex >= 0 && slotIndex < 432;
        return inside && (number - 7) * 432 + slotIndex - 430 === distance;
      }),
    );
  });

  t.test('the end of an epoch is estimated from the recent slot time', async (t) => {
    const described = describeEpoch({ ...epoch, slotIndex: 232 }, 500, 1_000_000);
    t.match(described, { slotsRemaining: 200, estimatedEndTime: 1100, epochProgress: 0.537037 });
  });

  t.test('rates of a performance sample are rounded; those of an empty one are null', async (t) => {
    const sample = { slot: 9, numTransactions: 1234n, numNonVoteTransactions: 7n, numSlots: 151, samplePeriodSecs: 60 };
    t.match(describePerformance(sample), { tps: 20.6, nonVoteTps: 0.1, slotTimeMs: 397.4 });
    t.match(describePerformance({ ...sample, numSlots: 0, numNonVoteTransactions: null }), {
      slotTimeMs: null,
      nonVoteTps: null,
      numNonVoteTransactions: null,
    });
  });
});

t.test('own-turn', async (t) => {
  t.test('no two slices of long work share a turn of the event loop', async (t) => {
    const slices: string[] = [];
    let turns = 0;
    let counting = setImmediate(function count() {
      turns++;
      counting = setImmediate(count);
    });
    t.teardown(() => clearImmediate(counting));
    const work = async (name: string): Promise<number[]> => {
      const ran: number[] = [];
      for (let i = 0; i < 3; i++) {
        await ownTurn();
        ran.push(turns);
        slices.push(name);
      }
      return ran;
    };
    const ran = (await Promise.all([work('a'), work('b'), work('c')])).flat();
    t.equal(new Set(ran).size, ran.length, 'each in a turn of its own');
    t.strictSame(slices.slice(0, 6), ['a', 'b', 'c', 'a', 'b', 'c'], 'in turns');
  });
});

t.test('parse-exact-json', async (t) => {
  t.test('integers beyond 2^53 stay exact, the others stay numbers', async (t) => {
    const text = '[18446744073709551615,-9007199254740993,9007199254740991,1e21,0.1234567890123456,12e1]';
    t.strictSame(parseExactJson(text), [
      18446744073709551615n,
      -9007199254740993n,
      9007199254740991,
      1e21,
      0.1234567890123456,
      120,
    ]);
  });

  t.test('a string is never parsed as a number', async (t) => {
    const hostile = {
      '18446744073709551615': '18446744073709551615',
      '\0': ['\0' + '18446744073709551615', '\0\0', '"1'],
    };
    t.strictSame(parseExactJson(JSON.stringify({ ...hostile, exact: 0 }).replace(/0}$/, '18446744073709551615}')), {
      ...hostile,
      exact: 18446744073709551615n,
    });
  });

  t.test('a string without an end is refused immediately, however many quotes are in it', async (t) => {
    for (const quote of ['\\"', '"\\\n', '\\\\"'])
      t.throws(() => parseExactJson(`1234567890123456"${quote.repeat(100_000)}`), SyntaxError);
  });

  t.test('written values are read back unchanged', async () => {
    const big = fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        big,
        fc.maxSafeInteger(),
        fc.string({ unit: anyCharacter }),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('tree')),
      object: fc.dictionary(fc.string(), tie('tree'), { noNullPrototype: true }),
    }));
    fc.assert(fc.property(tree, (value) => toJson(parseExactJson(toJson(value))) === toJson(value)));
  });

  t.test('invalid JSON is rejected, with long integers or without', async (t) => {
    for (const text of ['', '{"id":', '[01234567890123456789]', '[1234567890123456789', '"\n1234567890123456789"']) {
      t.throws(() => parseExactJson(text), SyntaxError, text);
    }
  });
});

t.test('priority-fee-estimate', async (t) => {
  const samples = (fees: readonly bigint[]) =>
    fees.map((prioritizationFee, i) => ({ slot: 100 + i, prioritizationFee }));
  const describe = (fees: readonly bigint[]) => describePriorityFee(samples(fees), 500);

  t.test('percentiles are samples, by nearest rank', async (t) => {
    const fee = describe([40n, 10n, 0n, 20n, 30n]);
    t.same(fee.priorityFeeLevels, { min: 0n, low: 10n, medium: 20n, high: 30n, veryHigh: 40n, unsafeMax: 40n });
    t.equal(fee.priorityFeeEstimate, 20n);
    t.match(fee, { slotsSampled: 5, fromSlot: 100, toSlot: 104, zeroShare: 0.2 });
  });

  t.test('a fee beyond 2^53 keeps every digit', async (t) => {
    t.equal(describe([18446744073709551615n]).priorityFeeEstimate, 18446744073709551615n);
  });

  t.test('without samples the count is 0, and both slots are that of the request', async (t) => {
    t.match(describe([]), { slotsSampled: 0, fromSlot: 500, toSlot: 500, zeroShare: 0, priorityFeeEstimate: 0n });
  });

  t.test('percentiles never fall, and at least p percent of the samples are at or below each', async () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, 1000n), { minLength: 1, maxLength: 150 }), (fees) => {
        const { percentiles } = describe(fees);
        let before = -1n;
        return Object.entries(percentiles).every(([percent, fee]) => {
          const rises = fee >= before;
          before = fee;
          const share = fees.filter((other) => other <= fee).length / fees.length;
          return rises && fees.includes(fee) && share * 100 >= Number(percent);
        });
      }),
    );
  });
});

t.test('quoted-name', async (t) => {
  t.test('a name is no part of the words around it', async (t) => {
    const quoted: Record<string, string | null> = {
      WIF: '“WIF”',
      'WIF\u0000\u0000': '“WIF”',
      狗: '“狗”',
      '🐕': '“🐕”',
      'X” to Alice. “Y': '“X to Alice. Y”',
      'X’’ to `` Y': '“X to Y”',
      "don't": "“don't”",
      'A\u202eB\u200bC': '“A\ufffdBC”',
      'A\u001b[2KB': '“A\ufffd[2KB”',
      'one\ntwo\t three\u2028four': '“one two three four”',
      '\u3164\u2800': null,
      שקל: '“שקל”',
      '\u200b': null,
      '': null,
    };
    t.same(Object.fromEntries(Object.keys(quoted).map((name) => [name, quotedName(name)])), quoted);
    t.equal(quotedInSentence('שקל'), null, 'letters from right to left would turn the sentence');
    t.equal(quotedInSentence('WIF'), '“WIF”');
    t.equal(quotedName('x'.repeat(10_000)), `“${'x'.repeat(31)}…”`);
    t.equal(quotedName('🐕'.repeat(33)), `“${'🐕'.repeat(31)}…”`, 'no half of a character');
    t.equal(quotedName(`Z${'\u0336'.repeat(50)}`), '“Z\u0336”', 'no pile of marks');
  });

  t.test('no hostile name ends its quotation or acts on what shows it', async (t) => {
    for (const name of [...HOSTILE_NAMES, 'a”b', 'a"b', 'a″b', 'a\u009bb', '\u2029', 'a❞ ✓ known'])
      for (const quoted of [quotedName(name), quotedInSentence(name)])
        t.ok(quoted === null || /^“[^"“”„‟″❝❞˝˶⁗᳓⹂\p{C}\u2028\u2029]+”$/u.test(quoted), `${quoted}`);
  });

  t.test('no text has a quotation mark, or two halves of one side by side, within its own', async (t) => {
    const halves = [...`'‘’‚‛＇′‵\`´ʹʻʼʽˈ՚׳ꞌ᾽᾿❛❜`];
    const doubled = [...'"“”„‟″‶‴⁗〃ʺˮ˝˶᳓״⹂❝❞«»‹›「」'];
    const unseen = ['\ufe0e', '\ufe0f', '\u200b', '\u2060', '\u0301', '\u030b', '\0', '\u202e'];
    const part = fc.constantFrom(...halves, ...doubled, ...unseen, ' ', 'a', 'é', '狗', '🐕');
    const half = `[${halves.join('')}]`;
    const ending = new RegExp(`[${doubled.join('')}\\u030b]|${half}\\p{M}*${half}`, 'u');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
        const quoted = quotedName(parts.join(''));
        return quoted === null || !ending.test(quoted.slice(1, -1));
      }),
      { numRuns: 2000 },
    );
    t.equal(quotedName(`hi’"’. Then it got 5,000 SOL. ‘"‘`, 64), '“hi. Then it got 5,000 SOL.”');
    t.equal(quotedName('rock ’n’ roll'), '“rock ’n’ roll”', 'an apostrophe stays');
  });
});

t.test('slot-time', async (t) => {
  function open() {
    const clock = new ManualClock(0);
    const slotTime = new SlotTime(clock);
    let slot = 1000;
    slotTime.observe(slot);
    /** Lets slots pass, each after some milliseconds. */
    const pass = (slots: number, slotMs: number): void => {
      for (let n = 0; n < slots; n++) {
        clock.advance(slotMs);
        slotTime.observe(++slot);
      }
    };
    /** Observes a slot that is ahead of the newest, which doesn't count as passed. */
    const jump = (slots: number): void => slotTime.observe(slot + slots);
    return { clock, slotTime, pass, jump };
  }

  t.test('the slot time is the target until a second was measured, then what slots take', async (t) => {
    for (const slotMs of [10, 150, 200, 400, 1200]) {
      const { slotTime, pass } = open();
      t.match(slotTime, { ms: TARGET_SLOT_MS, measuredMs: undefined });
      pass(Math.ceil(1000 / slotMs), slotMs);
      t.match(slotTime, { ms: slotMs, measuredMs: slotMs });
    }
  });

  t.test('skipped slots count, and slots that arrive together distort nothing', async (t) => {
    const { clock, slotTime, pass } = open();
    for (let n = 0; n < 40; n++) {
      pass(6, 200);
      clock.advance(700); // four slots of a leader that is down, all of which come with the next one
      pass(4, 25);
    }
    t.ok(Math.abs(slotTime.ms - 200) < 6, `${slotTime.ms}`);
  });

  t.test('neither an outage, nor the slots behind it, nor a false slot changes it', async (t) => {
    const { clock, slotTime, pass, jump } = open();
    pass(150, 200);
    clock.advance(20_000);
    pass(100, 2);
    pass(20, 200);
    t.equal(slotTime.ms, 200, 'after an outage');
    jump(64);
    pass(100, 200);
    t.equal(slotTime.ms, 200, 'after a slot that the cluster had not reached');
  });

  t.test('it follows a cluster whose slots become shorter, within a minute or a little more', async (t) => {
    const { slotTime, pass } = open();
    for (const slotMs of [400, 350, 300, 250, 200, 150]) {
      pass(Math.ceil(75_000 / slotMs), slotMs);
      t.equal(slotTime.ms, slotMs);
    }
  });

  t.test('whatever a third of the time shows, it stays near what the rest shows, and finite', async () => {
    const oddity = fc.record({ slots: fc.integer({ min: 1, max: 5000 }), ms: fc.integer({ min: 0, max: 60_000 }) });
    fc.assert(
      fc.property(fc.array(oddity, { maxLength: 18 }), fc.constantFrom(150, 200, 400), (oddities, slotMs) => {
        const { clock, slotTime } = open();
        let slot = 1000;
        const observe = (slots: number, ms: number): void => {
          clock.advance(ms);
          slot += slots;
          slotTime.observe(slot);
        };
        for (const { slots, ms } of oddities) {
          for (let n = 0; n < Math.ceil(3000 / slotMs); n++) observe(1, slotMs);
          observe(slots, ms);
        }
        for (let n = 0; n < Math.ceil(3000 / slotMs); n++) observe(1, slotMs);
        return slotTime.ms > slotMs / 2 && slotTime.ms < slotMs * 2;
      }),
    );
  });
});

t.test('sol-amount', async (t) => {
  t.test('an amount in SOL has the digits it needs and no more', async (t) => {
    for (const [lamports, sol] of [
      [0n, '0'],
      [1n, '0.000000001'],
      [10n, '0.00000001'],
      [500_000_000n, '0.5'],
      [1_000_000_000n, '1'],
      [1_000_000_001n, '1.000000001'],
      [9_007_199_254_740_993n, '9007199.254740993'],
      [2n ** 64n - 1n, '18446744073.709551615'],
    ] as const)
      t.equal(toSol(lamports), sol);
  });

  t.test('lamports and SOL are equal for every u64', async (t) => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (lamports) => {
        const [whole = '', fraction = ''] = toSol(lamports).split('.');
        return BigInt(whole + fraction.padEnd(9, '0')) === lamports && /^\d+(\.\d{0,8}[1-9])?$/.test(toSol(lamports));
      }),
    );
    t.pass();
  });
});

t.test('templated-text', async (t) => {
  const OWNER = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
  const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const tokenAccount = (amount: number): string =>
    `{"lamports":2039280,"data":{"program":"spl-token","parsed":{"info":{"isNative":false,"mint":"${MINT}","owner":"${OWNER}",` +
    `"state":"initialized","tokenAmount":{"amount":"${amount}","decimals":6,"uiAmount":${amount / 1e6},"uiAmountString":"${amount / 1e6}"}},` +
    `"type":"account"},"space":165},"owner":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA","executable":false,"rentEpoch":18446744073709551615,"space":165}`;

  /** Texts with words that are values, words that are not, and everything between them. */
  const texts = fc
    .array(
      fc.oneof(
        fc.string(),
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.stringMatching(/^[\w+/=.-]{1,50}$/),
        fc.constantFrom(OWNER, 'lamports', '18446744073709551615', '"', ',', '\0'),
      ),
      { minLength: 1, maxLength: 400 },
    )
    .map((pieces) => pieces.join(''));

  t.test('every text comes back as it was', async () => {
    fc.assert(fc.property(texts, (text) => toTemplatedText(text).toString() === text));
    fc.assert(
      fc.property(fc.nat(), (amount) => toTemplatedText(tokenAccount(amount)).toString() === tokenAccount(amount)),
    );
  });

  t.test('texts share a template once eight have it: a token account takes less than a third of it', async (t) => {
    for (let i = 0; i < 7; i++) {
      const lone = tokenAccount(i).replace('decimals', 'digits');
      t.equal(toTemplatedText(lone), lone);
    }
    t.type(toTemplatedText(tokenAccount(7).replace('decimals', 'digits')), TemplatedText);
    const text = tokenAccount(1_234_567_890);
    const templated = toTemplatedText(text);
    t.ok(templated instanceof TemplatedText && templated.ownLength < text.length / 3);
  });

  t.test('what would gain nothing stays as it is', async (t) => {
    for (const [name, text] of Object.entries({
      short: tokenAccount(1).slice(0, 255),
      long: `${tokenAccount(1)}${' '.repeat(4096)}`,
      'without values': '{"a":"b"}'.repeat(50),
      'of one value': `${'{"a":"b"}'.repeat(50)}{"a":1}`,
      'of many values': '{"a":1}'.repeat(65),
      'beyond one byte': tokenAccount(1).replace('account', 'account ☃'),
      'with a NUL': `${tokenAccount(1)}\0`,
    }))
      for (let i = 0; i < 9; i++) t.equal(toTemplatedText(text), text, name);
  });

  t.test('a template that is forgotten serves the texts that have it', async (t) => {
    for (let i = 0; i < 8; i++) toTemplatedText(tokenAccount(i));
    const first = toTemplatedText(tokenAccount(1));
    t.type(first, TemplatedText);
    const wrong: string[] = [];
    for (let i = 0; i < 1001; i++) {
      const name = [...i.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join('');
      const other = tokenAccount(2).replace('isNative', name);
      for (let j = 0; j < 8; j++) if (toTemplatedText(other).toString() !== other) wrong.push(name);
    }
    t.same(wrong, []);
    t.equal(first.toString(), tokenAccount(1));
  });
});

t.test('to-json', async (t) => {
  t.test('values of JSON are written as JSON.stringify writes them', async (t) => {
    fc.assert(fc.property(fc.jsonValue(), (value) => toJson(value) === JSON.stringify(value)));
    t.equal(toJson('a"\\\n☃\ud800'), JSON.stringify('a"\\\n☃\ud800'));
    t.equal(toJson({ a: 1, b: undefined, c: null }), '{"a":1,"c":null}');
    t.equal(toJson({ b: undefined }), '{}');
  });

  t.test('no integer loses a digit, at any depth', async (t) => {
    fc.assert(
      fc.property(fc.bigInt(), (n) => toJson({ a: [n, { b: n }], c: n }) === `{"a":[${n},{"b":${n}}],"c":${n}}`),
    );
    t.equal(toJson({ lamports: 2n ** 64n - 1n }), '{"lamports":18446744073709551615}');
  });

  t.test('raw JSON is written verbatim', async (t) => {
    t.equal(
      toJson({ rentEpoch: new RawJson('18446744073709551615'), x: [new RawJson('1.0e3')] }),
      '{"rentEpoch":18446744073709551615,"x":[1.0e3]}',
    );
  });

  t.test('members keep their order, so equal values have equal bytes', async (t) => {
    t.equal(toJson({ z: 1, a: 2n, m: 'x' }), '{"z":1,"a":2,"m":"x"}');
  });
});

t.test('units', async (t) => {
  const MIB = 1 << 20;

  t.test('calls beyond ten cost a unit for ten, a scan twenty, others one for each MiB or 100 rows', async (t) => {
    const units = ([calls = 0, scans = 0, bytes = 0, rows = 0, addresses = 0]: readonly number[]): number =>
      unitsOfUpstream({ calls, scans, bytes, rows, addresses });
    t.same(
      [
        [],
        [1, 0, MIB],
        [2],
        [11],
        [12],
        [805],
        [1, 1],
        [1, 0, MIB + 1],
        [2, 1, 64 * MIB],
        [0, 0, 0, 100],
        [2, 0, 0, 201],
        [1, 0, 0, 0, 10],
        [1, 0, 0, 0, 11],
        [2, 0, 0, 0, 100],
      ].map(units),
      [0, 0, 1, 1, 2, 81, 20, 1, 1 + 20 + 63, 0, 1 + 2, 0, 1, 1 + 9],
    );
  });

  t.test('one unit pays for ten calls, a MiB, a hundred rows and ten addresses, and for no scan', async (t) => {
    const paid = { calls: 10, scans: 0, bytes: MIB, rows: 100, addresses: 10 };
    const dearer = [{ calls: 11 }, { scans: 1 }, { bytes: MIB + 1 }, { rows: 101 }, { addresses: 11 }];
    const within = [{}, ...dearer].map((more) => isWithinOneUnit({ ...paid, ...more }));
    t.same(within, [true, false, false, false, false, false]);
  });

  t.test('a body costs one unit for each started 16 KiB, the first of which every request pays', async (t) => {
    t.same([0, 1, 16_384, 16_385, 65_536, 262_144].map(unitsOfBody), [0, 0, 0, 1, 3, 15]);
  });

  t.test('the first MiB of an answer costs nothing more, whatever its characters', async (t) => {
    t.same([0, 1, MIB, MIB + 1, 3 * MIB].map(unitsOfBytes), [0, 0, 0, 1, 2]);
    t.same(['x'.repeat(MIB), 'x'.repeat(MIB + 1), 'ü'.repeat(MIB / 2 + 1)].map(unitsOfText), [0, 1, 1]);
  });

  t.test('an entry knows what a hit costs', async (t) => {
    const init = { key: 'k', slot: 1, policy: 'live', tipAtFetch: 1, validatedMs: 0 } as const;
    const meta = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
    t.equal(newEntry('1', { ...init, meta }).units, 1);
    t.equal(newEntry('x'.repeat(2 * MIB), { ...init, meta }).units, 2);
  });
});
