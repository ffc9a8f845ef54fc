import { generateKeyPairSync } from 'node:crypto';
import { digestOf } from '../src/receipts/digest.ts';
import { EquivocationGuard } from '../src/receipts/equivocation-guard.ts';
import { formatSignedBody } from '../src/receipts/signed-body.ts';
import { Signer } from '../src/receipts/signer.ts';
import { signingKeyOf } from '../src/receipts/signing-key.ts';
import { isOpensslSignature } from '../src/receipts/verify/openssl-signature.ts';
import { createVerifier, type Verifier, verifyReceipt } from '../src/receipts/verify/verify-receipt.ts';
import { Bench, interleave } from './support/bench.ts';

// Receipts that a core can verify per second: each alone, against a verifier that memoizes the tree heads which the
// receipts of a batch share.

const CLUSTER = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const BATCHES = 200;
const BATCH = 64;

const bench = new Bench({ rounds: 5, seconds: 1 });
const runMs = bench.seconds * 1000;

const signer = new Signer(
  { active: signingKeyOf(generateKeyPairSync('ed25519').privateKey) },
  { genesisHash: CLUSTER },
  new EquivocationGuard(() => {}),
);
const publicKeys = [signer.publicKey];

/** Builds the bodies of some batches, in order. */
function bodies(batch: number): { body: string; request: string }[] {
  return Array.from({ length: BATCHES }, (_, slot) => {
    const result = `{"lamports":${slot}}`;
    const requests = Array.from({ length: batch }, (_, n) => `GET /api/v1/balance/${n}`);
    const receipts = signer.seal(
      requests.map((request) => ({
        request,
        slot,
        commitment: 'confirmed',
        claim: 'observed',
        digest: digestOf(result),
        nonce: null,
      })),
      Date.now(),
    );
    return receipts.map((receipt, n) => ({
      body: formatSignedBody(result, slot, receipt),
      request: requests[n] ?? '',
    }));
  }).flat();
}

const single = bodies(1);
const batched = bodies(BATCH);

/** Returns receipts per second of a verifier without memoized heads. */
function rate(from: readonly { body: string; request: string }[], fresh: () => Verifier): number {
  const startedMs = performance.now();
  let done = 0;
  while (performance.now() - startedMs < runMs) {
    const verify = fresh();
    for (const { body, request } of from) {
      verify(body, { publicKeys, cluster: CLUSTER, request });
      done++;
      if (performance.now() - startedMs >= runMs) break;
    }
  }
  return (done / (performance.now() - startedMs)) * 1000;
}

const samples = await interleave(bench.rounds, {
  verifyReceipt: () => ({ value: rate(batched, () => verifyReceipt) }),
  'createVerifier, no two signed together': () => ({ value: rate(single, () => createVerifier()) }),
  'createVerifier, 64 signed together': () => ({ value: rate(batched, () => createVerifier()) }),
  'with OpenSSL, no two signed together': () => ({
    value: rate(single, () => createVerifier({ isSignature: isOpensslSignature })),
  }),
  'with OpenSSL, 64 signed together': () => ({
    value: rate(batched, () => createVerifier({ isSignature: isOpensslSignature })),
  }),
});
bench.title('receipts verified in a second on one core');
bench.figures(samples);
const { verifyReceipt: each, ...others } = samples;
for (const [name, list] of Object.entries(others)) bench.ratio('value', [name, list], ['verifyReceipt', each]);
bench.end();
