import type { Authenticator } from '../../access/authenticator.ts';
import { CLOSE_CODES, type StreamSocket } from './stream-socket.ts';

/** The open sockets of the stream. The engine aborts the process on a write to a closed one. */
export class OpenSockets {
  readonly #authenticator: Pick<Authenticator, 'isKeyInvalid'>;
  readonly #all = new Set<StreamSocket>();
  /** The sockets that were opened with credentials, in the order in which they are reviewed next. */
  readonly #authenticated = new Set<StreamSocket>();

  constructor(authenticator: Pick<Authenticator, 'isKeyInvalid'>) {
    this.#authenticator = authenticator;
  }

  get size(): number {
    return this.#all.size;
  }

  has(socket: StreamSocket): boolean {
    return this.#all.has(socket);
  }

  add(socket: StreamSocket): void {
    this.#all.add(socket);
    if (socket.getUserData().caller.principal !== undefined) this.#authenticated.add(socket);
  }

  remove(socket: StreamSocket): void {
    this.#all.delete(socket);
    this.#authenticated.delete(socket);
  }

  /** Returns this part of the sockets that were opened with credentials, rounded up; other ones with the next call. */
  nextAuthenticated(part: number): readonly StreamSocket[] {
    const next = [...this.#authenticated].slice(0, Math.ceil(this.#authenticated.size * part));
    for (const socket of next) {
      this.#authenticated.delete(socket);
      this.#authenticated.add(socket); // at the end
    }
    return next;
  }

  closeInvalidKeys(): void {
    for (const socket of [...this.#authenticated]) {
      const { principal } = socket.getUserData().caller;
      if (principal !== undefined && this.#authenticator.isKeyInvalid(principal))
        socket.end(CLOSE_CODES.invalidKey, 'the API key was revoked or has expired');
    }
  }

  closeAll(): void {
    for (const socket of [...this.#all]) socket.end(CLOSE_CODES.goingAway, 'the gateway is shutting down');
  }
}
