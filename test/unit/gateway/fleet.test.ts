import { deepStrictEqual, ok } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { CounterListener, CountTotal } from '../../../src/gateway/access/quota/counter-store.ts';
import { Cache } from '../../../src/gateway/cache/cache.ts';
import { EventCodec, STRUCTURES } from '../../../src/gateway/fleet/codec.ts';
import { MemoryStore } from '../../../src/gateway/fleet/counters/memory-store.ts';
import { RedisStore } from '../../../src/gateway/fleet/counters/redis-store.ts';
import { RemoteStore } from '../../../src/gateway/fleet/counters/remote-store.ts';
import type { Event, StateKey, StoredAnswer } from '../../../src/gateway/fleet/events.ts';
import { LEAD } from '../../../src/gateway/fleet/leadership/lead-script.ts';
import { Leader } from '../../../src/gateway/fleet/leadership/leader.ts';
import { Members } from '../../../src/gateway/fleet/leadership/members.ts';
import { findFleet } from '../../../src/gateway/fleet/redis/fleet-client.ts';
import { RedisFleet } from '../../../src/gateway/fleet/redis/redis-fleet.ts';
import { AnswerFollower } from '../../../src/gateway/fleet/replication/answer-follower.ts';
import { packMessage } from '../../../src/gateway/fleet/transport/redis/channel-message.ts';
import { fleetSecretOfText } from '../../../src/gateway/fleet/transport/redis/fleet-secret.ts';
import { channelNames } from '../../../src/gateway/fleet/transport/redis/redis-channel.ts';
import type { Script } from '../../../src/gateway/fleet/transport/redis/redis-connection.ts';
import { PipelineEnd } from '../../../src/gateway/fleet/workers/pipeline-end.ts';
import type { WorkerEnd } from '../../../src/gateway/fleet/workers/worker-end.ts';
import type { TokenList } from '../../../src/gateway/tokens/token-list.ts';
import type { AccountChange } from '../../../src/shared/domain/account-change.ts';
import { COMMITMENTS } from '../../../src/shared/domain/commitment.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { systemClock } from '../../../src/shared/runtime/system-clock.ts';
import { testStore } from '../../support/access/store-contract.ts';
import { type ChannelMember, ChannelWorld } from '../../support/channel-world.ts';
import { waitFor } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { accountText } from '../../support/manual-session.ts';
import { pluck } from '../../support/pluck.ts';
import { openWatchWorld, type WatchGateway } from '../../support/watch-world.ts';
import { MAX_STALE_MS, openWorker, serviceOver, shortFolder } from '../../support/worker-end-fixtures.ts';

t.test('answer-follower', async (t) => {
  const KEY = '/api/v1/balance/A';
  const codec = new EventCodec();

  /** Returns the event that an answer was stored under a key. */
  const storedEvent = (answer: StoredAnswer, key = KEY) =>
    ({ type: 'answer-stored', key, isLive: answer.policy === 'live', answer: codec.encode(answer) }) as const;

  /** Creates a copy with an entry at slot 100, which watermark 1 dates. */
  function copyWithEntry(part: Partial<StoredAnswer> = {}) {
    const clock = new ManualClock();
    const cache = new Cache({ clock, bytes: 1 << 20, maxStaleMs: 60_000, hotKeys: 100 });
    const follower = new AnswerFollower({ cache, clock, onTip: () => {}, onLiveAnswer: () => {} });
    const advance = (slot: number, state: 'active' | 'lost' = 'active') =>
      follower.apply(
        { type: 'watermark-advanced', id: 1, commitment: undefined, slot, ageMs: 0, state, lagSlots: 0 },
        0,
      );
    const answer: StoredAnswer = {
      slot: 100,
      final: false,
      policy: { slots: 1 },
      meta: JSON.stringify({ envelope: 'signed', commitment: 'finalized', exact: true }),
      tipAtFetch: 100,
      ageMs: 0,
      result: '{"a":18446744073709551615}',
      refusal: null,
      digest: 'd'.repeat(64),
      agreement: null,
      grant: true,
      body: null,
      sealedAgeMs: 0,
      lease: { watermarks: [1], slot: 100, endSlot: undefined },
      ...part,
    };
    follower.apply({ type: 'tip-advanced', commitment: 'processed', slot: 101, parent: undefined }, 0);
    advance(100);
    const awaited = follower.await(KEY);
    awaited.keep(codec.encode(answer), 0);
    awaited.end();
    return { cache, follower, answer, advance };
  }

  t.test('an entry is dated as far as its watermark proves, and no further than its lease (F8)', async (t) => {
    const { cache, follower, advance } = copyWithEntry();
    advance(105);
    t.match(cache.get(KEY), { slot: 105, result: '{"a":18446744073709551615}' });
    follower.apply({ type: 'answer-ended', key: KEY }, 1);
    advance(110);
    const over = cache.get(KEY);
    t.equal(over?.slot, 105);
    t.notOk(over && cache.isFresh(over));
  });

  t.test('a policy in slots and one in milliseconds hold in a copy, too', async (t) => {
    for (const policy of [{ slots: 25 }, { ms: 10_000 }, 'live'] as const) {
      const { cache } = copyWithEntry({ policy, lease: null });
      t.strictSame(cache.get(KEY)?.policy, policy);
    }
  });

  t.test('an answer is dated no further if its lease was over before it came (F8)', async (t) => {
    const { cache, follower, answer, advance } = copyWithEntry();
    const [over, replaced, other] = ['/api/v1/balance/B', '/api/v1/balance/C', '/api/v1/balance/D'] as const;
    const waiting = [over, replaced, other, other].map((key) => ({ key, ...follower.await(key) }));
    follower.apply({ type: 'answer-ended', key: other }, 5);
    for (const { key } of waiting) follower.apply(storedEvent(answer, key), 10);
    follower.apply({ type: 'answer-ended', key: over }, 20);
    follower.apply(storedEvent({ ...answer, slot: 101, result: '1' }, replaced), 20);
    advance(110);
    for (const { keep, end } of waiting) {
      keep(codec.encode(answer), 20);
      end();
    }
    t.equal(cache.get(over)?.slot, 100);
    t.match(cache.get(replaced), { slot: 110, result: '1' }, 'another worker may have served it');
    t.equal(cache.get(other)?.slot, 110, 'what was published before says nothing of it');
  });

  t.test('a signed body of one operator is not that of an answer which two gave', async (t) => {
    for (const [agreed, copied] of [
      [1, true],
      [2, false],
    ] as const) {
      const agreement = { slot: 100, agreed: 1, read: 2, needed: 2 };
      const { cache, follower, answer } = copyWithEntry({ agreement, grant: false, body: 'signed as 1/2' });
      follower.apply(storedEvent({ ...answer, agreement: { ...agreement, agreed }, body: null }), 1);
      const entry = cache.get(KEY);
      t.match(entry, { agreement: { agreed } });
      t.equal(entry?.kind === 'answer' && entry.body === 'signed as 1/2', copied);
    }
  });

  t.test('what has been lost dates nothing', async (t) => {
    const { cache, follower, advance } = copyWithEntry();
    follower.lose();
    advance(120);
    const entry = cache.get(KEY);
    t.equal(entry?.slot, 100);
    t.notOk(entry && cache.isFresh(entry));
  });

  t.test('an older answer never replaces a newer one, and an answer of another key is not kept', async (t) => {
    const { cache, follower, answer } = copyWithEntry();
    follower.apply(storedEvent({ ...answer, slot: 99, result: '1' }), 1);
    follower.apply(storedEvent(answer, '/api/v1/balance/B'), 2);
    follower.apply(codec.decode(codec.encode({ type: 'of-a-later-version', key: KEY, slot: 200 })), 3);
    t.equal(cache.get(KEY)?.slot, 100);
    t.equal(cache.get('/api/v1/balance/B'), undefined);
  });

  t.test('exact is granted for the slot and digest of the event alone (F3)', async (t) => {
    const { cache, follower, answer, advance } = copyWithEntry();
    const requested = {
      request: `GET ${KEY}`,
      commitment: 'finalized',
      claim: 'exact',
      digest: answer.digest,
    } as const;
    t.equal(follower.grantClaim({ ...requested, slot: 100 }), 'exact');
    t.equal(follower.grantClaim({ ...requested, slot: 100, digest: 'e'.repeat(64) }), 'observed');
    advance(105);
    t.equal(cache.get(KEY)?.slot, 105);
    t.equal(follower.grantClaim({ ...requested, slot: 105 }), 'observed');
    t.equal(follower.grantClaim({ ...requested, slot: 100 }), 'observed');
  });
});

