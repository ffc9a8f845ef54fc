import t, { type Test } from 'tap';
import { createGenesis } from '../../../../src/localnet/cluster-genesis.ts';
import { type InThreadCluster, startInThreadCluster } from '../../../../src/localnet/in-thread-cluster.ts';
import type { Mesh } from '../../../../src/upstream/mesh/mesh.ts';
import type { PubsubSession } from '../../../../src/upstream/pubsub/pubsub-session.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  advanceUntil,
  answeringPort,
  brokenReply,
  CONFIRMED,
  connectMeshTo,
  connectScripted,
  errorReply,
  notifyAll,
  startScriptedNode,
} from '../../../support/mesh-harness.ts';
import { resultBody, type ScriptedNode, waitUntil } from '../../../support/scripted-node.ts';
import { setupStore } from '../../../support/setup-store.ts';
import { UPSTREAM_SETTINGS } from '../../../support/upstream-settings.ts';

const FOREVER = { settings: { ...UPSTREAM_SETTINGS, silenceMs: 1e9 } };
const CLOCK = 'SysvarC1ock11111111111111111111111111111111';

const supplyAt = (node: ScriptedNode, slot: number): void => {
  node.replies.getTokenSupply = (response, request) =>
    response.end(resultBody(request, `{"context":{"slot":${slot}},"value":${node.port}}`));
};

/** Two nodes of one chain on one clock, and a mesh over them. */
async function twins(t: Test) {
  const clock = new ManualClock();
  const genesis = createGenesis(new Uint8Array(32).fill(7), clock.now());
  const clusters = [
    await startInThreadCluster(clock, genesis, { transactionsPerSlot: 0, skipEvery: 0 }, setupStore),
    await startInThreadCluster(clock, genesis, { transactionsPerSlot: 0, skipEvery: 0 }, setupStore),
  ] as const;
  for (const cluster of clusters) t.teardown(() => cluster.close());
  clock.advance(40_000); // so that there are slots to fall behind
  const nodes = clusters.map(({ url, wsUrl }, index) => ({ id: `node-${index + 1}`, url, wsUrl }));
  return { clusters, ...(await connectMeshTo(t, nodes, { clock })), clock };
}

/** Lets slots pass and waits for the tip of each. */
async function pass(
  clock: ManualClock,
  clusters: readonly InThreadCluster[],
  mesh: Mesh,
  slots: number,
): Promise<void> {
  for (let n = 0; n < slots; n++) {
    clock.advance(400);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await waitUntil(() => mesh.tip('processed') === Math.max(...clusters.map(({ chain }) => chain.slot('processed'))));
}

t.test('I8: a response below the minimum slot is rejected, though the method has no minContextSlot', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh } = await connectScripted(t, [first, second]);
  supplyAt(first, 90);
  supplyAt(second, 95);
  const supply = (minContextSlot: number) => mesh.call('getTokenSupply', ['mint', { ...CONFIRMED, minContextSlot }]);
  t.match(await supply(90), { slot: 90 });
  t.match(await supply(95), { slot: 95, value: Buffer.from(`${second.port}`) });
  await t.rejects(supply(96), { code: 'rpc_error', rpcCode: -32016, status: 503 });
});

t.test('I8: so is a response without a slot, where the node had not reported the minimum slot', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  second.slots = { ...second.slots, confirmed: 99 };
  const { mesh } = await connectScripted(t, [first, second]);
  first.replies.getTransaction = '1';
  second.replies.getTransaction = '2';
  t.match(await mesh.call('getTransaction', ['sig', { ...CONFIRMED, minContextSlot: 99 }]), {
    slot: 99,
    value: Buffer.from('2'),
  });
  await t.rejects(mesh.call('getTransaction', ['sig', { ...CONFIRMED, minContextSlot: 100 }]), {
    code: 'rpc_error',
    rpcCode: -32016,
  });
});

t.test('I8: a node that has not reached the slot is passed over for one that has', async (t) => {
  const { clusters, mesh } = await twins(t);
  await clusters[0].control.failMinContextSlot(1);
  const slot = mesh.tip('confirmed') ?? 0;
  t.ok((await mesh.call('getBalance', [CLOCK, { ...CONFIRMED, minContextSlot: slot }])).slot >= slot);
  for (const { control } of clusters) await control.failMinContextSlot(1);
  await t.rejects(mesh.call('getBalance', [CLOCK, CONFIRMED]), { code: 'rpc_error', rpcCode: -32016 });
});

