import { inspect } from 'node:util';
import t from 'tap';
import { createMesh } from '../../../../src/upstream/mesh/create-mesh.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  advanceUntil,
  answeringPort,
  brokenReply,
  connectScripted,
  errorReply,
  startScriptedNode,
} from '../../../support/mesh-harness.ts';
import { GENESIS, type ReplyScript, ScriptedNode, SECRET, waitUntil } from '../../../support/scripted-node.ts';
import { UPSTREAM_SETTINGS } from '../../../support/upstream-settings.ts';

const OTHER = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

t.test('a mesh knows its genesis hash and its tips once it is connected', async (t) => {
  const node = await startScriptedNode(t);
  const { mesh } = await connectScripted(t, [node]);
  t.equal(mesh.genesisHash, GENESIS);
  t.strictSame([mesh.tip('processed'), mesh.tip('confirmed'), mesh.tip('finalized')], [100, 98, 68]);
  t.equal(mesh.requestCount, 5, 'the genesis hash, three slots, and the genesis hash again for the WebSocket');
  t.equal(mesh.requestCount, node.httpRequests.length);
});

t.test(
  'a slot is processed when it is the parent of another; the Clock notifies of the other commitments',
  async (t) => {
    const node = await startScriptedNode(t);
    const { mesh } = await connectScripted(t, [node]);
    const observed: [string, number][] = [];
    for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
      mesh.onTip(commitment, (slot) => observed.push([commitment, slot]));
    }
    const clock = (slot: number) => `{"context":{"slot":${slot}},"value":{"lamports":18446744073709551615}}`;
    node.notify('slotSubscribe', '{"slot":105,"parent":103,"root":70}');
    node.notify('accountSubscribe', clock(101), 'confirmed');
    node.notify('accountSubscribe', clock(71), 'finalized');
    await waitUntil(() => observed.length === 3);
    t.strictSame(observed, [
      ['processed', 103],
      ['confirmed', 101],
      ['finalized', 71],
    ]);
  },
);

t.test('tips never go back, and a stronger commitment advances the weaker ones', async (t) => {
  const node = await startScriptedNode(t);
  const { mesh } = await connectScripted(t, [node]);
  const slots: number[] = [];
  const stop = mesh.onTip('processed', (slot) => slots.push(slot));
  for (const slot of [101, 90, 101, 102]) node.notifySlot(slot);
  await waitUntil(() => slots.length === 2);
  node.notify('accountSubscribe', '{"context":{"slot":110},"value":null}', 'finalized');
  await waitUntil(() => mesh.tip('finalized') === 110);
  t.strictSame(slots, [101, 102, 110]);
  t.equal(mesh.tip('confirmed'), 110);
  stop();
  node.notifySlot(120);
  await waitUntil(() => mesh.tip('processed') === 120);
  t.equal(slots.length, 3);
});

t.test('a write can not be expressed', async (t) => {
  const node = await startScriptedNode(t);
  const { mesh } = await connectScripted(t, [node]);
  // @ts-expect-error: this must not compile
  const write = () => mesh.call('sendTransaction', ['']);
  t.type(write, 'function');
});

t.test('connecting is retried until a node answers, and its failure reported once, without secrets', async (t) => {
  const gone = await ScriptedNode.start();
  await gone.close();
  const clock = new ManualClock();
  const problems: string[] = [];
  const mesh = createMesh({
    nodes: [gone.nodeOptions('node-1')],
    clock,
    random: () => 0,
    settings: UPSTREAM_SETTINGS,
    onProblem: (id, problem) => problems.push(`${id} ${problem}`),
  });
  t.teardown(() => mesh.close());
  const connecting = mesh.connect();
  await advanceUntil(clock, () => clock.monotonic() - new ManualClock().monotonic() > 60_000);
  t.strictSame(problems, [`node-1 unavailable: connection refused (http://127.0.0.1:${gone.port})`]);
  t.match(mesh.nodes(), [{ id: 'node-1', status: 'down', problem: 'connection refused' }]);
  t.equal(mesh.genesisHash, undefined);
  await t.rejects(mesh.call('getVersion'), { code: 'upstream_unavailable' });

  await startScriptedNode(t, gone.port);
  await advanceUntil(clock, () => mesh.genesisHash !== undefined);
  t.equal(await connecting, GENESIS);
});

