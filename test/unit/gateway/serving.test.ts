import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import * as z from 'zod';
import { isOpensslSignature } from '../../../src/cli/commands/openssl-signature.ts';
import { formatSignedBody } from '../../../src/client/verify/signed-body.ts';
import { createVerifier } from '../../../src/client/verify/verify-receipt.ts';
import { Cache } from '../../../src/gateway/cache/cache.ts';
import { type AnswerMeta, type Entry, newEntry } from '../../../src/gateway/cache/entry.ts';
import { Watermark } from '../../../src/gateway/live/watermark.ts';
import { WatermarkLease } from '../../../src/gateway/live/watermark-lease.ts';
import { digestOf } from '../../../src/gateway/receipts/digest.ts';
import { type RouteContext, readRoute } from '../../../src/gateway/routes/routing/route.ts';
import {
  type ReadRequest,
  RouteReadThrough,
  readAnswer,
} from '../../../src/gateway/routes/routing/route-read-through.ts';
import { formatInTurns, hashInTurns, hasLongResult } from '../../../src/gateway/serving/result-digest.ts';
import { Sealer } from '../../../src/gateway/serving/sealer.ts';
import { SpentBodies } from '../../../src/gateway/serving/spent-bodies.ts';
import { minContextSlotNotReached } from '../../../src/gateway/upstream/rpc/error-normalizer.ts';
import { oneVoice } from '../../../src/shared/domain/agreement.ts';
import type { Answer } from '../../../src/shared/domain/answer.ts';
import type { Clock } from '../../../src/shared/domain/clock.ts';
import { type ErrorCode, GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import type { Slot } from '../../../src/shared/domain/slot.ts';
import { RequestCost } from '../../../src/shared/domain/units.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { CLUSTER, newSigner } from '../../support/receipts/sealed-answers.ts';

/** Its reads keep nothing live. */
const UNCOUNTED = { recordRead() {} };

t.test('result-digest', async (t) => {
  const entryOf = (result: string | Buffer) =>
    newEntry(result, {
      key: '/x',
      slot: 7,
      policy: { slots: 2 },
      meta: { envelope: 'signed', commitment: 'confirmed', exact: false },
      tipAtFetch: 7,
      validatedMs: 0,
    });

  t.test('a long result gets the digest and the body that it would get in one turn', async (t) => {
    const receipt = '{"a":"b"}';
    const texts = ['', 'x', 'é'].map((padding) => `"${padding}${'😀'.repeat(600_000)}"`); // some slice ends within a character
    for (const result of [...texts, ...texts.map((text) => Buffer.from(text)), Buffer.from('"bytes are long"')]) {
      const entry = entryOf(result);
      t.ok(hasLongResult(entry));
      await Promise.all([hashInTurns(entry), hashInTurns(entry)]);
      t.equal(entry.digest, digestOf(entry.result.toString()));
      const body = await formatInTurns(entry, receipt);
      t.ok(body.equals(Buffer.from(formatSignedBody(entry.result.toString(), entry.slot, receipt))));
    }
  });

  t.test('a short result is no long one', async (t) => {
    t.notOk(hasLongResult(entryOf('null')));
  });
});

t.test('read-through', async (t) => {
  type Resolve = () => Promise<Answer<number>>;

  /** Opens the read-through of one route, whose upstream the test sets. */
  function openReadThrough({ bytes = 1_000_000 } = {}) {
    const clock = new ManualClock();
    const cache = new Cache({ clock, bytes, maxStaleMs: 60_000, hotKeys: 10 });
    let calls = 0;
    const costs: unknown[] = [];
    let upstream: Resolve = () => Promise.reject(new Error('no upstream'));
    const route = readRoute({
      path: '/thing',
      summary: 'A thing',
      params: {},
      result: z.number(),
      envelope: 'signed',
      cache: { slots: 2 },
      resolve(_, __, { cost }) {
        calls++;
        costs.push(cost);
        return upstream();
      },
    });
    const mesh = { tip: () => cache.tip, slotTimeMs: 400 };
    const context = { cache, clock, mesh } as unknown as RouteContext; // the read-through uses no other member
    const readThrough = new RouteReadThrough(context, (work) => work.start(() => {}));
    const request: ReadRequest = { route, params: {}, key: '/api/v1/thing' };
    return {
      cache,
      readThrough,
      request,
      calls: () => calls,
      costs,
      setUpstream: (resolve: Resolve) => {
        upstream = resolve;
      },
      advanceTo(slot: number) {
        clock.advance(400);
        cache.advanceTip(slot);
      },
      wait(ms: number) {
        clock.advance(ms);
        cache.tick();
      },
      /** Reads as a request does: from the cache, else from the upstream. */
      read: async (minSlot?: number) => {
        const bounded = { ...request, minSlot };
        return readAnswer(readThrough, bounded);
      },
    };
  }

  const unreachable = (): Promise<never> => Promise.reject(new GatewayError('upstream_unavailable', 'nobody'));

  t.test('ten thousand equal reads make one upstream call', async (t) => {
    const { read, setUpstream, calls, advanceTo } = openReadThrough();
    advanceTo(10);
    setUpstream(async () => ({ slot: 9, result: 1 }));
    const pending = Array.from({ length: 10_000 }, read);
    t.equal(calls(), 1);
    const served = await Promise.all(pending);
    t.equal(new Set(served.map(({ entry }) => entry)).size, 1);
    t.ok(served.every(({ cacheStatus }) => cacheStatus === 'MISS'));
    t.equal(calls(), 1);
    t.equal((await read()).cacheStatus, 'HIT');
    t.equal(calls(), 1);
  });

  t.test('what a lie may be part of is read again; two operators are believed', async (t) => {
    for (const [agreed, calls, result] of [
      [1, 2, '2'],
      [2, 1, '1'],
    ] as const) {
      const opened = openReadThrough();
      opened.advanceTo(10);
      let number = 0;
      opened.setUpstream(async () => {
        number++;
        if (number === 1) opened.cache.dropUnagreed(); // while it is read
        return { slot: 9, result: number, agreement: { slot: 9, agreed, read: 2, needed: 2 } };
      });
      const { entry } = await opened.read();
      t.strictSame([opened.calls(), entry.result.toString()], [calls, result]);
    }
  });

  t.test('what a node refuses is read again if it was found to lie since', async (t) => {
    const { read, setUpstream, calls, advanceTo, cache } = openReadThrough();
    advanceTo(10);
    setUpstream(async () => {
      setUpstream(async () => ({ slot: 9, result: 1 }));
      cache.dropUnagreed();
      throw new GatewayError('slot_skipped', 'none');
    });
    t.equal((await read()).entry.result.toString(), '1');
    t.equal(calls(), 2);
  });

  t.test('a refusal of one node is dropped with its answers', async (t) => {
    const { read, setUpstream, calls, advanceTo, cache } = openReadThrough();
    advanceTo(10);
    setUpstream(() => Promise.reject(new GatewayError('holders_unavailable', 'none')));
    await t.rejects(read());
    await t.rejects(read());
    t.equal(calls(), 1, 'it is cached');
    cache.dropUnagreed();
    await t.rejects(read());
    t.equal(calls(), 2);
  });

  t.test('a caller that joins a load without a turn at the upstream starts its own', async (t) => {
    const { readThrough, request, setUpstream, calls, advanceTo } = openReadThrough();
    advanceTo(10);
    const admitted: string[] = [];
    const fetch = (caller: string) =>
      readAnswer(readThrough, request, (work) => {
        admitted.push(caller);
        work.start(() => {});
      });
    let refuse = (): void => {};
    setUpstream(() => new Promise((_, reject) => (refuse = () => reject(new GatewayError('overloaded', 'no turn')))));
    const first = fetch('flood');
    const joined = [fetch('a'), fetch('b')];
    setUpstream(async () => ({ slot: 9, result: 1 }));
    refuse();
    await t.rejects(first, { code: 'overloaded' });
    t.same(new Set((await Promise.all(joined)).map(({ entry }) => entry.slot)), new Set([9]));
    t.same(admitted, ['flood', 'a', 'b']);
    t.equal(calls(), 2, 'the two share one');

    advanceTo(100);
    setUpstream(() => Promise.reject(new GatewayError('upstream_unavailable', 'nobody')));
    await Promise.allSettled([fetch('c'), fetch('d')]);
    t.equal(calls(), 3, 'another failure is that of all');
  });

  t.test('an older answer of a lagging node does not replace a newer one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(5), fc.nat(30)), { maxLength: 30 }), async (reads) => {
        const { read, setUpstream, advanceTo } = openReadThrough();
        let tip = 100;
        let newest = 0;
        for (const [passed, lag] of reads) {
          tip += passed;
          advanceTo(tip);
          setUpstream(async () => ({ slot: tip - lag, result: tip - lag }));
          const { entry } = await read();
          if (entry.slot < newest || entry.result !== String(entry.slot)) return false;
          newest = entry.slot;
        }
        return true;
      }),
    );
  });

  t.test('answers that arrive out of order do not go back in time', async (t) => {
    const { readThrough, request, cache, setUpstream, advanceTo } = openReadThrough();
    advanceTo(10);
    const respond: ((slot: number) => void)[] = [];
    setUpstream(() => new Promise((resolve) => respond.push((slot) => resolve({ slot, result: slot }))));
    const pending = readAnswer(readThrough, request);
    cache.put(
      request.key,
      { slot: 12, result: '12' },
      { slots: 2 },
      { envelope: 'signed', commitment: 'confirmed', exact: false },
    );
    respond[0]?.(9);
    t.equal((await pending).entry.slot, 12);
  });

  t.test('an answer that arrives while a newer one waits for its body does not replace that', async (t) => {
    const { readThrough, request, cache, setUpstream, advanceTo } = openReadThrough();
    advanceTo(10);
    const label = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
    cache.put(request.key, { slot: 8, result: '8' }, { slots: 2 }, label);
    let respond = (): void => {};
    setUpstream(
      () =>
        new Promise((resolve) => {
          respond = () => resolve({ slot: 9, result: 9 });
        }),
    );
    const pending = readAnswer(readThrough, { ...request, minSlot: 9 });
    cache.holdBackWith(() => true);
    cache.put(request.key, { slot: 10, result: '10' }, { slots: 2 }, label);
    respond();
    t.equal((await pending).entry.slot, 10);
  });

  t.test('an answer overtaken by one that is no longer cached is read again, once', async (t) => {
    for (const again of [12, 8]) {
      const { readThrough, request, cache, setUpstream, calls, advanceTo } = openReadThrough({ bytes: 1 }); // nothing stays cached for long
      advanceTo(10);
      const respond: ((slot: number) => void)[] = [];
      setUpstream(() => new Promise((resolve) => respond.push((slot) => resolve({ slot, result: slot }))));
      const pending = readAnswer(readThrough, request);
      const label = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
      cache.put('/api/v1/other', { slot: 12, result: '12' }, { slots: 2 }, label);
      respond[0]?.(9);
      for (let i = 0; i < 9 && calls() < 2; i++) await new Promise((resolve) => setImmediate(resolve));
      respond[1]?.(again);
      if (again === 12) t.equal((await pending).entry.slot, 12);
      else await t.rejects(pending, { code: 'stale' });
      t.equal(calls(), 2);
    }
  });

  t.test('an answer that is not cached is proven from the slot that it names', async (t) => {
    const { read, setUpstream } = openReadThrough();
    setUpstream(async () => ({ slot: 9, result: 9, uncached: true, provenFrom: 12 }));
    t.equal((await read()).entry.provenFrom, 12);
  });

  t.test('a caller that has seen a slot gets nothing older', async (t) => {
    const { read, setUpstream, advanceTo, calls } = openReadThrough();
    advanceTo(10);
    setUpstream(() => Promise.reject(new GatewayError('not_found', 'there is none')));
    await t.rejects(read(), { code: 'not_found' });
    advanceTo(11);
    await t.rejects(read(), { code: 'not_found' });
    t.equal(calls(), 1, 'the negative answer is cached');
    await t.rejects(read(9), { code: 'not_found' });
    await t.rejects(read(9), { code: 'not_found' });
    t.equal(calls(), 2, 'but the node may have been behind the tip: it is of the slot that the node had to reach');
    setUpstream(async () => ({ slot: 11, result: 1 }));
    t.match(await read(11), { cacheStatus: 'MISS', entry: { slot: 11 } });
    t.equal((await read(11)).cacheStatus, 'HIT');
    advanceTo(13);
    setUpstream(async () => ({ slot: 12, result: 2, fromSnapshot: true }));
    await t.rejects(read(13), { code: 'min_slot_not_reached' });
    t.match(await read(12), { entry: { slot: 12 } });
  });

  t.test('when no upstream has reached the slot served for a key that is no longer cached, it is stale', async (t) => {
    const { read, setUpstream, advanceTo, wait } = openReadThrough({ bytes: 1 }); // nothing stays cached
    advanceTo(10);
    setUpstream(async () => ({ slot: 10, result: 1 }));
    t.match(await read(), { entry: { slot: 10 } });
    setUpstream(() => Promise.reject(minContextSlotNotReached()));
    await t.rejects(read(), { code: 'stale', status: 503, retryAfter: 1 });
    const refused = t.rejects(read(10), { code: 'min_slot_not_reached' }, 'unless the caller named the slot');
    await turn();
    wait(400);
    await refused;
    const late = read(10);
    await turn();
    setUpstream(async () => ({ slot: 10, result: 1 }));
    wait(400);
    t.match(await late, { entry: { slot: 10 } }, 'which a node that is a moment behind has one slot later');
  });

  t.test('a refusal holds for those that demand the operators that gave it, a lasting one for all', async (t) => {
    const { readThrough, request, setUpstream, calls, advanceTo } = openReadThrough();
    advanceTo(10);
    const refused = (agree: number, code: ErrorCode) =>
      t.rejects(readAnswer(readThrough, { ...request, agree }), { code });
    setUpstream(() => Promise.reject(new GatewayError('not_found', 'there is none')));
    await refused(1, 'not_found');
    for (const agree of [2, 2, 1]) await refused(agree, 'not_found');
    t.equal(calls(), 2);
    await refused(3, 'not_found');
    t.equal(calls(), 3);
    advanceTo(20);
    setUpstream(() => Promise.reject(new GatewayError('result_too_large', 'too large')));
    for (const agree of [1, 2, 3]) await refused(agree, 'result_too_large');
    t.equal(calls(), 4);
  });

  t.test('a final negative answer holds whatever slot is named', async (t) => {
    const { read, setUpstream, advanceTo, calls } = openReadThrough();
    advanceTo(10);
    setUpstream(() => Promise.reject(new GatewayError('block_pruned', 'it is gone', { final: true })));
    await t.rejects(read(), { code: 'block_pruned' });
    advanceTo(99);
    await t.rejects(read(99), { code: 'block_pruned' });
    t.equal(calls(), 1);
  });

  t.test('when the upstream fails the cached answer is served as stale, until it is too old', async (t) => {
    const { read, setUpstream, advanceTo, wait } = openReadThrough();
    advanceTo(10);
    await t.rejects(read(), { message: 'no upstream' });
    setUpstream(unreachable);
    await t.rejects(read(), { code: 'upstream_unavailable' });
    setUpstream(async () => ({ slot: 10, result: 1 }));
    t.equal((await read()).cacheStatus, 'MISS');
    setUpstream(unreachable);
    advanceTo(12);
    const stale = await read();
    t.equal(stale.cacheStatus, 'STALE');
    t.equal(stale.entry.slot, 10);
    wait(60_000);
    await t.rejects(read(), { code: 'stale', status: 503, retryAfter: 1 });
  });

  t.test('a stale answer does not hide a defect of the gateway', async (t) => {
    const { read, setUpstream, advanceTo } = openReadThrough();
    advanceTo(10);
    setUpstream(async () => ({ slot: 10, result: 1 }));
    await read();
    advanceTo(12);
    setUpstream(() => Promise.reject(new TypeError('a defect')));
    await t.rejects(read(), TypeError);
  });

  t.test('while the tip is stalled the cached answer is served, and read again now and then', async (t) => {
    const { readThrough, request, read, setUpstream, advanceTo, wait, calls, costs } = openReadThrough();
    advanceTo(10);
    setUpstream(async () => ({ slot: 10, result: 1 }));
    await read();
    setUpstream(unreachable);
    wait(3000);
    const nobody = { resolve: () => {}, reject: () => {} };
    const cost = new RequestCost('caller', false);
    for (let i = 0; i < 10; i++) {
      const served = readThrough.begin({ ...request, minSlot: 9 }, nobody, undefined, cost);
      t.equal(served?.cacheStatus, 'STALE');
    }
    t.equal(calls(), 2, 'one retry for ten readers');
    t.equal(costs.at(-1), undefined, 'for which none of them pays');
    await new Promise(setImmediate); // it has failed
    wait(400);
    readThrough.begin(request, nobody);
    t.equal(calls(), 3);
  });
});

