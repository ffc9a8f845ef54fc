import type { Clock } from '../shared/domain/clock.ts';
import { systemClock } from '../shared/runtime/system-clock.ts';
import { baseUrlOf } from './request-target.ts';
import { createRouteClient, type RouteClient } from './route-client.ts';
import { createRequestSender } from './send-request.ts';
import { type OpenSocket, openGlobalSocket } from './socket.ts';
import { openStream, type Stream, type StreamOptions } from './stream.ts';
import { TrustStore } from './trust-store.ts';
import { acceptUnverified, createAnswerVerifier, type VerifyAnswer } from './verify-answer.ts';

export type { Gap, Snapshot } from './gap-detector.ts';
export type { Answer, PostOptions, Read, ReadOptions } from './read-types.ts';
export type { Body, Parameters, Path, PostPath, Result } from './route-types.ts';
export { type FailureCode, SlotgateError } from './slotgate-error.ts';
export type { OpenSocket, Socket, SocketEvent } from './socket.ts';
export type { Follow, Stream, StreamOptions, StreamState } from './stream.ts';
export type { Topic, Update } from './subscription-messages.ts';
// Together with these, this file is the whole of the package's `./client`.
export { type Receipt, ReceiptError, type ReceiptFault } from './verify/verify-receipt.ts';
export type { ExpectedAnswer, VerifiedAnswer, VerifyAnswer } from './verify-answer.ts';

export interface ClientOptions {
  /** The gateway's URL, with the prefix that a proxy may have put before `/api/v1`. */
  readonly url: string | URL;
  /**
   * The public key, or keys, that receipts must be signed with, base58. Without it the client trusts the key that
   * `/pubkey` names on first use; an attacker who forges that answer can forge all others.
   */
  readonly publicKey?: string | readonly string[];
  /** The genesis hash of the expected cluster, base58. Without it, the one that `/health` names on first use. */
  readonly cluster?: string;
  /**
   * Headers that are sent with every request, such as `x-api-key`. The stream sends them with `openSocket`; without it
   * only `x-api-key`, as a subprotocol.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** False accepts every answer without verification. */
  readonly verify?: boolean;
  /** The maximum age of a receipt, unless its result is final, in milliseconds; 60,000 by default. */
  readonly maxAgeMs?: number;
  /**
   * The fewest operators that must have given the result of a receipt; 1 by default. A gateway over one operator has no answer
   * for more.
   */
  readonly minAgreed?: number;
  /** The timeout of each attempt of a request, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
  /** The number of attempts of a request, the first included; 4 by default. */
  readonly attempts?: number;
  /** The longest response body that is read, in bytes; 32 MiB by default. */
  readonly maxBodyBytes?: number;
  readonly fetch?: typeof fetch;
  /**
   * Opens a WebSocket: needed in Node 20, which has none, and to send other headers than `x-api-key` on the stream:
   * `(url, headers) => new WebSocket(url, { headers })`.
   */
  readonly openSocket?: OpenSocket;
  readonly clock?: Clock;
  /** Returns a number from 0 to 1, for the jitter of retries. Nonces do not use it. */
  readonly random?: () => number;
}

/** A client of one gateway. */
export interface Client extends RouteClient {
  /** Verifies the body of an answer or a frame that came another way. Rejects with ReceiptError. */
  readonly verify: VerifyAnswer;
  /** Opens the real-time stream. */
  stream(options?: StreamOptions): Stream;
}

/** Creates a client of a gateway that verifies every signed answer. Runs in Node, Deno and browsers. */
export function createClient(options: ClientOptions): Client {
  const { publicKey = [], cluster, headers = {}, verify = true, clock = systemClock, random = Math.random } = options;
  const { openSocket = openGlobalSocket, maxAgeMs = 60_000, minAgreed = 1 } = options;
  const baseUrl = baseUrlOf(options.url);
  const send = createRequestSender({
    baseUrl,
    headers,
    timeoutMs: options.timeoutMs ?? 10_000,
    attempts: options.attempts ?? 4,
    maxBodyBytes: options.maxBodyBytes ?? 32 * 1024 * 1024,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)), // a browser's `fetch` must be called on the window
    clock,
    random,
  });
  const publicKeys = typeof publicKey === 'string' ? [publicKey] : publicKey;
  const trustStore = new TrustStore({ send, clock, publicKeys, cluster });
  const verifyAnswer = verify ? createAnswerVerifier({ trustStore, clock, maxAgeMs, minAgreed }) : acceptUnverified;
  return {
    ...createRouteClient(send, verifyAnswer),
    verify: verifyAnswer,
    stream: (streamOptions = {}) =>
      openStream(streamOptions, {
        openSocket: (target) => openSocket(baseUrl.replace(/^http/, 'ws') + target, headers),
        verifyAnswer,
        clock,
        random,
      }),
  };
}
