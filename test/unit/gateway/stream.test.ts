import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Unpackr } from 'msgpackr';
import t, { type Test } from 'tap';
import type { Entry } from '../../../src/gateway/cache/entry.ts';
import type { EngineApp, EngineSocket, WebSocketBehavior } from '../../../src/gateway/http/engine/engine.ts';
import { EventChannels } from '../../../src/gateway/http/events/event-channels.ts';
import { EventLog, type EventLogOptions, type ReadEvents } from '../../../src/gateway/http/events/event-log.ts';
import type { EventPage, TopicEvent } from '../../../src/gateway/http/events/event-page.ts';
import { EventSealer } from '../../../src/gateway/http/events/event-sealer.ts';
import { AccountFeeds, AccountNotifications } from '../../../src/gateway/http/pubsub/account-source.ts';
import { NotificationQueue } from '../../../src/gateway/http/pubsub/notification-queue.ts';
import { PubsubClient } from '../../../src/gateway/http/pubsub/pubsub-client.ts';
import { PubsubServer, type PubsubServerOptions } from '../../../src/gateway/http/pubsub/pubsub-server.ts';
import { SignatureWatch } from '../../../src/gateway/http/pubsub/signature-watch.ts';
import {
  type Subscriber,
  Subscriptions,
  type SubscriptionsOptions,
} from '../../../src/gateway/http/pubsub/subscriptions.ts';
import { AccountTopics, type AccountTopicsOptions } from '../../../src/gateway/http/stream/account-topics.ts';
import { packFrame } from '../../../src/gateway/http/stream/encoded-frame.ts';
import { subscribeToEvents } from '../../../src/gateway/http/stream/event-subscriptions.ts';
import { Fanout } from '../../../src/gateway/http/stream/fanout.ts';
import { FrameChannels } from '../../../src/gateway/http/stream/frame-channels.ts';
import { ShardQueue } from '../../../src/gateway/http/stream/shard-queue.ts';
import type { StreamCaller } from '../../../src/gateway/http/stream/stream-caller.ts';
import { SocketConnection, type StreamConnection } from '../../../src/gateway/http/stream/stream-connection.ts';
import type { MessageId, TopicList } from '../../../src/gateway/http/stream/stream-message.ts';
import { SubscriptionQueue } from '../../../src/gateway/http/stream/subscription-queue.ts';
import { type Replay, readReplay } from '../../../src/gateway/live/feed/feed-replay.ts';
import { History } from '../../../src/gateway/live/feed/history.ts';
import type { KeptAccount } from '../../../src/gateway/live/feed/kept-account.ts';
import { account } from '../../../src/gateway/routes/account.ts';
import type { RouteReadThrough } from '../../../src/gateway/routes/routing/route-read-through.ts';
import { accountTopicOf } from '../../../src/gateway/routes/stream-topics.ts';
import type { Sealer } from '../../../src/gateway/serving/sealer.ts';
import type { AccountValue } from '../../../src/gateway/upstream/geyser/feed-update.ts';
import { type FeedListener, GRPC_CODE } from '../../../src/gateway/upstream/geyser/geyser-client.ts';
import { decodeRequest } from '../../../src/localnet/geyser/geyser-messages.ts';
import type { AccountSubscriber } from '../../../src/shared/domain/account-change.ts';
import type { Commitment } from '../../../src/shared/domain/commitment.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import type { NetworkSnapshot } from '../../../src/shared/domain/network-snapshot.ts';
import type { Slot } from '../../../src/shared/domain/slot.ts';
import { RequestCost } from '../../../src/shared/domain/units.ts';
import type { PlacedWork } from '../../../src/shared/runtime/fair-semaphore.ts';
import { runSteps, type Step } from '../../support/event-log-world.ts';
import { blockUpdate } from '../../support/feed-block.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';
import { addressFromByte } from '../../support/token-account-fixtures.ts';

