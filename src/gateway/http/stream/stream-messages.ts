import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { MessageVerdict } from '../../access/limits/stream-quota.ts';
import type { AccountTopics } from './account-topics.ts';
import { type ErrorSubject, errorFrame } from './error-frame.ts';
import { RefusedMessages } from './refused-messages.ts';
import type { StreamCaller } from './stream-caller.ts';
import type { SocketConnection } from './stream-connection.ts';
import { MAX_ADDRESSES, type MessageId, parseStreamMessage } from './stream-message.ts';
import { CLOSE_CODES, type StreamSocket } from './stream-socket.ts';
import { SubscriptionQueue } from './subscription-queue.ts';

/** The longest message of a client. */
const MAX_MESSAGE_BYTES = 4096;

export interface StreamMessagesOptions {
  readonly clock: Clock;
  readonly accountTopics: AccountTopics;
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

/** What the messages of one connection have left to do. */
interface PendingMessages {
  readonly subscriptions: SubscriptionQueue;
  readonly refused: RefusedMessages;
}

/** Handles the messages of clients: limits, pings and subscriptions. */
export class StreamMessages {
  readonly #options: StreamMessagesOptions;
  readonly #byConnection = new Map<SocketConnection, PendingMessages>();

  constructor(options: StreamMessagesOptions) {
    this.#options = options;
  }

  /** Handles one message. Closes the socket after a malformed one, or too many over the pace. */
  handle(socket: StreamSocket, bytes: ArrayBuffer, isBinary: boolean): void {
    const { connection, caller } = socket.getUserData();
    if (bytes.byteLength > MAX_MESSAGE_BYTES) {
      socket.end(CLOSE_CODES.messageTooLong, `a message may have at most ${MAX_MESSAGE_BYTES} bytes`);
      return;
    }
    const message = isBinary ? undefined : parseStreamMessage(bytes);
    if (message === undefined) {
      socket.end(
        CLOSE_CODES.malformedMessage,
        'a message must be JSON text with the op subscribe, unsubscribe or ping',
      );
      return;
    }
    const verdict: MessageVerdict = caller.streamSlot.consumeMessage();
    if (verdict === 'close') {
      socket.end(CLOSE_CODES.tooMany, 'too many messages over the pace: name many addresses in one message');
      return;
    }
    if (verdict === 'refuse') this.#pendingOf(connection, caller).refused.add(message.id);
    else if (message.op === 'ping') connection.send('{"type":"pong"}');
    else if (message.op === 'invalid') connection.send(this.#errorFrame(message.id, message.error));
    else {
      try {
        this.#pendingOf(connection, caller).subscriptions.add(message);
      } catch (thrown) {
        connection.send(this.#errorFrame(message.id, thrown));
      }
    }
  }

  /** Goes on with the messages of a client that has received all that was sent. */
  resume(connection: SocketConnection): void {
    this.#byConnection.get(connection)?.subscriptions.advance();
  }

  /** Drops what a closed connection has left to do. */
  removeConnection(connection: SocketConnection): void {
    const pending = this.#byConnection.get(connection);
    pending?.subscriptions.close();
    pending?.refused.close();
    this.#byConnection.delete(connection);
  }

  #pendingOf(connection: SocketConnection, caller: StreamCaller): PendingMessages {
    const existing = this.#byConnection.get(connection);
    if (existing !== undefined) return existing;
    const { clock, accountTopics } = this.#options;
    const replyError = (id: MessageId, thrown: unknown, subject: ErrorSubject): void => {
      const frame = this.#errorFrame(id, thrown, subject);
      connection.reply(() => frame);
    };
    const created = {
      subscriptions: new SubscriptionQueue({ clock, accountTopics, connection, caller, replyError }),
      refused: new RefusedMessages(clock, (ids) =>
        connection.reply(() => errorFrame(ids[0] ?? null, refusedError(caller), { ids })),
      ),
    };
    this.#byConnection.set(connection, created);
    return created;
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
