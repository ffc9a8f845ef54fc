import { readFileSync } from 'node:fs';
import { packageFile } from '../../shared/runtime/package.ts';
import type { Tally } from '../../shared/runtime/tally.ts';

/** The labels of a series, in the order in which the metric declares them. */
export type LabelValues = readonly (string | number)[];

export type Series = readonly [labels: LabelValues, value: number | Tally];

/** A metric as `config/monitoring/metrics.tsv` declares it. Its labels have few values, none of which callers choose. */
export interface MetricDeclaration {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /**
   * Whose values it has in a gateway of several processes: the sum of the workers', or of all processes', or that of each
   * with its name; '' for those of the process that follows the cluster.
   */
  readonly over: 'workers' | 'all' | 'each' | '';
  readonly help: string;
}

export interface Metric extends MetricDeclaration {
  read(): Promise<Iterable<Series>>;
}

export const readDeclarations = (): readonly MetricDeclaration[] =>
  readFileSync(packageFile('config/monitoring/metrics.tsv'), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => {
      const [name, type, labels = '', over, help] = row.split('\t');
      const declaration = { name, type, labels: labels.split(',').filter(Boolean), over, help };
      return declaration as MetricDeclaration; // the file is part of this package
    });
