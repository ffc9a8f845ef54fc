import type { Rng } from '../../../src/localnet/traffic/seeded-rng.ts';
import { percentile } from '../../support/percentile.ts';
import { type Cost, METRICS, type Metric } from './cost-bounds.ts';
import type { Candidate, CostFamily } from './cost-family.ts';
import type { CostTestbed } from './cost-testbed.ts';

/** The dearest candidate of a family by one figure. */
export interface Champion {
  readonly metric: Metric;
  readonly candidate: Candidate;
  readonly cost: Cost;
  /** What it cost when it was found, as a process that has hardly run takes it: its code isn't compiled yet. */
  readonly youngCost: Cost;
}

export interface SearchResult {
  readonly family: CostFamily;
  readonly tried: number;
  /** The dearest by each figure; what exceeds a bound is confirmed. */
  readonly champions: readonly Champion[];
}

/** Measurements of a usual candidate that only warm the code up. */
const WARM_UP = 6;
/** A champion is confirmed by this many more measurements; the middle figure counts. */
const CONFIRMATIONS = 3;
/** Before that, what exceeds a bound by its time is measured until it takes no less any more, at most so often. */
const MAX_UNTIL_STEADY = 10;
/** Share of the CPU time before that a measurement takes if there is something left to compile. */
const STILL_FALLING = 0.95;
/** Share of a bound from which a new champion is immediately measured twice, so that the search doesn't follow noise. */
const NOTEWORTHY = 0.3;
/** Share of the largest excess from which a champion is changed further. */
const WORTH_CHANGING = 0.2;
/** Share of the dearest of its sizes below which a candidate is not made larger: it is refused, say. */
const NO_LONGER_DEARER = 0.5;
/** The number of documents that are changed besides. */
const SEEDS_CHANGED = 12;
/** One in this number of candidates is a random one. */
const RANDOM_SHARE = 4;
const MAX_HANGS = 2;

/** Candidates that a family gets at least, however little time it has. */
const MIN_TRIED = 16;
/** Multiple of its time that a family may take for them. */
const MAX_OVERRUN = 4;
/** Share of the time for the search; the rest is for confirming what it found. */
const SEARCH_SHARE = 0.7;
/** Share of the time for making each size larger in turn, which finds by any seed what grows with one of them. */
const GROWING_SHARE = 0.4;

/**
 * Searches for the dearest requests of a family by changing the dearest ones so far, for about `durationMs`. What
 * exceeds a bound is confirmed however long that takes, the rest as far as there is time.
 */
