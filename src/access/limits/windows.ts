import type { Identity } from './identity.ts';

/** So many requests in so much time. */
export interface Allowance {
  readonly requests: number;
  readonly windowSeconds: number;
}

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

/** Windows of one length: they end in the order in which they opened, so a list, oldest first, finds the ended ones. */
interface Line {
  oldest: Listed | undefined;
  newest: Listed | undefined;
}

/** Ended windows forgotten for each new one: more than one, so that they run out; few, so that nobody waits for it. */
const SWEEP = 4;

/** The open windows. Ended ones can stay a while, but never take the room of a new one. */
export class Windows {
  readonly #capacity: number;
  readonly #byIdentity = new Map<Identity, Listed>();
  /** By length in seconds: there are as many as tiers, at most. */
  readonly #lines = new Map<number, Line>();
  #size = 0;

  constructor(capacity: number) {
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
    for (const line of this.#lines.values()) for (let i = 0; i < SWEEP; i++) this.#forgetEnded(line, nowMs);
    return this.#size >= this.#capacity;
  }

  /** Opens a window for an identity that has none open. `reset`: its end in Unix seconds. */
  open(identity: Identity, { requests, windowSeconds }: Allowance, nowMs: number, reset: number): Window {
    const endsAtMs = nowMs + windowSeconds * 1000;
    const window: Listed = { limit: requests, used: 0, endsAtMs, reset, identity, next: undefined };
    const line = this.#lines.get(windowSeconds) ?? { oldest: undefined, newest: undefined };
    if (line.newest === undefined) line.oldest = window;
    else line.newest.next = window;
    line.newest = window;
    this.#lines.set(windowSeconds, line);
    this.#byIdentity.set(identity, window);
    this.#size++;
    return window;
  }

  #forgetEnded(line: Line, nowMs: number): void {
    const window = line.oldest;
    if (window === undefined || nowMs < window.endsAtMs) return;
    line.oldest = window.next;
    if (line.oldest === undefined) line.newest = undefined;
    this.#size--;
    // The identity may have opened a newer one since.
    if (this.#byIdentity.get(window.identity) === window) this.#byIdentity.delete(window.identity);
  }
}