t.test('sealer', async (t) => {
  const KEY = '/api/v1/balance/11111111111111111111111111111111';
  const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };
  const FIRST_SLOT = 100;
  const NONCE = 'a-nonce-of-this-caller';

  /** What may happen to a live account, and how it is read. */
  const EVENTS = ['clock update', 'tip', 'change', 'read', 'read now', 'read with nonce', 'turn'] as const;
  type Event = (typeof EVENTS)[number];

  /** One answer, in the order in which they were given. */
  interface GivenAnswer {
    readonly slot: Slot;
    readonly body: string;
    /** The newest slot that was known of the account when it was requested. */
    readonly knownSlot: Slot;
    readonly nonce: string | null;
  }

  const verify = createVerifier({ isSignature: isOpensslSignature });
  const signer = newSigner();

  /** A live account, its cache and its sealer; the state changes when the test says so. */
  function openAccount() {
    const clock = new ManualClock();
    const cache = new Cache({ clock, bytes: 1_000_000, maxStaleMs: 60_000, hotKeys: 10 });
    const sealer = new Sealer({ cache, signer, clock, presign: 10, signBatchSize: 4 });
    let tip = FIRST_SLOT;
    const watermark = new Watermark(() => tip);
    const changes: Slot[] = [FIRST_SLOT];
    const resultAt = (slot: Slot): string => `{"changed":${changes.findLast((change) => change <= slot)}}`;
    const answers: GivenAnswer[] = [];
    const failures: unknown[] = [];
    let lease = new WatermarkLease(FIRST_SLOT, watermark, UNCOUNTED);

    /** Reads as the hit path does, or loads the state as the full path does. */
    function currentEntry(): Entry {
      const item = cache.get(KEY);
      if (item?.kind === 'answer' && cache.isFresh(item)) return item;
      const answer = { slot: lease.slot, result: resultAt(lease.slot), lease };
      return cache.put(KEY, answer, { slots: 2 }, META);
    }

    function read(nonce: string | null, isNow: boolean): void {
      const current = currentEntry();
      const body = nonce === null ? sealer.bodyOf(current) : undefined;
      const entry = body === undefined ? (current.successor ?? current) : current;
      const [{ slot }, knownSlot] = [entry, lease.slot];
      const give = (text: string | Buffer): void =>
        void answers.push({ slot, body: text.toString(), knownSlot, nonce });
      const waiter = { resolve: give, reject: (reason: unknown) => void failures.push(reason) };
      if (body !== undefined) give(body);
      else if (isNow) sealer.sealNow(entry, nonce, waiter);
      else sealer.sealFor(entry, nonce, waiter);
    }

    const act: Readonly<Record<Event, () => void>> = {
      'clock update': () => {
        watermark.advance(tip - 1, clock.monotonic());
        cache.advanceHot(watermark);
      },
      tip: () => {
        clock.advance(400);
        tip++;
        cache.advanceTip(tip);
        cache.refreshHot(400);
      },
      change: () => {
        if (changes.at(-1) === tip) return; // the state of a slot is the last one in it
        changes.push(tip);
        const former = lease;
        lease = new WatermarkLease(tip, watermark, UNCOUNTED);
        former.revoke();
      },
      read: () => read(null, false),
      'read now': () => read(null, true),
      'read with nonce': () => read(NONCE, false),
      turn: () => {},
    };
    cache.advanceTip(FIRST_SLOT);
    return { answers, failures, resultAt, act };
  }

  /** Returns what is wrong with the answers. */
  function faultsOf({ answers, failures, resultAt }: ReturnType<typeof openAccount>): unknown[] {
    const faults = [...failures];
    let newest = 0;
    for (const { slot, body, knownSlot, nonce } of answers) {
      if (slot < newest) faults.push(`slot ${slot} after ${newest}`);
      if (slot > knownSlot) faults.push(`slot ${slot} when the lease covers ${knownSlot}`);
      newest = slot;
      const verified = verify(body, { publicKeys: [signer.publicKey], cluster: CLUSTER, request: `GET ${KEY}`, nonce });
      if (verified.slot !== slot) faults.push(`the body of slot ${slot} is of ${verified.slot}`);
      if (verified.result !== resultAt(slot)) faults.push(`at slot ${slot} ${verified.result}, not ${resultAt(slot)}`);
    }
    return faults;
  }

  t.test('all bodies of a turn are made at its end, a shared one once, in batches and in order', async (t) => {
    const clock = new ManualClock();
    const cache = new Cache({ clock, bytes: 1_000_000, maxStaleMs: 60_000, hotKeys: 10 });
    const sealer = new Sealer({ cache, signer, clock, presign: 10, signBatchSize: 3 });
    const entries = ['a', 'b'].map((key) => cache.put(key, { slot: 1, result: '1' }, { slots: 2 }, META));
    const made: string[] = [];
    const seal = (entry: Entry, nonce: string | null): void => {
      const resolve = () => void made.push(`${entry.key} ${nonce}`);
      sealer.sealFor(entry, nonce, { resolve, reject: (reason) => t.fail(String(reason)) });
    };
    for (const nonce of [null, NONCE, null]) for (const entry of entries) seal(entry, nonce);
    t.same([sealer.sealedCount, made], [0, []]);
    await turn();
    t.same([sealer.sealedCount, sealer.signatureCount], [3, 1]);
    t.same(made, ['a null', 'a null', 'b null', 'b null', `a ${NONCE}`]);
    await turn();
    t.same([sealer.sealedCount, sealer.signatureCount, made.at(-1)], [4, 2, `b ${NONCE}`]);
  });

  t.test('what was sealed before the clock was set back far is sealed once more', async (t) => {
    const wall = new ManualClock();
    const clock: Clock = { now: () => wall.now(), monotonic: () => 0, after: () => () => {} };
    const cache = new Cache({ clock, bytes: 1_000_000, maxStaleMs: 60_000, hotKeys: 10 });
    const sealer = new Sealer({ cache, signer: newSigner(), clock, presign: 10, signBatchSize: 4 });
    const put = (key: string): Entry =>
      cache.put(key, { slot: 1, result: '1', final: true }, { ms: 1000 }, { ...META, finalFor: 'immutable' });
    const entry = put(KEY);
    await sealer.seal(entry);
    t.ok(sealer.bodyOf(entry));
    wall.advance(-86_400_000);
    await sealer.seal(put('/api/v1/block/1'));
    t.notOk(sealer.bodyOf(entry), 'no verifier would accept a receipt of tomorrow');
  });

  t.test('what is sealed while its node is found to lie is not published', async (t) => {
    const clock = new ManualClock();
    const cache = new Cache({ clock, bytes: 1_000_000, maxStaleMs: 60_000, hotKeys: 10 });
    const sealer = new Sealer({ cache, signer, clock, presign: 10, signBatchSize: 4 });
    cache.advanceTip(1);
    const put = (slot: Slot): Entry =>
      cache.put(KEY, { slot, result: '1', agreement: oneVoice(slot, 2) }, { slots: 2 }, META);
    const first = put(1);
    await new Promise((resolve, reject) => sealer.sealFor(first, null, { resolve, reject }));
    cache.get(KEY);
    put(2);
    t.equal(cache.peek(KEY)?.successor?.slot, 2, 'it is held back');
    cache.dropUnagreed();
    await turn();
    t.equal(cache.peek(KEY), undefined);
  });

  t.test('each answer of a live account holds at its slot, which its lease covers and never goes back', async () => {
    const event = fc.constantFrom(...EVENTS);
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 60 }), async (events) => {
        const account = openAccount();
        for (const name of events) {
          account.act[name]();
          if (name === 'turn') await turn();
        }
        for (let i = 0; i < 5; i++) await turn();
        const reads = events.filter((name) => name.startsWith('read')).length;
        const faults = faultsOf(account);
        if (account.answers.length !== reads) faults.push(`${account.answers.length} answers to ${reads} reads`);
        if (faults.length > 0) throw new Error(faults.join('; '));
      }),
      { numRuns: 200 },
    );
  });

  t.test('the first reads of a turn share a signature, and one that cannot wait has one of its own', async (t) => {
    const { act, answers } = openAccount();
    const sizeOf = (i: number): unknown => /"size":(\d+)/.exec(answers[i]?.body ?? '')?.[1];
    act.read();
    act['read with nonce']();
    t.equal(answers.length, 0);
    await turn();
    t.same([answers.length, sizeOf(0), sizeOf(1)], [2, '2', '2']);
    act.tip();
    act['clock update']();
    act.read();
    act['read now']();
    t.equal(answers.length, 4, 'earlier requests are answered with it');
  });
});

