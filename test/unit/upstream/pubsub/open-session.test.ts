import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { Commitment } from '../../../../src/domain/commitment.ts';
import { createMesh } from '../../../../src/upstream/mesh/create-mesh.ts';
import type { Mesh } from '../../../../src/upstream/mesh/mesh.ts';
import type { PubsubSession, SubscriptionHandler } from '../../../../src/upstream/pubsub/pubsub-session.ts';
import type { UpstreamSettings } from '../../../../src/upstream/upstream-options.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { advanceUntil, connectScripted, startScriptedNode } from '../../../support/mesh-harness.ts';
import {
  errorBody,
  notificationJson,
  resultBody,
  ScriptedNode,
  subscriptionId,
  waitUntil,
} from '../../../support/scripted-node.ts';
import { UPSTREAM_SETTINGS } from '../../../support/upstream-settings.ts';

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

t.test('a session calls its own node', async (t) => {
  const { mesh, node } = await start(t);
  node.replies.getBalance = '{"context":{"slot":99},"value":5}';
  const session = await mesh.openSession();
  t.match(await session.call('getBalance', ['x', { commitment: 'confirmed' }]), { slot: 99, value: Buffer.from('5') });
});

t.test('a loss is reported once, at once, and to listeners that come later', async (t) => {
  const losses: Record<string, (world: World) => void> = {
    'was closed with code 1006': ({ node }) => [...node.sockets].at(-1)?.terminate(),
    'stopped sending Clock updates': ({ clock }) => clock.advance(UPSTREAM_SETTINGS.silenceMs),
    'took back a confirmed slot': (world) => {
      notify(world, 99, 'confirmed');
      notify(world, 98, 'confirmed');
    },
    'sent a malformed message': (world) => notify(world, 98, 'confirmed', CLOCK, '"'),
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
  t.equal(session.capacity, 1, 'a rejected subscription takes no capacity');
  t.notOk(session.isLost);
});

t.test('two equal subscriptions both get notifications, and one still does when the other stops', async (t) => {
  const world = await start(t);
  world.node.onPubsubRequest = (socket, request) =>
    socket.send(resultBody(request, request.params[0] === CLOCK ? '7' : '8'));
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
    const wire: Socket = (socket as any)._socket; // so that both come in one turn
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

t.test(
  'a session that a node drops is not reopened there at once, but with another node if there is one',
  async (t) => {
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
  },
);
