import type { Tally } from '../domain/tally.ts';

/** The labels of a series, in the order in which the metric declares them. */
export type LabelValues = readonly (string | number)[];

/** One series of a metric, and its value now. */
export type Series<V> = readonly [labels: LabelValues, value: V];

interface MetricDeclaration<T extends string, V> {
  readonly type: T;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /**
   * Whose values it has in a gateway of several processes: the sum of the workers', or of all processes', or that of each
   * with its name. Default: those of the process that follows the cluster.
   */
  readonly over?: 'workers' | 'all' | 'each';
  /** Reads the values from the objects that count. */
  read(): Iterable<Series<V>> | Promise<Iterable<Series<V>>>;
}

/** A metric that operators can scrape. Its labels take few values, none of which callers choose. */
export type Metric = MetricDeclaration<'counter' | 'gauge', number> | MetricDeclaration<'histogram', Tally>;
