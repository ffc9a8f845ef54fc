import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { SilenceWatchdog } from '../../../shared/runtime/silence-watchdog.ts';
import { parseSafeInteger } from '../json/raw-json.ts';
import { provenByClock } from '../rpc/clock-slot.ts';
import { commitmentOf } from '../rpc/response-slot.ts';
import type { CallOptions, RpcResponse } from '../rpc/rpc-response.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import {
  type ChannelOptions,
  type ChannelSubscription,
  NOT_NEEDED,
  type Notification,
  PubsubChannel,
  type SubscriptionId,
} from './pubsub-channel.ts';
import type { ClockUpdate, PubsubSession, PubsubSubscription, SubscriptionHandler } from './pubsub-session.ts';
import { SlotAncestry } from './slot-ancestry.ts';
import { clockSubscription, parseSlotNotification, SLOT_SUBSCRIPTION } from './slot-subscriptions.ts';
import { isOverLimit, type SubscriptionLimit } from './subscription-limit.ts';

export interface SessionOptions extends Pick<ChannelOptions, 'node' | 'counts' | 'verifyGenesis'> {
  readonly deps: UpstreamDeps;
  readonly limit: SubscriptionLimit;
  /** Called with each new slot and the session's last one, -1 at first. One that is not accepted closes the session. */
  acceptsSlot(commitment: Commitment, slot: Slot, slotBefore: Slot): boolean;
  call(method: RpcMethod, params: readonly unknown[], options: CallOptions): Promise<RpcResponse>;
}

/** Subscriptions of the session itself: the Clock at each commitment, and the parents of slots. */
const OWN_SUBSCRIPTIONS = COMMITMENTS.length + 1;

