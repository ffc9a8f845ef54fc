import { systemClock } from '../shared/runtime/system-clock.ts';
import type { ClientOptions } from './client-options.ts';
import { createReader, type Reader } from './reader.ts';
import { baseUrlOf } from './request-target.ts';
import { createPost, type RouteClient } from './route-client.ts';
import { createSender } from './send-request.ts';
import { openGlobalSocket } from './socket.ts';
import { openStream, type Stream, type StreamOptions } from './stream.ts';

export type { ClientOptions } from './client-options.ts';
export type { Gap, Snapshot } from './frame-reader.ts';
export type { Answer, PostOptions, Read, ReadOptions } from './read-types.ts';
export type { Body, Parameters, Path, PostPath, Result } from './route-types.ts';
export { type FailureCode, SlotgateError } from './slotgate-error.ts';
export type { OpenSocket, Socket, SocketEvent } from './socket.ts';
export type { Follow, Stream, StreamOptions, StreamState } from './stream.ts';
export type { Topic, Update } from './subscription-messages.ts';
// Together with these, this file is the whole of the package's `./client`.
export { type Receipt, ReceiptError, type ReceiptFault } from './verify/verify-receipt.ts';
export type { ExpectedAnswer, VerifiedAnswer, VerifyAnswer } from './verify-answer.ts';

/** A client of one gateway. */
export interface Client extends Reader, RouteClient {
  /** Opens the real-time stream. */
  stream(options?: StreamOptions): Stream;
}

/** Creates a client of a gateway that verifies every signed answer. Runs in Node, Deno, Bun and browsers. */
export function createClient(options: ClientOptions): Client {
  if (options.publicKey?.length === 0) throw new TypeError('`publicKey` is empty: leave it out to trust the first key');
  const { url, headers = {}, clock = systemClock, random = Math.random, openSocket = openGlobalSocket } = options;
  const reader = createReader(options);
  return {
    ...reader,
    post: createPost(createSender(options)),
    stream: (streamOptions = {}) =>
      openStream(streamOptions, {
        openSocket: (target) => openSocket(baseUrlOf(url).replace(/^http/, 'ws') + target, headers),
        verifyAnswer: reader.verify,
        clock,
        random,
      }),
  };
}
