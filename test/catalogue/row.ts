/** One figure that a row of the catalogue shows, and whether it is as it should be. */
export interface Finding {
  readonly text: string;
  readonly isMet: boolean;
}

/** How long a row takes: as the catalogue says, or as long as it takes to see something. */
export interface Pace {
  readonly isFull: boolean;
}

/** A row of the fault catalogue. */
export interface Row {
  /** Its number there, or a name. */
  readonly id: string;
  /** What is done to the nodes. */
  readonly what: string;
  run(pace: Pace): Promise<readonly Finding[]>;
}

export const shown = (what: string, value: number | string): Finding => ({
  text: `${what} ${told(value)}`,
  isMet: true,
});

export const none = (what: string, count: number): Finding => ({ text: `${what} ${told(count)}`, isMet: count === 0 });

export const some = (what: string, count: number): Finding => ({ text: `${what} ${told(count)}`, isMet: count > 0 });

export const holds = (what: string, isMet: boolean): Finding => ({ text: isMet ? what : `NOT ${what}`, isMet });

const PATIENCE = 10;
const PATIENCE_MS = 5000;

/**
 * A figure that a busy machine makes worse. It must be below its bound in the full pass; in the short one, which has to
 * tell the same on any machine, below ten times that.
 */
export function below({ isFull }: Pace, what: string, value: number, bound: number, unit = ''): Finding {
  const limit = isFull ? bound : PATIENCE * bound;
  return { text: `${what} ${told(value)}${unit} (< ${told(bound)})`, isMet: value < limit };
}

/** The same for milliseconds, of which a busy machine takes some for itself. */
export function within(pace: Pace, what: string, ms: number, boundMs: number): Finding {
  const { text, isMet } = below(pace, what, ms, boundMs, ' ms');
  return { text, isMet: isMet || (!pace.isFull && ms < PATIENCE_MS) };
}

/** The line that is printed for a row. */
export function lineOf({ id, what }: Pick<Row, 'id' | 'what'>, findings: readonly Finding[], seconds: number): string {
  const verdict = findings.every(({ isMet }) => isMet) ? 'ok    ' : 'FAILED';
  const texts = findings.map(({ text, isMet }) => (isMet ? text : `${text} <<<`));
  return `${id.padEnd(9)} ${verdict} ${seconds.toFixed(0).padStart(4)} s  ${what}: ${texts.join(', ')}`;
}

/** A figure as a reader wants it. */
export function told(value: number | string): string {
  if (typeof value === 'string') return value;
  return Number.isInteger(value) || Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : `${Number(value.toPrecision(2))}`;
}
