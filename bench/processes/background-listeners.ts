import { setPriority } from 'node:os';
import { openListener } from '../support/websocket-listener.ts';

// Forked: stream listeners that discard what they receive, at low priority. A number as message opens that many more;
// it reports when they listen. In between the process sleeps and reads in batches: waking up for a thousand readers,
// which would be a thousand machines elsewhere, takes longer than writing to them. argv: URL.

/** Sleep between reads; the frames of that time fit into any socket's buffer. */
const SLEEP_MS = 150;

const [url = ''] = process.argv.slice(2);
setPriority(19);
const never = new Int32Array(new SharedArrayBuffer(4));
let pendingRequests = 0;
setInterval(() => {
  if (pendingRequests === 0) Atomics.wait(never, 0, 0, SLEEP_MS);
}, 1);
process.on('disconnect', () => process.exit());
process.on('message', async (count) => {
  pendingRequests++;
  for (let i = 0; i < Number(count); i++) await openListener(url, () => {});
  pendingRequests--;
  process.send?.('listening');
});