t.test('connecting ends when the mesh is closed', async (t) => {
  const gone = await ScriptedNode.start();
  await gone.close();
  const deps = { clock: new ManualClock(), random: () => 0, settings: UPSTREAM_SETTINGS };
  const mesh = createMesh({ nodes: [gone.nodeOptions('node-1')], ...deps });
  const failed = t.rejects(mesh.connect(), { code: 'upstream_unavailable' });
  await mesh.close();
  await failed;
  await t.rejects(mesh.connect(), { code: 'upstream_unavailable' });

  const [quick, hung] = [await startScriptedNode(t), await startScriptedNode(t)];
  hung.replies.getGenesisHash = () => {};
  const later = createMesh({ nodes: [quick.nodeOptions('quick'), hung.nodeOptions('hung')], ...deps });
  const ended = t.rejects(later.connect(), { code: 'upstream_unavailable' }, 'also while others may still answer');
  await waitUntil(() => hung.httpRequests.length === 1);
  await later.close();
  await ended;
  t.equal(later.genesisHash, undefined);
});

t.test('a node that hangs delays the next by a quarter of a second only', async (t) => {
  const [hung, quick] = [await startScriptedNode(t), await startScriptedNode(t)];
  hung.replies.getGenesisHash = () => {};
  const clock = new ManualClock();
  const nodes = [hung.nodeOptions('hung'), quick.nodeOptions('quick')];
  const mesh = createMesh({ nodes, clock, random: () => 0, settings: UPSTREAM_SETTINGS });
  t.teardown(() => mesh.close());
  const connecting = mesh.connect();
  await waitUntil(() => hung.httpRequests.length === 1);
  clock.advance(249);
  t.equal(mesh.requestCount, 1);
  clock.advance(1);
  await waitUntil(() => quick.countHttpCalls('getSlot') === 3);
  await waitUntil(() => mesh.nodes()[1]?.status === 'ok');
  await new Promise(setImmediate); // the quick node is taken now, and the other has a second left
  clock.advance(UPSTREAM_SETTINGS.backoffMaxMs);
  t.equal(await connecting, GENESIS);
  t.match(mesh.nodes(), [{ problem: 'no answer yet' }, { problem: null }]);
});

t.test('I10: connecting to another cluster than the expected one fails', async (t) => {
  const node = await startScriptedNode(t);
  const clock = new ManualClock();
  const problems: string[] = [];
  const mesh = createMesh({
    nodes: [node.nodeOptions('node-1')],
    clock,
    random: () => 0,
    settings: UPSTREAM_SETTINGS,
    expectedGenesisHash: OTHER,
    onProblem: (id, problem) => problems.push(`${id} ${problem}`),
  });
  t.teardown(() => mesh.close());
  const reason = `it is of another cluster: its genesis hash is ${GENESIS}, not ${OTHER}`;
  const error = await mesh.connect().catch((thrown) => thrown);
  t.match(error, { code: 'upstream_unavailable', message: `no node is of the cluster; node-1: ${reason}` });
  t.notMatch(inspect(error, { depth: 10 }), new RegExp(SECRET));
  t.strictSame(problems, [`node-1 unavailable: ${reason} (http://127.0.0.1:${node.port})`]);
  t.equal(node.pubsubRequests.length, 0);
  node.replies.getGenesisHash = `"${OTHER}"`;
  t.equal(await mesh.connect(), OTHER, 'it may be called again');
});

