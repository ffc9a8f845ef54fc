import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';

// Thread of a bystander: requests the slot from the gateway at `workerData` every few milliseconds, and answers each
// message with the latencies in milliseconds since the last one; -1 stands for a failure.

const PAUSE_MS = 5;

const pool = new Pool(workerData, { connections: 1 });
let tookMs: number[] = [];
parentPort?.on('message', () => {
  parentPort?.postMessage(tookMs);
  tookMs = [];
});

for (;;) {
  const beganMs = performance.now();
  const good = await pool.request({ method: 'GET', path: '/api/v1/slot' }).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode === 200;
    },
    () => false,
  );
  tookMs.push(good ? performance.now() - beganMs : -1);
  await sleep(PAUSE_MS);
}
