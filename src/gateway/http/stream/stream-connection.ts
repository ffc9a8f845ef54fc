import type { RequestCost } from '../../../shared/domain/units.ts';
import type { Admit } from '../../../shared/runtime/fair-semaphore.ts';
import type { EngineSocket } from '../engine/engine.ts';

/** The caller of a connection, as its subscriptions use it. */
export interface SubscriptionCaller {
  readonly name: string;
  /** The number of topics that a connection may subscribe to. */
  readonly maxSubscriptions: number;
  readonly admit: Admit;
  newCost(): RequestCost;
}

export interface StreamConnection {
  readonly caller: SubscriptionCaller;
  /** The frame is made when the client has room for it, and sent in the order of the calls; undefined sends nothing. */
  reply(makeFrame: () => string | undefined, onSent?: () => void): void;
  /** Sends a change. Returns false if the client is too slow: the newest change is then sent once it has caught up. */
  push(frame: string): boolean;
}

/** A frame that waits until the client has room for it. */
interface WaitingReply {
  readonly makeFrame: () => string | undefined;
  readonly onSent: (() => void) | undefined;
}

interface OpenConnection {
  readonly socket: Pick<EngineSocket<unknown>, 'send' | 'getBufferedAmount'>;
  readonly maxUnsentBytes: number;
  readonly onDrop: () => void;
}

/** A stream connection over a WebSocket. It sends nothing before the socket is open and after it is closed. */
export class SocketConnection implements StreamConnection {
  readonly caller: SubscriptionCaller;
  #open: OpenConnection | undefined;
  #replies: WaitingReply[] = [];

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
