import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import {
  isSameAccount,
  isSameKept,
  lengthOfKept,
  textOfKept,
  unparsedJsonOf,
} from '../../../src/gateway/live/accounts/account-json.ts';
import { AccountState } from '../../../src/gateway/live/accounts/account-state.ts';
import { recordAccount } from '../../../src/gateway/live/accounts/past-accounts.ts';
import { SecondedLease } from '../../../src/gateway/live/accounts/seconded-lease.ts';
import { History } from '../../../src/gateway/live/feed/history.ts';
import { bytesOfAccount } from '../../../src/gateway/live/feed/kept-account.ts';
import { RecentBlocks } from '../../../src/gateway/live/feed/recent-blocks.ts';
import { VersionRing } from '../../../src/gateway/live/feed/version-ring.ts';
import { HotKeyDetector } from '../../../src/gateway/live/hot-key-detector.ts';
import { HottestFirst } from '../../../src/gateway/live/hottest-first.ts';
import { LiveSet } from '../../../src/gateway/live/live-set.ts';
import type { LiveRules } from '../../../src/gateway/live/live-state.ts';
import { PastSlots } from '../../../src/gateway/live/past-slots.ts';
import { type Place, Places } from '../../../src/gateway/live/places.ts';
import { heatAt, type ReadHeat, recordRead, unread } from '../../../src/gateway/live/read-heat.ts';
import { RequestBudget, RequestBudgets } from '../../../src/gateway/live/request-budget.ts';
import { SessionPool, type SessionPoolOptions } from '../../../src/gateway/live/session-pool.ts';
import { bytesOfList } from '../../../src/gateway/live/token-lists/past-token-lists.ts';
import { Watermark } from '../../../src/gateway/live/watermark.ts';
import { Disagreements } from '../../../src/gateway/upstream/mesh/disagreements.ts';
import type { PubsubSession } from '../../../src/gateway/upstream/pubsub/pubsub-session.ts';
import { seededRng } from '../../../src/localnet/traffic/seeded-rng.ts';
import type { AccountSubscriber } from '../../../src/shared/domain/account-change.ts';
import type { Commitment } from '../../../src/shared/domain/commitment.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { MAX_U64 } from '../../../src/shared/domain/max-u64.ts';
import type { Slot } from '../../../src/shared/domain/slot.ts';
import { hashText } from '../../../src/shared/runtime/hash-text.ts';
import { LeastRead } from '../../../src/shared/runtime/least-read.ts';
import { findMetadataAddress } from '../../../src/transactions/accounts/metaplex-metadata-account.ts';
import { TOKEN_PROGRAMS } from '../../../src/transactions/accounts/token-program-accounts.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  type AccountHarness,
  accountText,
  flushEvents,
  ManualSession,
  openAccountHarness,
} from '../../support/manual-session.ts';
import { pluck } from '../../support/pluck.ts';
import {
  accountJson,
  addressFromByte,
  metadataFixture,
  mintFixture,
  namedMintFixture,
  tokenAccountFixture,
} from '../../support/token-account-fixtures.ts';
import { MINT, OWNER, TokenListHarness } from '../../support/token-list-harness.ts';

t.test('account-json', async (t) => {
  t.test('accounts without a canonical form are compared byte for byte', async (t) => {
    const account = '{"lamports":1,"data":["","base64"]}';
    const notUtf8 = '{"lamports":1,"owner":"\u00ff"}';
    t.ok(isSameAccount(notUtf8, notUtf8));
    t.notOk(isSameAccount(notUtf8, account));
    t.notOk(isSameAccount(notUtf8, `${notUtf8} `));
    t.notOk(isSameAccount(notUtf8, null));
    t.notOk(isSameAccount('{"lamports":1,"data":{"parsed":5}}', account));
    const holding = (amount: string, shown: string): string =>
      `{"lamports":1,"data":{"program":"spl-token-2022","parsed":{"type":"account","info":{"tokenAmount":{"amount":"${amount}","uiAmountString":"${shown}"}}}}}`;
    t.ok(isSameAccount(holding('5', '5.1'), holding('5', '5.2')), 'interest is no change');
    t.notOk(isSameAccount(holding('5', '5.1'), holding('6', '5.1')));
  });
});

t.test(
  'accounts of a feed are the same as their JSON is, rent epoch and all, and as long, without making any (law)',
  async () => {
    const fields = {
      lamports: fc.constantFrom(1n, 2n),
      owner: fc.constantFrom('a', 'b'),
      executable: fc.boolean(),
      rentEpoch: fc.constantFrom(0n, MAX_U64),
    };
    const value = fc.record({ ...fields, data: fc.constantFrom(Buffer.from([]), Buffer.from([1]), Buffer.from([2])) });
    const kept = fc.oneof(value, value.map(unparsedJsonOf), fc.constant(null));
    fc.assert(
      fc.property(kept, kept, (a, b) => isSameKept(a, b) === isSameAccount(textOfKept(a), textOfKept(b))),
      { numRuns: 500 },
    );
    const long = fc.integer({ max: 2000, min: 0 }).map((length) => Buffer.alloc(length));
    fc.assert(
      fc.property(
        fc.oneof(kept, fc.record({ ...fields, data: long })),
        (a) => lengthOfKept(a) === (textOfKept(a)?.length ?? 0),
      ),
    );
  },
);

