import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ATTACKS, forgeAll, SCENES } from '../../support/forged-attacks.ts';
import { readTable } from '../../support/read-table.ts';
import { fails, resultLine } from '../findings.ts';
import { confusionOf, findingsOf, interpretAll } from './count-types.ts';
import { readBlockFile, readRecorded, readRecordedBlock } from './read-block.ts';
import { describeAll, drawSample } from './sample.ts';

// Counts what the gateway shows of the transactions of whole blocks: of the recorded one, or of the files that are named.
// --sample prints 100 of them beside their balances; SEED=… draws others.
// --forged prints how each forged theft is described, by what stands beside it.
// --explain FILE writes all recorded transactions and 150 of the block as they are explained, beside their balances.

const SAMPLE_SIZE = 100;
const EXPLAINED_OF_BLOCK = 150;
const { values: options, positionals: paths } = parseArgs({
  options: { sample: { type: 'boolean' }, forged: { type: 'boolean' }, explain: { type: 'string' } },
  allowPositionals: true,
});

const thefts = forgeAll();
console.log(
  `forged: ${thefts.length} records of ${Object.keys(ATTACKS).length} thefts in ${Object.keys(SCENES).length} scenes and 3 forms`,
);
for (const { name, scene, form, description, lacking } of thefts) {
  if (options.forged === true) console.log(`${name}\t${scene}\t${form}\t${description}`);
  for (const text of lacking) console.log(`${name}, ${scene}, ${form}: lacks ${text}`);
  if (lacking.length > 0) process.exitCode = 1;
}
const blocks = paths.length === 0 ? [readRecordedBlock()] : paths.map(readBlockFile);
const seed = Number(process.env['SEED'] ?? 1);
const before = new Map(
  readTable('catalogue/transactions/types-before.txt').map(
    ([line = '']) => line.split(' ') as [signature: string, type: string], // as it was written
  ),
);

for (const { name, transactions } of blocks) {
  const beganMs = performance.now();
  const interpreted = interpretAll(transactions);
  const findings = findingsOf(interpreted);
  console.log(resultLine({ id: 'block', title: name }, findings, (performance.now() - beganMs) / 1000));
  for (const line of confusionOf(interpreted, before)) console.log(line);
  if (findings.some(fails)) process.exitCode = 1;
  if (options.sample !== true) continue;
  console.log(`\n${SAMPLE_SIZE} transactions, SEED=${seed}`);
  for (const text of drawSample(transactions, SAMPLE_SIZE, seed)) console.log(`\n${text}`);
}

if (options.explain !== undefined) {
  const drawn = blocks.flatMap(({ transactions }) => drawSample(transactions, EXPLAINED_OF_BLOCK, seed));
  const texts = [...describeAll(readRecorded()), ...drawn];
  writeFileSync(options.explain, `${texts.join('\n\n')}\n`);
  console.log(`${texts.length} transactions are explained in ${options.explain}, SEED=${seed}`);
}
