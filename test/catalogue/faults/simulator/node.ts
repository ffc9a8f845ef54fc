import { COMMITMENTS } from '../../../../src/domain/commitment.ts';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import type { Slot } from '../../../../src/domain/slot.ts';
import type {
  ClockUpdate,
  PubsubSession,
  SubscriptionHandler,
} from '../../../../src/upstream/pubsub/pubsub-session.ts';
import { RPC_ERROR_CODE } from '../../../../src/upstream/rpc/rpc-error-code.ts';
import type { RpcResponse } from '../../../../src/upstream/rpc/rpc-response.ts';
import { answerOf } from '../../../support/token-account-fixtures.ts';
import type { Ledger } from './ledger.ts';
import { accountsAt } from './token-world.ts';
import { accountTopic, programTopic, type Topic } from './topic.ts';

interface Subscription {
  readonly topic: Topic;
  readonly watcher: SubscriptionHandler;
  isStopped: boolean;
}

const LATE = { status: 503, rpcCode: RPC_ERROR_CODE.minContextSlotNotReached };

type Queued = { readonly subscription: Subscription } | { readonly slot: Slot };

/** A read on its way: there, looked up, and back. */
interface Call {
  readonly run: () => () => void;
  readonly fail: () => void;
  answer: (() => void) | undefined;
}

/**
 * A node as agave is: one queue for subscriptions and banks, worked off by one thread that may be far behind; a
 * subscription is acknowledged at once, but takes its baseline only when the queue has come to it.
 */
export class SimulatedNode {
  readonly ledger: Ledger;
  readonly lines = new Set<SimulatedLine>();
  /** How many subscriptions a line takes. */
  readonly places: number;
  readonly #random: () => number;
  readonly #queue: Queued[] = [];
  readonly #calls: Call[] = [];
  #reached = 0;
  #told: Slot;

  constructor(ledger: Ledger, random: () => number, places: number) {
    this.ledger = ledger;
    this.places = places;
    this.#random = random;
    this.#told = this.slot;
  }

  get slot(): Slot {
    return this.ledger.slots[this.#reached] ?? 0;
  }

  /** The slot that its queue has come to. */
  get told(): Slot {
    return this.#told;
  }

  /** The slot of the bank that it takes next. */
  get next(): Slot {
    return this.ledger.slots[this.#reached + 1] ?? this.slot;
  }

  /** Takes the next bank, if there is one. */
  advance(): void {
    if (this.#reached + 1 >= this.ledger.slots.length) return;
    this.#reached++;
    this.#queue.push({ slot: this.slot });
  }

  /** The notification thread handles one entry. */
  notify(): void {
    const next = this.#queue.shift();
    if (next === undefined) return;
    if ('slot' in next) {
      this.#told = next.slot;
      for (const line of this.lines) this.#tell(line, next.slot);
    } else next.subscription.topic.begin(this.slot);
  }

  /** Something happens to one of the reads that are under way. */
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

  /** `reader` answers the reads of the line: another one in a pool. */
  open(reader: SimulatedNode = this): SimulatedLine {
    const line = new SimulatedLine(this, reader);
    this.lines.add(line);
    return line;
  }

  subscribe(line: SimulatedLine, subscription: Subscription): void {
    line.wire.push(() => subscription.watcher.onAcknowledged());
    this.#queue.push({ subscription });
  }

  call(method: string, params: readonly any[]): Promise<RpcResponse> {
    const { minContextSlot = 0 } = params.at(-1);
    return new Promise((resolve, reject) => {
      const run = () => {
        const { slot } = this;
        if (slot < minContextSlot) return () => reject(new GatewayError('rpc_error', 'not yet', LATE));
        const value = Buffer.from(answerOf(accountsAt(this.ledger, slot), method, params));
        return () => resolve({ slot, value, result: value });
      };
      const fail = () => reject(new GatewayError('upstream_timeout', 'no answer'));
      this.#calls.push({ run, fail, answer: undefined });
    });
  }

  #tell(line: SimulatedLine, slot: Slot): void {
    const messages: (() => void)[] = [];
    for (const subscription of line.subscriptions) {
      for (const news of subscription.topic.news(slot)) {
        messages.push(() => {
          if (!subscription.isStopped) subscription.watcher.onNotification(slot, Buffer.from(news));
        });
      }
    }
    messages.splice(Math.floor(this.#random() * (messages.length + 1)), 0, () => line.beat(slot));
    line.wire.push(...messages);
  }
}

/** One connection to a simulated node. What is on the wire arrives in order, or not at all. */
export class SimulatedLine implements PubsubSession {
  readonly nodeId = 'simulated';
  readonly wire: (() => void)[] = [];
  readonly subscriptions = new Set<Subscription>();
  readonly isPooled: boolean;
  readonly #node: SimulatedNode;
  readonly #reader: SimulatedNode;
  readonly #onBeacon = new Map<string, Set<(beacon: ClockUpdate) => void>>();
  readonly #onLost = new Set<(reason: string) => void>();
  #beacon: ClockUpdate | undefined;
  #lost = false;

  constructor(node: SimulatedNode, reader: SimulatedNode) {
    this.#node = node;
    this.#reader = reader;
    this.isPooled = reader !== node;
  }

  get capacity(): number {
    return this.#lost ? 0 : this.#node.places - this.subscriptions.size;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  subscribe(method: string, [address, config]: readonly any[], watcher: SubscriptionHandler): () => void {
    const { ledger } = this.#node;
    const isAccount = method === 'accountSubscribe';
    const topic = isAccount ? accountTopic(ledger, address) : programTopic(ledger, config.filters[0].memcmp.bytes);
    const subscription: Subscription = { topic, watcher, isStopped: false };
    this.subscriptions.add(subscription);
    this.#node.subscribe(this, subscription);
    return () => {
      subscription.isStopped = true;
      this.subscriptions.delete(subscription);
    };
  }

  isOnAnotherFork(): boolean {
    return false; // its chain has no forks
  }

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
    return this.#reader.call(method, params);
  }

  /** A message of the wire arrives. */
  deliver(): void {
    if (!this.#lost) this.wire.shift()?.();
  }

  beat(slot: Slot): void {
    this.#beacon = { slot, previous: this.#beacon?.slot };
    for (const commitment of COMMITMENTS) {
      for (const listener of this.#onBeacon.get(commitment) ?? []) listener(this.#beacon);
    }
  }

  close(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#node.lines.delete(this);
    for (const listener of this.#onLost) listener('was closed');
  }
}