t.test('live-account-source', async (t) => {
  const queryOf = (address: string, commitment: Commitment, shape: 'lamports' | 'parsed', minContextSlot?: number) => ({
    address,
    commitment,
    shape,
    minContextSlot,
  });
  const query = queryOf('a', 'confirmed', 'lamports');

  /** A subscriber that ignores all changes. */
  const nobody: AccountSubscriber = { onChange: () => {}, onEnd: () => {} };

  /** Subscribes to `a` from slot 100 on; returns the session that is opened for it. */
  async function untilSubscribed(
    harness: AccountHarness,
    commitment: Commitment,
    subscriber = nobody,
  ): Promise<ManualSession> {
    harness.tips.observe('finalized', 100);
    harness.subscriptions.push(harness.source.subscribe('a', commitment, subscriber, 'me'));
    await flushEvents();
    return sessionOf(harness);
  }

  /** Subscribes to `a` and syncs it up to its second read: at slot 100 it has 1 lamport. */
  async function untilSecondRead(harness: AccountHarness): Promise<ManualSession> {
    const session = await untilSubscribed(harness, 'confirmed');
    session.handlers.get('a')?.onAcknowledged();
    await flushEvents();
    await session.answerNext(100, accountText(1));
    await session.passClock(101);
    return session;
  }

  async function untilLive(harness: AccountHarness): Promise<ManualSession> {
    const session = await untilSecondRead(harness);
    await session.answerNext(101, accountText(1));
    return session;
  }

  async function openLive(): Promise<{ readonly harness: AccountHarness; readonly session: ManualSession }> {
    const harness = openAccountHarness();
    return { harness, session: await untilLive(harness) };
  }

  function sessionOf({ sessions }: AccountHarness): ManualSession {
    const session = sessions.at(-1);
    if (session === undefined) throw new Error('no session was opened');
    return session;
  }

  /** Returns `[slot, lamports]` of the state that is kept live; undefined when the read goes to the upstream. */
  async function fromState(harness: AccountHarness): Promise<[number, number] | undefined> {
    const read = harness.source.read(query);
    await flushEvents();
    harness.upstream.pendingCalls.shift()?.fail(new GatewayError('upstream_unavailable', 'not now'));
    return read.then(
      ({ slot, account }) => [slot, account === null ? 0 : JSON.parse(account.toString()).lamports],
      () => undefined,
    );
  }

  t.test('I3: live is what was acknowledged and read, then read again after a newer Clock update', async (t) => {
    const harness = openAccountHarness();
    const session = await untilSubscribed(harness, 'confirmed');
    t.equal(session.pendingCalls.length, 0, 'nothing is read before the acknowledgement');
    session.handlers.get('a')?.onAcknowledged();
    await flushEvents();
    t.match(session.pendingCalls[0], { addresses: ['a'], minContextSlot: undefined });
    session.clockUpdate(100);
    await session.answerNext(100, accountText(1));
    await session.passClock(100);
    t.equal(session.pendingCalls.length, 0, 'a Clock update that is not newer than the read does not count');
    await session.passClock(101);
    t.match(session.pendingCalls[0], { minContextSlot: 101 });
    t.equal(await fromState(harness), undefined, 'not live yet');
    await session.answerNext(102, accountText(2));
    t.strictSame(await fromState(harness), [102, 2]);
  });

  t.test('the ring has each version, and from where on changes before it may be missing', async (t) => {
    const ring = new VersionRing({ bytes: 1 << 20, slots: 1000 }, bytesOfAccount);
    const harness = openAccountHarness({}, 400, undefined, ring);
    const session = await untilLive(harness);
    const notify = (slot: number): void => session.notify('a', slot, accountText(slot));
    for (const slot of [102, 103]) notify(slot);
    session.clockUpdate(103);
    session.ancestry.record(105, 103);
    notify(105);
    session.clockUpdate(105);
    session.ancestry.record(108, 107);
    notify(108);
    t.strictSame(
      [...(ring.get('a')?.linkedAfter(100) ?? [])].map(({ slot, gapFrom }) => [slot, gapFrom]),
      [
        [101, undefined],
        [102, undefined],
        [103, undefined],
        [105, undefined],
        [108, 105],
      ],
      'slot 104 has no block, of 107 there was no notification at all',
    );
  });

  t.test('the ring has what is notified at confirmed, in whatever order both commitments come to be live', (t) => {
    for (const order of [
      ['finalized', 'confirmed'],
      ['confirmed', 'finalized'],
    ] as const) {
      const ring = new VersionRing({ bytes: 1 << 20, slots: 1000 }, bytesOfAccount);
      const rules: LiveRules = { initialSync: (state) => state, halfLifeSlots: 100, observer: undefined };
      const watermark = new Watermark(() => undefined);
      for (const commitment of order) {
        const account = new AccountState('a', commitment, rules, { tipAtLastRead: 0, rank: 0 });
        const atCommitment = commitment === 'confirmed' ? watermark : new Watermark(() => undefined);
        atCommitment.advance(commitment === 'confirmed' ? 1000 : 968, 0);
        account.adopt(commitment === 'confirmed' ? 300 : 118, accountText(1), atCommitment);
        recordAccount(ring, account);
      }
      t.equal(ring.get('a')?.at(1000)?.slot, 300, order.join());
    }
    t.end();
  });

  t.test('I3: in a pool the Clock update must be newer than the read by the largest lag between nodes', async (t) => {
    const harness = openAccountHarness();
    const session = await untilSubscribed(harness, 'confirmed');
    session.isPooled = true;
    session.handlers.get('a')?.onAcknowledged();
    await flushEvents();
    await session.answerNext(100, accountText(1));
    await session.passClock(108);
    t.equal(session.pendingCalls.length, 0);
    await session.passClock(109);
    t.match(session.pendingCalls[0], { minContextSlot: 109 });
  });

  t.test('I3: a node of a pool confirms nothing older than the newest root that the notifying node had', async (t) => {
    for (const isPooled of [true, false]) {
      const harness = openAccountHarness();
      const session = await untilSubscribed(harness, 'finalized');
      session.isPooled = isPooled;
      session.acknowledgeAll();
      await flushEvents();
      const pass = async (step: () => void): Promise<void> => {
        step();
        await flushEvents();
      };
      const isLive = () => harness.source.readLive(queryOf('a', 'finalized', 'lamports')) !== undefined;
      await pass(() => session.pendingCalls.shift()?.answer(100, accountText(1)));
      // The account changes in slot 115. The subscription began with the root 120, which has it: no notification follows.
      await pass(() => session.clockUpdate(109, 120));
      t.match(session.pendingCalls, [{ minContextSlot: isPooled ? 120 : 109 }], 'the node itself has that root');
      if (!isPooled) continue;
      await pass(() => session.pendingCalls.shift()?.answer(109, accountText(1)));
      await pass(() => session.clockUpdate(121));
      t.notOk(isLive(), 'what a node behind has read is not claimed');
      await pass(() => session.pendingCalls.shift()?.answer(120, accountText(2)));
      await pass(() => session.clockUpdate(122));
      t.ok(isLive());
    }
  });

  t.test('I3: nodes of a pool lag by time, so that by more slots where slots are short', async (t) => {
    for (const [slotTimeMs, marginSlots] of [
      [150, 22],
      [200, 16],
      [400, 8],
      [1200, 8],
    ] as const) {
      const harness = openAccountHarness({}, slotTimeMs);
      const session = await untilSubscribed(harness, 'confirmed');
      session.isPooled = true;
      session.handlers.get('a')?.onAcknowledged();
      await flushEvents();
      await session.answerNext(100, accountText(1));
      await session.passClock(100 + marginSlots);
      t.equal(session.pendingCalls.length, 0, `${slotTimeMs} ms`);
      await session.passClock(101 + marginSlots);
      t.match(session.pendingCalls[0], { minContextSlot: 101 + marginSlots }, `${slotTimeMs} ms`);
    }
  });

  t.test('what is read again after 30 seconds is kept live for a minute, however long slots last', async (t) => {
    for (const slotTimeMs of [150, 200, 400]) {
      const harness = openAccountHarness({ idleMs: 60_000 }, slotTimeMs);
      const { source, tips, upstream } = harness;
      const slotsIn = (ms: number): number => Math.round(ms / slotTimeMs);
      let slot = 1000;
      const read = async (): Promise<void> => {
        await fromState(harness);
      };
      const pass = (ms: number): void => {
        for (const end = slot + slotsIn(ms); slot < end; ) tips.observe('processed', ++slot);
      };
      tips.observe('processed', slot);
      for (let n = 0; n < 2; n++) {
        await read();
        pass(36_000);
      }
      t.equal(source.liveSet.size, 0, `${slotTimeMs} ms: not what is read again after 36 seconds`);
      await read();
      pass(30_000);
      await read();
      t.equal(source.liveSet.size, 1, `${slotTimeMs} ms`);
      pass(59_000);
      t.equal(source.liveSet.size, 1, `${slotTimeMs} ms: 59 s later`);
      pass(2000);
      t.equal(source.liveSet.size, 0, `${slotTimeMs} ms: 61 s later`);
      t.equal(upstream.pendingCalls.length, 0);
    }
  });

  t.test('I3: a second read that fails, or is too old, is repeated at the next Clock update', async (t) => {
    const harness = openAccountHarness();
    const session = await untilSecondRead(harness);
    session.pendingCalls.shift()?.fail(new GatewayError('upstream_timeout', 'late'));
    await flushEvents();
    await session.passClock(102);
    await session.answerNext(100, accountText(1));
    t.equal(await fromState(harness), undefined);
    await session.passClock(103);
    await session.answerNext(103, accountText(1));
    t.strictSame(await fromState(harness), [103, 1]);
  });

  t.test('I2: a live account is dated at the Clock update before the last', async (t) => {
    const { harness, session } = await openLive();
    t.strictSame(await fromState(harness), [101, 1]);
    session.clockUpdate(102);
    t.strictSame(await fromState(harness), [101, 1]);
    session.clockUpdate(105);
    t.strictSame(await fromState(harness), [102, 1]);
  });

  t.test('I4: a newer notification replaces state and slot; any other is ignored', async (t) => {
    const { harness, session } = await openLive();
    session.notify('a', 100, accountText(9));
    session.notify('a', 101, accountText(9));
    t.strictSame(await fromState(harness), [101, 1]);
    session.notify('a', 103, accountText(3));
    t.strictSame(await fromState(harness), [103, 3]);
  });

  t.test('I6: the leases of a lost session end; the account is kept live over another session', async (t) => {
    const { harness, session } = await openLive();
    session.clockUpdate(102);
    session.clockUpdate(103);
    const { lease } = await harness.source.read(query);
    t.match([lease?.state, lease?.slot], ['active', 102]);
    session.close();
    t.match([lease?.state, lease?.slot], ['lost', 102]);
    t.equal(await fromState(harness), undefined);
    await flushEvents();
    t.equal(harness.sessions.length, 2);
    t.ok(sessionOf(harness).handlers.has('a'));
  });

  t.test('a session that lags answers no read, and is closed when it lags too far', async (t) => {
    const { harness, session } = await openLive();
    session.clockUpdate(102);
    session.clockUpdate(103);
    const { lease } = await harness.source.read(query);
    harness.tips.observe('confirmed', 110);
    t.equal(lease?.state, 'active');
    harness.tips.observe('confirmed', 111);
    t.match([lease?.state, lease?.lagSlots], ['behind', 9]);
    t.equal(await fromState(harness), undefined, 'other nodes are called');
    harness.tips.observe('confirmed', 123);
    t.ok(session.isLost);
  });

  t.test('I6: a revoked lease stops advancing, and is invalidated with its session', async (t) => {
    const { harness, session } = await openLive();
    session.clockUpdate(102);
    const { lease } = await harness.source.read(query);
    const validatedMs = harness.clock.monotonic();
    session.notify('a', 103, accountText(2));
    for (const slot of [103, 104, 105]) {
      harness.clock.advance(400);
      session.clockUpdate(slot);
    }
    t.match(lease, { state: 'revoked', slot: 101, validatedMs });
    session.notify('a', 103, accountText(7)); // not newer
    session.notify('a', 104, accountText(7)); // covered by the lease
    t.equal(harness.source.liveSet.leaseViolations, 1);
    t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY);
  });

  t.test('I9: another state at a slot that the lease covers ends it, and next time the session', async (t) => {
    const { harness, session } = await openLive();
    for (const slot of [102, 103, 104]) session.clockUpdate(slot);
    const { lease } = await harness.source.read(query);
    const audit = harness.source.liveSet.audit();
    await flushEvents();
    session.pendingCalls.shift()?.answer(103, accountText(2));
    await audit;
    t.match([harness.source.liveSet.leaseViolations, harness.problems.length > 0, session.isLost], [1, true, false]);
    t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY, 'nor is it served as stale');
    t.equal(await fromState(harness), undefined);
    await flushEvents();
    session.acknowledgeAll();
    await flushEvents();
    await session.answerNext(104, accountText(2));
    await session.passClock(105);
    await session.answerNext(105, accountText(2));
    t.strictSame(await fromState(harness), [105, 2], 'it is live again, over the same session');
    const again = harness.source.liveSet.audit();
    await flushEvents();
    session.pendingCalls.shift()?.answer(105, accountText(3));
    await again;
    t.match([harness.source.liveSet.leaseViolations, session.isLost], [2, true]);
  });

  t.test('I9: an audit compares each account once, many of them in one read', async (t) => {
    const harness = openAccountHarness();
    const session = await untilSubscribed(harness, 'confirmed');
    for (const address of ['b', 'c'])
      harness.subscriptions.push(harness.source.subscribe(address, 'confirmed', nobody, 'me'));
    await flushEvents();
    session.acknowledgeAll();
    await flushEvents();
    const answerAll = async (slot: Slot): Promise<unknown> => {
      const read = session.pendingCalls.splice(0);
      for (const { addresses, answer } of read) answer(slot, ...addresses.map(() => accountText(1)));
      await flushEvents();
      return read.map(({ addresses }) => addresses);
    };
    await answerAll(100);
    await session.passClock(101);
    await answerAll(101);
    const audit = harness.source.liveSet.audit();
    await flushEvents();
    t.strictSame(await answerAll(101), [['a', 'b', 'c']]);
    await audit;
    t.equal(harness.source.liveSet.audited, 3);
  });

  t.test('I9: a mismatch beyond the lease waits for a notification, and is a violation if none comes', async (t) => {
    for (const comes of [true, false]) {
      const { harness, session } = await openLive();
      session.clockUpdate(102);
      const audit = harness.source.liveSet.audit();
      await flushEvents();
      session.pendingCalls.shift()?.answer(103, accountText(2));
      await audit;
      t.equal(harness.source.liveSet.leaseViolations, 0);
      if (comes) session.notify('a', 103, accountText(2));
      session.clockUpdate(103);
      session.clockUpdate(104);
      t.equal(
        harness.source.liveSet.leaseViolations,
        comes ? 0 : 1,
        comes ? 'a notification came' : 'no notification came',
      );
    }
  });

  t.test('I9: a notification for a slot that the lease covers is a violation', async (t) => {
    const { harness, session } = await openLive();
    for (const slot of [102, 103, 104]) session.clockUpdate(slot);
    session.notify('a', 103, accountText(7));
    t.match([harness.source.liveSet.leaseViolations, session.isLost], [1, true]);
  });

  t.test('I9: all leased accounts are read again at intervals, and compared by meaning', async (t) => {
    const { harness, session } = await openLive();
    harness.clock.advance(30_000);
    await flushEvents();
    await session.answerNext(101, '{ "data": ["", "base64"], "lamports": 1 }');
    t.match([harness.source.liveSet.audited, harness.source.liveSet.leaseViolations], [1, 0]);
    harness.clock.advance(30_000);
    await flushEvents();
    t.equal(session.pendingCalls.length, 1);
  });

  t.test('I17: what another parser shows neither agrees nor lies; other lamports are decided upon', async (t) => {
    const [witness, deciding] = [new ManualSession(), new ManualSession()];
    const never = () => t.fail('nobody is counted');
    const harness = openAccountHarness({}, 400, {
      operators: 3,
      needed: 3,
      disagreements: new Disagreements({ clock: new ManualClock(), onDisagreement: never, onUndecided: never }),
      rpc: deciding,
      witnessOf: () => witness,
      areOfTwoOperators: () => true,
      openSessionBeside: () => new Promise(() => {}),
      onContradicted: () => {},
    });
    await untilLive(harness);
    const audited = async (account: string): Promise<unknown> => {
      const audit = harness.source.liveSet.audit();
      await flushEvents();
      await witness.answerNext(101, account);
      await audit;
      return [deciding.pendingCalls.length, (await harness.source.read(query)).lease?.agreement?.agreed];
    };
    t.strictSame(await audited('{"lamports":1,"data":{"program":"new","parsed":{},"space":0}}'), [0, undefined]);
    t.strictSame(await audited('{"data":["","base64"],"lamports":1,"space":0}'), [0, undefined]);
    t.strictSame(await audited('{"data":["","base64"],"lamports":1}'), [0, 2]);
    const tooMany = `{"lamports":1,"data":[${'1,'.repeat(10_000)}1]}`;
    t.strictSame(await audited(tooMany), [0, 2], 'what can not be compared ends no audit');
    t.strictSame(await audited(accountText(2)), [1, 2]);
    t.equal(harness.source.liveSet.leaseViolations, 0);
  });

  t.test('I11: an account without lamports is absent', async (t) => {
    const { harness, session } = await openLive();
    session.notify('a', 103, accountText(0));
    const { slot, account: json, lease } = await harness.source.read(query);
    t.strictSame([slot, json], [103, null]);
    t.equal(lease?.state, 'active');
  });

  t.test('I14: parsed JSON that depends on the Clock has no lease', async (t) => {
    const { harness, session } = await openLive();
    const data = '{"program":"spl-token-2022","parsed":{"type":"account","info":{}},"space":165}';
    session.notify('a', 103, `{"lamports":5,"data":${data}}`);
    const parsed = queryOf('a', 'confirmed', 'parsed');
    const now = await harness.source.read(parsed);
    t.match([now.slot, now.lease], [103, undefined], 'it holds at its own slot');
    session.clockUpdate(103);
    session.clockUpdate(104);
    session.clockUpdate(105);
    const later = harness.source.read(parsed);
    await flushEvents();
    t.equal(harness.upstream.pendingCalls.length, 1, 'it is read again');
    harness.upstream.pendingCalls.shift()?.answer(105, `{"lamports":5,"data":${data}}`);
    t.match(await later, { slot: 105, lease: undefined });
    t.match(await harness.source.read(query), { slot: 104, lease: { state: 'active' } }, 'the balance has a lease');
  });

  t.test('an account read once is not kept live; one read often is, until nobody reads it', async (t) => {
    const harness = openAccountHarness();
    const read = () => harness.source.read(query).catch(() => {});
    harness.tips.observe('processed', 10);
    void read();
    void read();
    t.equal(harness.source.liveSet.size, 0);
    harness.tips.observe('processed', 11);
    void read();
    t.equal(harness.source.liveSet.size, 1);
    await flushEvents();
    for (let slot = 12; slot < 120; slot++) harness.tips.observe('processed', slot);
    t.equal(harness.source.liveSet.size, 0);
    t.strictSame(sessionOf(harness).unsubscribed, ['a']);
  });

  t.test('the number of live accounts is bounded, and a place goes with its last subscriber', async (t) => {
    const harness = openAccountHarness({ accounts: 2 });
    harness.tips.observe('processed', 10);
    const subscribe = (address: string) => harness.source.subscribe(address, 'confirmed', nobody, 'me');
    const subscription = subscribe('a');
    subscribe('b');
    t.throws(() => subscribe('c'), { code: 'overloaded' });
    subscription.end();
    t.equal(harness.source.liveSet.size, 1, 'its place goes with the subscriber');
    subscribe('c');
    t.equal(harness.source.liveSet.size, 2);
  });

  t.test('an account that is read, too, stays when its subscriber leaves', async (t) => {
    for (const isRead of [true, false]) {
      const { harness, session } = await openLive();
      const { lease } = await harness.source.read(query);
      for (const slot of [101, 102, 103]) {
        session.notify('a', slot + 1, accountText(slot));
        harness.tips.observe('finalized', slot);
        await harness.source.read(query); // as for a push after each change
        if (isRead) lease?.recordRead(slot); // as the cache does when it answers
      }
      harness.subscriptions[0]?.end();
      t.equal(harness.source.liveSet.size, isRead ? 1 : 0);
    }
  });

  t.test('a subscription beyond the share of its caller ends when another needs the place', async (t) => {
    const harness = openAccountHarness({ accounts: 4, callerShare: 0.25 });
    const ended: unknown[] = [];
    for (const address of ['a', 'b', 'c'])
      harness.source.subscribe(
        address,
        'confirmed',
        { ...nobody, onEnd: (reason) => ended.push([address, reason]) },
        'me',
      );
    harness.source.subscribe('d', 'confirmed', nobody, 'other');
    t.match(ended, [['a', { code: 'overloaded' }]]);
    t.throws(() => harness.source.subscribe('a', 'confirmed', nobody, 'me'), { code: 'overloaded' });
  });

  t.test('an account that is too large, or that a node rejects, is read from the upstream', async (t) => {
    const harness = openAccountHarness({ maxAccountBytes: 40 });
    const session = await untilLive(harness);
    session.notify('a', 102, `{"lamports":5,"data":["${'A'.repeat(100)}","base64"]}`);
    t.equal(await fromState(harness), undefined);
    t.strictSame(session.unsubscribed, ['a']);
    harness.source.subscribe('b', 'confirmed', nobody, 'me');
    session.refuse('b');
    t.strictSame(session.unsubscribed, ['a', 'b']);
  });

  const UNDECODABLE = ['-1', '"5"', 'null', '1.5', '1e3', '[1]', '99999999999999999999999'].map(
    (lamports) => `{"lamports":${lamports},"data":["","base64"]}`,
  );
  UNDECODABLE.push('5', '"account"', '[]', '{}');

  /** Syncs `a`, whose first or second read gives something else than an account. */
  async function withUndecodableRead(harness: AccountHarness, number: 1 | 2, account: string, ended: string[]) {
    const onEnd = ({ code }: GatewayError) => ended.push(code);
    const session = await untilSubscribed(harness, 'confirmed', { ...nobody, onEnd });
    session.handlers.get('a')?.onAcknowledged();
    await flushEvents();
    if (number === 2) {
      await session.answerNext(100, accountText(1));
      await session.passClock(101);
    }
    await session.answerNext(101, account);
    return session;
  }

  t.test('an account whose read cannot be decoded is read from the upstream, and not again at each slot', async (t) => {
    for (const account of UNDECODABLE) {
      for (const number of [1, 2] as const) {
        const harness = openAccountHarness();
        const ended: string[] = [];
        const session = await withUndecodableRead(harness, number, account, ended);
        t.strictSame(ended, ['upstream_error'], `${account} in read ${number}`);
        t.equal(await fromState(harness), undefined);
        t.strictSame(session.unsubscribed, ['a']);
        for (let slot = 102; slot < 110; slot++) session.clockUpdate(slot);
        await flushEvents();
        t.equal(session.pendingCalls.length, 0);
        harness.source.subscribe('b', 'confirmed', nobody, 'me');
        session.acknowledgeAll();
        await flushEvents();
        t.match(session.pendingCalls, [{ addresses: ['b'] }], 'others are still made live');
      }
    }
  });

  t.test('so is one whose read nodes refuse', async (t) => {
    const harness = openAccountHarness();
    const ended: string[] = [];
    const subscriber = { ...nobody, onEnd: ({ code }: GatewayError) => ended.push(code) };
    const session = await untilSubscribed(harness, 'confirmed', subscriber);
    session.acknowledgeAll();
    await flushEvents();
    const barred = new GatewayError('rpc_error', '-32602: the account is barred', { status: 400, rpcCode: -32602 });
    session.pendingCalls.shift()?.fail(barred);
    await flushEvents();
    t.strictSame([ended, session.unsubscribed], [['rpc_error'], ['a']]);
  });

  t.test('a notification that cannot be decoded ends one account, and not its session', async (t) => {
    for (const account of UNDECODABLE) {
      const { harness, session } = await openLive();
      session.notify('a', 102, account);
      t.equal(await fromState(harness), undefined, account);
      t.strictSame(session.unsubscribed, ['a']);
      t.notOk(session.isLost);
    }
  });

  t.test('an audit that cannot be decoded says nothing, and ends nothing', async (t) => {
    for (const account of UNDECODABLE) {
      const { harness, session } = await openLive();
      const audit = harness.source.liveSet.audit();
      await flushEvents();
      session.pendingCalls.shift()?.answer(101, account);
      await audit;
      session.clockUpdate(105);
      session.clockUpdate(106);
      t.strictSame(await fromState(harness), [105, 1], account);
      t.strictSame(harness.problems, []);
    }
  });

  t.test('an account of which an audit reads more than it can compare in a turn is not kept live', async (t) => {
    const { harness, session } = await openLive();
    const audit = harness.source.liveSet.audit();
    await flushEvents();
    session.pendingCalls.shift()?.answer(101, `{"lamports":1,"data":[${'1,'.repeat(40_000)}1]}`);
    await audit;
    t.equal(await fromState(harness), undefined);
    t.equal(harness.source.liveSet.leaseViolations, 0);
  });

  t.test('a subscriber to an ineligible account receives the reason, and it is retried later', async (t) => {
    const harness = openAccountHarness({ maxAccountBytes: 40 });
    const ends: string[] = [];
    const session = await untilLive(harness);
    const follow = (address: string) =>
      harness.source.subscribe(
        address,
        'confirmed',
        { ...nobody, onEnd: ({ code }) => ends.push(`${address} ${code}`) },
        'me',
      );
    const subscription = follow('a');
    follow('b');
    session.notify('a', 102, `{"lamports":5,"data":["${'A'.repeat(100)}","base64"]}`);
    session.refuse('b');
    t.strictSame(ends, ['a result_too_large', 'b upstream_error']);
    subscription.end();
    t.throws(() => follow('a'), { code: 'result_too_large' });
    t.throws(() => follow('b'), { code: 'upstream_error' });
    for (let slot = 102; slot < 220; slot++) harness.tips.observe('processed', slot);
    t.equal(harness.source.liveSet.size, 0);
    follow('a');
    t.ok(session.handlers.has('a'));
  });

  t.test('I5: at processed the first message that shows it rolls back the state of a fork left', async (t) => {
    for (const isClockUpdateFirst of [true, false]) {
      const harness = openAccountHarness();
      const changes: object[] = [];
      const session = await untilSubscribed(harness, 'processed', {
        ...nobody,
        onChange: (one) => changes.push(one),
      });
      for (const [slot, parent] of [
        [101, 100],
        [102, 100], // no slot is built on it yet
        [103, 101],
        [104, 102],
      ] as const)
        session.ancestry.record(slot, parent);
      session.handlers.get('a')?.onAcknowledged();
      session.notify('a', 101, accountText(7));
      session.clockUpdate(103);
      t.strictSame(changes, [{ slot: 101, isReorg: false }], 'this one is built on it');
      if (isClockUpdateFirst) session.clockUpdate(104);
      session.notify('a', 104, accountText(1));
      session.clockUpdate(104);
      t.strictSame(changes.slice(1), [
        { slot: 104, isReorg: true },
        { slot: 104, isReorg: false },
      ]);
    }
  });

  t.test('at processed a rollback is reported as such, and the next read goes to the upstream', async (t) => {
    const harness = openAccountHarness();
    const changes: object[] = [];
    const session = await untilSubscribed(harness, 'processed', { ...nobody, onChange: (one) => changes.push(one) });
    session.handlers.get('a')?.onAcknowledged();
    session.notify('a', 101, accountText(1));
    session.notify('a', 101, '{"data":["","base64"],"lamports":1}');
    t.strictSame(changes, [{ slot: 101, isReorg: false }], 'a node orders members by how it is read');
    session.notify('a', 100, accountText(0));
    t.strictSame(changes, [
      { slot: 101, isReorg: false },
      { slot: 102, isReorg: true },
    ]);
    const read = harness.source.read(queryOf('a', 'processed', 'lamports'));
    await flushEvents();
    t.equal(harness.upstream.pendingCalls.length, 1, 'the rolled-back state is not served');
    harness.upstream.pendingCalls.shift()?.answer(102, accountText(0));
    t.match(await read, { slot: 102 });
  });

  /** Keeps `a` live at finalized from a second read at `slot` on, after the Clock update of slot 101. */
  async function untilFinalized(harness: AccountHarness, slot: number) {
    const session = await untilSubscribed(harness, 'finalized');
    session.acknowledgeAll();
    await flushEvents();
    const answerReads = async (at: number, lamports: number): Promise<void> => {
      for (const { answer } of session.pendingCalls.splice(0)) answer(at, accountText(lamports));
      await flushEvents();
    };
    const clockUpdate = async (at: number, provenFrom = at): Promise<void> => {
      await session.passClock(at, provenFrom);
    };
    await answerReads(100, 1);
    await clockUpdate(101);
    await answerReads(slot, 1);
    const read = () => harness.source.readLive(queryOf('a', 'finalized', 'lamports'));
    return { session, read, answerReads, clockUpdate };
  }

  t.test('what was notified at finalized is proven by the first Clock update of a later slot', async (t) => {
    const { session, read, clockUpdate } = await untilFinalized(openAccountHarness(), 101);
    await clockUpdate(102);
    t.match(read(), { slot: 101, provenFrom: 101 }, 'a read is by its own Clock');
    session.notify('a', 103, accountText(2));
    t.match(read(), { slot: 103, provenFrom: 103 + 64 });
    await clockUpdate(103);
    t.match(read(), { provenFrom: 103 + 64 }, 'the Clock of the same slot may have been notified before');
    await clockUpdate(104, 106);
    t.match(read(), { slot: 103, provenFrom: 106 }, "the node's newest root was two slots ahead");
    await clockUpdate(105);
    t.match(read(), { slot: 104, provenFrom: 106, lease: { provenFrom: 106 } });
  });

  t.test('a notification that did not replace the state is older than it, if a Clock update shows so', async (t) => {
    const { session, read, clockUpdate } = await untilFinalized(openAccountHarness(), 104);
    session.notify('a', 102, accountText(2));
    await clockUpdate(103);
    t.match(read(), { slot: 104, provenFrom: 104 });
    t.equal(session.pendingCalls.length, 0);
  });

  t.test('if it may be newer, since the root was ahead, the account is read again', async (t) => {
    const { session, read, answerReads, clockUpdate } = await untilFinalized(openAccountHarness(), 101);
    await clockUpdate(102);
    t.match(read(), { slot: 101 });
    session.notify('a', 101, accountText(2)); // of slot 102, which was the newest root already
    await clockUpdate(103);
    t.equal(read(), undefined, 'nothing is claimed until it is read');
    await answerReads(103, 2);
    await clockUpdate(104);
    await answerReads(104, 2);
    t.match(read(), { slot: 104, account: Buffer.from(accountText(2)), provenFrom: 104 });
  });

  t.test('what another node of a pool has read replaces nothing that was notified of a newer root', async (t) => {
    const harness = openAccountHarness();
    const session = await untilSubscribed(harness, 'finalized');
    session.isPooled = true;
    session.acknowledgeAll();
    await flushEvents();
    const answerRead = async (slot: number, lamports: number): Promise<void> => {
      await session.answerNext(slot, accountText(lamports));
    };
    const clockUpdate = async (slot: number, provenFrom: number): Promise<void> => {
      await session.passClock(slot, provenFrom);
    };
    const read = () => harness.source.readLive(queryOf('a', 'finalized', 'lamports'));
    await answerRead(100, 1);
    await clockUpdate(109, 109);
    session.notify('a', 109, accountText(2)); // of slot 112, since the newest root is 113
    await answerRead(110, 1);
    t.equal(read(), undefined, 'the account is live in neither state');
    await clockUpdate(110, 113);
    t.equal(session.pendingCalls.length, 1, 'it is read again');
    await answerRead(111, 1);
    await clockUpdate(111, 113);
    await answerRead(111, 2);
    t.match(read(), { slot: 110, account: Buffer.from(accountText(2)), provenFrom: 113 }, 'it ends the sync');
    await clockUpdate(112, 113);
    t.match(read(), { slot: 111, provenFrom: 113 });
  });

  t.test('I9: nor does an audit, by which another node of a pool shows a newer root', async (t) => {
    const harness = openAccountHarness();
    const { session, read, clockUpdate } = await untilFinalized(harness, 101);
    session.isPooled = true;
    await clockUpdate(102);
    const audit = harness.source.liveSet.audit();
    await flushEvents();
    session.rootSlot = 104;
    await session.answerNext(101, accountText(2)); // which it is from slot 104 on
    await audit;
    for (const slot of [103, 104]) await clockUpdate(slot);
    t.match(read(), { slot: 103, account: Buffer.from(accountText(1)) });
    t.equal(harness.source.liveSet.leaseViolations, 0);
  });

  t.test('of a pool, the account is then read at a slot that this root had reached, also behind', async (t) => {
    const { session, answerReads, clockUpdate } = await untilFinalized(openAccountHarness(), 101);
    session.isPooled = true;
    await clockUpdate(102);
    session.notify('a', 101, accountText(2));
    await clockUpdate(103, 120);
    await answerReads(103, 1);
    for (let slot = 104; slot <= 103 + 8 + 17; slot++) await clockUpdate(slot);
    t.equal(session.pendingCalls.length, 0);
    await clockUpdate(129);
    t.match(session.pendingCalls, [{ minContextSlot: 129 }]);
  });

  t.test('a read does not settle whether a notification for an older slot is newer', async (t) => {
    const { session, read, answerReads, clockUpdate } = await untilFinalized(openAccountHarness(), 101);
    await clockUpdate(102);
    session.notify('a', 101, accountText(2));
    await clockUpdate(103); // has the account read again
    session.notify('a', 101, accountText(3)); // of slot 107
    await answerReads(103, 1);
    await clockUpdate(104, 107);
    await answerReads(104, 1);
    t.equal(read(), undefined);
  });

  t.test('no account is read for a reader that may wait for a Clock update on its way', async (t) => {
    const { harness, session } = await openLive();
    harness.tips.observe('finalized', 103);
    const slots: number[] = [];
    const read = async (minContextSlot: number, mayWait: boolean): Promise<void> => {
      void harness.source.read({ ...query, minContextSlot, mayWait }).then(({ slot }) => slots.push(slot));
      await flushEvents();
    };
    await read(102, true);
    t.equal(harness.upstream.pendingCalls.length, 0);
    for (const slot of [102, 103]) session.clockUpdate(slot);
    await flushEvents();
    t.strictSame(slots, [102]);
    await read(103, false);
    t.equal(harness.upstream.pendingCalls.length, 1);
    await read(107, true);
    t.equal(harness.upstream.pendingCalls.length, 1, 'a slot ahead of the tip is awaited, too');
    session.clockUpdate(104);
    harness.tips.observe('finalized', 107);
    harness.clock.advance(1799);
    for (const slot of [105, 106, 107]) session.clockUpdate(slot);
    await flushEvents();
    t.equal(harness.upstream.pendingCalls.length, 1);
    harness.clock.advance(1);
    await flushEvents();
    t.equal(harness.upstream.pendingCalls.length, 2, 'for a second and two slots at most');
  });
});

