import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_ADDRESSES } from '../../../shared/domain/stream-protocol.ts';
import type { EngineSocket } from '../engine/engine.ts';
import type { AccountTopics } from './account-topics.ts';
import { type ErrorSubject, errorFrame } from './error-frame.ts';
import { CLOSE_CODES } from './open-sockets.ts';
import type { StreamCaller } from './stream-caller.ts';
import type { SocketConnection } from './stream-connection.ts';
import { type MessageId, parseStreamMessage } from './stream-message.ts';
import { SubscriptionQueue } from './subscription-queue.ts';

const MAX_MESSAGE_BYTES = 4096;

const MALFORMED = 'a message must be JSON text with the op subscribe, unsubscribe or ping';
const PUBSUB_IS_ELSEWHERE = "this is slotgate's own stream: Solana's pubsub is a WebSocket at /api/v1/rpc";

export interface StreamMessagesOptions {
  readonly clock: Clock;
  readonly accountTopics: AccountTopics;
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

/** The shortest time between two frames that report refused messages to a client. */
const REPORT_MS = 1000;

/** Handles the messages of one client: limits, pings and subscriptions. */
export class StreamMessages {
  readonly #options: StreamMessagesOptions;
  readonly #connection: SocketConnection;
  readonly #caller: StreamCaller;
  readonly #subscriptions: SubscriptionQueue;
  /** The ids of messages that were refused since the last report of them. */
  #refused: MessageId[] = [];
  #cancelReport: (() => void) | undefined;

  constructor(
    options: StreamMessagesOptions,
    { connection, caller }: { readonly connection: SocketConnection; readonly caller: StreamCaller },
  ) {
    this.#options = options;
    this.#connection = connection;
    this.#caller = caller;
    const replyError = (id: MessageId, thrown: unknown, subject: ErrorSubject): void => {
      const frame = this.#errorFrame(id, thrown, subject);
      connection.reply(() => frame);
    };
    this.#subscriptions = new SubscriptionQueue({ ...options, connection, caller, replyError });
  }

  /** Handles one message. Closes the socket after a malformed one, or too many over the pace. */
  handle(socket: Pick<EngineSocket<unknown>, 'end'>, bytes: ArrayBuffer, isBinary: boolean): void {
    if (bytes.byteLength > MAX_MESSAGE_BYTES) {
      socket.end(CLOSE_CODES.messageTooLong, `a message may have at most ${MAX_MESSAGE_BYTES} bytes`);
      return;
    }
    const message = isBinary ? undefined : parseStreamMessage(bytes);
    if (message === undefined) {
      const isJsonRpc = Buffer.from(bytes).includes('"jsonrpc"');
      socket.end(CLOSE_CODES.malformedMessage, isJsonRpc ? PUBSUB_IS_ELSEWHERE : MALFORMED);
      return;
    }
    const verdict = this.#caller.streamSlot.consumeMessage();
    if (verdict === 'close') {
      socket.end(CLOSE_CODES.tooMany, 'too many messages over the pace: name many addresses in one message');
      return;
    }
    if (verdict === 'refuse') this.#refuse(message.id);
    else if (message.op === 'ping') this.#connection.send('{"type":"pong"}');
    else if (message.op === 'invalid') this.#connection.send(this.#errorFrame(message.id, message.error));
    else {
      try {
        this.#subscriptions.add(message);
      } catch (thrown) {
        this.#connection.send(this.#errorFrame(message.id, thrown));
      }
    }
  }

  resume(): void {
    this.#subscriptions.advance();
  }

  close(): void {
    this.#subscriptions.close();
    this.#cancelReport?.();
  }

  #refuse(id: MessageId): void {
    this.#refused.push(id);
    if (this.#cancelReport === undefined) this.#reportRefused();
  }

  /** Reports all refused messages: immediately the first one, then at most once in {@link REPORT_MS}. */
  #reportRefused(): void {
    this.#cancelReport = undefined;
    if (this.#refused.length === 0) return;
    const ids = this.#refused;
    this.#refused = [];
    this.#connection.reply(() => errorFrame(ids[0] ?? null, refusedError(this.#caller), { ids }));
    this.#cancelReport = this.#options.clock.after(REPORT_MS, () => this.#reportRefused());
  }

  #errorFrame(id: MessageId, thrown: unknown, subject: ErrorSubject = {}): string {
    const error = GatewayError.from(thrown);
    if (error.code === 'internal_error') this.#options.onInternalError('stream', error.cause ?? error);
    return errorFrame(id, error, subject);
  }
}

function refusedError({ streamSlot }: StreamCaller): GatewayError {
  const { stream, caller } = streamSlot.messagesPerSecond;
  return new GatewayError(
    'rate_limited',
    `the messages with these ids were not handled: send at most ${stream} a second on a stream and ${caller} on all of ` +
      `yours, each with up to ${MAX_ADDRESSES} addresses, and send these again`,
  );
}
