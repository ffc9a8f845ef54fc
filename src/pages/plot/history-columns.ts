import type { Result } from '../../client/index.ts';
import type { Columns } from './series.ts';

/** A row of the network's history, whose `endedAt` is Unix milliseconds. */
export type HistoryRow = Result<'/network/history'>['rows'][number];

/** After this number of steps without a row no line is drawn. */
const GAP_STEPS = 2.5;

/** Returns the points of some members of the rows. Where rows are missing, and where one has no value, lines end. */
export function historyColumns(
  rows: readonly HistoryRow[],
  stepSec: number,
  valuesOf: (row: HistoryRow) => readonly (number | null)[],
): Columns {
  const points: (readonly (number | null)[])[] = [];
  let last: number | undefined;
  for (const row of rows) {
    const timeSec = row.endedAt / 1000;
    const values = valuesOf(row);
    if (last !== undefined && timeSec - last > GAP_STEPS * stepSec)
      points.push([last + stepSec, ...values.map(() => null)]);
    points.push([timeSec, ...values]);
    last = timeSec;
  }
  return Array.from({ length: points[0]?.length ?? 0 }, (_, at) => points.map((point) => point[at] ?? null));
}

/** Returns the share of the slots that had no block; null before the first. */
export function skippedShare(rows: readonly HistoryRow[]): number | null {
  const sum = (of: (row: HistoryRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const slots = sum((row) => row.slots);
  return slots === 0 ? null : sum((row) => row.skippedSlots ?? 0) / slots;
}

type HealthBar = 'ok' | 'degraded' | 'stalled' | 'unknown';

/** Returns the state of the network in each of `count` equal spans up to now, the oldest first. */
export function healthBars(rows: readonly HistoryRow[], count: number, spanMs: number, nowMs: number): HealthBar[] {
  const bars: HealthBar[] = Array.from({ length: count }, () => 'unknown');
  const order: readonly HealthBar[] = ['unknown', 'ok', 'degraded', 'stalled'];
  for (const { endedAt, slots, health } of rows) {
    const at = count - 1 - Math.floor(((nowMs - endedAt) / spanMs) * count);
    const state = slots === 0 ? 'stalled' : health;
    const known = bars[at];
    if (known !== undefined && order.indexOf(state) > order.indexOf(known)) bars[at] = state;
  }
  return bars;
}
