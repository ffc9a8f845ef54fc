import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../../src/config/load-config.ts';
import { Admission } from '../../../src/gateway/access/limits/admission.ts';
import { tiersOf } from '../../../src/gateway/access/limits/tiers.ts';
import type { AdminSources } from '../../../src/gateway/admin/admin-sources.ts';
import type { Metric } from '../../../src/gateway/admin/metric.ts';
import { metricsOf } from '../../../src/gateway/admin/metrics.ts';
import { createMetricsPage } from '../../../src/gateway/admin/metrics-page.ts';
import { readFigures, WorkerFigures } from '../../../src/gateway/admin/worker-figures.ts';
import { overWorkers } from '../../../src/gateway/composition/create-pipeline-process.ts';
import { fitCaches } from '../../../src/gateway/composition/environment.ts';
import { reloadReceiptKeys } from '../../../src/gateway/composition/open-state.ts';
import { openLearnedLimits } from '../../../src/gateway/composition/subscription-limits-file.ts';
import { revokeKey } from '../../../src/gateway/receipts/keys/key-rotation.ts';
import { type LoadedReceiptKeys, loadReceiptKeys } from '../../../src/gateway/receipts/keys/load-keys.ts';
import { ReceiptKeys } from '../../../src/gateway/receipts/keys/receipt-keys.ts';
import { DurableWrites } from '../../../src/shared/runtime/durable-writes.ts';
import { Tally } from '../../../src/shared/runtime/tally.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { parseMetrics } from '../../support/metrics.ts';