t.test('codec', async (t) => {
  const U64_MAX = 2n ** 64n - 1n;

  const u64 = fc.oneof(fc.bigInt({ min: 0n, max: U64_MAX }), fc.constantFrom(0n, 2n ** 53n + 1n, 2n ** 63n, U64_MAX));
  const slot = fc.maxSafeNat();
  const real = fc.double({ noNaN: true }).map((each) => each + 0); // -0 becomes 0
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 200, maxLength: 400 }));
  const bytes = fc.uint8Array({ maxLength: 300 });
  const commitment = fc.constantFrom(...COMMITMENTS);
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
  const key: fc.Arbitrary<StateKey> = fc.record({
    kind: fc.constantFrom('account', 'list'),
    commitment,
    address: text,
  });

  const tokenList: fc.Arbitrary<TokenList> = fc.record({
    accounts: fc.array(
      fc.record({
        address: text,
        lamports: u64,
        token: fc.record({
          type: fc.constant('account' as const),
          program: fc.constant('spl-token' as const),
          mint: text,
          owner: text,
          amount: u64,
          delegate: nullable(text),
          state: fc.constant('initialized' as const),
          rentExemptReserve: nullable(u64),
          delegatedAmount: u64,
          closeAuthority: nullable(text),
          extensions: fc.constant([]),
        }),
      }),
      { maxLength: 3 },
    ),
    scales: fc.dictionary(text, fc.record({ decimals: fc.nat(255) }), { noNullPrototype: true }).map(mapOf),
    identities: optional(
      fc
        .dictionary(text, fc.record({ name: nullable(text), symbol: nullable(text), isNft: fc.boolean() }), {
          noNullPrototype: true,
        })
        .map(mapOf),
    ) as fc.Arbitrary<TokenList['identities']>,
    dependsOnClock: fc.boolean(),
  });

  function mapOf<T>(dictionary: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
    return new Map(Object.entries(dictionary));
  }

  /** Any event of each type. */
  const EVENTS: { readonly [T in Event['type']]: fc.Arbitrary<Extract<Event, { readonly type: T }>> } = {
    'tip-advanced': fc.record({ type: fc.constant('tip-advanced' as const), commitment, slot, parent: optional(slot) }),
    'watermark-advanced': fc.record({
      type: fc.constant('watermark-advanced' as const),
      id: fc.nat(),
      commitment: optional(commitment),
      slot: fc.oneof(slot, fc.constant(-1)),
      ageMs: fc.oneof(fc.nat(), fc.constant(Number.POSITIVE_INFINITY)),
      state: fc.constantFrom('active', 'behind', 'renewing', 'lost', 'revoked'),
      lagSlots: fc.nat(),
    }),
    'answer-stored': fc.record({
      type: fc.constant('answer-stored' as const),
      key: text,
      isLive: fc.boolean(),
      answer: bytes,
    }),
    'answer-ended': fc.record({ type: fc.constant('answer-ended' as const), key: text }),
    'unagreed-dropped': fc.constant({ type: 'unagreed-dropped' }),
    'exact-granted': fc.record({ type: fc.constant('exact-granted' as const), slot }),
    'vitals-changed': fc.record({
      type: fc.constant('vitals-changed' as const),
      vitals: fc.record({
        nodes: fc.constant([]),
        isFailing: fc.boolean(),
        slotTimeMs: real,
        startupProblem: nullable(text),
        problems: fc.array(text),
        genesisHash: nullable(text),
        apiVersion: nullable(text),
        embedded: nullable(fc.record({ rpc: text })),
      }),
    }),
    'receipt-keys-changed': fc.constant({ type: 'receipt-keys-changed' }),
    'account-set': fc.record({
      type: fc.constant('account-set' as const),
      key,
      slot,
      watermark: optional(fc.nat()),
      value: nullable(text),
      heldUntil: slot,
    }),
    'list-set': fc.record({
      type: fc.constant('list-set' as const),
      key,
      slot,
      watermark: optional(fc.nat()),
      value: tokenList,
    }),
    'value-ended': fc.record({
      type: fc.constant('value-ended' as const),
      key,
      reason: fc.constantFrom('replaced', 'wrong', 'rolled-back', 'left'),
      slot,
    }),
    'states-read': fc.record({
      type: fc.constant('states-read' as const),
      reads: fc.array(fc.record({ key, rank: real, tipAtLastRead: slot }), { maxLength: 5 }),
      needsValues: fc.boolean(),
    }),
  };

  const storedAnswer: fc.Arbitrary<StoredAnswer> = fc.record({
    slot,
    final: fc.boolean(),
    policy: fc.oneof(
      fc.constant('live' as const),
      fc.record({ slots: fc.nat() }),
      fc.record({ ms: fc.nat() }),
    ) as fc.Arbitrary<StoredAnswer['policy']>,
    meta: text,
    tipAtFetch: slot,
    ageMs: fc.nat(),
    result: nullable(u64.map((amount) => `{"amount":${amount}}`)),
    refusal: fc.constant(null),
    digest: text,
    grant: fc.boolean(),
    agreement: nullable(fc.record({ slot, agreed: fc.nat(), read: fc.nat(), needed: fc.nat() })),
    body: nullable(fc.oneof(text, bytes)),
    sealedAgeMs: fc.nat(),
    lease: nullable(fc.record({ watermarks: fc.array(fc.nat()), slot, endSlot: optional(slot) })),
  });

  for (const [type, event] of Object.entries(EVENTS)) {
    t.test(`${type} is read as it was written`, async () => {
      const [writer, reader] = [new EventCodec(), new EventCodec()];
      fc.assert(
        fc.property(event as fc.Arbitrary<Event>, (written) => {
          const encoded = writer.encode(written);
          const [first = 0] = encoded;
          ok(
            first >= 0x40 && first < 0x40 + STRUCTURES.length,
            'by a known structure, without the names of its fields',
          );
          deepStrictEqual(plain(reader.decode(encoded)), plain(written));
        }),
        { numRuns: 50 },
      );
    });
  }

  /** Returns a copy in which byte arrays of each class are equal if their bytes are. */
  function plain(value: unknown): unknown {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    if (Array.isArray(value)) return value.map(plain);
    if (value instanceof Map) return new Map([...value].map(([name, each]) => [name, plain(each)]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  }

  t.test('events in any order are read as they were written, each on its own', async () => {
    const [writer, reader] = [new EventCodec(), new EventCodec()];
    const any = fc.oneof(...(Object.values(EVENTS) as fc.Arbitrary<Event>[]));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 20 }), fc.nat(19), (events, first) => {
        const encoded = events.map((event) => writer.encode(event));
        const late = encoded.slice(first).map((each) => new EventCodec().decode(each)); // joined later
        deepStrictEqual(late.map(plain), events.slice(first).map(plain));
        deepStrictEqual(
          encoded.map((each) => plain(reader.decode(each))),
          events.map(plain),
        );
      }),
    );
  });

  t.test('an answer is read as it was written', async () => {
    const codec = new EventCodec();
    fc.assert(
      fc.property(storedAnswer, (answer) => {
        const encoded = codec.encode(answer);
        ok((encoded[0] ?? 0) < 0x40 + STRUCTURES.length, 'by a known structure');
        deepStrictEqual(plain(codec.decode<StoredAnswer>(encoded)), plain(answer));
      }),
    );
  });

  t.test('an error keeps what callers see of it', async (t) => {
    const codec = new EventCodec();
    const refusal = new GatewayError('rpc_error', 'no "such" block', {
      status: 404,
      rpcCode: -32_007,
      retryAfter: 3,
      final: true,
      jsonRpcId: '"a"',
      cause: new Error('internal'),
    });
    const read = codec.decode<{ refusal: GatewayError }>(codec.encode({ refusal })).refusal;
    t.ok(read instanceof GatewayError);
    const { code, message, status, rpcCode, retryAfter, final, jsonRpcId } = refusal;
    t.match(read, { code, message, status, rpcCode, retryAfter, final, jsonRpcId, cause: undefined });
  });

  t.test('what is encoded with other structures is decoded with those; an unknown type is no fault', async (t) => {
    const later = [...STRUCTURES.map((fields) => [...fields, 'added']), ['type', 'of', 'later']];
    const [theirs, ours] = [new EventCodec(later), new EventCodec()];
    const event = { type: 'answer-ended', key: 'a', added: 1 };
    t.strictSame(new EventCodec(later).decode<object>(theirs.encode(event)), event);
    const unknown = { type: 'added-later', of: 1, later: [{ more: 2 }] };
    t.strictSame(new EventCodec(later).decode<object>(theirs.encode(unknown)), unknown);
    t.strictSame(ours.decode<object>(ours.encode(unknown)), unknown);
    t.strictSame(ours.decode(ours.encode({ type: 'tip-advanced', commitment: 'processed', slot: 1 })), {
      type: 'tip-advanced',
      commitment: 'processed',
      slot: 1,
    });
  });
});

