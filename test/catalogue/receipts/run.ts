import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judgeVectors, refuseChangedCounts } from './changed-counts.ts';
import { startConcurrently } from './concurrent-starts.ts';
import { crashKeyWriters } from './crash-key-writers.ts';
import { rejectMutants } from './receipt-mutants.ts';

// Receipts that are changed, and makers of keys that start together and are killed: npm run check -- receipts [MUTANTS KILLS]

const [mutants = 1_000_000, kills = 200] = process.argv.slice(2).map(Number);
/** fast-check keeps data of each run until all are done */
const BATCH = 50_000;

/** The receipts with another count of operators than was signed, for each verifier. */
const COUNTS = 100;

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
const faults = new Map<string, number>();
const refused = (): number => [...faults.values()].reduce((sum, count) => sum + count, 0);
while (refused() < mutants) {
  const found = rejectMutants({ numRuns: BATCH, seed: seed + refused() });
  for (const [fault, count] of found) faults.set(fault, (faults.get(fault) ?? 0) + count);
}
console.log(`${refused().toLocaleString('en')} mutated receipts, 0 believed, seed ${seed}`);
for (const [fault, count] of [...faults].sort(([, a], [, b]) => b - a)) console.log(`  ${fault.padEnd(12)} ${count}`);

const folder = mkdtempSync(join(tmpdir(), 'key-kills-'));
assert.deepEqual(judgeVectors(folder), []);
console.log('the published and the hostile vectors judged alike by each verifier');
const { refused: byVerifier, skipped } = refuseChangedCounts(folder, COUNTS);
for (const [name, count] of byVerifier)
  console.log(`${count} of ${COUNTS} changed counts of operators refused: ${name}`);
for (const reason of skipped) console.log(`not run: the verifier in ${reason}`);
assert.ok(byVerifier.every(([, count]) => count === COUNTS));

const { creators, keys: made, errors } = await startConcurrently(join(folder, 'simultaneous'), 50);
console.log(`50 simultaneous starts: ${creators} made the key, all came to ${made.size}`);
assert.deepEqual([creators, made.size, errors], [1, 1, '']);

console.log(`${kills} kills of makers of keys`);
const { folders, keys, midway, faults: lost } = await crashKeyWriters(folder, kills, seed);
console.log(
  `  ${midway} in the middle of a change; ${keys} keys in ${folders} folders, ${lost.length} lost or changed`,
);
assert.deepEqual(lost, []); // the folders stay for inspection
assert.ok(midway > kills / 10, 'changes were cut off');
rmSync(folder, { recursive: true });
