import type { FaultRow } from '../findings.ts';
import { runFaultRows } from '../run-rows.ts';
import { diskFull } from './rows/disk-full.ts';
import { gatewayEnded } from './rows/gateway-ended.ts';
import { keysRevoked } from './rows/keys-revoked.ts';
import { leaderKilled } from './rows/leader-killed.ts';
import { limitsShared } from './rows/limits-shared.ts';
import { oneWatch } from './rows/one-watch.ts';
import { recovery } from './rows/recovery.ts';
import { redisFailover } from './rows/redis-failover.ts';
import { redisGone } from './rows/redis-gone.ts';
import { reloads } from './rows/reloads.ts';
import { unlikeGateways } from './rows/unlike-gateways.ts';
import { usageCounted } from './rows/usage-counted.ts';
import { workersKilled } from './rows/workers-killed.ts';

// node dist/test/catalogue/fleet/run.js [--full] [ROW…] Runs rows of faults of a fleet over a real redis-server and prints
// a line for each; exits with 1 if a finding is not met.

const ROWS: readonly FaultRow[] = [
  workersKilled,
  recovery,
  gatewayEnded,
  reloads,
  diskFull,
  usageCounted,
  limitsShared,
  redisGone,
  leaderKilled,
  redisFailover,
  oneWatch,
  keysRevoked,
  unlikeGateways,
];

await runFaultRows(ROWS);