t.test('memory-store', async (t) => {
  const UNUSED: CounterListener = { onTotal: () => {}, onStale: () => {} };

  testStore('in memory', () => {
    const clock = new ManualClock();
    const joined: (() => void)[] = [];
    let store = new MemoryStore(100, clock);
    return {
      windowMs: 10_000,
      join(member, listener) {
        let connection = store.join(member, listener);
        joined.push(() => {
          connection = store.join(member, listener);
        });
        return { members: () => 2, report: (reports) => connection.report(reports), leave: () => connection.leave() };
      },
      pass: (ms) => clock.advance(ms),
      forget() {
        store = new MemoryStore(100, clock);
        for (const join of joined) join();
      },
      close: () => {},
    };
  });

  const report = { limit: 100, windowMs: 1000, window: 0, ageMs: 0, total: 0, counted: 0, spent: 1, prepay: 0 };

  t.test('it keeps no more windows than it may', async (t) => {
    const store = new MemoryStore(10, new ManualClock());
    const a = store.join('a', UNUSED);
    const answers = await a.report(Array.from({ length: 20 }, (_, i) => ({ ...report, id: `${i}` })));
    const totals = answers.map((answer) => answer?.total);
    t.same(totals, [...Array(10).fill(1), ...Array(10).fill(undefined)]);
    t.equal(store.size, 10);
  });

  t.test('ended windows give their places to others, save those that owe', async (t) => {
    const clock = new ManualClock();
    const store = new MemoryStore(10, clock);
    const a = store.join('a', UNUSED);
    await a.report(Array.from({ length: 10 }, (_, i) => ({ ...report, id: `${i}`, spent: i === 0 ? 150 : 1 })));
    clock.advance(1000);
    await a.report(Array.from({ length: 9 }, (_, i) => ({ ...report, id: `${10 + i}` })));
    t.equal(store.size, 10);
    t.match(await a.report([{ ...report, id: '0', spent: 0 }]), [{ total: 50 }], 'it pays');
  });

  t.test('a member that left counts no more', async (t) => {
    const store = new MemoryStore(10, new ManualClock());
    const [a, b] = [store.join('a', UNUSED), store.join('b', UNUSED)];
    t.equal(a.members(), 2);
    b.leave();
    t.equal(a.members(), 1);
  });
});