t.test('live-balances', async (t) => {
  const ADDRESSES = ['a', 'b'];
  const queryOf = (addresses: readonly string[], minContextSlot?: number) =>
    ({ addresses, commitment: 'confirmed', minContextSlot }) as const;

  /** Keeps `a` (1 lamport) and `b` (2 lamports) live from slot 100 on, with the watermark at slot 101. */
  async function open() {
    const harness = openAccountHarness();
    const { source, sessions, upstream, tips } = harness;
    tips.observe('finalized', 102);
    for (const address of ADDRESSES)
      source.subscribe(address, 'confirmed', { onChange: () => {}, onEnd: () => {} }, 'me');
    await flushEvents();
    const session = sessions.at(-1) as ManualSession; // it opened for the first
    session.acknowledgeAll();
    await flushEvents();
    for (const slot of [100, 101]) {
      for (const { addresses, answer } of session.pendingCalls.splice(0))
        answer(slot, ...addresses.map((address) => accountText(ADDRESSES.indexOf(address) + 1)));
      await flushEvents();
      await session.passClock(slot + 1);
    }
    /** Returns slot and lamports, or how the upstream was called. */
    const read = async (addresses = ADDRESSES, minSlot?: number) => {
      const reading = source.readBalances(queryOf(addresses, minSlot));
      await flushEvents();
      const call = upstream.pendingCalls.shift();
      if (call !== undefined) return { call, reading };
      const { slot, lamports, lease } = await reading;
      return { slot, lamports, lease };
    };
    return { ...harness, session, read };
  }

  t.test('balances of live accounts are read from memory, at the slot that all leases cover', async (t) => {
    const { session, read } = await open();
    t.match(await read(), { slot: 101, lamports: [1n, 2n], lease: { state: 'active', slot: 101 } });
    t.match(await read(['b', 'a']), { lamports: [2n, 1n] });
    session.clockUpdate(103);
    t.match(await read(), { slot: 102 });
  });

  t.test('one that is not live has all read from the upstream in one call, which grants no lease', async (t) => {
    const { read } = await open();
    const { call, reading } = await read(['a', 'c', 'b']);
    t.match(call, { addresses: ['a', 'c', 'b'], minContextSlot: 101 });
    call?.answer(104, accountText(1), 'null', accountText(2));
    t.match(await reading, { slot: 104, lamports: [1n, 0n, 2n], lease: undefined });
  });

  t.test('a change beyond the slot of the others has all read once; the lease of what was read goes on', async (t) => {
    const { session, read } = await open();
    session.notify('a', 102, accountText(7));
    const { call, reading } = await read();
    t.match(call, { addresses: ['a', 'b'], minContextSlot: 102 });
    call?.answer(102, accountText(7), accountText(2));
    const answer = await reading;
    t.match(answer, { slot: 102, lamports: [7n, 2n], lease: { state: 'active', slot: 101 } });
    session.clockUpdate(103);
    session.clockUpdate(104);
    t.match(await read(), { slot: 103, lamports: [7n, 2n] });
    t.equal(answer?.lease?.slot, 103, 'what was read holds at the slots that the lease advances to');
    let revocations = 0;
    answer?.lease?.onRevoked('k', { onRevoked: () => revocations++ });
    session.notify('b', 105, accountText(9));
    t.match([revocations, answer?.lease?.state], [1, 'revoked']);
  });

  t.test('what differs from the live state gets no lease: a notification is on its way', async (t) => {
    const { session, read } = await open();
    session.notify('a', 102, accountText(7));
    const { call, reading } = await read();
    call?.answer(103, accountText(7), accountText(5));
    t.match(await reading, { slot: 103, lamports: [7n, 5n], lease: undefined });
  });

  t.test('memory answers no read beyond its slot, and none after the session was lost', async (t) => {
    const { session, read } = await open();
    const later = await read(ADDRESSES, 102);
    t.match(later.call, { addresses: ['a', 'b'], minContextSlot: 102 });
    later.call?.answer(102, accountText(1), accountText(2));
    t.match(await later.reading, { slot: 102 });
    session.close();
    const lost = await read();
    t.match(lost.call, { addresses: ['a', 'b'] });
    lost.call?.answer(103, accountText(1), accountText(2));
    t.match(await lost.reading, { slot: 103, lease: undefined });
  });

  t.test('accounts that are read together often are kept live while there are places', async (t) => {
    const { source, tips, upstream } = openAccountHarness({ accounts: 3 });
    const readAt = async (slot: number, addresses: readonly string[]): Promise<void> => {
      tips.observe('finalized', slot);
      const reading = source.readBalances(queryOf(addresses));
      await flushEvents();
      upstream.pendingCalls.shift()?.answer(slot, ...addresses.map(() => 'null'));
      await reading;
    };
    await readAt(100, ['a', 'b', 'c']);
    t.equal(source.liveSet.size, 0, 'once is not often');
    await readAt(101, ['a', 'b', 'c']);
    t.equal(source.liveSet.size, 3);
    for (const slot of [102, 103]) await readAt(slot, ['d', 'e']);
    t.equal(source.liveSet.size, 3, 'others get no place while these are read');
  });
});

