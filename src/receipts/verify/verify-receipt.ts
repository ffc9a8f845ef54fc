import type { Slot } from '../../domain/slot.ts';
import type { Receipt } from '../receipt.ts';
import { parseSignedBody } from './parse-signed-body.ts';
import { ensure } from './receipt-error.ts';
import { canonicalRequestLine } from './request-line.ts';
import { createSignatureBackend, memoized, type SignatureBackend, type SignatureCheck } from './signature-backend.ts';
import { ensureSigned } from './verify-signature.ts';

export type { Receipt } from '../receipt.ts';
// With these this file is the whole of the package's `./verify`.
export { equivocation } from './equivocation.ts';
export { ReceiptError, type ReceiptFault } from './receipt-error.ts';
export type { SignatureCheck } from './signature-backend.ts';

/** How far a gateway's clock may run ahead of the verifier's. */
const MAX_SKEW_MS = 5000;

/** What the verifier knows on its own. Nothing of it may come from the body, nor from who sent the body. */
export interface Expected {
  /** Keys that are trusted, base58. */
  readonly publicKeys: readonly string[];
  /** Genesis hash of the cluster that was asked about, base58. */
  readonly cluster: string;
  /** What was asked: `GET` (or `SUB` for a stream) and the URL or its path, in any spelling of the query. */
  readonly request: string;
  /** What was sent as `x-receipt-nonce`. */
  readonly nonce?: string | null;
  /** When it is now, in Unix milliseconds, and how old a receipt may be. Without it the age is not looked at. */
  readonly time?: { readonly nowMs: number; readonly maxAgeMs?: number };
  /** The oldest slot that is of use. */
  readonly minSlot?: Slot;
}

/** What a body proves. */
export interface Verified {
  /** The exact text that was signed. Parse this, never the body, and mind integers beyond 2^53. */
  readonly result: string;
  readonly slot: Slot;
  readonly receipt: Receipt;
}

/** Proves one body against what is expected of it, as {@link verifyReceipt} does. */
export type Verifier = (body: Uint8Array | string, expected: Expected) => Verified;

/** How a verifier for many receipts works. */
export interface VerifierOptions {
  /** So many signatures are remembered, at half a kilobyte each; 1,024 unless it says otherwise. */
  readonly maxHeads?: number;
  /** Another check of signatures than the portable one, which is slow. */
  readonly isSignature?: SignatureCheck;
}

/**
 * Proves that the holder of a trusted key gave this body as answer to this request. Runs in a browser as well.
 * Throws {@link ReceiptError} with the first fault found, and GatewayError for a request no gateway would take.
 */
export const verifyReceipt: Verifier = (body, expected) => verifyWith(createSignatureBackend(), body, expected);

/**
 * The same for whoever gets many bodies: each key is checked once, and each signature once, however many of the
 * receipts that were signed together come in. Its verdicts are those of {@link verifyReceipt}.
 */
export function createVerifier({ maxHeads = 1024, isSignature }: VerifierOptions = {}): Verifier {
  const backend = memoized(createSignatureBackend(isSignature), maxHeads);
  return (body, expected) => verifyWith(backend, body, expected);
}

function verifyWith(backend: SignatureBackend, body: Uint8Array | string, expected: Expected): Verified {
  const { result, receipt } = parseSignedBody(body);
  ensure(receipt.status === 200, 'status');
  ensure(receipt.cluster === expected.cluster, 'cluster');
  ensure(receipt.request === canonicalRequestLine(expected.request), 'request');
  ensure(receipt.nonce === (expected.nonce ?? null), 'nonce');
  const key = expected.publicKeys.map((text) => backend.parseKey(text)).find(({ kid }) => kid === receipt.kid);
  ensure(key !== undefined, 'unknown-key');
  ensureSigned(receipt, key, backend);
  ensureFresh(receipt, expected);
  return { result, slot: receipt.slot, receipt };
}

function ensureFresh({ issuedAt, slot }: Receipt, { time, minSlot = 0 }: Expected): void {
  if (time !== undefined) {
    ensure(issuedAt <= time.nowMs + MAX_SKEW_MS, 'future');
    ensure(issuedAt >= time.nowMs - (time.maxAgeMs ?? Number.POSITIVE_INFINITY), 'stale');
  }
  ensure(slot >= minSlot, 'old-slot');
}
