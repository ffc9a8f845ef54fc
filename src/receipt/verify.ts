import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import type { Slot } from '../domain/answer.ts';
import { canonicalRequest } from '../domain/request.ts';
import { rootFrom } from './inclusion.ts';
import { parseReceipt, type Receipt } from './receipt.ts';
import { ReceiptError, type ReceiptFault } from './receipt-error.ts';
import { isSignature, isStrongKey } from './signature.ts';
import { headText, statementText } from './statement.ts';

// With these this file is the whole of the package's `./verify`.
export type { Receipt } from './receipt.ts';
export { ReceiptError, type ReceiptFault } from './receipt-error.ts';

/** How far a gateway's clock may run ahead of the verifier's. */
const MAX_SKEW_MS = 5000;
const KID_BYTES = 8;

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

/**
 * Proves that the holder of a trusted key gave this body as answer to this request. Runs in a browser as well.
 * Throws {@link ReceiptError} with the first fault found, and GatewayError for a request no gateway would take.
 */
export function verifyReceipt(body: Uint8Array | string, expected: Expected): Verified {
  const text = typeof body === 'string' ? wellFormed(body) : decode(body);
  const start = text.lastIndexOf('{');
  must(start >= 0 && text.endsWith('}'), 'envelope');
  const receipt = parseReceipt(text.slice(start, -1));
  must(receipt !== undefined, 'malformed');
  const result = framed(text.slice(0, start), receipt.slot);
  must(bytesToHex(sha256(utf8ToBytes(result))) === receipt.digest, 'digest');
  must(receipt.status === 200, 'status');
  must(receipt.cluster === expected.cluster, 'cluster');
  must(receipt.request === canonical(expected.request), 'request');
  must(receipt.nonce === (expected.nonce ?? null), 'nonce');
  const key = expected.publicKeys.map(publicKeyOf).find((key) => kidOf(key) === receipt.kid);
  must(key !== undefined, 'unknown-key');
  must(isStrongKey(key), 'weak-key');
  const { index, size, path } = receipt;
  const root = rootFrom(statementText(bs58.encode(key), receipt), index, size, path);
  must(root !== undefined, 'path');
  must(isSignature(hexToBytes(receipt.sig), utf8ToBytes(headText(size, bytesToHex(root))), key), 'signature');
  mustBeFresh(receipt, expected);
  return { result, slot: receipt.slot, receipt };
}

/** Cuts the result's text from between the fixed words around it. */
function framed(beforeReceipt: string, slot: Slot): string {
  const before = '{"result":';
  const after = `,"slot":${slot},"receipt":`;
  must(beforeReceipt.startsWith(before) && beforeReceipt.endsWith(after), 'envelope');
  must(beforeReceipt.length > before.length + after.length, 'envelope');
  return beforeReceipt.slice(before.length, -after.length);
}

function mustBeFresh({ issuedAt, slot }: Receipt, { time, minSlot = 0 }: Expected): void {
  if (time !== undefined) {
    must(issuedAt <= time.nowMs + MAX_SKEW_MS, 'future');
    must(issuedAt >= time.nowMs - (time.maxAgeMs ?? Number.POSITIVE_INFINITY), 'stale');
  }
  must(slot >= minSlot, 'old-slot');
}

function canonical(request: string): string {
  const [, method, target = ''] = /^(GET|SUB) (.*)$/s.exec(request) ?? [];
  if (method !== 'GET' && method !== 'SUB')
    throw new TypeError('the expected request must read like "GET /api/v1/slot"');
  return canonicalRequest(method, target);
}

function publicKeyOf(base58: string): Uint8Array {
  const key = bs58.decodeUnsafe(base58);
  if (key?.length !== 32) throw new TypeError('a trusted key must be 32 bytes in base58');
  return key;
}

const kidOf = (publicKey: Uint8Array): string => bytesToHex(sha256(publicKey).subarray(0, KID_BYTES));

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(body: Uint8Array): string {
  try {
    return decoder.decode(body);
  } catch {
    throw new ReceiptError('utf8');
  }
}

/** A lone surrogate has no UTF-8 bytes, so it can't be what was signed. */
function wellFormed(body: string): string {
  must(!/\p{Surrogate}/u.test(body), 'utf8');
  return body;
}

function must(holds: boolean, fault: ReceiptFault): asserts holds {
  if (!holds) throw new ReceiptError(fault);
}