t.test('spent-bodies', async (t) => {
  const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };

  /** Answers of one slot that have bodies, under a lease that a watermark advances. */
  function openAnswers(keys: readonly string[]) {
    const clock = new ManualClock();
    const cache = new Cache({ clock, bytes: 1_000_000, maxStaleMs: 60_000, hotKeys: 0 });
    const bodies = new SpentBodies(cache);
    let tip = 100;
    cache.advanceTip(tip);
    bodies.remove(); // as before each batch that is sealed
    const watermark = new Watermark(() => tip);
    const leases = keys.map(() => new WatermarkLease(tip, watermark, UNCOUNTED));
    for (const [i, key] of keys.entries()) {
      const lease = leases[i];
      cache.put(key, { slot: tip, result: '1', lease }, { slots: 2 }, META).body = 'a body';
      bodies.record(key);
    }
    return {
      bodies,
      leases,
      cover: (slot: Slot) => watermark.advance(slot, clock.monotonic()),
      nextTip: () => cache.advanceTip(++tip),
      withBody: () => keys.filter((key) => cache.peek(key)?.body !== undefined),
    };
  }

  t.test('a body goes with the first tip at which its lease covers a newer slot', async (t) => {
    const { bodies, cover, nextTip, withBody } = openAnswers(['/a', '/b']);
    cover(101);
    bodies.remove();
    t.same(withBody(), ['/a', '/b'], 'the tip stands still');
    nextTip();
    bodies.remove();
    t.same(withBody(), []);
  });

  t.test('a lease that is late by a tip has its body removed with the next one', async (t) => {
    const { bodies, cover, nextTip, withBody } = openAnswers(['/a']);
    nextTip();
    bodies.remove();
    cover(101);
    bodies.remove();
    t.same(withBody(), ['/a']);
    nextTip();
    bodies.remove();
    t.same(withBody(), []);
  });

  t.test('a body stays whose lease covers no newer slot', async (t) => {
    const { bodies, nextTip, withBody } = openAnswers(['/a']);
    for (let i = 0; i < 3; i++) {
      nextTip();
      bodies.remove();
    }
    t.same(withBody(), ['/a']);
  });

  t.test('a body stays whose lease is revoked: it is sent until the answer is read again', async (t) => {
    const { bodies, leases, cover, nextTip, withBody } = openAnswers(['/a', '/b']);
    cover(101);
    leases[0]?.revoke();
    for (let i = 0; i < 3; i++) {
      nextTip();
      bodies.remove();
    }
    t.same(withBody(), ['/a']);
  });
});