t.test('fleet-client', async (t) => {
  t.test('a fleet that a scan returns twice is one', async (t) => {
    const name = 'slotgate:{abcdefgh}:genesis';
    const pages = [['7', [name]] as const, ['0', [name]] as const];
    t.equal(await findFleet({ call: async () => pages.shift() }, null), 'slotgate:{abcdefgh}:');
  });
});

t.test('redis-store', async (t) => {
  const report = {
    ...{ id: 'addresses 100/1 41', limit: 100, windowMs: 1000, window: 0 },
    ...{ ageMs: 0, total: 0, counted: 0, spent: 10, prepay: 0 },
  };

  /** Opens a store over a Redis that answers, and publishes, what a test says. */
  function openStore() {
    const clock = new ManualClock();
    const seen: string[] = [];
    const totals: CountTotal[] = [];
    const redis = { isGone: false, numbers: [10, 5000, 1000, 10], keys: [] as readonly string[] };
    let onMessage: (message: Buffer) => void = () => {};
    const store = new RedisStore({
      clock,
      onStandalone: () => seen.push('standalone'),
      onShared: () => seen.push('shared'),
    });
    t.teardown(() => store.close());
    const connection = store.join('0', {
      onTotal: (total) => totals.push(total),
      onStale: (id) => seen.push(`stale ${id ?? 'all'}`),
    });
    const orFail = async <T>(value: T): Promise<T> => {
      if (redis.isGone) throw new Error('gone');
      return value;
    };
    const connect = (): void =>
      store.connect({
        redis: {
          run(_, keys) {
            redis.keys = keys;
            return orFail(redis.numbers);
          },
          subscribe(_, listener) {
            onMessage = listener;
            return () => {};
          },
        },
        member: 'gateway',
        prefix: 'fleet:',
        secret: fleetSecretOfText(Buffer.alloc(32)),
      });
    return {
      clock,
      store,
      connection,
      redis,
      seen,
      totals,
      connect,
      publish: (text: string) => onMessage(Buffer.from(text)),
    };
  }

  t.test('F6: without Redis reports are rejected immediately, until it answers again', async (t) => {
    const { store, connection, redis, seen, connect } = openStore();
    await t.rejects(connection.report([report]), 'it is in no fleet yet');
    connect();
    store.gateways = 4;
    t.equal(connection.members(), 4);
    t.match(await connection.report([report]), [{ total: 10, counted: 10, window: 5000, endsInMs: 1000 }]);
    redis.isGone = true;
    await t.rejects(connection.report([report]));
    redis.isGone = false;
    await t.rejects(connection.report([report]), 'no report waits until it is known that Redis is back');
    await new Promise(setImmediate);
    t.match(await connection.report([report]), [{ total: 10 }]);
    t.same(seen, ['shared', 'stale all', 'standalone', 'shared', 'stale all']);
  });

  t.test('a Redis that answers and refuses to count ends the outage once it counts', async (t) => {
    const { connection, redis, seen, connect } = openStore();
    connect();
    redis.isGone = true;
    for (let i = 0; i < 5; i++) {
      await t.rejects(connection.report([report]));
      await new Promise(setImmediate);
    }
    t.same(seen, ['shared', 'stale all', 'standalone']);
    redis.isGone = false;
    await t.rejects(connection.report([]));
    await new Promise(setImmediate);
    t.match(redis.keys[1], /^fleet:count:/, 'it has counted');
    t.same(seen.slice(3), ['shared', 'stale all']);
  });

  t.test('an answer with too few numbers is none that a member believes', async (t) => {
    const { connection, redis, connect } = openStore();
    connect();
    redis.numbers = [];
    t.same((await connection.report([report]))[0]?.total, Number.NaN);
  });

  t.test('F14: Redis gets no name of a caller, and what others publish there is ignored', async (t) => {
    const { connection, redis, totals, connect, publish } = openStore();
    connect();
    await connection.report([report]);
    const [, key = ''] = redis.keys;
    t.match(key, /^fleet:count:[0-9a-f]{16}$/);
    const news = [key.slice('fleet:count:'.length), 1000, 50, 5000, 900];
    for (const message of ['', '{', 'null', '[[]]', '[null]', '[["a"]]', JSON.stringify([news.map(String)])])
      publish(message);
    publish(JSON.stringify([['0000000000000000', ...news.slice(1)]]));
    t.same(totals, []);
    publish(JSON.stringify([news]));
    t.match(totals, [{ id: report.id, windowMs: 1000, total: 50, window: 5000, endsInMs: 900 }]);
  });

  t.test('streams are reported again: those that others have too soon, the others now and then', async (t) => {
    const { clock, connection, redis, seen, connect } = openStore();
    connect();
    redis.numbers = [3, 0, 0, 1, 1, 0, 0, 1];
    const streams = { ...report, windowMs: 0, spent: 1 };
    await connection.report([
      { ...streams, id: 'streams kshared' },
      { ...streams, id: 'streams kalone' },
    ]);
    seen.length = 0;
    clock.advance(3000);
    t.same(seen, ['stale streams kshared']);
    clock.advance(27_000);
    t.ok(seen.includes('stale streams kalone'));
  });
});

