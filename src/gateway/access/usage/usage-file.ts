import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appendWhole, fileSizeOf } from '../../../shared/runtime/files/append-whole.ts';
import { formatUsageLine, parseUsageLine, REQUEST_OUTCOMES, type UsageRow } from './usage-line.ts';

export const usagePath = (state: string): string => join(state, 'usage.log');

export const KEEP_DAYS = 92;

/** Reads a file and sums its rows. Damaged lines are skipped. */
export function readUsage(path: string): readonly UsageRow[] {
  const lines = fileSizeOf(path) === 0 ? [] : readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return sumUsage(lines.flatMap((line) => parseUsageLine(line) ?? []));
}

export const appendUsage = (path: string, rows: readonly UsageRow[]): void =>
  appendWhole(path, `\n${formatUsageLine(rows)}`); // behind a line that a kill has cut off

export function sumUsage(rows: readonly UsageRow[]): readonly UsageRow[] {
  const sums = new Map<string, UsageRow>();
  addUsage(sums, rows);
  return inOrder(sums);
}

export const inOrder = <T>(named: ReadonlyMap<string, T>): readonly T[] =>
  [...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);

export const nameOf = ({ day, key, route }: UsageRow): string => `${day} ${key} ${route}`;

export function addUsage(sums: Map<string, UsageRow>, rows: readonly UsageRow[]): void {
  for (const row of rows) {
    const name = nameOf(row);
    const before = sums.get(name);
    const counts = REQUEST_OUTCOMES.map((_, i) => (before?.counts[i] ?? 0) + (row.counts[i] ?? 0));
    const [units, givenBack] = [(before?.units ?? 0) + row.units, (before?.givenBack ?? 0) + row.givenBack];
    sums.set(name, { ...row, counts, units, givenBack });
  }
}
