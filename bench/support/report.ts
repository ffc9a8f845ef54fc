import { interleave } from './bench.ts';
import { median } from './statistics.ts';

/** Runs each function once, then each again, and so on, so that drift affects all alike. Returns the medians. */
export async function runInterleaved<K extends string>(
  rounds: number,
  runs: Readonly<Record<K, () => number | Promise<number>>>,
): Promise<Record<K, number>> {
  const values = await interleave<K, number>(rounds, runs);
  const medians = (Object.keys(runs) as K[]).map((name) => [name, median(values[name])]); // the keys of runs
  return Object.fromEntries(medians) as Record<K, number>; // one for each name
}

/** Prints one result: the measure, its value, its ratio to the reference, and the goal. */
export function report(what: string, value: number, unit: string, ratio?: number, goal?: string): void {
  const number = value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
  const share = ratio === undefined ? '' : ratio.toFixed(2);
  console.log(`${what.padEnd(58)} ${number.padStart(12)} ${unit.padEnd(8)} ${share.padStart(6)}  ${goal ?? ''}`);
}
