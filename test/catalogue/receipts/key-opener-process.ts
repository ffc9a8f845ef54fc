import { once } from 'node:events';
import { loadReceiptKeys } from '../../../src/receipts/keys/load-keys.ts';

// A start, as far as the key goes: it says when it is ready, waits for a word, and tells which key it came to.
const [, , stateDir = ''] = process.argv;
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
const { created, ring } = loadReceiptKeys({ stateDir, production: false }, Date.now());
process.stdout.write(`${JSON.stringify({ created, publicKey: ring[0]?.publicKey })}\n`);
