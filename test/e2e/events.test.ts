import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { stateBeforeIn } from '../../src/client/verify/push-frame.ts';
import { createVerifier, EventChain } from '../../src/client/verify/verify-receipt.ts';
import { SYSTEM_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { type EventStreamReader, openEventStream } from '../support/event-stream.ts';
import { recordChanges, stepGateway } from '../support/event-world.ts';
import { type GatewayHarness, type HttpAnswer, startGatewayOver, startStepped, waitFor } from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { connect } from '../support/pubsub-test-client.ts';
import { ResumingClient, type TrustedGateway } from '../support/resuming-client.ts';
import { addressFromByte } from '../support/token-account-fixtures.ts';

t.test('events', async (t) => {
  const [ONE, TWO, THREE, LARGE] = [addressFromByte(31), addressFromByte(32), addressFromByte(34), addressFromByte(33)];
  const ACCOUNTS = [ONE, TWO];
  const TOPICS = `topics=balance:${ONE},balance:${TWO}`;
  const world = await startStepped(t, {
    feed: {},
    perSlot: 4,
    set: ['ring.slots=400', 'limits.free.streams=6', 'live.maxAccountBytes=200000'],
  });
  const { cluster, clock } = world;
  const { chain } = cluster;
  let harness: GatewayHarness = world;

  /** What each block has changed, by the id of the event. */
  const changes = recordChanges(chain, ACCOUNTS);
  let nextLamports = 1000n;
  const put = (address: string, data = new Uint8Array(0)): void => {
    const owner = data.length === 0 ? SYSTEM_PROGRAM : addressFromByte(99); // whose data no node parses
    chain.setAccount(address, { lamports: nextLamports++, owner, executable: false, data });
  };
  const step = (): Promise<void> => stepGateway(world, harness);
  const stepUntil = async (isDone: () => boolean | Promise<boolean>, what: string): Promise<void> => {
    for (let steps = 0; !(await isDone()); steps++) {
      if (steps > 400) throw new Error(`${what} did not come about`);
      await step();
      if (steps > 5) await sleep(20); // the connections of the feed know no stepped time
    }
  };
  const trusted = (): TrustedGateway => harness.gateway;
  const open = async (t: Test, query: string, headers = {}): Promise<EventStreamReader> => {
    const stream = await openEventStream(`${harness.gateway.url}/api/v1/stream?${query}`, headers);
    t.teardown(() => stream.close());
    return stream;
  };
  const openClient = async (t: Test): Promise<ResumingClient> => {
    const client = new ResumingClient(ACCOUNTS);
    t.teardown(() => client.cut());
    t.equal(await client.connect(trusted()), 200);
    await stepUntil(() => {
      client.handle();
      return client.lastId !== '';
    }, 'the first mark');
    return client;
  };
  /** Waits until a client has all that has changed since a slot, and compares it. */
  const check = async (t: Test, client: ResumingClient, from: number): Promise<void> => {
    const slotOf = (id: string): number => Number(id.split('.')[0]);
    const due = (): Map<string, bigint> => new Map([...changes].filter(([id]) => slotOf(id) > from));
    await stepUntil(async () => {
      client.handle();
      if (client.hasEnded) await client.connect(trusted()); // the accounts were not known soon enough
      return [...due().keys()].every((id) => client.changes.has(id));
    }, `all changes since ${from}`);
    const received = [...client.changes].filter(([id]) => slotOf(id) > from);
    t.strictSame(new Map(received.map(([id, { lamports }]) => [id, lamports])), due(), 'each change, and nothing else');
    t.strictSame([client.doubled, client.reordered, client.gaps], [0, 0, []], 'once, in order, without a gap');
  };

  await stepUntil(async () => (await harness.get('/health')).json.result?.geyser?.status === 'up', 'the feed');

  t.test('a stream begins with the states and a mark, then has each change and the state before it', async (t) => {
    const stream = await open(t, TOPICS);
    t.equal(stream.status, 200);
    t.match(stream.headers, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-ratelimit-remaining': String,
    });
    await stepUntil(() => stream.events.length >= 4, 'the first states');
    t.strictSame(pluck(stream.events, 'event'), ['message', 'snapshot', 'snapshot', 'message']);
    t.match(stream.events[3]?.id, /^\d+\.1$/);
    put(ONE);
    put(TWO);
    await stepUntil(
      () => stream.events.some(({ event, id }) => event === 'change' && id?.endsWith('.1')),
      'the changes',
    );
    const [first, second] = stream.events.filter(({ event }) => event === 'change');
    t.equal(first?.id?.replace('.0', '.1'), second?.id, 'one block, two positions');
    t.match(JSON.parse(first?.data ?? ''), { address: ONE, event: first?.id, before: { result: { lamports: 0 } } });
  });

  t.test('a client that is cut off anywhere gets each change once (law)', async (t) => {
    const client = await openClient(t);
    const from = client.slot;
    const action = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('put' as const), address: fc.constantFrom(...ACCOUNTS) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('step' as const) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('handle' as const), most: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 20 }), async (actions) => {
        for (const each of actions) {
          if (each.kind === 'put') put(each.address);
          if (each.kind === 'step') await step();
          if (each.kind === 'handle') client.handle(each.most);
          if (each.kind === 'cut') client.cut();
          if (!client.isOpen) await client.connect(trusted());
        }
        await check(t, client, from);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });

  t.test('a subscription of the WebSocket with since gets the same, also after a reconnect', async (t) => {
    interface Frame {
      readonly type: string;
      readonly id: unknown;
      readonly seq: number;
      readonly address: string;
      readonly event?: string;
      readonly gap?: object | null;
      readonly error?: string;
    }
    const openSocket = async (message: object) => {
      const socket = new WebSocket(`${harness.gateway.url.replace('http', 'ws')}/api/v1/stream`);
      const texts: string[] = [];
      socket.onmessage = ({ data }) => {
        if (String(data).startsWith('{"type"')) texts.push(String(data));
      };
      t.teardown(() => socket.close());
      await once(socket, 'open');
      const send = (message: object): void =>
        socket.send(JSON.stringify({ op: 'subscribe', topic: 'balance', id: 7, ...message }));
      send(message);
      const frames = (): readonly Frame[] => texts.map((text) => JSON.parse(text));
      return { socket, texts, frames, send };
    };
    const first = await openSocket({ addresses: ACCOUNTS, since: null });
    await stepUntil(() => first.frames().filter(({ gap }) => gap === null).length === 2, 'the states');
    t.match(first.frames()[0], { type: 'subscribed', id: 7, seq: 0 });
    put(ONE);
    await stepUntil(() => first.frames().some(({ seq, address }) => seq === 2 && address === ONE), 'a change');
    const event = first.frames().findLast(({ address }) => address === ONE)?.event;
    t.match(stateBeforeIn(first.texts.findLast((text) => text.includes('"seq":2')) ?? ''), { slot: Number });
    first.socket.close();
    for (const address of [ONE, TWO, ONE]) {
      put(address);
      await step();
    }
    const second = await openSocket({ addresses: ACCOUNTS, since: [event, null] });
    const since = Number(event?.split('.')[0]);
    const due = (): readonly string[] =>
      [...changes.keys()].filter((id) => id.endsWith('.0') && Number(id.split('.')[0]) > since);
    const received = (): readonly unknown[] =>
      second
        .frames()
        .flatMap(({ seq, address, event, gap }) => (address === ONE && seq > 0 && gap === undefined ? event : []));
    await stepUntil(() => second.frames().some(({ type }) => type === 'mark'), 'a mark');
    await stepUntil(() => received().length >= due().length, 'what was missed');
    t.strictSame(received(), due());
    second.socket.send(JSON.stringify({ op: 'unsubscribe', id: 7 }));
    await waitFor(() => second.frames().filter(({ type }) => type === 'unsubscribed').length === 2, 'the ends');
    for (const wrong of ['x', 5, [null], ['1.0', '2.0', '3.0'], {}, { toString: 1, valueOf: 1 }])
      second.send({ addresses: ACCOUNTS, since: wrong });
    second.send({ address: ONE, commitment: 'processed', since: null });
    await waitFor(
      () => second.frames().filter(({ error }) => error === 'invalid_request').length === 7,
      'the refusals',
    );
  });

  t.test('a subscription of pubsub with slotgate gets the same, with receipts that form a chain', async (t) => {
    const verify = createVerifier();
    const chain = new EventChain();
    const follow = async (since: string | null) => {
      const client = await connect(t, `${harness.gateway.url}/api/v1/rpc`);
      const config = { commitment: 'confirmed', encoding: 'base64', slotgate: { since, receipts: true } };
      let subscription: unknown;
      void client.call('accountSubscribe', ONE, config).then(({ result }) => {
        subscription = result;
      });
      await stepUntil(() => subscription !== undefined, 'the subscription');
      return { client, events: () => client.of(subscription) };
    };
    const first = await follow(null);
    await stepUntil(() => first.events().length === 1, 'the present value');
    put(ONE);
    await stepUntil(() => first.events().length === 2, 'a change');
    const [state, change] = first.events();
    t.match([state?.slotgate?.gap, change?.slotgate?.gap], [null, undefined]);
    const since = change?.slotgate?.event ?? '';
    t.equal(changes.get(since), BigInt(change?.slotgate?.answer?.result.lamports ?? 0));
    first.client.close();
    for (let i = 0; i < 3; i++) {
      put(ONE);
      await step();
    }
    const second = await follow(since);
    const slotOf = (id: string): number => Number(id.split('.')[0]);
    const due = () => [...changes].filter(([id]) => id.endsWith('.0') && slotOf(id) > slotOf(since));
    await stepUntil(() => second.events().length >= due().length, 'what was missed');
    t.ok(due().length >= 3);
    const changed = second.events().map(({ slotgate, value }) => [slotgate?.event, BigInt(Number(value['lamports']))]);
    t.strictSame(changed, due(), 'each once, in order, and nothing else');
    const { publicKey, cluster: genesis } = harness.gateway;
    const expected = { publicKeys: [publicKey], cluster: genesis, request: `SUB /api/v1/account/${ONE}` };
    for (const text of [...first.client.texts, ...second.client.texts]) {
      const [head, answer] = text.split(',"answer":');
      if (answer === undefined) continue;
      const { receipt } = verify(answer.slice(0, answer.lastIndexOf('}},"subscription":')), expected);
      chain.add(receipt, stateBeforeIn(`${head}}`));
    }
    t.equal(chain.starts, 1);
  });

  t.test('a reader that falls behind is ended with the reason, and resumes without a loss', async (t) => {
    const data = (): Uint8Array<ArrayBuffer> => new Uint8Array(60_000).fill(Number(nextLamports % 250n));
    put(LARGE, data());
    const slow = await open(t, `topics=account:${LARGE}`);
    await stepUntil(() => slow.lastId !== '', 'the state');
    slow.pause();
    for (let i = 0; i < 60; i++) {
      put(LARGE, data());
      await step();
    }
    slow.resume();
    await waitFor(() => slow.hasEnded, 'the end');
    t.match(slow.events.at(-1), {
      event: 'end',
      data: '{"code":1013,"message":"too slow: events waited for three seconds"}',
    });
    const ids = new Set(slow.events.map(({ id }) => id));
    const next = await open(t, `topics=account:${LARGE}`, { 'last-event-id': slow.lastId });
    put(LARGE, data());
    await stepUntil(() => next.events.some(({ event }) => event === 'change'), 'what it had no room for');
    const doubled = next.events.filter(({ id, event }) => event === 'change' && ids.has(id));
    t.strictSame(doubled, []);
    t.notOk(next.events.some(({ data }) => data.includes('"gap":{')));
  });

  t.test('an id that is not kept is answered with the state and the gap, in words', async (t) => {
    for (const [since, message] of [
      ['5.0', /^changes after slot 5 and up to slot \d+ may be missing/],
      [`${chain.slot('processed') + 100_000}.0`, /^the event that was named is ahead of slot \d+, the newest here/],
    ] as const) {
      let stream = await open(t, `${TOPICS}&since=${since}`);
      await stepUntil(async () => {
        if (stream.hasEnded) stream = await open(t, `${TOPICS}&since=${since}`); // an account was not known soon enough
        return stream.lastId !== '' && stream.lastId !== since;
      }, 'the states');
      const states = stream.events.filter(({ event }) => event === 'snapshot').map(({ data }) => JSON.parse(data));
      t.match(states, [{ address: ONE, gap: { from: Number, to: Number, message } }, {}]);
      put(ONE);
      await stepUntil(() => stream.events.some(({ event }) => event === 'change'), 'a change behind the states');
      stream.close();
    }
  });

  t.test('a reader that knows later blocks gets what follows them, and holds up no other reader', async (t) => {
    const topic = `topics=balance:${THREE}`;
    const since = `${chain.slot('processed') + 30}.0`;
    const ahead = await open(t, `${topic}&since=${since}`);
    const other = await open(t, topic);
    await stepUntil(() => other.lastId !== '', 'the state, for the other');
    t.equal(ahead.lastId, since);
    const changesOf = ({ events }: EventStreamReader) => events.filter(({ event }) => event === 'change');
    put(THREE);
    await stepUntil(() => changesOf(other).length === 1, 'a change that the one ahead has');
    await stepUntil(() => chain.slot('confirmed') > Number(since.split('.')[0]), 'the blocks that it knows');
    put(THREE);
    await stepUntil(() => changesOf(other).length === 2 && changesOf(ahead).length > 0, 'a change that it has not');
    t.strictSame(changesOf(ahead), changesOf(other).slice(1));
    t.equal(other.events.filter(({ event }) => event === 'snapshot').length, 1, 'the state comes once');
  });

  t.test('what is wrong with a request is refused with its reason', async (t) => {
    const get = async (query: string, headers = {}) => harness.get(`/stream?${query}`, { headers });
    t.match(await get('interval=1000'), { status: 426, json: { error: 'upgrade_required' } });
    for (const query of [
      'topics=',
      `topics=price:${ONE}`,
      `topics=balance:${ONE}:${TWO}`,
      `${TOPICS}&interval=1000`,
      `${TOPICS}&commitment=processed`,
      `${TOPICS}&since=7`,
      `topics=balance:${ONE},balance:${ONE}`,
    ])
      t.match(await get(query), { status: 400, json: { error: 'invalid_query' } }, query);
    t.match(await get(TOPICS, { 'last-event-id': '1.x' }), {
      status: 400,
      json: { error: 'invalid_query', message: /^Last-Event-ID must be/ },
    });
    t.match(await get(TOPICS, { 'x-receipt-nonce': 'a'.repeat(20) }), {
      status: 400,
      json: { error: 'invalid_nonce' },
    });
    t.match(await get('topics=balance:abc'), { status: 400, json: { error: 'invalid_address' } });
    const many = Array.from({ length: 11 }, (_, i) => `balance:${addressFromByte(i + 1)}`).join();
    t.match(await get(`topics=${many}`), {
      status: 400,
      json: { error: 'invalid_request', message: /a stream may have 10 topics/ },
    });
    t.match(await harness.get(`/stream?${TOPICS}`, { method: 'HEAD' }), { status: 200, text: '' });
    const streams = await Promise.all(Array.from({ length: 6 }, () => open(t, TOPICS)));
    const remaining = ({ headers }: HttpAnswer): string | null => headers.get('x-ratelimit-remaining');
    const before = remaining(await harness.get('/health'));
    const refused = await get(TOPICS);
    t.match(refused, { status: 429, json: { message: /too many open streams/ } });
    t.same([remaining(refused), remaining(await harness.get('/health'))], [before, before], 'a 429 costs nothing');
    for (const stream of streams) stream.close();
    await waitFor(async () => {
      const stream = await openEventStream(`${harness.gateway.url}/api/v1/stream?${TOPICS}`);
      stream.close();
      return stream.status === 200;
    }, 'their places');
  });

  t.test('a gateway without a feed has each change too, also those that come in one turn', async (t) => {
    const withFeed = harness;
    harness = await startGatewayOver(t, `${cluster.url},${cluster.wsUrl}`, clock, { set: ['ring.slots=400'] });
    t.teardown(() => {
      harness = withFeed;
    });
    const client = await openClient(t);
    const final = await open(t, `topics=balance:${ONE}&commitment=finalized`);
    await stepUntil(() => final.lastId !== '', 'the finalized state');
    const from = client.slot;
    const changeInEachSlot = (): void => {
      for (let i = 0; i < 6; i++) {
        put(ONE);
        clock.advance(400);
      }
    };
    changeInEachSlot();
    await check(t, client, from);
    client.cut();
    changeInEachSlot();
    await step();
    t.equal(await client.connect(trusted()), 200);
    await check(t, client, from);
    const due = [...changes.keys()].filter((id) => id.endsWith('.0') && Number(id.split('.')[0]) > from);
    const finalIds = (): unknown[] => final.events.flatMap(({ event, id }) => (event === 'change' ? id : []));
    await stepUntil(() => finalIds().length >= due.length, 'the finalized changes');
    t.strictSame(finalIds(), due);
    const states = final.events.filter(({ event }) => event === 'snapshot').map(({ data }) => JSON.parse(data));
    t.ok(
      states.every(({ answer }) => answer.slot <= from),
      'a gap is before what was followed at confirmed',
    );
  });

  t.test('a gateway that is restarted within the replay of the feed loses nothing', async (t) => {
    const client = await openClient(t);
    const from = client.slot;
    for (const address of ACCOUNTS) put(address);
    await check(t, client, from);
    await harness.gateway.close();
    await waitFor(() => {
      client.handle();
      return client.endText !== undefined;
    }, 'the end');
    t.equal(client.endText, '{"code":1001,"message":"the gateway is shutting down"}');
    client.cut();
    for (const address of [ONE, TWO, ONE]) {
      put(address);
      clock.advance(400);
    }
    harness = await startGatewayOver(t, `${cluster.url},${cluster.wsUrl}`, clock, { geyser: cluster.geyserUrl });
    t.equal(await client.connect(trusted()), 200);
    await check(t, client, from);
    put(TWO);
    await check(t, client, from);
  });
});
