import type { Clock } from '../../domain/clock.ts';
import type { Slot } from '../../domain/slot.ts';
import { LEAD, RESIGN } from './lead-script.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface LeaderOptions {
  readonly redis: Pick<RedisConnection, 'run'>;
  /** The name of this gateway, which no other has. */
  readonly member: string;
  /** The start of all keys of the fleet. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** The newest finalized slot; undefined as long as there is none. */
  readonly tip: () => Slot | undefined;
  /** Where `exact` is granted. */
  readonly guard: { confineTo(above: Slot, upTo: Slot): void };
  readonly onChange: (isLeader: boolean, epoch: number) => void;
}

/** The time for which the lock holds unless it is renewed, in milliseconds. */
const LOCK_MS = 1500;

/** The mean time between two attempts to take or renew it. */
const RENEW_MS = 300;

/** The time since the last renewal after which this gateway takes itself for no leader any more. */
const RESIGN_MS = 1000;

/**
 * The election of the one gateway that may sign `exact`. The lock only decides who it is; that no two sign for one slot
 * rests on the range of slots, which Redis gives out once: a leader that was stopped for long still signs within its own.
 */
export class Leader {
  readonly #options: LeaderOptions;
  /** The epoch that this gateway leads; 0 for none. */
  #epoch = 0;
  #above: Slot = 0;
  #heardEpoch = 0;
  #heardSlot: Slot = 0;
  #isClosed = false;
  #cancelAttempt = (): void => {};
  #cancelResigning = (): void => {};

  /** Signs nothing as `exact` until Redis lets it. */
  constructor(options: LeaderOptions) {
    this.#options = options;
    options.guard.confineTo(0, 0);
    void this.#attempt();
  }

  get isLeader(): boolean {
    return this.#epoch > 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelAttempt();
    if (!this.isLeader) return;
    const { redis, member } = this.#options;
    this.#resign();
    await redis.run(RESIGN, [this.#key('leader')], [member]).catch(() => {}); // else the lock ends by itself
  }

  async #attempt(): Promise<void> {
    const { clock, random, tip } = this.#options;
    const slot = tip();
    if (slot !== undefined) await this.#lead(slot).catch(() => {}); // #resign follows if that lasts
    if (!this.#isClosed)
      this.#cancelAttempt = clock.after(RENEW_MS * (0.8 + 0.4 * random()), () => void this.#attempt());
  }

  async #lead(tip: Slot): Promise<void> {
    const { redis, member, clock, guard, onChange } = this.#options;
    const askedMs = clock.monotonic();
    const keys = [this.#key('leader'), this.#key('epoch'), this.#key('exact')];
    const heard = [this.#epoch, this.#heardEpoch, this.#heardSlot];
    const answer = await redis.run(LEAD, keys, [member, LOCK_MS, ...heard, tip]);
    const [leads = 0, epoch = 0, above = 0, upTo = 0] = answer as number[];
    this.#heardEpoch = Math.max(this.#heardEpoch, epoch);
    this.#heardSlot = Math.max(this.#heardSlot, upTo);
    if (this.#isClosed) return;
    if (leads === 0) return this.#resign();
    const leftMs = askedMs + RESIGN_MS - clock.monotonic();
    if (leftMs <= 0) return;
    this.#cancelResigning();
    this.#cancelResigning = clock.after(leftMs, () => this.#resign());
    if (above >= 0) this.#above = above;
    guard.confineTo(this.#above, upTo);
    if (this.#epoch !== epoch) onChange(true, epoch);
    this.#epoch = epoch;
  }

  #resign(): void {
    this.#cancelResigning();
    if (!this.isLeader) return;
    this.#options.guard.confineTo(0, 0);
    this.#options.onChange(false, this.#epoch);
    this.#epoch = 0;
  }

  #key(name: string): string {
    return this.#options.prefix + name;
  }
}
