import type { Row } from '../row.ts';
import { namedBy, runRows } from '../run-rows.ts';
import { bothDown } from './rows/both-down.ts';
import { dropped } from './rows/dropped.ts';
import { forked } from './rows/forked.ts';
import { halfOpen } from './rows/half-open.ts';
import { herd } from './rows/herd.ts';
import { hot } from './rows/hot.ts';
import { hung } from './rows/hung.ts';
import { killed } from './rows/killed.ts';
import { lagging } from './rows/lagging.ts';
import { lying } from './rows/lying.ts';
import { network } from './rows/network.ts';
import { oversized } from './rows/oversized.ts';
import { refused } from './rows/refused.ts';
import { schedules } from './rows/schedules.ts';
import { stranger } from './rows/stranger.ts';

// node dist/test/catalogue/faults/run.js [--full] [ROW…]
// Runs the rows of the fault catalogue and prints a line for each; exits with 1 when one is not as it should be.

const ROWS: readonly Row[] = [
  killed,
  bothDown,
  hung,
  halfOpen,
  dropped,
  refused,
  lagging,
  lying,
  stranger,
  forked,
  oversized,
  herd,
  network,
  hot,
  schedules,
];

const args = process.argv.slice(2);
const isFull = args.includes('--full');
await runRows(namedBy(args, ROWS), (row) => row.run({ isFull }));
