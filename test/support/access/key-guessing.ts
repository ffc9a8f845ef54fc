import { setImmediate as turn } from 'node:timers/promises';
import { apiKeyFrom } from '../../../src/gateway/access/api-keys/api-key.ts';
import { ApiKeyRegistry } from '../../../src/gateway/access/api-keys/api-key-registry.ts';
import { apiKeysPath } from '../../../src/gateway/access/api-keys/api-key-store.ts';
import { ManualClock } from '../manual-clock.ts';
import { apiKeyRecord, issueKeys } from './api-key-fixtures.ts';
import { DEFAULT_TIERS } from './default-tiers.ts';

/**
 * The bound of dudect for Student's t, beyond which two mean times differ by more than chance:
 * https://eprint.iacr.org/2016/1123
 */
export const MAX_T = 4.5;

const TRIES_PER_SAMPLE = 100;
const SECRET = '0123456789ABCDEFGHIJKLMNOPQRST';

export interface KeyGuessingResult {
  readonly accepted: number;
  /** Student's t of how much longer a guess takes that is wrong at its first character than one at its last. */
  readonly tStatistic: number;
}

/** Guesses a stored key: with keys of the right format that differ from it in one character. */
export async function guessKeys(folder: string, tries: number): Promise<KeyGuessingResult> {
  const path = apiKeysPath(folder);
  await issueKeys(path, apiKeyRecord(apiKeyFrom(SECRET)));
  const onProblem = (problem: Error): never => {
    throw problem;
  };
  const keys = new ApiKeyRegistry({
    path,
    tiers: DEFAULT_TIERS,
    clock: new ManualClock(),
    onProblem,
    onRecovery: () => {},
  });
  if (keys.find(apiKeyFrom(SECRET)) === undefined) throw new Error('the key itself opens nothing');
  const near = [...'UVWXYZabcdefghijklmnopqrstuvwxyz'].map((wrong) => ({
    first: asReceivedHeader(apiKeyFrom(wrong + SECRET.slice(1))),
    last: asReceivedHeader(apiKeyFrom(SECRET.slice(0, -1) + wrong)),
  }));
  let accepted = 0;
  const timed = (at: 'first' | 'last', round: number): number => {
    const guess = near[round % near.length]?.[at] ?? '';
    const start = process.hrtime.bigint();
    for (let i = 0; i < TRIES_PER_SAMPLE; i++) if (keys.find(guess) !== undefined) accepted++;
    return Number(process.hrtime.bigint() - start);
  };
  const differences: number[] = [];
  for (let round = 0; round < tries / TRIES_PER_SAMPLE / 2; round++) {
    // In pairs, since a machine's speed varies over time; in random order, so that neither is always second.
    const isFirst = Math.random() < 0.5;
    const [one, other] = isFirst ? (['first', 'last'] as const) : (['last', 'first'] as const);
    const difference = timed(one, round) - timed(other, round);
    differences.push(isFirst ? difference : -difference);
    if (round % 100 === 0) await turn();
  }
  keys.close();
  return { accepted, tStatistic: studentT(differences) };
}

/** Copies a text as headers arrive: V8 remembers the parts of concatenated texts. */
const asReceivedHeader = (text: string): string => Buffer.from(text).toString('latin1');

/**
 * Returns Student's t of a sample whose mean should be 0, without the twentieth at either end, which the machine has
 * delayed.
 */
function studentT(sample: readonly number[]): number {
  const cut = Math.floor(sample.length / 20);
  const kept = sample.toSorted((a, b) => a - b).slice(cut, sample.length - cut);
  const mean = kept.reduce((sum, x) => sum + x, 0) / kept.length;
  const variance = kept.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (kept.length - 1);
  return mean / Math.sqrt(variance / kept.length);
}
