import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { report, runInterleaved } from './support/report.ts';
import { pinned, startGateway, startServer } from './support/server-process.ts';

// Time of a frame from the first listener of a thousand to the last: the gateway's sharded topics against the engine
// publishing the same bytes on one topic. Servers on one core, listeners on the other.

const LISTENERS = Number(process.env['LISTENERS'] ?? 1000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const FRAMES = 20;

const gateway = await startGateway();
const raw = await startServer('bench/processes/bare-engine.js', [`${gateway.url}/api/v1/network`]);

const program = fileURLToPath(new URL('./processes/frame-spread.js', import.meta.url));
async function spread(url: string): Promise<number> {
  const args = [process.execPath, program, url, String(LISTENERS), String(FRAMES)];
  const [command = '', ...rest] = pinned(1, args);
  const { stdout } = await promisify(execFile)(command, rest);
  return Number(stdout);
}

const ms = await runInterleaved(ROUNDS, {
  raw: () => spread(`${raw.url}/stream`),
  gateway: () => spread(`${gateway.url}/api/v1/stream`),
});
console.log(`${LISTENERS} listeners, from the first to the last, medians of ${ROUNDS} x ${FRAMES} frames`);
report('bare engine, one topic, same bytes', ms.raw, 'ms', 1);
report('gateway', ms.gateway, 'ms', ms.gateway / ms.raw, 'goal 1.15 or less');
raw.stop();
gateway.stop();
process.exit();
