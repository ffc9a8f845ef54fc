import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { YIELD_EVERY_BYTES } from '../../../src/gateway/upstream/json/cooperative.ts';
import {
  canonicalJson,
  canonicalParts,
  elements,
  elementsYielding,
  forEachElement,
  member,
  members,
  membersYielding,
  parseI64,
  parseSafeInteger,
  parseString,
  parseU64,
  pickMembers,
  pickNestedYielding,
} from '../../../src/gateway/upstream/json/raw-json.ts';
import { StringCheck } from '../../../src/gateway/upstream/json/string-check.ts';
import { parseRentEpoch } from '../../../src/gateway/upstream/reads/account-info.ts';
import { normalizeRpcError, rateLimited, rpcFaultOf } from '../../../src/gateway/upstream/rpc/error-normalizer.ts';
import { connectionFault, failureReason, httpFault } from '../../../src/gateway/upstream/rpc/failure-reason.ts';
import { redactedOrigin, redactor } from '../../../src/gateway/upstream/rpc/redact.ts';
import { ResponseParts } from '../../../src/gateway/upstream/rpc/response-parts.ts';
import { commitmentOf, minContextSlotOf } from '../../../src/gateway/upstream/rpc/response-slot.ts';
import { RpcClient } from '../../../src/gateway/upstream/rpc/rpc-client.ts';
import { profileOfVersion } from '../../../src/gateway/upstream/rpc/server-profile.ts';
import type { UpstreamSettings } from '../../../src/gateway/upstream/upstream-options.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { RequestCost } from '../../../src/shared/domain/units.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { listenOnLoopback } from '../../support/loopback-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { readTable } from '../../support/read-table.ts';
import {
  errorBody,
  type ReplyScript,
  resultBody,
  ScriptedNode,
  SECRET,
  waitUntil,
} from '../../support/scripted-node.ts';
import { UPSTREAM_SETTINGS } from '../../support/upstream-settings.ts';

