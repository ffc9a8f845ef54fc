import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { rotateKey } from '../../../src/receipts/keys/key-rotation.ts';
import { keyFilePath, loadReceiptKeys } from '../../../src/receipts/keys/load-keys.ts';

const writerProgram = fileURLToPath(new URL('./key-writer-process.js', import.meta.url));

/** When a kill comes: so many milliseconds after the maker has said so many lines. */
const KILL_TIME = fc.record({ lines: fc.integer({ min: 1, max: 10 }), delayMs: fc.nat(3) });
type KillTime = typeof KILL_TIME extends fc.Arbitrary<infer T> ? T : never;

/** What the kills came upon. */
export interface CrashReport {
  readonly kills: number;
  /** Folders whose keys were looked through afterwards. */
  readonly folders: number;
  readonly keys: number;
  /** Kills in the middle of a change. */
  readonly midway: number;
  /** What was lost, changed or spoilt. */
  readonly faults: readonly string[];
}

/** Kills makers of keys at moments that follow from a seed, two at a time, and looks at what they leave. */
export async function crashKeyWriters(root: string, kills: number, seed: number): Promise<CrashReport> {
  const killTimes = fc.sample(KILL_TIME, { seed, numRuns: kills });
  const done = { kills: 0, folders: 0, keys: 0, midway: 0, faults: [] as string[] };
  const runs = killTimes.entries();
  const worker = async (): Promise<void> => {
    for (const [i, killTime] of runs) {
      const folder = join(root, `${i}`);
      const knownKeys = await runUntilKilled(folder, killTime);
      done.kills++;
      if (isInterrupted(folder)) done.midway++;
      // what came before these was done long before the kill
      for (const [name, known] of [...knownKeys].sort(([a], [b]) => Number(a) - Number(b)).slice(-2)) {
        done.folders++;
        done.keys += known.length;
        done.faults.push(...recoveryErrors(join(folder, name), known));
      }
    }
  };
  await Promise.all([worker(), worker()]);
  return done;
}

/** Lets a maker work for a while; returns the keys that it knew of, by folder. */
async function runUntilKilled(
  folder: string,
  { lines, delayMs }: KillTime,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const child = spawn(process.execPath, [writerProgram, folder], { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  const closed = once(child, 'close');
  while (out.split('\n').length <= lines) await once(child.stdout, 'data');
  await sleep(delayMs);
  child.kill('SIGKILL');
  await closed;
  const knownKeys = new Map<string, readonly string[]>(listFolder(folder).map((name) => [name, []]));
  for (const line of out.split('\n').slice(0, -1)) {
    if (!line.startsWith('[')) continue;
    const [name, keys] = JSON.parse(line);
    knownKeys.set(name, keys);
  }
  return knownKeys;
}

/** What a start after the kill finds: all keys that were known, in their order, and nothing that keeps it from going on. */
function recoveryErrors(stateDir: string, known: readonly string[]): readonly string[] {
  try {
    const source = { stateDir, production: known.length > 0 }; // in production nothing is made up
    const { ring } = loadReceiptKeys(source, Date.now());
    const found = ring.map(({ publicKey }) => publicKey);
    if (known.some((key, i) => found[i] !== key)) return [`${stateDir}: ${known} became ${found}`];
    rotateKey(keyFilePath(source), ring, Date.now(), Date.now());
    return [];
  } catch (thrown) {
    return [`${stateDir}: ${thrown}`];
  }
}

/** True when a change had begun and was not done: there is a draft, or a secret without its record. */
function isInterrupted(root: string): boolean {
  return listFolder(root).some((name) => {
    const names = [...listFolder(join(root, name)), ...listFolder(join(root, name, 'receipt-key.pem.d'))];
    const isWithoutRecord = (file: string): boolean =>
      /^\d+\.pem$/.test(file) && !names.includes(file.replace('pem', 'json'));
    return names.some((file) => file.endsWith('.tmp') || isWithoutRecord(file));
  });
}

const listFolder = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // killed before it had made anything
  }
};