t.test('remote-store', async (t) => {
  testStore('of the pipeline process, for workers', async () => {
    const clock = new ManualClock();
    const workers: WorkerEnd[] = [];
    const connections: { report(reports: readonly []): Promise<unknown> }[] = [];
    const folder = shortFolder();
    let epoch = 0;
    let end = await openPipeline();
    async function openPipeline(): Promise<PipelineEnd> {
      const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
      const opened = new PipelineEnd({
        folder,
        epoch: ++epoch,
        workers: [],
        clock: systemClock,
        endLate: async () => {},
      });
      await opened.open(serviceOver(cache, { counterStore: new MemoryStore(100, clock) }));
      return opened;
    }
    /** Reports nothing, behind all messages before. */
    const hasAnswered = ({ report }: (typeof connections)[number]): Promise<boolean> =>
      report([]).then(
        () => true,
        () => false,
      );
    return {
      windowMs: 10_000,
      async join(_, listener) {
        const store = new RemoteStore(2);
        const connection = store.join('', listener);
        const worker = openWorker(folder, { counterStore: store, id: workers.length });
        workers.push(worker);
        connections.push(connection);
        await worker.joined;
        return { members: () => 2, report: connection.report, leave: () => worker.close() };
      },
      async pass(ms) {
        clock.advance(ms);
        for (let i = 0; i < 3; i++) await Promise.all(connections.map(hasAnswered));
      },
      async forget() {
        end.close();
        end = await openPipeline();
        for (const each of connections) await waitFor(() => hasAnswered(each), 'a worker at the next pipeline process');
      },
      close() {
        for (const worker of workers) worker.close();
        end.close();
      },
    };
  });

  t.test('a store that is lost, and counts without room, arrive as such', async (t) => {
    const store = new RemoteStore(3);
    const connection = store.join('', { onTotal: () => {}, onStale: () => {} });
    await t.rejects(connection.report([]), 'no pipeline process yet');
    store.connect(() => {});
    const [lost, full] = [connection.report([]), connection.report([])];
    store.onMessage({ type: 'reported', answers: undefined, members: 2 });
    store.onMessage({ type: 'reported', answers: [undefined], members: 5 });
    await t.rejects(lost);
    t.same(await full, [undefined]);
    t.equal(connection.members(), 5);
  });
});

