import type { FaultRow } from '../findings.ts';
import { runFaultRows } from '../run-rows.ts';
import { allNodesDown } from './rows/all-nodes-down.ts';
import { connectionResets } from './rows/connection-resets.ts';
import { errorClasses } from './rows/error-classes.ts';
import { foreignCluster } from './rows/foreign-cluster.ts';
import { forks } from './rows/forks.ts';
import { halfOpenConnections } from './rows/half-open-connections.ts';
import { hotAccounts } from './rows/hot-accounts.ts';
import { hungNode } from './rows/hung-node.ts';
import { killedNode } from './rows/killed-node.ts';
import { laggingNode } from './rows/lagging-node.ts';
import { lyingNode } from './rows/lying-node.ts';
import { memorySoak } from './rows/memory-soak.ts';
import { mutatedAnswers } from './rows/mutated-answers.ts';
import { networkFaults } from './rows/network-faults.ts';
import { oversizedAnswers } from './rows/oversized-answers.ts';
import { randomSchedules } from './rows/random-schedules.ts';
import { thunderingHerd } from './rows/thundering-herd.ts';

// node dist/test/catalogue/faults/run.js [--full] [--gateway=MAIN] [ROW…] Runs rows of the fault catalogue and prints a
// line for each; exits with 1 if a finding is not met. `mutated-answers` can run over the `main.js` of another build.

const ROWS: readonly FaultRow[] = [
  killedNode,
  allNodesDown,
  hungNode,
  halfOpenConnections,
  connectionResets,
  errorClasses,
  laggingNode,
  lyingNode,
  foreignCluster,
  forks,
  oversizedAnswers,
  thunderingHerd,
  networkFaults,
  hotAccounts,
  memorySoak,
  mutatedAnswers,
  randomSchedules,
];

await runFaultRows(ROWS);
