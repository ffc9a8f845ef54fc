import fc from 'fast-check';
import t, { type Test } from 'tap';
import { LiveLogs } from '../../../src/gateway/live/logs/live-logs.ts';
import { RequestBudgets } from '../../../src/gateway/live/request-budget.ts';
import { createMesh } from '../../../src/gateway/upstream/mesh/create-mesh.ts';
import type { Mesh } from '../../../src/gateway/upstream/mesh/mesh.ts';
import { MessageQueue } from '../../../src/gateway/upstream/pubsub/message-queue.ts';
import { type Notification, PubsubChannel } from '../../../src/gateway/upstream/pubsub/pubsub-channel.ts';
import { PubsubCounts } from '../../../src/gateway/upstream/pubsub/pubsub-counts.ts';
import type { PubsubSession, SubscriptionHandler } from '../../../src/gateway/upstream/pubsub/pubsub-session.ts';
import {
  ReconnectingChannel,
  type ReconnectingChannelOptions,
} from '../../../src/gateway/upstream/pubsub/reconnecting-channel.ts';
import { SlotAncestry } from '../../../src/gateway/upstream/pubsub/slot-ancestry.ts';
import { SLOT_SUBSCRIPTION } from '../../../src/gateway/upstream/pubsub/slot-subscriptions.ts';
import {
  isOverLimit,
  type LearnedLimit,
  SubscriptionLimit,
} from '../../../src/gateway/upstream/pubsub/subscription-limit.ts';
import type { UpstreamSettings } from '../../../src/gateway/upstream/upstream-options.ts';
import type { Clock } from '../../../src/shared/domain/clock.ts';
import type { Commitment } from '../../../src/shared/domain/commitment.ts';
import type { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { Deferred } from '../../../src/shared/runtime/deferred.ts';
import { ownTurn } from '../../../src/shared/runtime/own-turn.ts';
import { TurnMeter } from '../../support/longest-turn.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { advanceUntil, connectScripted, startScriptedNode } from '../../support/mesh-harness.ts';
import {
  errorBody,
  notificationJson,
  resultBody,
  ScriptedNode,
  subscriptionId,
  waitUntil,
  wireOf,
} from '../../support/scripted-node.ts';
import { UPSTREAM_SETTINGS } from '../../support/upstream-settings.ts';

t.test('message-queue', async (t) => {
  t.test('the sender is paused above the bound, and resumed below half of it', async (t) => {
    const events: string[] = [];
    let handled = 0;
    const queue = new MessageQueue({
      maxBytes: 1000 * 1128,
      handle() {
        handled++;
        return undefined;
      },
      pause: () => events.push(`paused with ${handled} handled`),
      resume: () => events.push(`resumed with ${handled} handled`),
    });
    for (let n = 0; n < 1200; n++) queue.push(Buffer.alloc(1000));
    t.strictSame(events, ['paused with 0 handled']);
    t.equal(handled, 0, 'push never waits');
    while (handled < 1200) await new Promise(setImmediate);
    t.match(events, ['paused with 0 handled', /^resumed with (7\d\d) handled$/]);
  });

  t.test('other work runs during a flood', async (t) => {
    const handledBefore: number[] = [];
    let handled = 0;
    const handle = () => {
      handled++;
      return undefined;
    };
    const queue = new MessageQueue({ maxBytes: 1e9, handle, pause() {}, resume() {} });
    for (let n = 0; n < 10_000; n++) queue.push(Buffer.from('{}'));
    while (handled < 10_000) {
      await new Promise(setImmediate);
      handledBefore.push(handled);
    }
    t.ok(handledBefore.length > 10 && handledBefore.every((n, turn) => n - (handledBefore[turn - 1] ?? 0) <= 1000));
  });

  t.test('nothing is handled after the queue is closed', async (t) => {
    const handle = async () => void t.fail('handled');
    const queue = new MessageQueue({ maxBytes: 1e9, handle, pause() {}, resume() {} });
    queue.push(Buffer.from('{}'));
    queue.close();
    await new Promise(setImmediate);
    t.pass();
  });
});

t.test('open-session', async (t) => {
  const CLOCK = 'SysvarC1ock11111111111111111111111111111111';

  interface World {
    readonly node: ScriptedNode;
    readonly mesh: Mesh;
    readonly clock: ManualClock;
  }

  async function start(t: Test, settings: Partial<UpstreamSettings> = {}): Promise<World> {
    const node = await ScriptedNode.start();
    const clock = new ManualClock();
    const mesh = createMesh({
      nodes: [node.nodeOptions('node-1')],
      clock,
      random: () => 0,
      settings: { ...UPSTREAM_SETTINGS, ...settings },
    });
    t.teardown(async () => {
      await mesh.close();
      await node.close();
    });
    await mesh.connect();
    await waitUntil(() => mesh.nodes()[0]?.ws === 'up' && node.pubsubRequests.length === 3);
    return { node, mesh, clock };
  }

  /** Records what a session reports, in order, in one list. */
  function recordTo(log: string[], name: string): SubscriptionHandler {
    return {
      onAcknowledged: () => log.push(`${name} acknowledged`),
      onNotification: (slot, value) => log.push(`${name} ${slot} ${value}`),
      onRejected: () => log.push(`${name} rejected`),
      onRefused: () => log.push(`${name} refused`),
    };
  }

  /** Notifies on the newest WebSocket that an account, by default the Clock, has a value at a slot. */
  function notify({ node }: World, slot: number, commitment: Commitment, key = CLOCK, value = '0'): void {
    const request = node.pubsubRequests.findLast(
      ({ params }) => params[0] === key && params[1]?.commitment === commitment,
    );
    if (request === undefined) throw new Error(`no subscription to ${key} at ${commitment}`);
    const result = `{"context":{"slot":${slot}},"value":${value}}`;
    [...node.sockets].at(-1)?.send(notificationJson('accountSubscribe', subscriptionId(request), result));
  }

  const recordClock = (session: PubsubSession, log: string[], commitment: Commitment) =>
    session.onClockUpdate(commitment, ({ slot, previous }) => log.push(`clock ${slot} after ${previous}`));

  t.test('notifications and Clock updates of a session come in the order of the wire', async (t) => {
    const world = await start(t);
    const session = await world.mesh.openSession();
    const log: string[] = [];
    recordClock(session, log, 'confirmed');
    session.subscribe('accountSubscribe', ['key', { commitment: 'confirmed' }], recordTo(log, 'key'));
    await waitUntil(() => log.length === 1);
    notify(world, 98, 'confirmed', 'key', '18446744073709551615');
    notify(world, 98, 'confirmed');
    notify(world, 68, 'finalized');
    notify(world, 99, 'confirmed');
    notify(world, 99, 'confirmed', 'key', 'null');
    await waitUntil(() => log.length === 5);
    t.strictSame(log, [
      'key acknowledged',
      'key 98 18446744073709551615',
      'clock 98 after undefined',
      'clock 99 after 98',
      'key 99 null',
    ]);
    t.equal(session.nodeId, 'node-1');
  });

  t.test('a Clock of megabytes proves nothing, and holds no turn of the event loop', async (t) => {
    const world = await start(t, { maxBytes: 16 << 20 });
    const session = await world.mesh.openSession();
    const log: string[] = [];
    recordClock(session, log, 'confirmed');
    const meter = new TurnMeter();
    notify(world, 98, 'confirmed', CLOCK, `{"data":[[${'{},'.repeat(2_500_000)}{}],"base64"]}`);
    await waitUntil(() => log.length === 1);
    t.strictSame(log, ['clock 98 after undefined']);
    const { longestMs } = meter.lap();
    t.ok(longestMs < 150, `${longestMs} ms; to look at it takes some 700`);
  });

  t.test('logs are notified up to 128 KiB, and longer ones end their subscription with the reason', async (t) => {
    const { node, mesh, clock } = await start(t);
    const budgets = new RequestBudgets(clock, null);
    const logs = new LiveLogs({ mesh, clock, budgets, settings: { logs: 10, callerShare: 1 } });
    t.teardown(() => logs.close());
    const log: string[] = [];
    const subscriber = {
      onReady: () => log.push('ready'),
      onLogs: (slot: number, { length }: string) => log.push(`${slot} ${length}`),
      onEnd: ({ code }: GatewayError) => log.push(code),
    };
    logs.subscribe('key', 'confirmed', subscriber, 'caller');
    await waitUntil(() => log.length === 1);
    const notifyOf = (signature: string, bytes: number) => {
      const value = `{"signature":"${signature}","err":null,"logs":["`.padEnd(bytes - 3, 'x');
      node.notify('logsSubscribe', `{"context":{"slot":98},"value":${value}"]}}`);
    };
    notifyOf('first', 128 * 1024);
    notifyOf('second', 128 * 1024 + 1);
    await waitUntil(() => log.length === 3);
    t.strictSame(log, ['ready', '98 131072', 'result_too_large']);
  });

  t.test("a session that is late does not set its node's slots back, unless it goes back itself", async (t) => {
    const world = await start(t);
    const { mesh, node } = world;
    const session = await mesh.openSession();
    const log: string[] = [];
    session.subscribe('accountSubscribe', ['key', { commitment: 'processed' }], recordTo(log, 'key'));
    await waitUntil(() => log.length === 1);
    const [feed] = node.sockets;
    const slots = node.pubsubRequests.find(({ method }) => method === 'slotSubscribe');
    if (slots === undefined) throw new Error('no subscription to the slots');
    feed?.send(notificationJson('slotSubscribe', subscriptionId(slots), '{"slot":102,"parent":101,"root":68}'));
    await waitUntil(() => mesh.nodes()[0]?.slot === 101);
    for (const [slot, latest] of [
      [99, 101],
      [100, 101],
      [99, 99],
    ] as const) {
      notify(world, slot, 'processed', 'key');
      await waitUntil(() => log.at(-1) === `key ${slot} 0`);
      t.equal(mesh.nodes()[0]?.slot, latest);
    }
  });

  t.test('a session calls its own node', async (t) => {
    const { mesh, node } = await start(t);
    node.replies.getBalance = '{"context":{"slot":99},"value":5}';
    const session = await mesh.openSession();
    t.match(await session.call('getBalance', ['x', { commitment: 'confirmed' }]), {
      slot: 99,
      value: Buffer.from('5'),
    });
  });

  t.test('a loss is reported once, in its turn, and to listeners that come later', async (t) => {
    const losses: Record<string, (world: World) => void> = {
      'was closed with code 1006': ({ node }) => [...node.sockets].at(-1)?.terminate(),
      'stopped sending Clock updates': ({ clock }) => clock.advance(UPSTREAM_SETTINGS.idleTimeoutMs),
      'reverted a confirmed slot': (world) => {
        notify(world, 99, 'confirmed');
        notify(world, 98, 'confirmed');
      },
      'sent a malformed message': (world) => notify(world, 98, 'confirmed', CLOCK, '"\u0001"'),
      'is no longer needed': () => {},
    };
    for (const [reason, lose] of Object.entries(losses)) {
      const world = await start(t);
      const session = await world.mesh.openSession();
      const log: string[] = [];
      session.onLost((reason) => log.push(reason));
      lose(world);
      if (reason === 'is no longer needed') session.close();
      await waitUntil(() => log.length > 0);
      session.onLost((reason) => log.push(`later: ${reason}`));
      t.strictSame(log, [reason, `later: ${reason}`]);
      t.ok(session.isLost);
      t.equal(session.capacity, 0);
    }
  });

  t.test('a session without Clock updates is lost, though notifications arrive', async (t) => {
    const world = await start(t);
    const session = await world.mesh.openSession();
    let lost = '';
    session.onLost((reason) => {
      lost = reason;
    });
    const log: string[] = [];
    session.subscribe('accountSubscribe', ['key', { commitment: 'confirmed' }], recordTo(log, 'key'));
    await waitUntil(() => log.length === 1);
    for (let slot = 90; lost === ''; slot++) {
      notify(world, 90, 'confirmed', 'key', `${slot}`);
      await waitUntil(() => log.includes(`key 90 ${slot}`));
      world.clock.advance(500);
      if (slot > 100) break;
    }
    t.equal(lost, 'stopped sending Clock updates');
  });

  t.test('a session accepts a limited number of subscriptions', async (t) => {
    const { mesh, node } = await start(t, { subscriptions: 6 });
    const session = await mesh.openSession();
    const log: string[] = [];
    t.equal(session.capacity, 2, 'the Clock and the slots have the rest');
    const a = session.subscribe('accountSubscribe', ['a'], recordTo(log, 'a'));
    session.subscribe('accountSubscribe', ['b'], recordTo(log, 'b'));
    t.throws(() => session.subscribe('accountSubscribe', ['c'], recordTo(log, 'c')), { code: 'overloaded' });
    a.stop();
    a.stop();
    t.equal(session.capacity, 1);
    await waitUntil(() => log.includes('b acknowledged'));
    node.onPubsubRequest = (socket, request) => socket.send(errorBody(request, '{"code":-32602,"message":"no"}'));
    session.subscribe('programSubscribe', ['c'], recordTo(log, 'c'));
    await waitUntil(() => log.includes('c rejected'));
    t.equal(session.capacity, 1, 'a rejected subscription uses no capacity');
    t.notOk(session.isLost);
  });

  t.test('two equal subscriptions both get notifications, and one still does when the other stops', async (t) => {
    const world = await start(t);
    world.node.onPubsubRequest = (socket, request) =>
      socket.send(resultBody(request, request.params[1]?.commitment === 'confirmed' ? '7' : subscriptionId(request)));
    const session = await world.mesh.openSession();
    const log: string[] = [];
    recordClock(session, log, 'confirmed');
    const params = [CLOCK, { encoding: 'base64', commitment: 'confirmed' }];
    const clock = session.subscribe('accountSubscribe', params, recordTo(log, 'clock'));
    await waitUntil(() => log.length === 1);
    const beat = (slot: number) =>
      [...world.node.sockets]
        .at(-1)
        ?.send(notificationJson('accountSubscribe', '7', `{"context":{"slot":${slot}},"value":0}`));
    beat(90);
    await waitUntil(() => log.includes('clock 90 0'));
    clock.stop();
    beat(91);
    await waitUntil(() => log.includes('clock 91 after 90'));
    t.notOk(log.includes('clock 91 0'));
    t.notOk(world.node.pubsubRequests.some(({ method }) => method === 'accountUnsubscribe'));
  });

  t.test('a node whose ids leave open whose a notification is has the session closed', async (t) => {
    for (const [id, reason] of [
      ['"sub-A"', 'sent a malformed message'],
      ['null', 'sent a malformed message'],
      ['7', 'gave one id to two subscriptions'],
    ] as const) {
      const { mesh, node } = await start(t);
      const session = await mesh.openSession();
      const log: string[] = [];
      session.onLost((reason) => log.push(reason));
      node.onPubsubRequest = (socket, request) => socket.send(resultBody(request, id));
      for (const key of ['a', 'b'])
        session.subscribe('accountSubscribe', [key, { commitment: 'confirmed' }], recordTo([], key));
      await waitUntil(() => log.length > 0);
      t.same(log, [reason], id);
    }
  });

  t.test('opening a session is retried until it succeeds or the mesh is closed', async (t) => {
    const { mesh, node, clock } = await start(t);
    const { onPubsubRequest } = node;
    node.onPubsubRequest = (socket, request) => socket.send(errorBody(request, '{"code":-32602,"message":"no"}'));
    let session: PubsubSession | undefined;
    mesh.openSession().then((opened) => {
      session = opened;
    });
    await waitUntil(() => node.pubsubRequests.length > 3);
    node.onPubsubRequest = onPubsubRequest;
    const step = setInterval(() => clock.advance(50), 2);
    t.teardown(() => clearInterval(step));
    await waitUntil(() => session !== undefined);
    await mesh.close();
    t.ok(session?.isLost);
    await t.rejects(mesh.openSession(), { code: 'upstream_unavailable' });
  });

  t.test('a session that is lost as soon as it is open is not returned', async (t) => {
    const { mesh, node, clock } = await start(t);
    const { onPubsubRequest } = node;
    node.onPubsubRequest = (socket, request) => {
      const wire = wireOf(socket); // so that both come in one turn
      wire.cork();
      onPubsubRequest(socket, request);
      if (request.id === 3) socket.send('no message'); // the last subscription to the Clock is acknowledged
      wire.uncork();
    };
    let session: PubsubSession | undefined;
    mesh.openSession().then((opened) => {
      session = opened;
    });
    await advanceUntil(clock, () => node.pubsubRequests.length > 9);
    t.equal(session, undefined);
    node.onPubsubRequest = onPubsubRequest;
    await advanceUntil(clock, () => session !== undefined);
    t.notOk(session?.isLost);
  });

  t.test('a session that a node drops is reopened with another node, or there a while later', async (t) => {
    const { mesh, node, clock } = await start(t);
    const pausesMs: number[] = [];
    let session: PubsubSession | undefined = await mesh.openSession();
    for (let drop = 0; drop < 4; drop++) {
      const beganMs = clock.monotonic();
      session?.close();
      session = undefined;
      mesh.openSession().then((opened) => {
        session = opened;
      });
      await advanceUntil(clock, () => session !== undefined);
      pausesMs.push(clock.monotonic() - beganMs);
    }
    t.ok(
      pausesMs.every((ms) => ms >= UPSTREAM_SETTINGS.backoffMinMs),
      `${pausesMs}`,
    );

    const other = await startScriptedNode(t);
    const two = await connectScripted(t, [node, other]);
    const first = await two.mesh.openSession();
    first.close();
    const second = await two.mesh.openSession();
    t.not(second.nodeId, first.nodeId, 'without a pause');
  });
});

t.test('pubsub-channel', async (t) => {
  /** Opens a channel, and returns what subscribes to an account over it until the returned function is called. */
  async function open(t: Test, prepare: (server: ScriptedNode) => void = () => {}) {
    const server = await ScriptedNode.start();
    prepare(server);
    const { promise: ready, resolve: onReady } = new Deferred();
    const channel = new PubsubChannel({
      node: server.nodeOptions('node-1'),
      settings: UPSTREAM_SETTINGS,
      clock: new ManualClock(),
      counts: new PubsubCounts(),
      verifyGenesis: async () => {},
      onReady,
      onClose() {},
    });
    t.teardown(() => {
      channel.close('the test is over');
      return server.close();
    });
    await ready;
    const subscribe = (key: string, onResult: (result: string) => void = () => {}) => {
      const onNotification = ({ result }: Notification) => onResult(`${result}`);
      const subscription = { method: 'accountSubscribe', onNotification, onAcknowledged() {}, onRejected() {} };
      channel.subscribe(subscription, [key]);
      return () => channel.unsubscribe(subscription);
    };
    return { server, subscribe };
  }

  t.test('notifications reach their subscriber, though the ids differ beyond a double', async (t) => {
    const { server, subscribe } = await open(t);
    const received: string[] = [];
    for (const key of ['a', 'b']) subscribe(key, (result) => received.push(`${key} ${result}`));
    await waitUntil(() => server.pubsubRequests.length === 2);
    const [socket] = server.sockets;
    for (const [index, request] of server.pubsubRequests.entries())
      socket?.send(notificationJson(request.method, subscriptionId(request), `18446744073709551615${index}`));
    await waitUntil(() => received.length === 2);
    t.strictSame(received, ['a 184467440737095516150', 'b 184467440737095516151']);
  });

  t.test('a stopped subscription is unsubscribed, even before the acknowledgement', async (t) => {
    const { server, subscribe } = await open(t);
    const received: string[] = [];
    const stop = subscribe('a', (result) => received.push(result));
    await waitUntil(() => server.pubsubRequests.length === 1);
    server.notify('accountSubscribe', '1');
    await waitUntil(() => received.length === 1);
    stop();
    server.notify('accountSubscribe', '2');
    subscribe('b')();
    await waitUntil(() => server.pubsubRequests.length === 4);
    t.match(
      server.pubsubRequests.slice(1).map(({ text }) => text),
      [
        /"accountUnsubscribe","params":\[18446744073709510001\]/,
        /"accountSubscribe","params":\["b"\]/,
        /"accountUnsubscribe","params":\[18446744073709510003\]/,
      ],
    );
    t.strictSame(received, ['1']);
  });

  for (const sharesIds of [true, false]) {
    const ids = sharesIds ? 'one id' : 'an id of its own';
    t.test(`a stopped subscription ends no equal one, to which the node gives ${ids}`, async (t) => {
      const subscribed = new Map<string, string>();
      const { server, subscribe } = await open(t, (server) => {
        server.onPubsubRequest = (socket, { id, method, params, text }) => {
          const key = String(params[0]);
          const nodeId = sharesIds && key === 'a' ? '7' : String(id);
          if (method.endsWith('Unsubscribe')) subscribed.delete(key);
          else subscribed.set(nodeId, key);
          socket.send(resultBody({ id, method, params, text }, nodeId));
          if (key === 'a') socket.send(notificationJson(method, nodeId, '0'));
        };
      });
      let notifications = 0;
      const subscribeA = () => subscribe('a', () => notifications++);
      const idsOfA = () => [...subscribed].filter(([, key]) => key === 'a').length;
      const areAllHandled = async () => {
        const barrier = `barrier ${server.pubsubRequests.length}`;
        subscribe(barrier);
        await waitUntil(() => [...subscribed.values()].includes(barrier));
      };
      subscribeA()();
      const stopSecond = subscribeA();
      await waitUntil(() => notifications === 1);
      await areAllHandled();
      t.equal(idsOfA(), 1, 'while none was answered');

      const stopThird = subscribeA();
      stopSecond();
      await waitUntil(() => notifications === 2);
      await areAllHandled();
      t.equal(idsOfA(), 1, 'while the other one was not answered');

      stopThird();
      await areAllHandled();
      t.equal(idsOfA(), 0, 'the last of them');
    });
  }

  t.test('ids of its own are given back while an equal subscription is always on its way', async (t) => {
    const ids = new Set<string>();
    const held: (() => void)[] = [];
    const { server, subscribe } = await open(t, (server) => {
      server.onPubsubRequest = (socket, { id, method, params, text }) => {
        if (method.endsWith('Unsubscribe')) ids.delete(String(params[0]));
        else ids.add(String(id));
        const answer = (): void => socket.send(resultBody({ id, method, params, text }, String(id)));
        if (params[0] === 'a') held.push(answer);
        else answer();
      };
    });
    for (let i = 1; i <= 10; i++) {
      subscribe('a')();
      await waitUntil(() => server.pubsubRequests.filter(({ params }) => params[0] === 'a').length === i);
      if (i > 1) held.shift()?.();
    }
    await waitUntil(() => ids.size <= 3);
    t.pass('not one for each of them');
  });
});

t.test('reconnecting-channel', async (t) => {
  interface World {
    readonly server: ScriptedNode;
    readonly clock: ManualClock;
    readonly channel: ReconnectingChannel;
    /** Each change of status, with its reason. */
    readonly changes: string[];
    /** Notifications of the slots that {@link open} subscribes to. */
    readonly slots: string[];
  }

  interface OpenOptions {
    readonly settings?: Partial<UpstreamSettings>;
    readonly admit?: ReconnectingChannelOptions['verifyGenesis'];
    /** Returns the subscriptions beside that to slots. Default: none. */
    readonly others?: (clock: ManualClock) => ReconnectingChannelOptions['subscriptions'];
  }

  async function open(
    t: Test,
    { settings = {}, admit: verifyGenesis = async () => {}, others = () => [] }: OpenOptions = {},
    prepare: (server: ScriptedNode) => void = () => {},
  ): Promise<World> {
    const server = await ScriptedNode.start();
    prepare(server);
    const clock = new ManualClock();
    const changes: string[] = [];
    const slots: string[] = [];
    const channel = new ReconnectingChannel({
      node: server.nodeOptions('node-1'),
      deps: { clock, random: () => 0, settings: { ...UPSTREAM_SETTINGS, ...settings } },
      counts: new PubsubCounts(),
      verifyGenesis,
      subscriptions: [
        {
          ...SLOT_SUBSCRIPTION,
          onNotification: ({ result }) => void slots.push(`${result}`),
          onRejected: () => t.fail('no slots'),
        },
        ...others(clock),
      ],
      onStatus: (status, reason) => changes.push(`${status}: ${reason}`),
    });
    t.teardown(async () => {
      channel.close();
      await server.close();
    });
    return { server, clock, channel, changes, slots };
  }

  const isUp = ({ channel }: World) => waitUntil(() => channel.status === 'up');
  /** Waits for the loss, lets the pause pass, and waits until the channel is up again. */
  async function comesBack({ server, clock, channel }: World): Promise<void> {
    await waitUntil(() => channel.status === 'down');
    await waitUntil(() => server.sockets.size === 0);
    clock.advance(UPSTREAM_SETTINGS.backoffMinMs);
    await waitUntil(() => channel.status === 'up');
  }

  t.test('a notification right behind the acknowledgement is not lost', async (t) => {
    const world = await open(t, {}, (server) => {
      server.onPubsubRequest = (socket, request) => {
        const notifications = [1, 2, 3].map((slot) =>
          notificationJson('slotSubscribe', subscriptionId(request), `${slot}`),
        );
        const raw = wireOf(socket); // all four in one segment
        raw.cork();
        for (const message of [resultBody(request, subscriptionId(request)), ...notifications]) socket.send(message);
        raw.uncork();
      };
    });
    await waitUntil(() => world.slots.length === 3);
    t.strictSame(world.slots, ['1', '2', '3']);
  });

  t.test('a loss is reported immediately, and everything is subscribed again', async (t) => {
    const losses: Record<string, (world: World) => void> = {
      'a clean close': ({ server }) => {
        for (const socket of server.sockets) socket.close(1000);
      },
      'a cut': ({ server }) => {
        for (const socket of server.sockets) socket.terminate();
      },
      'a garbled message': ({ server }) => {
        for (const socket of server.sockets) socket.send('{"jsonrpc":"2.0","method":"slotNoti');
      },
      'an oversized message': ({ server }) => {
        for (const socket of server.sockets) socket.send(`"${'x'.repeat(UPSTREAM_SETTINGS.maxBytes)}"`);
      },
      silence: ({ clock }) => clock.advance(UPSTREAM_SETTINGS.idleTimeoutMs),
    };
    for (const [name, lose] of Object.entries(losses)) {
      const world = await open(t);
      await isUp(world);
      lose(world);
      await comesBack(world);
      world.server.notify('slotSubscribe', '7');
      await waitUntil(() => world.slots.length === 1);
      t.equal(world.server.pubsubRequests.length, 2, name);
      t.match(world.changes, ['up: is up', /^down: /, 'up: is up'], name);
    }
  });

  t.test('a node that sends something now and then is not silent', async (t) => {
    const world = await open(t);
    await isUp(world);
    for (let n = 1; n <= 5; n++) {
      world.clock.advance(UPSTREAM_SETTINGS.idleTimeoutMs - 1);
      world.server.notify('slotSubscribe', `${n}`);
      await waitUntil(() => world.slots.length === n);
    }
    t.equal(world.channel.status, 'up');
    world.clock.advance(UPSTREAM_SETTINGS.idleTimeoutMs - 1);
    t.equal(world.channel.status, 'up');
    world.clock.advance(1);
    t.equal(world.changes.at(-1), 'down: fell silent');
  });

  t.test('a node that leaves a ping unanswered is lost, though messages come', async (t) => {
    const world = await open(t, { settings: { idleTimeoutMs: 1e9 } });
    await isUp(world); // so the first pong has come: it was sent before the acknowledgement
    const pinged = new Promise((resolve) => [...world.server.sockets][0]?.once('ping', resolve));
    world.server.answersPings = false;
    world.clock.advance(UPSTREAM_SETTINGS.pingMs);
    await pinged;
    t.equal(world.channel.status, 'up', 'the first was answered');
    world.server.notify('slotSubscribe', '1');
    await waitUntil(() => world.slots.length === 1);
    world.clock.advance(UPSTREAM_SETTINGS.pingMs);
    t.equal(world.changes.at(-1), 'down: left a ping unanswered');
  });

  t.test('a node that does not acknowledge is lost', async (t) => {
    const world = await open(t, { settings: { idleTimeoutMs: 1e9, pingMs: 1e9 } }, (server) => {
      server.onPubsubRequest = () => {};
    });
    await waitUntil(() => world.server.pubsubRequests.length === 1);
    world.clock.advance(UPSTREAM_SETTINGS.ackTimeoutMs);
    t.strictSame(world.changes, ['down: left a subscription unanswered']);
  });

  t.test('a rejected subscription is reported to its subscriber alone', async (t) => {
    let refused = 0;
    const rejected = {
      ...{ method: 'programSubscribe', params: ['x'] },
      onNotification: () => t.fail('nothing was subscribed'),
      onRejected: () => void refused++,
    };
    const world = await open(t, { others: () => [rejected] }, (server) => {
      server.onPubsubRequest = (socket, request) =>
        socket.send(
          request.method === 'slotSubscribe'
            ? resultBody(request, subscriptionId(request))
            : errorBody(request, '{"code":-32601,"message":"Method not found"}'),
        );
    });
    await waitUntil(() => refused === 1);
    t.equal(world.channel.status, 'up');
  });

  t.test('nothing is subscribed on a channel that fails the genesis check', async (t) => {
    let admitted = false;
    const world = await open(t, { admit: () => (admitted ? Promise.resolve() : Promise.reject(new Error('no'))) });
    await waitUntil(() => world.changes.length === 1);
    t.strictSame(world.changes, ['down: failed the genesis check']);
    t.equal(world.server.pubsubRequests.length, 0);
    admitted = true;
    await comesBack(world);
    t.equal(world.server.pubsubRequests.length, 1);
  });

  t.test('a flood arrives whole and in order, paused while the gateway is busy', async (t) => {
    const count = 20_000;
    const world = await open(t, { settings: { maxBytes: 100_000 } });
    await isUp(world);
    for (let slot = 0; slot < count; slot++) world.server.notify('slotSubscribe', `${slot}`);
    await waitUntil(() => world.slots.length === count);
    t.ok(world.slots.every((slot, index) => slot === `${index}`));
    t.equal(world.channel.status, 'up');
  });

  t.test('a long notification is read in turns of the event loop, and what follows it waits', async (t) => {
    const world = await open(t, { settings: { maxBytes: 16 << 20 } });
    await isUp(world);
    const long = `{"context":{"slot":7},"value":[${'1,'.repeat(4_000_000)}1]}`;
    world.server.notify('slotSubscribe', long);
    world.server.notify('slotSubscribe', '8');
    const meter = new TurnMeter();
    await waitUntil(() => world.slots.length === 2);
    const { longestMs } = meter.lap();
    t.ok(world.slots[0] === long && world.slots[1] === '8');
    t.ok(longestMs < 60, `${longestMs} ms; in one turn it takes some 300`);
  });

  t.test('a long notification waits behind no other long work', async (t) => {
    const world = await open(t);
    await isUp(world);
    let left = 50_000;
    const work = Array.from({ length: left }, () => ownTurn().then(() => left--));
    world.server.notify('slotSubscribe', `{"context":{"slot":7},"value":"${'x'.repeat(500_000)}"}`);
    await waitUntil(() => world.slots.length === 1);
    t.ok(left > 0);
    await Promise.all(work);
  });

  t.test('a flood that stays too much for two seconds closes the channel', async (t) => {
    const world = await open(t, {
      settings: { maxBytes: 100_000, idleTimeoutMs: 1e9, pingMs: 1e9 },
      others: (clock) => [{ ...SLOT_SUBSCRIPTION, onNotification: () => clock.advance(50), onRejected() {} }], // the time that each takes
    });
    await isUp(world);
    await waitUntil(() => world.server.pubsubRequests.length === 2);
    for (let slot = 0; slot < 20_000; slot++) world.server.notify('slotSubscribe', `${slot}`);
    await waitUntil(() => world.changes.length === 2);
    t.equal(world.changes[1], 'down: sent more than could be read');
  });

  t.test('reconnects are spread between the shortest and the longest pause', async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 4, maxLength: 6 }),
        async (luck) => {
          const pauses: number[] = [];
          const retries: (() => void)[] = [];
          const clock: Clock = {
            now: () => 0,
            monotonic: () => 0,
            after: (ms, work) => {
              pauses.push(ms);
              retries.push(work);
              return () => {};
            },
          };
          const channel = new ReconnectingChannel({
            node: { id: 'gone', url: '', wsUrl: 'ws://127.0.0.1:1' }, // no server listens on port 1
            deps: { clock, random: () => luck[pauses.length] ?? 0, settings: UPSTREAM_SETTINGS },
            counts: new PubsubCounts(),
            verifyGenesis: async () => {},
            subscriptions: [],
            onStatus: () => {},
          });
          for (let n = 0; n < luck.length; n++) {
            await waitUntil(() => retries.length > n);
            retries[n]?.();
          }
          channel.close();
          const limits = [500, ...Array(luck.length - 1).fill(1000)];
          t.strictSame(
            pauses.slice(0, luck.length),
            limits.map((limit, n) => 250 + (luck[n] ?? 0) * (limit - 250)),
          );
        },
      ),
      { numRuns: 5 },
    );
  });
});