t.test('raw-json', async (t) => {
  const broken = { code: 'upstream_error' };

  /** JSON objects with names that need escapes. */
  const value = fc.jsonValue({ maxDepth: 5 });
  const object = fc.dictionary(fc.oneof(fc.string({ unit: anyCharacter }), fc.stringMatching(/^[a-z]{1,4}$/)), value);
  const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/);
  /** Spellings of one JSON value: with white space, and with escapes in names where none are needed. */
  const spelling = (json: unknown, mayEscape: boolean) =>
    fc.tuple(space, fc.constantFrom(undefined, 1, '\t'), fc.boolean()).map(([around, indent, escaped]) => {
      const plain = JSON.stringify(json, null, indent);
      const spelled = escaped && mayEscape ? plain.replace(/"[a-z]+":/g, escapeLetters) : plain;
      return `${around}${spelled}${around}`;
    });
  const escapeLetters = (name: string) =>
    name.replace(/[a-z]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const document = object.chain((json) => spelling(json, true));
  /** Documents of printable text without escapes: inside strings the scanner looks for nothing else. */
  const plainDocument = fc
    .dictionary(
      fc.stringMatching(/^[a-z]{0,5}$/),
      fc.jsonValue({ stringUnit: fc.constantFrom(...'abc{}[],:-+.eE019 ') }),
    )
    .map((json) => JSON.stringify(json));

  const parses = (json: string): boolean => {
    try {
      return typeof JSON.parse(json) === 'object' && json.trim().startsWith('{');
    } catch {
      return false;
    }
  };
  const slices = (bytes: Buffer): boolean => {
    try {
      members(bytes);
      return true;
    } catch {
      return false;
    }
  };

  const hasValidStrings = (bytes: Buffer, step: number): boolean => {
    const check = new StringCheck(bytes);
    try {
      while (!check.run(step));
      return true;
    } catch {
      return false;
    }
  };

  t.test('a member has the value that JSON.parse gives it', async () => {
    fc.assert(
      fc.property(document, (json) => {
        const values = [...members(Buffer.from(json))].map(([name, bytes]) => [name, JSON.parse(`${bytes}`)] as const);
        assert.deepEqual(new Map(values), new Map(Object.entries(JSON.parse(json))));
      }),
    );
  });

  t.test('a truncated document is rejected, wherever it ends', async () => {
    fc.assert(
      fc.property(document, (json) => {
        const bytes = Buffer.from(json.trimEnd());
        const step = Math.ceil(bytes.length / 500); // each end is a scan: all of a long document take its length squared
        const ends = Array.from(bytes.keys()).filter((end) => end % step === 0 || end >= bytes.length - 100);
        return ends.every((end) => !slices(bytes.subarray(0, end)));
      }),
    );
  });

  t.test('a document with a changed character is accepted if and only if JSON.parse accepts it', async () => {
    const change = fc.tuple(plainDocument, fc.nat(), fc.constantFrom(...'{}[],:"-+.eE0195tfn x', ''), fc.boolean());
    fc.assert(
      fc.property(change, ([json, position, character, insert]) => {
        const at = position % (json.length + 1);
        const changed = json.slice(0, at) + character + json.slice(insert ? at : at + 1);
        return slices(Buffer.from(changed)) === parses(changed);
      }),
      { numRuns: 3000 },
    );
  });

  t.test('a string with a changed character is valid if JSON.parse accepts it, however far a step goes', async () => {
    const change = fc.tuple(
      document,
      fc.nat(),
      fc.constantFrom(...'\u0000\n\u001f\\"unx8\u00e9\ud83d\ude00'),
      fc.boolean(),
    );
    fc.assert(
      fc.property(change, fc.integer({ min: 1, max: 40 }), ([json, position, character, insert], step) => {
        const at = position % (json.length + 1);
        const changed = json.slice(0, at) + character + json.slice(insert ? at : at + 1);
        const bytes = Buffer.from(changed);
        return (hasValidStrings(bytes, step) && slices(bytes)) === parses(changed);
      }),
      { numRuns: 3000 },
    );
  });

  t.test('digits stay as they are', async (t) => {
    for (const digits of ['9007199254740993', '18446744073709551615', '-0', '1e400', '0.10', '1E+2']) {
      t.equal(member(Buffer.from(`{"a":{"b":1},"x":${digits}}`), 'x')?.toString(), digits);
    }
  });

  t.test('of repeated members the last counts, however its name is spelled', async (t) => {
    t.equal(member(Buffer.from(String.raw`{"slot":1,"sl\u006ft":2}`), 'slot')?.toString(), '2');
    t.equal(canonicalJson(Buffer.from(String.raw`{"slot":1,"a":0,"sl\u006ft":2}`)), String.raw`{"a":0,"sl\u006ft":2}`);
  });

  t.test('members that are picked by name are those that are found, and the same JSON is refused', async (t) => {
    const names = fc.array(fc.stringMatching(/^[a-z]{0,4}$/), { maxLength: 4 });
    let picked = 0;
    fc.assert(
      fc.property(document, names, fc.nat(), (json, wanted, cut) => {
        const bytes = Buffer.from(json);
        const all = members(bytes);
        const sought = [...wanted, ...[...all.keys()].filter((name) => /^[\x20-\x7e]*$/.test(name))];
        const found = pickMembers(bytes, sought);
        assert.deepEqual(
          found.map(String),
          sought.map((name) => String(all.get(name))),
        );
        picked += found.filter((value) => value !== undefined).length;
        const part = bytes.subarray(0, cut % (bytes.length + 1));
        if (!slices(part)) assert.throws(() => pickMembers(part, sought), broken);
      }),
    );
    t.ok(picked > 20, `${picked} members`);
  });

  t.test('only one whole object has members', async (t) => {
    for (const json of [
      '',
      ' ',
      'null',
      '1',
      '"{}"',
      '[]',
      '{} {}',
      '{}x',
      '{"a":1},',
      '{"a" 1}',
      "{'a':1}",
      '{a:1}',
      '{"a":}',
    ]) {
      t.throws(() => members(Buffer.from(json)), broken, json);
    }
    t.equal(member(Buffer.from(' {} '), 'a'), undefined);
  });

  t.test('nesting is bounded', async (t) => {
    const nested = (depth: number) => Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    t.ok(member(nested(8 + 127), 'a'), 'as deep as a node shows what a validator says of itself');
    t.throws(() => member(nested(160), 'a'), broken);
    t.throws(() => canonicalJson(nested(1_000_000)), broken);
  });

  t.test('so is the number of parts, each of which takes a hundred times its bytes', async (t) => {
    const names = (count: number) => Buffer.from(`{${Array.from({ length: count }, (_, i) => `"${i}":1`).join()}}`);
    const list = (count: number, each = '1') => Buffer.from(`[${`${each}, `.repeat(count - 1)}${each}]`);
    t.equal(members(names(10_000)).size, 10_000);
    t.equal(elements(list(10_000)).length, 10_000);
    t.equal((await elementsYielding(list(10_001))).length, 10_001);
    for (const read of [() => members(names(10_001)), () => elements(list(10_001)), () => canonicalJson(names(10_001))])
      t.throws(read, broken);
    t.throws(() => canonicalJson(list(100_001, '[]')), { code: 'result_too_large' }, 'which an honest node may send');
    await t.rejects(elementsYielding(list(3), 2), broken);
  });

  t.test('in one turn at most 100,000 values of a long text are found, and no string above 1 MiB', async (t) => {
    const long = (count: number) => Buffer.from(`{"a":[${'{},'.repeat(count - 2)}{}],"b":1}`);
    t.equal(member(long(90_000), 'b')?.toString(), '1');
    const tooMany = long(250_000);
    for (const find of [members, (bytes: Buffer) => pickMembers(bytes, ['b'])]) t.throws(() => find(tooMany), broken);
    t.equal(members(tooMany, 250_000).get('b')?.toString(), '1');
    t.equal((await membersYielding(tooMany)).get('b')?.toString(), '1');
    const bytewise = [
      `"${'\\"'.repeat(300_000)}"`,
      `"${'\\\\'.repeat(1 << 20)}"`,
      `[${`${' '.repeat(60_000)}1,`.repeat(40)}1]`,
    ];
    for (const value of [...bytewise, `[${`${'1'.repeat(4096)},`.repeat(500)}1]`]) {
      const bytes = Buffer.from(`{"a":${value},"b":1}`);
      t.throws(() => member(bytes, 'b'), broken, 'bytes that are looked at one by one count, too');
      t.equal((await membersYielding(bytes)).get('b')?.toString(), '1');
      await t.rejects(
        forEachElement(Buffer.from(`[${bytes}]`), 1 << 20, () => {}),
        broken,
      );
    }
    t.ok(member(Buffer.from(`{"a":"${'x'.repeat(1 << 24)}","b":1}`), 'b'), 'the data of an account may be long');
    t.equal(parseString(Buffer.from(`"${'x'.repeat(1 << 19)}"`)).length, 1 << 19);
    t.throws(() => parseString(Buffer.from(`"${'x'.repeat(1 << 20)}"`)), broken);
  });

  t.test('digits and white space in one place are bounded, and so are names', async (t) => {
    const [digits, space, name] = ['1'.repeat(4096), ' '.repeat(65_536), '\\"'.repeat(32_000)];
    t.equal(members(Buffer.from(`{"${name}":1}`)).size, 1);
    for (const json of [`{"${name}${name}":1}`, `{"a":[{"${name}${name}":1}]}`])
      t.throws(() => members(Buffer.from(json)), broken);
    t.ok(member(Buffer.from(`{"a":${space}${digits}}`), 'a'));
    for (const json of [`{"a":1${digits}}`, `{"a": ${space}1}`]) t.throws(() => member(Buffer.from(json), 'a'), broken);
  });

  t.test('a safe integer is parsed exactly or not at all', async (t) => {
    fc.assert(fc.property(fc.maxSafeInteger(), (n) => parseSafeInteger(Buffer.from(`${n}`)) === n));
    for (const not of ['9007199254740992', '18446744073709551615', '1.0', '1e3', '', '"1"', 'null', '01', ' 1']) {
      t.throws(() => parseSafeInteger(Buffer.from(not)), broken, not);
    }
    t.throws(() => parseSafeInteger(undefined), broken);
  });

  t.test('integers of 64 bits are parsed exactly or not at all', async (t) => {
    const [u64, i64] = [2n ** 64n - 1n, 2n ** 63n - 1n];
    fc.assert(fc.property(fc.bigInt(0n, u64), (n) => parseU64(Buffer.from(`${n}`)) === n));
    fc.assert(fc.property(fc.bigInt(-i64 - 1n, i64), (n) => parseI64(Buffer.from(`${n}`)) === n));
    for (const not of ['-1', `${u64 + 1n}`, '99999999999999999999', '1.0', '1e3', '', '"1"', 'null'])
      t.throws(() => parseU64(Buffer.from(not)), broken, not);
    for (const not of [`${i64 + 1n}`, `${-i64 - 2n}`, '--1', ''])
      t.throws(() => parseI64(Buffer.from(not)), broken, not);
    t.throws(() => parseU64(undefined), broken);
    t.equal(parseRentEpoch(Buffer.from('18446744073709552000')), u64, 'as JavaScript rounds it');
    t.throws(() => parseRentEpoch(Buffer.from(`${u64 + 2n}`)), broken);
  });

  t.test('a string is parsed exactly or not at all', async (t) => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (s) => parseString(Buffer.from(JSON.stringify(s))) === s));
    for (const not of ['1', 'null', '"a', '"a" "b"', '']) t.throws(() => parseString(Buffer.from(not)), broken, not);
    t.throws(() => parseString(undefined), broken);
  });

  t.test('canonical JSON has the same value and is equal for every spelling', async () => {
    const shuffled = (json: Record<string, unknown>) =>
      fc
        .shuffledSubarray(Object.keys(json), { minLength: Object.keys(json).length })
        .chain((names) => spelling(Object.fromEntries(names.map((name) => [name, json[name]])), false));
    const twice = fc
      .dictionary(fc.stringMatching(/^[A-Z]{1,3}$/), value)
      .chain((json) => fc.tuple(shuffled(json), shuffled(json)));
    fc.assert(
      fc.property(twice, ([one, other]) => {
        const canonical = canonicalJson(Buffer.from(one));
        assert.deepEqual(JSON.parse(canonical), JSON.parse(one));
        assert.equal(canonical, canonicalJson(Buffer.from(canonical)));
        assert.equal(canonicalJson(Buffer.from(other)), canonical);
      }),
    );
  });

  t.test('a long text becomes canonical in parts as it would in one go, and what is broken is refused', async () => {
    const turns = { count: 0 };
    const yieldTurn = async (): Promise<void> => {
      turns.count++;
    };
    const texts = fc.tuple(value, fc.boolean(), fc.constantFrom(0, 5000, 2 * YIELD_EVERY_BYTES));
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 4 }), fc.nat(), async (items, seed) => {
        const json = JSON.stringify(
          items.map(([some, escapes, length]) => ({ z: some, a: [(escapes ? '\\"' : 'x').repeat(length), some] })),
        );
        const bytes = Buffer.from(json);
        turns.count = 0;
        assert.equal(Buffer.concat([...(await canonicalParts(bytes, yieldTurn))]).toString(), canonicalJson(bytes));
        assert.ok(turns.count >= Math.floor(json.length / YIELD_EVERY_BYTES) - 1);
        const cut = bytes.subarray(0, seed % bytes.length);
        await assert.rejects(canonicalParts(cut, yieldTurn), broken);
        const found = await elementsYielding(bytes, undefined, yieldTurn);
        assert.equal(`[${found}]`, json);
      }),
      { numRuns: 20 },
    );
  });

  t.test('canonical JSON keeps the spelling of numbers and strings', async (t) => {
    const spelled = String.raw`{"z": [1.50, 18446744073709551615, -0], "a": "\u0041\/é", "é": {"b": null, "a": true}}`;
    const canonical = String.raw`{"a":"\u0041\/é","z":[1.50,18446744073709551615,-0],"é":{"a":true,"b":null}}`;
    t.equal(canonicalJson(Buffer.from(spelled)), canonical);
    t.equal(canonicalJson(Buffer.from(' [ ] ')), '[]');
  });

  t.test('only what is canonical to the last byte is left as it is', async (t) => {
    const texts = [
      '{"b":1,"a":2}',
      '{"a":1,"a":2}',
      '{"a": 1}',
      '{"aa":1,"a":2}',
      '{"a":1,"aa":2}',
      '{"é":1,"a":2}',
      '[]',
    ];
    const escaped = String.raw`{"\u0061":1,"A":2}`;
    for (const json of [...texts, escaped, '[1, 2]', '[{"b":1,"a":{}}]', '{"a":[{"c":1,"b":2}]}', '"x"', '1', '{}'])
      t.equal(
        canonicalJson(Buffer.from(json)),
        String(Buffer.concat([...(await canonicalParts(Buffer.from(json)))])),
        json,
      );
  });

  t.test('canonical JSON rejects what is not JSON or not UTF-8', async (t) => {
    for (const json of ['', '{"a":1', '[1,]', '"a" 1']) t.throws(() => canonicalJson(Buffer.from(json)), broken, json);
    t.throws(() => canonicalJson(Buffer.from([0x22, 0xff, 0x22])), broken);
  });

  t.test('a long text is scanned with a yield after each stretch, wherever in it the length lies', async (t) => {
    const row = JSON.stringify({ name: 'x'.repeat(900), list: [[1, { deep: [true, null, 'y'.repeat(90)] }]] });
    const rows = `[${Array.from({ length: 3000 }, () => row).join()}]`;
    const shapes = { flat: rows, nested: `{"context":{"slot":1},"value":{"inner":{"rows":${rows}}}}` };
    for (const [shape, result] of Object.entries(shapes)) {
      const bytes = Buffer.from(`{"jsonrpc":"2.0","result":${result},"id":1}`);
      let turns = 0;
      const found = await membersYielding(bytes, async () => void turns++);
      t.strictSame(found, members(bytes), shape);
      const inner = shape === 'flat' ? [] : [pickMembers(Buffer.from(result), ['value', 'none'])];
      const nested = await pickNestedYielding(bytes, [
        ['id', 'result'],
        ['value', 'none'],
      ]);
      t.strictSame(nested, [pickMembers(bytes, ['id', 'result']), ...inner], shape);
      t.ok(
        turns >= Math.floor(bytes.length / (YIELD_EVERY_BYTES + 2 * row.length)),
        `${turns} turns for ${bytes.length} bytes`,
      );
    }
    const bytes = Buffer.from(rows);
    let turns = 0;
    t.strictSame(await elementsYielding(bytes, undefined, async () => void turns++), elements(bytes));
    t.ok(turns >= Math.floor(bytes.length / (YIELD_EVERY_BYTES + 2 * row.length)), `${turns} turns between rows`);
  });

  t.test('a long run of backslashes is scanned once, wherever its stretches end', async (t) => {
    for (const length of [4 * YIELD_EVERY_BYTES, 4 * YIELD_EVERY_BYTES + 1]) {
      const bytes = Buffer.from(`{"a":"${'\\'.repeat(length)}${length % 2 === 0 ? '' : '"'}","b":1}`);
      let reads = 0;
      const counted = new Proxy(bytes, {
        get(target, name) {
          reads++;
          const value = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const perTurn: number[] = [];
      const found = await membersYielding(counted, async () => {
        perTurn.push(reads);
        reads = 0;
      });
      t.strictSame([...found.keys()], ['a', 'b']);
      t.ok(Math.max(reads, ...perTurn) < 3 * YIELD_EVERY_BYTES);
    }
  });

  t.test('an error far into a long text is found', async (t) => {
    const rows = Array.from({ length: 9000 }, () => '{"a":[1,2,3],"b":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}').join();
    for (const end of ['', ']', '}]', ',]}', ']}}', '] }x'])
      await t.rejects(membersYielding(Buffer.from(`{"r":[${rows}${end}`)), broken, end);
  });

  t.test('inner members are those of the last of repeated members, if it is an object', async (t) => {
    const innerOf = async (json: string) =>
      (
        await pickNestedYielding(Buffer.from(json), [
          ['x', 'a'],
          ['b', 'c'],
        ])
      )[1]?.map(String);
    t.strictSame(await innerOf('{"a":{"b":1},"\\u0061":{"b":2,"c":{}},"x":0}'), ['2', '{}']);
    t.equal(await innerOf('{"a":{"b":1},"a":[]}'), undefined);
    t.equal(await innerOf('{"x":{"b":1}}'), undefined);
    await t.rejects(innerOf('{"a":{"b":1,}}'), { code: 'upstream_error' });
  });
});

t.test('a response in parts of any length is kept whole, and in few buffers', async (t) => {
  for (const sizes of [Array(50_000).fill(1), [1, 5000, 1, 1, 5000, 1023, 1024], [7], []]) {
    const parts = new ResponseParts();
    const sent = sizes.map((size, i) => Buffer.alloc(size, i % 251));
    for (const part of sent) parts.add(part);
    const kept = parts.end();
    t.ok(Buffer.concat(kept).equals(Buffer.concat(sent)));
    t.ok(kept.length < 10, `${kept.length}`);
  }
});

t.test('failure-reason', async (t) => {
  const coded = (code: string): Error => Object.assign(new Error(`${code} rpc.example.com:443/s3cr3t`), { code });

  t.test('a failed connection is described in words without the host', async (t) => {
    const faults: Record<string, string> = {
      ECONNREFUSED: 'connection refused',
      ENOTFOUND: 'its name was not found',
      EAI_AGAIN: 'its name could not be looked up',
      UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
      EHOSTUNREACH: 'host unreachable',
      UND_ERR_SOCKET: 'connection closed',
      CERT_HAS_EXPIRED: 'TLS error CERT_HAS_EXPIRED',
      DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS error DEPTH_ZERO_SELF_SIGNED_CERT',
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS error UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      ERR_SSL_WRONG_VERSION_NUMBER: 'TLS error ERR_SSL_WRONG_VERSION_NUMBER',
      ERR_TLS_CERT_ALTNAME_INVALID: 'TLS error ERR_TLS_CERT_ALTNAME_INVALID',
      HPE_INVALID_CONSTANT: 'no valid HTTP response',
      EUNKNOWN: 'EUNKNOWN',
    };
    for (const [code, words] of Object.entries(faults)) t.equal(connectionFault(coded(code)), words);
    t.equal(connectionFault(new Error('Unexpected server response: 401')), 'HTTP 401: check the key in its URL');
    t.equal(connectionFault(new Error('Opening handshake has timed out')), 'no answer in time');
    t.equal(connectionFault(new TypeError('rpc.example.com')), 'TypeError');
    t.equal(connectionFault('rpc.example.com'), 'unknown fault');
  });

  t.test('a failed call is described by its cause, else by its message', async (t) => {
    const cases: readonly (readonly [thrown: unknown, words: string])[] = [
      [new GatewayError('upstream_error', 'a node sent no valid response', { cause: httpFault(502) }), 'HTTP 502'],
      [new GatewayError('upstream_error', 'a node sent no genesis hash'), 'a node sent no genesis hash'],
      [new GatewayError('rpc_error', '-32005: Node is behind', { rpcCode: -32005 }), 'error -32005: Node is behind'],
      [rateLimited(1), 'too many requests (HTTP 429)'],
      [new Error('a defect at https://rpc.example.com'), 'internal error'],
    ];
    for (const [thrown, words] of cases) t.equal(failureReason(thrown), words);
  });
});

t.test('redact', async (t) => {
  const redact = redactor({
    id: 'node-1',
    url: 'https://user:pa%24%24word@cool-name.provider.pro/t0k3n-abc/?api-key=k3y-1234',
    wsUrl: 'wss://cool-name.provider.pro/t0k3n-abc',
    headers: { authorization: 'Bearer s3cr3t-xyz' },
  });

  t.test('ordinary error messages stay as they are', async (t) => {
    const messages = [
      'Invalid param: WrongSize',
      'Method does not support commitment below `confirmed`',
      'lastSlot, 912, cannot be less than firstSlot, 1911',
      'Invalid params: invalid type: string "x", expected u64.',
      'Invalid params: unknown variant `utf8`, expected one of `binary`, `base58`, `base64`, `jsonParsed`, `base64+zstd`.',
      'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
      'Transaction 1111111111111111111111111111111111111111111111111111111111111111 not found',
      'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
    ];
    for (const text of messages) t.equal(redact(text), text);
  });

  t.test('addresses and keys of a node are redacted', async (t) => {
    const redacted: Record<string, string> = {
      'see https://docs.example.com/limits for more': 'see … for more',
      'upstream 10.0.0.7:8899 refused': 'upstream … refused',
      'no route to backend-3.eu.example.com today': 'no route to … today',
      'bad path /x?token=1': 'bad path …',
      'wrong key: k3y-1234.': 'wrong key: …',
      'wrong token t0k3n-abc': 'wrong token …',
      'header s3cr3t-xyz is too old': 'header … is too old',
      'user:pa$$word': '…',
      'two\nlines\u0000and\ta tab\u202e': 'two lines and a tab',
    };
    for (const [text, left] of Object.entries(redacted)) t.equal(redact(text), left);
  });

  t.test('however long a text is, the result is short and holds no piece of a key', async (t) => {
    t.equal(redact('word '.repeat(1000)).length, 300);
    for (let n = 980; n < 1010; n++) t.notMatch(redact(`${' '.repeat(n)}k3y-1234`), 'k3y');
    t.equal(redact('&'.repeat(1e6)), '');
  });

  t.test('of a URL only what holds no key is shown', async (t) => {
    const shown: Record<string, string> = {
      'http://127.0.0.1:8899': 'http://127.0.0.1:8899',
      'https://user:pa%24%24word@cool-name.provider.pro/t0k3n-abc/?api-key=k3y-1234': 'https://….provider.pro',
      'https://api.mainnet-beta.solana.com': 'https://….solana.com',
      'wss://provider.pro:444/t0k3n-abc': 'wss://provider.pro:444',
      'http://localhost:8899/': 'http://localhost:8899',
      'ws://[::1]:8900/x': 'ws://[::1]:8900',
    };
    for (const [url, redacted] of Object.entries(shown)) t.equal(redactedOrigin(url), redacted);
  });
});

t.test('response-slot', async (t) => {
  t.test('a call without a commitment is at finalized, as for a node', async (t) => {
    t.equal(commitmentOf('getSlot', []), 'finalized');
    t.equal(commitmentOf('getBalance', ['x', { commitment: 'processed' }]), 'processed');
    t.equal(commitmentOf('getBalance', ['x', { commitment: 'root' }]), undefined);
    t.equal(commitmentOf('getSignatureStatuses', [['x']]), 'processed', 'whose context is of the newest bank');
  });

  t.test('a call without minContextSlot has no minimum', async (t) => {
    t.equal(minContextSlotOf(['x', { minContextSlot: 7 }]), 7);
    t.equal(minContextSlotOf(['x', { minContextSlot: 1.5 }]), undefined);
    t.equal(minContextSlotOf([7]), undefined);
  });
});

t.test('rpc-client', async (t) => {
  async function open(t: Test, settings: Partial<UpstreamSettings> = {}) {
    const server = await ScriptedNode.start();
    const clock = new ManualClock();
    const node = new RpcClient(server.nodeOptions('node-1'), {
      clock,
      random: () => 0,
      settings: { ...UPSTREAM_SETTINGS, ...settings },
    });
    node.slots.observe('finalized', 68);
    node.slots.observe('confirmed', 98);
    t.teardown(async () => {
      await node.close();
      await server.close();
    });
    return { server, clock, node };
  }

  const raw =
    (body: string | Buffer, status = 200, headers: Record<string, string> = {}): ReplyScript =>
    (response) =>
      response.writeHead(status, headers).end(body);
  const refusing =
    (error: string): ReplyScript =>
    (response, request) =>
      response.end(errorBody(request, error));
  const hang: ReplyScript = () => {};
  const failure = (work: Promise<unknown>): Promise<GatewayError> =>
    work.then(
      () => Promise.reject(new Error('it did not fail')),
      (error) => error,
    );

  t.test('every digit of a response is kept', async (t) => {
    const { server, node } = await open(t);
    const account = '{"lamports":9007199254740993,"rentEpoch":18446744073709551615,"space":0}';
    server.replies.getAccountInfo = `{ "context" : {"apiVersion":"4.2.2","slot":99} , "value" : ${account} }`;
    const { slot, value, result } = await node.call('getAccountInfo', ['x', { commitment: 'confirmed' }], 'confirmed');
    t.equal(slot, 99);
    t.equal(`${value}`, account);
    t.equal(`${result}`, server.replies.getAccountInfo);
    t.equal(node.apiVersion, '4.2.2');
    t.equal(node.slots.latest('confirmed'), 99);
  });

  t.test('every digit of a parameter is kept', async (t) => {
    const { server, node } = await open(t);
    server.replies.getBlockTime = '1700000000';
    await node.call('getBlockTime', [18446744073709551615n], 'confirmed');
    t.match(
      server.httpRequests[0]?.text,
      /^\{"jsonrpc":"2.0","id":\d+,"method":"getBlockTime","params":\[18446744073709551615\]\}$/,
    );
  });

  t.test('a response without a context holds at the newest slot reported before the request', async (t) => {
    const { server, node } = await open(t);
    server.replies.getTransaction = (response, request) => {
      node.slots.observe('confirmed', 500);
      response.end(resultBody(request, 'null'));
    };
    t.match(await node.call('getTransaction', ['x'], 'confirmed'), { slot: 98, value: Buffer.from('null') });
    t.equal((await node.call('getTransaction', ['x'], 'finalized')).slot, 68);
  });

  t.test('a response to a call with minContextSlot holds at that slot', async (t) => {
    const { server, node } = await open(t);
    server.replies.getSignaturesForAddress = '[]';
    server.replies.getBlockHeight = '77';
    server.replies.getTransaction = 'null';
    const params = ['x', { minContextSlot: 97 }];
    t.equal((await node.call('getSignaturesForAddress', params, 'confirmed')).slot, 97);
    t.equal((await node.call('getBlockHeight', params.slice(1), 'confirmed')).slot, 97);
    t.equal((await node.call('getTransaction', params, 'confirmed')).slot, 98, 'this method knows no such parameter');
  });

  t.test('getSlot and getEpochInfo name their slot, at the commitment of the call', async (t) => {
    const { server, node } = await open(t);
    server.slots = { processed: 120, confirmed: 118, finalized: 88 };
    server.replies.getEpochInfo = '{"absoluteSlot":117,"epoch":3}';
    t.equal((await node.call('getSlot', [], 'confirmed')).slot, 88);
    t.strictSame([node.slots.latest('finalized'), node.slots.latest('confirmed')], [88, 98]);
    t.equal((await node.call('getEpochInfo', [{ commitment: 'confirmed' }], 'processed')).slot, 117);
    server.replies.getSlot = '119';
    t.equal((await node.call('getSlot', [{ commitment: 'recent' }], 'confirmed')).slot, 119);
    t.strictSame(
      [node.slots.latest('processed'), node.slots.latest('confirmed')],
      [117, 117],
      'an unknown commitment changes nothing',
    );
  });

  t.test('program accounts hold at their context if they have one', async (t) => {
    const { server, node } = await open(t);
    server.replies.getProgramAccounts = '[]';
    t.match(await node.call('getProgramAccounts', ['x'], 'confirmed'), { slot: 98, value: Buffer.from('[]') });
    server.replies.getProgramAccounts = '{"context":{"slot":99},"value":[1]}';
    t.match(await node.call('getProgramAccounts', ['x'], 'confirmed'), { slot: 99, value: Buffer.from('[1]') });
  });

  t.test('an invalid response is an upstream_error', async (t) => {
    const { server, node } = await open(t);
    const wrong: Record<string, ReplyScript> = {
      'a wrong id': (response, request) => response.end(resultBody({ ...request, id: request.id + 1 }, '1')),
      'another protocol': (response, request) => response.end(resultBody(request, '1').replace('2.0', '1.0')),
      'no result': (response, request) => response.end(`{"jsonrpc":"2.0","id":${request.id}}`),
      'a batch': (response, request) => response.end(`[${resultBody(request, '1')}]`),
      'a string with a raw control character': '"a\nb"',
      'a string with an unknown escape': '{"\\q":1}',
      'truncated JSON': (response, request) => response.end(resultBody(request, '1').slice(0, -1)),
      'a truncated body': (response, request) => {
        response.writeHead(200, { 'content-length': 1000 }).write(resultBody(request, '1'));
        setTimeout(() => response.destroy(), 5);
      },
      'another protocol altogether': (response) => response.socket?.end('hello\r\n\r\n'),
      'a page': raw('<html>Bad gateway</html>', 502),
      nothing: raw(''),
      'a result with the wrong status': (response, request) => response.writeHead(500).end(resultBody(request, '1')),
      'an error that is none': refusing('"no"'),
      'an error without a code': refusing('{"message":"no"}'),
      'an error that is too long': refusing(`{"code":-32602,"message":"${'x'.repeat(70_000)}"}`),
    };
    for (const [name, reply] of Object.entries(wrong)) {
      server.replies.getVersion = reply;
      t.match(await failure(node.request('getVersion', [])), { code: 'upstream_error', status: 502 }, name);
      t.ok(node.isFailing, name);
    }
    server.replies.getBalance = '7';
    t.match(await failure(node.call('getBalance', ['x'], 'confirmed')), { code: 'upstream_error' }, 'no context');
    server.replies.getBalance = '{"context":{"slot":1.5},"value":7}';
    t.match(await failure(node.call('getBalance', ['x'], 'confirmed')), { code: 'upstream_error' }, 'no slot');
    server.replies.getVersion = '1';
    t.equal(`${await node.request('getVersion', [])}`, '1', 'the node is usable all the same');
    t.notOk(node.isFailing);
    server.replies.getVersion = raw('request body size exceeds allowed maximum', 413);
    for (let i = 0; i < 50; i++)
      t.match(await failure(node.request('getVersion', [])), { code: 'payload_too_large', status: 413 });
    t.notOk(node.isFailing || node.breaker.isOpen, 'a call that is too long says nothing about the node');
    server.replies.getBlock = refusing('{"code":-32603,"message":"Internal error"}');
    const cost = new RequestCost('a caller', false);
    for (let i = 0; i < 200; i++) await failure(node.request('getBlock', [i], { cost }));
    t.notOk(node.breaker.isOpen, 'nor does a refusal of a request');
    server.replies.getBlock = raw('<html>Gateway timeout</html>', 504);
    for (let i = 0; i < 200; i++) await failure(node.request('getBlock', [i], { cost }));
    server.replies.getBlock = (response) => response.destroy();
    for (let i = 0; i < 200; i++) await failure(node.request('getBlock', [i], { cost }));
    t.notOk(node.breaker.isOpen, 'nor a proxy before it that gives up a slow request');
    for (let i = 0; i < 200; i++) await failure(node.request('getBlock', [i]));
    t.ok(node.breaker.isOpen, "but one of the gateway's own calls does");
  });

  t.test('an endless response is cut off', async (t) => {
    const { server, node } = await open(t, { maxBytes: 100_000 });
    let closed = false;
    server.replies.getVersion = (response) => {
      response.on('close', () => {
        closed = true;
      });
      const flow = () => {
        if (!closed) response.write('x'.repeat(10_000), () => setImmediate(flow));
      };
      flow();
    };
    t.match(await failure(node.request('getVersion', [])), { code: 'result_too_large', status: 413 });
    await waitUntil(() => closed);
  });

  t.test('a call to a hung node fails at its deadline, a slow method later', async (t) => {
    const { server, clock, node } = await open(t);
    server.replies.getBalance = hang;
    server.replies.getBlock = (response) => response.write('{"jsonrpc":'); // starts, and never ends
    const [fast, slow] = [failure(node.request('getBalance', [])), failure(node.request('getBlock', []))];
    await waitUntil(() => server.httpRequests.length === 2);
    clock.advance(1999);
    t.notOk(node.isFailing);
    clock.advance(1);
    t.match(await fast, { code: 'upstream_timeout', status: 504 });
    t.ok(node.isFailing);
    server.replies.getVersion = '1';
    await node.request('getVersion', []);
    clock.advance(8000);
    t.match(await slow, { code: 'upstream_timeout', status: 504 });
    t.notOk(node.isFailing, 'a long scan says nothing about the node');

    const early = failure(node.request('getBalance', [], { deadlineMs: clock.monotonic() }));
    t.match(await early, { code: 'upstream_timeout', message: 'no node answered in time' }, 'or before it began');

    const noTls = createServer();
    const url = `https://name:100%@127.0.0.1:${await listenOnLoopback(noTls)}`; // a stray percent sign
    t.teardown(() => noTls.close());
    const settings = UPSTREAM_SETTINGS;
    const unreached = new RpcClient({ ...server.nodeOptions('node-2'), url }, { clock, random: () => 0, settings });
    t.teardown(() => unreached.close());
    const call = failure(unreached.request('getBalance', []));
    await once(noTls, 'connection');
    clock.advance(2000);
    t.match(await call, { code: 'upstream_timeout', status: 504 }, 'nor does an opening connection outlive it');
  });

  t.test('calls beyond the queue are overloaded, the rest is served in order', async (t) => {
    const { server, clock, node } = await open(t, { connections: 2, queue: 3 });
    const delayed: (() => void)[] = [];
    server.replies.getBlockTime = (response, request) => {
      delayed.push(() => response.end(resultBody(request, `${request.params[0]}`)));
    };
    const pending = [0, 1, 2, 3, 4].map((n) => node.request('getBlockTime', [n]));
    t.match(await failure(node.request('getBlockTime', [5])), { code: 'overloaded', status: 503, retryAfter: 1 });
    for (let n = 0; n < 3; n++) {
      await waitUntil(() => delayed.length > n);
      delayed[n]?.();
      t.equal(`${await pending[n]}`, `${n}`);
    }
    await waitUntil(() => delayed.length === 5);
    t.strictSame(server.httpRequests.map(({ params }) => params[0]).sort(), [0, 1, 2, 3, 4]);
    t.equal(server.httpRequests.length, 5);
    const late = failure(node.request('getBlockTime', [6]));
    clock.advance(2000);
    t.match(await late, { code: 'upstream_timeout' }, 'the deadline counts from the question, not from the sending');
    t.equal(server.httpRequests.length, 5, 'a call that timed out in the queue is never sent');
    await Promise.allSettled(pending);
  });

  t.test('a rate-limited node is not called for the time that it names', async (t) => {
    const { server, clock, node } = await open(t);
    const refusals: Record<string, ReplyScript> = {
      'HTTP 429': raw('slow down', 429, { 'retry-after': '7' }),
      'HTTP 429 with a date': (response) =>
        response.writeHead(429, { 'retry-after': new Date(clock.now() + 7000).toUTCString() }).end(),
      'JSON 429': (response, request) =>
        response.writeHead(200, { 'retry-after': '7' }).end(errorBody(request, '{"code":429,"message":"Too many"}')),
      'a borrowed number': (response, request) =>
        response
          .writeHead(200, { 'retry-after': '7' })
          .end(errorBody(request, '{"code":-32005,"message":"Rate limit reached"}')),
    };
    for (const [name, reply] of Object.entries(refusals)) {
      server.replies.getVersion = reply;
      t.match(await failure(node.request('getVersion', [])), { code: 'upstream_unavailable', retryAfter: 7 }, name);
      const sent = server.httpRequests.length;
      clock.advance(6500);
      t.match(await failure(node.request('getVersion', [])), { code: 'upstream_unavailable', retryAfter: 1 }, name);
      t.equal(server.httpRequests.length, sent, name);
      clock.advance(500);
      server.replies.getVersion = '1';
      t.equal(`${await node.request('getVersion', [])}`, '1', name);
    }
  });

  t.test("a node's errors keep their code and get the status of their kind", async (t) => {
    const { server, node } = await open(t);
    const statuses: Record<number, readonly number[]> = {
      400: [-32600, -32602, -32015],
      404: [-32001, -32004, -32007, -32009, -32011, -32014, -32020],
      503: [-32005, -32016],
      502: [-32601, -32603, -32010, -32012, -32019, 403, 1],
    };
    for (const [status, codes] of Object.entries(statuses)) {
      for (const code of codes) {
        server.replies.getBlock = refusing(`{"code":${code},"message":"Slot 5 was skipped","data":null}`);
        t.match(await failure(node.request('getBlock', [5])), {
          code: 'rpc_error',
          status: Number(status),
          rpcCode: code,
          message: `${code}: Slot 5 was skipped`,
          retryAfter: status === '503' ? 1 : undefined,
        });
      }
    }
    server.replies.getHealth = refusing(
      '{"code":-32005,"message":"Node is behind by 42 slots, over the limit","data":{"numSlotsBehind":42}}',
    );
    t.match(await failure(node.request('getHealth', [])), { code: 'rpc_error', status: 503 }, 'this is no rate limit');
  });

  t.test("a node that refuses a caller's request is not down; one that refuses the gateway's is", async (t) => {
    const { server, node } = await open(t);
    server.replies.getTokenSupply = refusing('{"code":-32603,"message":"Internal error"}');
    await failure(node.request('getTokenSupply', ['x'], { cost: new RequestCost('caller', false) }));
    t.equal(node.isFailing, false);
    await failure(node.request('getTokenSupply', ['x']));
    t.equal(node.isFailing, true);
  });

  t.test('no error shows a URL, a key or a host', async (t) => {
    const { server, clock, node } = await open(t);
    const { url } = server.nodeOptions('');
    const inspected = (error: Error) => inspect(error, { depth: 10, showHidden: true });
    const leaky: ReplyScript[] = [
      refusing(JSON.stringify({ code: -32602, message: `Bad key ${SECRET} at ${url}, see rpc.example.com/v1/abc` })),
      refusing(JSON.stringify({ code: -32602, message: `${'x'.repeat(990)} ${url}` })),
      raw(url, 429),
      raw(url, 502),
      raw(`"${url}`),
      (response) => response.destroy(),
      (response) => response.socket?.end(`${url}\r\n\r\n`),
    ];
    for (const reply of leaky) {
      server.replies.getVersion = reply;
      t.notMatch(inspected(await failure(node.request('getVersion', []))), new RegExp(`${SECRET}|127.0.0.1|example`));
      clock.advance(1000); // past the pause after a 429
    }
    await server.close();
    const refused = await failure(node.request('getVersion', []));
    t.match(refused, { code: 'upstream_unavailable', cause: 'connection refused' });
    t.notMatch(inspected(refused), new RegExp(`${SECRET}|127.0.0.1`));
  });
});

t.test('server-profile', async (t) => {
  t.test('a server is known by the form of its version', (t) => {
    const versions: Readonly<Record<string, readonly string[]>> = {
      agave: [
        '4.2.2',
        '4.3.0-beta.1',
        '3.1.14',
        '2.0.21-jito',
        '1.18.26',
        '0.708.20306',
        '0.101.0-beta.40002',
        '4.2.2-embedded',
        '',
      ],
      cloudbreak: ['2.0.21-cloudbreak0.1.0', '4.3.1-cloudbreak0.2.3', 'unknown-cloudbreak0.1.0'],
      sig: ['0.2.0', '0.12.3'],
      firedancer: ['1.0.0', '1.1.4', '26.08.1', '26.10.0', '27.01.2'],
    };
    for (const [name, texts] of Object.entries(versions))
      for (const text of texts) t.equal(profileOfVersion(text).name, name, text);
    t.end();
  });

  for (const [name = '', text = '', rpcCode, message = '', fault, status] of readTable('unit/gateway/node-errors.txt'))
    t.test(name, (t) => {
      const error = normalizeRpcError(Buffer.from(text), (shown) => shown, 0);
      t.match(error, {
        code: 'rpc_error',
        rpcCode: Number(rpcCode),
        message: new RegExp(message),
        status: Number(status),
      });
      t.equal(rpcFaultOf(error), fault);
      t.end();
    });

  t.test('data is kept as it was written, unless it is long or has a secret', (t) => {
    const dataOf = (data: string): string | undefined => {
      const text = `{"code":-32005,"message":"Node is behind","data":${data}}`;
      const redact = redactor({ id: 'n', url: 'https://node.example/secretkey', wsUrl: 'wss://node.example/' });
      return normalizeRpcError(Buffer.from(text), redact, 0).rpcData;
    };
    for (const [data, kept] of [
      ['{"numSlotsBehind":12345678901234567890}', '"numSlotsBehind":12345678901234567890'],
      ['{"numSlotsBehind":42, "error":"x"}', '"numSlotsBehind":42'],
      ['"invalid length 0, expected a pubkey"', '"details":"invalid length 0, expected a pubkey"'],
      [
        '{"logs":["Program log: a", null],"unitsConsumed":1.50}',
        '"logs":["Program log: a", null],"unitsConsumed":1.50',
      ],
      ['{"node":"secretkey"}', undefined],
      ['"see https://node.example/x"', undefined],
      ['{}', undefined],
      ['null', undefined],
      [`"${'x'.repeat(256)}"`, undefined],
    ] as const)
      t.equal(dataOf(data), kept, data.slice(0, 60));
    t.end();
  });
});
