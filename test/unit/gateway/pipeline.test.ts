import t from 'tap';
import { Cache } from '../../../src/gateway/cache/cache.ts';
import { type Pipeline, startPipeline } from '../../../src/gateway/pipeline/pipeline.ts';
import { performance } from '../../../src/gateway/routes/performance.ts';
import type { RouteContext } from '../../../src/gateway/routes/routing/route.ts';
import { RouteReadThrough, readAnswer } from '../../../src/gateway/routes/routing/route-read-through.ts';
import type { Mesh } from '../../../src/gateway/upstream/mesh/mesh.ts';
import { MeshTips } from '../../../src/gateway/upstream/mesh/mesh-tips.ts';
import { ClusterVitals } from '../../../src/shared/domain/cluster-vitals.ts';
import type { EpochInfo } from '../../../src/shared/domain/epoch-info.ts';
import type { Slot } from '../../../src/shared/domain/slot.ts';
import { waitFor } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const noNode: Mesh['call'] = async () => {
  throw new Error('no node');
};

/** Starts a pipeline whose consumers record their calls, over a mesh whose tips a test sets. */
function open(answer = noNode, tipBefore?: Slot) {
  const clock = new ManualClock();
  const tips = new MeshTips();
  if (tipBefore !== undefined) tips.observe('finalized', tipBefore);
  const calls: string[] = [];
  const epochs: EpochInfo[] = [];
  const failing = { kinds: '', parts: [] as string[] };
  const record = (call: string): void => {
    calls.push(call);
    if (failing.kinds.includes(call.split(' ')[0] ?? '')) throw new RangeError(call);
  };
  const mesh: Mesh = {
    genesisHash: 'test',
    apiVersion: undefined,
    connect: async () => 'test',
    call: (method, ...more) => {
      calls.push(method);
      return answer(method, ...more);
    },
    openSession: () => new Promise(() => {}),
    tip: (commitment) => tips.newest(commitment),
    acceptsSlot: () => true,
    onTip: (commitment, listener) => tips.onTip(commitment, listener),
    slotTimeMs: 400,
    nodes: () => [],
    figures: () => [],
    close: async () => {},
  };
  const cache = new Cache({ clock, bytes: 1_000_000, maxStaleMs: 60_000, hotKeys: 10 });
  const vitals = new ClusterVitals();
  const pipeline: Pipeline = startPipeline({
    mesh,
    cache,
    clock,
    vitals,
    liveSources: [{ onTip: (commitment) => record(`live ${commitment} at ${cache.tip}`) }],
    rings: [{ advance: (slot, finalizedSlot) => record(`ring ${slot} ${finalizedSlot}`) }],
    equivocationGuard: { advance: (slot) => record(`guard ${slot}`) },
    streamId: 'test',
    refresh: { epochMs: 1000, performanceMs: 1000, priorityFeeMs: 1000 },
    throttleMs: 100,
    repeatAfterMs: 1000,
    isHealthy: () => true,
    onFrame({ slot }, _, epoch) {
      epochs.push(epoch);
      record(`frame ${slot}`);
    },
    onError: (part) => failing.parts.push(part),
  });
  const reset = (): string[] => calls.splice(0);
  const finalize = (slot: Slot): string[] => {
    tips.observe('finalized', slot);
    return reset();
  };
  return { clock, cache, tips, vitals, pipeline, calls, epochs, failing, reset, finalize };
}

t.test('a new slot reaches live sources, the cache, warm reads and the guard, in this order', async (t) => {
  const { cache, finalize } = open();
  t.strictSame(finalize(10), [
    'live processed at 0',
    'getEpochInfo',
    'getRecentPerformanceSamples',
    'getRecentPrioritizationFees',
    'live confirmed at 10',
    'live finalized at 10',
    'guard 10',
    'ring 10 10',
  ]);
  t.match([cache.tip, cache.peek('/api/v1/slot')?.result], [10, '10']);
});