t.test('hot-key-detector', async (t) => {
  const HALF_LIFE_SLOTS = 25;
  const SEED = 0.5;

  t.test('the second of two reads within some slots makes a key hot, and never the first', async (t) => {
    for (const withinSlots of [25, 250, 500, 1000, 100_000]) {
      const detector = new HotKeyDetector(10, HALF_LIFE_SLOTS, () => SEED);
      t.equal(detector.recordRead('a', 1000, withinSlots), undefined, `${withinSlots}`);
      t.not(detector.recordRead('a', 1000 + Math.min(withinSlots, 100), withinSlots), undefined, `${withinSlots}`);
    }
  });

  t.test('the first read of no key counts as the second one of another', async (t) => {
    const detector = new HotKeyDetector(10, HALF_LIFE_SLOTS, () => SEED);
    const keys = Array.from({ length: 20_000 }, (_, i) => `${i}`);
    const recorded = keys.filter((key) => detector.recordRead(key, 1000, 100) !== undefined);
    t.same(recorded, []);
  });

  t.test('a key that is given back has the heat that it had when it was taken', async (t) => {
    const detector = new HotKeyDetector(10, HALF_LIFE_SLOTS, () => SEED);
    for (const tip of [1000, 1010, 1020]) detector.recordRead('a', tip, 25);
    const heat = detector.remove('a');
    t.equal(detector.recordRead('a', 1021, 25), undefined, 'until then it is forgotten');
    detector.giveBack('a', heat);
    const { rank, tipAtLastRead } = detector.remove('a');
    t.strictSame([rank, tipAtLastRead], [heat.rank, 1020]);
  });

  t.test('keys that share a place become hot one after the other, though each is read in each slot', async (t) => {
    const detector = new HotKeyDetector(10, HALF_LIFE_SLOTS, () => SEED);
    const cold = new Set(Array.from({ length: 3000 }, (_, i) => `${i}`));
    for (let tip = 1000; tip < 1050; tip++)
      for (const key of cold) {
        if (detector.recordRead(key, tip, 25) === undefined) continue;
        detector.remove(key);
        cold.delete(key);
      }
    t.same([...cold], []);
  });

  t.test('of keys that share a bucket four are remembered, and the least read one is forgotten', async (t) => {
    const KEYS = Array.from({ length: 12_000 }, (_, i) => `${i}`)
      .filter((key) => hashText(key, SEED * 2 ** 32) % 1024 === 0)
      .slice(0, 8);
    t.equal(KEYS.length, 8);
    const READ = fc.record({ key: fc.constantFrom(...KEYS), slots: fc.constantFrom(0, 0, 0, 1, 1, 2, 20) });
    let [forgotten, refused] = [0, 0];
    fc.assert(
      fc.property(fc.array(READ, { minLength: 20, maxLength: 100 }), (reads) => {
        const detector = new HotKeyDetector(10, HALF_LIFE_SLOTS, () => SEED);
        const ranksOf = () =>
          new Map(
            KEYS.flatMap((key) => {
              const heat = detector.remove(key);
              if (heat.tipAtLastRead === undefined) return [];
              detector.giveBack(key, heat);
              return [[key, heat.rank] as const];
            }),
          );
        const heats = new Map<string, ReadHeat>();
        let tip = 1000;
        for (const { key, slots } of reads) {
          tip += slots;
          const before = ranksOf();
          const heat = (before.has(key) ? heats.get(key) : undefined) ?? unread();
          recordRead(heat, tip, HALF_LIFE_SLOTS);
          heats.set(key, heat);
          detector.recordRead(key, tip, 25);
          const after = ranksOf();
          if (after.size !== Math.min(4, before.size + (before.has(key) ? 0 : 1))) return false;
          for (const [known, rank] of after) if (rank !== heats.get(known)?.rank) return false;
          const least = Math.min(...before.values());
          for (const [known, rank] of before) {
            if (after.has(known)) continue;
            forgotten++;
            if (rank > least || (tip % 16 !== 0 && rank >= heat.rank)) return false;
          }
          if (after.has(key)) continue;
          refused++;
          if (tip % 16 === 0 || heat.rank > least) return false;
        }
        return true;
      }),
    );
    t.ok(forgotten > 100 && refused > 100, `${forgotten} and ${refused}`);
  });

  t.test('two reads that are further apart do not', async (t) => {
    const detector = new HotKeyDetector(10, HALF_LIFE_SLOTS, () => SEED);
    detector.recordRead('a', 1000, 25);
    t.equal(detector.recordRead('a', 1026, 25), undefined);
  });
});

t.test('hottest-first', async (t) => {
  t.test('the item of the highest rank comes first, of several the one that was first', async (t) => {
    const { intBelow } = seededRng(3);
    const queue = new HottestFirst<number>();
    const waiting: { readonly item: number; readonly rank: number }[] = [];
    const [popped, expected]: [unknown[], unknown[]] = [[], []];
    for (let item = 0; item < 2000; item++) {
      const rank = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, intBelow(20)][intBelow(3)] ?? 0;
      queue.push(item, rank);
      waiting.push({ item, rank });
      if (intBelow(3) > 0 && item < 1990) continue;
      popped.push(queue.pop()?.item);
      waiting.sort((a, b) => (a.rank === b.rank ? a.item - b.item : a.rank < b.rank ? 1 : -1));
      expected.push(waiting.shift()?.item);
    }
    for (let left = waiting.length; left >= 0; left--) {
      popped.push(queue.pop()?.item);
      expected.push(waiting.shift()?.item);
    }
    t.strictSame(popped, expected);
    t.equal(queue.size, 0);
  });
});

