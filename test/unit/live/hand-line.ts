import type { Commitment } from '../../../src/domain/commitment.ts';
import type { GatewayError } from '../../../src/domain/error.ts';
import type { Read } from '../../../src/domain/read-method.ts';
import type { Slot } from '../../../src/domain/slot.ts';
import { AccountWatch, type AccountWatchSettings } from '../../../src/live/accounts/account-watch.ts';
import { MeshTips } from '../../../src/upstream/mesh/mesh-tips.ts';
import type { ClockUpdate, PubsubSession, SubscriptionHandler } from '../../../src/upstream/pubsub/pubsub-session.ts';
import { SlotAncestry } from '../../../src/upstream/pubsub/slot-ancestry.ts';
import { AccountBatcher } from '../../../src/upstream/reads/account-batcher.ts';
import type { RpcResponse } from '../../../src/upstream/rpc/rpc-response.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A read that a test answers. */
export interface Asked {
  readonly addresses: readonly string[];
  readonly minContextSlot: Slot | undefined;
  answer(slot: Slot, ...accounts: string[]): void;
  fail(reason: GatewayError): void;
}

/** A line that a test moves by hand. */
export class HandLine implements PubsubSession {
  readonly nodeId = 'node-1';
  readonly asked: Asked[] = [];
  readonly watchers = new Map<string, SubscriptionHandler>();
  readonly stopped: string[] = [];
  readonly ancestry = new SlotAncestry();
  isPooled = false;
  capacity = 100;
  isLost = false;
  readonly #onBeacon = new Map<Commitment, (beacon: ClockUpdate) => void>();
  readonly #taken = new Set<string>();
  readonly #answer: PubsubSession['call'] | undefined;
  #onLost: (reason: string) => void = () => {};
  #slot: Slot | undefined;

  /** `answer` answers reads in the test's place. */
  constructor(answer?: PubsubSession['call']) {
    this.#answer = answer;
  }

  subscribe(_: string, [address]: readonly unknown[], watcher: SubscriptionHandler): () => void {
    this.watchers.set(String(address), watcher);
    return () => {
      this.watchers.delete(String(address));
      this.#taken.delete(String(address));
      this.stopped.push(String(address));
    };
  }

  /** The node takes what it has not taken yet. */
  take(): void {
    for (const [name, watcher] of [...this.watchers]) {
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      watcher.onAcknowledged();
    }
  }

  refuse(name: string): void {
    const watcher = this.watchers.get(name);
    this.watchers.delete(name);
    watcher?.onRejected();
  }

  isOnAnotherFork(slot: Slot, tip: Slot): boolean {
    return this.ancestry.isOnAnotherFork(slot, tip);
  }

  onClockUpdate(commitment: Commitment, listener: (beacon: ClockUpdate) => void): () => void {
    this.#onBeacon.set(commitment, listener);
    return () => {};
  }

  onLost(listener: (reason: string) => void): () => void {
    this.#onLost = listener;
    return () => {};
  }

  call(method: Read, params: readonly unknown[] = []): Promise<RpcResponse> {
    if (this.#answer !== undefined) return this.#answer(method, params);
    // The parameters of getMultipleAccounts, which is all that is called here.
    const [addresses, { minContextSlot }] = params as [string[], { minContextSlot?: Slot }];
    return new Promise((resolve, reject) => {
      const answer = (slot: Slot, ...accounts: string[]) => {
        const value = Buffer.from(`[${accounts.join()}]`);
        resolve({ slot, value, result: value });
      };
      this.asked.push({ addresses, minContextSlot, answer, fail: reject });
    });
  }

  beat(slot: Slot): void {
    const beacon = { slot, previous: this.#slot };
    this.#slot = slot;
    for (const listener of this.#onBeacon.values()) listener(beacon);
  }

  tell(address: string, slot: Slot, account: string): void {
    this.watchers.get(address)?.onNotification(slot, Buffer.from(account));
  }

  close(): void {
    this.isLost = true;
    this.capacity = 0;
    this.#onLost('was closed');
  }
}

/** A watch over lines that a test opens and moves by hand. */
export interface HandWorld {
  readonly watch: AccountWatch;
  readonly clock: ManualClock;
  /** All lines that were opened; one is opened as soon as it is asked for. */
  readonly lines: readonly HandLine[];
  readonly problems: string[];
  /** Reads that went past the watch, to whichever node. */
  readonly elsewhere: HandLine;
  readonly tips: MeshTips;
}

const SETTINGS: AccountWatchSettings = { accounts: 100, idleSlots: 50, auditMs: 30_000, maxAccountBytes: 1000 };

export function openWatch(settings: Partial<AccountWatchSettings> = {}): HandWorld {
  const clock = new ManualClock();
  const tips = new MeshTips();
  const lines: HandLine[] = [];
  const problems: string[] = [];
  const elsewhere = new HandLine();
  const watch = new AccountWatch({
    mesh: {
      openSession: async () => {
        const line = new HandLine();
        lines.push(line);
        return line;
      },
      tip: (commitment) => tips.newest(commitment),
      onTip: (commitment, listener) => tips.onTip(commitment, listener),
    },
    accounts: new AccountBatcher(elsewhere),
    clock,
    settings: { ...SETTINGS, ...settings },
    onProblem: (problem) => problems.push(problem),
  });
  return { watch, clock, lines, problems, elsewhere, tips };
}

/** Lets what is under way come through: reads are gathered for a turn of the event loop. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
};

export const account = (lamports: number): string => `{"lamports":${lamports},"data":["","base64"]}`;
