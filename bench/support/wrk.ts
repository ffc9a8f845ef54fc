import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinned } from './server-process.ts';

export interface WrkLoad {
  readonly connections: number;
  readonly seconds: number;
  /** Requests in flight on each connection. */
  readonly pipelined?: number;
  /** Whether each request has a nonce. */
  readonly nonces?: boolean;
}

export interface WrkResult {
  /** Requests per second. */
  readonly rate: number;
  readonly p50Ms: number;
}

if (spawnSync('wrk', ['-v']).error !== undefined) throw new Error('wrk makes the load: apt-get install wrk');

/** Measures requests per second; every answer must be a 200. */
export const requestsPerSecond = (url: string, load: WrkLoad): Promise<number> =>
  runWrk(url, load).then(({ rate }) => rate);

/** Measures requests per second and the median latency. */
export async function runWrk(
  url: string,
  { connections, seconds, pipelined = 1, nonces = false }: WrkLoad,
): Promise<WrkResult> {
  const lua = nonces ? NONCES : pipelined > 1 ? pipeline(pipelined) : undefined;
  const script = lua === undefined ? [] : ['-s', scriptFile(lua)];
  const args = ['wrk', '--latency', '-t1', `-c${connections}`, `-d${seconds}s`, ...script, url];
  const [command = '', ...rest] = pinned(1, args);
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const chunk of child.stdout) output += chunk;
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`not all were answered:\n${output}`);
  const [, p50 = '', unit = ''] = /50%\s+([\d.]+)(us|ms|s)/.exec(output) ?? [];
  const perUnit: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };
  return {
    rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    p50Ms: Number(p50) * (perUnit[unit] ?? Number.NaN),
  };
}

/** Returns a script that sends `depth` requests at once. */
const pipeline = (depth: number): string => `init = function(args)
  local requests = {}
  for i = 1, ${depth} do requests[i] = wrk.format('GET') end
  all = table.concat(requests)
end
request = function() return all end
`;

const NONCES = `local count = 0
request = function()
  count = count + 1
  wrk.headers['x-receipt-nonce'] = string.format('bench-nonce-%012d', count)
  return wrk.format('GET')
end
`;

function scriptFile(lua: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'wrk-')), 'script.lua');
  writeFileSync(file, lua);
  return file;
}
