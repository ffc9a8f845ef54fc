/** Columns of a plot, as uPlot expects them: times in Unix seconds, then one list of values for each line. */
export type Columns = readonly (readonly (number | null)[])[];

/** Points of some lines over a bounded span of time, oldest first. A restart leaves a gap. */
export class TimeSeries {
  readonly #spanSec: number;
  readonly #columns: (number | null)[][];

  constructor(lines: number, spanSec: number) {
    this.#spanSec = spanSec;
    this.#columns = Array.from({ length: lines + 1 }, () => []);
  }

  get columns(): Columns {
    return this.#columns;
  }

  /** Appends a point, or replaces the newest one of the same second, and forgets what is beyond the span. */
  set(timeSec: number, values: readonly (number | null)[]): void {
    const [times = []] = this.#columns;
    const newest = times.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (newest !== null && timeSec < newest) return; // the clock of the gateway was set back
    if (newest === timeSec) for (const column of this.#columns) column.pop();
    for (const [at, column] of this.#columns.entries()) column.push(at === 0 ? timeSec : (values[at - 1] ?? null));
    const kept = times.findIndex((time) => time !== null && time > timeSec - this.#spanSec);
    if (kept > 0) for (const column of this.#columns) column.splice(0, kept);
  }

  /** Puts older points, the oldest first, before those that are there. */
  prepend(points: readonly (readonly [timeSec: number, ...values: (number | null)[]])[]): void {
    const [times = [], ...lines] = this.#columns.map((column) => [...column]);
    const oldest = times[0] ?? Number.POSITIVE_INFINITY;
    for (const column of this.#columns) column.length = 0;
    for (const [timeSec, ...values] of points) if (timeSec < oldest) this.set(timeSec, values);
    for (const [at, timeSec] of times.entries())
      this.set(
        timeSec ?? 0,
        lines.map((line) => line[at] ?? null),
      );
  }

  /** Interrupts the lines after the newest point. */
  addGap(): void {
    const newest = this.#columns[0]?.at(-1);
    if (typeof newest === 'number') this.set(newest + 1, []);
  }
}

interface Extent {
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

/** Returns the spans of time between two values in which no line has one; the last one ends now, if it is as long as `leastSec`. */
export function spansWithout(
  [times = [], ...lines]: Columns,
  nowSec: number,
  leastSec: number,
): readonly (readonly [fromSec: number, toSec: number])[] {
  const spans: [number, number][] = [];
  let last: number | undefined;
  let isGap = false;
  for (const [at, time] of times.entries()) {
    if (time === null) continue;
    if (lines.every((line) => line[at] === null)) isGap = true;
    else {
      if (isGap && last !== undefined) spans.push([last, time]);
      last = time;
      isGap = false;
    }
  }
  if (last !== undefined && nowSec - last >= leastSec) spans.push([last, nowSec]);
  return spans;
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
