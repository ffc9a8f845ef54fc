import type { Clock } from '../domain/clock.ts';
import { parseExactJson } from '../domain/parse-exact-json.ts';
import type { Slot } from '../domain/slot.ts';
import { parseReceipt, type Receipt } from '../receipts/receipt.ts';
import { receiptTextIn } from '../receipts/signed-body.ts';
import { ReceiptError } from '../receipts/verify/receipt-error.ts';
import { createVerifier } from '../receipts/verify/verify-receipt.ts';
import type { TrustStore } from './trust-store.ts';

/** What is known of a body before it comes. */
export interface ExpectedAnswer {
  /** `GET` or `SUB`, and the target. */
  readonly request: string;
  readonly nonce?: string | null;
  readonly minSlot?: Slot | undefined;
  /** Tells a result that can never change any more: its receipt may be of any age. */
  readonly isFinal?: ((result: never) => boolean) | undefined;
}

/** An answer with its proof. */
export interface VerifiedAnswer<R> {
  /** Parsed from the bytes that were signed; integers beyond 2^53 are `bigint`. */
  readonly result: R;
  readonly slot: Slot;
  readonly receipt: Receipt;
  /** The whole body: keep this, and anybody can be shown what was said. */
  readonly body: string;
}

/** Proves a body. Throws ReceiptError for one that must not be believed. */
export type VerifyAnswer = <R>(body: Uint8Array | string, asked: ExpectedAnswer) => Promise<VerifiedAnswer<R>>;

export interface AnswerVerifierOptions {
  readonly trustStore: TrustStore;
  readonly clock: Clock;
  /** How old the receipt of an answer may be that can still change, in milliseconds. */
  readonly maxAgeMs: number;
}

export function createAnswerVerifier({ trustStore, clock, maxAgeMs }: AnswerVerifierOptions): VerifyAnswer {
  const verifyReceipt = createVerifier(); // one for all: what was signed together is checked once
  return async <R>(body: Uint8Array | string, { request, nonce = null, minSlot = 0, isFinal }: ExpectedAnswer) => {
    const verify = async () => {
      const { publicKeys, cluster } = await trustStore.anchors();
      return verifyReceipt(body, { publicKeys, cluster, request, nonce, minSlot, time: { nowMs: clock.now() } });
    };
    const verified = await verify().catch(async (thrown: unknown) => {
      const isUnknownKey = thrown instanceof ReceiptError && thrown.code === 'unknown-key';
      if (isUnknownKey && (await trustStore.trustSuccessor(keyIdOf(body))) !== undefined) return verify();
      throw thrown;
    });
    const { slot, receipt } = verified;
    // The type is the word of the route's declaration, whose signer has just been found to be who he should be.
    const result = parseExactJson(verified.result) as R & never;
    if (isFinal?.(result) !== true && receipt.issuedAt < clock.now() - maxAgeMs) throw new ReceiptError('stale');
    return { result, slot, receipt, body: textOf(body) };
  };
}

/** For who trusts the wire: takes a body apart and proves nothing. */
export const acceptUnverified: VerifyAnswer = async <R>(body: Uint8Array | string) => {
  const text = textOf(body);
  // That is what trusting means.
  const { result, slot, receipt } = parseExactJson(text) as Omit<VerifiedAnswer<R>, 'body'>;
  return { result, slot, receipt, body: text };
};

/** The key that a body names, which is known to have a receipt. */
const keyIdOf = (body: Uint8Array | string): string => parseReceipt(receiptTextIn(textOf(body)))?.kid ?? '';

const textOf = (body: Uint8Array | string): string =>
  typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
