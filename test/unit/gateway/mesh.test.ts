import { inspect } from 'node:util';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { LatencyTracker } from '../../../src/gateway/upstream/failsafe/latency-tracker.ts';
import { createMesh } from '../../../src/gateway/upstream/mesh/create-mesh.ts';
import { JumpGuard } from '../../../src/gateway/upstream/mesh/jump-guard.ts';
import type { Mesh } from '../../../src/gateway/upstream/mesh/mesh.ts';
import { rendezvousOrder, weightedRandomOrder } from '../../../src/gateway/upstream/mesh/node-selection.ts';
import { SlotConsensus } from '../../../src/gateway/upstream/mesh/slot-consensus.ts';
import type { PubsubSession } from '../../../src/gateway/upstream/pubsub/pubsub-session.ts';
import { NodeSlots } from '../../../src/gateway/upstream/rpc/node-slots.ts';
import { type ConsensusData, NOTHING, type RpcResponse } from '../../../src/gateway/upstream/rpc/rpc-response.ts';
import type { Clock } from '../../../src/shared/domain/clock.ts';
import { RequestCost } from '../../../src/shared/domain/units.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  advanceUntil,
  answeringPort,
  brokenReply,
  CONFIRMED,
  connectMeshTo,
  connectOne,
  connectScripted,
  connectTwo,
  errorReply,
  notifyAll,
  startScriptedNode,
} from '../../support/mesh-harness.ts';
import { pluck } from '../../support/pluck.ts';
import {
  errorBody,
  GENESIS,
  type ReplyScript,
  resultBody,
  ScriptedNode,
  SECRET,
  waitUntil,
} from '../../support/scripted-node.ts';
import { SLOT_TIMES } from '../../support/slot-times.ts';
import { startTestCluster, type TestCluster } from '../../support/test-cluster.ts';
import { UPSTREAM_SETTINGS } from '../../support/upstream-settings.ts';

