import { readFileSync } from 'node:fs';
import { fails, resultLine } from '../findings.ts';
import { confusionOf, findingsOf, tellOf } from './count-types.ts';
import { readBlockFile, readRecordedBlock } from './read-block.ts';
import { drawSample } from './sample.ts';

// Counts what is told of the transactions of whole blocks: of the recorded one, or of the files that are named.
// --sample prints 100 of them beside their balances; SEED=… draws others.

const SAMPLE_SIZE = 100;
const paths = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const blocks = paths.length === 0 ? [readRecordedBlock()] : paths.map(readBlockFile);
const seed = Number(process.env['SEED'] ?? 1);
const before = new Map(
  readFileSync(new URL('../../../../test/catalogue/transactions/types-before.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ') as [signature: string, type: string]), // as it was written
);

for (const { name, transactions } of blocks) {
  const beganMs = performance.now();
  const told = tellOf(transactions);
  const findings = findingsOf(told);
  console.log(resultLine({ id: 'block', title: name }, findings, (performance.now() - beganMs) / 1000));
  for (const line of confusionOf(told, before)) console.log(line);
  if (findings.some(fails)) process.exitCode = 1;
  if (!process.argv.includes('--sample')) continue;
  console.log(`\n${SAMPLE_SIZE} transactions, SEED=${seed}`);
  for (const text of drawSample(transactions, SAMPLE_SIZE, seed)) console.log(`\n${text}`);
}
