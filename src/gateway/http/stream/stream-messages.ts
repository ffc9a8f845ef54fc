import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_ADDRESSES } from '../../../shared/domain/stream-protocol.ts';
import type { MessageVerdict } from '../../access/limits/stream-quota.ts';
import type { AccountTopics } from './account-topics.ts';
import { type ErrorSubject, errorFrame } from './error-frame.ts';
import type { StreamCaller } from './stream-caller.ts';
import type { SocketConnection } from './stream-connection.ts';
import { type MessageId, parseStreamMessage } from './stream-message.ts';
import { CLOSE_CODES, type StreamSocket } from './stream-socket.ts';
import { SubscriptionQueue } from './subscription-queue.ts';

const MAX_MESSAGE_BYTES = 4096;

const MALFORMED = 'a message must be JSON text with the op subscribe, unsubscribe or ping';
const PUBSUB_IS_ELSEWHERE = "this is slotgate's own stream: Solana's pubsub is a WebSocket at /api/v1/rpc";

export interface StreamMessagesOptions {
  readonly clock: Clock;
  readonly accountTopics: AccountTopics;
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

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
      const isJsonRpc = Buffer.from(bytes).includes('"jsonrpc"');
      socket.end(CLOSE_CODES.malformedMessage, isJsonRpc ? PUBSUB_IS_ELSEWHERE : MALFORMED);
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

  resume(connection: SocketConnection): void {
    this.#byConnection.get(connection)?.subscriptions.advance();
  }

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

/** The shortest time between two frames that report refused messages to a client. */
const INTERVAL_MS = 1000;

/** The messages of one connection that were refused since the last report of them. */
class RefusedMessages {
  readonly #clock: Clock;
  readonly #report: (ids: readonly MessageId[]) => void;
  #ids: MessageId[] = [];
  #cancelTimer: (() => void) | undefined;

  /** Calls `report` with the ids of all refused messages: immediately for the first one, then at most once a second. */
  constructor(clock: Clock, report: (ids: readonly MessageId[]) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(id: MessageId): void {
    this.#ids.push(id);
    if (this.#cancelTimer === undefined) this.#flush();
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #flush(): void {
    this.#cancelTimer = undefined;
    if (this.#ids.length === 0) return;
    this.#report(this.#ids);
    this.#ids = [];
    this.#cancelTimer = this.#clock.after(INTERVAL_MS, () => this.#flush());
  }
}
