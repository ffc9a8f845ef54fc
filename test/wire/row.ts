import type { Stage } from './stage.ts';

/** One figure that a row of the catalogue shows, and whether it is as it should be. */
export interface Finding {
  readonly text: string;
  readonly isMet: boolean;
}

/** How long a row takes: a few seconds, as long as fits into minutes, or as the catalogue says. */
export type Pace = 'short' | 'usual' | 'full';

/** A row of the catalogue of attacks. */
export interface Row {
  /** Its number there. */
  readonly id: number;
  /** What is done to the gateway. */
  readonly what: string;
  run(stage: Stage, pace: Pace): Promise<readonly Finding[]>;
}

/** How often something is done at each pace. */
export const times = (pace: Pace, short: number, usual: number, full: number): number => ({ short, usual, full })[pace];

export const shown = (what: string, value: number | string): Finding => ({
  text: `${what} ${told(value)}`,
  isMet: true,
});

export const none = (what: string, count: number): Finding => ({ text: `${what} ${told(count)}`, isMet: count === 0 });

export const all = (what: string, count: number, of: number): Finding => ({
  text: `${what} ${told(count)}/${told(of)}`,
  isMet: count === of,
});

/** A figure of which the machine's other work has a share: judged only in the full pass, which needs a calm machine. */
export const below = (pace: Pace, what: string, value: number, bound: number, unit = ''): Finding => ({
  text: `${what} ${told(value)}${unit} (< ${told(bound)})`,
  isMet: pace !== 'full' || value < bound,
});

/** A figure that has to hold on any machine. */
export const atMost = (what: string, value: number, bound: number, unit = ''): Finding => ({
  text: `${what} ${told(value)}${unit} (<= ${told(bound)})`,
  isMet: value <= bound,
});

/** The line that is printed for a row. */
export function lineOf({ id, what }: Row, findings: readonly Finding[], seconds: number): string {
  const verdict = findings.every(({ isMet }) => isMet) ? 'ok    ' : 'FAILED';
  const texts = findings.map(({ text, isMet }) => (isMet ? text : `${text} <<<`));
  return `${String(id).padStart(2)} ${verdict} ${seconds.toFixed(0).padStart(4)} s  ${what}: ${texts.join(', ')}`;
}

function told(value: number | string): string {
  if (typeof value === 'string') return value;
  return Number.isInteger(value) || Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : `${Number(value.toPrecision(2))}`;
}
