import type { Rng } from '../../../src/localnet/traffic/seeded-rng.ts';
import { type DocumentGrowth, describeGrowths, type GrownDocument } from './json-growth.ts';
import type { AccountTemplate, FILLERS, NodeScript } from './node-answers.ts';
import type { CostlyRequest } from './send-attempt.ts';

/** Requests of one caller, and what the node answers to the gateway. */
export interface Attempt {
  readonly requests: readonly CostlyRequest[];
  readonly script: NodeScript;
  /** Whether the requests are sent together instead of one after the other. */
  readonly isSimultaneous?: boolean;
}

/** What differs from one measurement of a candidate to the next. */
export interface Occasion {
  /** Text from which addresses and nonces are made, so that no answer is in a cache. */
  readonly salt: string;
  /** Processed slot of the cluster. */
  readonly tip: number;
}

/** The requests to one route that the search varies. */
export interface CostFamily {
  /** The route as the report names it. */
  readonly route: string;
  /** Share of the time that the search gets, in comparison with the other families. */
  readonly weight: number;
  usual(rng: Rng): Candidate;
  /** Candidates in which one dimension alone has another value than usual. */
  singles(rng: Rng): readonly Candidate[];
  /** For each size, the candidates in which it alone grows, from the next larger value to the largest. */
  growing(rng: Rng): readonly (readonly Candidate[])[];
  random(rng: Rng): Candidate;
  mutate(candidate: Candidate, rng: Rng): Candidate;
  attempt(candidate: Candidate, occasion: Occasion): Attempt;
  describe(candidate: Candidate): string;
}

/** Methods that the pipeline calls by itself: a scripted answer would change the gateway's own state. */
export const PIPELINE_METHODS: ReadonlySet<string> = new Set([
  ...['getSlot', 'getEpochInfo', 'getRecentPerformanceSamples', 'getRecentPrioritizationFees'],
  ...['getGenesisHash', 'getHealth', 'getVersion', 'getLatestBlockhash', 'getBlockHeight'],
]);

type Value = string | number;
export type Values = Readonly<Record<string, Value>>;

/** The values of all dimensions; a family reads those of its own. */
export type FamilyValues = {
  readonly accounts: number;
  readonly answerBytes: number;
  readonly simultaneous: number;
  readonly back: 'final' | number;
  readonly by: string;
  readonly bytes: number;
  readonly commitments: number;
  readonly count: number;
  readonly cursors: number;
  readonly enhanced: number;
  readonly failure: number;
  readonly filler: string;
  readonly form: string;
  readonly largest: number;
  readonly limit: number;
  readonly memoBytes: number;
  readonly messageBytes: number;
  readonly method: string;
  readonly mints: 'as many' | number;
  readonly of: (typeof FILLERS)[number];
  readonly page: number;
  readonly pages: number;
  readonly query: string;
  readonly repeats: number;
  readonly rows: number;
  readonly size: number;
  readonly stake: number;
  readonly stakes?: number;
  readonly target: string;
  readonly template: AccountTemplate;
  readonly transaction: number;
  readonly type: string;
};

/** What the search varies: a value of each dimension, and a document where the family has one. */
export interface Candidate {
  readonly values: Values;
  readonly document?: GrownDocument | undefined;
}

interface FamilyOptions {
  readonly route: string;
  readonly weight?: number;
  /** Values by name: from the usual one to the largest, so that a neighbour is a small change. */
  readonly dimensions: Readonly<Record<string, readonly [Value, ...Value[]]>>;
  readonly documents?: DocumentGrowth;
  readonly attempt: (values: FamilyValues, occasion: Occasion, document: string) => Attempt;
}

/** A dimension of numbers up to at least so much is a size. */
const LEAST_SIZE = 100;

export function costFamily({ route, weight = 1, dimensions, documents, attempt }: FamilyOptions): CostFamily {
  const names = Object.keys(dimensions);
  const valuesOf = (name: string): readonly Value[] => dimensions[name] ?? [];
  const usualValue = (name: string): Value => valuesOf(name)[0] ?? 0;
  const randomValue = (name: string, rng: Rng): Value => valuesOf(name)[rng.intBelow(valuesOf(name).length)] ?? 0;
  const base = Object.fromEntries(names.map((name) => [name, usualValue(name)]));
  const withValue = (name: string, value: Value, rng: Rng): Candidate => ({
    values: { ...base, [name]: value },
    document: documents?.random(rng),
  });
  return {
    route,
    weight,
    usual: (rng) => ({ values: base, document: documents?.random(rng) }),
    singles: (rng) =>
      names.flatMap((name) =>
        valuesOf(name)
          .slice(1)
          .map((value) => withValue(name, value, rng)),
      ),
    growing: (rng) =>
      names
        .map((name) => ({ name, sizes: valuesOf(name).filter((value) => typeof value === 'number') }))
        .filter(({ name, sizes }) => sizes.length === valuesOf(name).length && Math.max(...sizes) >= LEAST_SIZE)
        .map(({ name, sizes }) =>
          sizes
            .filter((size) => size > Number(usualValue(name)))
            .sort((a, b) => a - b)
            .map((size) => withValue(name, size, rng)),
        ),
    random: (rng) => ({
      // each dimension is as often usual as not: most costs come from few of them
      values: Object.fromEntries(
        names.map((name) => [name, rng.intBelow(2) === 0 ? usualValue(name) : randomValue(name, rng)]),
      ),
      document: documents?.random(rng),
    }),
    mutate: ({ values, document }, rng) => {
      if (document !== undefined && documents !== undefined && (names.length === 0 || rng.intBelow(4) > 0))
        return { values, document: documents.mutate(document, rng) };
      const name = names[rng.intBelow(names.length)] ?? '';
      const list = valuesOf(name);
      const step = list.indexOf(values[name] ?? 0) + (rng.intBelow(2) === 0 ? 1 : -1);
      const value = rng.intBelow(2) === 0 ? (list[step] ?? usualValue(name)) : randomValue(name, rng);
      return { values: { ...values, [name]: value }, document };
    },
    attempt: ({ values, document }, occasion) =>
      attempt(
        values as unknown as FamilyValues,
        occasion,
        document === undefined ? '' : (documents?.build(document) ?? ''),
      ),
    describe: ({ values, document }) =>
      [
        ...names.filter((name) => values[name] !== usualValue(name)).map((name) => `${name} ${values[name]}`),
        ...(document === undefined ? [] : [`document ${document.seed}: ${describeGrowths(document.growths)}`]),
      ].join(', ') || 'as usual',
  };
}
