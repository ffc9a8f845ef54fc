import { parseArgs } from 'node:util';
import { runRows, selectRows } from '../run-rows.ts';
import type { CostRow } from './attack-row.ts';
import { fuzzCost } from './fuzz.ts';
import {
  explainFlood,
  forgedProofs,
  largeAccounts,
  manyTokenAccounts,
  refusedScans,
  scans,
  slowCalls,
  slowReaders,
  strangersFloor,
} from './rows/attacks.ts';
import { revokedKey } from './rows/revoked-key.ts';
import { subscriptionChurn } from './rows/subscription-churn.ts';

// node dist/test/catalogue/cost/run.js [--short or --full] [--gateway MAIN] [--seed N] [--seconds N] [ROW or /ROUTE…]
// Searches the routes for their dearest requests, then runs the attacks, over this build or the `main.js` of another.
// Exits with 1 if a bound is broken. `--short` only searches.

const ROWS: readonly CostRow[] = [
  explainFlood,
  slowCalls,
  slowReaders,
  forgedProofs,
  strangersFloor,
  largeAccounts,
  manyTokenAccounts,
  scans,
  refusedScans,
  revokedKey,
  subscriptionChurn,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    gateway: { type: 'string' },
    seed: { type: 'string' },
    seconds: { type: 'string' },
  },
});
const { full: isFull, short: isShort, gateway: main } = values;
const seconds = Number(values.seconds ?? (isFull ? 900 : isShort ? 40 : 180));
const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
const routes = positionals.filter((each) => each.startsWith('/'));
const rowIds = positionals.filter((each) => !each.startsWith('/'));

// The short search runs on any machine, beside other work.
const timeAllowance = isShort ? 2 : 1;
if (rowIds.length === 0 && !(await fuzzCost({ main, seed, seconds, routes, timeAllowance }))) process.exitCode = 1;
if (routes.length === 0 && !isShort) await runRows(selectRows(rowIds, ROWS), (row) => row.run({ main, isFull }));
