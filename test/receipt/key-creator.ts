import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { createKeyFile, readKeyFile } from '../../src/receipt/key-file.ts';

/** Waits for the gate to open and makes a key; or, without a gate, makes one key after the other until it is killed. */
if (parentPort !== null) {
  const { path, gate } = workerData as { path: string; gate: Int32Array }; // what the test hands over
  parentPort.postMessage('ready');
  Atomics.wait(gate, 0, 0);
  const created = createKeyFile(path);
  parentPort.postMessage({ created, text: readKeyFile(path) });
} else {
  const [, , folder = ''] = process.argv;
  process.stdout.write('ready\n');
  for (let i = 0; ; i++) createKeyFile(join(folder, `${i}`, 'key.pem'));
}
