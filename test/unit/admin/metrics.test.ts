import t from 'tap';
import type { AdminSources } from '../../../src/admin/admin-sources.ts';
import type { Metric } from '../../../src/admin/metric.ts';
import { metricsOf } from '../../../src/admin/metrics.ts';
import { createMetricsPage } from '../../../src/admin/metrics-page.ts';
import { readFigures, WorkerFigures } from '../../../src/admin/worker-figures.ts';
import { Tally } from '../../../src/domain/tally.ts';
import { parseMetrics } from '../../support/metrics.ts';

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
    guard: { conflicts: 4, isSoleSigner: false },
    access: { loopDelayMs: 250 },
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
  const page = createMetricsPage(metrics.filter(({ name }) => name === 'slotgate_build_info'));
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
    { type: 'histogram', name: 'seconds', help: 'Time.', labels: ['of'], read: () => [[['x'], tally]] },
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

t.test('figures of workers are summed or told apart, and what an ended one counted stays', async (t) => {
  const tallyOf = (...values: number[]): Tally => {
    const tally = new Tally([1]);
    for (const value of values) tally.record(value);
    return tally;
  };
  const metricsWith = (count: number, seconds: Tally): readonly Metric[] => [
    { type: 'counter', name: 'asked', help: '', labels: ['code'], over: 'workers', read: () => [[[200], count]] },
    { type: 'gauge', name: 'held', help: '', labels: [], over: 'all', read: () => [[[], count]] },
    { type: 'histogram', name: 'seconds', help: '', labels: [], over: 'all', read: () => [[[], seconds]] },
    { type: 'gauge', name: 'memory', help: '', labels: [], over: 'each', read: () => [[[], count]] },
    { type: 'gauge', name: 'slot', help: '', labels: [], read: () => [[[], count]] },
  ];
  const workers = new WorkerFigures();
  const spread = metricsWith(1000, tallyOf(0.5)).map((metric) => workers.spread(metric));
  const read = async (): Promise<unknown> =>
    Promise.all(spread.map(async (metric) => [...(await metric.read())].map(([labels, value]) => [...labels, value])));
  workers.take('a', await readFigures(metricsWith(1, tallyOf(7))));
  workers.take('a', await readFigures(metricsWith(3, tallyOf(7, 9)))); // the counts of a process are absolute
  workers.take('b', await readFigures(metricsWith(20, tallyOf(0.1))));
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
  t.same(spread[3]?.labels, ['process']);
});
