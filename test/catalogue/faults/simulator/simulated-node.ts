import type {
  ClockUpdate,
  PubsubSession,
  PubsubSubscription,
  SubscriptionHandler,
} from '../../../../src/gateway/upstream/pubsub/pubsub-session.ts';
import { RPC_ERROR_CODE } from '../../../../src/gateway/upstream/rpc/rpc-error-code.ts';
import type { RpcResponse } from '../../../../src/gateway/upstream/rpc/rpc-response.ts';
import { COMMITMENTS } from '../../../../src/shared/domain/commitment.ts';
import { GatewayError } from '../../../../src/shared/domain/gateway-error.ts';
import type { Slot } from '../../../../src/shared/domain/slot.ts';
import { configOf, type RpcParams } from '../../../support/rpc-request.ts';
import { rpcResultOf } from '../../../support/token-account-fixtures.ts';
import type { SimulatedLedger } from './simulated-ledger.ts';
import { accountsAt } from './simulated-token-accounts.ts';
import { accountTopic, programTopic, type SimulatedTopic } from './simulated-topic.ts';

interface SimulatedSubscription {
  readonly topic: SimulatedTopic;
  readonly handler: SubscriptionHandler;
  isStopped: boolean;
}

const NOT_REACHED = { status: 503, rpcCode: RPC_ERROR_CODE.minContextSlotNotReached };

type Queued = { readonly subscription: SimulatedSubscription } | { readonly slot: Slot };

/** A read in flight: request, execution, response. */
interface PendingCall {
  readonly run: () => () => void;
  readonly fail: () => void;
  answer: (() => void) | undefined;
}

/**
 * A node that behaves like Agave: subscriptions and banks share one queue, processed by one thread that may lag; a
 * subscription is acknowledged immediately, but its baseline is read only when the queue reaches it.
 */
export class SimulatedNode {
  readonly ledger: SimulatedLedger;
  readonly sessions = new Set<SimulatedSession>();
  /** Maximum number of subscriptions of a session. */
  readonly capacity: number;
  readonly #random: () => number;
  readonly #queue: Queued[] = [];
  readonly #calls: PendingCall[] = [];
  #reached = 0;
  #notifiedSlot: Slot;

  constructor(ledger: SimulatedLedger, random: () => number, places: number) {
    this.ledger = ledger;
    this.capacity = places;
    this.#random = random;
    this.#notifiedSlot = this.slot;
  }

