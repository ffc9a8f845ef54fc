import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { Clock } from '../../../../src/domain/clock.ts';
import { PubsubCounts } from '../../../../src/upstream/pubsub/pubsub-counts.ts';
import { type FeedOptions, ReconnectingFeed } from '../../../../src/upstream/pubsub/reconnecting-feed.ts';
import type { UpstreamSettings } from '../../../../src/upstream/upstream-options.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  errorBody,
  notificationJson,
  resultBody,
  ScriptedNode,
  subscriptionId,
  waitUntil,
} from '../../../support/scripted-node.ts';
import { UPSTREAM_SETTINGS } from '../../../support/upstream-settings.ts';

interface World {
  readonly server: ScriptedNode;
  readonly clock: ManualClock;
  readonly feed: ReconnectingFeed;
  /** Each change of status, with its reason. */
  readonly changes: string[];
  /** Notifications of the slots that {@link open} subscribes to. */
  readonly slots: string[];
}

async function open(
  t: Test,
  {
    settings = {},
    admit: verifyGenesis = async () => {},
  }: { settings?: Partial<UpstreamSettings>; admit?: FeedOptions['verifyGenesis'] } = {},
  prepare: (server: ScriptedNode) => void = () => {},
): Promise<World> {
  const server = await ScriptedNode.start();
  prepare(server);
  const clock = new ManualClock();
  const changes: string[] = [];
  const slots: string[] = [];
  const feed = new ReconnectingFeed({
    node: server.nodeOptions('node-1'),
    deps: { clock, random: () => 0, settings: { ...UPSTREAM_SETTINGS, ...settings } },
    counts: new PubsubCounts(),
    verifyGenesis,
    onStatus: (status, reason) => changes.push(`${status}: ${reason}`),
  });
  feed.subscribe('slotSubscribe', [], (slot) => slots.push(`${slot}`));
  t.teardown(async () => {
    feed.close();
    await server.close();
  });
  return { server, clock, feed, changes, slots };
}

const isUp = ({ feed }: World) => waitUntil(() => feed.status === 'up');
/** Waits for the loss, lets the pause pass, and waits until the feed is up again. */
async function comesBack({ server, clock, feed }: World): Promise<void> {
  await waitUntil(() => feed.status === 'down');
  await waitUntil(() => server.sockets.size === 0);
  clock.advance(UPSTREAM_SETTINGS.backoffMinMs);
  await waitUntil(() => feed.status === 'up');
}

t.test('a notification right behind the acknowledgement is not lost', async (t) => {
  const world = await open(t, {}, (server) => {
    server.onPubsubRequest = (socket, request) => {
      const notifications = [1, 2, 3].map((slot) =>
        notificationJson('slotSubscribe', subscriptionId(request), `${slot}`),
      );
      const raw = (socket as any)._socket; // all four in one segment
      raw.cork();
      for (const message of [resultBody(request, subscriptionId(request)), ...notifications]) socket.send(message);
      raw.uncork();
    };
  });
  await waitUntil(() => world.slots.length === 3);
  t.strictSame(world.slots, ['1', '2', '3']);
});

t.test('notifications reach their subscriber, though the ids differ beyond a double', async (t) => {
  const world = await open(t);
  const received: string[] = [];
  for (const key of ['a', 'b']) {
    world.feed.subscribe('accountSubscribe', [key], (result) => received.push(`${key} ${result}`));
  }
  await waitUntil(() => world.server.pubsubRequests.length === 3);
  const [socket] = world.server.sockets;
  for (const [index, request] of world.server.pubsubRequests.entries()) {
    socket?.send(notificationJson(request.method, subscriptionId(request), `18446744073709551615${index}`));
  }
  await waitUntil(() => received.length === 2);
  t.strictSame(received, ['a 184467440737095516151', 'b 184467440737095516152']);
  t.strictSame(world.slots, ['184467440737095516150']);
});

