import type { Metric as PrometheusMetric, Registry } from 'prom-client';
import { once } from '../../shared/runtime/once.ts';
import type { Tally } from '../../shared/runtime/tally.ts';
import type { AdminPage } from './admin-page.ts';
import type { Metric } from './metric.ts';

interface FormattedValue {
  readonly labels: Record<string, string | number>;
  readonly value: number;
  readonly metricName?: string;
}

/** prom-client, which writes the text, is loaded with the first scrape: without one a gateway starts without it. */
export function createMetricsPage(metrics: readonly Metric[]): AdminPage {
  const loadRegistry = once(() => createRegistry(metrics));
  return async () => {
    const loaded = await loadRegistry();
    return { status: 200, contentType: loaded.contentType, body: await loaded.metrics() };
  };
}

async function createRegistry(metrics: readonly Metric[]): Promise<Registry> {
  const { Registry } = await import('prom-client');
  const registry = new Registry();
  for (const metric of metrics) registry.registerMetric(readAtScrape(metric) as unknown as PrometheusMetric);
  return registry;
}

const readAtScrape = (metric: Metric) => ({
  name: metric.name,
  help: metric.help,
  type: metric.type,
  get: async () => {
    const { name, help, type } = metric;
    const values: FormattedValue[] = [];
    for (const [labels, value] of await metric.read()) {
      if (typeof value === 'number') values.push({ labels: labelled(metric, labels), value });
      else values.push(...bucketsOf(name, labelled(metric, labels), value));
    }
    return { name, help, type, aggregator: 'sum', values };
  },
});

const labelled = ({ labels }: Metric, values: readonly (string | number)[]): Record<string, string | number> =>
  Object.fromEntries(labels.map((label, i) => [label, values[i] ?? '']));

/** Lists the parts of a histogram: each bucket counts the smaller values, too. */
function* bucketsOf(
  name: string,
  labels: Record<string, string | number>,
  { bounds, counts, sum }: Tally,
): Iterable<FormattedValue> {
  let total = 0;
  for (const [i, count] of counts.entries()) {
    total += count;
    yield { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[i] ?? '+Inf' }, value: total };
  }
  yield { metricName: `${name}_sum`, labels, value: sum };
  yield { metricName: `${name}_count`, labels, value: total };
}
