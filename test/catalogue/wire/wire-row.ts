import { type Finding, formatFigure } from '../findings.ts';
import type { WireTestbed } from './wire-testbed.ts';

/** How long a row takes: a few seconds, as long as fits into minutes, or as the catalogue says. */
export type RunLength = 'short' | 'usual' | 'full';

/** A row of the catalogue of attacks on the wire. */
export interface WireRow {
  /** Its number there. */
  readonly id: string;
  /** What is done to the gateway. */
  readonly title: string;
  run(stage: WireTestbed, pace: RunLength): Promise<readonly Finding[]>;
}

/** How often something is done at each pace. */
export const countFor = (runLength: RunLength, short: number, usual: number, full: number): number =>
  ({ short, usual, full })[runLength];

export const expectAll = (label: string, count: number, of: number): Finding => ({
  text: `${label} ${formatFigure(count)}/${formatFigure(of)}`,
  isMet: count === of,
});

/** A figure of which the machine's other work has a share: judged only in the full pass, which needs a calm machine. */
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

/** A figure that has to hold on any machine. */
export const expectAtMost = (label: string, value: number, bound: number, unit = ''): Finding => ({
  text: `${label} ${formatFigure(value)}${unit} (<= ${formatFigure(bound)})`,
  isMet: value <= bound,
});

const MiB = 1024 * 1024;

/** How much more memory there is in use than before, in bytes both, against a bound in MiB. */
export const expectGrowth = (before: number, after: number, boundMiB: number): Finding =>
  expectAtMost('memory grew by', (after - before) / MiB, boundMiB, ' MiB');
