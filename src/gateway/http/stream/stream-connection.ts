import type { AccountTopic } from '../../routes/stream-topics.ts';
import type { EngineSocket } from '../engine/engine.ts';
import type { StreamCaller } from './stream-caller.ts';
import type { MessageId } from './stream-message.ts';

/** The caller of a connection, as its subscriptions use it. */
export type SubscriptionCaller = Pick<StreamCaller, 'name' | 'maxSubscriptions' | 'admit' | 'newCost'>;

/** A connection, as its subscriptions use it. */
export type StreamConnection = Pick<SocketConnection, 'caller' | 'subscriptions' | 'reply' | 'push'>;

/** One subscription of a connection, to the newest value or to events. */
interface Subscription {
  readonly topic: AccountTopic;
  readonly id: MessageId;
  /** Sends what a slow connection had no room for. */
  resume(): void;
  end(): void;
}

interface OpenConnection {
  readonly socket: Pick<EngineSocket<unknown>, 'send' | 'getBufferedAmount'>;
  readonly maxUnsentBytes: number;
  readonly onDrop: () => void;
}

/** A stream connection over a WebSocket. It sends nothing before the socket is open and after it is closed. */
export class SocketConnection {
  readonly caller: SubscriptionCaller;
  /** Its subscriptions, by the key of what they are about. */
  readonly subscriptions = new Map<string, Subscription>();
  #open: OpenConnection | undefined;
  /** The frames that wait until the client has room for them. */
  #replies: { readonly makeFrame: () => string | undefined; readonly onSent: (() => void) | undefined }[] = [];

  constructor(caller: SubscriptionCaller) {
    this.caller = caller;
  }

  open(connection: OpenConnection): void {
    this.#open = connection;
  }

  close(): void {
    this.#open = undefined;
    this.#replies = [];
  }

  /** True while the client receives what it is sent, and no reply waits. */
  get hasRoom(): boolean {
    const open = this.#open;
    return open !== undefined && this.#replies.length === 0 && open.socket.getBufferedAmount() <= open.maxUnsentBytes;
  }

  /** Sends a short frame before all replies that wait; the engine drops it if the client is too slow. */
  send(frame: string): void {
    this.#open?.socket.send(frame);
  }

  /** The frame is made when the client has room for it, and sent in the order of the calls; undefined sends nothing. */
  reply(makeFrame: () => string | undefined, onSent?: () => void): void {
    this.#replies.push({ makeFrame, onSent });
    if (this.#replies.length === 1) this.sendReplies();
  }

  sendReplies(): void {
    for (let [reply] = this.#replies; reply !== undefined && this.#open !== undefined; [reply] = this.#replies) {
      const { socket, maxUnsentBytes } = this.#open;
      const { makeFrame, onSent } = reply;
      const unsentBytes = socket.getBufferedAmount();
      if (unsentBytes > maxUnsentBytes) return;
      const frame = makeFrame();
      if (frame !== undefined) {
        // A frame that is longer than the room is sent once nothing else is unsent.
        if (unsentBytes > 0 && unsentBytes + Buffer.byteLength(frame) > maxUnsentBytes) return;
        socket.send(frame);
        onSent?.();
      }
      this.#replies.shift();
    }
  }

  /** Sends a change. Returns false if the client is too slow: the newest change is then sent once it has caught up. */
  push(frame: string): boolean {
    if (this.#open === undefined) return false;
    const { socket, maxUnsentBytes, onDrop } = this.#open;
    if (socket.getBufferedAmount() <= maxUnsentBytes) {
      socket.send(frame);
      return true;
    }
    onDrop();
    return false;
  }
}
