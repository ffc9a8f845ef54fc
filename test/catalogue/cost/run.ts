import { parseArgs } from 'node:util';
import type { Row } from '../findings.ts';
import { loadRows, runRows, selectRows } from '../run-rows.ts';
import { fuzzCost } from './fuzz.ts';

// node dist/test/catalogue/cost/run.js [--short or --full] [--gateway MAIN] [--seed N] [--seconds N] [ROW or /ROUTE…]
// Searches the routes for their dearest requests, then runs the rows, over this build or the `main.js` of another.
// Exits with 1 if a bound is broken. `--short` only searches.

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

// The short search runs on any machine, beside other work, and in a process that still compiles its code.
const timeAllowance = isShort ? 2 : 1;
if (rowIds.length === 0 && !(await fuzzCost({ main, seed, seconds, routes, timeAllowance }))) process.exitCode = 1;
if (routes.length === 0 && !isShort) {
  const rows = await loadRows<Row>(import.meta.url);
  await runRows(selectRows(rowIds, rows), (row) => row.run({ main, isFull }));
}