t.test('notification-queue', async (t) => {
  t.test('each subscriber is sent its notifications in order, at most 128 in a turn', async (t) => {
    const batches = fc.array(fc.array(fc.nat({ max: 400 }), { maxLength: 6 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(batches, async (turns) => {
        const queue = new NotificationQueue<number>(String, () => t.fail('none is late'));
        const received = new Map<number, number[]>();
        const expected = new Map<number, number[]>();
        let sent = 0;
        let number = 0;
        const record = (of: Map<number, number[]>, subscriber: number, value: number): void =>
          void of.set(subscriber, [...(of.get(subscriber) ?? []), value]);
        const endTurn = async (before: number): Promise<void> => {
          await turn();
          t.ok(sent - before <= 2 * 128, `${sent - before}`); // what was added in the turn, and the one after it
        };
        for (const sizes of turns) {
          const before = sent;
          for (const size of sizes) {
            const value = ++number;
            const subscribers = Array.from({ length: size }, (_, i) => i);
            for (const subscriber of subscribers) record(expected, subscriber, value);
            queue.add(subscribers, 100, (subscriber) => {
              sent++;
              record(received, subscriber, value);
            });
          }
          await endTurn(before);
        }
        const total = turns.flat().reduce((sum, size) => sum + size, 0);
        while (sent < total) await endTurn(sent);
        t.strictSame(received, expected);
      }),
      { numRuns: 20 },
    );
  });

  for (const [what, count, bytes] of [
    ['notifications', 10_200, 100],
    ['bytes', 200, 1 << 20],
  ] as const) {
    t.test(`beyond the bound in ${what} the caller for whom most wait loses the subscribers with most`, async (t) => {
      const received: number[] = [];
      const ended: number[] = [];
      let handled = 0;
      let most = 0;
      const queue = new NotificationQueue<number>(
        (subscriber) => (subscriber < 300 ? 'others' : 'one'),
        (subscriber) => {
          handled++;
          ended.push(subscriber);
        },
      );
      const send = (subscriber: number): void => {
        handled++;
        received.push(subscriber);
      };
      const others = Array.from({ length: 300 }, (_, i) => i);
      queue.add([...others, 300], bytes, send);
      for (let i = 0; i < count; i++) queue.add([300 + (i % 4)], bytes, send);
      queue.add(others, bytes, send);
      const ofOthers = (): readonly number[] => received.filter((subscriber) => subscriber < 300);
      while (ofOthers().length < 600) {
        most = Math.max(most, handled);
        handled = 0;
        await turn();
      }
      t.ok(most <= 128, `${most} in a turn`);
      t.same(ofOthers(), [...others, ...others], 'the others miss none');
      t.ok(ended.length > 0 && ended.length < 4 && ended.every((subscriber) => subscriber >= 300), `ended: ${ended}`);
    });
  }
});

t.test('pubsub-server', async (t) => {
  /** A clock on which each look at it takes a millisecond. */
  class TickingClock extends ManualClock {
    #ticks = 0;

    override monotonic(): number {
      return super.monotonic() + this.#ticks++;
    }
  }

  t.test('the messages of a packet are handled in order, over as many turns as they need', async (t) => {
    const opened: WebSocketBehavior<object>[] = [];
    const app = { handleWebSockets: (_: string, handlers: WebSocketBehavior<object>) => void opened.push(handlers) };
    const clock = new TickingClock();
    const options = { clock, access: {}, mesh: { onTip: () => () => {} }, maxBackpressureBytes: 1, closes: new Map() };
    // Messages of an unknown method use no other member.
    new PubsubServer(app as unknown as EngineApp, options as unknown as PubsubServerOptions);
    const [handlers] = opened;
    const streamSlot = { consumeMessage: () => 'handle', onRevoked() {}, release() {} };
    const connect = () => {
      const caller = { name: 'caller', streamSlot } as unknown as StreamCaller;
      const subscriptions = { removeSubscriber() {} } as unknown as Subscriptions;
      const client = new PubsubClient(caller, { clock, subscriptions, onInternalError() {} });
      const answers: string[] = [];
      const socket = {
        getUserData: () => ({ caller, client }),
        getBufferedAmount: () => 0,
        send: (text: string) => answers.push(text),
      } as unknown as EngineSocket<object>;
      handlers?.open?.(socket);
      return { socket, answers };
    };
    const say = ({ socket }: ReturnType<typeof connect>, id: number): void => {
      const { buffer } = new TextEncoder().encode(`{"jsonrpc":"2.0","id":${id},"method":"none","params":[]}`);
      handlers?.message(socket, buffer as ArrayBuffer, false);
    };
    const [first, second] = [connect(), connect()];
    for (let id = 0; id < 100; id++) say(first, id);
    for (let id = 0; id < 3; id++) say(second, id);
    t.ok(first.answers.length < 10, `${first.answers.length} in the turn of the packet`);
    for (let turns = 0; first.answers.length < 50; turns++) {
      if (turns > 100) throw new Error(`${first.answers.length} answers`);
      await turn();
    }
    handlers?.close(first.socket, 1000);
    const answered = first.answers.length;
    while (second.answers.length < 3) await turn();
    t.same(
      pluck(
        first.answers.map((text) => JSON.parse(text)),
        'id',
      ),
      Array.from({ length: answered }, (_, id) => id),
    );
    t.equal(first.answers.length, answered, 'none after it has closed');
  });
});

t.test('account-topics', async (t) => {
  const TOPIC = accountTopicOf('balance', 'a', undefined);

  /** Opens account topics over an account that a test changes by hand. */
  function open() {
    const clock = new ManualClock();
    const subscribers = new Set<AccountSubscriber>();
    const callers: string[] = [];
    let [slot, result, isDown] = [1, '"one"', false];
    const readThrough = {
      begin: () => {
        if (isDown) throw new GatewayError('upstream_unavailable', 'nobody');
        return {
          entry: { slot, result, refusal: undefined, body: `{"result":${result},"slot":${slot}}` },
          cacheStatus: 'HIT',
        };
      },
    } as unknown as RouteReadThrough; // no other member is used here
    const sealer = { bodyOf: ({ body }: { body: string }) => body } as unknown as Sealer; // the same
    const liveAccounts = {
      subscribe: (_address: string, _commitment: string, subscriber: AccountSubscriber, caller: string) => {
        subscribers.add(subscriber);
        callers.push(caller);
        return {
          addCaller: (added: string) => void callers.push(added),
          removeCaller: (removed: string) => void callers.splice(callers.indexOf(removed), 1),
          end: () => {
            subscribers.delete(subscriber);
            callers.splice(0);
          },
        };
      },
    };
    const change = async (newSlot: number, newResult: string, isReorg = false): Promise<void> => {
      [slot, result] = [newSlot, newResult];
      for (const subscriber of subscribers) subscriber.onChange({ slot, isReorg });
      await settle();
    };
    const channels = new EventChannels({
      read: async () => undefined,
      sealer: new EventSealer({ sealer, cluster: () => undefined, maxBytes: 1 << 20 }),
      liveAccounts,
      clock,
    });
    return {
      clock,
      subscribers,
      callers,
      change,
      down: (down: boolean) => {
        isDown = down;
      },
      feeds: new AccountFeeds({
        clock,
        readThrough,
        liveAccounts,
        readRpc: async () => `{"context":{"slot":${slot}},"value":${accountJson('["AAAA","base64"]')}}`,
      }),
      topics: new AccountTopics({ clock, readThrough, sealer, liveAccounts, channels }),
    };
  }

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  const accountJson = (data: string): string =>
    `{"lamports":"1","data":${data},"owner":"o","executable":false,"rentEpoch":"0","space":3}`;

  /** Creates a connection that can be made slow; its replies can be kept waiting. */
  function openConnection(maxSubscriptions = 10, name = 'somebody') {
    const frames: object[] = [];
    const waiting: (() => void)[] = [];
    const connection = {
      isSlow: false,
      isWaiting: false,
      caller: {
        name,
        maxSubscriptions,
        admit: (work: PlacedWork) => work.start(() => {}),
        newCost: () => new RequestCost(name, false),
      },
      subscriptions: new Map(),
      reply(makeFrame: () => string | undefined, onSent?: () => void): void {
        const send = (): void => {
          const frame = makeFrame();
          if (frame === undefined) return;
          frames.push(JSON.parse(frame));
          onSent?.();
        };
        if (connection.isWaiting) waiting.push(send);
        else send();
      },
      sendWaiting(): void {
        for (const send of waiting.splice(0)) send();
      },
      push(frame: string): boolean {
        if (!connection.isSlow) frames.push(JSON.parse(frame));
        return !connection.isSlow;
      },
    };
    return { frames, connection };
  }

  t.test('each subscriber gets the first value and the changes, and nothing if the value is the same', async (t) => {
    const { topics, change } = open();
    const [one, two] = [openConnection(), openConnection()];
    await topics.subscribe(one.connection, TOPIC, 'x');
    await change(2, '"two"');
    await topics.subscribe(two.connection, TOPIC, null);
    await change(3, '"two"');
    await change(4, '"four"');
    t.match(one.frames, [
      { type: 'subscribed', id: 'x', topic: 'balance', address: 'a', seq: 0, answer: { result: 'one', slot: 1 } },
      { type: 'balance', id: 'x', address: 'a', seq: 1, answer: { result: 'two', slot: 2 } },
      { type: 'balance', id: 'x', address: 'a', seq: 2, answer: { result: 'four', slot: 4 } },
    ]);
    t.match(two.frames, [
      { type: 'subscribed', id: null, seq: 0, answer: { slot: 2 } },
      { seq: 1, answer: { slot: 4 } },
    ]);
    t.strictSame(Object.keys(one.frames[1] ?? {}).at(-1), 'answer');
  });

  t.test('few views of an account are written in a turn, and each gets the newest state', async (t) => {
    const { feeds, change } = open();
    const { caller } = openConnection().connection;
    let inTurn = 0;
    const received = new Map<number, string>();
    const endTurn = async (): Promise<void> => {
      t.ok(inTurn <= 2 * 64, `${inTurn} views`); // of the change in this turn, and of the turn after it
      inTurn = 0;
      await settle();
    };
    for (const i of Array(300).keys()) {
      const emit = (result: string): void => {
        inTurn++;
        received.set(i, result);
      };
      const fixed = { caller, emit, offer: () => true, onExpired: t.fail, onEnd: t.fail };
      const view = { encoding: 'base64', slice: { offset: 0, length: i } } as const;
      await new AccountNotifications(feeds, { address: 'a', commitment: 'processed', view }, fixed).ready;
    }
    const isCurrent = (at: number): boolean =>
      received.size === 300 && [...received.values()].every((text) => text.startsWith(`{"context":{"slot":${at}}`));
    await change(2, accountJson('["AAAA","base64"]'));
    await change(3, accountJson('["AAAB","base64"]'));
    while (!isCurrent(3)) await endTurn();
    t.match(received.get(2), '"data":["AAA=","base64"]');
    await change(4, accountJson('{"program":"p","parsed":{},"space":3}')); // its bytes are read once for all
    let turns = 0;
    for (; !isCurrent(4); turns++) await endTurn();
    t.ok(turns <= 2 * Math.ceil(300 / 64) + 5, `${turns} turns: others that work in slices wait for each`);
  });

  t.test('a reverted value is pushed again, marked as a reorg', async (t) => {
    const { topics, change } = open();
    const one = openConnection();
    await topics.subscribe(one.connection, TOPIC, null);
    await change(2, '"two"');
    await change(3, '"one"', true);
    t.match(one.frames[2], { seq: 2, reorg: true, answer: { result: 'one', slot: 3 } });
    t.strictSame(Object.keys(one.frames[2] ?? {}).slice(-2), ['reorg', 'answer']);
    t.notOk('reorg' in (one.frames[1] ?? {}));
  });

  t.test('a slow consumer misses changes, sees so by seq, and gets the newest once it has caught up', async (t) => {
    const { topics, change } = open();
    const one = openConnection();
    await topics.subscribe(one.connection, TOPIC, null);
    one.connection.isSlow = true;
    for (const slot of [2, 3, 4]) await change(slot, `"${slot}"`);
    one.connection.isSlow = false;
    topics.sendUnsent(one.connection);
    topics.sendUnsent(one.connection);
    t.match(one.frames.slice(1), [{ seq: 3, answer: { result: '4' } }]);
    t.equal(one.frames.length, 2);
  });

  t.test('a slow consumer still gets every reply to its messages', async (t) => {
    const { topics, change } = open();
    const one = openConnection();
    one.connection.isSlow = true;
    await topics.subscribe(one.connection, TOPIC, 1);
    await change(2, '"two"');
    topics.unsubscribe(one.connection, TOPIC, 2);
    t.match(one.frames, [
      { type: 'subscribed', id: 1, answer: { slot: 1 } },
      { type: 'unsubscribed', id: 2 },
    ]);
    t.equal(one.frames.length, 2);
  });

  t.test('a first value that waits for room is the newest then, and nothing is pushed before it', async (t) => {
    const { topics, change } = open();
    const one = openConnection();
    one.connection.isWaiting = true;
    await topics.subscribe(one.connection, TOPIC, 1);
    await change(2, '"two"');
    t.equal(one.frames.length, 0);
    one.connection.sendWaiting();
    await change(3, '"three"');
    t.match(one.frames, [
      { type: 'subscribed', seq: 0, answer: { slot: 2, result: 'two' } },
      { type: 'balance', seq: 1, answer: { slot: 3 } },
    ]);
    const two = openConnection();
    two.connection.isWaiting = true;
    await topics.subscribe(two.connection, TOPIC, 1);
    topics.unsubscribe(two.connection, TOPIC, 2);
    two.connection.sendWaiting();
    t.match(two.frames, [{ type: 'unsubscribed', id: 2 }]);
    t.equal(two.frames.length, 1, 'no first value after the end');
  });

  t.test('an id ends all subscriptions that have it, and no others', async (t) => {
    const { topics, subscribers } = open();
    const [one, two] = [openConnection(), openConnection()];
    const [b, c] = ['b', 'c'].map((address) => accountTopicOf('balance', address, undefined));
    if (b === undefined || c === undefined) throw new Error('no topics');
    await topics.subscribe(one.connection, TOPIC, 7, true);
    await topics.subscribe(one.connection, b, 7, true);
    await topics.subscribe(one.connection, c, '7');
    await topics.subscribe(two.connection, TOPIC, 7);
    topics.unsubscribeId(one.connection, 7);
    t.strictSame(one.frames.slice(3), [
      { type: 'unsubscribed', id: 7, topic: 'balance', address: 'a' },
      { type: 'unsubscribed', id: 7, topic: 'balance', address: 'b' },
    ]);
    t.equal(topics.findFault(one.connection, TOPIC), undefined, 'it may subscribe again');
    t.match(topics.findFault(two.connection, TOPIC), { code: 'invalid_request' }, 'another one still is');
    t.throws(() => topics.unsubscribeId(one.connection, 7), { code: 'invalid_request' });
    for (const subscriber of subscribers) subscriber.onEnd(new GatewayError('result_too_large', 'too large'));
    t.notOk('address' in (one.frames.at(-1) ?? {}), 'one address alone needs no name');
  });

  t.test('the end of one address of a batch names it', async (t) => {
    const { topics, subscribers } = open();
    const one = openConnection();
    await topics.subscribe(one.connection, TOPIC, 7, true);
    for (const subscriber of subscribers) subscriber.onEnd(new GatewayError('result_too_large', 'too large'));
    t.strictSame(one.frames.slice(1), [
      { type: 'error', id: 7, address: 'a', error: 'result_too_large', message: 'too large' },
    ]);
  });

  t.test("a topic that can't be kept live ends with an error frame, and can be subscribed to again", async (t) => {
    const { topics, subscribers, change } = open();
    const [one, two] = [openConnection(1), openConnection()];
    await topics.subscribe(one.connection, TOPIC, 'x');
    await topics.subscribe(two.connection, TOPIC, 7);
    for (const subscriber of subscribers) subscriber.onEnd(new GatewayError('result_too_large', 'too large'));
    t.match([subscribers.size, topics.topicCount], [0, 0]);
    t.strictSame(one.frames.slice(1), [{ type: 'error', id: 'x', error: 'result_too_large', message: 'too large' }]);
    t.strictSame(two.frames.slice(1), [{ type: 'error', id: 7, error: 'result_too_large', message: 'too large' }]);
    await topics.subscribe(one.connection, TOPIC, 'y');
    await change(2, '"two"');
    t.match(one.frames.slice(2), [
      { type: 'subscribed', id: 'y' },
      { seq: 1, answer: { slot: 2 } },
    ]);
  });

  t.test('an account has one subscription for all connections, until ten seconds after the last of them', async (t) => {
    const { topics, subscribers, clock } = open();
    const [one, two] = [openConnection(), openConnection()];
    await topics.subscribe(one.connection, TOPIC, null);
    await topics.subscribe(two.connection, TOPIC, null);
    t.equal(subscribers.size, 1);
    topics.unsubscribe(one.connection, TOPIC, 7);
    t.match(one.frames.at(-1), { type: 'unsubscribed', id: 7, topic: 'balance', address: 'a' });
    topics.removeConnection(two.connection);
    clock.advance(9_999);
    t.equal(subscribers.size, 1);
    await topics.subscribe(one.connection, TOPIC, null);
    clock.advance(60_000);
    t.equal(subscribers.size, 1, 'a connection that comes back in time keeps it');
    topics.removeConnection(one.connection);
    clock.advance(10_000);
    t.match([subscribers.size, topics.topicCount], [0, 0]);
  });

  t.test('a place counts for each caller that subscribes, and in the grace period for the last one', async (t) => {
    const { clock, callers, topics } = open();
    const [one, two] = [openConnection(10, 'one'), openConnection(10, 'two')];
    await topics.subscribe(one.connection, TOPIC, null);
    await topics.subscribe(two.connection, TOPIC, null);
    t.same(callers, ['one', 'two']);
    topics.unsubscribe(one.connection, TOPIC, null);
    t.same(callers, ['two']);
    topics.unsubscribe(two.connection, TOPIC, null);
    t.same(callers, ['two']);
    await topics.subscribe(one.connection, TOPIC, null);
    t.same(callers, ['one']);
    topics.removeConnection(one.connection);
    clock.advance(10_000);
    t.same(callers, []);
  });

  t.test('a connection has a maximum of subscriptions, and one per topic', async (t) => {
    const { topics } = open();
    const { connection } = openConnection(1);
    await topics.subscribe(connection, TOPIC, null);
    await t.rejects(topics.subscribe(connection, TOPIC, null), { code: 'invalid_request' });
    await t.rejects(topics.subscribe(connection, accountTopicOf('account', 'a', undefined), null), {
      code: 'rate_limited',
    });
  });

  t.test('a change that cannot be read yet is pushed later; a first value ends the subscription', async (t) => {
    const { topics, change, down, clock, subscribers } = open();
    const one = openConnection();
    await topics.subscribe(one.connection, TOPIC, null);
    down(true);
    await change(2, '"two"');
    t.equal(one.frames.length, 1);
    await t.rejects(topics.subscribe(openConnection().connection, TOPIC, null), { code: 'upstream_unavailable' });
    down(false);
    clock.advance(400);
    await settle();
    t.match(one.frames[1], { seq: 1, answer: { result: 'two' } });
    t.equal(subscribers.size, 1);
  });
});

t.test('signature-subscriptions', async (t) => {
  /** Subscriptions of signatures over a node that knows one transaction from a slot on. */
  function open(landsAt: Slot) {
    const clock = new ManualClock();
    let tip = 1000;
    const listeners = new Set<(slot: Slot, parent: Slot | undefined) => void>();
    const mesh = {
      tip: () => tip,
      onTip: (_: Commitment, listener: (slot: Slot, parent: Slot | undefined) => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
    const status = { slot: landsAt, err: null, confirmationStatus: 'finalized' };
    const readRpc = async () => JSON.stringify({ value: [tip < landsAt ? null : status] });
    const subscriptions = new Subscriptions({
      clock,
      mesh,
      signatures: new SignatureWatch(readRpc, mesh),
    } as unknown as SubscriptionsOptions); // no other source is used here
    const received: string[] = [];
    const clientOf = (name: string): Subscriber =>
      ({ caller: { name }, send: () => void received.push(name) }) as unknown as Subscriber;
    const subscribe = async (client: Subscriber): Promise<void> => {
      await subscriptions.subscribe(client, { kind: 'signature', signature: 'S', commitment: 'confirmed' }, () => {});
      clock.advance(20);
      await turn();
    };
    const stepTo = async (slot: Slot): Promise<void> => {
      tip = slot;
      for (const listener of [...listeners]) listener(slot, undefined);
      await turn();
    };
    return { subscriptions, received, clientOf, subscribe, stepTo };
  }

  t.test('one that subscribes to what another waits for waits for 400 slots of its own', async (t) => {
    const { received, clientOf, subscribe, stepTo } = open(1790);
    await subscribe(clientOf('first'));
    await stepTo(1395);
    await subscribe(clientOf('second'));
    await stepTo(1795);
    t.same(received, ['first', 'second']);
  });

  t.test('a client that subscribes again waits for 400 slots more', async (t) => {
    const { received, clientOf, subscribe, stepTo } = open(1500);
    const client = clientOf('it');
    await subscribe(client);
    await stepTo(1399);
    await subscribe(client);
    await stepTo(1500);
    t.same(received, ['it']);
  });

  t.test('after 400 slots nobody is notified, but one that subscribes then is', async (t) => {
    const { subscriptions, received, clientOf, subscribe, stepTo } = open(1403);
    const first = clientOf('first');
    await subscribe(first);
    t.equal(subscriptions.countOf(first), 1);
    await stepTo(1401);
    t.same([subscriptions.countOf(first), subscriptions.counts.get('signature')], [0, 0], 'nor does it count any more');
    await stepTo(1403);
    t.same(received, []);
    await subscribe(clientOf('later'));
    await subscribe(first);
    t.same(received, ['later', 'first']);
  });
});

t.test('fanout', async (t) => {
  /** Counts the events of a loop that has some in each turn. */
  const busy = () => {
    let events = 0;
    return () => events++;
  };

  /** Opens a fan-out with subscribers, and records the topic of each published message. */
  function open(subscribers: number, polledEvents = busy()) {
    const published: { readonly topic: string; readonly message: string }[] = [];
    const queue = new ShardQueue((topic, message) => published.push({ topic, message: String(message) }), polledEvents);
    const fanout = new Fanout('json', queue);
    const shards = Array.from({ length: subscribers }, () => fanout.addSubscriber());
    return { fanout, queue, published, shards };
  }

  t.test('a message to two hundred subscribers is published in one turn', async (t) => {
    const { fanout, published, shards } = open(200);
    fanout.send('a', false);
    t.equal(published.length, new Set(shards).size);
    t.notOk(shards.some((shard) => fanout.hasPending(shard)));
  });

  t.test('a message to a thousand is published one shard per turn of the event loop', async (t) => {
    const { fanout, published, shards } = open(1000);
    const count = new Set(shards).size;
    t.equal(fanout.subscriberCount, 1000);
    fanout.send('a', false);
    t.equal(published.length, 1, 'the first immediately');
    for (let i = 2; i <= count; i++) {
      await turn();
      t.equal(published.length, i);
    }
    t.same(new Set(published.map(({ topic }) => topic)), new Set(shards.map((shard) => fanout.topicOf(shard))));
  });

  t.test('while turns have no I/O event, each has twice the shards of the one before, up to four', async (t) => {
    let events = 0;
    const { fanout, published } = open(2000, () => events);
    fanout.send('a', false);
    const counts = [published.length];
    for (let i = 0; i < 4; i++) {
      if (i === 3) events++;
      await turn();
      counts.push(published.length);
    }
    t.same(counts, [1, 3, 7, 11, 12]);
  });

  t.test('many topics have no more shards in a turn than one; one with few subscribers waits for none', async (t) => {
    const { fanout, queue, published } = open(1000, () => 0);
    const others = ['a', 'b', 'c'].map((topic) => new Fanout(topic, queue));
    for (const other of others) for (let i = 0; i < 1000; i++) other.addSubscriber();
    const small = new Fanout('small', queue);
    small.addSubscriber();
    for (const each of [fanout, ...others, small]) each.send('x', false);
    t.same(pluck(published, 'topic'), ['json/0', 'small/0']);
    const shares = [];
    for (let before = published.length; published.length < 33; before = published.length) {
      await turn();
      shares.push(published.length - before);
    }
    t.same(shares, [2, 4, 4, 4, 4, 4, 4, 4, 1]);
  });

  t.test('no shard has more than 128 subscribers, and a free place is filled again', async (t) => {
    const { fanout, shards } = open(300);
    const members = (shard: number) => shards.filter((other) => other === shard).length;
    t.ok(shards.every((shard) => members(shard) <= 128));
    fanout.removeSubscriber(0);
    t.equal(fanout.addSubscriber(), 0);
  });

  t.test('each shard gets every message, in order, however they overlap', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2000 }),
        fc.array(fc.nat(3), { maxLength: 10 }),
        async (size, pauses) => {
          const { fanout, published, shards } = open(size);
          const messages: string[] = [];
          for (const pause of pauses) {
            messages.push(`message ${messages.length}`);
            fanout.send(messages.at(-1) ?? '', false);
            for (let i = 0; i < pause; i++) await turn();
          }
          for (let i = 0; i < 200; i++) await turn();
          return [...new Set(shards)].every((shard) => {
            const got = published.filter(({ topic }) => topic === fanout.topicOf(shard)).map(({ message }) => message);
            return got.join() === messages.join() && !fanout.hasPending(shard);
          });
        },
      ),
      { numRuns: 30 },
    );
  });

  t.test('a subscriber that joins between two turns can see whether a message is pending', async (t) => {
    const { fanout, shards } = open(2000);
    const last = Math.max(...shards);
    fanout.send('a', false);
    t.equal(fanout.hasPending(last), true);
    t.equal(fanout.hasPending(0), false);
    for (let shard = 0; shard < last; shard++) await turn();
    t.equal(fanout.hasPending(last), false);
  });

  t.test('without subscribers nothing is published', async (t) => {
    const { fanout, published } = open(1);
    fanout.removeSubscriber(0);
    fanout.send('a', false);
    t.same(published, []);
  });
});

