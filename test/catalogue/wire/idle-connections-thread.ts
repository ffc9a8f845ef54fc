import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { RawConnection } from '../../support/raw-connection.ts';

// Thread of an attacker: holds `count` connections to `url` open that send nothing, and opens another for each that was
// closed, once a second. It posts a message when the first ones are open.

const { url, count }: { readonly url: string; readonly count: number } = workerData;
const RENEWAL_MS = 1000;

let connections: RawConnection[] = [];
for (;;) {
  connections = connections.filter(({ closed }) => !closed);
  const missing = Array.from({ length: count - connections.length }, () => RawConnection.open(url));
  connections.push(...(await Promise.all(missing)));
  parentPort?.postMessage('open');
  await sleep(RENEWAL_MS);
}