/** Session over one channel: dates it by Clock updates, and closes it when its slots cannot be relied on. */
export class OrderedSession implements PubsubSession {
  readonly nodeId: string;
  readonly isPooled: boolean;
  readonly #options: SessionOptions;
  readonly #onReady: () => void;
  readonly #channel: PubsubChannel;
  /** Watches the Clock updates: without them nothing can be dated, whatever else arrives. */
  readonly #watchdog: SilenceWatchdog;
  readonly #ancestry = new SlotAncestry();
  readonly #lastUpdates = new Map<Commitment, ClockUpdate>();
  readonly #lastAccepted = new Map<Commitment, Slot>();
  readonly #clockListeners = new Map(
    COMMITMENTS.map((commitment) => [commitment, new Set<(update: ClockUpdate) => void>()]),
  );
  readonly #lostListeners = new Set<(reason: string) => void>();
  #onAnswered: (() => void) | undefined;
  #usedSubscriptions = OWN_SUBSCRIPTIONS;
  #acknowledgedSubscriptions = 0;
  /** What the node has accepted at most, once it has refused one more. */
  #refusedAbove = Number.POSITIVE_INFINITY;
  #lostReason: string | undefined;

  /** Calls `onReady` once the node has acknowledged the subscriptions to the Clock. */
  constructor(options: SessionOptions, onReady: () => void) {
    const { node, deps, counts, verifyGenesis } = options;
    const { clock, settings } = deps;
    this.#options = options;
    this.#onReady = onReady;
    this.nodeId = node.id;
    this.isPooled = node.pooled ?? false;
    this.#watchdog = new SilenceWatchdog({
      clock,
      silenceMs: settings.idleTimeoutMs,
      onSilence: () => this.#channel.close('stopped sending Clock updates'),
    });
    this.#channel = new PubsubChannel({
      node,
      settings,
      clock,
      counts,
      verifyGenesis,
      onReady: () => this.#subscribeToSlots(),
      onClose: (reason, isUnanswered) => this.#onClose(reason, isUnanswered),
    });
  }

  get capacity(): number {
    return this.isLost ? 0 : Math.max(0, this.#limit - this.#usedSubscriptions);
  }

  get maxSubscriptions(): number {
    return this.#limit - OWN_SUBSCRIPTIONS;
  }

  get mayGrow(): boolean {
    const isWaiting = this.#acknowledgedSubscriptions < this.#usedSubscriptions;
    return !this.isLost && isWaiting && this.#refusedAbove === Number.POSITIVE_INFINITY && this.#options.limit.mayGrow;
  }

  get isLost(): boolean {
    return this.#lostReason !== undefined;
  }

  subscribe(...[method, params, handler]: Parameters<PubsubSession['subscribe']>): PubsubSubscription {
    if (this.capacity === 0) throw new GatewayError('overloaded', 'the session accepts no more subscriptions');
    const subscription = new SessionSubscription(this, method, commitmentOf(method, params) ?? 'finalized', handler);
    this.#usedSubscriptions++;
    this.#channel.subscribe(subscription, params);
    return subscription;
  }

  onNotification({ commitment, handler }: SessionSubscription, notification: Notification): void {
    const { slot, value } = parseNotification(notification);
    if (this.#accepts(commitment, slot)) handler.onNotification(slot, value);
  }

  onAcknowledged({ handler }: SessionSubscription): void {
    this.#countAcknowledged();
    handler.onAcknowledged();
    this.#onAnswered?.();
  }

  onRejected(subscription: SessionSubscription, error: Buffer | undefined): void {
    this.#usedSubscriptions--;
    const { method, handler } = subscription;
    if (isOverLimit(method, error)) {
      if (this.#refusedAbove === Number.POSITIVE_INFINITY)
        this.#options.limit.onRefused(this.#acknowledgedSubscriptions);
      this.#refusedAbove = Math.min(this.#refusedAbove, this.#acknowledgedSubscriptions);
      handler.onRefused();
    } else handler.onRejected();
    this.#onAnswered?.();
  }

  /** Stops a subscription that was neither stopped nor rejected before. */
  unsubscribe(subscription: SessionSubscription): void {
    this.#usedSubscriptions--;
    if (subscription.subscriptionId !== undefined) this.#acknowledgedSubscriptions--;
    if (!this.isLost) this.#channel.unsubscribe(subscription);
  }

  onAnswered(listener: () => void): void {
    this.#onAnswered = listener;
  }

  onClockUpdate(commitment: Commitment, listener: (update: ClockUpdate) => void): () => void {
    const listeners = this.#clockListeners.get(commitment);
    listeners?.add(listener);
    return () => listeners?.delete(listener);
  }

  onLost(listener: (reason: string) => void): () => void {
    if (this.#lostReason === undefined) this.#lostListeners.add(listener);
    else listener(this.#lostReason);
    return () => this.#lostListeners.delete(listener);
  }

  isOnAnotherFork(slot: Slot, tip: Slot): boolean {
    return this.#ancestry.isOnAnotherFork(slot, tip);
  }

  parentOf(slot: Slot): Slot | undefined {
    return this.#ancestry.parentOf(slot);
  }

  call(method: RpcMethod, params: readonly unknown[] = [], options: CallOptions = {}): Promise<RpcResponse> {
    return this.#options.call(method, params, options);
  }

  close(): void {
    this.#channel.close(NOT_NEEDED);
  }

  get #limit(): number {
    return Math.min(this.#options.limit.current, this.#refusedAbove);
  }

  #countAcknowledged(): void {
    const count = ++this.#acknowledgedSubscriptions;
    this.#options.limit.onAcknowledged(count, count === this.#usedSubscriptions);
  }

  #subscribeToSlots(): void {
    let unacknowledged = COMMITMENTS.length;
    this.#watchdog.start();
    for (const commitment of COMMITMENTS) {
      const { method, params } = clockSubscription(commitment);
      const subscription: ChannelSubscription = {
        method,
        onNotification: (notification) => this.#onClock(commitment, parseNotification(notification)),
        onAcknowledged: () => {
          this.#countAcknowledged();
          if (--unacknowledged === 0) this.#onReady();
        },
        onRejected: () => this.#channel.close('rejects the subscription to the Clock'),
      };
      this.#channel.subscribe(subscription, params);
    }
    const slots: ChannelSubscription = {
      method: SLOT_SUBSCRIPTION.method,
      onNotification: ({ result }) => {
        const { slot, parent } = parseSlotNotification(result);
        this.#ancestry.record(slot, parent);
      },
      onAcknowledged: () => this.#countAcknowledged(),
      onRejected: () => {
        this.#usedSubscriptions--; // then only slots that go back reveal a fork
      },
    };
    this.#channel.subscribe(slots, SLOT_SUBSCRIPTION.params);
  }

  #onClock(commitment: Commitment, { slot, value }: AccountNotification): void {
    this.#watchdog.onMessage();
    const previous = this.#lastUpdates.get(commitment)?.slot;
    if (slot === previous || !this.#accepts(commitment, slot)) return;
    if (previous !== undefined && slot < previous && commitment !== 'processed') {
      this.#channel.close('reverted a confirmed slot');
      return;
    }
    const isNextBank = previous !== undefined && (slot === previous + 1 || this.#ancestry.parentOf(slot) === previous);
    const update = { slot, previous, isNextBank, provenFrom: provenByClock(slot, value) };
    this.#lastUpdates.set(commitment, update);
    for (const listener of this.#clockListeners.get(commitment) ?? []) listener(update);
  }

  #accepts(commitment: Commitment, slot: Slot): boolean {
    const slotBefore = this.#lastAccepted.get(commitment) ?? -1;
    if (slotBefore === slot) return true;
    if (this.#options.acceptsSlot(commitment, slot, slotBefore)) {
      this.#lastAccepted.set(commitment, slot);
      return true;
    }
    this.#channel.close('reported a slot that is not accepted');
    return false;
  }

  #onClose(reason: string, isUnanswered: boolean): void {
    this.#lostReason = reason;
    if (isUnanswered) this.#options.limit.onLost(this.#usedSubscriptions);
    this.#watchdog.stop();
    for (const listener of this.#lostListeners) listener(reason);
  }
}

/** Subscription of a session's user: one object for all that there is to keep, since a session may have very many. */
class SessionSubscription implements ChannelSubscription, PubsubSubscription {
  readonly method: string;
  readonly commitment: Commitment;
  readonly handler: SubscriptionHandler;
  subscriptionId: SubscriptionId | undefined = undefined;
  contentsHash: number | undefined = undefined;
  readonly #session: OrderedSession;
  #isActive = true;

  constructor(session: OrderedSession, method: string, commitment: Commitment, handler: SubscriptionHandler) {
    this.#session = session;
    this.method = method;
    this.commitment = commitment;
    this.handler = handler;
  }

  onNotification(notification: Notification): void {
    if (this.#isActive) this.#session.onNotification(this, notification);
  }

  onAcknowledged(): void {
    if (this.#isActive) this.#session.onAcknowledged(this);
  }

  onRejected(error: Buffer | undefined): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    this.#session.onRejected(this, error);
  }

  stop(): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    this.#session.unsubscribe(this);
  }
}

/** An account at the end of a slot, in the node's own bytes. */
interface AccountNotification {
  readonly slot: Slot;
  readonly value: Buffer;
}

/** Parses a notification of an account, a program or logs: `{context: {slot}, value}`. */
function parseNotification({ slot, value }: Notification): AccountNotification {
  if (value === undefined) throw new GatewayError('upstream_error', 'a node sent a notification without its context');
  return { slot: parseSafeInteger(slot), value };
}
