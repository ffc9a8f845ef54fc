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
}

export interface SearchResult {
  readonly family: CostFamily;
  /** Candidates that were measured. */
  readonly tried: number;
  /** The dearest by each figure, as confirmed. */
  readonly champions: readonly Champion[];
}

/** Candidates that only warm the code up. */
const WARM_UP = 6;
/** A champion is confirmed by this many more measurements; the middle figure counts. */
const CONFIRMATIONS = 3;
/** Share of a bound from which a new champion is measured twice at once, so that the search doesn't follow noise. */
const NOTEWORTHY = 0.3;
/** Share of the largest excess from which a champion is changed further. */
const WORTH_CHANGING = 0.2;
/** One in so many candidates is a random one. */
const RANDOM_SHARE = 4;
const MAX_HANGS = 2;

/** Searches for the dearest requests of a family by changing the dearest ones so far, for `durationMs`. */
export async function searchFamily(
  testbed: CostTestbed,
  family: CostFamily,
  rng: Rng,
  durationMs: number,
): Promise<SearchResult> {
  const champions = new Map<Metric, Champion>();
  const hangsBefore = testbed.hangs;
  const endMs = performance.now() + durationMs;
  let tried = 0;
  const measure = async (candidate: Candidate, isExact = false): Promise<Cost> => {
    const salt = `${family.route} ${tried++} ${rng.intBelow(1 << 30)}`;
    return testbed.measure((tip) => family.attempt(candidate, { salt, tip }), isExact);
  };
  const isDearer = (metric: Metric, cost: Cost): boolean => {
    const champion = champions.get(metric);
    return champion === undefined || metric.of(cost) > metric.of(champion.cost);
  };
  const singles = [...family.singles(rng)];
  const next = (): Candidate => {
    if (singles.length > 0 && rng.intBelow(2) === 0) {
      const [single] = singles.splice(rng.intBelow(singles.length), 1);
      if (single !== undefined) return single;
    }
    const ratioOf = ({ metric, cost }: Champion): number => metric.of(cost) / metric.bound;
    const highest = Math.max(0, ...[...champions.values()].map(ratioOf));
    const dear = [...champions.values()].filter((champion) => ratioOf(champion) > highest * WORTH_CHANGING);
    const parent = dear[rng.intBelow(Math.max(1, dear.length))];
    return parent === undefined || rng.intBelow(RANDOM_SHARE) === 0
      ? family.random(rng)
      : family.mutate(parent.candidate, rng);
  };
  while (performance.now() < endMs && testbed.hangs - hangsBefore < MAX_HANGS) {
    const candidate = next();
    let cost = await measure(candidate);
    if (tried <= WARM_UP && !cost.hasHung) continue;
    const isNoteworthy = METRICS.some(
      (metric) => isDearer(metric, cost) && metric.of(cost) > NOTEWORTHY * metric.bound && !cost.hasHung,
    );
    if (isNoteworthy) cost = combined([cost, await measure(candidate)], least);
    for (const metric of METRICS) if (isDearer(metric, cost)) champions.set(metric, { metric, candidate, cost });
  }
  const confirmed = new Map<Candidate, Cost>();
  for (const { metric, candidate, cost } of champions.values()) {
    const isIdle = metric.of(cost) < NOTEWORTHY * metric.bound;
    if (confirmed.has(candidate) || isIdle) continue;
    const costs: Cost[] = [];
    for (let i = 0; i < CONFIRMATIONS && !cost.hasHung; i++) costs.push(await measure(candidate, true));
    confirmed.set(candidate, cost.hasHung ? cost : combined(costs, middle));
  }
  const final = METRICS.flatMap((metric): Champion[] => {
    const [dearest] = [...confirmed].sort(([, a], [, b]) => metric.of(b) - metric.of(a));
    return dearest === undefined ? [] : [{ metric, candidate: dearest[0], cost: dearest[1] }];
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
    hasHung: costs.some(({ hasHung }) => hasHung),
  };
}

/** The names of the numeric members of a type. */
type NumberOf<T> = { [K in keyof T]: T[K] extends number ? K : never }[keyof T];
