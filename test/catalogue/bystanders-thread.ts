import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import bs58 from 'bs58';
import { loopbackAddress } from '../support/raw-connection.ts';
import type { BystanderReport, BystandersData } from './bystanders.ts';
import { sendRequest } from './cost/send-attempt.ts';

// Thread of other callers, each request from another address: cold reads of accounts that nobody has read, some at
// a time, and hits. Each message is answered by what was measured since the last one.

const { url, hitTarget = '/slot', coldReads = 0 }: BystandersData = workerData;
const COLD_PAUSE_MS = 50;
const HIT_PAUSE_MS = 10;
/** Part of loopback's addresses, so that no attacker shares a limit with a bystander. */
const FIRST_CALLER = 500_000;

let callers = FIRST_CALLER;
let report: BystanderReport = emptyReport();
/** Requests that are not answered yet, by the time at which they were sent. */
const pending = new Set<{ readonly kind: 'cold' | 'hits'; readonly sentMs: number }>();

function emptyReport(): BystanderReport {
  return { cold: [], hits: [], failures: {} };
}

async function measure(kind: 'cold' | 'hits', target: string): Promise<void> {
  const sent = { kind, sentMs: performance.now() };
  pending.add(sent);
  const outcome = await sendRequest(url, { target }, loopbackAddress(callers++)).then(
    ({ status, text }) => (status === 200 ? undefined : `${status} ${/"error":"(\w+)"/.exec(text)?.[1] ?? ''}`),
    (thrown: NodeJS.ErrnoException) => thrown.code ?? 'failed',
  );
  pending.delete(sent);
  report[kind].push(performance.now() - sent.sentMs);
  if (outcome !== undefined) report.failures[`${kind} ${outcome}`] = (report.failures[`${kind} ${outcome}`] ?? 0) + 1;
}

parentPort?.on('message', () => {
  const nowMs = performance.now();
  for (const { kind, sentMs } of pending) report[kind].push(nowMs - sentMs); // so far
  parentPort?.postMessage(report);
  report = emptyReport();
});

async function readCold(): Promise<never> {
  for (;;) {
    const reads = Array.from({ length: coldReads }, () => measure('cold', `/balance/${bs58.encode(randomBytes(32))}`));
    await Promise.all(reads);
    await sleep(COLD_PAUSE_MS);
  }
}

async function readHits(): Promise<never> {
  for (;;) {
    await measure('hits', hitTarget);
    await sleep(HIT_PAUSE_MS);
  }
}

await Promise.all([coldReads > 0 && readCold(), readHits()]);