t.test('I10: while a node may still be of the cluster, one of another cluster ends nothing', async (t) => {
  const [wrong, gone] = [await startScriptedNode(t), await ScriptedNode.start()];
  await gone.close();
  wrong.replies.getGenesisHash = `"${OTHER}"`;
  const clock = new ManualClock();
  const nodes = [wrong.nodeOptions('wrong'), gone.nodeOptions('gone')];
  const deps = { clock, random: () => 0, settings: UPSTREAM_SETTINGS };
  const mesh = createMesh({ nodes, ...deps, expectedGenesisHash: GENESIS });
  t.teardown(() => mesh.close());
  const connecting = mesh.connect();
  await advanceUntil(clock, () => clock.monotonic() - new ManualClock().monotonic() > 60_000);
  t.match(mesh.nodes(), [{ problem: /^it is of another cluster/ }, { problem: 'connection refused' }]);
  await startScriptedNode(t, gone.port);
  await advanceUntil(clock, () => mesh.genesisHash !== undefined);
  t.equal(await connecting, GENESIS);
});

t.test('nothing else passes for a genesis hash', async (t) => {
  const [odd, right] = [await startScriptedNode(t), await startScriptedNode(t)];
  odd.replies.getGenesisHash = '"https://example.com/?key=secret"';
  const clock = new ManualClock();
  const options = { clock, random: () => 0, settings: UPSTREAM_SETTINGS };
  const mesh = createMesh({ nodes: [odd.nodeOptions('odd'), right.nodeOptions('right')], ...options });
  t.teardown(() => mesh.close());
  await mesh.connect();
  t.equal(mesh.nodes()[0]?.problem, 'a node sent no genesis hash');
  t.equal(mesh.genesisHash, GENESIS);
});

t.test('I10: a node of another cluster is never called, whatever happens to the others', async (t) => {
  const [right, wrong] = [await startScriptedNode(t), await startScriptedNode(t)];
  wrong.replies.getGenesisHash = `"${OTHER}"`;
  wrong.slots = { processed: 9000, confirmed: 9000, finalized: 9000 };
  const { mesh, problems } = await connectScripted(t, [right, wrong]);
  t.match(problems[0], `node-2 unavailable: it is of another cluster: its genesis hash is ${OTHER}, not ${GENESIS}`);
  right.replies.getBalance = brokenReply;
  for (let n = 0; n < 3; n++) await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
  t.equal(wrong.countHttpCalls('getBalance') + wrong.countHttpCalls('getSlot') + wrong.pubsubRequests.length, 0);
  t.match(mesh.nodes()[1], { id: 'node-2', status: 'down', slot: null, ws: 'down' });
  t.equal(mesh.tip('processed'), 100);
});

t.test('I10: a node that returns as another cluster is quarantined until it is of the same again', async (t) => {
  const node = await startScriptedNode(t);
  const { mesh, clock, problems } = await connectScripted(t, [node]);
  t.equal(await answeringPort(mesh), node.port);
  node.replies.getGenesisHash = `"${OTHER}"`;
  node.slots = { processed: 9000, confirmed: 9000, finalized: 9000 };
  for (const socket of node.sockets) socket.close(1000);
  await waitUntil(() => mesh.nodes()[0]?.ws === 'down');
  await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
  await advanceUntil(clock, () => node.countHttpCalls('getGenesisHash') > 3);
  t.equal(mesh.nodes()[0]?.status, 'down');
  t.equal(mesh.tip('processed'), 100, 'its slots are not accepted either');
  t.equal(problems.filter((problem) => problem.includes('another cluster')).length, 1, 'reported once');
  node.replies.getGenesisHash = `"${GENESIS}"`;
  node.slots = { processed: 107, confirmed: 105, finalized: 75 };
  await advanceUntil(clock, () => mesh.nodes()[0]?.ws === 'up');
  t.equal(await answeringPort(mesh), node.port);
});

