import { GatewayError } from '../../domain/gateway-error.ts';
import type { AccountTopics, StreamConnection } from './account-topics.ts';
import { errorFrame } from './error-frame.ts';
import { type MessageId, parseStreamMessage, type StreamMessage } from './stream-message.ts';
import { CLOSE_CODES, type StreamSocket } from './stream-socket.ts';

/** The longest message of a client. */
const MAX_MESSAGE_BYTES = 4096;

export interface StreamMessagesOptions {
  readonly accountTopics: AccountTopics;
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

/** Handles the messages of clients: limits, pings and subscriptions. */
export class StreamMessages {
  readonly #options: StreamMessagesOptions;

  constructor(options: StreamMessagesOptions) {
    this.#options = options;
  }

  /** Handles one message. Closes the socket after a message that is over a limit or malformed. */
  handle(socket: StreamSocket, bytes: ArrayBuffer, isBinary: boolean): void {
    const { connection, streamSlot } = socket.getUserData();
    if (!streamSlot.consumeMessage()) {
      socket.end(CLOSE_CODES.tooManyMessages, 'too many messages');
      return;
    }
    if (bytes.byteLength > MAX_MESSAGE_BYTES) {
      socket.end(CLOSE_CODES.messageTooLong, 'too long');
      return;
    }
    const message = isBinary ? undefined : parseStreamMessage(bytes);
    if (message === undefined) socket.end(CLOSE_CODES.malformedMessage, 'not understood');
    else this.#dispatch(connection, message);
  }

  #dispatch(connection: StreamConnection, message: StreamMessage): void {
    const { accountTopics } = this.#options;
    switch (message.op) {
      case 'ping':
        connection.reply('{"type":"pong"}');
        break;
      case 'invalid':
        this.#replyError(connection, message.id, message.error);
        break;
      case 'subscribe':
        accountTopics
          .subscribe(connection, message.topic, message.id)
          .catch((thrown) => this.#replyError(connection, message.id, thrown));
        break;
      case 'unsubscribe':
        try {
          accountTopics.unsubscribe(connection, message.topic, message.id);
        } catch (thrown) {
          this.#replyError(connection, message.id, thrown);
        }
    }
  }

  #replyError(connection: StreamConnection, id: MessageId, thrown: unknown): void {
    const error = GatewayError.from(thrown);
    if (error.code === 'internal_error') this.#options.onInternalError('stream', error.cause ?? error);
    connection.reply(errorFrame(id, error));
  }
}
