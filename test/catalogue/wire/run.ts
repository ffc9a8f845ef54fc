import { runRows, selectRows } from '../run-rows.ts';
import { abortedReads } from './rows/aborted-reads.ts';
import { callerFlood } from './rows/caller-flood.ts';
import { clockJumps } from './rows/clock-jumps.ts';
import { connectionFlood } from './rows/connection-flood.ts';
import { cutRequests } from './rows/cut-requests.ts';
import { forgedForwardedFor } from './rows/forged-forwarded-for.ts';
import { headerInjection } from './rows/header-injection.ts';
import { idleConnections } from './rows/idle-connections.ts';
import { invalidAddresses } from './rows/invalid-addresses.ts';
import { jsonBombs } from './rows/json-bombs.ts';
import { keyBruteForce } from './rows/key-brute-force.ts';
import { limiterModel } from './rows/limiter-model.ts';
import { missFlood } from './rows/miss-flood.ts';
import { oversizedBodies } from './rows/oversized-bodies.ts';
import { pipelining } from './rows/pipelining.ts';
import { proxySmuggling } from './rows/proxy-smuggling.ts';
import { rateHeaders } from './rows/rate-headers.ts';
import { requestFuzzing } from './rows/request-fuzzing.ts';
import { requestSmuggling } from './rows/request-smuggling.ts';
import { rfcConformance } from './rows/rfc-conformance.ts';
import { routeDefects } from './rows/route-defects.ts';
import { rpcAllowList } from './rows/rpc-allow-list.ts';
import { rpcMethodSpellings } from './rows/rpc-method-spellings.ts';
import { secretLeaks } from './rows/secret-leaks.ts';
import { slowloris } from './rows/slowloris.ts';
import { smallHeap } from './rows/small-heap.ts';
import { ssrfCanary } from './rows/ssrf-canary.ts';
import { stalledListeners } from './rows/stalled-listeners.ts';
import { streamFloods } from './rows/stream-floods.ts';
import { streamFrameBytes } from './rows/stream-frame-bytes.ts';
import { websocketConformance } from './rows/websocket-conformance.ts';
import { windowEdges } from './rows/window-edges.ts';
import type { RunLength, WireRow } from './wire-row.ts';
import { withWireTestbed } from './wire-testbed.ts';

// node dist/test/catalogue/wire/run.js [--short | --full] [ROW…] Runs rows of the catalogue of attacks on the wire and
// prints a line for each; exits with 1 if a finding is not met.

const ROWS: readonly WireRow[] = [
  rfcConformance,
  requestSmuggling,
  proxySmuggling,
  slowloris,
  idleConnections,
  connectionFlood,
  requestFuzzing,
  headerInjection,
  abortedReads,
  routeDefects,
  pipelining,
  oversizedBodies,
  jsonBombs,
  rpcAllowList,
  rpcMethodSpellings,
  invalidAddresses,
  ssrfCanary,
  limiterModel,
  windowEdges,
  forgedForwardedFor,
  callerFlood,
  clockJumps,
  rateHeaders,
  keyBruteForce,
  secretLeaks,
  missFlood,
  websocketConformance,
  stalledListeners,
  streamFloods,
  streamFrameBytes,
  smallHeap,
  cutRequests,
];

const args = process.argv.slice(2);
const runLength: RunLength = args.includes('--full') ? 'full' : args.includes('--short') ? 'short' : 'usual';
const rows = selectRows(args, ROWS);

await withWireTestbed([], async (testbed) => {
  await runRows(rows, (row) => row.run(testbed, runLength));
  const { exitReason, defectLogLines } = testbed.gateway;
  if (exitReason !== undefined) console.log(`FAILED: the gateway has ended: ${exitReason}`);
  for (const defect of defectLogLines.slice(0, 5)) console.log(`FAILED: ${defect}`);
  if (exitReason !== undefined || defectLogLines.length > 0) process.exitCode = 1;
});
