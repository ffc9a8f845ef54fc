export interface Finding {
  readonly text: string;
  readonly isMet: boolean;
  /** Whether a miss is printed, but doesn't fail the run: a busy machine alone can cause it. */
  readonly isTolerated?: boolean;
}

/** Returns whether a finding makes the run fail. */
export const fails = ({ isMet, isTolerated = false }: Finding): boolean => !isMet && !isTolerated;

/** Length of a run: the full length of the catalogue, or a short one. */
export interface RunLength {
  readonly isFull: boolean;
  /** The built `main.js` of the gateway, for rows that can run another build as a control. Default: this build's. */
  readonly main?: string | undefined;
}

export interface Row {
  /** The name of its file. */
  readonly id: string;
  readonly title: string;
  run(runLength: RunLength): Promise<readonly Finding[]>;
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
 * Expects a figure below a bound. A busy machine makes it worse: the short run, which has to pass on any machine,
 * allows ten times the bound.
 */
export function expectBelow({ isFull }: RunLength, label: string, value: number, bound: number, unit = ''): Finding {
  const { text, isMet } = expectBelowAlways(label, value, bound, unit);
  return { text, isMet: isMet || (!isFull && value < BUSY_MACHINE_FACTOR * bound) };
}

/** Expects a figure below a bound that a busy machine does not reach either. */
export const expectBelowAlways = (label: string, value: number, bound: number, unit = ''): Finding => ({
  text: `${label} ${formatFigure(value)}${unit} (< ${formatFigure(bound)})`,
  isMet: value < bound,
});

/** Expects a duration below a bound; a short run also accepts the delays of a busy machine. */
export function expectWithinMs(runLength: RunLength, label: string, ms: number, boundMs: number): Finding {
  const { text, isMet } = expectBelow(runLength, label, ms, boundMs, ' ms');
  return { text, isMet: isMet || (!runLength.isFull && ms < BUSY_MACHINE_MS) };
}

export function resultLine(
  { id, title }: Pick<Row, 'id' | 'title'>,
  findings: readonly Finding[],
  seconds: number,
): string {
  const verdict = findings.some(fails) ? 'FAILED' : findings.every(({ isMet }) => isMet) ? 'ok    ' : 'missed';
  const findingTexts = findings.map(({ text, isMet }) => (isMet ? text : `${text} <<<`));
  return `${id.padEnd(21)} ${verdict} ${seconds.toFixed(0).padStart(4)} s  ${title}: ${findingTexts.join(', ')}`;
}

export function formatFigure(value: number | string): string {
  if (typeof value === 'string') return value;
  return Number.isInteger(value) || Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : `${Number(value.toPrecision(2))}`;
}
