import { RateLimiter } from '../../../src/access/limits/rate-limiter.ts';
import { MemoryQuotaLedger } from '../../../src/access/quota/memory-quota-ledger.ts';
import type { QuotaLedger } from '../../../src/access/quota/quota-ledger.ts';
import { SharedQuota } from '../../../src/access/quota/shared-quota.ts';
import { ManualClock } from '../manual-clock.ts';

/** The limit that members share. */
export const SHARED_LIMIT = { requests: 100, windowSeconds: 10 };

interface Member {
  readonly limiter: RateLimiter;
  readonly quota: SharedQuota;
  readonly leave: () => void;
}

/** Rate limiters that share a limit through a ledger, by messages that take their time. */
export class QuotaMembers {
  readonly clock = new ManualClock();
  /** The time that each message takes. */
  delayMs: () => number = () => 0;
  readonly #members: Member[] = [];
  #ledger = new MemoryQuotaLedger(1000, this.clock);
  #rejoin: (() => void)[] = [];
  #joined = 0;

  constructor(count: number) {
    for (let i = 0; i < count; i++) this.#members.push(this.#start(i, count));
  }

  /** Lets promises and messages without delay arrive. */
  async arrive(): Promise<void> {
    for (let i = 0; i < 8; i++) {
      await Promise.resolve();
      this.clock.advance(0);
    }
  }

  /** Returns how a member sees the caller that is tested. */
  limiterOf(member: number): RateLimiter {
    const { limiter } = this.#members[member] as Member;
    return limiter;
  }

  take(member: number, units = 1) {
    return this.limiterOf(member).consume(CALLER, units);
  }

  peek(member: number) {
    return { ...this.limiterOf(member).peek(CALLER) };
  }

  /** Ends a member, and starts another in its place. */
  kill(member: number): void {
    const { quota, leave } = this.#members[member] as Member;
    quota.close();
    leave();
    this.#members[member] = this.#start(member, this.#members.length);
  }

  /** Ends the ledger, and starts another, which members join one by one. */
  killLedger(): void {
    this.#ledger = new MemoryQuotaLedger(1000, this.clock);
    for (const rejoin of this.#rejoin) rejoin();
  }

  #start(place: number, members: number): Member {
    let joined: (QuotaLedger & { leave(): void }) | undefined;
    let ledger = this.#ledger;
    let hear: Parameters<QuotaLedger['onLeft']>[0] = () => {};
    const join = (): void => {
      ledger = this.#ledger;
      joined = ledger.join(`${this.#joined++}`);
      joined.onLeft((left) => this.clock.after(this.delayMs(), () => hear({ ...left })));
    };
    join();
    const passed = <T>(value: T): Promise<T> =>
      new Promise((resolve) => this.clock.after(this.delayMs(), () => resolve(value)));
    const remote: QuotaLedger = {
      members,
      async settle(asks) {
        const asked = ledger;
        await passed(undefined);
        if (joined === undefined || asked !== ledger) throw new Error('the ledger is gone');
        const shares = await joined.settle(asks);
        await passed(undefined);
        if (asked !== ledger) throw new Error('the ledger is gone');
        return shares;
      },
      onLeft(heard) {
        hear = heard;
        return () => {
          hear = () => {};
        };
      },
    };
    const quota = new SharedQuota({
      ledger: remote,
      clock: this.clock,
      afterTurn: (work) => this.clock.after(0, work),
    });
    this.#rejoin[place] = () => {
      joined = undefined;
      this.clock.after(this.delayMs(), () => {
        join();
        quota.retell();
      });
    };
    const limiter = new RateLimiter({ free: SHARED_LIMIT, identities: 100 }, this.clock, (name, capacity) =>
      quota.createBook(name, capacity),
    );
    return { limiter, quota, leave: () => joined?.leave() };
  }
}

const CALLER = Uint8Array.of(10, 0, 0, 1).buffer;
