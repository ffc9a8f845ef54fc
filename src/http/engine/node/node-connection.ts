import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { EngineConnection } from '../engine.ts';
import type { RawResponse } from '../raw-response.ts';

/** A response that waits for work, as its connection knows it. */
interface PendingResponse {
  abort(): void;
}

/** The response to the last request of a connection. */
interface NewestResponse {
  /** Answers in its place, if its request has not arrived as a whole; else behind it. */
  refuse(answer: RawResponse, writeBehind: () => void): void;
}

/** What the engine keeps of one TCP connection. */
export class NodeConnection implements EngineConnection {
  readonly socket: Socket;
  /** The responses that are not complete when their handlers return. */
  readonly pending = new Set<PendingResponse>();
  /** The newest response: all others of the connection go out before it. */
  newest: NewestResponse | undefined;
  /** The address in a PROXY header before the first request; empty if there was none. */
  proxiedAddress = new ArrayBuffer(0);
  /** True once the connection carries a WebSocket. */
  isUpgraded = false;
  /** True once it has sent bytes that are no request. */
  isRefused = false;
  readonly #address: ArrayBuffer;

  constructor(socket: Socket) {
    this.socket = socket;
    this.#address = bytesOfAddress(socket.remoteAddress);
  }

  getRemoteAddress(): ArrayBuffer {
    return this.#address;
  }

  close(): void {
    this.socket.destroy();
  }

  /** Aborts the responses that wait. */
  onClosed(): void {
    for (const response of [...this.pending]) response.abort();
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
