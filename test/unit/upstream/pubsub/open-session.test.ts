import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { Commitment } from '../../../../src/domain/commitment.ts';
import { connectMesh } from '../../../../src/upstream/mesh/connect-mesh.ts';
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
  const mesh = await connectMesh({
    nodes: [node.nodeOptions('node-1')],
    clock,
    random: () => 0,
    settings: { ...UPSTREAM_SETTINGS, ...settings },
  });
  t.teardown(async () => {
    await mesh.close();
    await node.close();
  });
  await waitUntil(() => mesh.nodes()[0]?.ws === 'up' && node.pubsubRequests.length === 3);
  return { node, mesh, clock };
}

/** Takes down in one list what a line says, in order. */
function listen(said: string[], name: string): SubscriptionHandler {
  return {
    onAcknowledged: () => said.push(`${name} acknowledged`),
    onNotification: (slot, value) => said.push(`${name} ${slot} ${value}`),
    onRejected: () => said.push(`${name} refused`),
  };
}

/** Tells on the newest WebSocket that an account, by default the Clock, has a value at a slot. */
function tell({ node }: World, slot: number, commitment: Commitment, key = CLOCK, value = '0'): void {
  const asked = node.pubsubRequests.findLast(({ params }) => params[0] === key && params[1]?.commitment === commitment);
  if (asked === undefined) throw new Error(`nobody asked for ${key} at ${commitment}`);
  const result = `{"context":{"slot":${slot}},"value":${value}}`;
  [...node.sockets].at(-1)?.send(notificationJson('accountSubscribe', subscriptionId(asked), result));
}

const follow = (line: PubsubSession, said: string[], commitment: Commitment) =>
  line.onClockUpdate(commitment, ({ slot, previous }) => said.push(`beacon ${slot} after ${previous}`));

t.test('notifications and beacons of a line come in the order of the wire', async (t) => {
  const world = await start(t);
  const line = await world.mesh.openSession();
  const said: string[] = [];
  follow(line, said, 'confirmed');
  line.subscribe('accountSubscribe', ['key', { commitment: 'confirmed' }], listen(said, 'key'));
  await waitUntil(() => said.length === 1);
  tell(world, 98, 'confirmed', 'key', '18446744073709551615');
  tell(world, 98, 'confirmed');
  tell(world, 68, 'finalized');
  tell(world, 99, 'confirmed');
  tell(world, 99, 'confirmed', 'key', 'null');
  await waitUntil(() => said.length === 5);
  t.strictSame(said, [
    'key acknowledged',
    'key 98 18446744073709551615',
    'beacon 98 after undefined',
    'beacon 99 after 98',
    'key 99 null',
  ]);
  t.equal(line.nodeId, 'node-1');
});

t.test('a line reads through its own node', async (t) => {
  const { mesh, node } = await start(t);
  node.replies.getBalance = '{"context":{"slot":99},"value":5}';
  const line = await mesh.openSession();
  t.match(await line.call('getBalance', ['x', { commitment: 'confirmed' }]), { slot: 99, value: Buffer.from('5') });
});

t.test('a loss is told once, at once, and to who asks later', async (t) => {
  const losses: Record<string, (world: World) => void> = {
    'was closed': ({ node }) => [...node.sockets].at(-1)?.terminate(),
    'stopped sending Clock updates': ({ clock }) => clock.advance(UPSTREAM_SETTINGS.silenceMs),
    'took back a confirmed slot': (world) => {
      tell(world, 99, 'confirmed');
      tell(world, 98, 'confirmed');
    },
    'sent a malformed message': (world) => tell(world, 98, 'confirmed', CLOCK, '"'),
    'is no longer needed': () => {},
  };
  for (const [reason, lose] of Object.entries(losses)) {
    const world = await start(t);
    const line = await world.mesh.openSession();
    const said: string[] = [];
    line.onLost((why) => said.push(why));
    lose(world);
    if (reason === 'is no longer needed') line.close();
    await waitUntil(() => said.length > 0);
    line.onLost((why) => said.push(`later: ${why}`));
    t.strictSame(said, [reason, `later: ${reason}`]);
    t.ok(line.isLost);
    t.equal(line.capacity, 0);
  }
});

t.test('a line that goes on without beacons is lost', async (t) => {
  const world = await start(t);
  const line = await world.mesh.openSession();
  let lost = '';
  line.onLost((reason) => {
    lost = reason;
  });
  const told: string[] = [];
  line.subscribe('accountSubscribe', ['key', { commitment: 'confirmed' }], listen(told, 'key'));
  await waitUntil(() => told.length === 1);
  for (let slot = 90; lost === ''; slot++) {
    tell(world, 90, 'confirmed', 'key', `${slot}`);
    await waitUntil(() => told.includes(`key 90 ${slot}`));
    world.clock.advance(500);
    if (slot > 100) break;
  }
  t.equal(lost, 'stopped sending Clock updates');
});

