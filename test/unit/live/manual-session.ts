import type { AccountSubscription } from '../../../src/domain/account-change.ts';
import { COMMITMENTS, type Commitment } from '../../../src/domain/commitment.ts';
import type { GatewayError } from '../../../src/domain/gateway-error.ts';
import type { RpcMethod } from '../../../src/domain/rpc-methods.ts';
import type { Slot } from '../../../src/domain/slot.ts';
import { type LiveAccountSettings, LiveAccountSource } from '../../../src/live/accounts/live-account-source.ts';
import { MeshTips } from '../../../src/upstream/mesh/mesh-tips.ts';
import type {
  ClockUpdate,
  PubsubSession,
  PubsubSubscription,
  SubscriptionHandler,
} from '../../../src/upstream/pubsub/pubsub-session.ts';
import { SlotAncestry } from '../../../src/upstream/pubsub/slot-ancestry.ts';
import { AccountBatcher } from '../../../src/upstream/reads/account-batcher.ts';
import type { RpcResponse } from '../../../src/upstream/rpc/rpc-response.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A read that the test answers. */
export interface PendingCall {
  readonly addresses: readonly string[];
  readonly minContextSlot: Slot | undefined;
  answer(slot: Slot, ...accounts: string[]): void;
  fail(reason: GatewayError): void;
}

/** A pub/sub session that a test controls. */
export class ManualSession implements PubsubSession {
  readonly nodeId = 'node-1';
  readonly pendingCalls: PendingCall[] = [];
  readonly handlers = new Map<string, SubscriptionHandler>();
  readonly unsubscribed: string[] = [];
  readonly ancestry = new SlotAncestry();
  isPooled = false;
  capacity = 100;
  readonly maxSubscriptions = 100;
  readonly mayGrow = false;
  isLost = false;
  readonly #onClockUpdateListeners = new Map<Commitment, (update: ClockUpdate) => void>();
  readonly #acknowledged = new Set<string>();
  readonly #answer: PubsubSession['call'] | undefined;
  #onLost: (reason: string) => void = () => {};
  #slot: Slot | undefined;

  /** Takes an `answer` that answers reads in place of the test. */
  constructor(answer?: PubsubSession['call']) {
    this.#answer = answer;
  }

  subscribe(_: string, [address]: readonly unknown[], watcher: SubscriptionHandler): PubsubSubscription {
    this.handlers.set(String(address), watcher);
    return {
      stop: () => {
        this.handlers.delete(String(address));
        this.#acknowledged.delete(String(address));
        this.unsubscribed.push(String(address));
      },
    };
  }

  onAnswered(): void {}

  /** Acknowledges all subscriptions that are not acknowledged yet. */
  acknowledgeAll(): void {
    for (const [name, watcher] of [...this.handlers]) {
      if (this.#acknowledged.has(name)) continue;
      this.#acknowledged.add(name);
      watcher.onAcknowledged();
    }
  }

  refuse(name: string): void {
    const watcher = this.handlers.get(name);
    this.handlers.delete(name);
    watcher?.onRejected();
  }

  isOnAnotherFork(slot: Slot, tip: Slot): boolean {
    return this.ancestry.isOnAnotherFork(slot, tip);
  }

  onClockUpdate(commitment: Commitment, listener: (update: ClockUpdate) => void): () => void {
    this.#onClockUpdateListeners.set(commitment, listener);
    return () => {};
  }

  onLost(listener: (reason: string) => void): () => void {
    this.#onLost = listener;
    return () => {};
  }

  call(method: RpcMethod, params: readonly unknown[] = []): Promise<RpcResponse> {
    if (this.#answer !== undefined) return this.#answer(method, params);
    // The parameters of getMultipleAccounts, the only method that is called here.
    const [addresses, { minContextSlot }] = params as [string[], { minContextSlot?: Slot }];
    return new Promise((resolve, reject) => {
      const answer = (slot: Slot, ...accounts: string[]) => {
        const value = Buffer.from(`[${accounts.join()}]`);
        resolve({ slot, value, result: value });
      };
      this.pendingCalls.push({ addresses, minContextSlot, answer, fail: reject });
    });
  }

  clockUpdate(slot: Slot): void {
    const previous = this.#slot;
    const isNextBank = previous !== undefined && (slot === previous + 1 || this.ancestry.parentOf(slot) === previous);
    const update = { slot, previous, isNextBank };
    this.#slot = slot;
    for (const listener of this.#onClockUpdateListeners.values()) listener(update);
  }

  notify(address: string, slot: Slot, account: string): void {
    this.handlers.get(address)?.onNotification(slot, Buffer.from(account));
  }

  close(): void {
    this.isLost = true;
    this.capacity = 0;
    this.#onLost('was closed');
  }
}

/** Live accounts over sessions that a test controls. */
export interface AccountHarness {
  readonly source: LiveAccountSource;
  readonly clock: ManualClock;
  /** All sessions that were opened. A session opens as soon as it is requested. */
  readonly sessions: readonly ManualSession[];
  readonly problems: string[];
  /** The reads that went to the upstream. */
  readonly upstream: ManualSession;
  readonly tips: MeshTips;
  /** Subscriptions that the test began. */
  readonly subscriptions: AccountSubscription[];
}

const SETTINGS: LiveAccountSettings = {
  accounts: 100,
  callerShare: 1,
  idleSlots: 50,
  auditMs: 30_000,
  requestsPerSecond: 1000,
  maxAccountBytes: 1000,
};

export function openAccountHarness(settings: Partial<LiveAccountSettings> = {}): AccountHarness {
  const clock = new ManualClock();
  const tips = new MeshTips();
  const sessions: ManualSession[] = [];
  const problems: string[] = [];
  const upstream = new ManualSession();
  const source = new LiveAccountSource({
    mesh: {
      openSession: async () => {
        const session = new ManualSession();
        sessions.push(session);
        return session;
      },
      tip: (commitment) => tips.newest(commitment),
    },
    upstream: new AccountBatcher(upstream, { clock, tip: (commitment) => tips.newest(commitment) }),
    clock,
    settings: { ...SETTINGS, ...settings },
    onProblem: (problem) => problems.push(problem),
  });
  for (const commitment of COMMITMENTS) tips.onTip(commitment, () => source.onTip(commitment));
  return { source, clock, sessions, problems, upstream, tips, subscriptions: [] };
}

/** Waits until pending work is done: reads are batched per turn of the event loop. */
export const flushEvents = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
};

export const accountText = (lamports: number): string => `{"lamports":${lamports},"data":["","base64"]}`;