t.test('msgpack-frame', async (t) => {
  const unpackr = new Unpackr({ useRecords: false, int64AsType: 'bigint' });
  const levels = { min: 0n, low: 1n, medium: 2n, high: 3n, veryHigh: 4n, unsafeMax: 2n ** 64n - 1n };
  const snapshot: NetworkSnapshot = {
    slot: 348_000_123,
    blockHeight: 326_000_000,
    epoch: 805,
    epochProgress: 0.5,
    slotIndex: 1,
    slotsInEpoch: 432_000,
    tps: 1234.5,
    nonVoteTps: 7,
    slotTimeMs: null,
    priorityFee: 2n,
    priorityFeeLevels: levels,
    transactionCount: 2n ** 64n - 1n,
    consensus: 'tower',
    health: 'ok',
    seq: 0,
    stream: 'abc',
    updatedAt: 1_700_000_000_000,
  };

  t.test('a MessagePack frame is a plain map with the members of the JSON frame, in their order', async (t) => {
    const { result, slot } = unpackr.unpack(packFrame(snapshot));
    t.equal(slot, snapshot.slot);
    t.same(Object.keys(result), Object.keys(snapshot));
    t.same(result.priorityFeeLevels, { min: 0, low: 1, medium: 2, high: 3, veryHigh: 4, unsafeMax: 2n ** 64n - 1n });
    t.equal(result.tps, 1234.5);
    t.equal(result.slotTimeMs, null);
  });

  t.test('every integer is packed as an integer, with every digit', async () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 64n - 1n), fc.maxSafeNat(), (priorityFee, updatedAt) => {
        const { result } = unpackr.unpack(packFrame({ ...snapshot, priorityFee, updatedAt }));
        const isWide = (value: unknown, number: bigint) => (typeof value === 'bigint') === number > 0xffff_ffffn;
        return (
          BigInt(result.priorityFee) === priorityFee &&
          BigInt(result.updatedAt) === BigInt(updatedAt) &&
          isWide(result.priorityFee, priorityFee) &&
          isWide(result.updatedAt, BigInt(updatedAt))
        );
      }),
    );
  });

  t.test('a number that is no exact integer of 64 bits is packed as a double, whatever it is', async () => {
    const any = fc.oneof(fc.double({ noNaN: true }), fc.bigInt(2n ** 64n, 2n ** 80n), fc.constant(2 ** 64));
    fc.assert(
      fc.property(any, (number) => {
        const { result } = unpackr.unpack(packFrame({ ...snapshot, tps: number as number })); // a worker parses bigint
        return Number(result.tps) === Number(number);
      }),
    );
  });
});

