import { openListener } from '../support/websocket-listener.ts';

// Listens on a stream with many bare sockets and measures for each frame the time from the first listener's arrival to
// the last's. argv: URL, listeners, frames. Prints the median in milliseconds.

const [address = '', listeners = '1000', frames = '20'] = process.argv.slice(2);
const count = Number(listeners);
const wanted = Number(frames);

/** Arrivals of one frame: count, first, last. Each frame arrives in one burst. */
let burst: { arrived: number; firstMs: number; lastMs: number } | undefined;
const spreads: number[] = [];

function onFrame(): void {
  const nowMs = performance.now();
  if (burst === undefined || nowMs - burst.lastMs > 150) burst = { arrived: 0, firstMs: nowMs, lastMs: nowMs };
  burst.arrived++;
  burst.lastMs = nowMs;
  if (burst.arrived !== count) return;
  spreads.push(burst.lastMs - burst.firstMs);
  if (spreads.length < wanted) return;
  spreads.sort((a, b) => a - b);
  console.log(spreads[spreads.length >> 1]);
  process.exit(0);
}

for (let i = 0; i < count; i++) await openListener(address, onFrame);
