import type { Clock } from '../../../shared/domain/clock.ts';
import { members, parseString } from '../json/raw-json.ts';
import { MAX_ERROR_BYTES } from '../rpc/error-normalizer.ts';

export interface LearnedLimit {
  limit: number;
  proven: number;
  /** Lowest limit that it did not accept; null while there is none. */
  failed: number | null;
  /** Milliseconds since 1970 of the last lesson. */
  learnedMs: number;
}

export interface LearnedLimits {
  /** Returns what was learned about the node with this WebSocket address in the last day. */
  get(wsUrl: string): Readonly<LearnedLimit> | undefined;
  set(wsUrl: string, learned: Readonly<LearnedLimit>): void;
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
  readonly #learned: LearnedLimit;
  #hasLostOne = false;

  constructor(options: SubscriptionLimitOptions) {
    this.#options = options;
    const learned = options.learnedLimits?.get(options.wsUrl);
    this.#learned = { limit: FIRST_LIMIT, proven: 0, failed: null, learnedMs: 0, ...learned };
  }

  get current(): number {
    return Math.min(this.#learned.limit, this.#options.cap ?? Number.POSITIVE_INFINITY);
  }

  /** Whether it rises once a WebSocket has reached it. */
  get mayGrow(): boolean {
    const { clock, cap } = this.#options;
    const learned = this.#learned;
    if (clock.now() - learned.learnedMs > REMEMBERED_MS) learned.failed = null;
    const { limit, failed } = learned;
    return limit < (cap ?? Number.POSITIVE_INFINITY) && (failed === null || 2 * limit < failed);
  }

  /** Learns that a node has acknowledged `count` subscriptions on one WebSocket, perhaps all that it was sent. */
  onAcknowledged(count: number, isAll: boolean): void {
    this.#learned.proven = Math.max(this.#learned.proven, count);
    if (isAll) this.#hasLostOne = false;
    if (count < this.current || !this.mayGrow) return;
    this.#learned.limit *= 2;
    this.#keep();
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
    if (attempted > this.#learned.proven || !isFirst) this.#fail(LEAST_LIMIT);
  }

  #fail(accepted: number): void {
    const failed = this.current;
    const limit = Math.max(LEAST_LIMIT, Math.min(accepted, failed), Math.floor(failed / 2));
    Object.assign(this.#learned, { limit, proven: Math.min(this.#learned.proven, limit), failed });
    this.#keep();
  }

  #keep(): void {
    const { clock, wsUrl, learnedLimits } = this.#options;
    this.#learned.learnedMs = clock.now();
    learnedLimits?.set(wsUrl, { ...this.#learned });
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
  if ((error?.length ?? 0) > MAX_ERROR_BYTES) return false;
  try {
    const parts = members(error ?? Buffer.from('{}'));
    if (NO_MORE.test(parseString(parts.get('message') ?? Buffer.from('""')))) return true;
    return method === 'accountSubscribe' && !FAULTS_OF_REQUEST.has(`${parts.get('code')}`);
  } catch {
    return false;
  }
}
