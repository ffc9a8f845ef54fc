import type { Clock } from '../domain/clock.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { baseUrlOf } from './request-target.ts';
import { createRouteClient, type RouteClient } from './route-client.ts';
import { createRequestSender } from './send-request.ts';
import { type OpenSocket, openGlobalSocket } from './socket.ts';
import { openStream, type Stream, type StreamOptions } from './stream.ts';
import { TrustStore } from './trust-store.ts';
import { acceptUnverified, createAnswerVerifier } from './verify-answer.ts';

// With these this file is the whole of the package's `./client`.
export { type Receipt, ReceiptError, type ReceiptFault } from '../receipts/verify/verify-receipt.ts';
export type { Gap, Snapshot } from './gap-detector.ts';
export type { Answer, Read, ReadOptions } from './read-types.ts';
export type { Body, Parameters, Path, PostPath, Result } from './route-types.ts';
export { type FailureCode, SlotgateError } from './slotgate-error.ts';
export type { OpenSocket, Socket, SocketEvent } from './socket.ts';
export type { Follow, Stream, StreamOptions, StreamState } from './stream.ts';
export type { Topic, Update } from './subscription-messages.ts';

export interface ClientOptions {
  /** Where the gateway is, with the prefix that a proxy may have put before `/api/v1`. */
  readonly url: string | URL;
  /**
   * The key, or keys, that receipts must be signed with, base58. Without it the key that `/pubkey` names at first is
   * believed from then on; whoever answers that question can lie about all others.
   */
  readonly publicKey?: string | readonly string[];
  /** The genesis hash of the cluster that is meant, base58. Without it the one that `/health` names at first. */
  readonly cluster?: string;
  /** Sent with every request: `x-api-key` and the like. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `false`: takes every answer as it is. */
  readonly verify?: boolean;
  /** How old the receipt of an answer may be that can still change, in milliseconds; 60,000 by default. */
  readonly maxAgeMs?: number;
  /** For each try of a request, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
  /** How often a request is tried in all; 4 by default. */
  readonly attempts?: number;
  /** A longer answer is given up, in bytes; 32 MiB by default. */
  readonly maxBodyBytes?: number;
  readonly fetch?: typeof fetch;
  /** For Node 20, which has no WebSocket of its own, and to send headers: `(url, headers) => new WebSocket(url, { headers })`. */
  readonly openSocket?: OpenSocket;
  readonly clock?: Clock;
  /** From 0 to 1, spreads retries. A nonce is not made of it. */
  readonly random?: () => number;
}

/** A gateway, seen from outside. */
export interface Client extends RouteClient {
  /** Opens the realtime stream. */
  stream(options?: StreamOptions): Stream;
}

/** Speaks with a gateway, and believes only what is proven. Runs in Node, Deno and browsers. */
export function createClient(options: ClientOptions): Client {
  const { publicKey = [], cluster, headers = {}, verify = true, clock = systemClock, random = Math.random } = options;
  const { openSocket = openGlobalSocket, maxAgeMs = 60_000 } = options;
  const baseUrl = baseUrlOf(options.url);
  const send = createRequestSender({
    baseUrl,
    headers,
    timeoutMs: options.timeoutMs ?? 10_000,
    attempts: options.attempts ?? 4,
    maxBodyBytes: options.maxBodyBytes ?? 32 * 1024 * 1024,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)), // a browser's `fetch` must be called as the window's
    clock,
    random,
  });
  const publicKeys = typeof publicKey === 'string' ? [publicKey] : publicKey;
  const trustStore = new TrustStore({ send, clock, publicKeys, cluster });
  const verifyAnswer = verify ? createAnswerVerifier({ trustStore, clock, maxAgeMs }) : acceptUnverified;
  return {
    ...createRouteClient(send, verifyAnswer),
    stream: (streamOptions = {}) =>
      openStream(streamOptions, {
        openSocket: (target) => openSocket(baseUrl.replace(/^http/, 'ws') + target, headers),
        verifyAnswer,
        clock,
        random,
      }),
  };
}
