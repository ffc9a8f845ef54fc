import type { MetricDeclaration } from '../../src/gateway/admin/metric.ts';

/** A metric as it was scraped: its series with their values, each under its text. */
export interface ScrapedMetric extends Omit<MetricDeclaration, 'over' | 'type'> {
  readonly type: string;
  readonly series: ReadonlyMap<string, number>;
}

/** Parses what `/metrics` answers, by the name of the metric. Of a histogram each part is a series. */
export function parseMetrics(text: string): ReadonlyMap<string, ScrapedMetric> {
  const blocks = text.split(/^# HELP /m).slice(1);
  return new Map(
    blocks.map((block) => {
      const [, name = '', help = '', type = ''] = /^(\w+) (.*)\n# TYPE \w+ (\w+)\n/.exec(block) ?? [];
      const lines = block.split('\n').slice(2);
      const series = lines.filter((line) => line !== '').map((line) => line.split(/ (?=\S+$)/) as [string, string]);
      const labels = new Set(
        series.flatMap(([labelled]) => [...labelled.matchAll(/[{,](\w+)="/g)].map((found) => found[1] ?? '')),
      );
      labels.delete('le');
      const values = new Map(series.map(([labelled, value]) => [labelled, Number(value)]));
      return [name, { name, type, help, labels: [...labels], series: values }];
    }),
  );
}

/** Scrapes one series of a listener for operators; undefined if it has none. */
export async function scrapeSeries(admin: string, series: string): Promise<number | undefined> {
  const metrics = parseMetrics(await (await fetch(`${admin}/metrics`)).text());
  return metrics.get(series.replace(/{.*/, ''))?.series.get(series);
}