t.test('places', async (t) => {
  const HALF_LIFE = 10;
  const IDLE_SLOTS = 2 * HALF_LIFE;

  /** A value that has a place, or had one. */
  interface Value extends Place {
    readonly key: string;
  }

  /** Opens places, and records which values lose theirs. */
  function open({ maxSize = 8, callerShare = 0.25 } = {}) {
    const state = { tip: 100 };
    const evicted: Value[] = [];
    const places = new Places<Value>({
      maxSize,
      callerShare,
      tip: () => state.tip,
      keyOf: ({ key }) => key,
      halfLifeSlots: HALF_LIFE,
      isIdle: ({ tipAtLastRead = Number.NEGATIVE_INFINITY }) => state.tip - tipAtLastRead > IDLE_SLOTS,
      staysUntilIdle: () => false,
      onEvict: (_, value) => evicted.push(value),
    });
    const heats = new Map<string, ReadHeat>();
    const heatOf = (key: string): ReadHeat => {
      const heat = heats.get(key) ?? unread();
      heats.set(key, heat);
      return heat;
    };
    const newValue = (key: string): Value => ({
      key,
      get rank() {
        return heatOf(key).rank;
      },
      get tipAtLastRead() {
        return heatOf(key).tipAtLastRead;
      },
      subscriptions: undefined,
      reader: undefined,
    });
    /** Reads a key at the tip, `times` with a slot in between; it gets a place if it may. */
    const read = (key: string, caller: string | undefined, times = 1): Value | undefined => {
      for (let i = 0; i < times; i++) {
        if (i > 0) state.tip++;
        recordRead(heatOf(key), state.tip, HALF_LIFE);
      }
      return places.get(key) ?? places.addRead(caller, heatOf(key), () => newValue(key));
    };
    const subscribe = (key: string, caller: string): Value | undefined =>
      places.subscribe(key, caller, () => newValue(key));
    /** Returns the keys that have lost their places since the last call. */
    const lost = (): readonly string[] => evicted.splice(0).map(({ key }) => key);
    return { state, places, heatOf, read, subscribe, lost };
  }

  t.test('a caller above its share by subscriptions alone costs a refused read no look at all places', async (t) => {
    const { subscribe, read, places } = open({ maxSize: 100 });
    for (let i = 0; i < 30; i++) subscribe(`subscribed ${i}`, 'subscriber');
    for (let i = 0; i < 70; i++) read(`read ${i}`, `reader ${i}`);
    let looks = 0;
    for (const value of places.values()) {
      const { reader } = value;
      Object.defineProperty(value, 'reader', {
        get: () => {
          looks++;
          return reader;
        },
      });
    }
    t.equal(read('new', 'other'), undefined);
    t.equal(looks, 0);
  });

  t.test('heat counts slots with a read, and half of it is left after a half-life', async (t) => {
    const heat = unread();
    const isAt = (tip: Slot, expected: number): boolean => Math.abs(heatAt(heat, tip, HALF_LIFE) - expected) < 1e-6;
    t.ok(isAt(300_000_000, 0));
    for (const tip of [300_000_000, 300_000_000, 300_000_000]) recordRead(heat, tip, HALF_LIFE);
    t.ok(isAt(300_000_000, 1), 'three reads in one slot are one');
    t.ok(isAt(300_000_010, 0.5));
    recordRead(heat, 300_000_010, HALF_LIFE);
    t.ok(isAt(300_000_010, 1.5));
  });

  t.test('the least read is found whatever is read, added and deleted in between', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), key: fc.nat(300) }),
      fc.record({ do: fc.constant('delete' as const), key: fc.nat(300) }),
      fc.record({ do: fc.constant('read' as const), key: fc.nat(300) }),
      fc.record({ do: fc.constant('find' as const), key: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 200, maxLength: 600 }), (steps) => {
        interface Member extends ReadHeat {
          readonly key: number;
        }
        const members = new Map<number, Member>();
        const set = new LeastRead<Member>({
          all: () => members.values(),
          has: (member) => members.get(member.key) === member,
          rankOf: ({ rank }) => rank,
        });
        let tip = 1;
        for (const { do: what, key } of steps) {
          tip++;
          if (what === 'add' && !members.has(key)) {
            const member = { key, ...unread() };
            recordRead(member, tip, HALF_LIFE);
            members.set(key, member);
            set.add(member);
          } else if (what === 'read') {
            const member = members.get(key);
            if (member !== undefined) recordRead(member, tip, HALF_LIFE);
          } else if (what === 'delete') members.delete(key);
          else if (what === 'find') {
            const least = Math.min(...[...members.values()].map(({ rank }) => rank));
            if ((set.find()?.rank ?? Number.POSITIVE_INFINITY) !== least) return false;
          }
        }
        return true;
      }),
      { numRuns: 100 },
    );
  });

  t.test('what nobody reads any more goes first', async (t) => {
    const { read, state, places } = open({ maxSize: 4, callerShare: 0.5 });
    for (let i = 0; i < 4; i++) read(`old ${i}`, `caller ${i}`, 3 + i);
    state.tip += 3 * IDLE_SLOTS;
    t.equal(read('new', 'somebody else')?.key, 'new');
    t.equal(places.size, 1, 'all of it, as few are examined in one call');
  });

  t.test('a caller above its share gives up the least read to any steady reader', async (t) => {
    const { read, lost, state } = open({ maxSize: 8, callerShare: 0.25 });
    for (let slot = 0; slot < 6; slot++, state.tip++)
      for (let i = 0; i < 8; i++) if (i < 7 || slot < 5) read(`large ${i}`, 'large');
    for (let i = 0; i < 3; i++) t.equal(read(`passing ${i}`, `stranger ${i}`, 2), undefined);
    t.equal(read('steady', 'small', 3)?.key, 'steady');
    t.same(lost(), ['large 7']);
    t.equal(read('large 7', 'large', 1), undefined, 'it gets none beyond its share that others read more');
  });

  t.test('a subscriber above its share loses its oldest subscription to another, never one within it', async (t) => {
    const { subscribe, lost, places } = open({ maxSize: 8, callerShare: 0.25 });
    for (let i = 0; i < 6; i++) t.ok(subscribe(`${i}`, 'large'), 'while there is room');
    t.equal(subscribe('6', 'large'), undefined);
    places.subscribe('0', 'small', () => t.fail() as never);
    t.ok(subscribe('a', 'small'));
    t.same(lost(), ['1'], 'the first one is shared with a caller within its share');
    for (const key of ['b', 'c', 'd', 'e']) subscribe(key, `other ${key}`);
    t.same(lost(), ['2', '3', '4'], 'two are left to each');
    places.unsubscribe('a', 'small');
    places.unsubscribe('a', 'small');
    t.equal(places.get('a'), undefined);
  });

  /** The holders of a place: subscribers, each with a number of subscriptions, or the caller that reads it. */
  interface Holders {
    readonly subscriptions: Map<string, number>;
    reader: string | undefined;
  }

  /** The law of the places, applied by looking at all of them. */
  class PlacesModel {
    readonly places = new Map<string, Holders>();
    readonly #maxSize: number;
    readonly #share: number;
    readonly #heatOf: (key: string) => ReadHeat;

    constructor(maxSize: number, callerShare: number, heatOf: (key: string) => ReadHeat) {
      this.#maxSize = maxSize;
      this.#share = Math.max(1, Math.floor(maxSize * callerShare));
      this.#heatOf = heatOf;
    }

    /** Returns the keys of which one gives its place to a key that is read; none if it needs none, undefined if none does. */
    displacedByRead(caller: string, heat: ReadHeat, tip: number): readonly string[] | undefined {
      if (this.places.size < this.#maxSize) return [];
      const isWithinShare = this.#placesOf(caller) < this.#share;
      const beyond = this.#onlyRead(
        (reader) => this.#placesOf(reader) > this.#share || (!isWithinShare && reader === caller),
      );
      const least = this.#leastOf(beyond.length === 0 && isWithinShare ? this.#onlyRead() : beyond);
      const [first] = least;
      if (first === undefined) return undefined;
      const margin = heatAt(this.#heatOf(first), tip, HALF_LIFE) + 1;
      return heatAt(heat, tip, HALF_LIFE) > (isWithinShare && beyond.length > 0 ? Math.min(2, margin) : margin)
        ? least
        : undefined;
    }

    /** Returns the same for a key that is subscribed to. */
    displacedBySubscription(key: string, caller: string): readonly string[] | undefined {
      if ((this.places.get(key)?.subscriptions.size ?? 0) > 0) return [];
      const isWithinShare = this.#subscriptionsOf(caller) < this.#share;
      const subscribed = [...this.places].filter(([, { subscriptions }]) => subscriptions.size > 0);
      if (subscribed.length >= Math.ceil(this.#maxSize * 0.75)) {
        const beyond = subscribed.filter(([, { subscriptions }]) =>
          [...subscriptions.keys()].every((name) => this.#subscriptionsOf(name) > this.#share),
        );
        return isWithinShare && beyond.length > 0 ? beyond.map(([name]) => name) : undefined;
      }
      if (this.places.size < this.#maxSize || this.places.has(key)) return [];
      if (!isWithinShare) return undefined;
      const beyond = this.#onlyRead((reader) => this.#placesOf(reader) > this.#share);
      return this.#leastOf(beyond.length > 0 ? beyond : this.#onlyRead());
    }

    #onlyRead(isReader: (caller: string) => boolean = () => true): readonly string[] {
      return [...this.places].flatMap(([key, { subscriptions, reader = '' }]) =>
        subscriptions.size === 0 && isReader(reader) ? [key] : [],
      );
    }

    #leastOf(keys: readonly string[]): readonly string[] {
      const least = Math.min(...keys.map((key) => this.#heatOf(key).rank));
      return keys.filter((key) => this.#heatOf(key).rank === least);
    }

    #subscriptionsOf(caller: string): number {
      return [...this.places.values()].filter(({ subscriptions }) => subscriptions.has(caller)).length;
    }

    #placesOf(caller: string): number {
      return (
        [...this.places.values()].filter((place) => place.reader === caller).length + this.#subscriptionsOf(caller)
      );
    }
  }

  /** A step of a random schedule over a few callers and keys. */
  interface Step {
    readonly kind: 'read' | 'subscribe' | 'unsubscribe' | 'evictIdle';
    readonly key: string;
    readonly caller: string;
    readonly slots: number;
  }

  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom<Step['kind']>('read', 'read', 'read', 'subscribe', 'subscribe', 'unsubscribe', 'evictIdle'),
    key: fc.nat(24).map((number) => `key ${number}`),
    caller: fc.nat(5).map((number) => `caller ${number}`),
    slots: fc.nat(4),
  });

  /** Takes one step in places and model, and returns what is wrong then. */
  function findFault(world: ReturnType<typeof open>, model: PlacesModel, { kind, key, caller, slots }: Step) {
    const { state, places, heatOf, read, subscribe, lost } = world;
    state.tip += slots;
    if (kind === 'read') read(key, caller);
    else if (kind === 'subscribe') subscribe(key, caller);
    else if (kind === 'unsubscribe') places.unsubscribe(key, caller);
    else places.evictIdle(model.places.size);

    const isIdle = (name: string): boolean =>
      model.places.get(name)?.subscriptions.size === 0 &&
      state.tip - (heatOf(name).tipAtLastRead ?? Number.NEGATIVE_INFINITY) > IDLE_SLOTS;
    const gone = lost();
    const displaced = gone.filter((name) => !isIdle(name));
    for (const name of gone) if (isIdle(name)) model.places.delete(name);
    const known = model.places.get(key);
    let allowed: readonly string[] | undefined = [];
    if (kind === 'read' && known === undefined) allowed = model.displacedByRead(caller, heatOf(key), state.tip);
    else if (kind === 'subscribe') allowed = model.displacedBySubscription(key, caller);
    else if (kind === 'unsubscribe') {
      const left = (known?.subscriptions.get(caller) ?? 0) - 1;
      if (left > 0) known?.subscriptions.set(caller, left);
      else if (left === 0) {
        known?.subscriptions.delete(caller);
        if (known?.subscriptions.size === 0) {
          known.reader = caller;
          if (heatAt(heatOf(key), state.tip, HALF_LIFE) <= 1) allowed = [key];
        }
      }
    }
    if (displaced.length !== Math.min(1, allowed?.length ?? 0)) return `${displaced} went, not one of ${allowed}`;
    if (displaced.some((name) => allowed?.includes(name) !== true)) return `${displaced} went instead of ${allowed}`;
    for (const name of displaced) model.places.delete(name);
    if (allowed !== undefined && (kind === 'read' || kind === 'subscribe')) {
      const holders = known ?? { subscriptions: new Map(), reader: caller };
      if (kind === 'subscribe') {
        holders.reader = undefined;
        holders.subscriptions.set(caller, (holders.subscriptions.get(caller) ?? 0) + 1);
      }
      model.places.set(key, holders);
    }
    if (kind === 'evictIdle' && [...model.places.keys()].some(isIdle)) return 'an idle one has stayed';
    const hasSame = [...model.places.keys()].every((name) => places.get(name) !== undefined);
    return hasSame && places.size === model.places.size
      ? undefined
      : `the places of ${[...model.places.keys()]} differ`;
  }

  t.test('in any order of reads and subscriptions places go to whom the law gives them', async () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 50, maxLength: 400 }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(0.1, 0.25, 0.5, 1),
        (steps, maxSize, callerShare) => {
          const world = open({ maxSize, callerShare });
          const model = new PlacesModel(maxSize, callerShare, world.heatOf);
          for (const one of steps) {
            const fault = findFault(world, model, one);
            if (fault !== undefined) throw new Error(fault);
            if (world.places.size > maxSize) throw new Error('there are too many');
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

t.test('request-budget', async (t) => {
  /** Runs the requests that wait, for some seconds; returns the times of each kind. */
  async function run(perSecond: number, waiting: { sync?: number; audit?: number }, seconds: number) {
    const clock = new ManualClock();
    const budget = new RequestBudget(clock, perSecond);
    const times: { sync: number[]; audit: number[] } = { sync: [], audit: [] };
    for (const work of ['sync', 'audit'] as const) {
      for (let i = 0; i < (waiting[work] ?? 0); i++)
        void budget.acquire(work).then(() => times[work].push(clock.monotonic()));
    }
    for (let ms = 0; ms < seconds * 1000; ms += 5) {
      clock.advance(5);
      await new Promise((resolve) => setImmediate(resolve));
    }
    budget.close();
    return times;
  }

  /** Returns the most times in a second. */
  const mostInSecond = (times: readonly number[]): number =>
    Math.max(...times.map((from) => times.filter((ms) => ms >= from && ms < from + 1000).length));

  t.test('in no second are there more requests than the budget has, and nearly all of them are used', async (t) => {
    for (const perSecond of [1, 2, 20]) {
      const { sync } = await run(perSecond, { sync: 200 }, 4);
      t.ok(mostInSecond(sync) <= perSecond, `${mostInSecond(sync)} of ${perSecond}`);
      t.ok(sync.length >= 4 * perSecond * 0.9, `${sync.length}`);
    }
  });

  t.test('audits have half of the requests while something else waits, and no more without it', async (t) => {
    const both = await run(20, { sync: 200, audit: 200 }, 4);
    t.ok(
      Math.abs(both.audit.length - both.sync.length) <= 12,
      `${both.audit.length} audits, ${both.sync.length} others`,
    );
    t.ok(mostInSecond([...both.sync, ...both.audit].sort((a, b) => a - b)) <= 20);
    t.ok(mostInSecond((await run(20, { audit: 200 }, 4)).audit) <= 10);
  });

  t.test('a node has one budget for all; a pooled one has a tenth', async (t) => {
    const budgets = new RequestBudgets(new ManualClock(), 20);
    const node = { nodeId: 'node-1', isPooled: false };
    t.equal(budgets.of(node), budgets.of(node));
    t.equal(budgets.of(node).perSecond, 20);
    t.equal(budgets.of({ nodeId: 'node-2', isPooled: true }).perSecond, 2);
    t.equal(new RequestBudgets(new ManualClock(), 3).of({ nodeId: 'node-3', isPooled: true }).perSecond, 1);
  });

  /** Makes requests for some seconds at a node that refuses those of a second beyond `accepted`. Returns the counts by second. */
  async function learn(accepted: number, answerMs: number, seconds: number) {
    const clock = new ManualClock();
    const budget = new RequestBudget(clock, null);
    const bySecond = new Map<number, number>();
    const request = async (): Promise<void> => {
      await budget.acquire('sync');
      const second = Math.floor(clock.monotonic() / 1000);
      const count = (bySecond.get(second) ?? 0) + 1;
      bySecond.set(second, count);
      await budget
        .make(async () => {
          await new Promise<void>((resolve) => clock.after(answerMs, resolve));
          if (count > accepted) throw new GatewayError('overloaded', 'too many');
        })
        .catch(() => {});
    };
    for (let i = 0; i < 10_000; i++) void request();
    for (let ms = 0; ms < seconds * 1000; ms += 5) {
      clock.advance(5);
      await new Promise((resolve) => setImmediate(resolve));
    }
    budget.close();
    return { counts: [...bySecond.values()], perSecond: budget.perSecond };
  }

  t.test('without a number a node has as many requests as it accepts and answers in time', async (t) => {
    const willing = await learn(Number.POSITIVE_INFINITY, 50, 8);
    t.equal(willing.perSecond, 200, 'and never more');
    t.ok((willing.counts[0] ?? 0) <= 21, `it begins with ${willing.counts[0]}`);
    const limited = await learn(50, 50, 30);
    t.ok(limited.perSecond <= 60, `${limited.perSecond} where 50 are accepted`);
    t.ok(Math.max(...limited.counts.slice(6)) <= 60, `${limited.counts}`);
    t.ok(Math.min(...limited.counts.slice(6, 28)) >= 30, `${limited.counts}`);
    const slow = await learn(Number.POSITIVE_INFINITY, 1000, 8);
    t.equal(slow.perSecond, 20, 'where answers are late, it stays at the first number');
  });

  t.test('a pooled node has two requests a second where their number is learned', async (t) => {
    t.equal(new RequestBudgets(new ManualClock(), null).of({ nodeId: 'node-1', isPooled: true }).perSecond, 2);
  });
});

t.test('session-pool', async (t) => {
  interface Item {
    readonly subscriptionCount: number;
    readonly rank?: number;
  }

  class Session {
    readonly items = new Set<Item>();
    room: number;
    isOpen = true;
    mayGrow = false;
    isPreferred = false;
    readonly connection = this;
    #syncing: number | undefined;

    constructor(room: number) {
      this.room = room;
    }

    get capacity(): number {
      return this.room - this.items.size;
    }

    get maxSubscriptions(): number {
      return this.room;
    }

    get syncing(): number {
      return this.#syncing ?? this.items.size;
    }

    set syncing(count: number) {
      this.#syncing = count;
    }

    get size(): number {
      return this.items.size;
    }

    accepts(): boolean {
      return !this.isPreferred;
    }

    close(): void {
      this.isOpen = false;
    }

    add(item: Item): void {
      this.items.add(item);
    }

    remove(item: Item): void {
      this.items.delete(item);
    }
  }

  /** Opens a pool whose sessions have `room`; `opened` has all that were ever opened. */
  function open(room: number, maxSubscriptions = 1000, options: Partial<SessionPoolOptions<Item, Session>> = {}) {
    const clock = new ManualClock();
    const opened: Session[] = [];
    const pool = new SessionPool<Item, Session>({
      clock,
      maxSubscriptions,
      open: async () => () => {
        const session = new Session(room);
        opened.push(session);
        return session;
      },
      rankOf: () => 0,
      ...options,
    });
    const add = async (count: number): Promise<Item[]> => {
      const items = Array.from({ length: count }, () => ({ subscriptionCount: 1 }));
      for (const item of items) pool.add(item);
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
      return items;
    };
    return { pool, clock, opened, add, sizes: () => [...pool.sessions].map(({ size }) => size) };
  }

  t.test('a session that stays empty is closed; one that is used again is not', async (t) => {
    const { pool, clock, opened, add, sizes } = open(2);
    const items = await add(4);
    t.same(sizes(), [2, 2]);
    for (const item of items) pool.remove(item);
    clock.advance(29_000);
    await add(1);
    clock.advance(31_000);
    t.same(sizes(), [1]);
    t.same(pluck(opened, 'isOpen'), [true, false]);
    await add(2);
    t.same(sizes(), [2, 1], 'another is opened when it is needed');
  });

  t.test('another is opened though no more may be', async (t) => {
    const { pool, add, opened } = open(2, 2);
    await add(1);
    for (let sessions = 2; sessions <= 3; sessions++) {
      pool.openAnother();
      await add(0);
      t.equal(opened.length, sessions);
    }
    pool.openAnother();
    pool.openAnother();
    await add(0);
    t.equal(opened.length, 5, 'once what is being opened is there');
  });

  t.test('a session that comes before others leaves them their number: it may not accept what waits', async (t) => {
    const { pool, add, opened, sizes } = open(2, 6);
    pool.openAnother();
    await add(0);
    const [feed] = opened;
    Object.assign(feed ?? {}, { isPreferred: true, room: 100 });
    await add(6);
    t.same(sizes(), [0, 2, 2, 2]);
  });

  t.test('items go to the fullest session that has room, so that others become empty', async (t) => {
    const { pool, add, sizes } = open(3);
    const [first, second] = await add(6);
    for (const item of [first, second]) if (item !== undefined) pool.remove(item);
    await add(1);
    t.same(sizes(), [2, 3]);
    const third = [...([...pool.sessions][1] as Session).items][0];
    if (third !== undefined) pool.remove(third);
    await add(1);
    t.same(sizes().toSorted(), [2, 3]);
  });

  t.test('the number of sessions is bounded; what finds no room waits until others leave', async (t) => {
    const { pool, opened, add, sizes } = open(2, 4);
    const items = await add(10);
    t.same(sizes(), [2, 2, 2], 'those that hold what is needed, and one more');
    for (const item of items.slice(0, 3)) pool.remove(item);
    t.same(sizes(), [2, 2, 2]);
    t.equal(opened.length, 3);
  });

  t.test('what has left while nothing could be assigned is forgotten', async (t) => {
    const { pool } = open(1, 1000, { open: () => new Promise(() => {}) });
    const first = { subscriptionCount: 1 };
    pool.add(first);
    const gone: WeakRef<Item>[] = [];
    for (let i = 0; i < 3000; i++) {
      const item = { subscriptionCount: 1 };
      gone.push(new WeakRef(item));
      pool.add(item);
      pool.remove(item);
    }
    await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds until the turn ends
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    const left = gone.filter((each) => each.deref() !== undefined).length;
    t.ok(left < 1100, `${left} of 3000`);
    pool.close();
  });

  t.test('a session that can not be used after all is none: another is opened soon', async (t) => {
    let made = 0;
    const { pool, clock, add, sizes } = open(2, 1000, {
      open: async () => () => (made++ === 0 ? undefined : new Session(2)),
    });
    await add(1);
    t.same([made, sizes()], [1, []]);
    clock.advance(1000);
    await add(0);
    t.same([made, sizes()], [2, [1]]);
    pool.close();
  });

  t.test('no session is opened after another that can make no subscription', async (t) => {
    const { opened, add } = open(0);
    await add(3);
    t.equal(opened.length, 1);
  });

  t.test('the most read come first, a few at a time; no session is opened while one may accept more', async (t) => {
    const { pool, opened, add, sizes } = open(2, 1000, { maxSyncing: 3, rankOf: ({ rank = 0 }) => rank });
    const items = Array.from({ length: 6 }, (_, i) => ({ subscriptionCount: 1, rank: i }));
    await add(1);
    const [first] = opened;
    if (first === undefined) throw new Error('no session');
    first.mayGrow = true;
    pool.dropSession(new Session(0), items);
    await add(0);
    t.same(sizes(), [2], 'the others wait until the node has answered');
    t.match([...first.items], [{}, { rank: 5 }]);
    first.room = 4;
    pool.assignWaiting();
    t.match([...first.items], [{}, { rank: 5 }, { rank: 4 }], 'three are synced at a time');
    first.syncing = 0;
    pool.assignWaiting();
    first.mayGrow = false;
    await add(0);
    pool.assignWaiting();
    await add(0);
    t.equal(opened.length, 3, 'for what it has no room for');
  });
});

t.test('live-set', async (t) => {
  interface SetSetting {
    /** An account that the feed does not accept. */
    readonly refused?: string;
    /** The accounts of one stream of the feed. */
    readonly room?: number;
    readonly hasNode?: boolean;
    /** Whether the feed may be offered again what it did not accept. Default: no. */
    readonly isRoomy?: () => boolean;
    /** Whether a WebSocket is lost by the time its session is made. Default: no. */
    readonly isLost?: () => boolean;
  }

  /** A set over a node that opens no WebSocket, or one, and a feed that is down at first. */
  function openSet(
    t: Test,
    { refused, room = 10, hasNode = false, isRoomy = () => false, isLost = () => false }: SetSetting = {},
  ) {
    const [onFeed, left] = [new Set<AccountState>(), [] as AccountState[]];
    const clock = new ManualClock();
    let hasRoom = false;
    const createSession = (isPreferred: boolean) => {
      const states = new Set<AccountState>();
      const connection = {
        ...{ nodeId: 'node', maxSubscriptions: room, mayGrow: false, isPreferred, close() {} },
        get capacity() {
          return isPreferred ? room - states.size : 10;
        },
      };
      return {
        connection,
        sessionAudit: { checkLag() {}, audit: async () => 0, distrust() {} },
        get size() {
          return states.size;
        },
        syncing: 0,
        has: (state: AccountState) => states.has(state),
        add(state: AccountState) {
          states.add(state);
          if (isPreferred) onFeed.add(state);
        },
        accepts: (state: AccountState) => !isPreferred || state.address !== refused || isRoomy(),
        remove(state: AccountState) {
          if (states.delete(state) && !isPreferred) left.push(state);
        },
        close() {},
      };
    };
    const openSession = (): Promise<PubsubSession> =>
      hasNode ? Promise.resolve(pubsub as PubsubSession) : new Promise(() => {});
    const pubsub: Partial<PubsubSession> = {
      nodeId: 'node',
      get isLost() {
        return isLost();
      },
      close() {},
    };
    const set = new LiveSet<AccountState, string | null>({
      mesh: { tip: () => 1, slotTimeMs: 400, agreement: undefined, openSession },
      clock,
      random: () => 0,
      settings: { idleMs: 1000, auditMs: 1000, callerShare: 1, requestsPerSecond: null },
      maxSize: 10,
      maxAudited: 1,
      feed: {
        nodeId: 'feed',
        isPooled: false,
        get hasRoom() {
          return hasRoom;
        },
        get isRoomy() {
          return isRoomy();
        },
        accepts: ({ address }) => address !== refused || isRoomy(),
        createSession: () => createSession(true),
      },
      createSession: () => createSession(false),
      createState: (address, commitment, rules, heat) => new AccountState(address, commitment, rules, heat),
      onNotFollowed() {},
    });
    t.teardown(() => set.close());
    const startFeed = (): void => {
      hasRoom = true;
      set.onFeedUp();
    };
    return { set, clock, onFeed, left, startFeed };
  }

  t.test('a WebSocket that is lost before its session is made is none: another is opened soon', async (t) => {
    let made = 0;
    const { set, clock } = openSet(t, { hasNode: true, isLost: () => made++ === 0 });
    set.subscribe('a', 'confirmed', 'caller');
    await flushEvents();
    t.same([made, set.nodeIds], [1, []]);
    clock.advance(400);
    await flushEvents();
    t.same([made, set.nodeIds], [2, ['node']]);
  });

  t.test('a feed that is up while a WebSocket is opened, which no node may have, is used', async (t) => {
    const { set, onFeed, startFeed } = openSet(t);
    const state = set.subscribe('a', 'confirmed', 'caller');
    await flushEvents();
    startFeed();
    await flushEvents();
    t.same([...onFeed], [state]);
  });

  t.test('so it is for others where the first state that waits for a WebSocket is none for it', async (t) => {
    const { set, onFeed, startFeed } = openSet(t, { refused: 'large' });
    const [, state] = ['large', 'small'].map((address) => set.subscribe(address, 'confirmed', 'caller'));
    await flushEvents();
    startFeed();
    await flushEvents();
    t.same([...onFeed], [state]);
  });

  t.test('what a feed has not accepted is offered again once it has room, and only where it is used', async (t) => {
    let isRoomy = false;
    const { set, onFeed, left, startFeed } = openSet(t, { refused: 'large', hasNode: true, isRoomy: () => isRoomy });
    const states = ['large', 'small'].map((address) => set.subscribe(address, 'confirmed', 'caller'));
    await flushEvents();
    startFeed();
    const pass = async (): Promise<void> => {
      for (let slots = 0; slots < 4; slots++) {
        await flushEvents();
        set.onTip('processed');
      }
    };
    await pass();
    t.same([...onFeed], states.slice(1));
    isRoomy = true;
    await pass();
    t.same([new Set(onFeed), left.length], [new Set(states), 2], 'each has left its WebSocket once');
  });

  t.test('what a feed accepts no longer, as it has filled up, keeps its WebSocket', async (t) => {
    let isRoomy = true;
    const { set, left, startFeed } = openSet(t, { refused: 'large', hasNode: true, isRoomy: () => isRoomy });
    set.subscribe('large', 'confirmed', 'caller');
    await flushEvents();
    startFeed();
    await flushEvents();
    isRoomy = false;
    set.onTip('processed');
    t.same(left, []);
  });

  t.test('readers wait for a state only while it moves to a feed, and not for long', async (t) => {
    const { set, clock, startFeed } = openSet(t, { refused: 'large' });
    for (const address of ['small', 'large']) set.subscribe(address, 'confirmed', 'caller');
    const moving = (): boolean[] => ['small', 'large', 'other'].map((address) => set.isMoving(address, 'confirmed'));
    t.same(moving(), [false, false, false], 'the feed is down');
    startFeed();
    t.same(moving(), [true, false, false], 'the feed does not accept the large one');
    clock.advance(10_000);
    t.same(moving(), [false, false, false], 'it is not moved for long');
    startFeed();
    t.same(moving(), [true, false, false]);
    set.keepOver('nothing');
    t.same(moving(), [false, false, false], 'it is kept elsewhere');
    set.keepOver('nodes');
    t.same(moving(), [true, false, false]);
    set.keepOver('nothing');
    set.onTip('processed');
    set.keepOver('nodes');
    t.same(moving(), [false, false, false], 'its session will be a new one');
    startFeed();
    t.same(moving(), [true, false, false]);
    await flushEvents();
    set.onTip('processed');
    t.same(moving(), [false, false, false], 'it has moved');
  });

  t.test('what moves to a feed has one stream after the other, and leaves its WebSocket once', async (t) => {
    const { set, onFeed, left, startFeed } = openSet(t, { room: 2, hasNode: true });
    const states = ['a', 'b', 'c', 'd', 'e'].map((address) => set.subscribe(address, 'confirmed', 'caller'));
    await flushEvents();
    const [large] = states;
    if (large !== undefined)
      large.ineligibility = { reason: new GatewayError('result_too_large', 'too large'), tip: 1 };
    startFeed();
    for (let slots = 0; slots < 6; slots++) {
      await flushEvents();
      set.onTip('processed');
    }
    t.same([...onFeed], states.slice(1), 'but for one that can not be kept live');
    t.same(left, states.slice(1));
  });
});

t.test('live-token-list-source', async (t) => {
  const [A, B, SOMEBODY] = [addressFromByte(21), addressFromByte(22), addressFromByte(9)];
  const QUERY = { commitment: 'confirmed', minContextSlot: undefined } as const;
  const [TOKEN, TOKEN_2022] = [TOKEN_PROGRAMS['spl-token'], TOKEN_PROGRAMS['spl-token-2022']];

  /** Opens a harness in which the owner has 5 tokens in one account, kept live. */
  async function live(settings: ConstructorParameters<typeof TokenListHarness>[0] = {}): Promise<TokenListHarness> {
    const harness = new TokenListHarness(settings);
    harness.setAmounts({ [A]: 5 });
    await harness.keepLive();
    return harness;
  }

  t.test('I15: a list is kept live after all acknowledgements and two reads around a Clock update', async (t) => {
    const harness = new TokenListHarness();
    harness.setAmounts({ [A]: 5 });
    await harness.read();
    t.equal(harness.sessions.length, 0, 'a list that is read once is not kept live');
    harness.addSlot();
    await harness.read();
    await flushEvents();
    const { session } = harness;
    t.strictSame([...session.handlers.keys()], [TOKEN, TOKEN_2022]);
    t.equal(harness.reads, 0, 'nothing is read before both are acknowledged');
    await harness.acknowledge();
    t.strictSame(
      [...session.handlers.keys()],
      [TOKEN, TOKEN_2022, MINT, findMetadataAddress(MINT), A],
      'the list names an account, its mint, and the account that names the mint',
    );
    await harness.acknowledge();
    const first = harness.slot;
    await harness.clockUpdate();
    t.equal(await harness.fromState(), undefined, 'a Clock update that is not newer than the read does not count');
    harness.addSlot();
    await harness.clockUpdate();
    t.strictSame(await harness.fromState(), { slot: first + 1, amounts: { [A]: 5 } });
  });

  t.test('I3: a node of a pool confirms no list older than the newest root that the notifying node had', async (t) => {
    const harness = new TokenListHarness();
    harness.setAmounts({ [A]: 5 });
    await harness.read();
    harness.addSlot();
    await harness.read();
    await flushEvents();
    harness.session.isPooled = true;
    await harness.acknowledge();
    await harness.acknowledge();
    for (let n = 0; n < 9; n++) harness.addSlot();
    await harness.clockUpdate(3);
    t.equal(await harness.fromState(), undefined, 'no node that answers has reached that root');
    for (let n = 0; n < 3; n++) harness.addSlot();
    await harness.clockUpdate();
    t.strictSame(await harness.fromState(), { slot: harness.slot, amounts: { [A]: 5 } });
  });

  t.test('I15: a live list costs no read, and is dated at the Clock update before the last', async (t) => {
    const harness = await live();
    const { reads, slot } = harness;
    for (let i = 1; i < 9; i++) {
      await harness.pass(1);
      t.strictSame(await harness.fromState(), { slot: slot + i - 1, amounts: { [A]: 5 } });
    }
    t.equal(harness.reads, reads);
  });

  t.test('I15: a multisig whose signers have the address of the owner in its place changes no list', async (t) => {
    const harness = await live();
    const { lease } = await harness.read();
    const { reads } = harness;
    const data = Buffer.alloc(355);
    data.set(tokenAccountFixture(OWNER, 7, MINT).data);
    harness.addSlot({ [B]: { lamports: 1n, owner: TOKEN, data } });
    await harness.notify(B, 'program');
    t.not(lease?.state, 'revoked');
    await harness.clockUpdate();
    await harness.pass(2);
    t.equal(harness.reads, reads);
  });

  t.test('I15: a change is applied without a read, when all changes of its slot have arrived', async (t) => {
    const harness = await live();
    const { lease } = await harness.read();
    const { reads } = harness;
    const changed = harness.setAmounts({ [A]: 6 });
    await harness.notify(A);
    t.match([lease?.state, lease?.slot], ['revoked', changed - 2]);
    t.strictSame(await harness.fromState(), { slot: changed - 2, amounts: { [A]: 5 } }, 'the old list up to its end');
    await harness.clockUpdate();
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5 }, 'another change of that slot may be on its way');
    harness.addSlot();
    await harness.clockUpdate();
    t.strictSame(await harness.fromState(), { slot: changed, amounts: { [A]: 6 } });
    await harness.pass(2);
    t.strictSame(await harness.fromState(), { slot: changed + 2, amounts: { [A]: 6 } }, 'its lease advances');
    t.equal(harness.reads, reads);
    t.equal(harness.source.liveSet.leaseViolations, 0);
  });

  t.test('I15: an account that changes in each slot is followed, one slot behind', async (t) => {
    const harness = await live();
    const { reads } = harness;
    for (let amount = 6; amount < 12; amount++) {
      const changed = harness.setAmounts({ [A]: amount });
      await harness.notify(A, 'program');
      await harness.notify(A);
      await harness.clockUpdate();
      if (amount > 6) t.strictSame(await harness.fromState(), { slot: changed - 1, amounts: { [A]: amount - 1 } });
    }
    t.equal(harness.reads, reads);
  });

  t.test('I15: a reader that wants the slot of a change waits for the Clock update that completes it', async (t) => {
    const harness = await live();
    const changed = harness.setAmounts({ [A]: 6 });
    await harness.notify(A);
    const slots: Slot[] = [];
    void harness.read(changed).then(({ slot }) => slots.push(slot));
    await harness.clockUpdate();
    t.strictSame(slots, []);
    harness.addSlot();
    await harness.clockUpdate();
    t.strictSame(slots, [changed]);
  });

  t.test('I15: so does one that wants a slot which the next Clock updates complete, whatever changes', async (t) => {
    const harness = await live();
    const wanted = harness.addSlot();
    const slots: Slot[] = [];
    void harness.read(wanted).then(({ slot }) => slots.push(slot));
    await harness.clockUpdate();
    t.strictSame(slots, [], 'the lease covers the slot before');
    const changed = harness.setAmounts({ [A]: 6 });
    await harness.notify(A);
    t.strictSame(slots, []);
    await harness.clockUpdate();
    t.strictSame(slots, [], 'that change ended the lease at the slot before');
    harness.setAmounts({ [A]: 7 });
    await harness.notify(A);
    await harness.clockUpdate();
    t.strictSame(slots, [changed], 'complete, while the next change is held back');
  });

  t.test('a reader waits for a lease two slots long, and not for one that is lost or far behind', async (t) => {
    const harness = await live();
    const wanted = harness.addSlot();
    const slots: Slot[] = [];
    const read = async (): Promise<void> => {
      void harness.read(wanted).then(({ slot }) => slots.push(slot));
      await flushEvents();
    };
    await read();
    harness.clock.advance(799);
    await flushEvents();
    t.strictSame(slots, []);
    harness.clock.advance(1);
    await flushEvents();
    t.strictSame(slots, [wanted], 'another node has answered');
    await read();
    harness.session.close();
    await flushEvents();
    t.strictSame(slots, [wanted, wanted]);

    const late = await live();
    const far = late.addSlot() + 1;
    late.addSlot();
    t.equal((await late.read(far)).slot, far);
  });

  t.test('I9: a change of a slot that was complete already is a violation', async (t) => {
    const harness = await live();
    const changed = harness.setAmounts({ [A]: 6 });
    await harness.notify(A);
    await harness.clockUpdate();
    await harness.pass(1);
    t.equal((await harness.fromState())?.slot, changed);
    harness.session.notify(A, changed, accountJson(tokenAccountFixture(OWNER, 7, MINT)));
    t.equal(harness.source.liveSet.leaseViolations, 1);
  });

  t.test('I9: so is one of such a slot that only a read can show', async (t) => {
    for (const address of [MINT, B]) {
      const harness = await live();
      const changed = harness.setAmounts({ [A]: 6 });
      await harness.notify(A);
      await harness.clockUpdate();
      await harness.pass(1);
      t.equal((await harness.fromState())?.slot, changed);
      const late =
        address === MINT
          ? ([MINT, accountJson(mintFixture(2, 100))] as const)
          : ([TOKEN, `{"pubkey":"${B}","account":${accountJson(tokenAccountFixture(OWNER, 7, MINT))}}`] as const);
      harness.session.notify(late[0], changed, late[1]);
      t.equal(harness.source.liveSet.leaseViolations, 1);
    }
  });

  t.test('I4: of two changes of an account the one of the newer slot counts, whichever comes first', async (t) => {
    const harness = await live();
    const older = harness.setAmounts({ [A]: 6 });
    const newer = harness.setAmounts({ [A]: 7 });
    harness.session.notify(A, newer, accountJson(tokenAccountFixture(OWNER, 7, MINT)));
    harness.session.notify(A, older, accountJson(tokenAccountFixture(OWNER, 6, MINT)));
    harness.session.ancestry.record(newer, older - 1);
    await harness.clockUpdate();
    await harness.pass(1);
    t.strictSame(await harness.fromState(), { slot: newer, amounts: { [A]: 7 } });
  });

  t.test('I15: a mint that is closed while no listed account holds it has another scale afterwards', async (t) => {
    const harness = new TokenListHarness();
    harness.addSlot({ [MINT]: mintFixture(2, 0) });
    harness.setAmounts({ [A]: 0 });
    await harness.keepLive();
    for (const change of [
      { [A]: tokenAccountFixture(SOMEBODY, 0, MINT) },
      { [MINT]: undefined },
      { [A]: tokenAccountFixture(OWNER, 0, MINT) },
    ]) {
      harness.addSlot(change);
      for (const address of Object.keys(change)) await harness.notify(address);
      await harness.notify(A, 'program'); // only of accounts of the owner, which is not checked here
      await harness.clockUpdate();
      await harness.pass(6);
    }
    await harness.pass(6);
    const { list } = await harness.read();
    t.equal(list.accounts.length, 1);
    t.equal(list.scales.get(MINT), undefined);
  });

  t.test('I9: a Metaplex account that no name is read from is no difference', async (t) => {
    const harness = new TokenListHarness();
    const metadata = findMetadataAddress(MINT);
    harness.addSlot({ [MINT]: namedMintFixture(MINT, 'Own') });
    harness.setAmounts({ [A]: 5 });
    await harness.keepLive();
    t.notOk(harness.session.handlers.has(metadata));
    harness.addSlot({ [metadata]: metadataFixture(MINT, 'Other', 'ONE') });
    await harness.clockUpdate();
    await harness.source.liveSet.audit();
    await harness.pass(3);
    t.strictSame([harness.source.liveSet.audited, harness.source.liveSet.leaseViolations], [1, 0]);
  });

  t.test('I15: when an account is added the lease ends until its own subscription is synced', async (t) => {
    const harness = await live();
    const { lease } = await harness.read();
    const added = harness.setAmounts({ [B]: 7 });
    await harness.notify(B, 'program');
    t.match([lease?.state, lease?.slot], ['revoked', added - 2]);
    t.ok(harness.session.handlers.has(B));
    harness.addSlot();
    await harness.clockUpdate();
    harness.addSlot();
    await harness.clockUpdate();
    t.equal(await harness.fromState(), undefined, 'its subscription is not acknowledged yet');
    await harness.acknowledge();
    t.equal(await harness.fromState(), undefined, 'it is acknowledged, but no newer Clock update has come');
    await harness.pass(1);
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5, [B]: 7 });
  });

  t.test('I15: an account closed or given away leaves the list; only its own subscription reports it', async (t) => {
    for (const becomes of [undefined, tokenAccountFixture(SOMEBODY, 5, MINT)]) {
      const harness = await live();
      const { reads } = harness;
      const changed = harness.addSlot({ [A]: becomes });
      await harness.notify(A);
      await harness.clockUpdate();
      await harness.pass(1);
      t.strictSame(await harness.fromState(), { slot: changed, amounts: {} });
      await harness.pass(2);
      t.strictSame(await harness.fromState(), { slot: changed + 2, amounts: {} });
      const back = harness.setAmounts({ [A]: 8 });
      await harness.notify(A, 'program');
      await harness.clockUpdate();
      await harness.pass(1);
      t.strictSame(await harness.fromState(), { slot: back, amounts: { [A]: 8 } }, 'it is still subscribed to');
      t.equal(harness.reads, reads);
      await harness.source.liveSet.audit();
      await harness.pass(2);
      t.equal(harness.source.liveSet.leaseViolations, 0, 'it equals the list that is read');
    }
  });

  t.test('I15: a slot that was skipped is no gap where the node names the parents of its slots', async (t) => {
    const harness = await live();
    const { reads, slot } = harness;
    harness.addSlot();
    harness.session.ancestry.record(harness.addSlot(), slot);
    await harness.clockUpdate();
    t.strictSame(await harness.fromState(), { slot, amounts: { [A]: 5 } });
    await harness.pass(1);
    t.strictSame([(await harness.fromState())?.slot, harness.reads], [slot + 2, reads]);
  });

  t.test('I15: a new name of a mint changes the list; its other metadata do not', async (t) => {
    const harness = new TokenListHarness();
    const metadata = findMetadataAddress(MINT);
    harness.addSlot({ [metadata]: metadataFixture(MINT, 'First', 'ONE') });
    harness.setAmounts({ [A]: 5 });
    await harness.keepLive();
    const nameOf = async (): Promise<string | undefined> =>
      (await harness.read(undefined, true)).list.identities?.get(MINT)?.metaplex?.name;
    t.equal(await nameOf(), 'First');
    const { reads } = harness;
    harness.addSlot({ [metadata]: metadataFixture(MINT, 'First', 'ONE', 'https://example.com/') });
    await harness.notify(metadata);
    await harness.clockUpdate();
    await harness.pass(2);
    t.strictSame(
      [(await harness.fromState())?.slot, await nameOf(), harness.reads],
      [harness.slot - 1, 'First', reads],
    );
    const changed = harness.addSlot({ [metadata]: metadataFixture(MINT, 'Second', 'TWO') });
    await harness.notify(metadata);
    t.equal((await harness.fromState())?.slot, changed);
    t.equal(await nameOf(), 'Second');
  });

  t.test('a list that finds no room for the names of its mints is kept live without them', async (t) => {
    const harness = new TokenListHarness();
    harness.capacity = 2;
    harness.setAmounts({ [A]: 5 });
    await harness.keepLive();
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5 });
    const { list, lease } = await harness.read(undefined, true);
    t.match([list.identities?.get(MINT)?.isNft, lease], [false, undefined], 'they are read on request');
  });

  t.test('I15: after a gap in the Clock updates a list is read again, although no change was notified', async (t) => {
    const harness = await live();
    const { lease } = await harness.read();
    const lost = harness.setAmounts({ [A]: 5, [B]: 7 });
    harness.addSlot();
    await harness.clockUpdate();
    t.match([lease?.state, lease?.slot], ['revoked', lost - 1]);
    t.strictSame(await harness.fromState(), undefined, 'the new account is not subscribed to yet');
    await harness.pass(4);
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5, [B]: 7 });
    t.equal(harness.source.liveSet.leaseViolations, 0);
  });

  t.test('I15: a mint whose amounts are displayed differently changes the list; its supply does not', async (t) => {
    const harness = await live();
    const { reads } = harness;
    harness.addSlot({ [MINT]: mintFixture(0, 200) });
    await harness.notify(MINT);
    await harness.clockUpdate();
    await harness.pass(2);
    t.strictSame([(await harness.fromState())?.slot, harness.reads], [harness.slot - 1, reads]);
    const changed = harness.addSlot({ [MINT]: mintFixture(2, 200) });
    await harness.notify(MINT);
    t.equal((await harness.fromState())?.slot, changed);
    t.strictSame((await harness.read()).list.scales.get(MINT), { decimals: 2 });
  });

  t.test('I15: a list with a mint that depends on the Clock is live no longer: each request reads it', async (t) => {
    const harness = await live();
    harness.addSlot({ [MINT]: mintFixture(0, 200, 500) });
    await harness.notify(MINT);
    for (let i = 0; i < 3; i++) {
      await harness.pass(1);
      t.equal(await harness.fromState(), undefined);
    }
  });

  t.test('I14: a list with amounts that depend on the Clock has no lease', async (t) => {
    const harness = new TokenListHarness();
    harness.addSlot({ [MINT]: mintFixture(0, 200, 500), [A]: tokenAccountFixture(OWNER, 5, MINT, TOKEN_2022) });
    await harness.keepLive();
    for (let i = 0; i < 3; i++) {
      await harness.pass(1);
      const { slot, list, lease } = await harness.read();
      t.match(
        { slot, proof: lease, followsClock: list.dependsOnClock },
        { slot: harness.slot, proof: undefined, followsClock: true },
      );
    }
  });

  t.test('I15: where a node rejects programSubscribe each request reads a list, until it is retried', async (t) => {
    const harness = new TokenListHarness({ idleMs: 4000 });
    harness.setAmounts({ [A]: 5 });
    await harness.read();
    harness.addSlot();
    await harness.read();
    await flushEvents();
    harness.session.refuse(TOKEN_2022);
    t.equal(await harness.fromState(), undefined);
    t.strictSame(harness.session.unsubscribed, [], "none is stopped before it is accepted, for an equal one's sake");
    await harness.acknowledge();
    t.strictSame(harness.session.unsubscribed, [TOKEN]);
    for (let i = 0; i < 10; i++) {
      await harness.pass(1);
      await harness.fromState();
    }
    t.equal(harness.session.handlers.size, 0, 'it is not retried immediately');
    await harness.pass(1);
    await harness.keepLive();
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5 });
  });

  t.test('I15: a list with too many accounts is read on every request', async (t) => {
    const harness = new TokenListHarness({ maxListMembers: 2 });
    harness.setAmounts({ [A]: 5, [B]: 6 });
    await harness.keepLive();
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5, [B]: 6 });
    harness.setAmounts({ [addressFromByte(23)]: 7 });
    const { reads } = harness;
    await harness.notify(addressFromByte(23), 'program');
    await harness.pass(5);
    t.equal(harness.reads - reads, 2, 'one for each token program, none for its mints');
    t.equal(await harness.fromState(), undefined);
    t.equal((await harness.read()).list.accounts.length, 3);
    t.equal(harness.session.handlers.size, 0);
  });

  t.test('I6: the leases of a lost session end; the list is kept live over another session', async (t) => {
    const harness = await live();
    const { lease, slot } = await harness.read();
    harness.session.close();
    t.match([lease?.state, lease?.slot], ['lost', slot]);
    t.equal(await harness.fromState(), undefined);
    await harness.pass(6);
    t.equal(harness.sessions.length, 2);
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5 });
  });

  /** Opens a live list that has just got another account, while its node no longer answers, and reads it. */
  async function hung() {
    const harness = await live();
    harness.isHung = true;
    const changed = harness.setAmounts({ [B]: 6 });
    await harness.notify(B, 'program');
    const answers: Slot[] = [];
    const read = async (): Promise<void> => {
      void harness.read(harness.slot - 1).then(({ slot }) => answers.push(slot));
      await flushEvents();
    };
    await read();
    return { harness, changed, answers, read };
  }

  t.test('a reader waits at most one slot for a node that hangs, and a later reader does not wait', async (t) => {
    const { harness, changed, answers, read } = await hung();
    harness.clock.advance(399);
    await flushEvents();
    t.strictSame(answers, []);
    harness.clock.advance(1);
    await flushEvents();
    t.strictSame(answers, [changed], 'another node has answered');
    const next = harness.setAmounts({ [A]: 7 });
    await harness.notify(A);
    await read();
    t.strictSame(answers, [changed, next]);
    t.equal(harness.source.liveSet.leaseViolations, 0);
  });

  t.test('no reader waits for a node whose session is lost, and the list is kept live over another', async (t) => {
    const { harness, changed, answers, read } = await hung();
    harness.session.close();
    await flushEvents();
    t.strictSame(answers, [changed]);
    await read();
    t.strictSame(answers, [changed, changed]);
    harness.isHung = false; // earlier requests still get no response
    await harness.pass(6);
    t.equal(harness.sessions.length, 2);
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5, [B]: 6 });
  });

  t.test('I9: an audit that finds another list at a slot that the lease covers drops the list', async (t) => {
    const harness = await live();
    const { lease } = await harness.read();
    harness.setAmounts({ [B]: 9 }); // without a notification
    await harness.clockUpdate();
    await harness.source.liveSet.audit();
    t.match([harness.source.liveSet.audited, harness.source.liveSet.leaseViolations], [1, 0], 'it may be on its way');
    await harness.pass(2);
    t.match(
      [harness.source.liveSet.leaseViolations, harness.problems.length > 0, harness.sessions[0]?.isLost],
      [1, true, false],
    );
    t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY, 'nor is it served as stale');
    t.strictSame((await harness.fromState())?.amounts ?? { [B]: 9 }, { [B]: 9 });
  });

  t.test('I9: an audit finds a missed account of a list of which another account changes in each slot', async (t) => {
    const harness = await live();
    let amount = 6;
    const change = async (changes: Readonly<Record<string, number>> = {}): Promise<void> => {
      harness.setAmounts({ [A]: amount++, ...changes });
      await harness.notify(A);
      await harness.clockUpdate();
    };
    await change();
    await change({ [B]: 9 }); // without a notification
    await change();
    t.equal(harness.source.liveSet.leaseViolations, 0);
    await harness.source.liveSet.audit();
    await change();
    await change();
    t.equal(harness.source.liveSet.leaseViolations, 1);
  });

  t.test('I9: an audit of a list that changes in each slot finds no difference where there is none', async (t) => {
    const harness = await live();
    for (let amount = 6; amount < 20; amount++) {
      harness.setAmounts({ [A]: amount });
      if (amount % 2 === 0) await harness.source.liveSet.audit();
      await harness.notify(A);
      if (amount % 2 === 1) await harness.source.liveSet.audit();
      await harness.clockUpdate();
    }
    t.strictSame([harness.source.liveSet.audited, harness.source.liveSet.leaseViolations], [14, 0]);
  });

  t.test('I9: an audit compares twenty lists, each in its turn', async (t) => {
    const harness = new TokenListHarness({ lists: 40 });
    const owners = Array.from({ length: 25 }, (_, i) => addressFromByte(100 + i));
    for (const owner of owners) {
      await harness.source.read({ ...QUERY, owner });
      harness.addSlot();
      await harness.source.read({ ...QUERY, owner });
      await harness.acknowledge();
    }
    await harness.pass(3);
    const [last = ''] = owners.slice(-1);
    harness.addSlot({ [A]: tokenAccountFixture(last, 1, MINT) }); // without a notification
    await harness.clockUpdate();
    for (const isInTurn of [false, true]) {
      await harness.source.liveSet.audit();
      await harness.pass(2);
      t.equal(harness.source.liveSet.leaseViolations, Number(isInTurn));
    }
    t.equal(harness.source.liveSet.audited, 40);
  });

  t.test('the number of live lists is bounded, and those that nobody reads are evicted', async (t) => {
    const harness = await live({ lists: 1 });
    const other = { ...QUERY, owner: SOMEBODY };
    await harness.source.read(other);
    harness.addSlot();
    await harness.source.read(other);
    t.equal(harness.source.liveSet.size, 1);
    for (let i = 0; i < 120; i++) harness.addSlot();
    t.equal(harness.source.liveSet.size, 0);
    await flushEvents();
    t.equal(harness.session.handlers.size, 0);
  });

  t.test('a notification that cannot be decoded has the list read again, and its session goes on', async (t) => {
    const values = ['5', '{}', '{"lamports":-1}', `{"pubkey":"${A}"}`, `{"pubkey":5,"account":{"lamports":1}}`];
    for (const value of values) {
      for (const address of [TOKEN, MINT, A]) {
        const harness = await live();
        const { reads } = harness;
        harness.session.notify(address, harness.addSlot(), value);
        await harness.pass(1);
        t.ok(harness.reads > reads, `${value} about ${address}`);
        await harness.pass(2);
        t.match(await harness.fromState(), { amounts: { [A]: 5 } });
        t.equal(harness.sessions.length, 1);
      }
    }
  });

  t.test('a notification that is too long for a turn has the list read again', async (t) => {
    const harness = await live();
    const same = accountJson(tokenAccountFixture(OWNER, 5, MINT)).slice(0, -1);
    const readsAfter = async (length: number): Promise<number> => {
      const { reads } = harness;
      harness.session.notify(A, harness.addSlot(), `${same},"x":"${'x'.repeat(length)}"}`);
      await harness.clockUpdate();
      await harness.pass(2);
      return harness.reads - reads;
    };
    t.equal(await readsAfter(100_000), 0);
    t.ok((await readsAfter(200_000)) > 0);
  });

  t.test('a finalized list read after a change of a newer root, which it may lack, is read again', async (t) => {
    const harness = new TokenListHarness();
    harness.commitment = 'finalized';
    harness.setAmounts({ [A]: 5 });
    await harness.keepLive();
    const { session } = harness;
    const { lease } = await harness.read();
    const listSlot = (await harness.read()).sinceSlot ?? 0;
    session.notify(A, listSlot, accountJson(tokenAccountFixture(OWNER, 6, MINT))); // of the slot after the next
    harness.addSlot();
    await harness.clockUpdate(1);
    t.equal(lease?.state, 'revoked');
    t.equal(await harness.fromState(), undefined, 'nothing is claimed until then');
    const changed = harness.setAmounts({ [A]: 6 });
    await harness.clockUpdate();
    await harness.pass(2);
    t.strictSame((await harness.fromState())?.amounts, { [A]: 6 });
    t.ok(((await harness.read()).sinceSlot ?? 0) >= changed);
  });
});