t.test('a slot that is known when the pipeline starts reaches all of them immediately', async (t) => {
  const { cache, finalize, reset } = open(noNode, 10);
  const reads = ['getEpochInfo', 'getRecentPerformanceSamples', 'getRecentPrioritizationFees'];
  const started = reset();
  t.match([cache.tip, cache.peek('/api/v1/slot')?.result], [10, '10']);
  for (const call of ['guard 10', ...reads]) t.equal(started.filter((other) => other === call).length, 1, call);
  t.strictSame(finalize(10), [], 'it is no news');
  t.match(finalize(11), ['live processed at 10', 'live confirmed at 11', 'live finalized at 11', 'guard 11']);
});

t.test('a read that failed is repeated after a second, and its part counts as failing until then', async (t) => {
  const { clock, tips, vitals, reset } = open();
  tips.observe('processed', 10);
  await new Promise(setImmediate);
  t.strictSame([...vitals.failingParts], ['/epoch', '/performance', '/priority-fee']);
  reset();
  clock.advance(999);
  tips.observe('processed', 11);
  t.strictSame(reset(), ['live processed at 10']);
  clock.advance(1);
  tips.observe('processed', 12);
  t.match(reset(), ['live processed at 11', 'getEpochInfo']);
});

t.test('a part that a request waits for is read with the next slot', async (t) => {
  let tip = 10;
  const { cache, clock, tips, reset } = open(async () => {
    const result = Buffer.from('[]');
    return { slot: tip, result, value: result };
  });
  const advance = async (): Promise<number> => {
    tips.observe('processed', tip);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    return reset().filter((call) => call === 'getRecentPerformanceSamples').length;
  };
  t.equal(await advance(), 1);
  tip = 11;
  t.equal(await advance(), 0);
  const mesh = { tip: () => tip, slotTimeMs: 400 };
  const context = { cache, clock, mesh } as unknown as RouteContext; // the read of a live answer uses no other member
  const reads = new RouteReadThrough(context, () => {});
  const request = { route: performance, params: {}, key: '/api/v1/performance', minSlot: 12 };
  const waiting = readAnswer(reads, request);
  tip = 12;
  t.equal(await advance(), 1, 'though it is not due');
  clock.advance(20);
  t.equal((await waiting).entry.slot, 12);
  tip = 13;
  t.equal(await advance(), 0);
  for (; tip < 400; tip++) {
    clock.advance(400);
    tips.observe('processed', tip);
  }
  t.throws(() => reads.begin({ ...request, minSlot: undefined }, { resolve() {}, reject() {} }), {
    code: 'stale',
    message: /no node has answered/,
  });
});

t.test('what a node that is behind says later makes no frame go back, nor its epoch', async (t) => {
  let [slot, height] = [110, 109];
  const { clock, cache, tips, calls, epochs } = open(async (method) => {
    const epoch = `{"absoluteSlot":${slot},"blockHeight":${height},"epoch":0,"slotIndex":1,"slotsInEpoch":999,"transactionCount":${height}}`;
    const sample = `{"slot":${slot},"numTransactions":${height},"numNonVoteTransactions":1,"numSlots":9,"samplePeriodSecs":1}`;
    const results: Record<string, string> = { getEpochInfo: epoch, getRecentPerformanceSamples: `[${sample}]` };
    const result = Buffer.from(results[method] ?? '[]');
    return { slot, result, value: result };
  });
  for (const [atSlot, atHeight, expected] of [
    [110, 109, 109],
    [105, 105, 109],
    [112, 111, 111],
  ] as const) {
    [slot, height] = [atSlot, atHeight];
    for (let step = 0; step < 2; step++) {
      clock.advance(1000);
      tips.observe('processed', 120 + calls.length); // a newer one each time
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    }
    const network = JSON.parse(cache.peek('/api/v1/network')?.result?.toString() ?? '{}');
    t.match(network, { blockHeight: expected, transactionCount: expected, tps: expected });
    t.equal(epochs.at(-1)?.blockHeight, expected);
  }
});

