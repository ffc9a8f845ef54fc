import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Bench, interleave, type Sample } from './support/bench.ts';
import { compileProgram } from './support/compile-program.ts';
import { FIRST_BALANCE } from './support/live-accounts.ts';
import { runLoad } from './support/load.ts';
import { warmUp } from './support/measure-load.ts';
import { startNode } from './support/node-process.ts';
import { pinned, startGatewayOver, startListening, startServer } from './support/server-process.ts';
import { makeTemporaryFolder } from './support/temporary-folder.ts';

// Time of a stream frame from the first of many listeners to the last: the gateway's sharded topics, the engine with one
// topic, and a C program that does nothing else, all with the same bytes. Then the latency of HTTP requests beside the
// listeners, against a gateway without any. Arguments: how many listeners.

const SLOT_MS = 400;
/** Requests a second beside the listeners. */
const HTTP_RATE = 5000;

const bench = new Bench({ rounds: 5, seconds: 4 });
const { rounds, seconds, settings } = bench;
const counts = bench.numbers.length > 0 ? bench.numbers : [1_000, 5_000, 10_000];
const node = await startNode({ slotMs: SLOT_MS });
const [gateway, unfollowed] = [
  await startGatewayOver(node.upstream, { settings }),
  await startGatewayOver(node.upstream, { settings }),
];
const network = `${gateway.url}/api/v1/network`;
const payload = join(makeTemporaryFolder(), 'payload');
writeFileSync(payload, await (await fetch(network)).text());
const bare = await startServer('bench/processes/bare-engine.js', [network]);
const compiled = compileProgram('fanout-server.c');
const program = compiled === undefined ? undefined : await startListening([compiled, payload]);
const stream = `${gateway.url}/api/v1/stream`;

bench.title('first to last listener of a frame, in ms; servers on one core, listeners on the other');
if (program === undefined) bench.note('C program: not measured, there is no C compiler');
for (const listeners of counts) await compare(listeners);
bench.end();

async function compare(listeners: number): Promise<void> {
  const name = `${listeners.toLocaleString('en')} listeners`;
  const run = (url: string) => async (): Promise<Sample> => ({ value: await spreadMs(url, listeners) });
  const samples = await interleave<'gateway' | 'engine' | 'program', Sample>(rounds, {
    gateway: run(stream),
    engine: run(`${bare.url}/stream`),
    program: program === undefined ? () => ({}) : run(`${program.url}/stream`),
  });
  bench.figures({
    [`gateway, ${name}`]: samples.gateway,
    'bare engine, one topic': samples.engine,
    'C program': samples.program,
  });
  bench.ratio('value', [`gateway, ${name}`, samples.gateway], ['bare engine', samples.engine], { atMost: 1.1 });
  if (program !== undefined)
    bench.ratio('value', [`gateway, ${name}`, samples.gateway], ['C program', samples.program], { atMost: 1.15 });

  const crowd = fork(fileURLToPath(new URL('./processes/background-listeners.js', import.meta.url)), [stream]);
  crowd.send(listeners);
  await once(crowd, 'message');
  const load = { targets: FIRST_BALANCE, rate: HTTP_RATE, seconds };
  for (const server of [gateway, unfollowed]) await warmUp(server, load);
  const http = await interleave(rounds, {
    beside: () => runLoad(gateway.url, load),
    alone: () => runLoad(unfollowed.url, load),
  });
  const [beside, alone] = [`HTTP beside ${name}`, 'HTTP alone'];
  bench.figures({ [beside]: http.beside, [alone]: http.alone });
  bench.ratio('p99Ms', [beside, http.beside], [alone, http.alone], { atMost: 2 });
  crowd.kill('SIGKILL');
}

/** Returns the median over some frames. */
async function spreadMs(url: string, listeners: number): Promise<number> {
  const frames = Math.max(3, Math.round((seconds * 1000) / SLOT_MS));
  const module = fileURLToPath(new URL('./processes/frame-spread.js', import.meta.url));
  const [command = '', ...args] = pinned(1, [process.execPath, module, url, `${listeners}`, `${frames}`]);
  return Number((await promisify(execFile)(command, args)).stdout);
}
