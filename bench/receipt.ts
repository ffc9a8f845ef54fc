import { createPrivateKey } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { digestOf } from '../src/receipts/digest.ts';
import { EquivocationGuard } from '../src/receipts/equivocation-guard.ts';
import { formatSignedBody } from '../src/receipts/signed-body.ts';
import { type SealRequest, Signer } from '../src/receipts/signer.ts';
import { signingKeyOf } from '../src/receipts/signing-key.ts';
import { Bench, interleave } from './support/bench.ts';

// Different bodies that a core can sign per second: one signature each, against one for all that are requested in the
// same turn of the event loop.

const SEED = Buffer.alloc(32, 7);
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const CLUSTER = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const ADDRESS = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';

const bench = new Bench({ rounds: 5, seconds: 1 });
const runMs = bench.seconds * 1000;

const key = createPrivateKey({ key: Buffer.concat([PKCS8, SEED]), format: 'der', type: 'pkcs8' });
const signer = new Signer({ active: signingKeyOf(key) }, { genesisHash: CLUSTER }, new EquivocationGuard(() => {}));

let slot = 300_000_000;
/** Returns bodies per second with `batch` bodies per signature. */
function bodies(batch: number): number {
  const startedMs = performance.now();
  let made = 0;
  while (performance.now() - startedMs < runMs) {
    const results = Array.from({ length: batch }, (_, i) => `{"lamports":${slot * 64 + i},"sol":"1.5"}`);
    const items = results.map((result, i): SealRequest => {
      const request = `GET /api/v1/balance/${ADDRESS}?n=${i}`;
      return { request, slot, commitment: 'confirmed', claim: 'observed', digest: digestOf(result), nonce: null };
    });
    const receipts = signer.seal(items, Date.now());
    made += receipts.map((receipt, i) => formatSignedBody(results[i] ?? '', slot, receipt)).length;
    slot++;
  }
  return (made / (performance.now() - startedMs)) * 1000;
}

/** Returns signatures per second of the portable library, which only checks the key at the start. */
function portable(): number {
  const startedMs = performance.now();
  let made = 0;
  for (; performance.now() - startedMs < runMs; made++) ed25519.sign(Buffer.alloc(90, made), SEED);
  return (made / (performance.now() - startedMs)) * 1000;
}

const samples = await interleave(bench.rounds, {
  'one signature each (node:crypto)': () => ({ value: bodies(1) }),
  'one signature for 16': () => ({ value: bodies(16) }),
  'one signature for 64': () => ({ value: bodies(64) }),
  'one signature each with @noble/curves, signature only': () => ({ value: portable() }),
});
bench.title('bodies signed in a second on one core, each different');
bench.figures(samples);
const each = ['sign each', samples['one signature each (node:crypto)']] as const;
bench.ratio('value', ['one signature for 16', samples['one signature for 16']], each, { atLeast: 3 });
bench.ratio('value', ['one signature for 64', samples['one signature for 64']], each, { atLeast: 3 });
bench.end();