t.test('frame-channels', async (t) => {
  t.test("a frame that can't be encoded or signed costs its channel that frame, and is reported", async (t) => {
    const [sent, failures]: [string[], unknown[]] = [[], []];
    const sealer = {
      sealFrame() {
        throw new Error('no key');
      },
    } as unknown as Sealer; // frames use no other member
    const channels = new FrameChannels(
      (topic) => void sent.push(topic),
      sealer,
      new ManualClock(),
      () => 0,
      (thrown) => failures.push(thrown),
    );
    const channelOf = (query: string) => channels.channelFor(`/api/v1/stream${query}`);
    for (const query of ['?receipts=1', '?format=msgpack', '']) channelOf(query).fanout.addSubscriber();
    const entry = { body: '{}' } as Entry;
    const broken = Object.defineProperty({ slot: 1 }, 'tps', {
      enumerable: true,
      get() {
        throw new RangeError('too large');
      },
    }) as unknown as NetworkSnapshot;
    channels.publish(entry, broken);
    t.same(sent, ['json/0/0']);
    t.same(failures.map(String), ['Error: no key', 'RangeError: too large', 'Error: no key']);
    t.equal(channels.latestFrame(channelOf('?format=msgpack')), undefined);
    t.equal(`${channels.latestFrame(channelOf(''))}`, '{}');
    channels.publish(entry, broken);
    t.equal(failures.length, 3, 'the first in a row is reported');
  });

  t.test('a newcomer gets no frame that a revoked key has signed', async (t) => {
    const state = { key: 'revoked', invalidUntilMs: Number.NEGATIVE_INFINITY };
    const sealer = {
      sealFrame: (_: Entry, requests: readonly string[]) => requests.map(() => state.key),
      get invalidUntilMs() {
        return state.invalidUntilMs;
      },
    } as unknown as Sealer; // frames use no other member
    const channels = new FrameChannels(
      () => {},
      sealer,
      new ManualClock(),
      () => 0,
      (thrown) => t.fail(String(thrown)),
    );
    const channel = channels.channelFor('/api/v1/stream?receipts=1');
    channel.fanout.addSubscriber();
    channels.publish({ body: '{}' } as Entry, { slot: 1 } as NetworkSnapshot);
    t.equal(channels.latestFrame(channel), 'revoked');
    Object.assign(state, { key: 'next', invalidUntilMs: 5 });
    t.equal(channels.latestFrame(channel), 'next');
    state.key = 'another';
    t.equal(channels.latestFrame(channel), 'next', 'once for all');
  });
});

t.test('stream-connection', async (t) => {
  const CALLER = {
    name: 'somebody',
    maxSubscriptions: 10,
    admit: (work: PlacedWork) => work.start(() => {}),
    newCost: () => new RequestCost('somebody', false),
  };

  /** Opens a connection over a socket that keeps what it is sent until the test reads it. */
  function open(maxUnsentBytes = 100) {
    const sent: string[] = [];
    let unsentBytes = 0;
    let drops = 0;
    const connection = new SocketConnection(CALLER);
    const socket = {
      send(frame: string): number {
        sent.push(frame);
        unsentBytes += Buffer.byteLength(frame);
        return 1;
      },
      getBufferedAmount: () => unsentBytes,
    } as unknown as Parameters<SocketConnection['open']>[0]['socket']; // the socket of the engine accepts more than text
    connection.open({ socket, maxUnsentBytes, onDrop: () => drops++ });
    return {
      connection,
      sent,
      unsent: () => unsentBytes,
      drops: () => drops,
      drain(): void {
        unsentBytes = 0;
        connection.sendReplies();
      },
    };
  }

  t.test('replies wait for room, in order, and what is unsent stays below the bound', (t) => {
    const { connection, sent, unsent, drain } = open();
    const texts = Array.from({ length: 10 }, (_, i) => String(i).repeat(40));
    for (const text of texts) {
      connection.reply(() => text);
      t.ok(unsent() <= 100);
    }
    t.same(sent, texts.slice(0, 2));
    t.notOk(connection.hasRoom);
    for (let drained = 4; drained <= 10; drained += 2) {
      drain();
      t.ok(unsent() <= 100);
      t.same(sent, texts.slice(0, drained));
    }
    t.ok(connection.hasRoom);
    t.end();
  });

  t.test('a reply longer than the room is sent alone, letters count by bytes, a void one is skipped', (t) => {
    const { connection, sent, drain } = open();
    const done: string[] = [];
    connection.reply(() => 'a');
    connection.reply(
      () => '€'.repeat(40),
      () => done.push('long'),
    );
    connection.reply(
      () => undefined,
      () => done.push('void'),
    );
    connection.reply(
      () => 'b',
      () => done.push('b'),
    );
    t.same(sent, ['a']);
    t.same(done, []);
    drain();
    t.same(sent, ['a', '€'.repeat(40)]);
    drain();
    t.same(sent.at(-1), 'b');
    t.same(done, ['long', 'b']);
    t.end();
  });

  t.test('a change is dropped when half of the bound is unsent; a short frame is always sent', (t) => {
    const { connection, sent, drops } = open();
    t.ok(connection.push('x'.repeat(101)));
    t.notOk(connection.push('y'));
    t.equal(drops(), 1);
    connection.send('pong');
    t.equal(sent.at(-1), 'pong');
    t.end();
  });

  t.test('nothing is sent before the socket is open and after it is closed', (t) => {
    const fresh = new SocketConnection(CALLER);
    t.notOk(fresh.push('x') || fresh.hasRoom);
    const { connection, sent } = open();
    connection.close();
    connection.send('x');
    connection.reply(() => 'x');
    t.notOk(connection.push('x') || connection.hasRoom);
    t.same(sent, []);
    t.end();
  });
});

