import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { addressKeyOf, type RateLimitKey } from '../../../access/quota/rate-limit-key.ts';
import type { EngineConnection } from '../engine.ts';
import type { RawResponse } from '../raw-response.ts';

interface PendingResponse {
  abort(): void;
  onDrain(): void;
}

/** A socket and its requests as `node:http` leaves them, which have no declared type. */
interface ParsedSocket extends Socket {
  readonly parser?: {
    incoming: IncomingMessage | null;
    onIncoming: (message: ParsedMessage, keepsAlive: boolean) => number;
  } | null;
}
interface ParsedMessage extends IncomingMessage {
  upgrade: boolean;
}

interface NewestResponse {
  /** Answers in its place, if its request has not arrived as a whole; else behind it. */
  refuse(answer: RawResponse, writeBehind: () => void): void;
  onSent(write: () => void): void;
}

/** What the engine keeps of one TCP connection. */
export class NodeConnection implements EngineConnection {
  readonly socket: Socket;
  readonly peer: RateLimitKey;
  readonly pending = new Set<PendingResponse>();
  /** The newest response: all others of the connection go out before it. */
  newest: NewestResponse | undefined;
  /** The address in a PROXY header before the first request; empty if there was none. */
  proxiedAddress = new ArrayBuffer(0);
  isUpgraded = false;
  /** True once nothing more of it is read: it has sent bytes that are no request, or in a turn whose budget was spent. */
  isRefused = false;
  turn = 0;
  requestsInTurn = 0;
  readonly #address: ArrayBuffer;

  constructor(socket: Socket) {
    this.socket = socket;
    this.#address = bytesOfAddress(socket.remoteAddress);
    this.peer = addressKeyOf(this.#address);
  }

  getRemoteAddress(): ArrayBuffer {
    return this.#address;
  }

  close(): void {
    const { parser } = this.socket as ParsedSocket;
    if (parser) parser.incoming = null; // parts of a body that are read already
    this.socket.destroy();
  }

  /** `node:http` has no call for it: behind a request that switches protocols (2) its parser stops. */
  stopParsing(): void {
    const { parser } = this.socket as ParsedSocket;
    if (parser) parser.onIncoming = () => 2;
  }

  /** Lets requests upgrade by this rule, and no others, on a Node that has no option for it. */
  limitUpgrades(mayUpgrade: (message: IncomingMessage) => boolean): void {
    const { parser } = this.socket as ParsedSocket;
    const onIncoming = parser?.onIncoming;
    if (!parser || !onIncoming) return;
    parser.onIncoming = (message, keepsAlive) => {
      message.upgrade &&= message.method === 'CONNECT' || mayUpgrade(message);
      return onIncoming(message, keepsAlive);
    };
  }

  onClosed(): void {
    for (const response of [...this.pending]) response.abort();
  }

  /** True while it carries no WebSocket, and all of its requests are answered. */
  get isIdle(): boolean {
    return !this.isUpgraded && this.pending.size === 0 && this.socket.writableLength === 0;
  }

  /** True while the peer has a request that is not answered, and the gateway, not the peer, is late. */
  get awaitsGateway(): boolean {
    return this.pending.size > 0 && this.socket.writableLength === 0;
  }
}

/** Returns the bytes of an address; none of a connection that the peer has reset already. */
function bytesOfAddress(address: string | undefined): ArrayBuffer {
  if (address === undefined || !ipaddr.isValid(address)) return new ArrayBuffer(0);
  return Uint8Array.from(ipaddr.parse(address).toByteArray()).buffer;
}
