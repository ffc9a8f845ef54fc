import type { MemoryInUse } from '../../support/gateway-process.ts';
import { type Finding, formatFigure } from '../findings.ts';
import type { WireTestbed } from './wire-testbed.ts';

/** Length of a run: a few seconds, some minutes, or the full length of the catalogue. */
export type RunLength = 'short' | 'usual' | 'full';

export interface WireRow {
  /** The name of its file. */
  readonly id: string;
  readonly title: string;
  /** Runs the row; one that starts a gateway of its own can run the `main.js` of another build as a control. */
  run(testbed: WireTestbed, runLength: RunLength, main?: string): Promise<readonly Finding[]>;
}

/** Returns the number of repetitions for a run length. */
export const countFor = (runLength: RunLength, short: number, usual: number, full: number): number =>
  ({ short, usual, full })[runLength];

export const expectAll = (label: string, count: number, of: number): Finding => ({
  text: `${label} ${formatFigure(count)}/${formatFigure(of)}`,
  isMet: count === of,
});

/** Expects a figure below a bound in the full run only: the machine's other work affects it. */
export const expectBelowWhenQuiet = (
  runLength: RunLength,
  label: string,
  value: number,
  bound: number,
  unit = '',
): Finding => ({
  text: `${label} ${formatFigure(value)}${unit} (< ${formatFigure(bound)})`,
  isMet: runLength !== 'full' || value < bound,
});

/** Expects a figure within a bound on any machine. */
export const expectAtMost = (label: string, value: number, bound: number, unit = ''): Finding => ({
  text: `${label} ${formatFigure(value)}${unit} (<= ${formatFigure(bound)})`,
  isMet: value <= bound,
});

export const MiB = 1024 * 1024;

/** Bounds on the growth of memory, in MiB. */
export interface GrowthBounds {
  readonly kept: number;
  readonly resident: number;
}

/** Expects what is kept, and resident memory, to grow within a bound each. */
export const expectGrowth = (before: MemoryInUse, after: MemoryInUse, bounds: GrowthBounds): readonly Finding[] => [
  expectAtMost('memory kept grew by', (after.keptBytes - before.keptBytes) / MiB, bounds.kept, ' MiB'),
  expectAtMost('resident by', (after.residentBytes - before.residentBytes) / MiB, bounds.resident, ' MiB'),
];