t.test('subscription-queue', async (t) => {
  /** Opens a queue over topics whose reads the test ends. */
  function open({ maxSubscriptions = 100, waitsMs = [] as number[], units = 1000 } = {}) {
    const clock = new ManualClock();
    const reads: { readonly address: string; readonly end: (fault?: GatewayError) => void }[] = [];
    const done: string[] = [];
    const errors: [MessageId, string, string | undefined][] = [];
    const connection = { hasRoom: true };
    let count = 0;
    let unitsLeft = units;
    const accountTopics = {
      findFault: () => (count >= maxSubscriptions ? new GatewayError('rate_limited', 'full') : undefined),
      subscribe: (_: unknown, { address }: { readonly address: string }) =>
        new Promise<void>((resolve, reject) => {
          count++;
          reads.push({ address, end: (fault) => (fault === undefined ? resolve() : reject(fault)) });
        }),
      unsubscribe: (_: unknown, { address }: { readonly address: string }) => void done.push(`end ${address}`),
      unsubscribeId: (_: unknown, id: number) => void done.push(`end all ${id}`),
    } as unknown as AccountTopics; // no other member is used here
    const queue = new SubscriptionQueue({
      clock,
      accountTopics,
      connection: connection as unknown as SocketConnection, // the same
      caller: {
        maxSubscriptions,
        charge(units) {
          if (units > unitsLeft) throw new GatewayError('rate_limited', 'no units', { retryAfter: 9 });
          unitsLeft -= units;
        },
        giveBack(units) {
          unitsLeft += units;
        },
        streamSlot: { consumeSubscribe: () => waitsMs.shift() ?? 0 },
      },
      replyError: (id, thrown, { address }) => errors.push([id, GatewayError.from(thrown).code, address]),
    });
    return { clock, reads, done, errors, connection, queue, unitsLeft: () => unitsLeft };
  }

  const listOf = (addresses: readonly string[], isBatch = true): TopicList => ({
    name: 'balance',
    commitment: undefined,
    addresses,
    isBatch,
    since: undefined,
  });
  const ADDRESSES = Array.from({ length: 80 }, (_, i) => addressFromByte(i + 1));
  const [FIRST = '', SECOND = ''] = ADDRESSES;
  /** Resolves after the next turn of the event loop. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

  t.test('at most forty first values are read at one time, each end lets the next begin', async (t) => {
    const { reads, queue } = open();
    queue.add({ op: 'subscribe', id: 1, topics: listOf(ADDRESSES) });
    t.equal(reads.length, 40);
    for (const { end } of reads.slice(0, 5)) end();
    await settle();
    t.equal(reads.length, 45);
    for (let i = 5; i < 80; i++) {
      reads[i]?.end();
      await settle();
    }
    t.same(pluck(reads, 'address'), ADDRESSES);
  });

  t.test('a turn of the event loop runs at most forty steps, whatever they are', async (t) => {
    const { errors, queue } = open();
    for (let id = 1; id <= 2; id++) queue.add({ op: 'subscribe', id, topics: listOf(Array(80).fill('nobody')) });
    t.equal(errors.length, 40);
    await settle();
    t.ok(errors.length <= 120);
    for (let turns = 0; turns < 4; turns++) await settle();
    t.equal(errors.length, 160);
  });

  t.test('nothing is read for a client that does not receive what it is sent, and all goes on once it does', (t) => {
    const { reads, connection, queue } = open();
    connection.hasRoom = false;
    queue.add({ op: 'subscribe', id: 1, topics: listOf([FIRST, SECOND]) });
    t.equal(reads.length, 0);
    connection.hasRoom = true;
    queue.advance();
    t.equal(reads.length, 2);
    t.end();
  });

  t.test('messages are handled in their order, and an error names the address of a batch', async (t) => {
    const { reads, done, errors, queue } = open();
    queue.add({ op: 'subscribe', id: 'a', topics: listOf([FIRST, 'nobody']) });
    queue.add({ op: 'unsubscribe', id: 'b', topics: listOf([SECOND], false) });
    queue.add({ op: 'unsubscribeId', id: 7 });
    t.same(done, [`end ${SECOND}`, 'end all 7']);
    reads[0]?.end(new GatewayError('upstream_unavailable', 'nobody'));
    await settle();
    t.same(errors, [
      ['a', 'invalid_address', 'nobody'],
      ['a', 'upstream_unavailable', FIRST],
    ]);
  });

  t.test('an address waits for its turn, but not to be refused', (t) => {
    const { clock, reads, errors, queue } = open({ maxSubscriptions: 2, waitsMs: [0, 50, 0, 1000] });
    queue.add({ op: 'subscribe', id: 1, topics: listOf(ADDRESSES.slice(0, 4)) });
    t.equal(reads.length, 1);
    queue.advance();
    clock.advance(49);
    t.equal(reads.length, 1);
    clock.advance(1);
    t.equal(reads.length, 2);
    t.same(errors, [
      [1, 'rate_limited', ADDRESSES[2]],
      [1, 'rate_limited', ADDRESSES[3]],
    ]);
    t.end();
  });

  t.test('each address to subscribe to costs a unit; a message that costs too much is refused whole', async (t) => {
    const { reads, errors, queue, unitsLeft } = open({ units: 5 });
    queue.add({ op: 'subscribe', id: 1, topics: listOf([FIRST, 'nobody', SECOND]) });
    t.same([unitsLeft(), errors.length], [3, 1], 'an invalid one costs nothing');
    t.throws(() => queue.add({ op: 'subscribe', id: 2, topics: listOf(ADDRESSES.slice(2, 6)) }), {
      code: 'rate_limited',
      retryAfter: 9,
    });
    queue.add({ op: 'unsubscribe', id: 3, topics: listOf(ADDRESSES) });
    t.same([unitsLeft(), reads.length], [3, 2]);
  });

  t.test('a message is refused if too many addresses wait', (t) => {
    const { connection, reads, queue } = open({ maxSubscriptions: 90 });
    connection.hasRoom = false;
    for (let i = 0; i < 2; i++) queue.add({ op: 'subscribe', id: i, topics: listOf(ADDRESSES) });
    t.throws(() => queue.add({ op: 'subscribe', id: 2, topics: listOf(ADDRESSES) }), { code: 'rate_limited' });
    queue.close();
    connection.hasRoom = true;
    queue.advance();
    t.equal(reads.length, 0, 'a closed connection wants nothing');
    t.end();
  });

  t.test('an address for which there is no room costs nothing, one that is refused for itself does', async (t) => {
    const { reads, queue, errors, unitsLeft } = open({ maxSubscriptions: 3, units: 10 });
    queue.add({ op: 'subscribe', id: 1, topics: listOf(ADDRESSES.slice(0, 4)) });
    t.same(errors, [[1, 'rate_limited', ADDRESSES[3]]]);
    t.equal(unitsLeft(), 7);
    reads[0]?.end(new GatewayError('overloaded', 'no turn'));
    reads[1]?.end(new GatewayError('upstream_unavailable', 'none'));
    reads[2]?.end();
    await settle();
    const codes = errors.slice(1).map(([, code]) => code);
    t.same(codes, ['overloaded', 'upstream_unavailable']);
    t.equal(unitsLeft(), 8);
  });
});

t.test('event-channels', async (t) => {
  const ADDRESS = addressFromByte(1);
  const TOPICS = { topics: [{ name: 'balance' as const, address: ADDRESS }], commitment: 'confirmed' as const };
  function openChannels(t: Test, read: ReadEvents, subscribe?: () => never) {
    const clock = new ManualClock();
    let account: AccountSubscriber | undefined;
    const channels = new EventChannels({
      read,
      sealer: new EventSealer({
        sealer: { sealEvents: (statements) => statements.map(() => '{}'), invalidUntilMs: 0 },
        cluster: () => undefined,
        maxBytes: 1 << 20,
      }),
      liveAccounts: {
        subscribe(_address, _commitment, subscriber) {
          subscribe?.();
          account = subscriber;
          return { addCaller() {}, removeCaller() {}, end() {} };
        },
      },
      clock,
    });
    t.teardown(() => channels.close());
    return { channels, clock, change: (slot: Slot) => account?.onChange({ slot, isReorg: false }) };
  }
  const stateAt = (slot: number): TopicEvent => ({
    index: 0,
    slot,
    result: `${slot}`,
    before: null,
    gap: null,
    isComplete: true,
  });
  const pageAt = (slot: Slot, since = { slot: 0, index: 0 }): EventPage => {
    const [events, end] = [slot > since.slot ? [stateAt(slot)] : [], { slot, index: 0 }];
    return { events, end, covered: end, present: [slot], held: [slot], isWhole: true };
  };
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await turn();
  };

  /** Joins a channel; returns the slots of the marks that it gets. */
  function marksOf(t: Test, channels: EventChannels): readonly Slot[] {
    const marks: Slot[] = [];
    channels.join(TOPICS, undefined, {
      callerName: 'somebody',
      deliver(_events, end, isMark) {
        if (isMark) marks.push(end.slot);
        return end;
      },
      onEnd: (reason) => t.fail(reason.message),
    });
    return marks;
  }

  t.test('a change that comes while the first page of a channel is sealed is delivered', async (t) => {
    let [covered, reads] = [100, 0];
    const { channels, change } = openChannels(t, async ({ since }) => {
      reads++;
      return pageAt(covered, since);
    });
    const slots: number[] = [];
    channels.join(TOPICS, undefined, {
      callerName: 'somebody',
      deliver(events, end) {
        slots.push(...events.map(({ event }) => event.slot));
        return end;
      },
      onEnd: (reason) => t.fail(reason.message),
    });
    while (reads === 0) await Promise.resolve();
    covered = 101;
    change(101);
    await turns();
    t.same(slots, [100, 101]);
  });

  t.test('each ten seconds a reader gets a mark, also where nothing is known', async (t) => {
    let isKnown = true;
    const { channels, clock } = openChannels(t, async ({ since }) => (isKnown ? pageAt(100, since) : undefined));
    const marks = marksOf(t, channels);
    await turns();
    for (isKnown of [true, false]) {
      clock.advance(10_000);
      await turns();
    }
    t.same(marks, [100, 100, 100]);
  });

  t.test('nor is a mark missing while a read lasts, or where one has failed', async (t) => {
    const reads: { end(page?: EventPage): void }[] = [];
    const { channels, clock, change } = openChannels(
      t,
      () =>
        new Promise((resolve, reject) => {
          reads.push({
            end: (page) => (page === undefined ? reject(new Error('the process is gone')) : resolve(page)),
          });
        }),
    );
    const marks = marksOf(t, channels);
    reads.shift()?.end(pageAt(100));
    await turns();
    change(101);
    await turns();
    clock.advance(10_000);
    t.same(marks, [100, 100], 'a feed may send again what an account lacks');
    reads.shift()?.end(pageAt(101));
    await turns();
    clock.advance(10_000);
    await turns();
    reads.shift()?.end();
    await turns();
    clock.advance(200);
    await turns();
    reads.shift()?.end(pageAt(102));
    await turns();
    t.same(marks, [100, 100, 102]);
  });

  t.test('the read of a subscription that has ended ends none that came after it', async (t) => {
    const fails: (() => void)[] = [];
    const { channels } = openChannels(
      t,
      () => new Promise((_, reject) => fails.push(() => reject(new GatewayError('upstream_unavailable', 'it ended')))),
    );
    const options = { channels } as unknown as AccountTopicsOptions; // no value is read
    const subscriptions = new AccountTopics(options);
    const replies: string[] = [];
    const connection = {
      caller: { name: 'somebody', maxSubscriptions: 1 },
      subscriptions: new Map(),
      reply: (write: () => string) => replies.push(write()),
    } as unknown as StreamConnection;
    const topic = accountTopicOf('balance', ADDRESS, undefined);
    for (const id of [1, 2]) {
      await subscriptions.subscribe(connection, topic, id, false, null);
      if (id === 1) subscriptions.unsubscribe(connection, topic, id);
    }
    fails[0]?.();
    await turns();
    t.same([connection.subscriptions.size, replies.length], [1, 3]);
  });

  t.test('what can have no place is answered with the error alone', (t) => {
    const error = new GatewayError('overloaded', 'no place is left');
    const { channels } = openChannels(
      t,
      async () => undefined,
      () => {
        throw error;
      },
    );
    const replies: string[] = [];
    const connection = {
      caller: { name: 'somebody' },
      reply: (write: () => string) => replies.push(write()),
    } as unknown as StreamConnection;
    const topic = accountTopicOf('balance', ADDRESS, undefined);
    t.throws(() => subscribeToEvents(channels, connection, topic, { id: 1, since: null, onEnd: t.fail }), error);
    t.same(replies, []);
    t.end();
  });
});

