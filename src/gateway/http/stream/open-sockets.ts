import type { Clock } from '../../../shared/domain/clock.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import type { Authenticator } from '../../access/authenticator.ts';
import type { EngineSocket } from '../engine/engine.ts';
import type { StreamCaller } from './stream-caller.ts';

/** Close codes: those of RFC 6455 7.4.1, 1013 of the IANA registry, and private ones from 4000. */
export const CLOSE_CODES = {
  goingAway: 1001,
  tierFell: 1008,
  messageTooLong: 1009,
  slowConsumer: 1013,
  invalidKey: 4401,
  malformedMessage: 4403,
  tooMany: 4429,
} as const;

/** A socket whose caller is known. */
type CallerSocket = Pick<
  EngineSocket<{ readonly caller: Pick<StreamCaller, 'principal' | 'findFault' | 'streamSlot'> }>,
  'getUserData' | 'end'
>;

/** The time in which each connection with credentials is reviewed, a part of them each second. */
const REVIEW_INTERVAL_MS = 60_000;
const REVIEW_TICK_MS = 1000;

/** The time after which a socket that still can't receive what it is to be sent is ended. */
const MAX_SLOW_MS = 3000;

/** The time that a slow socket has to drain and receive its close frame. */
const CLOSE_TIMEOUT_MS = 1000;

/** The close codes that are counted apart: ours, and those of a connection that its client closes or loses. */
const COUNTED_CLOSE_CODES: ReadonlySet<number> = new Set([1000, 1005, 1006, ...Object.values(CLOSE_CODES)]);

/** Stands for any other close code, which a client may choose. */
const OTHER_CLOSE_CODE = 0;

/** The numbers of ended sockets by close code; 0 for one that no rule names. */
export type CloseCounts = Map<number, number>;

export const newCloseCounts = (): CloseCounts =>
  new Map([...COUNTED_CLOSE_CODES, OTHER_CLOSE_CODE].map((code) => [code, 0]));

interface OpenSocketsOptions<Socket> {
  readonly access: { readonly authenticator: Pick<Authenticator, 'isKeyInvalid'> };
  readonly clock: Clock;
  /** Counts those that end, perhaps with sockets of other kinds. */
  readonly closes: CloseCounts;
  readonly subscriptionsOf: (socket: Socket) => number;
  /** Ends one that has been slow for {@link MAX_SLOW_MS}. */
  readonly endSlow: (socket: Socket) => void;
}

/** The open sockets of one kind. The engine aborts the process on a write to a closed one. */
export class OpenSockets<Socket extends CallerSocket> {
  readonly #options: OpenSocketsOptions<Socket>;
  readonly #stopReviews: () => void;
  readonly #all = new Set<Socket>();
  /** The sockets that were opened with credentials, in the order in which they are reviewed next. */
  readonly #authenticated = new Set<Socket>();
  readonly #slowSinceMs = new Map<Socket, number>();
  /** The slow ones that get a close frame as soon as they have drained. */
  readonly #draining = new Set<Socket>();
  /** The frames that slow sockets had no room for. */
  dropped = 0;

  constructor(options: OpenSocketsOptions<Socket>) {
    this.#options = options;
    this.#stopReviews = repeat(options.clock, REVIEW_TICK_MS, () => {
      this.#review();
      const sinceMs = options.clock.monotonic() - MAX_SLOW_MS;
      for (const [socket, slowSinceMs] of [...this.#slowSinceMs]) if (slowSinceMs <= sinceMs) options.endSlow(socket);
    });
  }

  get size(): number {
    return this.#all.size;
  }

  has(socket: Socket): boolean {
    return this.#all.has(socket);
  }

  add(socket: Socket): void {
    const { principal, streamSlot } = socket.getUserData().caller;
    this.#all.add(socket);
    if (principal !== undefined) this.#authenticated.add(socket);
    streamSlot.onRevoked(() => socket.end(CLOSE_CODES.tooMany, 'too many open streams: close one first'));
  }

  remove(socket: Socket, code: number): void {
    const { closes } = this.#options;
    const counted = COUNTED_CLOSE_CODES.has(code) ? code : OTHER_CLOSE_CODE;
    closes.set(counted, (closes.get(counted) ?? 0) + 1);
    this.#all.delete(socket);
    this.#authenticated.delete(socket);
    this.#slowSinceMs.delete(socket);
    this.#draining.delete(socket);
    socket.getUserData().caller.streamSlot.release();
  }

  recordDrop(socket: Socket): void {
    this.dropped++;
    if (this.#draining.has(socket) || this.#slowSinceMs.has(socket)) return;
    this.#slowSinceMs.set(socket, this.#options.clock.monotonic());
  }

  /** Records that a socket has received all that was buffered. Returns false if it must be closed now. */
  recordDrain(socket: Socket): boolean {
    this.#slowSinceMs.delete(socket);
    return !this.#draining.has(socket);
  }

  /**
   * Gives a socket the time to drain and to receive its close frame, which the engine would drop behind unsent data, or
   * keep the connection open. Then cuts it.
   */
  closeOnceDrained(socket: Socket & { close(): void }): void {
    this.#slowSinceMs.delete(socket);
    this.#draining.add(socket);
    this.#options.clock.after(CLOSE_TIMEOUT_MS, () => this.#draining.has(socket) && socket.close());
  }

  /**
   * Closes those whose key is not valid any more, and those whose caller has lost the tier that its subscriptions need: of these
   * a part of the sockets, each in its turn.
   */
  #review(): void {
    const count = Math.ceil((this.#authenticated.size * REVIEW_TICK_MS) / REVIEW_INTERVAL_MS);
    for (const socket of [...this.#authenticated].slice(0, count)) {
      this.#authenticated.delete(socket);
      this.#authenticated.add(socket); // at the end
      const fault = socket.getUserData().caller.findFault(this.#options.subscriptionsOf(socket));
      if (fault !== undefined) socket.end(CLOSE_CODES.tierFell, fault);
    }
    for (const socket of [...this.#authenticated]) {
      const { principal } = socket.getUserData().caller;
      if (principal !== undefined && this.#options.access.authenticator.isKeyInvalid(principal))
        socket.end(CLOSE_CODES.invalidKey, 'the API key was revoked or has expired');
    }
  }

  close(): void {
    this.#stopReviews();
    for (const socket of [...this.#all]) socket.end(CLOSE_CODES.goingAway, 'the gateway is shutting down');
  }
}