t.test('past-token-lists', async (t) => {
  t.test('a list that leaves one session is kept for as long as another keeps it live', async (t) => {
    const ring = new VersionRing({ bytes: 1 << 20, slots: 1000 }, bytesOfList);
    const harness = new TokenListHarness({}, ring);
    const { liveSet } = harness.source;
    const isKept = (): boolean => ring.get(OWNER)?.at(harness.slot - 1) !== undefined;
    const leave = (commitment: Commitment): void => {
      const state = liveSet.get(OWNER, commitment);
      if (state?.lease === undefined) throw new Error(`it is not live at ${commitment}`);
      liveSet.reassign(state);
    };
    await harness.keepLive();
    harness.commitment = 'finalized';
    await harness.keepLive();
    t.ok(isKept());
    leave('finalized');
    harness.addSlot();
    await harness.clockUpdate();
    t.ok(isKept(), 'the one at confirmed is live all the time');
    await harness.pass(6);
    leave('confirmed');
    t.ok(ring.get(OWNER)?.isOpen, 'what the one at finalized has recorded goes on');
    harness.addSlot();
    await harness.clockUpdate();
    t.ok(isKept(), 'the one at finalized is kept from now on');
  });

  t.test('what turns out to be wrong while a block is looked up is denied of the answer', async (t) => {
    let slots: PastSlots;
    const mesh = {
      tip: () => 50,
      call: async () => {
        slots.clear();
        const result = Buffer.from('[8]');
        return { slot: 50, value: result, result };
      },
    };
    const blocks = new RecentBlocks(10);
    slots = new PastSlots({ blocks, mesh });
    const history = new History(
      { address: OWNER, priority: 0 },
      { slot: 9, isDenied: false },
      { slot: 5, value: 'lie' },
    );
    const { lease } = await slots.find({ slot: 8, commitment: 'finalized', cost: undefined }, [history]);
    t.equal(lease.state, 'lost');
    t.equal(blocks.blockAt(8), undefined, 'nor is it kept');
  });

  t.test('the first kept slot of several accounts is named, also where one has not changed since', async (t) => {
    const coverage = { slot: 100, isDenied: false };
    const historyFrom = (slot: Slot): History<number> =>
      new History<number>({ address: OWNER, priority: 0 }, coverage, { slot, value: 1 });
    const [unchanged, late, gappy] = [historyFrom(10), historyFrom(30), historyFrom(10)];
    gappy.push({ slot: 40, value: 2 }, 25);
    const slots = new PastSlots({
      blocks: new RecentBlocks(10),
      mesh: { tip: () => 100, call: () => Promise.reject(new Error('no node')) },
    });
    const oldestOf = (histories: readonly History<number>[]) =>
      slots
        .find({ slot: 20, commitment: 'finalized', cost: undefined }, histories)
        .catch((thrown) => thrown.oldestSlot);
    t.strictSame(await oldestOf([unchanged, late]), 30);
    t.strictSame(await oldestOf([gappy, late]), 40);
  });

  t.test('a slot of which a node has no block was skipped only if the parent of the next one is older', async (t) => {
    const REFUSED = -1;
    const parents = new Map([
      [39, 38], // a feed has shown that this slot was skipped
      [44, 42],
      [45, 44],
      [51, 50], // the node jumped to a snapshot, and lacks 46 to 50
      [52, 51],
      [56, REFUSED],
      [59, 44],
      [61, 60],
    ]);
    const mesh = {
      tip: () => 60,
      call: async (method: string, [slot]: readonly unknown[] = []) => {
        if (parents.get(Number(slot)) === REFUSED) throw new GatewayError('rpc_error', 'it is not there');
        const given = method === 'getBlocks' ? [...parents.keys()] : { parentSlot: parents.get(Number(slot)) };
        const result = Buffer.from(JSON.stringify(given));
        return { slot: 60, value: result, result };
      },
    };
    const blocks = new RecentBlocks(100);
    blocks.add(40, 38);
    for (let slot = 46; slot < 49; slot++) blocks.add(slot, slot - 1);
    const slots = new PastSlots({ blocks, mesh });
    const history = new History({ address: OWNER, priority: 0 }, { slot: 60, isDenied: false }, { slot: 5, value: 1 });
    const findAt = async (slot: Slot) => slots.find({ slot, commitment: 'finalized', cost: undefined }, [history]);
    t.equal((await findAt(43)).slot, 42);
    await t.rejects(findAt(49), { code: 'block_not_available' });
    await t.rejects(findAt(55), { code: 'block_not_available' }, 'the node lists the next block, and has it not');
    t.equal((await findAt(48)).slot, 48, 'a feed has shown that this slot has a block');
    t.same([blocks.blockAt(39), blocks.blockAt(61)], [38, undefined], 'nor does a list prove a block');
    blocks.add(53, 51);
    t.equal((await findAt(52)).slot, 51, 'the parent of the next block counts more than a list');
    await t.rejects(findAt(58), { code: 'block_not_available' }, 'a feed has shown blocks behind the parent');
    parents.set(59, 54);
    blocks.add(55, 53);
    await t.rejects(findAt(58), { code: 'block_not_available' }, 'a feed has shown that the parent was skipped');
    const found = [47, 48, 58].map((slot) => blocks.blockAt(slot));
    t.same(found, [47, 48, undefined]);
  });

  t.test('where the block before a skipped slot is not kept, a later slot is named', async (t) => {
    const blocks = new RecentBlocks(100);
    blocks.add(23, 18);
    const slots = new PastSlots({ blocks, mesh: { tip: () => 100, call: () => Promise.reject(new Error('no node')) } });
    const history = new History<number>(
      { address: OWNER, priority: 0 },
      { slot: 100, isDenied: false },
      { slot: 20, value: 1 },
    );
    const query = { slot: 20, commitment: 'finalized', cost: undefined } as const;
    await t.rejects(slots.find(query, [history]), { code: 'slot_not_kept', oldestSlot: 21 });
  });
});