t.test('event-log', async (t) => {
  const [ONE, TWO] = [addressFromByte(51), addressFromByte(52)];
  const CHANGES = 300;
  const accountOf = (lamports: number): AccountValue => ({
    lamports: BigInt(lamports),
    owner: addressFromByte(99),
    executable: false,
    rentEpoch: 0n,
    data: new Uint8Array(8192),
  });
  /** Returns an account without data as a node notifies of it. */
  const textOf = (lamports: number): string =>
    `{"data":["","base64"],"executable":false,"lamports":${lamports},"owner":"${ONE}","rentEpoch":0,"space":0}`;
  const member = { address: ONE, priority: 1 };
  /** An account that a feed covers up to a slot, with its first version. */
  const historyOf = (slot: Slot, first: Slot, lamports: number, address = ONE) =>
    new History<KeptAccount, AccountValue | null>(
      { address, priority: 1 },
      { slot, isDenied: false, finalizedSlot: slot },
      { slot: first, value: accountOf(lamports) },
    );
  const histories = new Map(
    [ONE, TWO].map((address, index) => {
      const history = historyOf(10_000, 1, 0, address);
      for (let i = 1; i <= CHANGES; i++) history.push({ slot: 2 * i + index, value: accountOf(i) }, 2 * i + index - 1);
      return [address, history];
    }),
  );
  /** A log where no account is live and no feed sends anything again, unless the options say so. */
  const logOf = (options: Pick<EventLogOptions, 'ring'> & Partial<EventLogOptions>): EventLog =>
    new EventLog({ liveAccounts: { readLive: () => undefined }, feed: undefined, replayBytes: 1, ...options });
  const log = logOf({ ring: { get: (address) => histories.get(address), finalizedSlot: 10_000 } });
  /** A log over a feed that sends its blocks again. */
  const replayingLog = (
    get: (address: string) => History<KeptAccount> | undefined,
    finalizedSlot: Slot,
    replay: NonNullable<EventLogOptions['feed']>['replay'],
  ): EventLog => logOf({ ring: { get, finalizedSlot }, feed: { isStarting: false, replay }, replayBytes: 1 << 20 });
  /** Reads what follows a slot of a balance; the reader holds nothing. */
  const readBehind = (log: EventLog, slot: Slot) =>
    log.read({
      topics: [{ name: 'balance', address: ONE }],
      commitment: 'confirmed',
      since: { slot, index: 0 },
      held: undefined,
    });

  t.test('a page writes what it has room for, and the pages have each change once, in order', async (t) => {
    const topics = [ONE, TWO].map((address) => ({ name: 'account' as const, address }));
    const route = account as Required<typeof account>; // it has all optional members that are used here
    const texts = t.capture(route, 'resolveLive', route.resolveLive);
    const ids: string[] = [];
    let since = { slot: 1, index: 1 };
    let held: readonly Slot[] | undefined = [1, 1];
    for (let isWhole = false; !isWhole; ) {
      const page: EventPage | undefined = await log.read({ topics, commitment: 'confirmed', since, held });
      if (page === undefined) throw new Error('the accounts are known');
      ids.push(...page.events.map(({ slot, index, before }) => `${before?.slot} ${slot}.${index}`));
      const mostWritten = 2 * (page.events.length + 4); // of each topic the state before, and that for which there was no room
      const written = texts().length;
      if (written > mostWritten || page.events.length > 10) t.fail(`${written} texts for ${page.events.length} events`);
      ({ end: since, held, isWhole } = page);
    }
    const due = Array.from({ length: CHANGES }, (_, i) => i + 1).flatMap((i) => [
      `${i === 1 ? 1 : 2 * i - 2} ${2 * i}.0`,
      `${i === 1 ? 1 : 2 * i - 1} ${2 * i + 1}.1`,
    ]);
    t.strictSame(ids, due);
  });

  t.test('where a gap of one topic has too much of another, it is a gap of both', async (t) => {
    const THREE = addressFromByte(53);
    const late = historyOf(10_000, 1, 1, THREE);
    late.push({ slot: 11, value: accountOf(2) }, 10);
    late.push({ slot: 590, value: accountOf(3) }, 11);
    histories.set(THREE, late);
    const topics = [THREE, ONE].map((address) => ({ name: 'account' as const, address }));
    const events: TopicEvent[] = [];
    let since = { slot: 1, index: 1 };
    let held: readonly Slot[] | undefined = [1, 1];
    for (let isWhole = false; !isWhole; ) {
      const page: EventPage | undefined = await log.read({ topics, commitment: 'confirmed', since, held });
      if (page === undefined) throw new Error('the accounts are known');
      events.push(...page.events);
      ({ end: since, held, isWhole } = page);
    }
    t.strictSame(
      events.map(({ index, slot, before, gap }) => [index, slot, before?.slot ?? gap?.from]),
      [
        [1, 2, 1],
        [1, 4, 2],
        [1, 6, 4],
        [1, 8, 6],
        [1, 10, 8],
        [0, 11, 1],
        [0, 590, 11],
        [1, 600, 10],
      ],
    );
    t.strictSame([since, held], [{ slot: 10_000, index: 1 }, [590, 600]]);
  });

  t.test('no turn of the event loop compares or shows much', async (t) => {
    const account = (lamports: number): string =>
      `{"data":["${'A'.repeat(8192)}","base64"],"executable":false,"lamports":${lamports},"owner":"${ONE}","rentEpoch":0,"space":6144}`;
    const long = new History<KeptAccount>(member, { slot: 301, isDenied: false }, { slot: 1, value: account(1) });
    for (let i = 2; i <= 301; i++) long.push({ slot: i, value: account(i) }, i - 1);
    const log = logOf({
      ring: { get: () => long, finalizedSlot: 0 },
      liveAccounts: { readLive: () => ({ slot: 301, sinceSlot: 301, account: null }) },
    });
    for (const name of ['balance', 'account'] as const) {
      let turns = 0;
      const count = (): void => {
        turns++;
        next = setImmediate(count);
      };
      let next = setImmediate(count);
      const query = { topics: [{ name, address: ONE }], commitment: 'confirmed', held: [1] } as const;
      const page = await log.read({ ...query, since: { slot: 1, index: 0 } }).finally(() => clearImmediate(next));
      t.ok(turns > 50, `300 versions of 8 KiB in ${turns} turns`);
      t.ok((page?.events.length ?? 300) < 300, `${page?.events.length} ${name} events in a page`);
    }
  });

  t.test('what the ring has dropped is not held for readers that have looked at it', async (t) => {
    const history = historyOf(9, 1, 1);
    for (let slot = 2; slot < 10; slot++) history.push({ slot, value: accountOf(slot) }, slot - 1);
    const values = history.versions.map(({ value }) => new WeakRef(Object(value)));
    const kept = logOf({ ring: { get: () => history, finalizedSlot: 9 } });
    const read = async () => {
      const topics = [{ name: 'account' as const, address: ONE }];
      const page = await kept.read({ topics, commitment: 'confirmed', since: { slot: 7, index: 0 }, held: [7] });
      return page?.events.map(({ slot, before }) => [before?.slot, slot]);
    };
    await read();
    for (let i = 0; i < 6; i++) history.dropOldest();
    await turn(); // a WeakRef holds until the turn ends
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    t.equal(values.filter((value) => value.deref() !== undefined).length, 3);
    t.strictSame(await read(), [
      [7, 8],
      [8, 9],
    ]);
  });

  t.test('what a feed sends again is not kept if its node is found to lie meantime', async (t) => {
    const history = historyOf(100, 50, 1);
    let replays = 0;
    const replaying = replayingLog(
      () => history,
      100,
      async () => {
        if (++replays === 1) replaying.clear();
        return { from: 10, until: 50, versions: new Map() };
      },
    );
    const gaps: unknown[] = [];
    for (let i = 0; i < 3; i++)
      gaps.push((await readBehind(replaying, 20))?.events.flatMap(({ gap }) => gap?.to ?? []));
    t.strictSame([replays, gaps], [2, [[50], [], []]]);
  });

  t.test('the block at which a replay begins is not in it', async (t) => {
    const kept = new Map([ONE, TWO].map((address) => [address, historyOf(200, 150, 5, address)]));
    const wanted: Slot[] = [];
    const replaying = replayingLog(
      (address) => kept.get(address),
      200,
      async ({ addresses, since }) => {
        wanted.push(since);
        const versions = new Map(addresses.map((address) => [address, [{ slot: 120, value: accountOf(5) }]]));
        return since >= 100 ? { from: 100, until: 150, versions } : undefined;
      },
    );
    const eventsBehind = async (slot: Slot, index: number, addresses: readonly string[]) => {
      const topics = addresses.map((address) => ({ name: 'balance' as const, address }));
      const page = await replaying.read({ topics, commitment: 'confirmed', since: { slot, index }, held: undefined });
      return page?.events.map((event) => [event.index, event.slot, event.gap && [event.gap.from, event.gap.to]]);
    };
    t.strictSame(await eventsBehind(100, 0, [ONE]), [[0, 120, null]]);
    t.strictSame(await eventsBehind(99, 0, [ONE]), [[0, 120, [99, 120]]], 'the block may have written the account');
    const live = { topics: [{ name: 'balance' as const, address: ONE }], commitment: 'confirmed' as const };
    t.match(
      await replaying.read({ ...live, since: { slot: 160, index: 0 }, held: [150] }),
      { events: [], held: [120] },
      'a reader that has the state keeps it, though it is known now since when it has been so',
    );
    wanted.length = 0;
    await eventsBehind(101, 0, [ONE, TWO]);
    t.strictSame(wanted, [100], 'of the block of the id, the reader lacks the second topic');
  });

  t.test('readers behind a feed that does not answer wait for one timeout', async (t) => {
    const history = historyOf(200, 150, 5);
    const clock = new ManualClock();
    let replays = 0;
    const client = {
      firstReplayed: async () => 1,
      subscribe() {
        replays++;
        return { isSending: false, send() {}, cancel() {} };
      },
    };
    const options = { client, mode: 'blocks', clock, maxBytes: 1 << 20 } as const;
    const log = replayingLog(
      () => history,
      200,
      (query) => readReplay(options, query),
    );
    const reading = Array.from({ length: 5 }, () => readBehind(log, 99));
    for (let i = 0; i < 5; i++) await turn();
    clock.advance(10_000);
    let [turns, isDone] = [0, false];
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    count();
    const doneAt: number[] = [];
    const pages = await Promise.all(
      reading.map(async (read) => {
        const page = await read;
        doneAt.push(turns);
        return page;
      }),
    );
    isDone = true;
    const gapStarts = pages.map((page) => page?.events.map(({ gap }) => gap?.from));
    t.strictSame(
      gapStarts,
      Array.from({ length: 5 }, () => [99]),
    );
    t.equal(replays, 1);
    t.equal(new Set(doneAt).size, 5, 'each goes on in a turn of the event loop of its own');
  });

  t.test('a replay whose connection ends is tried again, one that the feed can not give is not', async (t) => {
    const history = historyOf(200, 150, 5);
    let code: number = GRPC_CODE.resourceExhausted;
    let replays = 0;
    const client = {
      firstReplayed: async () => 1,
      subscribe({ onEnd }: FeedListener) {
        replays++;
        return { isSending: false, send: () => onEnd({ code, reason: 'ended the stream' }), cancel() {} };
      },
    };
    const options = { client, mode: 'blocks', clock: new ManualClock(), maxBytes: 1 << 20 } as const;
    const log = replayingLog(
      () => history,
      200,
      (query) => readReplay(options, query),
    );
    for (code of [GRPC_CODE.resourceExhausted, GRPC_CODE.unavailable, GRPC_CODE.outOfRange, GRPC_CODE.unavailable])
      t.strictSame(
        (await readBehind(log, 99))?.events.map(({ gap }) => gap?.from),
        [99],
      );
    t.equal(replays, 3, 'what the feed has not is not requested again');
  });

  t.test('a replay may last as long as its blocks come, up to a minute', async (t) => {
    const requests: ReturnType<typeof decodeRequest>[] = [];
    /** Has a feed send a block each nine seconds, of which the last may be another than the one that follows. */
    const replayOf = (blocks: number, isFork = false) => {
      const clock = new ManualClock();
      let send = (_bytes: Uint8Array): void => {};
      const client = {
        firstReplayed: async () => 1,
        subscribe({ onMessage }: FeedListener) {
          send = onMessage;
          return {
            isSending: false,
            send: (request: Uint8Array) => requests.push(decodeRequest(request)),
            cancel() {},
          };
        },
      };
      const options = { client, mode: 'blocks', clock, maxBytes: 1 << 20 } as const;
      const replay = readReplay(options, { addresses: [ONE], since: 100, until: 100 + blocks });
      void (async () => {
        for (let slot = 101; slot <= 100 + blocks; slot++) {
          await turn();
          clock.advance(9000);
          const link = isFork && slot === 100 + blocks ? { parentBlockhash: 'another' } : {};
          send(blockUpdate(slot, { filters: ['b1'], ...link }));
        }
      })();
      return replay;
    };
    t.match(await replayOf(6), { from: 100, until: 106 });
    t.match(requests, [{ fromSlot: 5 }], 'what was before the first change may be in a block before');
    await t.rejects(replayOf(7), { code: 'upstream_timeout' });
    await t.rejects(replayOf(2, true), { code: 'upstream_error' }, 'a fork is none that the feed will send again');
  });

  t.test('what nodes notify of is a change only where nothing before it can be missing', async (t) => {
    const before = new History<KeptAccount>(member, { slot: 20, isDenied: false }, { slot: 10, value: textOf(1) });
    before.push({ slot: 11, value: textOf(2) }, 10);
    before.push({ slot: 12, value: textOf(3) }, 11);
    before.push({ slot: 13, value: textOf(3) }, 12);
    before.push({ slot: 16, value: textOf(4) }, 13);
    before.end();
    const history = new History<KeptAccount>(member, { slot: 29, isDenied: false }, { slot: 25, value: textOf(4) });
    const late = { ...member, commitment: 'finalized' as const };
    const final = new History<KeptAccount>(late, { slot: 24, isDenied: false }, { slot: 9, value: textOf(1) });
    final.push({ slot: 22, value: textOf(2) }, 10);
    final.push({ slot: 23, value: textOf(3) }, 11);
    final.previous = before;
    history.previous = final;
    for (let i = 0; i < 5; i++) history.push({ slot: 26 + i, value: textOf(5 + i) }, 25 + i);
    const live = { slot: 30 };
    const log = logOf({
      ring: { get: () => history, finalizedSlot: 0 },
      liveAccounts: { readLive: () => ({ slot: live.slot, sinceSlot: 1, account: null }) },
    });
    const eventsBehind = async (slot: number | undefined) => {
      const since = slot === undefined ? undefined : { slot, index: 0 };
      const topics = [{ name: 'balance' as const, address: ONE }];
      const page = await log.read({ topics, commitment: 'confirmed', since, held: since && [since.slot] });
      return page?.events.map(({ slot, before, gap }) => [slot, before?.slot, gap && [gap.from, gap.to]]);
    };
    const lastChanges = [26, 27, 28, 29, 30].map((slot) => [slot, slot - 1, null]);
    t.strictSame(
      await eventsBehind(10),
      [[11, 10, null], [12, 11, null], [16, undefined, [13, 16]], [25, undefined, [20, 25]], ...lastChanges],
      'a version before which blocks are unknown is a state, and so is the first of another session',
    );
    t.strictSame((await eventsBehind(14))?.[0], [16, undefined, [14, 16]], 'the reader has what was before');
    t.strictSame((await eventsBehind(15))?.[0], [16, undefined, null], 'and here it has all');
    t.strictSame(await eventsBehind(25), lastChanges, 'more than four are known');
    t.strictSame(await eventsBehind(3), [[10, undefined, [3, 10]], ...((await eventsBehind(10)) ?? [])]);
    t.strictSame(await eventsBehind(undefined), [[30, undefined, null]]);
    const ends: unknown[] = [];
    for (const slot of [12, 14, 16, 22, 25]) {
      live.slot = slot;
      const topics = [{ name: 'balance' as const, address: ONE }];
      const page = await log.read({ topics, commitment: 'finalized', since: { slot: 11, index: 0 }, held: [11] });
      ends.push([page?.end.slot, page?.events.at(-1)?.slot]);
    }
    t.strictSame(
      ends,
      [
        [12, 12],
        [13, 12],
        [16, 16],
        [20, 16],
        [25, 25],
      ],
      'no end is in a gap',
    );
  });

  t.test('where an account moves to a feed, a reader that is live lacks only what nothing has', async (t) => {
    const before = new History<KeptAccount>(member, { slot: 104, isDenied: false }, { slot: 100, value: textOf(1) });
    before.push({ slot: 102, value: textOf(2) }, 101);
    before.end();
    const coverage = { slot: 120, isDenied: false, finalizedSlot: 103 };
    const newHistory = () => {
      const history = new History<KeptAccount, AccountValue | null>(member, coverage, {
        slot: 110,
        value: accountOf(5),
      });
      history.push({ slot: 112, value: accountOf(6) }, 111);
      history.previous = before;
      return history;
    };
    let history = newHistory();
    let replay: Replay | undefined;
    const wanted: Slot[] = [];
    const moved = replayingLog(
      () => history,
      103,
      async ({ since }) => {
        wanted.push(since);
        return replay;
      },
    );
    const eventsBehind = async (slot: Slot, commitment: 'confirmed' | 'finalized' = 'confirmed') => {
      const topics = [{ name: 'balance' as const, address: ONE }];
      const page = await moved.read({ topics, commitment, since: { slot, index: 0 }, held: [slot] });
      return page?.events.map((event) => [event.slot, event.before?.slot, event.gap && [event.gap.from, event.gap.to]]);
    };
    const known = [102, 100, null];
    t.strictSame(await eventsBehind(100, 'finalized'), [known], 'it waits for no later block to be final');
    for (let i = 0; i < 2; i++)
      t.strictSame(await eventsBehind(100), [known, [110, undefined, [104, 110]], [112, 110, null]]);
    t.strictSame(wanted, [104], 'the feed does not have it');
    history = newHistory();
    replay = {
      from: 106,
      until: 110,
      versions: new Map([[ONE, [107, 109].map((slot) => ({ slot, value: accountOf(slot === 109 ? 5 : 4) }))]]),
    };
    for (let i = 0; i < 2; i++)
      t.strictSame(await eventsBehind(100), [known, [107, undefined, [104, 107]], [109, 107, null], [112, 109, null]]);
    t.strictSame(wanted, [104, 104], 'it has a part');
    history = newHistory();
    replay = { ...replay, from: 104 };
    t.strictSame(await eventsBehind(102), [
      [107, 102, null],
      [109, 107, null],
      [112, 109, null],
    ]);
  });

  t.test('the accounts of all that wait are sent again together, save of those that have left', async (t) => {
    const addresses = Array.from({ length: 8 }, (_, i) => addressFromByte(60 + i));
    const kept = new Map(addresses.map((address) => [address, historyOf(200, 150, 5, address)]));
    const sent: unknown[] = [];
    const calls: { end(): void }[] = [];
    const replaying = replayingLog(
      (address) => kept.get(address),
      200,
      ({ addresses: wanted, since }) =>
        new Promise((resolve, reject) => {
          sent.push([wanted.map((address) => addresses.indexOf(address)), since]);
          const end = (): void => {
            if (wanted.length > 2) reject(new GatewayError('result_too_large', 'too much'));
            else resolve({ from: since, until: 150, versions: new Map() });
          };
          calls.push({ end });
        }),
    );
    const read = async (account: number, slot: Slot, isWanted = true) => {
      const topics = [{ name: 'balance' as const, address: addresses[account] ?? '' }];
      const query = { topics, commitment: 'confirmed', since: { slot, index: 0 }, held: undefined } as const;
      return (await replaying.read(query, () => isWanted))?.events.flatMap(({ gap }) => gap ?? []);
    };
    const reads = [read(0, 100)];
    await turn();
    reads.push(read(1, 90), read(2, 110), read(0, 100), read(2, 100), read(3, 80, false), read(4, 120));
    for (let i = 0; i < 6; i++) {
      await turn();
      calls.shift()?.end();
    }
    t.strictSame(sent, [
      [[0], 100],
      [[1, 2, 4], 90],
      [[1], 90],
      [[2, 4], 100],
    ]);
    t.strictSame((await Promise.all(reads)).flat(), [{ from: 80, to: 150, isAhead: false }]);
  });

  t.test('a feed that does not reach back as far as is needed sends what it has', async (t) => {
    const client = (firstSlot: Slot, lastSlot: Slot) => ({
      firstReplayed: async () => firstSlot,
      subscribe({ onMessage }: FeedListener) {
        const send = (request: Uint8Array): void => {
          const { fromSlot = 0 } = decodeRequest(request);
          for (let slot = fromSlot; slot <= lastSlot; slot++) onMessage(blockUpdate(slot, { filters: ['b1'] }));
        };
        return { isSending: false, send, cancel() {} };
      },
    });
    const replayed = async (firstSlot: Slot, maxBytes = 1 << 20, since = 100) => {
      const until = since + 50;
      const options = { client: client(firstSlot, until), mode: 'blocks', clock: new ManualClock(), maxBytes } as const;
      const replay = await readReplay(options, { addresses: [ONE], since, until });
      return replay && [replay.from, replay.until];
    };
    t.strictSame(await replayed(50), [53, 150]);
    t.strictSame(await replayed(100), [99, 150]);
    t.strictSame(await replayed(1, 1 << 20, 1000), [849, 1050], 'no more than a minute of blocks before them');
    t.strictSame(await replayed(120), [123, 150], 'by some slots it has moved on');
    t.equal(await replayed(149), undefined);
    await t.rejects(replayed(50, 1000), { code: 'result_too_large' });
  });

  t.test('a reader that resumes waits for an account only while that moves to the feed', async (t) => {
    const history = new History<KeptAccount>(member, { slot: 120, isDenied: false }, { slot: 100, value: textOf(1) });
    let isMoving = true;
    const waiting = logOf({
      ring: { get: () => history, finalizedSlot: 0 },
      liveAccounts: { readLive: () => ({ slot: 120, sinceSlot: 100, account: null }) },
      feed: { isStarting: false, replay: async () => undefined },
      isMoving: () => isMoving,
    });
    t.equal(await readBehind(waiting, 50), undefined);
    isMoving = false;
    const events = (await readBehind(waiting, 50))?.events.map(({ slot, gap }) => [slot, gap?.from]);
    t.strictSame(events, [[100, 50]], 'a feed that is up may never keep it');
  });

  t.test('a reader that goes from one process to another misses no change that is not named (law)', async (t) => {
    const block = (lamports?: number, slots = 1): Step => {
      return { kind: 'block', slots, writes: lamports === undefined ? [] : [{ account: 0, lamports }] };
    };
    const begin = (process: number, account: number, lag = 0, isFeed = false): Step => {
      return { kind: 'begin', process, account, lag, isFeed };
    };
    const beginBoth = (process: number): Step[] => [begin(process, 0), begin(process, 1)];
    const follow = (process: number): Step[] =>
      [0, 1].map((account) => ({ kind: 'follow', process, account, isEach: true }));
    const lose = (process: number): Step => ({ kind: 'lose', process, account: 0 });
    const read = (process: number): Step => ({ kind: 'read', process, most: 1000 });
    const forget: Step = { kind: 'forget', process: 0 };
    const before = [...beginBoth(0), lose(0), ...beginBoth(1)];
    const examples = {
      'the ring has dropped what followed the last state that was read': [
        ...[...beginBoth(0), read(0), block(1), block(0), ...follow(0), block(undefined, 13), ...follow(0), forget],
        ...[block(2), ...follow(0), read(0)],
      ],
      'the reader comes from within a gap': [
        ...[...before, block(1), ...follow(1), read(1), block(), begin(0, 0), ...follow(0), read(0)],
      ],
      'the reader has since when the state behind a gap has been so': [
        ...[...before, read(1), block(1), ...follow(1), read(1), block(), begin(0, 0), block(), ...follow(1), read(1)],
        ...[...follow(0), block(2), ...follow(0), read(0)],
      ],
      'an account moves to a feed': [
        ...[...beginBoth(0), block(undefined, 3), ...follow(0), read(0), lose(0), begin(0, 0, 1, true)],
        ...[block(1), ...follow(0), read(0)],
      ],
      'a feed sends a part of what is missing again': [
        ...[
          ...beginBoth(0),
          read(0),
          lose(0),
          block(1),
          block(0),
          block(2, 7),
          begin(0, 0, 0, true),
          ...follow(0),
          read(0),
        ],
      ],
    };
    for (const [what, steps] of Object.entries(examples)) await t.resolves(runSteps(steps), what);

    const [account, process] = [fc.nat(1), fc.nat(1)];
    const writes = fc.array(fc.record({ account, lamports: fc.nat(2) }), { maxLength: 2 });
    const kind = <K extends Step['kind']>(name: K): fc.Arbitrary<K> => fc.constant(name);
    const [slots, lag, most] = [fc.integer({ min: 1, max: 4 }), fc.nat(3), fc.oneof(fc.constant(1000), fc.nat(4))];
    const [isEach, isFeed] = [fc.boolean(), fc.boolean()];
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: kind('block'), slots, writes }) },
      { weight: 6, arbitrary: fc.record({ kind: kind('follow'), process, account, isEach }) },
      { weight: 4, arbitrary: fc.record({ kind: kind('begin'), process, account, lag, isFeed }) },
      { weight: 1, arbitrary: fc.record({ kind: kind('lose'), process, account }) },
      { weight: 2, arbitrary: fc.record({ kind: kind('forget'), process }) },
      { weight: 4, arbitrary: fc.record({ kind: kind('read'), process, most }) },
    );
    const schedule = fc.array(step, { minLength: 10, maxLength: 60, size: 'max' });
    await fc.assert(fc.asyncProperty(schedule, fc.constantFrom('confirmed', 'finalized'), runSteps), { numRuns: 1500 });
  });
});
