// Loaded into a gateway by NODE_OPTIONS. Ends it with who started it, and tells on the standard error, four times a
// second, for how long its loop was held up at most: by its own work, and altogether, the machine's other work included.

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

process.stdin.on('end', () => process.exit()).resume();
