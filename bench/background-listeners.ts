import { setPriority } from 'node:os';
import { openListener } from './websocket-listener.ts';

// Forked: listeners of a stream who look at nothing, and get out of the way of whoever does. Told a number, it opens so
// many more and says when they listen. Between that it sleeps and reads what has come to all of them now and then: the
// wake-ups of a thousand readers, elsewhere those of a thousand machines, take longer than the writes to them do.
// argv: URL.

/** A frame that waits for so long fits into any socket's buffer. */
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
