import t from 'tap';
import { RequestCost } from '../../../../src/domain/request-cost.ts';
import {
  advanceUntil,
  answeringPort,
  brokenReply,
  CONFIRMED,
  connectScripted,
  errorReply,
  startScriptedNode,
} from '../../../support/mesh-harness.ts';
import { type ReplyScript, resultBody, type ScriptedNode, waitUntil } from '../../../support/scripted-node.ts';
import { UPSTREAM_SETTINGS } from '../../../support/upstream-settings.ts';

const FOREVER = { settings: { ...UPSTREAM_SETTINGS, silenceMs: 1e9 } };

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
    const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh, clock } = await connectScripted(t, [first, second], FOREVER);
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

t.test('what a node has pruned an archival node is called for next', async (t) => {
  const [first, second, keeper] = [await startScriptedNode(t), await startScriptedNode(t), await startScriptedNode(t)];
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
  t.equal(
    ahead.httpRequests.filter(({ text }) => text.includes('minContextSlot')).length,
    0,
    'no node gets it as a parameter',
  );
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
    const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh } = await connectScripted(t, [first, second]);
    first.replies.getBalance = reply;
    t.equal(await answeringPort(mesh), second.port, name);
    t.equal(first.countHttpCalls('getBalance'), 1, name);
  }
  for (const [name, [reply, rpcCode]] of Object.entries(through)) {
    const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
    const { mesh } = await connectScripted(t, [first, second]);
    first.replies.getBalance = reply;
    await t.rejects(answeringPort(mesh), { code: 'rpc_error', rpcCode }, name);
    t.equal(second.countHttpCalls('getBalance'), 0, name);
  }
});

t.test('a node that limits one method is still called for others', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh, clock } = await connectScripted(t, [first, second], FOREVER);
  const { getBalance } = first.replies;
  first.replies.getBalance = (response) => response.writeHead(429, { 'retry-after': '5' }).end();
  first.replies.getBlockTime = '1';
  second.replies.getBlockTime = '2';
  t.equal(await answeringPort(mesh), second.port);
  t.equal(`${(await mesh.call('getBlockTime', [1])).value}`, '1');
  second.replies.getBalance = first.replies.getBalance;
  await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable' });
  await t.rejects(answeringPort(mesh), { code: 'upstream_unavailable', retryAfter: 5 }, 'without asking again');
  t.equal(first.countHttpCalls('getBalance') + second.countHttpCalls('getBalance'), 3);
  if (getBalance !== undefined) first.replies.getBalance = getBalance;
  clock.advance(5000);
  t.equal(await answeringPort(mesh), first.port);
});

t.test('a hung node delays no caller, and is passed over while it hangs', async (t) => {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh, clock } = await connectScripted(t, [first, second], FOREVER);
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
  const node = await startScriptedNode(t);
  const { mesh, clock } = await connectScripted(t, [node], FOREVER);
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
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh } = await connectScripted(t, [first, second], FOREVER);
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

t.test('slow reads of one caller take no connection from others, nor from the gateway itself', async (t) => {
  const node = await startScriptedNode(t);
  const { mesh, clock } = await connectScripted(t, [node], {
    settings: { ...UPSTREAM_SETTINGS, silenceMs: 1e9, connections: 32, queue: 1000 },
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
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  const { mesh, clock } = await connectScripted(t, [first, second], {
    settings: { ...UPSTREAM_SETTINGS, silenceMs: 1e9, connections: 4 },
  });
  const cost = new RequestCost('caller', false);
  first.replies.getBlockTime = () => {};
  second.replies.getBlockTime = '5';
  const held = Promise.allSettled([mesh.call('getBlockTime', [0], { cost }), mesh.call('getBlockTime', [1], { cost })]);
  await waitUntil(() => first.countHttpCalls('getBlockTime') === 1);
  await advanceUntil(clock, () => second.countHttpCalls('getBlockTime') === 2);
  t.match(await held, [{ status: 'fulfilled' }, { status: 'fulfilled' }]);
  clock.advance(2000);
  await mesh.call('getBlockTime', [2], { cost });
  t.equal(first.countHttpCalls('getBlockTime'), 1, 'the second was never sent to the first node');
});
