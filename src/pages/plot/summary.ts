import type { Columns } from './series.ts';

/** The lowest, highest and newest value of a line. */
export interface Extent {
  readonly lowest: number;
  readonly highest: number;
  readonly newest: number;
}

/** Returns the extent of one line of a plot; undefined without values. */
export function extentOf(columns: Columns, line: number): Extent | undefined {
  const values = (columns[line] ?? []).filter((value) => value !== null);
  const newest = values.at(-1);
  if (newest === undefined) return undefined;
  return {
    lowest: values.reduce((a, b) => Math.min(a, b)),
    highest: values.reduce((a, b) => Math.max(a, b)),
    newest,
  };
}

/** Describes a plot in a sentence, for readers that do not see it. */
export function summarize(title: string, columns: Columns, line: number, format: (value: number) => string): string {
  const extent = extentOf(columns, line);
  if (extent === undefined) return `${title}: no values yet`;
  const { lowest, highest, newest } = extent;
  return `${title}: now ${format(newest)}, between ${format(lowest)} and ${format(highest)}`;
}

/** Returns at most `most` rows of a plot, newest first, for its table. */
export function tableRows(columns: Columns, most: number): (number | null)[][] {
  const [times = []] = columns;
  const step = Math.max(1, Math.ceil(times.length / most));
  const rows: (number | null)[][] = [];
  for (let at = times.length - 1; at >= 0; at -= step) rows.push(columns.map((column) => column[at] ?? null));
  return rows;
}
