import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median, type Spread, spreadOf } from './statistics.ts';

/** What a run of one contender measures; what it doesn't measure is left out. */
export interface Sample {
  /** Requests a second. */
  readonly rate?: number;
  /** CPU time of the server per request, in microseconds. */
  readonly cpuUs?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly p999Ms?: number;
  readonly value?: number;
}

export type Measure = keyof Sample;

/** A bound on the median of a ratio or value, or on the lower end of its interval. */
export interface Goal {
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly lowAtLeast?: number;
}

/** A result that runs on other machines can be compared with. */
export interface Result {
  readonly name: string;
  /** `ratio`, or the unit of a value; none for a count. */
  readonly unit: string;
  readonly spread: Spread;
  readonly better: 'higher' | 'lower';
  readonly goal: Goal | undefined;
}

export type Contender = readonly [name: string, samples: readonly Sample[]];

export interface BenchDefaults {
  readonly rounds: number;
  readonly seconds: number;
}

const COLUMNS = [
  ['rate', 'req/s', 0],
  ['cpuUs', 'CPU µs', 2],
  ['p50Ms', 'p50 ms', 2],
  ['p99Ms', 'p99 ms', 2],
  ['p999Ms', 'p99.9 ms', 2],
  ['value', 'value', 2],
] as const;
const MEASURE_NAMES: Readonly<Record<Measure, string>> = {
  rate: 'requests a second',
  cpuUs: 'CPU per request',
  p50Ms: 'p50',
  p99Ms: 'p99',
  p999Ms: 'p99.9',
  value: 'value',
};
const NAME_WIDTH = 50;
const RESULT_WIDTH = 68;

/** The arguments of a benchmark, and what it prints: figures first, then ratios of figures that were measured in one run. */
export class Bench {
  readonly rounds: number;
  readonly seconds: number;
  /** Settings of the gateway, as `--set` of the command has them. */
  readonly settings: readonly string[];
  /** The same as arguments. */
  readonly set: readonly string[];
  /** Texts after the options, one for each that the benchmark has a name for. */
  readonly words: readonly string[];
  /** Any number of texts after these, of a benchmark that has no numbers. */
  readonly rest: readonly string[];
  /** Numbers after these. */
  readonly numbers: readonly number[];
  /** The `dist` folder of another build to compare with; undefined for none. */
  readonly baseline: string | undefined;
  readonly #results: Result[] = [];

  /** `wordNames` of texts that are needed; without numbers, all further texts are {@link rest}. */
  constructor(defaults: BenchDefaults, wordNames: readonly string[] = [], hasRest = false) {
    const { values, positionals } = parseArgs({
      options: {
        rounds: { type: 'string', default: `${defaults.rounds}` },
        seconds: { type: 'string', default: `${defaults.seconds}` },
        set: { type: 'string', multiple: true, default: [] },
        baseline: { type: 'string' },
      },
      allowPositionals: true,
    });
    this.rounds = Number(values.rounds);
    this.seconds = Number(values.seconds);
    this.settings = values.set;
    this.baseline = values.baseline === undefined ? undefined : resolve(values.baseline);
    this.set = values.set.flatMap((setting) => ['--set', setting]);
    this.words = positionals.slice(0, wordNames.length);
    const further = positionals.slice(wordNames.length);
    this.rest = hasRest ? further : [];
    this.numbers = hasRest ? [] : further.map(Number);
    if (this.words.length < wordNames.length) throw new Error(`arguments are missing: ${wordNames.join(' ')}`);
    if (![this.rounds, this.seconds, ...this.numbers].every((number) => number > 0))
      throw new Error('--rounds, --seconds and further arguments must be positive numbers');
  }

  title(text: string): void {
    console.log(`${text}; ${this.rounds} rounds of ${this.seconds} s`);
  }

