import type { Clock } from '../../../shared/domain/clock.ts';
import { members, parseString } from '../json/raw-json.ts';

export interface LearnedLimit {
  readonly limit: number;
  readonly proven: number;
  /** Lowest limit that it did not accept; null while there is none. */
  readonly failed: number | null;
  /** Milliseconds since 1970 of the last lesson. */
  readonly learnedMs: number;
}

export interface LearnedLimits {
  /** Returns what was learned about the node with this WebSocket address in the last day. */
  get(wsUrl: string): LearnedLimit | undefined;
  set(wsUrl: string, learned: LearnedLimit): void;
}

export interface SubscriptionLimitOptions {
  readonly clock: Clock;
  /** Most subscriptions whatever the node accepts; null for no such bound. */
  readonly cap: number | null;
  readonly wsUrl: string;
  readonly learnedLimits?: LearnedLimits | undefined;
}

/** Subscriptions to try first. Helius closes a WebSocket at some 1,450, QuickNode at 4,500; the public RPC accepts 100. */
const FIRST_LIMIT = 1000;

/** Least that is gone down to: those of a session itself, and the subscriptions of a token list. */
const LEAST_LIMIT = 7;

/** Subscriptions that every node accepts: a WebSocket that ends with fewer did not end because of them. */
const ALWAYS_ACCEPTED = 16;

/** How long a limit that failed is not tried again, in milliseconds. */
export const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/**
 * The subscriptions that one node accepts on a WebSocket, learned from what it does with them. No provider announces
 * its limit: some answer with an error, many end the connection, some no longer acknowledge. The limit doubles when a
 * WebSocket has reached it, and halves when one fails; a limit that failed is not tried again for a day.
 */
export class SubscriptionLimit {
  readonly #options: SubscriptionLimitOptions;
  #limit: number;
  #proven: number;
  #failed: number | null;
  #learnedMs: number;
  #hasLostOne = false;

  constructor(options: SubscriptionLimitOptions) {
    this.#options = options;
    const learned = options.learnedLimits?.get(options.wsUrl);
    this.#limit = learned?.limit ?? FIRST_LIMIT;
    this.#proven = learned?.proven ?? 0;
    this.#failed = learned?.failed ?? null;
    this.#learnedMs = learned?.learnedMs ?? 0;
  }

  /** Subscriptions that a WebSocket may have now. */
  get current(): number {
    return Math.min(this.#limit, this.#options.cap ?? Number.POSITIVE_INFINITY);
  }

  /** Whether it rises once a WebSocket has reached it. */
  get mayGrow(): boolean {
    const { clock, cap } = this.#options;
    if (this.#failed !== null && clock.now() - this.#learnedMs > REMEMBERED_MS) this.#failed = null;
    return this.#limit < (cap ?? Number.POSITIVE_INFINITY) && (this.#failed === null || 2 * this.#limit < this.#failed);
  }

  /** Learns that a node has acknowledged `count` subscriptions on one WebSocket, perhaps all that it was sent. */
  onAcknowledged(count: number, isAll: boolean): void {
    this.#proven = Math.max(this.#proven, count);
    if (isAll) this.#hasLostOne = false;
    if (count < this.current || !this.mayGrow) return;
    this.#limit *= 2;
    this.#learn();
  }

  /** Learns that a node has refused one more than `accepted`, unless that number is not tried any more. */
  onRefused(accepted: number): void {
    if (accepted < this.current) this.#fail(accepted);
  }

  /**
   * Learns that a WebSocket was lost while a node had not acknowledged all of `attempted` subscriptions. With no more
   * than were accepted before, the first such loss may have any cause.
   */
  onLost(attempted: number): void {
    if (attempted <= ALWAYS_ACCEPTED || attempted > this.current) return; // the latter is known from another WebSocket
    const isFirst = !this.#hasLostOne;
    this.#hasLostOne = true;
    if (attempted > this.#proven || !isFirst) this.#fail(LEAST_LIMIT);
  }

  #fail(accepted: number): void {
    const failed = this.current;
    this.#limit = Math.max(LEAST_LIMIT, Math.min(accepted, failed), Math.floor(failed / 2));
    this.#proven = Math.min(this.#proven, this.#limit);
    this.#failed = failed;
    this.#learn();
  }

  #learn(): void {
    this.#learnedMs = this.#options.clock.now();
    this.#options.learnedLimits?.set(this.#options.wsUrl, {
      limit: this.#limit,
      proven: this.#proven,
      failed: this.#failed,
      learnedMs: this.#learnedMs,
    });
  }
}

/** Codes of JSON-RPC 2.0 for what is wrong with one request: invalid request, unknown method, invalid parameters. */
const FAULTS_OF_REQUEST: ReadonlySet<string> = new Set(['-32600', '-32601', '-32602']);

/** Words of nodes that accept no more: "Node subscription limit reached" (agave), "method exceeded limit" (Syndica). */
const NO_MORE = /limit|too many|exceed|maximum|quota/i;

/**
 * Returns true if a node refuses a subscription because it has too many, by the `error` of its response. A valid
 * `accountSubscribe` has nothing else that could be refused; a `programSubscribe` may not be served at all.
 */
export function isOverLimit(method: string, error: Buffer | undefined): boolean {
  try {
    const parts = members(error ?? Buffer.from('{}'));
    if (NO_MORE.test(parseString(parts.get('message') ?? Buffer.from('""')))) return true;
    return method === 'accountSubscribe' && !FAULTS_OF_REQUEST.has(`${parts.get('code')}`);
  } catch {
    return false;
  }
}
