import { systemClock } from '../shared/runtime/system-clock.ts';
import type { ClientOptions } from './client-options.ts';
import { createGet, type RouteClient } from './route-client.ts';
import { createSender } from './send-request.ts';
import { TrustStore } from './trust-store.ts';
import { acceptUnverified, createAnswerVerifier, type VerifyAnswer } from './verify-answer.ts';

/** A client of one gateway that only reads: pages that have a stream of their own, and post nothing, load no more. */
export interface Reader extends Pick<RouteClient, 'get'> {
  /** Verifies the body of an answer or a frame that came another way. Rejects with ReceiptError. */
  readonly verify: VerifyAnswer;
}

export function createReader(options: ClientOptions): Reader {
  const { publicKey = [], cluster, verify = true, clock = systemClock, maxAgeMs = 60_000, minAgreed = 1 } = options;
  const send = createSender(options);
  const publicKeys = typeof publicKey === 'string' ? [publicKey] : publicKey;
  const trustStore = new TrustStore({ send, clock, publicKeys, cluster });
  const verifyAnswer = verify ? createAnswerVerifier({ trustStore, clock, maxAgeMs, minAgreed }) : acceptUnverified;
  return { get: createGet(send, verifyAnswer), verify: verifyAnswer };
}
