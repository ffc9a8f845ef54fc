import type { EngineName } from '../src/http/engine/engine.ts';
import { loadEngine } from '../src/http/load-engine.ts';
import { Bench, interleave, type Sample } from './support/bench.ts';
import { FIRST_BALANCE } from './support/live-accounts.ts';
import { measureLoad, warmUp } from './support/measure-load.ts';
import { startNode } from './support/node-process.ts';
import { type ServedProcess, startGatewayOver } from './support/server-process.ts';

// Cache hits over each HTTP engine that loads on this machine, against the first of them.

const bench = new Bench({ rounds: 7, seconds: 3 });
const { rounds, seconds, settings } = bench;
const node = await startNode();
const targets = FIRST_BALANCE;

const names: readonly EngineName[] = ['uws', 'uws-pack', 'node'];
const gateways = new Map<EngineName, ServedProcess>();
for (const name of names) {
  const loads = await loadEngine(name).then(
    () => true,
    () => false,
  );
  if (!loads) continue;
  const gateway = await startGatewayOver(node.upstream, { settings: [...settings, `http.engine=${name}`] });
  await warmUp(gateway, { targets });
  gateways.set(name, gateway);
}

bench.title(`Node ${process.versions.node}; 64 connections, server and load on a core each`);
const samples: Record<string, Sample[]> = await interleave(
  rounds,
  Object.fromEntries(
    [...gateways].map(([name, gateway]) => [`/balance over ${name}`, () => measureLoad(gateway, { targets, seconds })]),
  ),
);
bench.figures(samples);
const [[first, base] = ['', []], ...others] = Object.entries(samples);
for (const [name, list] of others) {
  const goal = name.endsWith(' node') ? { atLeast: 0.25 } : undefined;
  bench.ratio('rate', [name, list], [first, base], goal);
  bench.ratio('cpuUs', [name, list], [first, base]);
}
bench.end();
