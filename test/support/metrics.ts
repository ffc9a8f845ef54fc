import { readFileSync } from 'node:fs';

/** A metric as `config/monitoring/metrics.tsv` lists it. */
export interface ListedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** The metrics that operators are told of. */
export const LISTED_METRICS: readonly ListedMetric[] = readFileSync(
  new URL('../../../config/monitoring/metrics.tsv', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [name = '', type = '', labels = '', help = ''] = line.split('\t');
    return { name, type, labels: labels === '' ? [] : labels.split(','), help };
  });

/** A metric as it was scraped: its series with their values, each under its text. */
export interface ScrapedMetric extends ListedMetric {
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