t.test('a line takes so many subscriptions and no more', async (t) => {
  const { mesh, node } = await start(t, { subscriptions: 6 });
  const line = await mesh.openSession();
  const said: string[] = [];
  t.equal(line.capacity, 2, 'the beacons and the slots have the rest');
  const stop = line.subscribe('accountSubscribe', ['a'], listen(said, 'a'));
  line.subscribe('accountSubscribe', ['b'], listen(said, 'b'));
  t.throws(() => line.subscribe('accountSubscribe', ['c'], listen(said, 'c')), { code: 'overloaded' });
  stop();
  stop();
  t.equal(line.capacity, 1);
  await waitUntil(() => said.includes('b acknowledged'));
  node.onPubsubRequest = (socket, asked) => socket.send(errorBody(asked, '{"code":-32602,"message":"no"}'));
  line.subscribe('programSubscribe', ['c'], listen(said, 'c'));
  await waitUntil(() => said.includes('c refused'));
  t.equal(line.capacity, 1, 'what is refused takes no room');
  t.notOk(line.isLost);
});

t.test('who wants the same as another hears it, and the other still does when one stops', async (t) => {
  const world = await start(t);
  world.node.onPubsubRequest = (socket, asked) => socket.send(resultBody(asked, asked.params[0] === CLOCK ? '7' : '8'));
  const line = await world.mesh.openSession();
  const said: string[] = [];
  follow(line, said, 'confirmed');
  const params = [CLOCK, { encoding: 'base64', commitment: 'confirmed' }];
  const stop = line.subscribe('accountSubscribe', params, listen(said, 'clock'));
  await waitUntil(() => said.length === 1);
  const beat = (slot: number) =>
    [...world.node.sockets]
      .at(-1)
      ?.send(notificationJson('accountSubscribe', '7', `{"context":{"slot":${slot}},"value":0}`));
  beat(90);
  await waitUntil(() => said.includes('clock 90 0'));
  stop();
  beat(91);
  await waitUntil(() => said.includes('beacon 91 after 90'));
  t.notOk(said.includes('clock 91 0'));
  t.notOk(world.node.pubsubRequests.some(({ method }) => method === 'accountUnsubscribe'));
});

t.test('a line is tried for until it opens, or the mesh is closed', async (t) => {
  const { mesh, node, clock } = await start(t);
  const { onPubsubRequest } = node;
  node.onPubsubRequest = (socket, asked) => socket.send(errorBody(asked, '{"code":-32602,"message":"no"}'));
  let line: PubsubSession | undefined;
  mesh.openSession().then((opened) => {
    line = opened;
  });
  await waitUntil(() => node.pubsubRequests.length > 3);
  node.onPubsubRequest = onPubsubRequest;
  const step = setInterval(() => clock.advance(50), 2);
  t.teardown(() => clearInterval(step));
  await waitUntil(() => line !== undefined);
  await mesh.close();
  t.ok(line?.isLost);
  await t.rejects(mesh.openSession(), { code: 'upstream_unavailable' });
});

t.test('a line that is lost as soon as it is open is not handed out', async (t) => {
  const { mesh, node, clock } = await start(t);
  const { onPubsubRequest } = node;
  node.onPubsubRequest = (socket, asked) => {
    const wire: Socket = (socket as any)._socket; // so that both come in one turn
    wire.cork();
    onPubsubRequest(socket, asked);
    if (asked.id === 3) socket.send('no message'); // the last of its beacons is acknowledged
    wire.uncork();
  };
  let line: PubsubSession | undefined;
  mesh.openSession().then((opened) => {
    line = opened;
  });
  await advanceUntil(clock, () => node.pubsubRequests.length > 9);
  t.equal(line, undefined);
  node.onPubsubRequest = onPubsubRequest;
  await advanceUntil(clock, () => line !== undefined);
  t.notOk(line?.isLost);
});

t.test('lines that a node drops are not opened there again at once, but elsewhere if there is a node', async (t) => {
  const { mesh, node, clock } = await start(t);
  const pausesMs: number[] = [];
  let line: PubsubSession | undefined = await mesh.openSession();
  for (let drop = 0; drop < 4; drop++) {
    const beganMs = clock.monotonic();
    line?.close();
    line = undefined;
    mesh.openSession().then((opened) => {
      line = opened;
    });
    await advanceUntil(clock, () => line !== undefined);
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