t.test('leader', async (t) => {
  const TIP = 1000;

  /** A gateway over a Redis whose answers a test decides. */
  function startLeader(answerOf: Answering) {
    const clock = new ManualClock();
    let tip = TIP;
    let range = [0, 0];
    const calls: string[] = [];
    const changes: unknown[] = [];
    const leader = new Leader({
      redis: {
        async run(script: Script, _, args) {
          calls.push(script === LEAD ? 'lead' : 'release');
          return script === LEAD ? answerOf(args) : 1;
        },
      },
      member: 'a',
      prefix: 'p:',
      clock,
      random: () => 0.5,
      tip: () => tip,
      guard: {
        confineTo: (above, upTo) => {
          range = [above, upTo];
        },
      },
      onChange: (...change) => changes.push(change),
    });
    return {
      leader,
      clock,
      calls,
      changes,
      range: () => range,
      /** Lets this number of attempts pass, with a new slot before each. */
      async attempts(count: number, slotsEach = 1) {
        for (let i = 0; i < count; i++) {
          await new Promise((resolve) => setImmediate(resolve)); // the call before is answered
          tip += slotsEach;
          clock.advance(300);
        }
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
  }

  type Answering = (args: readonly (string | number)[]) => unknown;

  /** An honest Redis with no other gateway: the first answer elects, the next ones renew. */
  const honest =
    (epoch: number, above: number, upTo: number): Answering =>
    ([, , own]) => [1, epoch, own === epoch ? -1 : above, upTo];

  const HONEST = honest(5, TIP + 160, TIP + 224);

  /** Answers that no script gives, to a leader of epoch 5 that may sign up to TIP + 224. */
  const LIES: readonly (readonly [name: string, answer: unknown])[] = [
    ['nothing', null],
    ['a text', 'OK'],
    ['too few numbers', [1, 5, -1]],
    ['too many numbers', [1, 5, -1, TIP + 224, 0]],
    ['texts for numbers', ['1', '5', '-1', String(TIP + 224)]],
    ['a fraction', [1, 5, -1, TIP + 224.5]],
    ['no number', [1, Number.NaN, -1, TIP + 224]],
    ['an infinite slot', [1, 5, -1, Number.POSITIVE_INFINITY]],
    ['a slot beyond exact numbers', [1, 5, -1, 2 ** 53]],
    ['a slot far above the tip', [1, 5, -1, TIP + 10_000]],
    ['the same to one that does not lead', [0, 5, -1, TIP + 10_000]],
    ['a lower highest slot', [1, 5, -1, TIP + 100]],
    ['a lower highest slot to one that does not lead', [0, 6, -1, TIP]],
    ['a negative slot', [1, 5, -1, -1]],
    ['an earlier epoch', [1, 4, TIP + 224, TIP + 250]],
    ['no epoch', [1, 0, -1, TIP + 224]],
    ['two leads', [2, 5, -1, TIP + 224]],
    ['a range that was given out', [1, 6, TIP, TIP + 250]],
    ['a range that is upside down', [1, 6, TIP + 250, TIP + 240]],
    ['a range to one that goes on', [1, 5, TIP + 230, TIP + 240]],
    ['a range to one that does not lead', [0, 6, TIP + 230, TIP + 240]],
  ];

  t.test('a Redis that lies in any number lets nobody sign exact, and is named', async (t) => {
    for (const [name, lie] of LIES) {
      let isHonest = true;
      const { leader, range, attempts } = startLeader((args) => (isHonest ? HONEST(args) : lie));
      await attempts(3);
      t.same(range(), [TIP + 160, TIP + 224]);
      isHonest = false;
      await attempts(5);
      t.same([leader.isLeader, range()], [false, [0, 0]], name);
      t.type(leader.problem, 'string', name);
      await leader.close();
    }
  });

  t.test('what a Redis has lied is not repeated to the one after it', async (t) => {
    let isHonest = false;
    const known: unknown[] = [];
    const { leader, attempts } = startLeader((args) => {
      known.push(args.slice(3, 5));
      return isHonest ? HONEST(args) : [0, 5, -1, 10 ** 15];
    });
    await attempts(3);
    isHonest = true;
    await attempts(3);
    t.ok(leader.isLeader);
    t.notOk(JSON.stringify(known).includes('1000000000000000'), JSON.stringify(known));
    t.equal(leader.problem, undefined);
    await leader.close();
  });

  t.test('a gateway whose calls fail releases the lock they may have acquired before it leads again', async (t) => {
    let isLate = true;
    const { leader, calls, attempts } = startLeader((args) => {
      if (isLate) throw new Error('Redis has not answered EVALSHA within 250 ms');
      return HONEST(args);
    });
    await attempts(4);
    t.same(calls.slice(0, 4), ['lead', 'release', 'lead', 'release']);
    isLate = false;
    await attempts(2);
    t.ok(leader.isLeader);
    await leader.close();
  });

  t.test('a Redis that refuses is named, and one that is late is not', async (t) => {
    let words = "READONLY You can't write against a read only replica.";
    const { leader, attempts } = startLeader((args) => {
      if (words !== '') throw new Error(words);
      return HONEST(args);
    });
    await attempts(4);
    t.equal(leader.problem, `Redis refuses: “${words}”`);
    words = '';
    await attempts(3);
    t.same([leader.isLeader, leader.problem], [true, undefined]);
    words = 'Redis has not answered EVALSHA within 250 ms';
    await attempts(3);
    t.equal(leader.problem, undefined);
    await leader.close();
  });

  t.test('a leader that resigns while its renewal is under way leads in a later epoch only', async (t) => {
    let redis = HONEST;
    let answer = (): void => {};
    const { leader, clock, changes, attempts } = startLeader((args) => redis(args));
    await attempts(2);
    redis = (args) =>
      new Promise((resolve) => {
        answer = () => resolve(HONEST(args));
      });
    await attempts(1);
    clock.advance(750);
    t.notOk(leader.isLeader, 'a second after the renewal before');
    answer();
    redis = honest(6, TIP + 224, TIP + 250);
    await attempts(2);
    t.same(changes, [
      [true, 5],
      [false, 5],
      [true, 6],
    ]);
    await leader.close();
  });

  t.test('a leader whose finalized slot stands still leaves the lead to others until it moves', async (t) => {
    let redis = HONEST;
    const { leader, calls, range, attempts } = startLeader((args) => redis(args));
    await attempts(1);
    await attempts(30, 0);
    t.ok(leader.isLeader, 'for nine seconds');
    await attempts(10, 0);
    t.notOk(leader.isLeader);
    t.same(range(), [0, 0]);
    t.equal(calls.at(-1), 'release');
    redis = honest(6, TIP + 224, TIP + 250);
    await attempts(2);
    t.ok(leader.isLeader);
    await leader.close();
  });
});

t.test('redis-fleet', async (t) => {
  t.test('a gateway that closes while it waits for Redis leaves nothing that goes on', async (t) => {
    const clock = new ManualClock();
    let waits = 0;
    const after = clock.after.bind(clock);
    clock.after = (ms, work) => {
      waits++;
      return after(ms, work);
    };
    const logged: string[] = [];
    const write = (_: object, message: string): void => {
      logged.push(message);
    };
    const fleet = new RedisFleet({
      settings: { url: 'redis://127.0.0.1:1', password: undefined, ca: undefined },
      config: loadConfig({ cwd: '/' }),
      clock,
      random: () => 0.5,
      guard: { confineTo: () => {} },
      tip: () => 1,
      log: { info: write, warn: write, error: write },
      kids: () => [],
      secret: fleetSecretOfText('secret'),
      counters: undefined,
      flushUsage: () => {},
      keysPath: '/there/is/none',
      writes: { keep: () => {} },
    });
    let isJoined = false;
    void fleet.join('genesis').then(() => {
      isJoined = true;
    });
    await waitFor(() => waits > 0, 'the connection');
    await fleet.close();
    await waitFor(() => {
      clock.advance(1000);
      return isJoined;
    }, 'the end of the wait');
    waits = 0;
    clock.advance(10_000);
    t.same([logged, waits], [[], 0]);
  });

  t.test('a gateway counts itself, whatever Redis lists', async (t) => {
    const counters = { gateways: 1 };
    const clock = new ManualClock();
    let reports = 0;
    const members = new Members({
      redis: {
        async run() {
          reports++;
          return [];
        },
        call: async () => null,
      },
      member: 'a',
      prefix: 'p:',
      clock,
      genesisHash: 'genesis',
      log: { info: () => {}, warn: () => {}, error: () => {} },
      record: () => ({ kids: [], config: '' }),
      counters,
    });
    t.teardown(() => members.close());
    await waitFor(() => {
      clock.advance(1000);
      return reports > 1;
    });
    t.equal(counters.gateways, 1);
  });
});

t.test('redis-channel', async (t) => {
  const SILENCE_MS = 1200;
  const { events: EVENTS, follower: FOLLOWER } = channelNames('fleet:');

  /** What a follower reports. */
  const readOf = (address: string) => {
    const key = { kind: 'account', commitment: 'confirmed', address } as const;
    return { type: 'states-read', reads: [{ key, rank: 1, tipAtLastRead: 1 }], needsValues: true } as const;
  };

  function open(members = 3) {
    const world = new ChannelWorld(members);
    const [a, b, c] = world.members as [ChannelMember, ChannelMember, ChannelMember];
    world.elect(a);
    world.settle(1000);
    return { world, a, b, c };
  }

  t.test('followers join what the leader keeps, and go on with its events', async (t) => {
    const { world, a, b, c } = open();
    t.same([b.at, c.at], [a.own, a.own]);
    t.equal(a.channel.stats.snapshotsSent, 1, 'one snapshot for both');
    a.publish(3);
    a.publish(2);
    world.settle(100);
    t.same([b.at, c.at], [{ epoch: 1, count: 5 }, a.own]);
    b.channel.publish(readOf('seven'));
    world.settle(100);
    t.same(a.reported, ['seven']);
    t.same(world.violations, []);
  });

  t.test('a follower that joins among events misses none of them, and has none twice', async (t) => {
    const { world, a, b } = open();
    b.channel.lose('deaf');
    for (let i = 0; i < 20; i++) {
      a.publish(2);
      world.settle(50);
    }
    t.same(b.at, a.own);
    t.equal(b.channel.stats.gaps, 0);
    t.same(world.violations, []);
  });

  t.test('a snapshot that is lost is requested again, and one for another request is not applied', async (t) => {
    const { world, a, b } = open();
    const outdated = world.recorded.filter(({ channel }) => channel === EVENTS);
    b.channel.lose('deaf');
    const receiveAll = (): void => {
      for (const message of b.inbox.splice(0)) b.receive(message);
      for (const message of a.inbox.splice(0)) a.receive(message);
    };
    for (let ms = 0; ms < 300; ms += 50) {
      world.clock.advance(50);
      if (a.channel.stats.snapshotsSent === 1) receiveAll();
    }
    t.equal(a.channel.stats.snapshotsSent, 2);
    b.inbox.length = 0;
    for (const message of outdated) b.receive(message);
    t.equal(b.at, undefined);
    world.settle(4000);
    t.same(b.at, a.own);
    t.same(world.violations, []);
  });

  t.test('F10: a gap ends what is known before anything else, then a snapshot comes', async (t) => {
    const { world, a, b } = open();
    a.publish(1);
    world.endTurn();
    b.inbox.length = 0;
    a.publish(1);
    world.endTurn();
    for (const message of b.inbox.splice(0)) b.receive(message);
    t.equal(b.at, undefined);
    t.equal(b.channel.stats.gaps, 1);
    world.settle(1000);
    t.same(b.at, a.own);
    t.same(world.violations, []);
  });

  t.test('F10: silence ends what is known', async (t) => {
    const { world, a, b } = open();
    world.clock.advance(SILENCE_MS - 300);
    t.ok(b.at);
    b.inbox.length = 0;
    world.clock.advance(500);
    t.equal(b.at, undefined);
    b.channel.lose('deaf');
    world.settle(1500);
    t.same(b.at, a.own, 'and it joins again');
    b.channel.lose('deaf');
    t.equal(b.at, undefined);
    t.same(world.violations, []);
  });

  t.test('messages that are repeated are no sign of life', async (t) => {
    const { world, b } = open();
    const old = world.recorded.filter(({ channel }) => channel === EVENTS);
    for (let i = 0; i < 20; i++) {
      world.clock.advance(100);
      for (const message of old) b.receive(message);
    }
    t.same([b.at, b.channel.stats.gaps], [undefined, 0]);
  });

  t.test('F9: no event of an older epoch is applied, and none of a stranger', async (t) => {
    const { world, a, b, c } = open();
    a.publish(1);
    world.settle(100);
    world.elect(b);
    world.settle(1000);
    t.same([c.at, b.at], [b.own, undefined]);
    a.publish(1); // it doesn't know yet
    world.settle(100);
    t.ok(c.channel.stats.rejected.outdated > 0);
    const forged = { type: 'events', epoch: 9, leader: 'x', seq: 1, events: [] } as const;
    const channel = EVENTS;
    const secret = fleetSecretOfText(Buffer.alloc(32, 8));
    c.receive({ channel, bytes: packMessage(forged, channel, secret) });
    const elsewhere = world.recorded.find((message) => message.channel === FOLLOWER);
    if (elsewhere === undefined) throw new Error('nobody has requested to join');
    c.receive({ channel, bytes: elsewhere.bytes });
    c.receive({ channel, bytes: Buffer.from('short') });
    t.match(c.channel.stats.rejected, { mac: 2, malformed: 1 });
    t.same(c.at, b.own);
    a.resign();
    world.settle(1000);
    t.same(a.at, b.own, 'the former leader follows');
    t.same(world.violations, []);
  });

  const who = fc.nat(2);
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('publish'), who, n: fc.nat(3) }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('deliver'), who, n: fc.nat(6) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose'), who, n: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat'), who, n: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('swap'), who, n: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('change'), who, n: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('elect'), who, n: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('resign'), who, n: fc.nat() }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass'), who, n: fc.integer({ min: 1, max: 500 }) }) },
  );

  /** Does one step; what arrives last at whom is the caller's business. */
  function perform(world: ChannelWorld, { kind, who, n }: { kind: string; who: number; n: number }): void {
    const member = world.members[who] as ChannelMember;
    const { inbox } = member;
    if (kind === 'publish') member.publish(member.own.epoch > 0 ? n : 0);
    else if (kind === 'deliver') for (const message of inbox.splice(0, n)) member.receive(message);
    else if (kind === 'lose') inbox.splice(0, n);
    else if (kind === 'repeat') {
      const message = world.recorded[n % Math.max(1, world.recorded.length)];
      if (message !== undefined) member.receive(message);
    } else if (kind === 'swap') inbox.reverse();
    else if (kind === 'change') {
      const message = inbox.shift();
      if (message === undefined) return;
      const bytes = Buffer.from(message.bytes);
      const at = n % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      member.receive({ ...message, bytes });
    } else if (kind === 'elect') world.elect(member);
    else if (kind === 'resign' && member !== world.leader) member.resign();
    else if (kind === 'pass') world.clock.advance(n);
    world.endTurn();
  }

  t.test('whatever is lost, doubled, reordered or changed, a follower has what a leader keeps or nothing', async () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const { world } = open();
        for (const each of steps) perform(world, each);
        for (const member of world.members) if (member !== world.leader) member.resign();
        world.settle(8000);
        const leader = world.leader;
        const others = world.members.filter((member) => member !== leader);
        const isJoined = others.every(({ at }) => at?.epoch === leader?.own.epoch && at?.count === leader?.own.count);
        if (world.violations.length > 0) throw new Error(world.violations.join('; '));
        if (!isJoined) throw new Error(`not joined: ${JSON.stringify(others.map(({ at }) => at))}`);
      }),
      { numRuns: 200 },
    );
  });
});

