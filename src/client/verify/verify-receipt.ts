import type { Slot } from '../../shared/domain/slot.ts';
import { parseSignedBody } from './parse-signed-body.ts';
import type { Receipt } from './receipt.ts';
import { ensure, ReceiptError } from './receipt-error.ts';
import { canonicalRequestLine } from './request-line.ts';
import { createSignatureBackend, memoized, type SignatureBackend, type SignatureCheck } from './signature-backend.ts';
import { agreedIn } from './statement.ts';
import { ensureSigned } from './verify-signature.ts';

// These complete the package's export `./verify`.
export { equivocation } from './equivocation.ts';
export { EventChain, type StateBefore } from './event-chain.ts';
export type { Receipt } from './receipt.ts';
export { ReceiptError, type ReceiptFault } from './receipt-error.ts';
export type { SignatureCheck } from './signature-backend.ts';

/** The most that a gateway's clock may be ahead of the verifier's. */
const MAX_SKEW_MS = 5000;

/** The facts that the verifier knows independently. None of it may come from the body, nor from its sender. */
export interface Expected {
  /** The trusted keys, base58. */
  readonly publicKeys: readonly string[];
  /** Genesis hash of the requested cluster, base58. */
  readonly cluster: string;
  /** The request: `GET` (or `SUB` for a stream) and the URL or its path, in any spelling of the query. */
  readonly request: string;
  /** The nonce sent as `x-receipt-nonce`. */
  readonly nonce?: string | null;
  /** The current Unix time in milliseconds, and the maximum age of a receipt. Without it the age is not checked. */
  readonly time?: { readonly nowMs: number; readonly maxAgeMs?: number };
  /** The oldest acceptable slot. */
  readonly minSlot?: Slot;
  /** The fewest operators that must have given the result; a receipt of version 1 counts as one. Default: 1. */
  readonly minAgreed?: number;
}

/** The verified content of a body. */
export interface Verified {
  /** The exact text that was signed. Parse this, never the body, and mind integers beyond 2^53. */
  readonly result: string;
  readonly slot: Slot;
  readonly receipt: Receipt;
}

/** Verifies one body against the expectations, as {@link verifyReceipt} does. */
export type Verifier = (body: Uint8Array | string, expected: Expected) => Verified;

/** Options of a verifier for many receipts. */
export interface VerifierOptions {
  /** The number of cached signatures, at half a kilobyte each; 1,024 by default. */
  readonly maxHeads?: number;
  /** A signature check to use in place of the portable one, which is slow. */
  readonly isSignature?: SignatureCheck;
}

/**
 * Verifies that the owner of a trusted key gave this body as answer to this request. Runs in a browser as well. Throws
 * the first fault found as {@link ReceiptError}, and a GatewayError for a request that no gateway would accept.
 */
export const verifyReceipt: Verifier = (body, expected) => verifyWith(createSignatureBackend(), body, expected);

/**
 * Creates a verifier for many bodies: each key and each signature is checked once, however many receipts were signed
 * together. Its results are those of {@link verifyReceipt}.
 */
export function createVerifier({ maxHeads = 1024, isSignature }: VerifierOptions = {}): Verifier {
  const backend = memoized(createSignatureBackend(isSignature), maxHeads);
  return (body, expected) => verifyWith(backend, body, expected);
}

/** Says which cluster an answer is about: an embedded cluster, for example, is another one after a restart. */
const otherCluster = (receipt: Receipt, expected: Expected): string =>
  `the answer is about the cluster ${receipt.cluster}, not ${expected.cluster}`;

function verifyWith(backend: SignatureBackend, body: Uint8Array | string, expected: Expected): Verified {
  const { result, receipt } = parseSignedBody(body);
  ensure(receipt.status === 200, 'status');
  if (receipt.cluster !== expected.cluster) throw new ReceiptError('cluster', otherCluster(receipt, expected));
  ensure(receipt.request === canonicalRequestLine(expected.request), 'request');
  ensure(receipt.nonce === (expected.nonce ?? null), 'nonce');
  const key = expected.publicKeys.map((text) => backend.parseKey(text)).find(({ kid }) => kid === receipt.kid);
  ensure(key !== undefined, 'unknown-key');
  ensureSigned(receipt, key, backend);
  ensureMeets(receipt, expected);
  return { result, slot: receipt.slot, receipt };
}

function ensureMeets(receipt: Receipt, { time, minSlot = 0, minAgreed = 1 }: Expected): void {
  const { issuedAt, slot } = receipt;
  if (time !== undefined) {
    ensure(issuedAt <= time.nowMs + MAX_SKEW_MS, 'future');
    ensure(issuedAt >= time.nowMs - (time.maxAgeMs ?? Number.POSITIVE_INFINITY), 'stale');
  }
  ensure(slot >= minSlot, 'old-slot');
  ensure(agreedIn(receipt) >= minAgreed, 'agreed');
}
