import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { rotateKey } from '../../../src/gateway/receipts/keys/key-rotation.ts';
import { keyFilePath, loadReceiptKeys } from '../../../src/gateway/receipts/keys/load-keys.ts';

const writerProgram = fileURLToPath(new URL('./key-writer-process.js', import.meta.url));

/** The time of a kill: a number of milliseconds after a number of printed lines. */
const KILL_TIME = fc.record({ lines: fc.integer({ min: 1, max: 10 }), delayMs: fc.nat(3) });
type KillTime = typeof KILL_TIME extends fc.Arbitrary<infer T> ? T : never;

export interface CrashReport {
  readonly kills: number;
  /** Folders whose keys were checked afterwards. */
  readonly folders: number;
  readonly keys: number;
  /** Kills in the middle of a change. */
  readonly midway: number;
  /** Keys that were lost, changed or damaged. */
  readonly faults: readonly string[];
}

/** Kills key writers at times derived from a seed, two at a time, and checks the remaining files. */
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
      // earlier ones were complete long before the kill
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

/** Lets a writer work for a while; returns the keys that it printed, by folder. */
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
  const folders = listFolder(folder).filter((name) => /^\d+$/.test(name)); // beside them is a .gitignore
  const knownKeys = new Map<string, readonly string[]>(folders.map((name) => [name, []]));
  for (const line of out.split('\n').slice(0, -1)) {
    if (!line.startsWith('[')) continue;
    const [name, keys] = JSON.parse(line);
    knownKeys.set(name, keys);
  }
  return knownKeys;
}

/** Returns the faults of a start after the kill: it must find all printed keys in order, and be able to continue. */
function recoveryErrors(stateDir: string, known: readonly string[]): readonly string[] {
  try {
    const source = { stateDir, production: known.length > 0 }; // in production no key is created
    const { ring } = loadReceiptKeys(source, Date.now());
    const found = ring.map(({ publicKey }) => publicKey);
    if (known.some((key, i) => found[i] !== key)) return [`${stateDir}: ${known} became ${found}`];
    rotateKey(keyFilePath(source), ring, Date.now(), Date.now());
    return [];
  } catch (thrown) {
    return [`${stateDir}: ${thrown}`];
  }
}

/** Whether a change was incomplete: there is a temporary file, or a secret without its record. */
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
    return []; // killed before it had created anything
  }
};