t.test('I12: a node more than 20 slots behind is out of use within 2 s', async (t) => {
  const { clusters, mesh, clock } = await twins(t);
  const [first, second] = clusters;
  await pass(clock, clusters, mesh, 5);
  await first.control.lagBehind(40);
  await pass(clock, clusters, mesh, 6);
  t.match(mesh.nodes(), [{ status: 'stalled' }, { status: 'ok' }], 'it stands still for a while');
  await pass(clock, clusters, mesh, 45);
  t.match(mesh.nodes(), [{ status: 'behind' }, { status: 'ok' }], 'and goes on from there');
  const sentBefore = (await first.control.requestCounts())['getBalance'] ?? 0;
  for (let n = 0; n < 20; n++) {
    const { slot } = await mesh.call('getBalance', [CLOCK, CONFIRMED]);
    t.equal(slot, second.chain.slot('confirmed'));
  }
  t.equal((await first.control.requestCounts())['getBalance'] ?? 0, sentBefore);
  await first.control.lagBehind(0);
  await pass(clock, clusters, mesh, 5);
  t.match(mesh.nodes(), [{ status: 'ok' }, { status: 'ok' }]);
});

t.test('I12: a response from far behind is not used even before the node counts as behind', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const world = await connectScripted(t, [first, second], FOREVER);
  await notifyAll(world, [first, second], 1000);
  first.slots = { processed: 800, confirmed: 798, finalized: 768 };
  t.equal(await answeringPort(world.mesh), second.port);
  t.equal(await answeringPort(world.mesh), second.port);
  t.equal(first.countHttpCalls('getBalance'), 1, 'once was enough');
  second.replies.getBalance = brokenReply;
  t.equal(await answeringPort(world.mesh), first.port, 'without a better node an old response is used');
});

t.test('I12: the sessions of a node that falls behind are closed in favor of a better node', async (t) => {
  const { clusters, mesh, clock } = await twins(t);
  const session = await mesh.openSession();
  t.equal(session.nodeId, 'node-1');
  await clusters[0].control.lagBehind(30);
  await pass(clock, clusters, mesh, 35);
  t.ok(session.isLost);
  t.equal((await mesh.openSession()).nodeId, 'node-2');
});

t.test('I12: calls do not fail when a node is gone, and it is used again soon after it returns', async (t) => {
  const { clusters, mesh, clock } = await twins(t);
  const [first] = clusters;
  for (let round = 0; round < 3; round++) {
    await first.control.stopListening();
    for (let n = 0; n < 5; n++) await mesh.call('getBalance', [CLOCK, CONFIRMED]);
    await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'down');
    t.equal(mesh.nodes()[1]?.status, 'ok');
    await first.control.startListening();
    const back = clock.monotonic();
    await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'ok' && mesh.nodes()[0]?.ws === 'up');
    t.ok(clock.monotonic() - back <= 3000, `${clock.monotonic() - back} ms`);
  }
});

t.test('I13: a node more than 1,000 slots below its highest one is quarantined and reported', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  for (const node of [first, second]) node.slots = { processed: 4999, confirmed: 4997, finalized: 4967 };
  const world = await connectScripted(t, [first, second], FOREVER);
  const { mesh, problems } = world;
  await notifyAll(world, [first, second], 5000);
  first.slots = { processed: 3900, confirmed: 3898, finalized: 3868 };
  first.notifySlot(3900);
  await waitUntil(() => mesh.nodes()[0]?.status === 'down');
  t.match(problems, ['node-1 unavailable: it went back from slot 5000 to 3900']);
  t.equal(mesh.tip('processed'), 5000);
  const sentBefore = first.countHttpCalls('getBalance');
  t.equal(await answeringPort(mesh), second.port);
  second.replies.getBalance = brokenReply;
  await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
  t.equal(first.countHttpCalls('getBalance'), sentBefore, 'whatever happens to the others');
  await notifyAll(world, [first, second], 5001);
  t.equal(await answeringPort(mesh), first.port);
});

t.test('I13: the only node is quarantined as well, until it is back at its highest slot', async (t) => {
  const node = await startScriptedNode(t);
  node.slots = { processed: 4999, confirmed: 4997, finalized: 4967 };
  const world = await connectScripted(t, [node], FOREVER);
  const { mesh, problems } = world;
  await notifyAll(world, [node], 5000);
  node.notifySlot(3900);
  await waitUntil(() => problems.length === 1);
  await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
  const problem = 'it went back from slot 5000 to 3900';
  t.match(mesh.nodes(), [{ id: 'node-1', status: 'down', slot: 3900, problem }]);
  node.notifySlot(3950);
  node.notifySlot(4100);
  await waitUntil(() => mesh.nodes()[0]?.slot === 4100);
  t.match(mesh.nodes(), [{ status: 'behind', problem: 'behind by 900 slots' }], 'it only lags');
  t.equal(mesh.tip('processed'), 5000);
  t.equal(problems.length, 1);
});