t.test('slots are polled over HTTP while the WebSocket is down, and only then', async (t) => {
  const node = await startScriptedNode(t);
  const { mesh, clock, problems } = await connectScripted(t, [node]);
  const { onPubsubRequest } = node;
  node.onPubsubRequest = () => {}; // the next channels are silent from the start
  for (const socket of node.sockets) socket.close(1000);
  await waitUntil(() => mesh.nodes()[0]?.ws === 'down');
  t.match(problems, [/^node-1 the WebSocket was closed with code 1000 \(ws:\/\/127\.0\.0\.1:\d+\): slots are polled$/]);
  for (let slot = 101; slot < 104; slot++) {
    node.slots = { processed: slot, confirmed: slot - 2, finalized: slot - 32 };
    const before = clock.monotonic();
    await advanceUntil(clock, () => mesh.tip('processed') === slot && mesh.tip('finalized') === slot - 32);
    t.ok(clock.monotonic() - before <= 3000);
    t.match(mesh.nodes()[0], { status: 'ok', ws: 'down', slot });
  }
  node.onPubsubRequest = onPubsubRequest;
  await advanceUntil(clock, () => mesh.nodes()[0]?.ws === 'up');
  const sentBefore = node.httpRequests.length;
  for (let slot = 110; slot < 130; slot++) {
    node.notifySlot(slot);
    for (const commitment of ['confirmed', 'finalized'] as const) {
      node.notify('accountSubscribe', `{"context":{"slot":${slot}},"value":null}`, commitment);
    }
    await waitUntil(() => mesh.tip('finalized') === slot);
    clock.advance(400);
  }
  t.ok(node.httpRequests.length - sentBefore <= 3, 'at most the poll that was in flight');
});

t.test('a node whose slot does not change is stalled, one that does not answer is down', async (t) => {
  const node = await startScriptedNode(t);
  const { mesh, clock } = await connectScripted(t, [node]);
  t.equal(mesh.nodes()[0]?.status, 'ok');
  await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'stalled');
  const { getSlot = '' } = node.replies;
  node.replies.getSlot = brokenReply;
  await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'down');
  node.replies.getSlot = getSlot;
  node.slots = { processed: 150, confirmed: 148, finalized: 118 };
  await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'ok');
  t.equal(mesh.nodes()[0]?.slot, 150);
});

t.test('a node more than 20 slots behind the tip is behind, until it is less than 10', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh } = await connectScripted(t, [first, second]);
  const at = async (best: number, slot: number) => {
    first.notifySlot(slot);
    await waitUntil(() => mesh.nodes()[0]?.slot === slot);
    second.notifySlot(best);
    await waitUntil(() => mesh.tip('processed') === best);
    return [mesh.nodes()[0]?.status, mesh.nodes()[0]?.behindSlots, (await answeringPort(mesh)) === first.port];
  };
  t.strictSame(await at(130, 110), ['ok', 20, true]);
  t.strictSame(await at(131, 110), ['behind', 21, false]);
  t.strictSame(await at(131, 121), ['behind', 10, false]);
  t.strictSame(await at(131, 122), ['ok', 9, true]);
});

t.test('the lag of a node depends on the slots reported, whether anyone reads the status or not', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh } = await connectScripted(t, [first, second]);
  const confirms = async (node: ScriptedNode, slot: number) => {
    node.notify('accountSubscribe', `{"context":{"slot":${slot}},"value":null}`, 'confirmed');
    await waitUntil(() => mesh.tip('confirmed') === slot);
  };
  const askTwice = async () =>
    [mesh.nodes(), mesh.nodes(), await answeringPort(mesh), mesh.nodes()].map((reply) =>
      typeof reply === 'number' ? reply === first.port : reply[0]?.status,
    );

  second.notifySlot(131); // 31 ahead: the first is behind
  await waitUntil(() => mesh.tip('processed') === 131);
  first.notifySlot(125); // recovered before anyone reads the status
  await confirms(first, 99);
  second.notifySlot(140);
  await waitUntil(() => mesh.tip('processed') === 140);
  t.strictSame(await askTwice(), ['ok', 'ok', true, 'ok'], '15 behind');

  await confirms(second, 138); // 39 ahead: behind, and not quite recovered before anyone reads the status
  first.notify('accountSubscribe', '{"context":{"slot":123},"value":null}', 'confirmed');
  first.notify('accountSubscribe', '{"context":{"slot":70},"value":null}', 'finalized');
  await waitUntil(() => mesh.tip('finalized') === 70);
  t.strictSame(await askTwice(), ['behind', 'behind', false, 'behind'], '15 behind as well');
});

