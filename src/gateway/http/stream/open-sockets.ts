import type { Authenticator } from '../../access/authenticator.ts';
import type { EngineSocket } from '../engine/engine.ts';
import type { StreamCaller } from './stream-caller.ts';
import { CLOSE_CODES } from './stream-socket.ts';

/** A socket whose caller is known. */
type CallerSocket = Pick<EngineSocket<{ readonly caller: Pick<StreamCaller, 'principal'> }>, 'getUserData' | 'end'>;

/** The open sockets of one kind. The engine aborts the process on a write to a closed one. */
export class OpenSockets<Socket extends CallerSocket> {
  readonly #authenticator: Pick<Authenticator, 'isKeyInvalid'>;
  readonly #all = new Set<Socket>();
  /** The sockets that were opened with credentials, in the order in which they are reviewed next. */
  readonly #authenticated = new Set<Socket>();

  constructor(authenticator: Pick<Authenticator, 'isKeyInvalid'>) {
    this.#authenticator = authenticator;
  }

  get size(): number {
    return this.#all.size;
  }

  has(socket: Socket): boolean {
    return this.#all.has(socket);
  }

  add(socket: Socket): void {
    this.#all.add(socket);
    if (socket.getUserData().caller.principal !== undefined) this.#authenticated.add(socket);
  }

  remove(socket: Socket): void {
    this.#all.delete(socket);
    this.#authenticated.delete(socket);
  }

  /** Returns this part of the sockets that were opened with credentials, rounded up; other ones with the next call. */
  nextAuthenticated(part: number): readonly Socket[] {
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
