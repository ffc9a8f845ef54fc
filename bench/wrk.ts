import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinned } from './process.ts';

export interface Load {
  readonly connections: number;
  readonly seconds: number;
  /** Requests in flight on each connection. */
  readonly pipelined?: number;
}

if (spawnSync('wrk', ['-v']).error !== undefined) throw new Error('wrk makes the load: apt-get install wrk');

/** Requests a second that a server answers; every answer must be a 200. */
export async function wrk(url: string, { connections, seconds, pipelined = 1 }: Load): Promise<number> {
  const script = pipelined === 1 ? [] : ['-s', pipeline(pipelined)];
  const args = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, ...script, url];
  const [command = '', ...rest] = pinned(1, args);
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const chunk of child.stdout) output += chunk;
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`not all were answered:\n${output}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
}

/** A script that sends so many requests at once. */
function pipeline(depth: number): string {
  const file = join(mkdtempSync(join(tmpdir(), 'wrk-')), 'pipeline.lua');
  writeFileSync(
    file,
    `init = function(args)
  local requests = {}
  for i = 1, ${depth} do requests[i] = wrk.format('GET') end
  all = table.concat(requests)
end
request = function() return all end
`,
  );
  return file;
}
