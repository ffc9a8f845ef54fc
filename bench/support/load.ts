import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileProgram } from './compile-program.ts';
import { pinned } from './server-process.ts';
import { makeTemporaryFolder } from './temporary-folder.ts';

/** A load on one server; what is left out is at most what one core of the load gives. */
export interface Load {
  /** Request targets, or the only one. */
  readonly targets: TargetFile | string;
  /** Which target a request has: each alike, the n-th with weight 1/n, or one after the other. Default: even. */
  readonly pick?: 'even' | 'zipf' | 'turn';
  /** Number of connections. Default: 64. */
  readonly connections?: number;
  readonly seconds?: number;
  /** Number of requests after which the load ends. */
  readonly requests?: number;
  /** Requests a second. Default: a connection sends its next request as soon as it has been answered. */
  readonly rate?: number;
  /** Requests in flight on each connection, without {@link rate}. Default: 1. */
  readonly depth?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly nonces?: boolean;
  /** Whether the load may use all cores. Default: it is bound to the second one. */
  readonly isFree?: boolean;
  /** Whether answers other than 200 are part of the measurement. Default: they fail it. */
  readonly expectsRefusals?: boolean;
}

/** A file of request targets, written once for many runs. */
export interface TargetFile {
  readonly path: string;
}

export interface LoadResult {
  /** Answers up to the end of the load. */
  readonly requests: number;
  readonly seconds: number;
  /** Answers per second. */
  readonly rate: number;
  /** Requests that were due at a constant rate and found no connection free. */
  readonly unsent: number;
  readonly unanswered: number;
  /** Connections that the server ended with requests in flight. */
  readonly cut: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Answers with `X-Cache: HIT`. */
  readonly hits: number;
  readonly statuses: Readonly<Record<string, number>>;
}

const folder = makeTemporaryFolder();
let files = 0;

function writeTemporary(text: string): string {
  const path = join(folder, `${++files}`);
  writeFileSync(path, text);
  return path;
}

export const writeTargets = (targets: readonly string[]): TargetFile => ({
  path: writeTemporary(`${targets.join('\n')}\n`),
});

/** Makes load on a server from the other core, in a process of its own. */
export async function runLoad(url: string, load: Load): Promise<LoadResult> {
  const { targets, headers = {}, nonces = false, expectsRefusals = false, isFree = false } = load;
  const { pick, connections, seconds, requests, rate, depth } = load;
  const file = typeof targets === 'string' ? writeTargets([targets]) : targets;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const { port } = new URL(url);
  const named = { port, targets: file.path, pick, connections, seconds, requests, rate, depth, seed: files };
  const args = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`));
  if (nonces) args.push('nonce=1');
  if (lines.length > 0) args.push(`headers=${writeTemporary(lines.join(''))}`);
  const program = [loadProgram(), ...args];
  const [command = '', ...rest] = isFree ? program : pinned(1, program);
  const { stdout } = await promisify(execFile)(command, rest);
  const result: Omit<LoadResult, 'rate'> = JSON.parse(stdout);
  if (!expectsRefusals && (result.unanswered > 0 || Object.keys(result.statuses).some((status) => status !== '200')))
    throw new Error(`not all requests were answered with 200: ${stdout}`);
  return { ...result, rate: result.requests / result.seconds };
}

let compiled: string | undefined;

function loadProgram(): string {
  compiled ??= compileProgram('load.c');
  if (compiled === undefined)
    throw new Error('a C compiler makes the program that makes the load: apt-get install gcc');
  return compiled;
}
