import { type Finding, told } from '../row.ts';
import type { Stage } from './stage.ts';

/** How long a row takes: a few seconds, as long as fits into minutes, or as the catalogue says. */
export type Pace = 'short' | 'usual' | 'full';

/** A row of the catalogue of attacks on the wire. */
export interface Row {
  /** Its number there. */
  readonly id: string;
  /** What is done to the gateway. */
  readonly what: string;
  run(stage: Stage, pace: Pace): Promise<readonly Finding[]>;
}

/** How often something is done at each pace. */
export const times = (pace: Pace, short: number, usual: number, full: number): number => ({ short, usual, full })[pace];

export const all = (what: string, count: number, of: number): Finding => ({
  text: `${what} ${told(count)}/${told(of)}`,
  isMet: count === of,
});

/** A figure of which the machine's other work has a share: judged only in the full pass, which needs a calm machine. */
export const calmly = (pace: Pace, what: string, value: number, bound: number, unit = ''): Finding => ({
  text: `${what} ${told(value)}${unit} (< ${told(bound)})`,
  isMet: pace !== 'full' || value < bound,
});

/** A figure that has to hold on any machine. */
export const atMost = (what: string, value: number, bound: number, unit = ''): Finding => ({
  text: `${what} ${told(value)}${unit} (<= ${told(bound)})`,
  isMet: value <= bound,
});

const MiB = 1024 * 1024;

/** How much more memory there is in use than before, in bytes both, against a bound in MiB. */
export const grownBy = (before: number, after: number, boundMiB: number): Finding =>
  atMost('memory grew by', (after - before) / MiB, boundMiB, ' MiB');