t.test('slot-ancestry', async (t) => {
  t.test('a slot is on another fork than the chains that skip it, as far as the parents are known', async () => {
    // Each slot is built on one of those before it.
    const tree = fc.array(fc.nat(), { minLength: 2, maxLength: 200 });
    fc.assert(
      fc.property(tree, fc.nat(), fc.nat(), (seeds, one, two) => {
        const ancestry = new SlotAncestry();
        const parents = seeds.map((seed, slot) => (slot === 0 ? -1 : seed % slot));
        for (const [slot, parent] of parents.entries()) if (slot > 0) ancestry.record(slot, parent);
        const [slot, tip] = [one % seeds.length, two % seeds.length];
        const chain = new Set<number>();
        for (let at = tip; at >= 0; at = parents[at] ?? -1) chain.add(at);
        return ancestry.isOnAnotherFork(slot, tip) === (slot < tip && !chain.has(slot));
      }),
    );
  });

  t.test('unknown parents put no slot on another fork', async (t) => {
    const ancestry = new SlotAncestry();
    t.notOk(ancestry.isOnAnotherFork(9, 10));
    ancestry.record(12, 11);
    t.notOk(ancestry.isOnAnotherFork(10, 12), 'the parent of 11 is unknown');
    ancestry.record(11, 12);
    t.notOk(ancestry.isOnAnotherFork(10, 12), 'nor is a slot built on a later one');
    ancestry.record(11, 9);
    t.ok(ancestry.isOnAnotherFork(10, 12));
    for (let slot = 13; slot < 400; slot++) ancestry.record(slot, slot - 1);
    t.notOk(ancestry.isOnAnotherFork(10, 399), 'long ago is forgotten');
  });
});

