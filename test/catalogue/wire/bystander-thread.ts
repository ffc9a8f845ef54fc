import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';

// The thread of a bystander: asks the gateway at `workerData` for the slot every few milliseconds, and answers each
// message by how many milliseconds each answer took since the last one; -1 stands for one that failed.

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
