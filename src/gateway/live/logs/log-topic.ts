import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { LogSubscriber } from '../../../shared/domain/log-subscriber.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { ownText } from '../../../shared/runtime/own-text.ts';
import { member, parseString } from '../../upstream/json/raw-json.ts';
import type { PoolItem } from '../session-pool.ts';

/** A transaction that mentions an address, `{"signature","err","logs"}`. */
export interface LoggedTransaction {
  readonly slot: Slot;
  readonly signature: string;
  readonly json: string;
}

export interface LogSubscription {
  readonly subscriber: LogSubscriber;
  readonly callers: string[];
}

/** The most transactions of an address that are caught up with after a loss: one page of getSignaturesForAddress. */
export const MAX_MISSED = 1000;

/** The transactions that are notified in one turn of the event loop while an address catches up. */
const NOTIFIED_PER_TURN = 16;

/** The most bytes of notifications that an address holds back while it catches up. */
const MAX_HELD_BYTES = 1 << 20;

/**
 * The most bytes of a transaction's logs, which are handled in one turn of the event loop. A node keeps 10,000 characters if its
 * operator names no other number (agave, log_collector.rs); JSON may write each in six bytes.
 */
const MAX_LOG_BYTES = 128 * 1024;

/** Returns why logs of this length can't be notified; undefined if they can. */
export const tooLong = (bytes: number): GatewayError | undefined =>
  bytes <= MAX_LOG_BYTES
    ? undefined
    : new GatewayError(
        'result_too_large',
        'the logs of a transaction that mentions the address have more than 128 KiB',
      );

export const tooManyMissed = (): GatewayError =>
  new GatewayError(
    'overloaded',
    'too many transactions mention the address to catch up with after the loss of a node: subscribe again',
  );

/** The transactions that mention one address, for all its subscribers: each once, in the order of slots. */
export class LogTopic implements PoolItem {
  readonly subscriptionCount = 1;
  readonly address: string;
  readonly commitment: Commitment;
  readonly subscriptions = new Set<LogSubscription>();
  #isReady = false;
  /** All transactions up to this slot are notified, or older than the first subscription. */
  #coveredSlot: Slot = -1;
  /** What a second node notifies up to this slot is repeated. */
  #repeatedSlot: Slot = -1;
  /** What was notified of later slots, so that a second node repeats none of it. */
  readonly #notified = new Map<string, Slot>();
  #newestSlot: Slot = -1;
  /** What a node has notified since it accepted, until what was missed before is known; undefined when nothing is missing. */
  #held: Map<string, LoggedTransaction> | undefined;
  #heldBytes = 0;

  constructor(address: string, commitment: Commitment) {
    this.address = ownText(address);
    this.commitment = commitment;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get coveredSlot(): Slot {
    return this.#coveredSlot;
  }

  /** Whether transactions are missing since a session was lost. */
  get isBehind(): boolean {
    return this.#held !== undefined;
  }

  /** A first node has accepted, after `slot`. */
  start(slot: Slot): void {
    this.#isReady = true;
    this.#coveredSlot = slot;
    for (const { subscriber } of this.subscriptions) subscriber.onReady();
  }

  /** A session that had notified of all up to `coveredSlot` is lost. */
  onLost(coveredSlot: Slot): void {
    if (!this.#isReady) return;
    if (this.#held === undefined) this.#coveredSlot = Math.max(this.#coveredSlot, coveredSlot);
    this.#repeatedSlot = this.#coveredSlot;
    this.#held = new Map();
    this.#heldBytes = 0;
  }

  /** Notifies of a transaction. Returns why it can't: some are lost. */
  onNotification(slot: Slot, value: Buffer, coveredSlot: Slot): GatewayError | undefined {
    const failure = tooLong(value.length);
    if (failure !== undefined) return failure;
    const transaction = { slot, signature: parseString(member(value, 'signature')), json: value.toString() };
    if (this.#held === undefined) {
      this.#notify(transaction, coveredSlot);
      return undefined;
    }
    this.#heldBytes += value.length;
    if (this.#heldBytes > MAX_HELD_BYTES) return tooManyMissed();
    this.#held.set(keyOf(transaction), transaction);
    return undefined;
  }

  /** Whether a transaction is notified, or will be as it is held back. */
  isKnown(transaction: Pick<LoggedTransaction, 'slot' | 'signature'>): boolean {
    const key = keyOf(transaction);
    return transaction.slot <= this.#coveredSlot || this.#held?.has(key) === true || this.#notified.has(key);
  }

  /** Notifies of what was missed and what was held back, some in each turn, and then of what comes. */
  catchUp(missed: readonly LoggedTransaction[]): void {
    const sorted = [...missed, ...(this.#held?.values() ?? [])].sort((a, b) => a.slot - b.slot);
    this.#held = new Map(sorted.map((transaction) => [keyOf(transaction), transaction]));
    this.#notifyHeld(this.#held);
  }

  #notifyHeld(held: Map<string, LoggedTransaction>): void {
    if (this.#held !== held) return; // another session was lost since
    let left = NOTIFIED_PER_TURN;
    for (const [key, transaction] of held) {
      if (left-- === 0) break;
      held.delete(key);
      this.#coveredSlot = Math.max(this.#coveredSlot, transaction.slot - 1);
      this.#notify(transaction, this.#coveredSlot);
      this.#repeatedSlot = this.#coveredSlot;
    }
    if (held.size === 0) this.#held = undefined;
    else setImmediate(() => this.#notifyHeld(held));
  }

  #notify(transaction: LoggedTransaction, coveredSlot: Slot): void {
    const { slot, json } = transaction;
    const key = keyOf(transaction);
    if (slot <= this.#repeatedSlot || this.#notified.has(key)) return;
    if (slot > this.#newestSlot) {
      this.#newestSlot = slot;
      for (const [known, at] of this.#notified) if (at <= coveredSlot) this.#notified.delete(known);
    }
    this.#notified.set(key, slot);
    for (const { subscriber } of [...this.subscriptions]) subscriber.onLogs(slot, json);
  }
}

const keyOf = ({ slot, signature }: Pick<LoggedTransaction, 'slot' | 'signature'>): string => `${slot} ${signature}`;
