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

  get length(): number {
    return this.#columns[0]?.length ?? 0;
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

  /** Interrupts the lines after the newest point. */
  addGap(): void {
    const newest = this.#columns[0]?.at(-1);
    if (typeof newest === 'number') this.set(newest + 1, []);
  }

  clear(): void {
    for (const column of this.#columns) column.length = 0;
  }
}
