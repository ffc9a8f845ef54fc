import { RateLimiter } from '../../../src/gateway/access/limits/rate-limiter.ts';
import { CounterMember } from '../../../src/gateway/access/quota/counter-member.ts';
import type {
  CounterConnection,
  CounterListener,
  CounterStore,
} from '../../../src/gateway/access/quota/counter-store.ts';
import { MemoryStore } from '../../../src/gateway/fleet/counters/memory-store.ts';
import { ManualClock } from '../manual-clock.ts';

/** The limit that members share. */
export const SHARED_LIMIT = { units: 100, windowSeconds: 10 };

interface Member {
  readonly limiter: RateLimiter;
  readonly counters: CounterMember;
}

/** Rate limiters that share a limit through a store, by messages that last a while. */
export class QuotaMembers {
  readonly clock = new ManualClock();
  /** The time that each message from and to a member lasts. */
  delayMs: (member: number) => number = () => 0;
  readonly #members: Member[] = [];
  #store = new MemoryStore(1000, this.clock);
  #rejoin: (() => void)[] = [];
  #joined = 0;

  constructor(count: number) {
    for (let i = 0; i < count; i++) this.#members.push(this.#start(i, count));
  }

  /** Lets promises and messages without delay arrive. */
  async arrive(): Promise<void> {
    for (let i = 0; i < 24; i++) {
      await Promise.resolve();
      this.clock.advance(0);
    }
  }

  /** Returns how a member sees the caller that is tested. */
  limiterOf(member: number): RateLimiter {
    const { limiter } = this.#members[member] as Member;
    return limiter;
  }

  consume(member: number, units = 1) {
    return this.limiterOf(member).consume(CALLER, units);
  }

  peek(member: number) {
    return { ...this.limiterOf(member).peek(CALLER) };
  }

  /** Ends a member, and starts another in its place. */
  kill(member: number): void {
    const { counters } = this.#members[member] as Member;
    counters.close();
    this.#members[member] = this.#start(member, this.#members.length);
  }

  /** Ends the store, and starts another, which members join one by one. */
  killLedger(): void {
    this.#store = new MemoryStore(1000, this.clock);
    for (const rejoin of this.#rejoin) rejoin();
  }

  #start(place: number, members: number): Member {
    let listener: CounterListener | undefined;
    let joined: CounterConnection | undefined;
    let store = this.#store;
    const join = (): void => {
      store = this.#store;
      joined = store.join(`${this.#joined++}`, {
        onTotal: (total) => this.clock.after(this.delayMs(place), () => listener?.onTotal({ ...total })),
        onStale: (id) => listener?.onStale(id),
      });
    };
    join();
    const passed = <T>(value: T): Promise<T> =>
      new Promise((resolve) => this.clock.after(this.delayMs(place), () => resolve(value)));
    const remote: CounterStore = {
      join: (_, joining) => {
        listener = joining;
        return {
          members: () => members,
          async report(reports) {
            const reported = store;
            await passed(undefined);
            if (joined === undefined || reported !== store) throw new Error('the store is gone');
            const answers = await joined.report(reports);
            await passed(undefined);
            if (reported !== store) throw new Error('the store is gone');
            return answers;
          },
          leave: () => {
            listener = undefined;
            joined?.leave();
          },
        };
      },
    };
    const afterTurn = (work: () => void) => this.clock.after(0, work);
    const counters = new CounterMember({ store: remote, member: '', clock: this.clock, afterTurn });
    this.#rejoin[place] = () => {
      joined = undefined;
      this.clock.after(this.delayMs(place), () => {
        join();
        listener?.onStale();
      });
    };
    const limiter = new RateLimiter({ free: SHARED_LIMIT, trackedAddresses: 100 }, this.clock, (name, capacity) =>
      counters.createBook(name, capacity),
    );
    return { limiter, counters };
  }
}

const CALLER = Uint8Array.of(10, 0, 0, 1).buffer;
