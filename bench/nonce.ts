import { Bench, interleave } from './support/bench.ts';
import { FIRST_BALANCE } from './support/live-accounts.ts';
import { measureLoad, warmUp } from './support/measure-load.ts';
import { startNode } from './support/node-process.ts';
import { startGatewayOver } from './support/server-process.ts';

// Answers signed for one caller's nonce, over HTTP: one signature for all requests of one event-loop turn, against one
// for each.

const bench = new Bench({ rounds: 5, seconds: 3 });
const { rounds, seconds, settings } = bench;
const node = await startNode();
const together = await startGatewayOver(node.upstream, { settings });
const each = await startGatewayOver(node.upstream, { settings: [...settings, 'cache.signBatchSize=1'] });
const load = { targets: FIRST_BALANCE, seconds, nonces: true };
for (const gateway of [together, each]) await warmUp(gateway, load);

bench.title('64 connections, each answer signed for a nonce of its own, server and load on a core each');
const samples = await interleave(rounds, {
  'one signature each': () => measureLoad(each, load),
  'one signature for up to 64': () => measureLoad(together, load),
});
bench.figures(samples);
const base = ['sign each', samples['one signature each']] as const;
const shared = ['sign up to 64', samples['one signature for up to 64']] as const;
bench.ratio('rate', shared, base, { atLeast: 5 });
bench.ratio('cpuUs', shared, base, { atMost: 0.2 });
bench.ratio('p50Ms', shared, base, { atMost: 1 });
bench.end();
