import type { Identity } from './identity.ts';

/** A stretch of time in which an identity may do so much. */
export interface Window {
  readonly limit: number;
  used: number;
  /** On the monotonic clock. */
  readonly endsAtMs: number;
  /** The same moment in Unix seconds. It is fixed when the window opens, since the caller was told. */
  readonly reset: number;
}

interface Listed extends Window {
  readonly identity: Identity;
  next: Listed | undefined;
}

/** Ended windows forgotten for each new one: more than one, so that they run out; few, so that nobody waits for it. */
const SWEEP = 4;

/**
 * The open windows, all of one length: so they end in the order in which they opened, and a list, oldest first, is
 * all it takes to forget the ended ones. Ended ones can stay a while, but never take the room of a new one.
 */
export class Windows {
  readonly #windowMs: number;
  readonly #capacity: number;
  readonly #byIdentity = new Map<Identity, Listed>();
  #oldest: Listed | undefined;
  #newest: Listed | undefined;
  #size = 0;

  constructor(windowMs: number, capacity: number) {
    this.#windowMs = windowMs;
    this.#capacity = capacity;
  }

  /** How many windows are held. */
  get size(): number {
    return this.#size;
  }

  /** The identity's open window. */
  find(identity: Identity, nowMs: number): Window | undefined {
    const window = this.#byIdentity.get(identity);
    return window !== undefined && nowMs < window.endsAtMs ? window : undefined;
  }

  /** True when as many windows as there may be are open now. Ask before each {@link open}. */
  isFull(nowMs: number): boolean {
    for (let i = 0; i < SWEEP; i++) this.#forgetEnded(nowMs);
    return this.#size >= this.#capacity;
  }

  /** Opens a window for an identity that has none open. */
  open(identity: Identity, limit: number, nowMs: number, reset: number): Window {
    const window: Listed = { limit, used: 0, endsAtMs: nowMs + this.#windowMs, reset, identity, next: undefined };
    if (this.#newest === undefined) this.#oldest = window;
    else this.#newest.next = window;
    this.#newest = window;
    this.#byIdentity.set(identity, window);
    this.#size++;
    return window;
  }

  #forgetEnded(nowMs: number): void {
    const window = this.#oldest;
    if (window === undefined || nowMs < window.endsAtMs) return;
    this.#oldest = window.next;
    if (this.#oldest === undefined) this.#newest = undefined;
    this.#size--;
    // The identity may have opened a newer one since.
    if (this.#byIdentity.get(window.identity) === window) this.#byIdentity.delete(window.identity);
  }
}
