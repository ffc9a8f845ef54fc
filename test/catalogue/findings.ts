/** One figure that a row of the catalogue shows, and whether it is as it should be. */
export interface Finding {
  readonly text: string;
  readonly isMet: boolean;
}

/** How long a row takes: as the catalogue says, or as long as it takes to see something. */
export interface RunLength {
  readonly isFull: boolean;
}

/** A row of the fault catalogue. */
export interface FaultRow {
  /** Its number there, or a name. */
  readonly id: string;
  /** What is done to the nodes. */
  readonly title: string;
  run(pace: RunLength): Promise<readonly Finding[]>;
}

export const info = (label: string, value: number | string): Finding => ({
  text: `${label} ${formatFigure(value)}`,
  isMet: true,
});

export const expectNone = (label: string, count: number): Finding => ({
  text: `${label} ${formatFigure(count)}`,
  isMet: count === 0,
});

export const expectSome = (label: string, count: number): Finding => ({
  text: `${label} ${formatFigure(count)}`,
  isMet: count > 0,
});

export const expect = (label: string, isMet: boolean): Finding => ({ text: isMet ? label : `NOT ${label}`, isMet });

const BUSY_MACHINE_FACTOR = 10;
const BUSY_MACHINE_MS = 5000;

/**
 * A figure that a busy machine makes worse. It must be below its bound in the full pass; in the short one, which has to
 * tell the same on any machine, below ten times that.
 */
export function expectBelow({ isFull }: RunLength, label: string, value: number, bound: number, unit = ''): Finding {
  const limit = isFull ? bound : BUSY_MACHINE_FACTOR * bound;
  return { text: `${label} ${formatFigure(value)}${unit} (< ${formatFigure(bound)})`, isMet: value < limit };
}

/** The same for milliseconds, of which a busy machine takes some for itself. */
export function expectWithinMs(pace: RunLength, label: string, ms: number, boundMs: number): Finding {
  const { text, isMet } = expectBelow(pace, label, ms, boundMs, ' ms');
  return { text, isMet: isMet || (!pace.isFull && ms < BUSY_MACHINE_MS) };
}

/** The line that is printed for a row. */
export function resultLine(
  { id, title }: Pick<FaultRow, 'id' | 'title'>,
  findings: readonly Finding[],
  seconds: number,
): string {
  const verdict = findings.every(({ isMet }) => isMet) ? 'ok    ' : 'FAILED';
  const findingTexts = findings.map(({ text, isMet }) => (isMet ? text : `${text} <<<`));
  return `${id.padEnd(9)} ${verdict} ${seconds.toFixed(0).padStart(4)} s  ${title}: ${findingTexts.join(', ')}`;
}

/** A figure as a reader wants it. */
export function formatFigure(value: number | string): string {
  if (typeof value === 'string') return value;
  return Number.isInteger(value) || Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : `${Number(value.toPrecision(2))}`;
}