t.test('subscription-limit', async (t) => {
  const DAY_MS = 24 * 60 * 60 * 1000;

  function open(cap: number | null = null) {
    const clock = new ManualClock();
    let learned: LearnedLimit | undefined;
    const learnedLimits = {
      get: () => learned,
      set: (_: string, value: LearnedLimit) => {
        learned = value;
      },
    };
    const create = () => new SubscriptionLimit({ clock, cap, wsUrl: 'ws://a', learnedLimits });
    return { clock, limit: create(), create };
  }

  t.test('the limit starts at 1,000 and doubles each time that a WebSocket has reached it', async (t) => {
    const { limit, create } = open();
    t.equal(limit.current, 1000);
    limit.onAcknowledged(999, false);
    t.equal(limit.current, 1000);
    for (let count = 1000; count <= 64_000; count *= 2) limit.onAcknowledged(count, true);
    t.equal(limit.current, 128_000);
    t.equal(create().current, 128_000, 'the next process goes on with it');
  });

  t.test('a refusal leaves what was accepted, at least half, and is not tried again for a day', async (t) => {
    const { clock, limit, create } = open();
    limit.onAcknowledged(1000, true);
    limit.onRefused(1450);
    t.equal(limit.current, 1450);
    limit.onAcknowledged(1450, true);
    t.equal(limit.current, 1450);
    t.notOk(limit.mayGrow || create().mayGrow);
    clock.advance(DAY_MS + 1);
    t.ok(limit.mayGrow);
    limit.onAcknowledged(1450, true);
    t.equal(limit.current, 2900);

    const strict = open().limit;
    for (const expected of [500, 250, 125, 100, 100]) {
      // as one WebSocket after another finds out
      strict.onRefused(100);
      t.equal(strict.current, expected);
    }
  });

  t.test('a loss halves it, unless it is the first of an accepted number, or the number is small', async (t) => {
    const { limit } = open();
    limit.onLost(16);
    t.equal(limit.current, 1000);
    limit.onLost(900);
    t.equal(limit.current, 500);
    limit.onAcknowledged(500, true);
    t.equal(limit.current, 500, 'a thousand has failed');
    limit.onLost(400);
    t.equal(limit.current, 500, 'the node may have been restarted');
    limit.onLost(400);
    t.equal(limit.current, 250, 'it happens again');
    limit.onLost(400);
    t.equal(limit.current, 250, 'that is known');
    for (let i = 0; i < 20; i++) limit.onLost(limit.current);
    t.equal(limit.current, 15, 'this number is always accepted');
  });

  t.test('a number in the config is a cap', async (t) => {
    const { limit } = open(40);
    t.equal(limit.current, 40);
    limit.onAcknowledged(40, true);
    t.equal(limit.current, 40);
    t.notOk(limit.mayGrow);
    limit.onRefused(30);
    t.equal(limit.current, 30);
  });

  t.test('a refusal for want of room is distinguished from one of the subscription itself', async (t) => {
    const refused = (method: string, error: string) => isOverLimit(method, Buffer.from(error));
    const room = [
      [
        'accountSubscribe',
        '{"code":-32603,"message":"Internal Error: Subscription refused. Node subscription limit reached"}',
      ],
      [
        'programSubscribe',
        '{"code":-32603,"message":"Internal Error: Subscription refused. Node subscription limit reached"}',
      ],
      [
        'accountSubscribe',
        '{"code":7429,"message":"Server error: subcription method exceeded limit: accountSubscribe"}',
      ],
      ['accountSubscribe', '{"code":-32000,"message":"no"}'],
      ['accountSubscribe', '{"code":-32602,"message":"Too many subscriptions"}'],
    ] as const;
    const itself = [
      ['accountSubscribe', '{"code":-32602,"message":"Invalid Request: Invalid pubkey provided"}'],
      ['accountSubscribe', '{"code":-32601,"message":"Method not found"}'],
      ['programSubscribe', '{"code":-32000,"message":"not available on this plan"}'],
      ['accountSubscribe', '7'],
    ] as const;
    const refusals = room.map(([method, error]) => refused(method, error));
    t.strictSame(
      refusals,
      room.map(() => true),
    );
    const ownRefusals = itself.map(([method, error]) => refused(method, error));
    t.strictSame(
      ownRefusals,
      itself.map(() => false),
    );
  });
});