t.test('create-mesh', async (t) => {
  const OTHER = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

  t.test('a mesh knows its genesis hash and its tips once it is connected', async (t) => {
    const { node, mesh } = await connectOne(t);
    t.equal(mesh.genesisHash, GENESIS);
    t.strictSame([mesh.tip('processed'), mesh.tip('confirmed'), mesh.tip('finalized')], [100, 98, 68]);
    t.equal(
      node.httpRequests.length,
      6,
      'the genesis hash, the version, three slots, and the genesis hash for the WebSocket',
    );
  });

  t.test('a slot is processed as the parent of another; the Clock notifies of the other commitments', async (t) => {
    const { node, mesh } = await connectOne(t);
    const observed: [string, number, number | undefined][] = [];
    for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
      mesh.onTip(commitment, (slot, parent) => observed.push([commitment, slot, parent]));
    }
    const clock = (slot: number) => `{"context":{"slot":${slot}},"value":{"lamports":18446744073709551615}}`;
    node.notify('slotSubscribe', '{"slot":105,"parent":103,"root":70}');
    node.notify('accountSubscribe', clock(101), 'confirmed');
    node.notify('accountSubscribe', clock(71), 'finalized');
    node.notify('slotSubscribe', '{"slot":107,"parent":105,"root":70}');
    await waitUntil(() => observed.length === 4);
    t.strictSame(observed, [
      ['processed', 103, undefined],
      ['confirmed', 101, undefined],
      ['finalized', 71, undefined],
      ['processed', 105, 103],
    ]);
    mesh.observeSlot('processed', 109, 107);
    t.strictSame(observed.at(-1), ['processed', 109, 107], 'as another gateway names it');
  });

  t.test('tips never go back, and a stronger commitment advances the weaker ones', async (t) => {
    const { node, mesh } = await connectOne(t);
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

  t.test('a write cannot be expressed', async (t) => {
    const { mesh } = await connectOne(t);
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
    t.equal(quick.httpRequests.length, 0);
    clock.advance(1);
    await waitUntil(() => quick.countHttpCalls('getSlot') === 3);
    await waitUntil(() => mesh.nodes()[1]?.status === 'ok');
    await new Promise(setImmediate); // the quick node is used now, and the other has a second left
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
    const { node, mesh, clock, problems } = await connectOne(t);
    const checks = node.countHttpCalls('getGenesisHash');
    for (let n = 0; n < 2; n++) t.equal(await answeringPort(mesh), node.port);
    t.equal(node.countHttpCalls('getGenesisHash'), checks, 'it is remembered while the node is in touch');
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

  t.test('I10: so is one that nobody has called, and that has no WebSocket, while it was away', async (t) => {
    const { node, mesh, clock } = await connectOne(t);
    mesh.rest(true);
    await node.close();
    await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'down');
    const other = await startScriptedNode(t, node.port);
    other.replies.getGenesisHash = `"${OTHER}"`;
    await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
    t.equal(other.countHttpCalls('getBalance'), 0);
  });

  t.test('slots are polled over HTTP while the WebSocket is down, and only then', async (t) => {
    const { node, mesh, clock, problems } = await connectOne(t);
    const { onPubsubRequest } = node;
    node.onPubsubRequest = () => {}; // the next channels are silent from the start
    for (const socket of node.sockets) socket.close(1000);
    await waitUntil(() => mesh.nodes()[0]?.ws === 'down');
    t.match(problems, [
      /^node-1 the WebSocket was closed with code 1000 \(ws:\/\/127\.0\.0\.1:\d+\): slots are polled$/,
    ]);
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
    const { node, mesh, clock } = await connectOne(t);
    t.equal(mesh.nodes()[0]?.status, 'ok');
    await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'stalled');
    const { getSlot = '' } = node.replies;
    node.replies.getSlot = brokenReply;
    await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'down');
    node.replies.getSlot = getSlot;
    node.slots = { processed: 150, confirmed: 148, finalized: 118 };
    await advanceUntil(clock, () => mesh.nodes()[0]?.slot === 150); // a confirmed slot, which may come before, is a processed one too
    t.equal(mesh.nodes()[0]?.status, 'ok');
  });

  t.test('a node more than 20 slots behind the tip is behind, until it is less than 10', async (t) => {
    const { first, second, mesh } = await connectTwo(t);
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
    const { first, second, mesh } = await connectTwo(t);
    const confirms = async (node: ScriptedNode, slot: number) => {
      node.notify('accountSubscribe', `{"context":{"slot":${slot}},"value":null}`, 'confirmed');
      await waitUntil(() => mesh.tip('confirmed') === slot);
    };
    const callTwice = async () =>
      [mesh.nodes(), mesh.nodes(), await answeringPort(mesh), mesh.nodes()].map((reply) =>
        typeof reply === 'number' ? reply === first.port : reply[0]?.status,
      );

    second.notifySlot(131); // 31 ahead: the first is behind
    await waitUntil(() => mesh.tip('processed') === 131);
    first.notifySlot(125); // recovered before anyone reads the status
    await confirms(first, 99);
    second.notifySlot(140);
    await waitUntil(() => mesh.tip('processed') === 140);
    t.strictSame(await callTwice(), ['ok', 'ok', true, 'ok'], '15 behind');

    await confirms(second, 138); // 39 ahead: behind, and not quite recovered before anyone reads the status
    first.notify('accountSubscribe', '{"context":{"slot":123},"value":null}', 'confirmed');
    first.notify('accountSubscribe', '{"context":{"slot":70},"value":null}', 'finalized');
    await waitUntil(() => mesh.tip('finalized') === 70);
    t.strictSame(await callTwice(), ['behind', 'behind', false, 'behind'], '15 behind as well');
  });

  t.test('a call that one node fails goes to another once', async (t) => {
    const { first, second, mesh, clock } = await connectTwo(t, {
      settings: { ...UPSTREAM_SETTINGS, idleTimeoutMs: 1e9 },
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
    const { first, second, mesh } = await connectTwo(t);
    first.replies.getBalance = (response) => response.writeHead(429, { 'retry-after': '5' }).end();
    t.equal(await answeringPort(mesh), second.port);
    t.equal(await answeringPort(mesh), second.port);
    t.equal(first.countHttpCalls('getBalance'), 1);
  });

  t.test('the only node is called again within 35 seconds, whatever Retry-After it names', async (t) => {
    for (const retryAfter of ['60', '86400', 'Thu, 01 Jan 2099 00:00:00 GMT', 'garbage']) {
      const { node, mesh, clock } = await connectOne(t);
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
    const { node, mesh, clock } = await connectOne(t);
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
});

t.test('jump-guard', async (t) => {
  const SLOT_MS = 400;

  const openGuard = (clock: Clock): JumpGuard =>
    new JumpGuard({ clock, maxSlotJump: 64, recoverySlots: 8, idleTimeoutMs: 2000 });

  function setUp(slot = 1000) {
    const clock = new ManualClock(0);
    const guard = openGuard(clock);
    guard.observe('a', slot);
    /** Lets slots pass. Each of these nodes reports them, off by its number. */
    const pass = (slots: number, nodes: Readonly<Record<string, number>>) => {
      for (let n = 0; n < slots; n++) {
        clock.advance(SLOT_MS);
        slot++;
        for (const [id, lie] of Object.entries(nodes)) guard.observe(id, slot + lie);
      }
      return slot;
    };
    return { clock, guard, pass, slot };
  }

  t.test('I16: a step that the elapsed time explains is accepted, and up to 64 slots more', async (t) => {
    const { clock, guard, pass } = setUp();
    const slot = pass(50, { a: 0 });
    t.ok(guard.isAccepted(slot));
    clock.advance(40 * SLOT_MS);
    guard.observe('a', slot + 40 + 60);
    t.ok(guard.isAccepted(slot + 100));
    guard.observe('a', slot + 300);
    t.notOk(guard.isAccepted(slot + 300));
    t.ok(guard.isSuspect('a'));
  });

  t.test('I16: many small steps advance the tip no further than one big one', async (t) => {
    const { guard, pass } = setUp();
    const slot = pass(50, { a: 0, b: 0 });
    for (let far = 10; far <= 10_000; far += 10) guard.observe('a', slot + far);
    t.ok(guard.isAccepted(slot + 60));
    t.notOk(guard.isAccepted(slot + 80));
  });

  t.test('I16: where two agree a third far from them is not accepted, until it is near again', async (t) => {
    for (const lie of [21, 40, 64, 100]) {
      const { guard, pass } = setUp();
      pass(20, { a: 0, b: -3, liar: 0 });
      const slot = pass(100, { liar: lie, a: 0, b: -3 });
      t.ok(guard.isAccepted(slot));
      t.notOk(guard.isAccepted(slot + 21), `${lie}`);
      t.match([guard.isSuspect('liar'), guard.isSuspect('a'), guard.isSuspect('b')], [true, false, false]);
      const later = pass(2, { liar: 19, a: 0, b: -3 });
      t.notOk(guard.isSuspect('liar'));
      t.ok(guard.isAccepted(later + 19), 'a node may be a little ahead');
    }
  });

  t.test('I16: two nodes whose slots do not change are no witnesses against one that advances', async (t) => {
    const { clock, guard, pass } = setUp();
    let slot = pass(20, { a: 0, b: 0, c: 0 });
    for (const until = slot + 200; slot < until; slot++) {
      clock.advance(SLOT_MS);
      for (const [id, reported] of [
        ['a', slot + 1],
        ['b', until - 200],
        ['c', until - 200],
      ] as const)
        guard.observe(id, reported);
      t.ok(guard.isAccepted(slot + 1));
    }
  });

  t.test('I16: a second node nearby is enough of a witness', async (t) => {
    const { guard, pass } = setUp();
    const slot = pass(10, { a: 0, b: 0 });
    guard.observe('a', slot + 500);
    t.notOk(guard.isAccepted(slot + 500));
    guard.observe('b', slot + 490);
    t.ok(guard.isAccepted(slot + 490));
    guard.observe('a', slot + 501);
    t.ok(guard.isAccepted(slot + 501));
    t.notOk(guard.isSuspect('a'));
  });

  t.test('slots that come one by one, all late, are accepted like the step that they are together', async (t) => {
    const { clock, guard, pass } = setUp();
    const slot = pass(50, { a: 0 });
    clock.advance(100 * SLOT_MS);
    for (let next = slot + 1; next <= slot + 100; next++) guard.observe('a', next); // a feed sends again what was missed
    t.ok(guard.isAccepted(slot + 100));
    t.notOk(guard.isSuspect('a'));
    for (let next = slot + 101; next <= slot + 200; next++) guard.observe('a', next);
    t.ok(guard.isAccepted(slot + 164));
    t.notOk(guard.isAccepted(slot + 165), 'a burst is no way around the most of a step');
  });

  t.test('I16: the only node is not accepted while it jumps about', async (t) => {
    const { guard, pass } = setUp();
    const slot = pass(20, { a: 0 });
    for (let lie = 1000; lie < 20_000; lie += 1000) pass(4, { a: lie });
    t.notOk(guard.isAccepted(slot + 500));
    pass(1, { a: 0 });
    t.notOk(guard.isSuspect('a'), 'it has come back to where it was');
  });

  t.test('the slot time of a chain is learned, be it short or long', async (t) => {
    for (const slotMs of [50, 400, 1200]) {
      const clock = new ManualClock(0);
      const guard = openGuard(clock);
      for (let slot = 1; slot < 2000; slot++) {
        guard.observe('a', slot);
        if (!guard.isAccepted(slot)) t.fail(`slot ${slot} at ${slotMs} ms is not accepted`);
        clock.advance(slotMs);
      }
    }
  });

  t.test('I16: beside an honest node no lying one moves the accepted tip by more than 64 slots', async () => {
    const lie = fc.record({ far: fc.integer({ min: -5000, max: 50_000 }), times: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(fc.array(lie, { maxLength: 20 }), (lies) => {
        const { guard, pass } = setUp();
        let slot = pass(10, { a: 0, liar: 0 });
        for (const { far, times } of lies) {
          slot = pass(times, { liar: far, a: 0 });
          if (!guard.isAccepted(slot) || guard.isAccepted(slot + 66)) return false;
        }
        return true;
      }),
      { numRuns: 300 },
    );
  });
});

t.test('mesh-invariants', async (t) => {
  const FOREVER = { settings: { ...UPSTREAM_SETTINGS, idleTimeoutMs: 1e9 } };
  const CLOCK = 'SysvarC1ock11111111111111111111111111111111';

  const supplyAt = (node: ScriptedNode, slot: number): void => {
    node.replies.getTokenSupply = (response, request) =>
      response.end(resultBody(request, `{"context":{"slot":${slot}},"value":${node.port}}`));
  };

  /** Two nodes of one chain on one clock, and a mesh over them. */
  async function twins(t: Test) {
    const clock = new ManualClock();
    const clusters = [
      await startTestCluster(clock, new Uint8Array(32).fill(7), {
        transactionsPerSlot: 0,
        skipEvery: 0,
        ...lastingPort(),
      }),
      await startTestCluster(clock, new Uint8Array(32).fill(7), {
        transactionsPerSlot: 0,
        skipEvery: 0,
        ...lastingPort(),
      }),
    ] as const;
    for (const cluster of clusters) t.teardown(() => cluster.close());
    clock.advance(40_000); // so that there are slots to fall behind
    const nodes = clusters.map(({ url, wsUrl }, index) => ({ id: `node-${index + 1}`, url, wsUrl }));
    return { clusters, ...(await connectMeshTo(t, nodes, { clock })), clock };
  }

  /** Lets slots pass and waits for the tip of each. */
  async function pass(clock: ManualClock, clusters: readonly TestCluster[], mesh: Mesh, slots: number): Promise<void> {
    for (let n = 0; n < slots; n++) {
      clock.advance(400);
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await waitUntil(() => mesh.tip('processed') === Math.max(...clusters.map(({ chain }) => chain.slot('processed'))));
  }

  t.test('I8: a response below the minimum slot is rejected, though the method has no minContextSlot', async (t) => {
    const { first, second, mesh } = await connectTwo(t);
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

  t.test('I16: one of two nodes that lies about its slot moves no tip, and none of its answers counts', async (t) => {
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
      const tips = (['processed', 'confirmed', 'finalized'] as const).map((commitment) => world.mesh.tip(commitment));
      t.strictSame(tips, [101, 99, 69]);
      t.ok((await answeringPort(world.mesh)) !== liar.port);
    }
  });

  t.test('I16: a single response with an implausible slot is not used', async (t) => {
    const { first, second, mesh } = await connectTwo(t, FOREVER);
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
    const { first, second, mesh } = await connectTwo(t, FOREVER);
    first.replies.getBalance = brokenReply;
    second.replies.getBalance = errorReply('{"code":-32016,"message":"not yet"}');
    await t.rejects(answeringPort(mesh), { code: 'rpc_error', rpcCode: -32016 });
  });
});

t.test('node-selection', async (t) => {
  const candidate = (id: string, weight: number) => ({ id, rank: 0, currentWeight: weight, weight });

  const weight = fc.double({ min: 0.01, max: 100, noNaN: true });
  const candidates = fc.uniqueArray(
    fc.record({ id: fc.string(), rank: fc.nat({ max: 3 }), currentWeight: weight, weight }),
    {
      selector: ({ id }) => id,
      minLength: 1,
    },
  );

  t.test('a better rank always comes first, and no candidate is lost', async () => {
    const chance = fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true }));
    fc.assert(
      fc.property(candidates, chance, fc.string(), (all, stream, name) =>
        [weightedRandomOrder(all, () => stream.next().value), rendezvousOrder(all, name)].every(
          (order) =>
            order.length === all.length &&
            new Set(order).size === all.length &&
            order.every(({ rank }, index) => rank >= (order[index - 1]?.rank ?? 0)),
        ),
      ),
    );
  });

  t.test('one key always has the same order, whatever the latencies, and whichever other node leaves', async () => {
    fc.assert(
      fc.property(candidates, fc.string(), fc.nat(), (all, name, place) => {
        const order = rendezvousOrder(all, name).map(({ id }) => id);
        const slower = all.map((candidate) => ({ ...candidate, currentWeight: candidate.currentWeight / 7 }));
        const gone = all[place % all.length]?.id;
        const rest = slower.filter(({ id }) => id !== gone);
        return rendezvousOrder(rest, name).every(
          ({ id }, index) => id === order.filter((kept) => kept !== gone)[index],
        );
      }),
    );
  });

  t.test('keys are distributed in proportion to the weights', async (t) => {
    const [light, heavy] = [candidate('a', 1), candidate('b', 3)];
    let heavyFirst = 0;
    for (let n = 0; n < 10_000; n++) if (rendezvousOrder([light, heavy], `address ${n}`)[0] === heavy) heavyFirst++;
    t.ok(Math.abs(heavyFirst / 10_000 - 0.75) < 0.02, `${heavyFirst}`);
  });

  t.test('equals come first in proportion to their current weight', async (t) => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const [light, heavy] = [candidate('a', 1), candidate('b', 3)];
    let heavyFirst = 0;
    for (let n = 0; n < 10_000; n++) if (weightedRandomOrder([light, heavy], random)[0] === heavy) heavyFirst++;
    t.ok(Math.abs(heavyFirst / 10_000 - 0.75) < 0.02, `${heavyFirst}`);
  });

  t.test('the p95 is what 95 of the latest 100 response times do not exceed', async (t) => {
    const latency = new LatencyTracker();
    for (let ms = 1; ms <= 15; ms++) latency.record(ms);
    t.equal(latency.p95Ms, undefined);
    for (let n = 0; n < 1000; n++) latency.record(n % 100 < 90 ? 10 : 80);
    t.equal(latency.p95Ms, 80);
    for (let n = 0; n < 200; n++) latency.record(n % 100 < 97 ? 10 : 80);
    t.equal(latency.p95Ms, 10);
  });
});

t.test('route-call', async (t) => {
  const FOREVER = { settings: { ...UPSTREAM_SETTINGS, idleTimeoutMs: 1e9 } };

  /** Creates a generator of pseudo-random numbers that are the same each time. */
  function dice(): () => number {
    let seed = 1;
    return () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
  }

  t.test('nodes get calls by their weight', async (t) => {
    const [light, heavy] = [await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh } = await connectScripted(t, [], {
      nodes: [light.nodeOptions('light'), { ...heavy.nodeOptions('heavy'), weight: 4 }],
      random: dice(),
    });
    for (let n = 0; n < 500; n++) await answeringPort(mesh);
    const share = heavy.countHttpCalls('getBalance') / 500;
    t.ok(share > 0.7 && share < 0.9, `${share}`);
  });

  t.test('a node is not called for methods that it does not serve', async (t) => {
    const [few, all] = [await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh } = await connectScripted(t, [], {
      nodes: [{ ...few.nodeOptions('few'), methods: ['getBlockTime'] }, all.nodeOptions('all')],
    });
    t.equal(await answeringPort(mesh), all.port);
    few.replies.getBlockTime = '5';
    t.equal(`${(await mesh.call('getBlockTime', [1])).value}`, '5');
    all.replies.getBalance = brokenReply;
    await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
    t.equal(few.countHttpCalls('getBalance'), 0);
  });

  t.test('a method that a node has refused goes to others first, for a while', async (t) => {
    for (const code of [-32601, -32010]) {
      const { first, second, mesh, clock } = await connectTwo(t, FOREVER);
      const { getBalance } = first.replies;
      first.replies.getBalance = errorReply(`{"code":${code},"message":"no"}`);
      for (let n = 0; n < 3; n++) t.equal(await answeringPort(mesh), second.port);
      t.equal(first.countHttpCalls('getBalance'), 1);
      second.replies.getBalance = errorReply(`{"code":${code},"message":"no"}`);
      await t.rejects(answeringPort(mesh), { code: 'rpc_error', rpcCode: code }, 'when no node can, the error says so');
      if (getBalance !== undefined) first.replies.getBalance = getBalance;
      clock.advance(600_000);
      await waitUntil(() => mesh.nodes().every(({ ws }) => ws === 'down'));
      await advanceUntil(clock, () => mesh.nodes().every(({ ws }) => ws === 'up'));
      t.equal(await answeringPort(mesh), first.port);
    }
  });

  t.test('that a node has no index does not hide that another, which may have it, fails', async (t) => {
    const [without, failing] = [await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh } = await connectScripted(t, [without, failing], FOREVER);
    without.replies.getBalance = errorReply('{"code":-32010,"message":"no"}');
    failing.replies.getBalance = brokenReply;
    await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
  });

  t.test('what a node has pruned an archival node is called for next', async (t) => {
    const [first, second, keeper] = [
      await startScriptedNode(t),
      await startScriptedNode(t),
      await startScriptedNode(t),
    ];
    const { mesh } = await connectScripted(t, [], {
      nodes: [
        first.nodeOptions('first'),
        second.nodeOptions('second'),
        { ...keeper.nodeOptions('keeper'), archival: true },
      ],
    });
    for (const node of [first, second]) {
      node.replies.getTransaction = 'null';
      node.replies.getBlock = errorReply('{"code":-32001,"message":"Block cleaned up"}');
    }
    keeper.replies.getTransaction = '{"slot":5}';
    keeper.replies.getBlock = '{"blockhash":"x"}';
    t.equal(`${(await mesh.call('getTransaction', ['sig'])).value}`, '{"slot":5}');
    t.equal(`${(await mesh.call('getBlock', [5])).value}`, '{"blockhash":"x"}');
    t.equal(second.countHttpCalls('getTransaction') + second.countHttpCalls('getBlock'), 0);
    keeper.replies.getTransaction = 'null';
    t.equal(`${(await mesh.call('getTransaction', ['sig'])).value}`, 'null', 'if it does not know either, so be it');
    keeper.replies.getTransaction = brokenReply;
    t.equal(`${(await mesh.call('getTransaction', ['sig'])).value}`, 'null', 'and if it does not answer');
    keeper.replies.getBlock = brokenReply;
    await t.rejects(mesh.call('getBlock', [6]), { code: 'rpc_error', rpcCode: -32001 }, 'forgotten by all that answer');
    keeper.replies.getBlock = errorReply('{"code":-32601,"message":"Method not found"}');
    await t.rejects(mesh.call('getBlock', [6]), { code: 'rpc_error', rpcCode: -32001 }, 'or by all that can be called');
    keeper.replies.getBlock = errorReply('{"code":-32007,"message":"Slot 6 was skipped"}');
    for (let n = 0; n < 8; n++)
      await t.rejects(mesh.call('getBlock', [6]), { code: 'rpc_error', rpcCode: -32007 }, 'whichever was called first');
  });

  t.test('what a node leaves out without a word is read of an archival node, one a moment behind too', async (t) => {
    const [plain, keeper] = [await startScriptedNode(t), await startScriptedNode(t)];
    keeper.slots = { processed: 97, confirmed: 95, finalized: 65 };
    const { mesh, clock } = await connectScripted(t, [], {
      nodes: [plain.nodeOptions('plain'), { ...keeper.nodeOptions('keeper'), archival: true }],
    });
    const LISTS = ['getSignaturesForAddress', 'getBlocks', 'getBlocksWithLimit'] as const;
    for (const method of LISTS) {
      plain.replies[method] = '[]';
      keeper.replies[method] = (response, call) => {
        const isAhead = (call.params[1].minContextSlot ?? 0) > 95;
        response.end(isAhead ? errorBody(call, '{"code":-32016,"message":"ahead"}') : resultBody(call, '["old"]'));
      };
      const { slot, value } = await mesh.call(method, ['x', { ...CONFIRMED, minContextSlot: 98 }], { minSlot: 90 });
      t.strictSame([`${value}`, slot, plain.countHttpCalls(method)], ['["old"]', 95, 0], method);
    }
    const page = (minSlot: number) =>
      mesh.call('getSignaturesForAddress', ['x', { ...CONFIRMED, minContextSlot: 98 }], { minSlot });
    const ofSeen = t.rejects(page(98), { code: 'rpc_error', rpcCode: -32016 });
    await ofSeen; // neither a slot that the caller has seen is given up, nor what the other has forgotten
    keeper.replies.getSignaturesForAddress = brokenReply;
    t.equal(`${(await page(90)).value}`, '[]', 'without the archival node the other is better than none');

    for (const method of ['getSignatureStatuses', 'getInflationReward'] as const) {
      plain.replies[method] = '{"context":{"slot":98},"value":[{"err":null},null]}';
      keeper.replies[method] = '{"context":{"slot":98},"value":[{"err":null},{"err":null}]}';
    }
    const statuses = async (config: object) =>
      `${(await mesh.call('getSignatureStatuses', [['x', 'y'], config])).value}`;
    t.equal(await statuses({}), '[{"err":null},null]', 'recent ones each node has');
    t.equal(await statuses({ searchTransactionHistory: true }), '[{"err":null},{"err":null}]');

    plain.replies.getBlock = errorReply('{"code":-32009,"message":"missing in long-term storage"}');
    keeper.replies.getBlock = '{"blockhash":"x"}';
    t.equal(`${(await mesh.call('getBlock', [5])).value}`, '{"blockhash":"x"}');
    plain.replies.getSignaturesForAddress = errorReply('{"code":-32020,"message":"not found"}');
    const held: (() => void)[] = [];
    keeper.replies.getSignaturesForAddress = (response, call) => {
      held.push(() => response.end(resultBody(call, '["older"]')));
    };
    const slow = mesh.call('getSignaturesForAddress', ['x', CONFIRMED]);
    const isRefused = () => plain.countHttpCalls('getSignaturesForAddress') === 3;
    await advanceUntil(clock, isRefused);
    for (const answer of held) answer();
    t.equal(`${(await slow).value}`, '["older"]', 'a cursor that a hedge does not know may be known here');
  });

  t.test('an archival node that cannot list, or hangs, delays no list of another', async (t) => {
    const [plain, keeper] = [await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh, clock } = await connectScripted(t, [], {
      nodes: [plain.nodeOptions('plain'), { ...keeper.nodeOptions('keeper'), archival: true }],
      ...FOREVER,
    });
    plain.replies.getBlocks = '[5]';
    plain.replies.getSignaturesForAddress = '[]';
    keeper.replies.getBlocks = errorReply('{"code":-32601,"message":"no"}');
    keeper.replies.getSignaturesForAddress = '["old"]';
    for (let n = 0; n < 2; n++) t.equal(`${(await mesh.call('getBlocks', [5, 6, CONFIRMED])).value}`, '[5]');
    t.equal(keeper.countHttpCalls('getBlocks'), 1);
    const page = async () => `${(await mesh.call('getSignaturesForAddress', ['x', CONFIRMED])).value}`;
    t.equal(await page(), '["old"]');
    plain.replies.getBalance = errorReply('{"code":-32012,"message":"not in its power"}');
    keeper.replies.getBalance = () => {};
    answeringPort(mesh).catch(() => {});
    await waitUntil(() => keeper.countHttpCalls('getBalance') === 1);
    clock.advance(1500);
    t.equal(await page(), '[]');
    t.equal(keeper.countHttpCalls('getSignaturesForAddress'), 1);
  });

  t.test('calls with one affinity go to one node while it is healthy', async (t) => {
    const nodes = [await startScriptedNode(t), await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh } = await connectScripted(t, nodes, { random: Math.random });
    for (const node of nodes) node.replies.getSignaturesForAddress = '[]';
    const calledNodes = (): (ScriptedNode | undefined)[] =>
      nodes.filter((node) => node.countHttpCalls('getSignaturesForAddress') > 0);
    const walk = async (): Promise<void> => {
      for (let page = 0; page < 20; page++) {
        await mesh.call('getSignaturesForAddress', ['walker', CONFIRMED], { affinity: 'walker' });
      }
    };
    await walk();
    const [pinned, ...others] = calledNodes();
    t.equal(others.length, 0);
    await pinned?.close();
    await walk();
    t.equal(calledNodes().length, 2, 'and when that is gone, to one other');
  });

  t.test('a method without minContextSlot has a minimum slot all the same (I8)', async (t) => {
    const [behind, ahead] = [await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh } = await connectScripted(t, [behind, ahead]);
    behind.replies.getTokenLargestAccounts = '{"context":{"slot":90},"value":[]}';
    ahead.replies.getTokenLargestAccounts = '{"context":{"slot":97},"value":[]}';
    const read = (minSlot: number) => mesh.call('getTokenLargestAccounts', ['mint', CONFIRMED], { minSlot });
    t.equal((await read(90)).slot, 90);
    t.equal((await read(95)).slot, 97);
    await t.rejects(read(99), { code: 'rpc_error', rpcCode: -32016 });
    const bounded = ahead.httpRequests.filter(({ text }) => text.includes('minContextSlot')).length;
    t.equal(bounded, 0, 'no node gets it as a parameter');
  });

  t.test('each kind of failure goes to another node, or to the caller, and reveals nothing of the node', async (t) => {
    const html =
      (status: number): ReplyScript =>
      (response) =>
        response.writeHead(status).end('<html>key k3y-0f-th1s-n0de</html>');
    const elsewhere: Record<string, ReplyScript> = {
      '429': (response) => response.writeHead(429).end(),
      '429 with a time': (response) => response.writeHead(429, { 'retry-after': '3' }).end(),
      '500': html(500),
      '502': html(502),
      '503': html(503),
      'an empty body': (response) => response.end(),
      'truncated JSON': (response) => response.end('{"jsonrpc":"2.0","resul'),
      'a wrong id': (response, request) => response.end(resultBody({ ...request, id: request.id + 1 }, '5')),
      'a cut connection': brokenReply,
      'node behind': errorReply('{"code":-32005,"message":"Node is behind","data":{"numSlotsBehind":42}}'),
      'a rate limit in disguise': errorReply('{"code":-32005,"message":"rate limit exceeded"}'),
      'not there yet': errorReply('{"code":-32016,"message":"Minimum context slot has not been reached"}'),
      'not in its power': errorReply('{"code":-32012,"message":"scan aborted"}'),
      'lost by it alone': errorReply('{"code":-32007,"message":"Slot 5 was skipped, or missing"}'),
    };
    const through: Record<string, readonly [ReplyScript, number]> = {
      'slot missing': [errorReply('{"code":-32009,"message":"Slot 5 is missing"}'), -32009],
      'an unsupported version': [errorReply('{"code":-32015,"message":"version (0) is not supported"}'), -32015],
      'a wrong request': [errorReply('{"code":-32602,"message":"Invalid param: WrongSize"}'), -32602],
    };
    for (const [name, reply] of Object.entries(elsewhere)) {
      const { first, second, mesh } = await connectTwo(t);
      first.replies.getBalance = reply;
      t.equal(await answeringPort(mesh), second.port, name);
      t.equal(first.countHttpCalls('getBalance'), 1, name);
    }
    for (const [name, [reply, rpcCode]] of Object.entries(through)) {
      const { first, second, mesh } = await connectTwo(t);
      first.replies.getBalance = reply;
      await t.rejects(answeringPort(mesh), { code: 'rpc_error', rpcCode }, name);
      t.equal(second.countHttpCalls('getBalance'), 0, name);
    }
  });

  t.test('a node that limits one method is still called for others', async (t) => {
    const { first, second, mesh, clock } = await connectTwo(t, FOREVER);
    const { getBalance } = first.replies;
    first.replies.getBalance = (response) => response.writeHead(429, { 'retry-after': '5' }).end();
    first.replies.getBlockTime = '1';
    second.replies.getBlockTime = '2';
    t.equal(await answeringPort(mesh), second.port);
    t.equal(`${(await mesh.call('getBlockTime', [1])).value}`, '1');
    second.replies.getBalance = first.replies.getBalance;
    await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
    await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable', retryAfter: 5 }, 'without another call');
    t.equal(first.countHttpCalls('getBalance') + second.countHttpCalls('getBalance'), 3);
    if (getBalance !== undefined) first.replies.getBalance = getBalance;
    clock.advance(5000);
    t.equal(await answeringPort(mesh), first.port);
  });

  t.test('a hung node delays no caller, and is passed over while it hangs', async (t) => {
    const { first, second, mesh, clock } = await connectTwo(t, FOREVER);
    first.replies.getBalance = () => {};
    const began = clock.monotonic();
    const pending = Promise.all([answeringPort(mesh), answeringPort(mesh), answeringPort(mesh)]);
    await waitUntil(() => first.countHttpCalls('getBalance') === 3);
    let answered: readonly number[] = [];
    pending.then((ports) => {
      answered = ports;
    });
    await advanceUntil(clock, () => answered.length > 0);
    t.strictSame(answered, [second.port, second.port, second.port]);
    t.ok(clock.monotonic() - began < 1000, 'long before the time limit of 2 s');
    t.equal(await answeringPort(mesh), second.port);
    t.equal(first.countHttpCalls('getBalance'), 3, 'not called any more');
  });

  t.test('all attempts together have no more than the time limit', async (t) => {
    const nodes = [await startScriptedNode(t), await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh, clock } = await connectScripted(t, nodes, FOREVER);
    for (const node of nodes) node.replies.getBalance = () => {};
    const began = clock.monotonic();
    let error: unknown;
    answeringPort(mesh).catch((thrown) => {
      error = thrown;
    });
    await advanceUntil(clock, () => error !== undefined);
    t.match(error, { code: 'upstream_timeout' });
    t.ok(clock.monotonic() - began <= UPSTREAM_SETTINGS.timeoutMs + 200);
  });

  t.test('a node whose circuit is open is not called, and soon probed', async (t) => {
    const { node, mesh, clock } = await connectOne(t, FOREVER);
    const { getBalance } = node.replies;
    node.replies.getBalance = brokenReply;
    for (let n = 0; n < 30; n++) await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
    t.ok(node.countHttpCalls('getBalance') <= 25, 'it answered 6 calls at the start: half of all have failed by then');
    t.equal(mesh.nodes()[0]?.status, 'down');
    if (getBalance !== undefined) node.replies.getBalance = getBalance;
    const healed = clock.monotonic();
    await advanceUntil(clock, () => mesh.nodes()[0]?.status === 'ok');
    t.ok(clock.monotonic() - healed <= 2500);
    t.equal(await answeringPort(mesh), node.port);
  });

  t.test('responses in flight take no more memory than the budget, and those of one caller half of it', async (t) => {
    const node = await startScriptedNode(t);
    const settings = { ...UPSTREAM_SETTINGS, connections: 32, maxBytes: 600_000, inFlightBytes: 1_000_000 };
    const { mesh } = await connectScripted(t, [node], { settings });
    const open: (() => void)[] = [];
    node.replies.getBlock = (response, request) => {
      const text = resultBody(request, `"${'x'.repeat(500_000)}"`);
      response.write(text.slice(0, 400_000));
      open.push(() => response.end(text.slice(400_000)));
    };
    const codes: string[] = [];
    for (let n = 0; n < 3; n++) {
      mesh.call('getBlock', [n]).then(
        () => codes.push('ok'),
        ({ code }) => codes.push(code),
      );
    }
    await waitUntil(() => codes.length === 1);
    t.strictSame(codes, ['overloaded']);
    for (const end of open.slice(0, 1)) end();
    await waitUntil(() => codes.length === 2);
    for (const end of open) end();
    await waitUntil(() => codes.length === 3);
    t.strictSame(codes.sort(), ['ok', 'ok', 'overloaded']);
    open.length = 0;
    const cost = new RequestCost('caller', false);
    const outcomes = Promise.allSettled([1, 2].map((n) => mesh.call('getBlock', [n], { cost })));
    await waitUntil(() => open.length === 2);
    t.equal((await mesh.call('getBalance', ['x', CONFIRMED])).slot, 98, 'another has room');
    for (const end of open) end();
    t.match(await outcomes, [{ status: 'rejected' }, { status: 'rejected' }], 'each alone is longer than half');
  });

  t.test('a call counts once, however many nodes it takes; its bytes count of each node, refused or not', async (t) => {
    const { first, second, mesh } = await connectTwo(t, FOREVER);
    const cost = new RequestCost('caller', false);
    for (const node of [first, second]) node.replies.getBalance = brokenReply;
    await t.rejects(mesh.call('getBalance', ['x', CONFIRMED], { cost }));
    t.equal(first.countHttpCalls('getBalance') + second.countHttpCalls('getBalance'), 2);
    t.equal(cost.calls, 1);
    first.replies.getProgramAccounts = second.replies.getProgramAccounts = '[]';
    await mesh.call('getProgramAccounts', ['x'], { cost });
    t.match(cost, { calls: 2, scans: 1 });
    const before = cost.bytes;
    first.replies.getBlockTime = second.replies.getBlockTime = `"${'x'.repeat(UPSTREAM_SETTINGS.maxBytes)}"`;
    await t.rejects(mesh.call('getBlockTime', [1], { cost }), { code: 'result_too_large' });
    t.ok(cost.bytes - before > UPSTREAM_SETTINGS.maxBytes, `${cost.bytes - before}`);
  });

  t.test('slow reads of one caller use no connection of others, nor from the gateway itself', async (t) => {
    const { node, mesh, clock } = await connectOne(t, {
      settings: { ...UPSTREAM_SETTINGS, idleTimeoutMs: 1e9, connections: 32, queue: 1000 },
    });
    node.replies.getBlock = () => {}; // archival blocks take seconds
    const greedy = new RequestCost('greedy', false);
    const outcomes = Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => mesh.call('getBlock', [n], { cost: greedy })),
    );
    await waitUntil(() => node.countHttpCalls('getBlock') > 0);
    const others = Array.from({ length: 8 }, (_, n) => new RequestCost(`other ${n}`, false));
    for (const cost of [...others, undefined])
      t.equal((await mesh.call('getBalance', ['x', CONFIRMED], { cost })).slot, 98);
    t.equal(node.countHttpCalls('getBlock'), 4, 'an eighth of the connections');
    clock.advance(10_000);
    const failures = (await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason.code);
    t.strictSame(new Set(failures), new Set(['upstream_timeout']));
    t.equal(node.countHttpCalls('getBlock'), 4, 'what waited longer than its time limit was never sent');
    t.equal(mesh.nodes()[0]?.status, 'ok');
    t.equal(greedy.calls, 4);
  });

  t.test('an attempt that waits for a connection is dropped when another node has answered', async (t) => {
    const { first, second, mesh, clock } = await connectTwo(t, {
      settings: { ...UPSTREAM_SETTINGS, idleTimeoutMs: 1e9, connections: 4 },
    });
    const cost = new RequestCost('caller', false);
    first.replies.getBlockTime = () => {};
    second.replies.getBlockTime = '5';
    const held = Promise.allSettled([
      mesh.call('getBlockTime', [0], { cost }),
      mesh.call('getBlockTime', [1], { cost }),
    ]);
    await waitUntil(() => first.countHttpCalls('getBlockTime') === 1);
    await advanceUntil(clock, () => second.countHttpCalls('getBlockTime') === 2);
    t.match(await held, [{ status: 'fulfilled' }, { status: 'fulfilled' }]);
    clock.advance(2000);
    await mesh.call('getBlockTime', [2], { cost });
    t.equal(first.countHttpCalls('getBlockTime'), 1, 'the second was never sent to the first node');
  });
});

t.test('server-profiles', async (t) => {
  /** What makes a scripted node answer as each server does. */
  const SERVERS = {
    agave: (node: ScriptedNode) => {
      node.replies.getVersion = '{"feature-set":565236538,"solana-core":"4.2.2"}';
    },

    cloudbreak: (node: ScriptedNode) => {
      node.replies.getVersion = '{"solana-core":"4.2.2-cloudbreak0.1.0"}';
      node.replies.getSlot = (response, request) => {
        const { commitment = 'finalized' } = request.params[0];
        response.end(
          commitment === 'processed'
            ? errorBody(request, '{"code":-32003,"message":"PROCESSED_COMMITMENT_NOT_SUPPORTED"}')
            : resultBody(request, `${node.slots[commitment]}`),
        );
      };
      node.replies.getAccountInfo = (response, request) =>
        response.end(
          request.params[1]?.commitment === 'processed'
            ? errorBody(request, '{"code":-32003,"message":"PROCESSED_COMMITMENT_NOT_SUPPORTED"}')
            : resultBody(request, `{"context":{"slot":${node.slots.confirmed}},"value":null}`),
        );
    },

    sig: (node: ScriptedNode) => {
      node.replies.getVersion = '{"solana-core":"0.2.0","feature-set":1793238286}';
    },

    firedancer: (node: ScriptedNode) => {
      node.replies.getVersion = '{"solana-core":"26.08.1","feature-set":1793238286}\n';
      node.replies.getBlock = (response) => response.writeHead(501).end();
      node.onPubsubRequest = (socket, request) =>
        socket.send(
          request.method === 'slotSubscribe'
            ? resultBody(request, '0')
            : errorBody(request, '{"code":-32601,"message":"Method not found"}'),
        );
    },
  } as const;

  async function startServers(t: Test, names: readonly (keyof typeof SERVERS)[]): Promise<readonly ScriptedNode[]> {
    const nodes = await Promise.all(names.map(() => startScriptedNode(t)));
    for (const [index, name] of names.entries()) SERVERS[name](nodes[index] as ScriptedNode);
    return nodes;
  }

  const account = ['11111111111111111111111111111111', CONFIRMED];

  t.test('cloudbreak: slots are polled without a WebSocket and without a warning', async (t) => {
    const [node] = (await startServers(t, ['cloudbreak'])) as [ScriptedNode];
    const { mesh, clock, problems } = await connectScripted(t, [node]);
    t.strictSame([mesh.tip('processed'), mesh.tip('confirmed'), mesh.tip('finalized')], [98, 98, 68]);
    const session = mesh.openSession();
    session.catch(() => {}); // it is pending until the mesh is closed
    const { getSlot } = node.replies;
    node.replies.getSlot = (response, request) => {
      const { processed, confirmed, finalized } = node.slots;
      if (request.params[0].commitment === 'confirmed')
        node.slots = { processed: processed + 2, confirmed: confirmed + 2, finalized: finalized + 2 }; // two a second
      if (typeof getSlot === 'function') getSlot(response, request);
    };
    await advanceUntil(clock, () => mesh.tip('finalized') === 108);
    t.match(mesh.nodes()[0], { status: 'ok', ws: 'idle', problem: null });
    t.equal(mesh.tip('processed'), mesh.tip('confirmed'), 'a confirmed slot is a processed one');
    t.strictSame(problems, []);
    t.equal(node.pubsubRequests.length, 0);
    t.equal(node.handshakes, 0, 'nor is a WebSocket tried');
    const processed = node.httpRequests.filter(
      ({ method, params }) => method === 'getSlot' && params[0].commitment === 'processed',
    );
    t.equal(processed.length, 1, 'what it refuses is not repeated');
  });

  t.test('cloudbreak: its refusals are those of agave, and turn no node away', async (t) => {
    const [node] = (await startServers(t, ['cloudbreak'])) as [ScriptedNode];
    const { mesh, problems } = await connectScripted(t, [node]);
    await t.rejects(mesh.call('getAccountInfo', ['x', { commitment: 'processed' }]), {
      code: 'rpc_error',
      rpcCode: -32602,
      message: '-32602: Method does not support commitment below `confirmed`',
    });
    node.replies.getBalance = errorReply('{"code":-32000,"message":"RPC_SLOT_BEHIND_MIN_CONTEXT_SLOT"}');
    await t.rejects(mesh.call('getBalance', ['x', { ...CONFIRMED, minContextSlot: 99 }]), {
      code: 'rpc_error',
      rpcCode: -32016,
      status: 503,
    });
    await t.rejects(mesh.call('getBlock', [7]), { code: 'rpc_error', rpcCode: -32601 });
    t.match(mesh.nodes()[0], { status: 'ok' });
    t.strictSame(problems, []);
  });

  t.test('cloudbreak: what it calls absent is only believed where no other node can be called', async (t) => {
    const [index, full] = (await startServers(t, ['cloudbreak', 'agave'])) as [ScriptedNode, ScriptedNode];
    full.replies.getAccountInfo = `{"context":{"slot":98},"value":{"lamports":1}}`;
    const { mesh, clock } = await connectScripted(t, [index, full]);
    for (let n = 0; n < 20; n++) t.match((await mesh.call('getAccountInfo', account)).value.toString(), 'lamports');
    const late = mesh.call('getAccountInfo', account);
    full.replies.getAccountInfo = (response, request) =>
      setTimeout(() => response.end(resultBody(request, '{"context":{"slot":98},"value":{"lamports":2}}')), 50);
    const hedged = mesh.call('getAccountInfo', account);
    for (let n = 0; n < 10; n++) clock.advance(100);
    t.match((await late).value.toString(), 'lamports');
    t.match((await hedged).value.toString(), 'lamports', 'a late answer is not replaced by its null');
    t.equal(index.countHttpCalls('getAccountInfo'), 0);

    index.replies.getProgramAccounts = '{"context":{"slot":98},"value":[]}';
    t.match(await mesh.call('getProgramAccounts', ['x', { withContext: true, ...CONFIRMED }]), { slot: 98 });

    full.replies.getAccountInfo = errorReply('{"code":429,"message":"too many"}');
    await t.rejects(mesh.call('getAccountInfo', account), { code: 'upstream_unavailable' });
    t.match((await mesh.call('getAccountInfo', account)).value.toString(), 'null', 'the other one is rate-limited now');
  });

  t.test('cloudbreak: reads at processed and sessions go to another node', async (t) => {
    const [index, full] = (await startServers(t, ['cloudbreak', 'agave'])) as [ScriptedNode, ScriptedNode];
    const { mesh } = await connectScripted(t, [index, full]);
    index.replies.getEpochInfo = full.replies.getEpochInfo = '{"absoluteSlot":98}';
    for (let n = 0; n < 10; n++) await mesh.call('getEpochInfo', [{ commitment: 'processed' }]);
    t.equal(index.countHttpCalls('getEpochInfo'), 0);
    t.equal((await mesh.openSession()).nodeId, 'node-2');
  });

  t.test('refusals count whatever version is named: several servers may answer behind one address', async (t) => {
    const [node] = (await startServers(t, ['cloudbreak'])) as [ScriptedNode];
    SERVERS.agave(node);
    const { mesh, problems } = await connectScripted(t, [node]);
    t.strictSame([mesh.tip('processed'), mesh.tip('finalized')], [98, 68]);
    t.match(mesh.nodes()[0], { status: 'ok', ws: 'up' });
    t.strictSame(problems, []);
  });

  t.test('sig: its slots are followed; sessions, which need notifications in order, are not opened', async (t) => {
    const [sig, agave] = (await startServers(t, ['sig', 'agave'])) as [ScriptedNode, ScriptedNode];
    const { mesh } = await connectScripted(t, [sig, agave]);
    await waitUntil(() => sig.pubsubRequests.length === 3);
    sig.notify('accountSubscribe', '{"context":{"slot":99},"value":null}', 'confirmed');
    await waitUntil(() => mesh.tip('confirmed') === 99);
    for (let n = 0; n < 5; n++) t.equal((await mesh.openSession()).nodeId, 'node-2');
    t.equal(sig.pubsubRequests.length, 3);
  });

  t.test('a version that got no answer is read again soon, and the node is used as what it names', async (t) => {
    for (const name of ['cloudbreak', 'sig', 'firedancer'] as const) {
      const [node, agave] = (await startServers(t, [name, 'agave'])) as [ScriptedNode, ScriptedNode];
      node.replies.getVersion = brokenReply;
      const { mesh, clock } = await connectScripted(t, [node, agave]);
      const startMs = clock.monotonic();
      await advanceUntil(clock, () => node.countHttpCalls('getVersion') >= 4);
      t.ok(clock.monotonic() - startMs < 10_000, 'a few times within seconds');
      SERVERS[name](node);
      const before = node.countHttpCalls('getVersion');
      await advanceUntil(clock, () => node.countHttpCalls('getVersion') > before);
      for (let n = 0; n < 5; n++) t.equal((await mesh.openSession()).nodeId, 'node-2', name);
      const found = node.countHttpCalls('getVersion');
      const polls = node.countHttpCalls('getSlot');
      await advanceUntil(clock, () => node.countHttpCalls('getSlot') > polls + 20);
      t.equal(node.countHttpCalls('getVersion'), found, 'what is known is not read again');
    }
  });

  t.test('a node that has no getVersion is not called for it again and again', async (t) => {
    const { node, clock } = await connectOne(t);
    const calls = node.countHttpCalls('getSlot');
    await advanceUntil(clock, () => node.countHttpCalls('getSlot') > calls + 20);
    t.equal(node.countHttpCalls('getVersion'), 1);
  });

  t.test('a session that was being opened when the kind of server became known is not used', async (t) => {
    const [sig, agave] = (await startServers(t, ['sig', 'agave'])) as [ScriptedNode, ScriptedNode];
    const { onPubsubRequest } = sig;
    sig.replies.getVersion = brokenReply;
    const { mesh, clock } = await connectScripted(t, [sig, agave]);
    const held: (() => void)[] = [];
    sig.onPubsubRequest = (socket, request) => held.push(() => onPubsubRequest(socket, request));
    const opening = mesh.openSession();
    await waitUntil(() => held.length > 0); // its profile was checked before
    const before = sig.countHttpCalls('getVersion');
    SERVERS.sig(sig);
    await advanceUntil(clock, () => sig.countHttpCalls('getVersion') > before);
    await waitUntil(() => sig.sockets.size === 2); // its feed was replaced
    for (const answer of held) answer();
    t.equal((await opening).nodeId, 'node-2');
  });

  t.test('sig: a node that is behind is no fault of the caller', async (t) => {
    const [sig, agave] = (await startServers(t, ['sig', 'agave'])) as [ScriptedNode, ScriptedNode];
    sig.replies.getBalance = errorReply('{"code":-32600,"message":"RpcMinContextSlotNotMet"}');
    const { mesh } = await connectScripted(t, [sig, agave]);
    for (let n = 0; n < 10; n++) t.equal(await answeringPort(mesh), agave.port);
  });

  t.test('firedancer: a method that it has not implemented does not turn the node away', async (t) => {
    const [node, other] = (await startServers(t, ['firedancer', 'agave'])) as [ScriptedNode, ScriptedNode];
    other.replies.getBlock = '{"blockhash":"x"}';
    const { mesh, problems } = await connectScripted(t, [node, other]);
    for (let n = 0; n < 20; n++) await mesh.call('getBlock', [7]);
    t.equal(node.countHttpCalls('getBlock'), 0);
    node.replies.getBalance = (response) => response.writeHead(501).end();
    for (let n = 0; n < 20; n++) t.equal(await answeringPort(mesh), other.port);
    t.match(mesh.nodes()[0], { status: 'ok', problem: null });
    t.strictSame(problems, []);
  });

  t.test('firedancer: its WebSocket notifies of processed slots, the others are polled', async (t) => {
    const [node] = (await startServers(t, ['firedancer'])) as [ScriptedNode];
    const { mesh, clock, problems } = await connectScripted(t, [node]);
    const channel = node.sockets.values().next().value;
    channel?.send(
      '{"jsonrpc":"2.0","method":"slotNotification","params":{"subscription":0,"result":{"parent":101,"root":70,"slot":102}}}\n',
    );
    await waitUntil(() => mesh.tip('processed') === 101);
    node.slots = { processed: 101, confirmed: 100, finalized: 70 };
    await advanceUntil(clock, () => mesh.tip('finalized') === 70 && mesh.tip('confirmed') === 100);
    t.strictSame(pluck(node.pubsubRequests, 'method'), ['slotSubscribe']);
    t.strictSame(problems, [], 'nothing that it refuses was tried');
  });

  t.test('a node that becomes another kind of server is used as that, at most a minute later', async (t) => {
    const clock = new ManualClock();
    const [node] = (await startServers(t, ['agave'])) as [ScriptedNode];
    const { mesh } = await connectScripted(t, [node], { clock });
    t.match(mesh.nodes()[0], { ws: 'up' });
    SERVERS.cloudbreak(node);
    clock.advance(60_000);
    for (const socket of node.sockets) socket.terminate();
    await advanceUntil(clock, () => mesh.nodes()[0]?.ws === 'idle');
    await waitUntil(() => node.sockets.size === 0);
    t.equal(node.countHttpCalls('getVersion'), 2);
  });
});

t.test('slot-consensus', async (t) => {
  const SETTINGS = { maxSlotJump: 64, recoverySlots: 8, idleTimeoutMs: 2000 };

  function setUp() {
    const clock = new ManualClock();
    const expectedGenesisHash = undefined;
    const consensus = new SlotConsensus({ clock, settings: SETTINGS, expectedGenesisHash, onQuarantine() {} });
    consensus.start();
    const node = (id: string): NodeSlots => {
      const slots: NodeSlots = new NodeSlots(clock, (commitment, slot) =>
        consensus.observe(id, commitment, slot, slots),
      );
      return slots;
    };
    return { clock, consensus, node };
  }

  /** Slots by which one report may be ahead, and by which the time until the first measurement is assumed too fast. */
  const MAX_LEAD_SLOTS = SETTINGS.maxSlotJump + 12;

  /** Ways to lie: each returns the slot that the liar reports, given the true one, the tip and the milliseconds passed. */
  const LIES: Readonly<Record<string, (slot: number, tip: number, ms: number) => number>> = {
    'far ahead from the start': (slot) => slot + SETTINGS.maxSlotJump,
    'as far beyond the tip as one node may': (_slot, tip) => tip + SETTINGS.maxSlotJump,
    'always one beyond the tip': (_slot, tip) => tip + 1,
    'at 66 slots a second': (_slot, _tip, ms) => 1000 + Math.floor(ms / 15),
    'at 66 slots a second, from far behind': (_slot, _tip, ms) => 400 + Math.floor(ms / 15),
    'just behind, then fast': (slot, _tip, ms) => slot - 20 + Math.floor((ms % 10_000) / 250),
  };

  t.test('I16: whatever a liar reports, honest nodes decide how fast slots may pass', async (t) => {
    for (const [title, lie] of Object.entries(LIES)) {
      for (const slotMs of SLOT_TIMES) {
        for (const honestCount of [1, 2]) {
          const { clock, consensus, node } = setUp();
          const honest = Array.from({ length: honestCount }, (_, n) => node(`honest-${n}`));
          const liar = node('liar');
          let [slot, lead, isAnyRefused] = [1000, 0, false];
          for (const slots of [...honest, liar]) slots.observe('processed', slot);
          for (let ms = 50; ms <= 120_000; ms += 50) {
            clock.advance(50);
            const trueSlot = 1000 + Math.floor(ms / slotMs);
            if (trueSlot > slot) for (const slots of honest) slots.observe('processed', trueSlot);
            slot = trueSlot;
            liar.observe('processed', lie(slot, consensus.tips.newest('processed') ?? 0, ms));
            lead = Math.max(lead, (consensus.tips.newest('processed') ?? 0) - slot);
            isAnyRefused ||= honest.some((_, n) => !consensus.isTrusted(`honest-${n}`));
          }
          const when = `${title}, at ${slotMs} ms beside ${honestCount}`;
          t.ok(lead <= MAX_LEAD_SLOTS, `${when}: ahead by ${lead}`);
          t.notOk(isAnyRefused, `${when}: no honest node is quarantined`);
        }
      }
    }
  });

  t.test('a node that falls behind leaves the others accepted, at the pace that it showed before', async (t) => {
    for (const slotMs of SLOT_TIMES) {
      const { clock, consensus, node } = setUp();
      const [ahead, slow] = [node('ahead'), node('slow')];
      let refusedMs: number | undefined;
      for (let n = 0; n < 180_000 / slotMs; n++) {
        clock.advance(slotMs);
        ahead.observe('processed', 1000 + n);
        const healthy = Math.min(n, Math.ceil(60_000 / slotMs));
        slow.observe('processed', 1000 + healthy + Math.floor((n - healthy) / 2)); // half as fast from then on
        if (!consensus.isTrusted('ahead')) refusedMs ??= n * slotMs;
      }
      t.equal(refusedMs, undefined, `${slotMs} ms`);
    }
  });

  t.test('the slot time is that of the honest nodes, be a false slot ever so early', async (t) => {
    const { clock, consensus, node } = setUp();
    const nodes = [node('a'), node('b'), node('liar')] as const;
    for (let n = 0; n < 10; n++) {
      for (const [i, slots] of nodes.entries()) slots.observe('processed', 1000 + n + (i === 2 && n > 1 ? 20 : 0));
      clock.advance(200);
    }
    t.equal(consensus.slotTimeMs, 200);
  });
});

t.test('agreed-call', async (t) => {
  const NEEDED = 2;
  const compare = async ({ value, slot }: RpcResponse): Promise<ConsensusData> => {
    const text = value.toString();
    if (text === 'null') return { digest: NOTHING, slot: undefined, needsSlot: slot };
    const { clockSlot = slot } = JSON.parse(text);
    return { digest: text, facts: () => new Map([['value', text.replaceAll('x', '')]]), slot, needsSlot: clockSlot };
  };

  interface Answer {
    readonly slot: number;
    readonly value: string;
  }

  /** Connects a mesh over nodes that answer in turn, the last answer again and again; an operator each unless named. */
  async function connect(
    t: Test,
    scripts: readonly (readonly Answer[])[],
    operators: readonly string[] = [],
    sampleRate = 0,
  ) {
    const nodes = await Promise.all(scripts.map(() => startScriptedNode(t)));
    const floors: (readonly number[])[] = scripts.map(() => []);
    for (const [i, node] of nodes.entries()) {
      const answers = [...(scripts[i] ?? [])];
      node.replies.getBalance = (response, call) => {
        floors[i] = [...(floors[i] ?? []), call.params[1].minContextSlot ?? 0];
        const [answer] = answers.length > 1 ? answers.splice(0, 1) : answers;
        response.end(resultBody(call, `{"context":{"slot":${answer?.slot}},"value":${answer?.value}}`));
      };
    }
    const found: [node: string, digest: string | undefined, expected: string | undefined, isRepeated: boolean][] = [];
    const undecided: string[][] = [];
    const refused: string[] = [];
    const { mesh, clock } = await connectMeshTo(
      t,
      nodes.map((node, i) => ({ ...node.nodeOptions('abcd'[i] ?? ''), operator: operators[i] ?? `of-${i}` })),
      {
        agreement: {
          needed: NEEDED,
          sampleRate,
          onDisagreement: ({ nodeId, digest, expected }, isRepeated) =>
            found.push([nodeId, digest, expected, isRepeated]),
          onUndecided: ({ votes }) => undecided.push(votes.map(({ digest }) => digest)),
        },
      },
    );
    mesh.agreement?.onContradicted((nodeId) => refused.push(nodeId));
    /** Returns the value that some operators gave, and how many agreed. */
    const read = async (count = 2, demanded = 1): Promise<string> => {
      const options = { agree: { count, demanded, compare } };
      const { value, agreement } = await mesh.call('getBalance', ['x', CONFIRMED], options);
      return `${value} ${agreement?.agreed}/${agreement?.read} at ${agreement?.slot}`;
    };
    const calls = (): readonly number[] => nodes.map((node) => node.countHttpCalls('getBalance'));
    return { nodes, mesh, clock, read, calls, floors, found, undecided, refused };
  }

  const at = (slot: number, value: string): Answer => ({ slot, value });
  const always = (value: string): readonly Answer[] => [at(98, value)];

  t.test('two operators that give the same at one slot agree, and no third is read', async (t) => {
    const { read, calls, found } = await connect(t, [always('1'), always('1'), always('1')]);
    t.equal(await read(), '1 2/2 at 98');
    t.equal(await read(3), '1 3/3 at 98');
    t.strictSame(calls(), [2, 2, 1]);
    t.strictSame(found, []);
  });

  t.test('operators that have nothing do not outvote one that has something', async (t) => {
    const { nodes, read, calls, found, undecided } = await connect(t, [always('null'), always('1'), always('null')]);
    t.equal(await read(), '1 1/2 at 98');
    t.equal(await read(3), '1 1/2 at 98');
    t.strictSame(calls(), [2, 2, 2]);
    t.strictSame([found, undecided], [[], []]);
    const [other, holder] = nodes;
    if (other === undefined || holder === undefined) throw new Error('no node');
    holder.replies.getBalance = errorReply('{"code":-32005,"message":"behind"}');
    t.equal(await read(), 'null 2/2 at 98');
    t.equal(await read(2, 2), 'null 2/2 at 98', 'two say that there is nothing');
    await t.rejects(read(3, 3), { code: 'no_agreement' });
    for (const node of nodes.slice(1)) node.replies.getBalance = errorReply('{"code":-32007,"message":"skipped"}');
    other.replies.getBalance = brokenReply;
    await t.rejects(read(2, 2), { code: 'rpc_error', rpcCode: -32007 }, 'the failure that says most');
    await t.rejects(read(3, 3), { code: 'no_agreement' }, 'fewer refuse alike than are demanded');
    holder.replies.getBalance = errorReply('{"code":-32009,"message":"skipped, or missing in long-term storage"}');
    await t.rejects(read(2, 2), { code: 'rpc_error' }, 'two codes may say the same');
  });

  t.test('where operators have nothing, nobody waits long for another', async (t) => {
    const { nodes, clock, read, calls } = await connect(t, [always('null'), always('null'), always('null'), []]);
    const [, , , hung] = nodes;
    if (hung === undefined) throw new Error('no node');
    hung.replies.getBalance = () => {};
    const began = clock.monotonic();
    let answer = '';
    void read().then((text) => {
      answer = text;
    });
    await waitUntil(() => calls()[3] === 1);
    await advanceUntil(clock, () => answer !== '');
    t.equal(answer, 'null 3/3 at 98');
    t.ok(clock.monotonic() - began < 1000, `${clock.monotonic() - began} ms`);
  });

  t.test('operators that end in one turn all count', async (t) => {
    const { mesh, calls } = await connect(t, [always('1'), always('1')]);
    const held: (() => void)[] = [];
    const compareTogether = async (response: RpcResponse): Promise<ConsensusData> => {
      await new Promise<void>((resolve) => {
        held.push(resolve);
        if (held.length === 2) for (const end of held) end();
      });
      return compare(response);
    };
    const { agreement } = await mesh.call('getBalance', ['x', CONFIRMED], {
      agree: { count: 2, compare: compareTogether },
    });
    t.match([agreement, calls()], [{ agreed: 2, read: 2 }, [1, 1]]);
  });

  t.test('an older slot is read again until it is that of the other', async (t) => {
    const { read, floors } = await connect(t, [[at(97, '1'), at(98, '2')], always('2')]);
    t.equal(await read(), '2 2/2 at 98');
    t.strictSame(floors, [[0, 98], [0]]);
  });

  t.test('equal values of two slots are no agreement, and nobody waits for more than two reads', async (t) => {
    const { read, clock, calls, found } = await connect(t, [always('1'), [at(99, '1')]]);
    let answer = '';
    void read().then((text) => {
      answer = text;
    });
    await waitUntil(() => calls()[0] === 2); // both have answered, and the older one is read again
    await advanceUntil(clock, () => answer !== '');
    t.equal(answer, '1 1/2 at 99', 'the newer one is given');
    t.ok((calls()[0] ?? 0) <= 3);
    t.strictSame(found, []);
  });

  t.test('a third operator decides, whoever answers first; the odd one is refused the second time', async (t) => {
    const { mesh, read, calls, found, refused } = await connect(t, [
      [at(98, '7'), at(99, '7')],
      [at(98, '1'), at(99, '1')],
      [at(98, '1'), at(99, '1')],
    ]);
    t.equal(await read(), '1 2/3 at 98');
    t.strictSame(found, [['a', '7', '1', false]]);
    t.strictSame(refused, []);
    t.equal(await read(), '1 2/3 at 99');
    t.strictSame(found.slice(1), [['a', '7', '1', true]]);
    t.strictSame(refused, ['a']);
    t.equal(mesh.nodes()[0]?.status, 'down');
    t.match(mesh.agreement?.disagreements.problems(), [
      /^a gave another value of getBalance at slot 99 than two operators, with the digest 7 where theirs is 1; since/,
    ]);
    t.equal(await read(), '1 2/2 at 99');
    t.strictSame(calls(), [2, 3, 3], 'it is called no more');
  });

  t.test('a node whose Clock runs ahead is not believed, and keeps no others from agreeing', async (t) => {
    const ahead = always('{"clockSlot":105}');
    const two = await connect(t, [ahead, always('1')]);
    const reading = two.read();
    let answer = '';
    void reading.then((text) => {
      answer = text;
    });
    await waitUntil(() => two.floors[1]?.includes(105) === true);
    await advanceUntil(two.clock, () => answer !== '');
    t.equal(answer, '1 1/2 at 98', 'the other one is given');
    const three = await connect(t, [ahead, always('1'), always('1')]);
    let decided = '';
    void three.read(3).then((text) => {
      decided = text;
    });
    await waitUntil(() => three.floors[1]?.includes(105) === true);
    await advanceUntil(three.clock, () => decided !== '');
    t.equal(decided, '1 2/3 at 98');
    t.strictSame([two.found, two.undecided, three.found, three.undecided], [[], [], [], []]);
  });

  t.test('lies of one slot count as one; after an hour the first is forgotten', async (t) => {
    const { read, clock, found, refused } = await connect(t, [
      [at(98, '7'), at(98, '8'), at(99, '7')],
      [at(98, '1'), at(98, '1'), at(99, '1')],
      [at(98, '1'), at(98, '1'), at(99, '1')],
    ]);
    await read();
    await read();
    t.equal(found.length, 1);
    clock.advance(3_600_001);
    t.equal(await read(), '1 2/3 at 99');
    const repeated = found.map(([, , , isRepeated]) => isRepeated);
    t.strictSame(repeated, [false, false]);
    t.strictSame(refused, []);
  });

  t.test('without a majority an alarm is raised, and nobody is counted', async (t) => {
    for (const values of [
      ['1', '2'],
      ['1', '2', '3'],
    ]) {
      const { read, found, undecided, mesh } = await connect(t, values.map(always));
      t.equal(await read(), `1 1/${values.length} at 98`);
      t.strictSame(undecided, [values]);
      t.strictSame(found, []);
      t.match(mesh.agreement?.disagreements.problems(), [/none of them has a majority/]);
    }
  });

  t.test('what a parser adds is no proof: the answer has no agreement, and no node is counted', async (t) => {
    const { read, found, undecided } = await connect(t, [always('"1x"'), always('"1"')]);
    t.match(await read(), / 1\/2 at 98$/);
    t.strictSame([found, undecided], [[], []]);
  });

  t.test('the nodes of one operator are one voice', async (t) => {
    const { read, calls } = await connect(t, [always('1'), always('1'), always('1')], ['x', 'x', 'y']);
    t.equal(await read(3), '1 2/2 at 98');
    t.strictSame(calls(), [1, 0, 1]);
  });

  t.test('another operator is read where one fails, or is slow', async (t) => {
    const { nodes, read, clock, calls } = await connect(t, [always('1'), always('1'), always('1')]);
    const [, second] = nodes;
    if (second === undefined) throw new Error('no node');
    second.replies.getBalance = errorReply('{"code":-32005,"message":"behind"}');
    t.equal(await read(), '1 2/2 at 98');
    second.replies.getBalance = () => {}; // never answers
    let answer = '';
    void read().then((text) => {
      answer = text;
    });
    await waitUntil(() => calls()[1] === 2);
    clock.advance(250);
    await waitUntil(() => answer !== '');
    t.equal(answer, '1 2/2 at 98');
    t.strictSame(calls(), [2, 2, 2]);
  });

  t.test('of one operator alone it is one voice, and a part is compared in the background', async (t) => {
    const honest = await connect(t, [always('7'), always('1'), always('1')]);
    t.equal(await honest.read(1), '7 1/2 at 98');
    t.strictSame(honest.calls(), [1, 0, 0]);
    const sampled = await connect(t, [always('7'), always('1'), always('1')], [], 1);
    t.equal(await sampled.read(1), '7 1/2 at 98', 'nobody waits for it');
    await waitUntil(() => sampled.found.length === 1);
    t.strictSame(sampled.found, [['a', '7', '1', false]]);
    t.strictSame(sampled.calls(), [1, 1, 1]);
  });
});
