import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded into a gateway by NODE_OPTIONS. Ends it with who started it, and tells on the standard error, four times a
// second, for how long its loop was held up at most: by its own work, and altogether, the machine's other work included.
// Each line of the standard input is answered by the memory that is left after a collection.

const TICK_MS = 5;
let lastMs = performance.now();
let last = process.cpuUsage();
let [ownMs, wholeMs] = [0, 0];

setInterval(() => {
  const nowMs = performance.now();
  const lateMs = Math.max(0, nowMs - lastMs - TICK_MS);
  const { user, system } = process.cpuUsage(last);
  ownMs = Math.max(ownMs, Math.min(lateMs, (user + system) / 1000)); // the processor time of all its threads
  wholeMs = Math.max(wholeMs, lateMs);
  lastMs = nowMs;
  last = process.cpuUsage();
}, TICK_MS).unref();

setInterval(() => {
  process.stderr.write(`held up ${ownMs.toFixed(1)} ${wholeMs.toFixed(1)}\n`);
  [ownMs, wholeMs] = [0, 0];
}, 250).unref();

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

process.stdin
  .on('data', (id) => {
    collect();
    collect(); // what the first has finalized
    process.stderr.write(`weighed ${String(id).trim()} ${process.memoryUsage.rss()}\n`);
  })
  .on('end', () => process.exit());