t.test('shared-watch', async (t) => {
  type World = ReturnType<typeof openWatchWorld>;

  /** Reads `a` at each gateway and slot until it is live everywhere. */
  async function untilLive(world: World, slots = 12): Promise<void> {
    for (let i = 0; i < slots; i++) {
      await world.advance();
      for (const gateway of world.gateways) await gateway.read('a');
      await world.settle();
    }
  }

  function openPair(): { world: World; leader: WatchGateway; follower: WatchGateway } {
    const world = openWatchWorld(['leader', 'follower']);
    const [leader, follower] = world.gateways;
    if (leader === undefined || follower === undefined) throw new Error('two were opened');
    return { world, leader, follower };
  }

  t.test('a follower makes no subscription, and answers at the slots of the leader', async (t) => {
    const { world, leader, follower } = openPair();
    await world.advance();
    world.lead(leader);
    await untilLive(world);
    t.match(follower.watch, { role: 'following', followed: 1 });
    t.equal(follower.subscriptions, 0);
    t.equal(leader.subscriptions, 1);
    t.equal(follower.isResting, true);
    t.equal(await follower.read('a'), await leader.read('a'));
    world.chain.change('a', 5);
    await untilLive(world, 3);
    t.equal(await follower.read('a'), world.chain.slot - 1);
    const past = Array.from({ length: 6 }, (_, i) => follower.balanceAt('a', world.chain.slot - 1 - i));
    t.same(past, [5, 5, 1, 1, 1, 1], 'it keeps past slots, also the one before a change');
    t.same(follower.falseClaims(), []);
  });

  t.test('F10: what is lost ends all claims in the same call; alone after 3 s, back with the leader', async (t) => {
    const { world, leader, follower } = openPair();
    await world.advance();
    world.lead(leader);
    await untilLive(world);
    const { lease } = await follower.accounts.read({
      address: 'a',
      commitment: 'confirmed',
      shape: 'lamports',
      minContextSlot: undefined,
    });
    t.equal(lease?.state, 'active');
    const claimedSlot = lease?.slot ?? 0;
    world.hub.leader = undefined;
    world.hub.lose(follower.member);
    t.not(lease?.state, 'active');
    t.equal(follower.watch.role, 'waiting');
    await world.advance();
    t.equal(lease?.slot, claimedSlot, 'it claims no more than before');
    for (let i = 0; i < 8; i++) await world.advance();
    t.equal(follower.watch.role, 'alone');
    await untilLive(world);
    t.equal(follower.subscriptions, 1);
    t.ok(((await follower.read('a')) ?? 0) > claimedSlot);
    world.lead(leader);
    await untilLive(world, 4);
    t.match(follower, { watch: { role: 'following' }, subscriptions: 0 });
    t.equal(await follower.read('a'), await leader.read('a'));
  });

  t.test('the leader keeps what a follower reads, although nobody reads it there', async (t) => {
    const { world, leader, follower } = openPair();
    await world.advance();
    world.lead(leader);
    for (let i = 0; i < 120; i++) {
      await world.advance();
      await follower.read('a');
    }
    t.equal(leader.subscriptions, 1);
    t.equal(await follower.read('a'), world.chain.slot - 1);
    for (let i = 0; i < 240; i++) await world.advance();
    t.equal(leader.subscriptions, 0, 'it is given up when nobody reads it any more');
  });

  t.test('a leader that is far behind is not followed', async (t) => {
    const { world, leader, follower } = openPair();
    await world.advance();
    for (let i = 0; i < 4; i++) await world.advance([leader]);
    world.lead(leader);
    t.equal(follower.watch.role, 'alone');
    for (let i = 0; i < 4; i++) leader.advance();
    await world.settle();
    t.equal(follower.watch.role, 'following');
    await untilLive(world);
    t.equal(await follower.read('a'), world.chain.slot - 1);
    world.chain.change('a', 7);
    for (let i = 0; i < 22; i++) await world.advance([leader]);
    t.equal(follower.watch.role, 'alone', 'nor is one that stands still');
    for (let i = 0; i < 10; i++) leader.advance();
    await world.settle();
    t.equal(follower.watch.role, 'alone');
    t.same(follower.falseClaims(), [], 'its marks date nothing any more');
  });

  t.test('four gateways have one set of subscriptions, with the next leader, too', async (t) => {
    const world = openWatchWorld(['a', 'b', 'c', 'd']);
    const { gateways } = world;
    await world.advance();
    for (const leader of gateways.slice(0, 3)) {
      world.lead(leader);
      await untilLive(world, 6);
      t.same(
        pluck(gateways, 'subscriptions'),
        gateways.map((gateway) => (gateway === leader ? 1 : 0)),
      );
      for (const gateway of gateways) t.equal(await gateway.read('a'), world.chain.slot - 1, gateway.member.name);
    }
  });

  t.test('a subscriber at a follower receives changes, and forks at processed', async (t) => {
    const { world, leader, follower } = openPair();
    await world.advance();
    world.lead(leader);
    const received: string[] = [];
    for (const commitment of ['processed', 'confirmed'] as const) {
      const onChange = ({ slot, isReorg }: AccountChange): void => {
        received.push(`${commitment} ${slot - 100} ${isReorg}`);
      };
      follower.accounts.subscribe(commitment, commitment, { onChange, onEnd: () => received.push('end') }, 'me');
    }
    for (let i = 0; i < 5; i++) await world.advance();
    received.length = 0;
    world.chain.change('processed', 5);
    world.chain.change('confirmed', 6);
    await world.advance();
    await world.advance();
    const session = leader.sessions.find(({ handlers }) => handlers.has('processed'));
    session?.notify('processed', 106, accountText(4)); // of another fork
    await world.settle();
    t.same(received, ['processed 7 false', 'confirmed 7 false', 'processed 8 true']);
    t.equal(leader.subscriptions, 2);
    t.equal(follower.subscriptions, 0);
  });

  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('advance' as const), lags: fc.nat({ max: 5 }) }) },
    { weight: 4, arbitrary: fc.record({ does: fc.constant('change' as const), account: fc.nat({ max: 1 }) }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('lose' as const), gateway: fc.nat({ max: 2 }) }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('join' as const), gateway: fc.nat({ max: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('lead' as const), gateway: fc.nat({ max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('stall' as const), gateway: fc.nat({ max: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('end session' as const), gateway: fc.nat({ max: 2 }) }) },
  );

  t.test('under any schedule each value is true at every slot it is claimed for, and none goes back', async (t) => {
    const wrong: string[] = [];
    let liveReads = 0;
    await fc
      .assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
          const world = openWatchWorld(['a', 'b', 'c']);
          const { gateways, chain, hub } = world;
          let lamports = 1;
          await world.advance();
          world.lead(gateways[0]);
          for (const each of steps) {
            if (each.does === 'advance') {
              const late = gateways[each.lags];
              await world.advance(late === undefined ? [] : [late]);
              for (const gateway of gateways) if (gateway.nodeSlot < chain.slot - 1) gateway.advance();
            } else if (each.does === 'change') chain.change('ab'.charAt(each.account), ++lamports);
            else {
              const gateway = gateways[each.gateway];
              if (each.does === 'lead') world.lead(gateway);
              else if (gateway === undefined) continue;
              else if (each.does === 'lose' && gateway.member.isJoined) hub.lose(gateway.member);
              else if (each.does === 'join') hub.join(gateway.member);
              else if (each.does === 'stall') {
                for (let i = 0; i < 24; i++) {
                  if (i % 6 === 0) chain.change('a', ++lamports);
                  await world.advance([gateway]);
                }
                while (gateway.nodeSlot < chain.slot) gateway.advance();
              } else if (each.does === 'end session') for (const session of gateway.sessions) session.close();
            }
            for (const gateway of gateways) {
              for (const account of ['a', 'b']) if ((await gateway.read(account)) !== undefined) liveReads++;
              wrong.push(...gateway.falseClaims());
            }
            await world.settle();
            for (const gateway of gateways) wrong.push(...gateway.falseClaims());
            if (wrong.length > 0) return false;
          }
          return true;
        }),
        { numRuns: 40 },
      )
      .catch((thrown: Error) => t.fail(`${thrown.message} ${wrong[0]}`));
    t.same(wrong, []);
    t.ok(liveReads > 1000, `${liveReads} live reads`);
  });
});
