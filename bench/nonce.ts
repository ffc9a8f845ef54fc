import { report, runInterleaved } from './support/report.ts';
import { cpuSeconds, startGateway } from './support/server-process.ts';
import { median } from './support/statistics.ts';
import { runWrk, type WrkResult } from './support/wrk.ts';

// Answers signed for one caller's nonce, over HTTP: one signature for all requests of one event-loop turn, against one
// for each. The gateway on one core, the load on another.

const WALLET = '11111111111111111111111111111111';
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 3);
const LOAD = { connections: 64, seconds: SECONDS, nonces: true };

const together = await startGateway();
const each = await startGateway('cache.sealTogether=1');
const paths = { together, each };
const latencies: Record<keyof typeof paths, number[]> = { together: [], each: [] };
const perCpu: Record<keyof typeof paths, number[]> = { together: [], each: [] };

const run = async (name: keyof typeof paths): Promise<number> => {
  const url = `${paths[name].url}/api/v1/balance/${WALLET}`;
  await fetch(url);
  const before = cpuSeconds(paths[name]);
  const { rate, p50Ms }: WrkResult = await runWrk(url, LOAD);
  perCpu[name].push((rate * SECONDS) / (cpuSeconds(paths[name]) - before));
  latencies[name].push(p50Ms);
  return rate;
};
const rates = await runInterleaved(ROUNDS, { each: () => run('each'), together: () => run('together') });
const p50 = { each: median(latencies.each), together: median(latencies.together) };
const cpu = { each: median(perCpu.each), together: median(perCpu.together) };

console.log(`64 connections, each answer signed for a nonce of its own; medians of ${ROUNDS} x ${SECONDS} s`);
report('one signature each', rates.each, 'req/s', 1);
report('one signature for up to 64', rates.together, 'req/s', rates.together / rates.each, 'goal 3');
report('for a second of the server’s core, one signature each', cpu.each, 'requests', 1);
report('one signature for up to 64', cpu.together, 'requests', cpu.together / cpu.each, 'goal 3');
report('p50, one signature each', p50.each, 'ms', 1);
report('p50, one signature for up to 64', p50.together, 'ms', p50.together / p50.each, 'goal 1 or less');
together.stop();
each.stop();
process.exit();
