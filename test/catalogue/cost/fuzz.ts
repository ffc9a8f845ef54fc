import { fileURLToPath } from 'node:url';
import { type Rng, seededRng } from '../../../src/localnet/traffic/seeded-rng.ts';
import { type Finding, formatFigure, resultLine } from '../findings.ts';
import { type Cost, METRICS } from './cost-bounds.ts';
import { costFamilies } from './cost-families.ts';
import { type Champion, type SearchResult, searchFamily } from './cost-search.ts';
import { type CostTestbed, withCostTestbed } from './cost-testbed.ts';
import { wordsOfPatterns } from './pattern-words.ts';

export interface FuzzOptions {
  /** The built `main.js` of the gateway; by default this build's. */
  readonly main: string | undefined;
  readonly seed: number;
  readonly seconds: number;
  /** How many times its bound a time may take until it counts as broken. */
  readonly timeAllowance: number;
  /** Routes to search, all if empty. */
  readonly routes: readonly string[];
}

const OWN_MAIN = fileURLToPath(new URL('../../../src/main.js', import.meta.url));

/** Searches each route for its dearest requests and prints a line for each. Returns false if a bound was exceeded. */
export async function fuzzCost(options: FuzzOptions): Promise<boolean> {
  const words = wordsOfPatterns(options.main ?? OWN_MAIN);
  return await withCostTestbed(options.main, async (testbed) => {
    const all = costFamilies(await testbed.routePaths(), words);
    const { routes } = options;
    const families = all
      .filter(({ route }) => routes.length === 0 || routes.some((each) => route.includes(each)))
      .sort((a, b) => a.weight - b.weight); // whoever takes longer than its share takes it from those with much
    let weights = families.reduce((sum, { weight }) => sum + weight, 0);
    const endMs = performance.now() + options.seconds * 1000;
    console.log(
      `cost      seed ${options.seed}, ${families.length} kinds of requests, ${words.length} words of patterns`,
    );
    let isWithinBounds = true;
    for (const [i, family] of families.entries()) {
      const rng: Rng = seededRng(options.seed + i);
      const beganMs = performance.now();
      const leftMs = endMs - beganMs;
      if (leftMs <= 0) {
        console.log(`cost      skipped  0 s  ${family.route}: out of time`);
        continue;
      }
      // of what is left: a family may take longer than its share
      const result = await searchFamily(testbed, family, rng, (leftMs * family.weight) / weights);
      weights -= family.weight;
      isWithinBounds =
        printResult(result, options.timeAllowance, (performance.now() - beganMs) / 1000) && isWithinBounds;
    }
    await expectAlive(testbed);
    return isWithinBounds;
  });
}

async function expectAlive(testbed: CostTestbed): Promise<void> {
  const { status } = await fetch(`${testbed.url}/api/v1/health`);
  if (status !== 200) throw new Error(`the gateway is not well after the search: /health answers ${status}`);
}

/** Prints a family's figures, and the candidates that exceed a bound. Returns whether none did. */
function printResult({ family, tried, champions }: SearchResult, timeAllowance: number, seconds: number): boolean {
  if (champions.length === 0) {
    console.log(`cost      skipped  0 s  ${family.route}: out of time after ${tried} tries`);
    return true;
  }
  const findings = METRICS.map((metric): Finding => {
    const champion = champions.find((each) => each.metric === metric);
    const value = champion === undefined ? 0 : metric.of(champion.cost);
    const hung = champion?.cost.hasHung === true ? 'killed after ' : '';
    const text = `${metric.label} ${hung}${formatFigure(value)}${metric.unit} (<= ${metric.bound})`;
    const isTolerated = metric.isTime && value <= metric.bound * timeAllowance;
    return { text, isMet: value <= metric.bound, isTolerated };
  });
  const peakBytes = Math.max(0, ...champions.map(({ cost }) => cost.peakBytes));
  const waitMs = Math.max(0, ...champions.map(({ cost }) => cost.waitMs));
  for (const metric of METRICS.filter(({ isTime }) => isTime)) {
    const young = Math.max(0, ...champions.map(({ youngCost }) => metric.of(youngCost)));
    if (young > metric.bound)
      findings.push({ text: `${metric.label} in a young process ${formatFigure(young)}${metric.unit}`, isMet: true });
  }
  findings.push({ text: `peak +${formatFigure(peakBytes / 2 ** 20)} MiB`, isMet: true });
  findings.push({ text: `longest wait of others ${formatFigure(Math.round(waitMs))} ms`, isMet: true });
  console.log(resultLine({ id: 'cost', title: `${family.route} (${tried} tried)` }, findings, seconds));
  const dear = champions.filter(({ metric, cost }) => metric.of(cost) > metric.bound);
  for (const champion of dear) console.log(describeChampion(champion, family.describe(champion.candidate)));
  return dear.every(({ metric, cost }) => metric.isTime && metric.of(cost) <= metric.bound * timeAllowance);
}

function describeChampion({ metric, cost }: Champion, candidate: string): string {
  return `            ${metric.label}: ${candidate}\n              -> ${describeCost(cost)}`;
}

const describeCost = (cost: Cost): string =>
  [
    `${cost.statuses}`,
    `${formatFigure(cost.units)} units`,
    `turn ${formatFigure(cost.turnMs)} ms`,
    `CPU ${formatFigure(cost.cpuMs)} ms`,
    `${formatFigure(cost.calls)} calls`,
    `${formatFigure(cost.readBytes / 2 ** 20)} MiB read`,
    `${formatFigure(cost.keptBytes / 2 ** 20)} MiB kept`,
    `peak +${formatFigure(cost.peakBytes / 2 ** 20)} MiB`,
    `/health waited ${formatFigure(Math.round(cost.waitMs))} ms`,
  ].join(', ');
