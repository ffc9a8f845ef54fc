import t from 'tap';
import type { AdminSources } from '../../../src/admin/admin-sources.ts';
import { metricsOf } from '../../../src/admin/metrics.ts';
import { createMetricsPage } from '../../../src/admin/metrics-page.ts';
import { Tally } from '../../../src/domain/tally.ts';
import { parseMetrics } from '../../support/metrics.ts';

t.test('what no request of a test can bring about is read from where it is counted', async (t) => {
  const sources = {
    context: { mesh: { genesisHash: 'a"b\\c' }, version: '1.2.3', cache: {}, keys: {} },
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
  t.match(body, `slotgate_build_info{version="1.2.3",node="${process.versions.node}",cluster="a\\"b\\\\c"} 1\n`);
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