  figures(samples: Readonly<Record<string, readonly Sample[]>>): void {
    const used = COLUMNS.filter(([measure]) =>
      Object.values(samples).some((list) => list.some((sample) => sample[measure] !== undefined)),
    );
    console.log(`${' '.repeat(NAME_WIDTH)}${used.map(([, heading]) => heading.padStart(11)).join('')}`);
    for (const [name, list] of Object.entries(samples)) {
      const cells = used.map(([measure, , digits]) => format(median(valuesOf(list, measure)), digits).padStart(11));
      console.log(`${name.padEnd(NAME_WIDTH)}${cells.join('')}`);
    }
  }

  /** Prints the ratio of two contenders, round by round, and the goal. */
  ratio(measure: Measure, of: Contender, to: Contender, goal?: Goal): void {
    const base = valuesOf(to[1], measure);
    const ratios = valuesOf(of[1], measure).map((value, round) => value / (base[round] ?? Number.NaN));
    const name = `${measure === 'value' ? '' : `${MEASURE_NAMES[measure]}, `}${of[0]} / ${to[0]}`;
    this.#add({ name, unit: 'ratio', spread: spreadOf(ratios), better: directionOf(goal, measure), goal });
  }

  /** Prints a value that is not a ratio, and the goal. */
  value(name: string, unit: string, values: readonly number[], goal?: Goal): void {
    this.#add({ name, unit, spread: spreadOf(values), better: directionOf(goal, 'value'), goal });
  }

  note(text: string): void {
    console.log(`  ${text}`);
  }

  /** Ends the process; the results go to the parent, if there is one. */
  end(): never | void {
    if (process.send === undefined) process.exit();
    process.send(this.#results, () => process.exit());
  }

  #add(result: Result): void {
    this.#results.push(result);
    console.log(formatResult(result));
  }
}

/** Formats a result as one line: what it is, the median, its range, and the goal. */
export function formatResult({ name, unit, spread, goal }: Result): string {
  const digits = Number.isInteger(spread.median) && unit !== 'ratio' ? 0 : 2;
  const [value, low, high] = [spread.median, spread.low, spread.high].map((number) => format(number, digits));
  const figure = `${value}${unit === 'ratio' || unit === '' ? '' : ` ${unit}`}`;
  const verdict = goal === undefined ? '' : `  goal ${formatGoal(goal)}: ${isMet(goal, spread) ? 'met' : 'MISSED'}`;
  return `  ${name.padEnd(RESULT_WIDTH)} ${figure.padStart(10)}  (${low} to ${high})${verdict}`;
}

export const isMet = ({ atLeast, atMost, lowAtLeast }: Goal, { median, low }: Spread): boolean =>
  median >= (atLeast ?? Number.NEGATIVE_INFINITY) &&
  median <= (atMost ?? Number.POSITIVE_INFINITY) &&
  low >= (lowAtLeast ?? Number.NEGATIVE_INFINITY);

export function formatGoal(goal: Goal): string {
  if (goal.atMost !== undefined) return `at most ${goal.atMost}`;
  return goal.atLeast === undefined ? `from ${goal.lowAtLeast} on` : `at least ${goal.atLeast}`;
}

function directionOf(goal: Goal | undefined, measure: Measure): Result['better'] {
  if (goal !== undefined) return goal.atMost === undefined ? 'higher' : 'lower';
  return measure === 'rate' ? 'higher' : 'lower';
}

const format = (value: number, digits: number): string =>
  Number.isNaN(value)
    ? '-'
    : value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

const valuesOf = (samples: readonly Sample[], measure: Measure): number[] =>
  samples.map((sample) => sample[measure] ?? Number.NaN);

/** Runs each contender once, then each again, and so on, so that drift of the machine affects all alike. */
export async function interleave<K extends string, T>(
  rounds: number,
  contenders: Readonly<Record<K, () => T | Promise<T>>>,
): Promise<Record<K, T[]>> {
  const names = Object.keys(contenders) as K[]; // the keys of contenders
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, T[]>; // one for each name
  for (let round = 0; round < rounds; round++) {
    // Every other round goes backwards: the second has no advantage.
    for (const name of round % 2 === 0 ? names : names.toReversed()) samples[name].push(await contenders[name]());
  }
  return samples;
}