t.test('subscription-limits-file', async (t) => {
  t.test('what cannot be saved is known all the same, and saved once it can be', async (t) => {
    const clock = new ManualClock();
    const writes = new DurableWrites({ clock, onProblem() {}, onRecovery() {} });
    const state = `${t.testdir()}/state`;
    writeFileSync(state, 'a file in the place of the folder');
    const open = () => openLearnedLimits({ clock, dataDir: state, writes });
    const limits = open();
    const learned = { limit: 100, proven: 50, failed: null, learnedMs: clock.now() };
    limits.set('ws://a', learned);
    limits.set('ws://b', learned);
    t.same([limits.get('ws://a'), limits.get('ws://b')], [learned, learned]);
    clock.advance(1000);
    t.match(writes.problems(), [/^the subscription limits of nodes can't be written, .*(ENOTDIR|EEXIST)/]);
    rmSync(state);
    clock.advance(1000);
    t.same(writes.problems(), []);
    t.same([open().get('ws://a'), open().get('ws://b')], [learned, learned], 'another process finds them');
  });
});

t.test('open-state', async (t) => {
  t.test('where a key is revoked, each reload drops all receipts, also where it was known already', async (t) => {
    const [stateDir, clock] = [t.testdir(), new ManualClock()];
    const keySource = { stateDir, production: false };
    loadReceiptKeys(keySource, clock.now());
    const path = join(stateDir, 'receipt-key.pem');
    let invalidations = 0;
    const reload = (state: { loadedKeys: LoadedReceiptKeys; keys: ReceiptKeys }): number => {
      const env = {
        keySource,
        clock,
        log: { info() {}, warn() {}, error: t.error },
        failedReloads: { settings: 0, receiptKeys: 0 },
      };
      reloadReceiptKeys(env, state, { invalidateReceipts: () => invalidations++ });
      return invalidations;
    };
    const start = () => {
      const loadedKeys = loadReceiptKeys(keySource, clock.now());
      return { loadedKeys, keys: new ReceiptKeys(loadedKeys.ring, clock, () => {}) };
    };
    const before = start();
    t.equal(reload(before), 0);
    const { ring } = before.loadedKeys;
    revokeKey(path, ring, ring[0]?.kid ?? '', clock.now());
    const after = start(); // before the process that signs was informed
    t.equal(reload(before), 1);
    t.equal(reload(after), 2);
  });
});

t.test('fit-caches', async (t) => {
  const MIB = 1 << 20;

  t.test('caches use a third of the heap at most, and a warning says so', async (t) => {
    const alone = loadConfig({ cwd: '/' });
    const withWorkers = { ...alone, workers: { count: 2, cacheBytes: 200 * MIB } };
    const fitted: string[] = [];
    const fit = (config: typeof alone, heapMib: number) =>
      fitCaches(config, (setting) => fitted.push(setting), heapMib * MIB);
    t.strictSame(fit(withWorkers, 4096), withWorkers);
    t.strictSame(fitted, []);
    const { cache, workers } = fit(alone, 300);
    t.equal(cache.bytes, 100 * MIB);
    t.strictSame(workers, alone.workers);
    t.strictSame(fitted, ['cache.bytes']);
    t.equal(fit(withWorkers, 300).workers.cacheBytes, 100 * MIB);
  });
});

t.test('over-workers', async (t) => {
  t.test('over all workers a caller has as many misses as any tier of its priority, and others have places', (t) => {
    const { limits } = loadConfig({ cwd: '/' });
    const { free } = tiersOf(limits);
    const admission = new Admission({
      maxInFlight: limits.inFlight,
      maxQueued: limits.queue,
      maxWaitMs: 1000,
      clock: new ManualClock(),
      isOverloaded: () => false,
    });
    const running = (key: string, priority: boolean): number => {
      const before = admission.ofCallers.running;
      for (let i = 0; i < 1000; i++)
        admission.enter({ key, tier: overWorkers(free, priority, limits) }, { start: () => {}, refuse: () => {} });
      return admission.ofCallers.running - before;
    };
    t.equal(running('free', false), limits.build.inFlight);
    t.equal(running('scale', true), limits.inFlight - limits.build.inFlight);
    t.end();
  });
});

t.test('metrics', async (t) => {
  t.test('what no request of a test can bring about is read from where it is counted', async (t) => {
    const sources = {
      context: {
        mesh: { genesisHash: 'a"b\\c' },
        version: '1.2.3',
        engine: { name: 'uws', version: '20' },
        cache: {},
        keys: {},
      },
      liveAccounts: { leaseViolations: 1, audited: 10 },
      tokenLists: { leaseViolations: 2, audited: 20 },
      guard: { conflicts: 4, receiptMode: 'observed' },
      access: { lag: { medianMs: 250 } },
      server: {},
      sealer: {},
    };
    const metrics = metricsOf(sources as unknown as AdminSources);
    const read = async (name: string): Promise<unknown> => [
      ...((await metrics.find((each) => each.name === name)?.read()) ?? []),
    ];
    t.same(await read('slotgate_watch_false_claims_total'), [[[], 3]]);
    t.same(await read('slotgate_watch_audits_total'), [[[], 30]]);
    t.same(await read('slotgate_receipt_conflicts_total'), [[[], 4]]);
    t.same(await read('slotgate_receipt_exact'), [[[], 0]]);
    t.same(await read('slotgate_event_loop_delay_seconds'), [[[], 0.25]]);
    const shown = metrics.filter(({ name }) => name === 'slotgate_build_info');
    let failures = 1; // as of a process without a file descriptor left for the library
    const page = createMetricsPage({
      *[Symbol.iterator]() {
        if (failures-- > 0) throw new Error('EMFILE');
        yield* shown;
      },
    } as typeof shown); // it is iterated over only
    await t.rejects(async () => page(new URLSearchParams()), { message: 'EMFILE' });
    const { body } = await page(new URLSearchParams());
    t.match(
      body,
      `slotgate_build_info{version="1.2.3",node="${process.versions.node}",engine="uws 20",cluster="a\\"b\\\\c"} 1\n`,
    );
  });

  t.test('a histogram counts each value in all buckets from its own on', async (t) => {
    const tally = new Tally([0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 1, 7]) tally.record(value);
    t.same([tally.counts, tally.count], [[2, 2, 1], 5]);
    const page = createMetricsPage([
      {
        type: 'histogram',
        name: 'seconds',
        help: 'Time.',
        labels: ['of'],
        over: '',
        read: async () => [[['x'], tally]],
      },
    ]);
    const { contentType, body } = await page(new URLSearchParams());
    t.match(contentType, /^text\/plain; version=0\.0\.4/);
    t.same(
      [...(parseMetrics(body).get('seconds')?.series ?? [])],
      [
        ['seconds_bucket{of="x",le="0.1"}', 2],
        ['seconds_bucket{of="x",le="1"}', 4],
        ['seconds_bucket{of="x",le="+Inf"}', 5],
        ['seconds_sum{of="x"}', 8.65],
        ['seconds_count{of="x"}', 5],
      ],
    );
  });

  t.test('figures of workers are summed or labelled, and what an ended one counted stays', async (t) => {
    const tallyOf = (...values: number[]): Tally => {
      const tally = new Tally([1]);
      for (const value of values) tally.record(value);
      return tally;
    };
    const metricsWith = (count: number, seconds: Tally): readonly Metric[] => [
      {
        type: 'counter',
        name: 'requested',
        help: '',
        labels: ['code'],
        over: 'workers',
        read: async () => [[[200], count]],
      },
      { type: 'gauge', name: 'held', help: '', labels: [], over: 'all', read: async () => [[[], count]] },
      { type: 'histogram', name: 'seconds', help: '', labels: [], over: 'all', read: async () => [[[], seconds]] },
      { type: 'gauge', name: 'memory', help: '', labels: [], over: 'each', read: async () => [[[], count]] },
      { type: 'gauge', name: 'slot', help: '', labels: [], over: '', read: async () => [[[], count]] },
    ];
    const workers = new WorkerFigures();
    const spread = metricsWith(1000, tallyOf(0.5)).map((metric) => workers.spread(metric));
    const read = async (): Promise<unknown> =>
      Promise.all(
        spread.map(async (metric) => [...(await metric.read())].map(([labels, value]) => [...labels, value])),
      );
    workers.accept('a', await readFigures(metricsWith(1, tallyOf(7))), ['a full disk']);
    t.same(workers.problems, ['a full disk']);
    workers.accept('a', await readFigures(metricsWith(3, tallyOf(7, 9))), []); // the counts of a process are absolute
    t.same(workers.problems, []);
    for (const worker of ['b', 'c']) workers.accept(worker, [], ['no folder']);
    t.same(workers.problems, ['no folder'], 'once');
    workers.leave('c');
    workers.accept('b', await readFigures(metricsWith(20, tallyOf(0.1))), ['no folder']);
    t.same(workers.problems, ['no folder'], 'until the last has ended');
    workers.accept('of an earlier build', []);
    t.same(workers.problems, ['no folder'], 'whose messages name no problems');
    workers.leave('of an earlier build');
    const inAll = tallyOf(7, 9, 0.1, 0.5);
    t.strictSame(await read(), [
      [[200, 23]],
      [[1023]],
      [[inAll]],
      [
        ['pipeline', 1000],
        ['a', 3],
        ['b', 20],
      ],
      [[1000]],
    ]);
    workers.leave('a');
    t.strictSame(await read(), [
      [[200, 23]],
      [[1020]],
      [[inAll]],
      [
        ['pipeline', 1000],
        ['b', 20],
      ],
      [[1000]],
    ]);
    workers.leave('b');
    t.same(workers.problems, []);
    t.same(spread[3]?.labels, ['process']);
  });
});