  get slot(): Slot {
    return this.ledger.slots[this.#reached] ?? 0;
  }

  get notifiedSlot(): Slot {
    return this.#notifiedSlot;
  }

  get next(): Slot {
    return this.ledger.slots[this.#reached + 1] ?? this.slot;
  }

  /** Advances to the next bank, if there is one. */
  advance(): void {
    if (this.#reached + 1 >= this.ledger.slots.length) return;
    this.#reached++;
    this.#queue.push({ slot: this.slot });
  }

  /** Processes one entry of the notification queue. Nothing is notified of a bank that is left out. */
  notifyNext(isLeftOut = false): void {
    const next = this.#queue.shift();
    if (next === undefined || (isLeftOut && 'slot' in next)) return;
    if ('slot' in next) {
      this.#notifiedSlot = next.slot;
      for (const line of this.sessions) this.#notifySession(line, next.slot);
    } else next.subscription.topic.begin(this.slot);
  }

  /** Advances a random read in flight. */
  serve(): void {
    const i = Math.floor(this.#random() * this.#calls.length);
    const call = this.#calls[i];
    if (call === undefined) return;
    if (call.answer === undefined) {
      call.answer = call.run();
      return;
    }
    this.#calls.splice(i, 1);
    if (this.#random() < 0.05) call.fail();
    else call.answer();
  }

  /** Opens a session. `reader` answers its reads: another node in a pool. */
  open(reader: SimulatedNode = this): SimulatedSession {
    const session = new SimulatedSession(this, reader);
    this.sessions.add(session);
    return session;
  }

  subscribe(line: SimulatedSession, subscription: SimulatedSubscription): void {
    line.queue.push(() => subscription.handler.onAcknowledged());
    this.#queue.push({ subscription });
  }

  call(method: string, params: readonly unknown[]): Promise<RpcResponse> {
    const { minContextSlot = 0 } = configOf(params);
    return new Promise((resolve, reject) => {
      const run = () => {
        const { slot } = this;
        if (slot < minContextSlot) return () => reject(new GatewayError('rpc_error', 'not yet', NOT_REACHED));
        const value = Buffer.from(rpcResultOf(accountsAt(this.ledger, slot), method, params));
        return () => resolve({ slot, value, result: value });
      };
      const fail = () => reject(new GatewayError('upstream_timeout', 'no answer'));
      this.#calls.push({ run, fail, answer: undefined });
    });
  }

  #notifySession(session: SimulatedSession, slot: Slot): void {
    const messages: (() => void)[] = [];
    for (const subscription of session.subscriptions) {
      for (const notification of subscription.topic.notificationsAt(slot)) {
        messages.push(() => {
          if (!subscription.isStopped) subscription.handler.onNotification(slot, Buffer.from(notification));
        });
      }
    }
    messages.splice(Math.floor(this.#random() * (messages.length + 1)), 0, () => session.notifyClock(slot));
    session.queue.push(...messages);
  }
}

/** One connection to a simulated node. Messages arrive in order, or not at all. */
export class SimulatedSession implements PubsubSession {
  readonly nodeId = 'simulated';
  readonly queue: (() => void)[] = [];
  readonly subscriptions = new Set<SimulatedSubscription>();
  readonly isPooled: boolean;
  readonly #node: SimulatedNode;
  readonly #readNode: SimulatedNode;
  readonly #onBeacon = new Map<string, Set<(beacon: ClockUpdate) => void>>();
  readonly #onLost = new Set<(reason: string) => void>();
  #clockUpdate: ClockUpdate | undefined;
  #lost = false;

  constructor(node: SimulatedNode, reader: SimulatedNode) {
    this.#node = node;
    this.#readNode = reader;
    this.isPooled = reader !== node;
  }

  get capacity(): number {
    return this.#lost ? 0 : this.#node.capacity - this.subscriptions.size;
  }

  get maxSubscriptions(): number {
    return this.#node.capacity;
  }

  get mayGrow(): boolean {
    return false;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  subscribe(method: string, [address, config]: RpcParams, handler: SubscriptionHandler): PubsubSubscription {
    const { ledger } = this.#node;
    const isAccount = method === 'accountSubscribe';
    const topic = isAccount
      ? accountTopic(ledger, address)
      : programTopic(ledger, config.filters?.[0]?.memcmp?.bytes ?? '');
    const subscription: SimulatedSubscription = { topic, handler, isStopped: false };
    this.subscriptions.add(subscription);
    this.#node.subscribe(this, subscription);
    return {
      stop: () => {
        subscription.isStopped = true;
        this.subscriptions.delete(subscription);
      },
    };
  }

  onAnswered(): void {}

  isOnAnotherFork(): boolean {
    return false; // its chain has no forks
  }

  parentOf(): undefined {}

  onClockUpdate(commitment: string, listener: (beacon: ClockUpdate) => void): () => void {
    const listeners = this.#onBeacon.get(commitment) ?? new Set();
    this.#onBeacon.set(commitment, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  onLost(listener: (reason: string) => void): () => void {
    this.#onLost.add(listener);
    return () => this.#onLost.delete(listener);
  }

  call(method: string, params: readonly unknown[] = []): Promise<RpcResponse> {
    return this.#readNode.call(method, params);
  }

  deliver(): void {
    if (!this.#lost) this.queue.shift()?.();
  }

  notifyClock(slot: Slot): void {
    const { slots } = this.#node.ledger;
    const previous = this.#clockUpdate?.slot;
    const isNextBank = previous !== undefined && slots[slots.lastIndexOf(slot) - 1] === previous;
    const update = { slot, previous, isNextBank, provenFrom: slot };
    this.#clockUpdate = update;
    for (const commitment of COMMITMENTS) {
      for (const listener of this.#onBeacon.get(commitment) ?? []) listener(update);
    }
  }

  close(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#node.sessions.delete(this);
    for (const listener of this.#onLost) listener('was closed');
  }
}