t.test('seconded-lease', async (t) => {
  const SYNCED: LiveRules = { initialSync: () => ({ name: 'synced' }), halfLifeSlots: 10, observer: undefined };

  /** A session that has every change of a chain in order, and one account over it. */
  class Follower {
    readonly state = new AccountState('a', 'finalized', SYNCED, unread());
    readonly watermark: Watermark;
    #slot = 100;
    readonly #lamportsAt: (slot: Slot) => number;

    constructor(nodeId: string, lamportsAt: (slot: Slot) => number) {
      this.#lamportsAt = lamportsAt;
      this.watermark = new Watermark(
        () => undefined,
        () => false,
        nodeId,
      );
      this.state.attach(this.watermark);
      this.state.onRead(this.#slot, accountText(lamportsAt(this.#slot)), this.#slot);
      this.watermark.advance(this.#slot, 0);
    }

    advance(slots: number): void {
      for (let i = 0; i < slots; i++) {
        this.#slot++;
        const lamports = this.#lamportsAt(this.#slot);
        if (lamports !== this.#lamportsAt(this.#slot - 1)) this.state.onNotification(this.#slot, accountText(lamports));
        this.state.onProof(this.#slot);
        this.watermark.advance(this.#slot, 0);
      }
    }
  }

  const seconding = (second: Follower, isOther = true) => ({
    secondOf: () => second.state,
    areOfTwoOperators: () => isOther,
  });

  const leaseOf = ({ state }: Follower, second: Follower, isOther = true): SecondedLease => {
    const { lease } = state;
    if (lease === undefined) throw new Error('no lease');
    return new SecondedLease(lease, state, seconding(second, isOther));
  };

  t.test('the older watermark dates what both have, and two operators vouch for it', async (t) => {
    const [first, second] = [new Follower('a', () => 1), new Follower('b', () => 1)];
    const lease = leaseOf(first, second);
    first.advance(5);
    second.advance(3);
    t.strictSame([lease.slot, lease.agreement], [103, { slot: 103, agreed: 2, read: 2, needed: 2 }]);
    t.strictSame(lease.sources, [first.watermark, second.watermark]);
    second.watermark.markLost();
    t.strictSame([lease.slot, lease.agreement], [105, undefined], 'it is the word of one');
  });

  t.test('a second session that lags far is not waited for, and no slot goes back when it catches up', async (t) => {
    const [first, second] = [new Follower('a', () => 1), new Follower('b', () => 1)];
    const lease = leaseOf(first, second);
    first.advance(8);
    t.strictSame([lease.slot, lease.agreement?.agreed], [100, 2]);
    first.advance(1);
    t.strictSame([lease.slot, lease.agreement], [109, undefined]);
    second.advance(8);
    t.strictSame([lease.slot, lease.agreement], [109, undefined]);
    second.advance(1);
    t.strictSame([lease.slot, lease.agreement?.agreed], [109, 2]);
  });

  t.test('two nodes of one operator are one voice', async (t) => {
    const [first, second] = [new Follower('a', () => 1), new Follower('b', () => 1)];
    const lease = leaseOf(first, second, false);
    first.advance(2);
    t.strictSame([lease.slot, lease.agreement], [102, undefined]);
  });

  t.test('law: what two vouch for is true if one of them is honest, and no slot of a lease goes back', async (t) => {
    const step = fc.record({ isFirst: fc.boolean(), slots: fc.integer({ min: 1, max: 6 }) });
    const changes = fc.uniqueArray(fc.integer({ min: 101, max: 160 }), { maxLength: 12 });
    let vouched = 0;
    fc.assert(
      fc.property(changes, fc.array(step, { maxLength: 30 }), fc.boolean(), (slots, steps, isLiar) => {
        const truth = (slot: Slot): number => 1 + slots.filter((changed) => changed <= slot).length;
        const lie = (slot: Slot): number => (slot > 120 ? 7777 : truth(slot));
        const [first, second] = [new Follower('a', isLiar ? lie : truth), new Follower('b', truth)];
        let lease = leaseOf(first, second);
        let given = 0;
        for (const { isFirst, slots: count } of steps) {
          (isFirst ? first : second).advance(count);
          if (lease.first !== first.state.lease) {
            lease = leaseOf(first, second);
            given = 0;
          }
          const { slot, agreement } = lease;
          if (slot < given) return false;
          given = slot;
          if (agreement?.slot !== slot) continue;
          vouched++;
          if (first.state.json !== accountText(truth(slot))) return false;
        }
        return true;
      }),
      { numRuns: 300 },
    );
    t.ok(vouched > 300);
  });
});