t.test('I16: one of two nodes that lies about its slot moves no tip, and none of its responses is used', async (t) => {
  const { clusters, mesh, clock, problems } = await twins(t);
  const [liar, honest] = clusters;
  const session = await mesh.openSession();
  await pass(clock, clusters, mesh, 3);
  await liar.control.skewSlots(10_000);
  const seen: number[] = [];
  for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
    mesh.onTip(commitment, (slot) => seen.push(slot));
  }
  for (let n = 0; n < 20; n++) {
    await pass(clock, [honest], mesh, 1);
    const { slot } = await mesh.call('getBalance', [CLOCK, CONFIRMED]);
    t.equal(slot, honest.chain.slot('confirmed'));
  }
  t.ok(Math.max(...seen) <= honest.chain.slot('processed'));
  t.match(mesh.nodes(), [{ status: 'down' }, { status: 'ok' }]);
  t.match(problems, [/^node-1 unavailable: it jumped to slot 101\d{4} /]);
  t.match(mesh.nodes()[0]?.problem, /^it jumped to slot 101\d{4}$/);
  t.equal(mesh.nodes()[1]?.problem, null);
  t.ok(session.isLost, 'its session is lost');
  t.equal((await mesh.openSession()).nodeId, 'node-2');
  await liar.control.skewSlots(0);
  await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'ok');
});

t.test('I16: the only node is accepted after 8 slots at a steady pace, and nothing is read until then', async (t) => {
  const node = await startScriptedNode(t);
  const world = await connectScripted(t, [node], FOREVER);
  const { mesh, clock } = world;
  await notifyAll(world, [node], 110);
  node.slots = { processed: 9000, confirmed: 8998, finalized: 8968 };
  node.notifySlot(9000);
  await waitUntil(() => mesh.nodes()[0]?.status === 'down');
  await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
  for (let slot = 9001; slot < 9008; slot++) {
    clock.advance(400);
    node.notifySlot(slot);
    await waitUntil(() => mesh.nodes()[0]?.slot === slot);
    t.equal(mesh.tip('processed'), 110);
  }
  clock.advance(400);
  await notifyAll(world, [node], 9008);
  t.equal(await answeringPort(mesh), node.port);
});

t.test('I16: one of three that lies a little quarantines no other, at no commitment', async (t) => {
  for (const lies of [
    { processed: 140, confirmed: 138, finalized: 108 },
    { processed: 101, confirmed: 99, finalized: 99 },
  ]) {
    const nodes = [await startScriptedNode(t), await startScriptedNode(t), await startScriptedNode(t)] as const;
    const world = await connectScripted(t, nodes, FOREVER);
    const [liar] = nodes;
    await notifyAll(world, nodes, 101);
    liar.slots = lies;
    liar.notifySlot(lies.processed);
    for (const commitment of ['confirmed', 'finalized'] as const) {
      liar.notify('accountSubscribe', `{"context":{"slot":${lies[commitment]}},"value":null}`, commitment);
    }
    await waitUntil(() => world.mesh.nodes()[0]?.status === 'down');
    t.match(world.mesh.nodes().slice(1), [{ status: 'ok' }, { status: 'ok' }]);
    t.match(world.problems, [/^node-1 unavailable: it jumped to slot/]);
    t.strictSame(
      (['processed', 'confirmed', 'finalized'] as const).map((commitment) => world.mesh.tip(commitment)),
      [101, 99, 69],
    );
    t.ok((await answeringPort(world.mesh)) !== liar.port);
  }
});

t.test('I16: a single response with an implausible slot is not used', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh } = await connectScripted(t, [first, second], FOREVER);
  first.replies.getBalance = '{"context":{"slot":50000},"value":1}';
  t.equal(await answeringPort(mesh), second.port);
  t.equal(mesh.tip('confirmed'), 98);
});

t.test('I16: a lying node is not accepted at the start either, where two others agree', async (t) => {
  const nodes = [await startScriptedNode(t), await startScriptedNode(t), await startScriptedNode(t)] as const;
  nodes[0].slots = { processed: 50_000, confirmed: 49_998, finalized: 49_968 };
  const { mesh } = await connectScripted(t, nodes, FOREVER);
  t.equal(mesh.tip('processed'), 100);
  t.equal(await answeringPort(mesh), nodes[1].port);
  t.equal(mesh.nodes()[0]?.status, 'down');
});

t.test('I16: a session with an implausible slot is lost before any listener is called with it', async (t) => {
  const node = await startScriptedNode(t);
  const world = await connectScripted(t, [node], FOREVER);
  const session: PubsubSession = await world.mesh.openSession();
  const updates: number[] = [];
  let lost = '';
  session.onClockUpdate('confirmed', ({ slot }) => updates.push(slot));
  session.onLost((reason) => {
    lost = reason;
  });
  node.notify('accountSubscribe', '{"context":{"slot":101},"value":null}', 'confirmed');
  await waitUntil(() => updates.length === 1);
  node.notify('accountSubscribe', '{"context":{"slot":70000},"value":null}', 'confirmed');
  await waitUntil(() => lost !== '');
  t.equal(lost, 'reported a slot that is not accepted');
  t.strictSame(updates, [101]);
});

t.test('an error that says more than silence is the one that is thrown', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh } = await connectScripted(t, [first, second], FOREVER);
  first.replies.getBalance = brokenReply;
  second.replies.getBalance = errorReply('{"code":-32016,"message":"not yet"}');
  await t.rejects(answeringPort(mesh), { code: 'rpc_error', rpcCode: -32016 });
});
