import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

// Thread of a bystander: requests /health from the gateway at `workerData`, one at a time, and answers each message with
// the longest wait in milliseconds since the last `take`, that for an answer which is still missing included.

const PAUSE_MS = 25;
const PATIENCE_MS = 60_000;

let longestMs = 0;
let sinceMs: number | undefined;
parentPort?.on('message', (message: 'take' | 'peek') => {
  parentPort?.postMessage(Math.max(longestMs, sinceMs === undefined ? 0 : performance.now() - sinceMs));
  if (message === 'take') longestMs = 0;
});

const requestHealth = (): Promise<void> =>
  new Promise((resolve) => {
    const sent = request(new URL('/api/v1/health', workerData), { agent: false, timeout: PATIENCE_MS }, (response) =>
      response.resume().on('close', resolve),
    );
    sent.on('error', () => resolve()).end();
  });

for (;;) {
  sinceMs = performance.now();
  await requestHealth();
  longestMs = Math.max(longestMs, performance.now() - sinceMs);
  sinceMs = undefined;
  await sleep(PAUSE_MS);
}
