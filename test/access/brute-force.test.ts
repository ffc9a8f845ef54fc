import t from 'tap';
import { keyOf } from '../../src/access/api-key.ts';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { keysPath } from '../../src/access/key-store.ts';
import { ManualClock } from '../manual-clock.ts';
import { issue, recordOf } from './issued.ts';
import { TIERS } from './tiers.ts';

/** Beyond that two means of times differ by more than chance: the bound of dudect, https://eprint.iacr.org/2016/1123 */
const MAX_T = 4.5;

const TRIES_TOGETHER = 100;
const tries = Number(process.argv[2] ?? 10_000);
/** Time is only looked at at length: a few tries beside other work say nothing. */
const isTimed = process.argv[2] !== undefined;

t.test(
  `24: of ${tries} guesses, near at its first character and near at its last, none opens anything, nor tells how near it is`,
  { timeout: 300_000 },
  async (t) => {
    const path = keysPath(t.testdir());
    const secret = '0123456789ABCDEFGHIJKLMNOPQRST';
    await issue(path, recordOf(keyOf(secret)));
    const keys = new ApiKeys({ path, tiers: TIERS, clock: new ManualClock(), onProblem: t.fail });
    t.teardown(() => keys.close());
    t.ok(keys.find(keyOf(secret)));

    /** Keys of the right form that differ in one place, at the beginning or at the end. */
    const near = [...'UVWXYZabcdefghijklmnopqrstuvwxyz'].map((wrong) => ({
      first: received(keyOf(wrong + secret.slice(1))),
      last: received(keyOf(secret.slice(0, -1) + wrong)),
    }));
    let opened = 0;
    const timed = (at: 'first' | 'last', round: number): number => {
      const guess = near[round % near.length]?.[at] ?? '';
      const start = process.hrtime.bigint();
      for (let i = 0; i < TRIES_TOGETHER; i++) if (keys.find(guess) !== undefined) opened++;
      return Number(process.hrtime.bigint() - start);
    };
    const differences: number[] = [];
    for (let round = 0; round < tries / TRIES_TOGETHER / 2; round++) {
      // Side by side, since a machine is never equally quick for long; and by lot, so that neither is always the second.
      const isFirst = Math.random() < 0.5;
      const [one, other] = isFirst ? (['first', 'last'] as const) : (['last', 'first'] as const);
      const difference = timed(one, round) - timed(other, round);
      differences.push(isFirst ? difference : -difference);
    }
    t.equal(opened, 0);
    const score = studentT(differences);
    t.comment(`t = ${score.toFixed(2)}`);
    if (isTimed) t.ok(Math.abs(score) < MAX_T, `|t| = ${Math.abs(score).toFixed(2)} (< ${MAX_T})`);
  },
);

/** As a header comes: a text that was not put together from others, whose parts the engine would remember. */
const received = (text: string): string => Buffer.from(text).toString('latin1');

/** Student's t of what should be 0 on average, without the twentieth at either end that the machine has held up. */
function studentT(sample: readonly number[]): number {
  const cut = Math.floor(sample.length / 20);
  const kept = sample.toSorted((a, b) => a - b).slice(cut, sample.length - cut);
  const mean = kept.reduce((sum, x) => sum + x, 0) / kept.length;
  const variance = kept.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (kept.length - 1);
  return mean / Math.sqrt(variance / kept.length);
}
