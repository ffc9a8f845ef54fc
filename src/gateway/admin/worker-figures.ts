import { Tally } from '../../shared/runtime/tally.ts';
import type { LabelValues, Metric, Series } from './metric.ts';

/** A value as messages have it. */
type PackedValue =
  | number
  | { readonly bounds: readonly number[]; readonly counts: readonly number[]; readonly sum: number };

export type Figures = readonly (readonly [name: string, series: readonly (readonly [LabelValues, PackedValue])[]])[];

export const readFigures = (metrics: readonly Metric[]): Promise<Figures> =>
  Promise.all(
    metrics
      .filter(({ over }) => over !== '')
      .map(async (metric) => {
        const series = [...(await metric.read())].map(([labels, value]) => [labels, packed(value)] as const);
        return [metric.name, series] as const;
      }),
  );

const packed = (value: PackedValue): PackedValue => {
  if (typeof value === 'number') return value;
  const { bounds, counts, sum } = value;
  return { bounds, counts: [...counts], sum };
};

type Sums = Map<string, [LabelValues, number | Tally]>;

/** What an ended worker has counted stays in the sums, so that none goes back. */
export class WorkerFigures {
  readonly #running = new Map<string, Map<string, Figures[number][1]>>();
  readonly #problems = new Map<string, readonly string[]>();
  readonly #ended = new Map<string, Sums>();
  readonly #types = new Map<string, Metric['type']>();

  get names(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** What is wrong with those that run, for `/health`. */
  get problems(): readonly string[] {
    return [...new Set([...this.#problems.values()].flat())];
  }

  /** Accepts what a worker counts by now, and what is wrong with it, which one of an earlier build does not report. */
  accept(worker: string, figures: Figures, problems: readonly string[] = []): void {
    this.#running.set(worker, new Map(figures));
    this.#problems.set(worker, problems);
  }

  leave(worker: string): void {
    for (const [name, series] of this.#running.get(worker) ?? []) {
      if (this.#types.get(name) === 'gauge') continue;
      const sums = this.#ended.get(name) ?? new Map();
      this.#ended.set(name, sums);
      for (const [labels, value] of series) add(sums, labels, value);
    }
    this.#running.delete(worker);
    this.#problems.delete(worker);
  }

  sumOf(name: string): ReadonlyMap<string, number> {
    return new Map(
      [...this.#sumsOf(name)].flatMap(([labels, [, sum]]) => (typeof sum === 'number' ? [[labels, sum]] : [])),
    );
  }

  /** Returns a metric of this process as one of the whole gateway. */
  spread(metric: Metric): Metric {
    this.#types.set(metric.name, metric.type);
    if (metric.over === '') return metric;
    const read = metric.over === 'each' ? () => this.#readEach(metric) : () => this.#readSum(metric);
    const labels = metric.over === 'each' ? [...metric.labels, 'process'] : metric.labels;
    return { ...metric, labels, read };
  }

  async #readEach(metric: Metric): Promise<Iterable<Series>> {
    const series: Series[] = [];
    for (const [labels, value] of await metric.read()) series.push([[...labels, 'pipeline'], value]);
    for (const [worker, figures] of this.#running)
      for (const [labels, value] of figures.get(metric.name) ?? []) series.push([[...labels, worker], unpacked(value)]);
    return series;
  }

  async #readSum(metric: Metric): Promise<Iterable<Series>> {
    const sums = this.#sumsOf(metric.name);
    if (metric.over === 'all') for (const [labels, value] of await metric.read()) add(sums, labels, value);
    return sums.values();
  }

  #sumsOf(name: string): Sums {
    const sums: Sums = new Map();
    for (const [labels, value] of this.#ended.get(name)?.values() ?? []) add(sums, labels, value);
    for (const figures of this.#running.values())
      for (const [labels, value] of figures.get(name) ?? []) add(sums, labels, value);
    return sums;
  }
}

function add(sums: Sums, labels: LabelValues, value: PackedValue): void {
  const text = labels.join(' ');
  const sum = sums.get(text)?.[1];
  if (typeof value === 'number') sums.set(text, [labels, value + (typeof sum === 'number' ? sum : 0)]);
  else if (sum instanceof Tally) sum.add(value);
  else sums.set(text, [labels, unpacked(value)]);
}

function unpacked(value: PackedValue): number | Tally {
  if (typeof value === 'number') return value;
  const tally = new Tally(value.bounds);
  tally.add(value);
  return tally;
}