t.test('a read that cannot be published is a read that failed, and the pipeline goes on', async (t) => {
  const rows = Array.from({ length: 200_000 }, (_, slot) => `{"slot":${slot},"prioritizationFee":1}`);
  const { tips, vitals, clock, calls, reset } = open(async (method) => {
    if (method !== 'getRecentPrioritizationFees') throw new Error('no node');
    const result = Buffer.from(`[${rows}]`);
    return { slot: 10, result, value: result };
  });
  tips.observe('finalized', 10);
  await waitFor(() => vitals.failingParts.has('/priority-fee'), 'the failure');
  clock.advance(1000);
  reset();
  tips.observe('finalized', 11);
  t.ok(calls.includes('guard 11') && calls.includes('getRecentPrioritizationFees'));
});

/** Answers a node's method with an epoch, or with nothing. */
function emptyAnswer(method: string) {
  const epoch = '{"absoluteSlot":10,"blockHeight":9,"epoch":0,"slotIndex":10,"slotsInEpoch":100,"transactionCount":1}';
  const result = Buffer.from(method === 'getEpochInfo' ? epoch : '[]');
  return { slot: 10, result, value: result };
}

t.test('the first frame comes when each part was read or has failed once, without another slot', async (t) => {
  let fail = (_: Error): void => {};
  const { tips, calls, reset } = open(async (method) => {
    if (method === 'getRecentPerformanceSamples') return new Promise((_, reject) => (fail = reject));
    return emptyAnswer(method);
  });
  tips.observe('processed', 10);
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  t.notMatch(reset().join(), 'frame', 'one part is still being read');
  fail(new Error('no samples'));
  await new Promise(setImmediate);
  t.strictSame(calls, ['frame 10']);
});

t.test('work that throws fails its own part, is reported once, and the pipeline goes on', async (t) => {
  const { clock, failing, tips, vitals, reset, finalize } = open(async (method) => emptyAnswer(method));
  tips.observe('processed', 9);
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  clock.advance(100);
  const calls = (slot: Slot) => ['live', 'frame', 'guard', 'ring'].map((kind) => `${kind} ${slot}`);
  const kindsAt = (slot: Slot): string[] => {
    clock.advance(100);
    const made = finalize(slot).map((call) => (call.startsWith('live') ? `live ${slot}` : call));
    return calls(slot).filter((call) => made.some((other) => other.startsWith(call)));
  };
  reset();
  failing.kinds = 'live frame guard ring';
  t.same(kindsAt(10), calls(10));
  t.same(kindsAt(11), calls(11), 'again');
  const live = ['processed', 'confirmed', 'finalized'].map((commitment) => `live source 0 at ${commitment}`);
  t.same(failing.parts.sort(), ['/network', 'equivocation guard', ...live, 'ring 0'].sort());
  t.same([...vitals.failingParts].sort(), failing.parts);
  failing.kinds = '';
  t.same(kindsAt(12), calls(12));
  t.notOk(vitals.isFailing);
});

/** Opens a pipeline over a node of an epoch and a consensus that a test sets. */
function openWithConsensus() {
  const node = { epoch: 7, cert: 'null', isBroken: false, onRead: () => {} };
  const world = open(async (method) => {
    if (method === 'getAgGenesisCert') node.onRead();
    if (method === 'getAgGenesisCert' && node.isBroken) throw new Error('no such method');
    const answers: Readonly<Record<string, string>> = {
      getEpochInfo: `{"absoluteSlot":10,"blockHeight":9,"epoch":${node.epoch},"slotIndex":10,"slotsInEpoch":100,"transactionCount":1}`,
      getAgGenesisCert: node.cert,
    };
    const result = Buffer.from(answers[method] ?? '[]');
    return { slot: 10, result, value: result };
  });
  let slot = 10;
  /** Lets time and a slot pass; returns how often the consensus was read, and what the frame says of it. */
  const pass = async (ms: number) => {
    world.clock.advance(ms);
    world.tips.observe('processed', slot++);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    world.clock.advance(100);
    world.tips.observe('processed', slot++); // the frame after the read
    const reads = world.reset().filter((call) => call === 'getAgGenesisCert').length;
    const text = world.cache.peek('/api/v1/network')?.result?.toString() ?? '{}';
    return [reads, JSON.parse(text).consensus, world.vitals.consensus];
  };
  return { ...world, node, pass };
}