t.test('a stopped subscription is unsubscribed, even before the acknowledgement', async (t) => {
  const world = await open(t);
  await isUp(world);
  const received: string[] = [];
  const stop = world.feed.subscribe('accountSubscribe', ['a'], (result) => received.push(`${result}`));
  await waitUntil(() => world.server.pubsubRequests.length === 2);
  world.server.notify('accountSubscribe', '1');
  await waitUntil(() => received.length === 1);
  stop();
  world.server.notify('accountSubscribe', '2');
  world.feed.subscribe('accountSubscribe', ['b'], () => {})();
  await waitUntil(() => world.server.pubsubRequests.length === 5);
  t.match(
    world.server.pubsubRequests.slice(2).map(({ text }) => text),
    [
      /"accountUnsubscribe","params":\[18446744073709510002\]/,
      /"accountSubscribe","params":\["b"\]/,
      /"accountUnsubscribe","params":\[18446744073709510004\]/,
    ],
  );
  t.strictSame(received, ['1']);
});

t.test('a loss is reported at once, and everything is subscribed again', async (t) => {
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
    silence: ({ clock }) => clock.advance(UPSTREAM_SETTINGS.silenceMs),
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
    world.clock.advance(UPSTREAM_SETTINGS.silenceMs - 1);
    world.server.notify('slotSubscribe', `${n}`);
    await waitUntil(() => world.slots.length === n);
  }
  t.equal(world.feed.status, 'up');
  world.clock.advance(UPSTREAM_SETTINGS.silenceMs - 1);
  t.equal(world.feed.status, 'up');
  world.clock.advance(1);
  t.equal(world.changes.at(-1), 'down: fell silent');
});

t.test('a node that leaves a ping unanswered is lost, though messages come', async (t) => {
  const world = await open(t, { settings: { silenceMs: 1e9 } });
  await isUp(world); // so the first pong has come: it was sent before the acknowledgement
  const pinged = new Promise((resolve) => [...world.server.sockets][0]?.once('ping', resolve));
  world.server.answersPings = false;
  world.clock.advance(UPSTREAM_SETTINGS.pingMs);
  await pinged;
  t.equal(world.feed.status, 'up', 'the first was answered');
  world.server.notify('slotSubscribe', '1');
  await waitUntil(() => world.slots.length === 1);
  world.clock.advance(UPSTREAM_SETTINGS.pingMs);
  t.equal(world.changes.at(-1), 'down: left a ping unanswered');
});

t.test('a node that does not acknowledge is lost', async (t) => {
  const world = await open(t, { settings: { silenceMs: 1e9, pingMs: 1e9 } }, (server) => {
    server.onPubsubRequest = () => {};
  });
  await waitUntil(() => world.server.pubsubRequests.length === 1);
  world.clock.advance(UPSTREAM_SETTINGS.ackMs);
  t.strictSame(world.changes, ['down: left a subscription unanswered']);
});

t.test('a rejected subscription is reported to its subscriber alone', async (t) => {
  const world = await open(t, {}, (server) => {
    server.onPubsubRequest = (socket, request) =>
      socket.send(
        request.method === 'slotSubscribe'
          ? resultBody(request, subscriptionId(request))
          : errorBody(request, '{"code":-32601,"message":"Method not found"}'),
      );
  });
  let refused = 0;
  world.feed.subscribe(
    'programSubscribe',
    ['x'],
    () => t.fail('nothing was subscribed'),
    () => refused++,
  );
  await waitUntil(() => refused === 1);
  t.equal(world.feed.status, 'up');
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
  t.equal(world.feed.status, 'up');
});

t.test('a flood that stays too much for two seconds closes the channel', async (t) => {
  const world = await open(t, { settings: { maxBytes: 100_000, silenceMs: 1e9, pingMs: 1e9 } });
  await isUp(world);
  world.feed.subscribe('slotSubscribe', [], () => world.clock.advance(50)); // the time that each takes
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
        const feed = new ReconnectingFeed({
          node: { id: 'gone', url: '', wsUrl: 'ws://127.0.0.1:1' }, // no server listens on port 1
          deps: { clock, random: () => luck[pauses.length] ?? 0, settings: UPSTREAM_SETTINGS },
          counts: new PubsubCounts(),
          verifyGenesis: async () => {},
          onStatus: () => {},
        });
        for (let n = 0; n < luck.length; n++) {
          await waitUntil(() => retries.length > n);
          retries[n]?.();
        }
        feed.close();
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
