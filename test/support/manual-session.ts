import { type LiveAccountSettings, LiveAccountSource } from '../../src/gateway/live/accounts/live-account-source.ts';
import type { VersionRing } from '../../src/gateway/live/feed/version-ring.ts';
import type { OperatorAgreement } from '../../src/gateway/upstream/mesh/mesh.ts';
import { MeshTips } from '../../src/gateway/upstream/mesh/mesh-tips.ts';
import type {
  ClockUpdate,
  PubsubSession,
  PubsubSubscription,
  SubscriptionHandler,
} from '../../src/gateway/upstream/pubsub/pubsub-session.ts';
import { SlotAncestry } from '../../src/gateway/upstream/pubsub/slot-ancestry.ts';
import { AccountBatcher } from '../../src/gateway/upstream/reads/account-batcher.ts';
import type { RpcResponse } from '../../src/gateway/upstream/rpc/rpc-response.ts';
import type { AccountSubscription } from '../../src/shared/domain/account-change.ts';
import { COMMITMENTS, type Commitment } from '../../src/shared/domain/commitment.ts';
import type { GatewayError } from '../../src/shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../src/shared/domain/rpc-methods.ts';
import type { Slot } from '../../src/shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../src/shared/domain/well-known-addresses.ts';
import { clockAtEnd } from './clock-text.ts';
import { ManualClock } from './manual-clock.ts';

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
  /** Slot of the Clock that ends finalized reads. Default: that of the answer. */
  rootSlot: Slot | undefined;
  isPooled = false;
  capacity = 100;
  readonly maxSubscriptions = 100;
  readonly mayGrow = false;
  isLost = false;
  readonly #onClockUpdateListeners = new Map<Commitment, (update: ClockUpdate) => void>();
  readonly #acknowledged = new Set<SubscriptionHandler>();
  readonly #answer: PubsubSession['call'] | undefined;
  #onLost: (reason: string) => void = () => {};
  #slot: Slot | undefined;

  /** `answer` answers reads in place of the test. */
  constructor(answer?: PubsubSession['call']) {
    this.#answer = answer;
  }

  subscribe(_: string, [address]: readonly unknown[], watcher: SubscriptionHandler): PubsubSubscription {
    this.handlers.set(String(address), watcher);
    return {
      stop: () => {
        if (this.handlers.get(String(address)) === watcher) this.handlers.delete(String(address));
        this.#acknowledged.delete(watcher);
        this.unsubscribed.push(String(address));
      },
    };
  }

  onAnswered(): void {}

  /** Acknowledges all subscriptions that are not acknowledged yet. */
  acknowledgeAll(): void {
    for (const watcher of [...this.handlers.values()]) {
      if (this.#acknowledged.has(watcher)) continue;
      this.#acknowledged.add(watcher);
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

  parentOf(slot: Slot): Slot | undefined {
    return this.ancestry.parentOf(slot);
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
        const clock = clockAtEnd(addresses, this.rootSlot ?? slot);
        const value = Buffer.from(`[${[...accounts, ...clock].join()}]`);
        resolve({ slot, value, result: value });
      };
      const named = addresses.filter((address) => address !== CLOCK_SYSVAR);
      this.pendingCalls.push({ addresses: named, minContextSlot, answer, fail: reject });
    });
  }

  clockUpdate(slot: Slot, provenFrom = slot): void {
    const previous = this.#slot;
    const isNextBank = previous !== undefined && (slot === previous + 1 || this.ancestry.parentOf(slot) === previous);
    const update = { slot, previous, isNextBank, provenFrom };
    this.#slot = slot;
    for (const listener of this.#onClockUpdateListeners.values()) listener(update);
  }

  /** Answers the oldest read, and waits until what follows is done. */
  async answerNext(slot: Slot, ...accounts: string[]): Promise<void> {
    this.pendingCalls.shift()?.answer(slot, ...accounts);
    await flushEvents();
  }

  /** Updates the Clock, and waits until what follows is done. */
  async passClock(slot: Slot, provenFrom = slot): Promise<void> {
    this.clockUpdate(slot, provenFrom);
    await flushEvents();
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
  idleMs: 20_000,
  auditMs: 30_000,
  requestsPerSecond: 1000,
  maxAccountBytes: 1000,
};

export function openAccountHarness(
  settings: Partial<LiveAccountSettings> = {},
  slotTimeMs = 400,
  agreement?: OperatorAgreement,
  ring?: VersionRing,
): AccountHarness {
  const clock = new ManualClock();
  const tips = new MeshTips();
  const sessions: ManualSession[] = [];
  const problems: string[] = [];
  const upstream = new ManualSession();
  const source = new LiveAccountSource({
    mesh: {
      agreement,
      openSession: async () => {
        const session = new ManualSession();
        sessions.push(session);
        return session;
      },
      tip: (commitment) => tips.newest(commitment),
      slotTimeMs,
    },
    upstream: new AccountBatcher(upstream, { clock, tip: (commitment) => tips.newest(commitment) }),
    clock,
    random: () => 0.5,
    ring,
    settings: { ...SETTINGS, ...settings },
    onProblem: (problem) => problems.push(problem),
  });
  for (const commitment of COMMITMENTS) tips.onTip(commitment, () => source.liveSet.onTip(commitment));
  return { source, clock, sessions, problems, upstream, tips, subscriptions: [] };
}

/** Waits until pending work is done: reads are batched per turn of the event loop. */
export const flushEvents = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
};

export const accountText = (lamports: number): string => `{"lamports":${lamports},"data":["","base64"]}`;
