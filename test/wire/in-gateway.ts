import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded into a gateway by NODE_OPTIONS. Ends it with who started it, and answers each line of the standard input by a
// line on the standard error: its memory after a collection, its processor time, and for how long its loop was held up.

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const TICK_MS = 5;
let lastMs = performance.now();
let last = process.cpuUsage();
let heldUpMs = 0;

setInterval(() => {
  const nowMs = performance.now();
  const { user, system } = process.cpuUsage(last);
  // What the machine's other work holds up takes no processor time here.
  heldUpMs = Math.max(heldUpMs, Math.min(nowMs - lastMs - TICK_MS, (user + system) / 1000));
  lastMs = nowMs;
  last = process.cpuUsage();
}, TICK_MS).unref();

process.stdin
  .on('data', (line) => {
    const ownMs = heldUpMs;
    heldUpMs = 0;
    collect();
    collect();
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const told = { id: Number(line), rss, heapUsed, heldUpMs: ownMs, cpuMs: (user + system) / 1000 };
    process.stderr.write(`vitals ${JSON.stringify(told)}\n`);
    [lastMs, last] = [performance.now(), process.cpuUsage()]; // the collection is no work of the gateway's
  })
  .on('end', () => process.exit());