const CERT = '{"block":{"slot":504148999,"blockId":[1,2]},"signature":{"signature":[3],"bitmap":[4]}}';

t.test('the consensus is read at the start, with the first frame', async (t) => {
  t.strictSame(await openWithConsensus().pass(0), [1, 'tower', 'tower']);
  const { node, pass } = openWithConsensus();
  node.cert = CERT;
  t.strictSame(await pass(0), [1, 'alpenglow', 'alpenglow']);
});

t.test('what a node says of the consensus while a lie is found is not kept', async (t) => {
  const { node, pass, cache } = openWithConsensus();
  await pass(0);
  node.cert = CERT;
  node.onRead = () => cache.dropUnagreed();
  t.strictSame(await pass(60_000), [1, 'tower', 'tower']);
  node.onRead = () => {};
  t.strictSame(await pass(60_000), [1, 'alpenglow', 'alpenglow']);
});

t.test('the consensus is read again in each epoch and once a minute, until it is Alpenglow', async (t) => {
  const { node, pass } = openWithConsensus();
  await pass(0);
  t.strictSame(await pass(1000), [0, 'tower', 'tower']);
  node.epoch++;
  t.strictSame(await pass(1000), [1, 'tower', 'tower'], 'a new epoch');
  t.strictSame(await pass(1000), [0, 'tower', 'tower']);
  node.cert = CERT; // in the midst of an epoch, as clusters migrate
  t.strictSame(await pass(60_000), [1, 'alpenglow', 'alpenglow']);
  node.cert = 'null';
  node.epoch++;
  t.strictSame(await pass(60_000), [0, 'alpenglow', 'alpenglow'], 'no cluster leaves it');
});

t.test('where no node says the consensus it is null, or what it was before, and nothing fails', async (t) => {
  for (const cert of ['1', '"x"', '[]', '{}', '{"block":1}', '{"block":{"slot":"7"}}', '{"block":{"slot":-1}}', '']) {
    const { node, vitals, pass } = openWithConsensus();
    node.cert = cert;
    t.strictSame(await pass(0), [1, null, null], cert);
    node.isBroken = true;
    t.strictSame(await pass(60_000), [1, null, null], 'without the method');
    t.notOk(vitals.isFailing);
    node.isBroken = false;
    node.cert = 'null';
    t.strictSame(await pass(60_000), [1, 'tower', 'tower']);
    node.isBroken = true;
    t.strictSame(await pass(60_000), [1, 'tower', 'tower'], 'it is still what it was');
  }
});

t.test('keys that were read are refreshed on the next slot', async (t) => {
  const { cache, tips } = open();
  tips.observe('processed', 10);
  let refreshes = 0;
  const refresh = async (): Promise<void> => void refreshes++;
  const meta = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
  cache.put('k', { slot: 10, result: '1' }, { slots: 2 }, meta, { refresher: { refresh } });
  cache.get('k');
  tips.observe('processed', 11);
  t.equal(refreshes, 1);
});

t.test('a closed pipeline consumes no more slots', async (t) => {
  const { cache, pipeline, finalize } = open();
  finalize(10);
  pipeline.close();
  t.strictSame(finalize(11), []);
  t.equal(cache.tip, 10);
});