t.test('a call that one node fails goes to another once', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh, clock } = await connectScripted(t, [first, second], {
    settings: { ...UPSTREAM_SETTINGS, silenceMs: 1e9 },
  });
  const elsewhere: Record<string, ReplyScript> = {
    'the connection broke': brokenReply,
    'not there yet': errorReply('{"code":-32016,"message":"Minimum context slot has not been reached"}'),
    'lost by it alone': errorReply('{"code":-32007,"message":"Slot 7 was skipped, or missing"}'),
    garbled: (response) => response.end('{"jsonrpc"'),
  };
  for (const [name, reply] of Object.entries(elsewhere)) {
    first.replies.getBalance = reply;
    t.equal(await answeringPort(mesh), second.port, name);
    await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'ok');
  }
  const sent = second.httpRequests.length;
  for (const code of [-32602, -32009]) {
    first.replies.getBalance = errorReply(`{"code":${code},"message":"no"}`);
    await t.rejects(answeringPort(mesh), { code: 'rpc_error', rpcCode: code });
  }
  t.equal(second.httpRequests.length, sent, 'facts and wrong requests are the same everywhere');
  first.replies.getBalance = errorReply('{"code":-32016,"message":"not yet"}');
  second.replies.getBalance = brokenReply;
  await t.rejects(
    answeringPort(mesh),
    { code: 'rpc_error', rpcCode: -32016 },
    'the error of a node that answered counts more than silence',
  );
});

t.test('a rate-limited node is not selected', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh } = await connectScripted(t, [first, second]);
  first.replies.getBalance = (response) => response.writeHead(429, { 'retry-after': '5' }).end();
  t.equal(await answeringPort(mesh), second.port);
  t.equal(await answeringPort(mesh), second.port);
  t.equal(first.countHttpCalls('getBalance'), 1);
});

t.test('the only node is called again within 35 seconds, whatever Retry-After it names', async (t) => {
  for (const retryAfter of ['60', '86400', 'Thu, 01 Jan 2099 00:00:00 GMT', 'garbage']) {
    const node = await startScriptedNode(t);
    const { mesh, clock } = await connectScripted(t, [node]);
    const answers = node.replies.getBalance;
    node.replies.getBalance = (response) => response.writeHead(429, { 'retry-after': retryAfter }).end();
    await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' }, retryAfter);
    if (answers === undefined) delete node.replies.getBalance;
    else node.replies.getBalance = answers;
    let seconds = 0;
    const isAnswered = (): Promise<boolean> =>
      answeringPort(mesh).then(
        () => true,
        () => false,
      );
    while (seconds < 40 && !(await isAnswered())) {
      clock.advance(1000);
      seconds++;
    }
    t.ok(seconds <= 35, `${retryAfter}: ${seconds} s`);
  }
});

t.test('a closed mesh sends nothing more and leaves no connection', async (t) => {
  const node = await startScriptedNode(t);
  const { mesh, clock } = await connectScripted(t, [node]);
  await mesh.close();
  await waitUntil(() => node.sockets.size === 0);
  const sentBefore = node.httpRequests.length;
  for (let n = 0; n < 50; n++) {
    clock.advance(1000);
    await new Promise(setImmediate);
  }
  t.equal(node.httpRequests.length, sentBefore);
  t.equal(node.sockets.size, 0);
  await t.rejects(mesh.call('getVersion'), { code: 'upstream_unavailable' });
});
