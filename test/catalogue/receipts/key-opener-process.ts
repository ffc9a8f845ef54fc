import { once } from 'node:events';
import { loadReceiptKeys } from '../../../src/gateway/receipts/keys/load-keys.ts';

// Child process that loads the key: prints when it is ready, waits for input, and prints which key it loaded.
const [, , stateDir = ''] = process.argv;
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
const { created, ring } = loadReceiptKeys({ stateDir, production: false }, Date.now());
process.stdout.write(`${JSON.stringify({ created, publicKey: ring[0]?.publicKey })}\n`);