export async function searchFamily(
  testbed: CostTestbed,
  family: CostFamily,
  rng: Rng,
  durationMs: number,
): Promise<SearchResult> {
  const champions = new Map<Metric, Champion>();
  /** The dearest candidate of each document, by its largest part of a bound: one way to be dear hides others. */
  const bySeed = new Map<number, { readonly candidate: Candidate; readonly part: number }>();
  const hangsBefore = testbed.hangs;
  const beganMs = performance.now();
  const hasTime = (share: number): boolean => performance.now() - beganMs < share * durationMs;
  let tried = 0;
  const measure = async (candidate: Candidate, isExact = false): Promise<Cost> => {
    const salt = `${family.route} ${tried++} ${rng.intBelow(1 << 30)}`;
    return testbed.measure((tip) => family.attempt(candidate, { salt, tip }), isExact);
  };
  const isDearer = (metric: Metric, cost: Cost): boolean => {
    const champion = champions.get(metric);
    return champion === undefined || metric.of(cost) > metric.of(champion.cost);
  };
  const hasSearchTime = (): boolean =>
    (hasTime(SEARCH_SHARE) || (tried < MIN_TRIED && hasTime(MAX_OVERRUN))) && testbed.hangs - hangsBefore < MAX_HANGS;
  const singles = [...family.singles(rng)];
  const next = (): Candidate => {
    if (singles.length > 0 && rng.intBelow(2) === 0) {
      const [single] = singles.splice(rng.intBelow(singles.length), 1);
      if (single !== undefined) return single;
    }
    const ratioOf = ({ metric, cost }: Champion): number => metric.of(cost) / metric.bound;
    const highest = Math.max(0, ...[...champions.values()].map(ratioOf));
    const dear = [...champions.values()].filter((champion) => ratioOf(champion) > highest * WORTH_CHANGING);
    const dearest = dear[rng.intBelow(Math.max(1, dear.length))]?.candidate;
    const others = [...bySeed.values()].sort((a, b) => b.part - a.part).slice(0, SEEDS_CHANGED);
    const parent =
      rng.intBelow(2) === 0 ? dearest : (others[rng.intBelow(Math.max(1, others.length))]?.candidate ?? dearest);
    return parent === undefined || rng.intBelow(RANDOM_SHARE) === 0 ? family.random(rng) : family.mutate(parent, rng);
  };
  /** Measures a candidate, which becomes the champion where it is the dearest. Returns its largest part of a bound. */
  const tryCandidate = async (candidate: Candidate): Promise<number> => {
    let cost = await measure(candidate);
    const isNoteworthy = METRICS.some(
      (metric) => isDearer(metric, cost) && metric.of(cost) > NOTEWORTHY * metric.bound && !cost.hasHung,
    );
    if (isNoteworthy) cost = combined([cost, await measure(candidate)], least);
    const part = Math.max(...METRICS.map((metric) => metric.of(cost) / metric.bound));
    const seed = candidate.document?.seed;
    if (seed !== undefined && part > (bySeed.get(seed)?.part ?? 0)) bySeed.set(seed, { candidate, part });
    for (const metric of METRICS)
      if (isDearer(metric, cost)) champions.set(metric, { metric, candidate, cost, youngCost: cost });
    return part;
  };
  for (let i = 0; i < WARM_UP; i++) await measure(family.usual(rng));
  for (const sizes of family.growing(rng)) {
    let dearest = 0;
    for (const candidate of sizes) {
      if (!hasTime(GROWING_SHARE) || testbed.hangs - hangsBefore >= MAX_HANGS) break;
      const part = await tryCandidate(candidate);
      if (part < dearest * NO_LONGER_DEARER) break;
      dearest = Math.max(dearest, part);
    }
  }
  while (hasSearchTime()) await tryCandidate(next());
  /** Measures a candidate until its CPU time falls no more: the bounds are about code that has been compiled. */
  const warmUp = async (candidate: Candidate): Promise<void> => {
    let [leastMs, risen] = [Number.POSITIVE_INFINITY, 0];
    for (let i = 0; i < MAX_UNTIL_STEADY && risen < 2; i++) {
      const { cpuMs } = await measure(candidate);
      risen = cpuMs < leastMs * STILL_FALLING ? 0 : risen + 1;
      leastMs = Math.min(leastMs, cpuMs);
    }
  };
  /** Measures times and memory apart: after a full collection V8 runs the same code several times slower. */
  const confirm = async (candidate: Candidate): Promise<Cost> => {
    const [timed, weighed]: [Cost[], Cost[]] = [[], []];
    for (let i = 0; i < CONFIRMATIONS; i++) timed.push(await measure(candidate));
    for (let i = 0; i < CONFIRMATIONS; i++) weighed.push(await measure(candidate, true));
    const { turnMs, cpuMs, waitMs, hasHung } = combined(timed, middle);
    return { ...combined(weighed, middle), turnMs, cpuMs, waitMs, hasHung };
  };
  const confirmed = new Map<Candidate, Cost>();
  const youngCosts = new Map<Candidate, Cost>();
  const unconfirmed: Champion[] = [];
  for (const champion of champions.values()) {
    const { metric, candidate, cost } = champion;
    const part = metric.of(cost) / metric.bound;
    if (confirmed.has(candidate)) continue;
    if (part < NOTEWORTHY || (part <= 1 && !hasTime(1))) {
      unconfirmed.push(champion);
      continue;
    }
    youngCosts.set(candidate, cost);
    if (metric.isTime && part > 1 && !cost.hasHung) await warmUp(candidate);
    confirmed.set(candidate, cost.hasHung ? cost : await confirm(candidate));
  }
  const final = METRICS.flatMap((metric): Champion[] => {
    const own = unconfirmed.filter((champion) => champion.metric === metric);
    const all = [...confirmed].map(([candidate, cost]) => {
      const youngCost = youngCosts.get(candidate) ?? cost;
      return { metric, candidate, cost, youngCost };
    });
    all.push(...own);
    return all.sort((a, b) => metric.of(b.cost) - metric.of(a.cost)).slice(0, 1);
  });
  return { family, tried, champions: final };
}

const least = (values: readonly number[]): number => Math.min(...values);
const most = (values: readonly number[]): number => Math.max(...values);
const middle = (values: readonly number[]): number => percentile(values, 0.5);

/** Combines the figures of one candidate's measurements: a busy machine adds what is no cost of the request. */
function combined(costs: readonly Cost[], choose: (values: readonly number[]) => number): Cost {
  const [first] = costs;
  if (first === undefined) throw new Error('nothing was measured');
  const of = (name: NumberOf<Cost>, by = choose): number => by(costs.map((cost) => cost[name]));
  return {
    units: of('units', most),
    turnMs: of('turnMs'),
    cpuMs: of('cpuMs'),
    calls: of('calls'),
    readBytes: of('readBytes'),
    keptBytes: of('keptBytes'),
    peakBytes: of('peakBytes', most),
    waitMs: of('waitMs'),
    statuses: first.statuses,
    hasHung: costs.every(({ hasHung }) => hasHung),
  };
}

/** The names of the numeric members of a type. */
type NumberOf<T> = { [K in keyof T]: T[K] extends number ? K : never }[keyof T];
