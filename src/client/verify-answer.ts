import type { Clock } from '../shared/domain/clock.ts';
import { parseExactJson } from '../shared/domain/parse-exact-json.ts';
import type { Slot } from '../shared/domain/slot.ts';
import type { RequestOptions } from './send-request.ts';
import { SlotgateError } from './slotgate-error.ts';
import type { TrustStore } from './trust-store.ts';
import { parseReceipt, type Receipt } from './verify/receipt.ts';
import { ensure, ReceiptError } from './verify/receipt-error.ts';
import { receiptTextIn } from './verify/signed-body.ts';
import { agreedIn } from './verify/statement.ts';
import { createVerifier } from './verify/verify-receipt.ts';

/** The facts that a body must match. */
export interface ExpectedAnswer {
  /** The request line: `GET` or `SUB`, and the target. */
  readonly request: string;
  readonly nonce?: string | null;
  readonly minSlot?: Slot | undefined;
  /** The fewest operators that must have given the result. Default: that of the client. */
  readonly minAgreed?: number | undefined;
  /** The operators that the read itself demands; it never lowers `minAgreed`. */
  readonly agree?: number | undefined;
  /** Returns true for a result that can never change again: its receipt may have any age. */
  readonly isFinal?: ((result: never) => boolean) | undefined;
}

/** A verified answer and its receipt. */
export interface VerifiedAnswer<R> {
  /** The result, parsed from the signed bytes; integers beyond 2^53 are `bigint`. */
  readonly result: R;
  readonly slot: Slot;
  readonly receipt: Receipt;
  /** The whole body: keep it as evidence, since anybody can verify it. */
  readonly body: string;
}

/**
 * Verifies a body. Rejects with ReceiptError if it must not be trusted, with SlotgateError if the gateway does not say what key
 * or cluster to trust; `bounds` are of the requests for these.
 */
export type VerifyAnswer = <R>(
  body: Uint8Array | string,
  expected: ExpectedAnswer,
  bounds?: RequestOptions,
) => Promise<VerifiedAnswer<R>>;

export interface AnswerVerifierOptions {
  readonly trustStore: TrustStore;
  readonly clock: Clock;
  /** The maximum age of a receipt, unless its result is final, in milliseconds. */
  readonly maxAgeMs: number;
  /** The fewest operators that must have given a result. Default: 1. */
  readonly minAgreed?: number;
}

/** Creates a verifier of answers against the trust store. */
export function createAnswerVerifier({
  trustStore,
  clock,
  maxAgeMs,
  minAgreed: leastAgreed = 1,
}: AnswerVerifierOptions): VerifyAnswer {
  const verifyReceipt = createVerifier(); // one for all answers: a signature over several statements is checked once
  return async <R>(body: Uint8Array | string, expected: ExpectedAnswer, bounds?: RequestOptions) => {
    const { request, nonce = null, minSlot = 0, minAgreed = leastAgreed, agree = 1, isFinal } = expected;
    const verify = async () => {
      const { publicKeys, cluster } = await trustStore.anchors(bounds);
      const time = { nowMs: clock.now() };
      return verifyReceipt(body, { publicKeys, cluster, request, nonce, minSlot, minAgreed, time });
    };
    const verified = await verify().catch(async (thrown: unknown) => {
      const isUnknownKey = thrown instanceof ReceiptError && thrown.code === 'unknown-key';
      if (isUnknownKey && (await trustStore.trustSuccessor(keyIdOf(body), bounds)) !== undefined) return verify();
      throw thrown;
    });
    const { slot, receipt } = verified;
    ensure(agreedIn(receipt) >= Math.max(agree, agreeNamedIn(receipt.request)), 'agreed');
    // The route's declaration gives the type, and the signature shows that this gateway made the result.
    const result = parseExactJson(verified.result) as R & never;
    ensure(isFinal?.(result) === true || receipt.issuedAt >= clock.now() - maxAgeMs, 'stale');
    return { result, slot, receipt, body: textOf(body) };
  };
}

/** Returns the operators that a request demands by its parameter `agree`; 1 without it. */
const agreeNamedIn = (request: string): number => Number(new URLSearchParams(request.split('?')[1]).get('agree') ?? 1);

/** Parses a body without verification, for users who trust the connection. Rejects with SlotgateError if it is no answer. */
export const acceptUnverified: VerifyAnswer = async <R>(body: Uint8Array | string) => {
  const text = textOf(body);
  const answer = parseAnswer(text);
  if (answer.result === undefined || !Number.isSafeInteger(answer.slot))
    throw new SlotgateError('unreadable', 'the answer lacks its result or its slot');
  // A gateway that is trusted sends the declared members.
  const { result, slot, receipt } = answer as Omit<VerifiedAnswer<R>, 'body'>;
  return { result, slot, receipt, body: text };
};

function parseAnswer(text: string): { readonly result?: unknown; readonly slot?: unknown } {
  try {
    return Object(parseExactJson(text));
  } catch (cause) {
    throw new SlotgateError('unreadable', 'the answer is not JSON', { cause });
  }
}

/** Returns the key id in a body that is known to have a receipt. */
const keyIdOf = (body: Uint8Array | string): string => parseReceipt(receiptTextIn(textOf(body)))?.kid ?? '';

const textOf = (body: Uint8Array | string): string =>
  typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
