import { addressOfNumber } from '../test/support/address-of-number.ts';
import { Bench } from './support/bench.ts';
import { runLoad } from './support/load.ts';
import { startNode } from './support/node-process.ts';
import { startGatewayOver } from './support/server-process.ts';

// Upstream calls for a key that is not in the cache when a thousand callers ask for it at once.

const CALLERS = 1000;
/** How long the node takes to answer, in milliseconds: all ask meanwhile. */
const NODE_MS = 100;

const bench = new Bench({ rounds: 5, seconds: 1 });
const node = await startNode({ delayMs: NODE_MS });
const gateway = await startGatewayOver(node.upstream, { settings: bench.settings });
bench.title(`${CALLERS} callers at once, a node that takes ${NODE_MS} ms`);
const calls: number[] = [];
const slowest: number[] = [];
for (let round = 0; round < bench.rounds; round++) {
  const before = (await node.counts()).requests['getMultipleAccounts'] ?? 0;
  const targets = `/api/v1/balance/${addressOfNumber(round)}`;
  slowest.push((await runLoad(gateway.url, { targets, connections: CALLERS, requests: CALLERS })).maxMs);
  calls.push(((await node.counts()).requests['getMultipleAccounts'] ?? 0) - before);
}
bench.value(`upstream calls for ${CALLERS} callers of a cold key`, '', calls, { atMost: 1 });
bench.value('the last of them is answered after', 'ms', slowest);
bench.end();
