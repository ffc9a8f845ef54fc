import { loadRows, runRows, selectRows } from '../run-rows.ts';
import type { RunLength, WireRow } from './wire-row.ts';
import { withWireTestbed } from './wire-testbed.ts';

// node dist/test/catalogue/wire/run.js [--short | --full] [--gateway=MAIN] [ROW…] Runs rows of the catalogue of attacks on the wire and
// prints a line for each; exits with 1 if a finding is not met.

const GATEWAY_FLAG = '--gateway=';
const args = process.argv.slice(2);
const runLength: RunLength = args.includes('--full') ? 'full' : args.includes('--short') ? 'short' : 'usual';
const rows = selectRows(args, await loadRows<WireRow>(import.meta.url));
const main = args.find((arg) => arg.startsWith(GATEWAY_FLAG))?.slice(GATEWAY_FLAG.length);

await withWireTestbed([], async (testbed) => {
  await runRows(rows, (row) => row.run(testbed, runLength, main));
  const { exitReason, defectLogLines } = testbed.gateway;
  if (exitReason !== undefined) console.log(`FAILED: the gateway has ended: ${exitReason}`);
  for (const defect of defectLogLines.slice(0, 5)) console.log(`FAILED: ${defect}`);
  if (exitReason !== undefined || defectLogLines.length > 0) process.exitCode = 1;
});
