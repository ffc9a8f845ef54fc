import type { Slot } from '../../../shared/domain/slot.ts';
import type { RedisChannelOptions } from '../transport/redis/redis-channel.ts';
import { type RedisConnection, refusalIn } from '../transport/redis/redis-connection.ts';
import { LEAD, LEFT_OUT_SLOTS, RESIGN } from './lead-script.ts';

export interface LeaderOptions extends Pick<RedisChannelOptions, 'member' | 'prefix' | 'clock' | 'random'> {
  readonly redis: Pick<RedisConnection, 'run'>;
  /** The newest finalized slot; undefined as long as there is none. */
  readonly tip: () => Slot | undefined;
  readonly guard: { confineTo(above: Slot, upTo: Slot): void };
  readonly onChange: (isLeader: boolean, epoch: number) => void;
}

/** The time for which the lock holds unless it is renewed, in milliseconds. */
const LOCK_MS = 1500;

/** The mean time between two attempts to acquire or renew it. */
const RENEW_MS = 300;

/** The time since the last renewal after which this gateway resigns. */
const RESIGN_MS = 1000;

/** The time without a newer finalized slot after which this gateway leaves the lead to one that follows the cluster. */
const STANDSTILL_MS = 10_000;

/** The most slots above the own tip that Redis may name: {@link LEFT_OUT_SLOTS}, and more for tips that differ. */
const MAX_SLOTS_ABOVE_TIP = LEFT_OUT_SLOTS + 96;

/**
 * The election of the one gateway that may sign `exact`. The lock only decides which it is; that no two sign for one slot
 * rests on the range of slots, which Redis gives out once: a leader that was stopped for long still signs within its own.
 */
export class Leader {
  readonly #options: LeaderOptions;
  /** The epoch that this gateway leads; 0 for none. */
  #epoch = 0;
  #above: Slot = 0;
  #known: KnownRange = { newestEpoch: 0, highestSlot: 0 };
  #tip: Slot = -1;
  #tipMs = 0;
  /** Whether the last call failed or was answered late. Redis may have given the lock all the same. */
  #hasFailed = false;
  /** Why Redis lets nobody lead: it is not believed, or refuses; undefined if it is well, or only late. */
  problem: string | undefined;
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
    this.#resign();
    await this.#release().catch(() => {}); // else the lock ends by itself
  }

  async #attempt(): Promise<void> {
    const { clock, random, tip } = this.#options;
    const slot = tip();
    if (slot !== undefined) {
      const onFailed = (thrown: unknown): boolean => {
        this.problem = refusalIn(thrown) ?? this.problem;
        return true; // #resign follows if that lasts
      };
      this.#hasFailed = await this.#leadOrRelease(slot).then(() => false, onFailed);
    }
    if (!this.#isClosed)
      this.#cancelAttempt = clock.after(RENEW_MS * (0.8 + 0.4 * random()), () => void this.#attempt());
  }

  async #leadOrRelease(tip: Slot): Promise<unknown> {
    const nowMs = this.#options.clock.monotonic();
    if (tip > this.#tip) {
      this.#tip = tip;
      this.#tipMs = nowMs;
    }
    const standsStill = nowMs - this.#tipMs > STANDSTILL_MS;
    if (standsStill) this.#resign();
    const mayHoldUnknowingly = this.#hasFailed && !this.isLeader; // that would keep others from leading
    return standsStill || mayHoldUnknowingly ? this.#release() : this.#lead(tip);
  }

  #release(): Promise<unknown> {
    const { redis, member, prefix } = this.#options;
    return redis.run(RESIGN, [`${prefix}leader`], [member]);
  }

  async #lead(tip: Slot): Promise<void> {
    const { redis, member, prefix, clock, guard, onChange } = this.#options;
    const requestedMs = clock.monotonic();
    const keys = ['leader', 'epoch', 'exact'].map((name) => prefix + name);
    const { newestEpoch, highestSlot } = this.#known;
    const own = this.#epoch;
    const answer = await redis.run(LEAD, keys, [member, LOCK_MS, own, newestEpoch, highestSlot, tip]);
    const lie = lieIn(answer, { ...this.#known, epoch: own, tip });
    this.problem = lie && `Redis is not believed: ${lie}`;
    if (lie !== undefined) throw new Error(lie);
    const [leads, epoch, above, upTo] = answer as Grant;
    this.#known = { newestEpoch: epoch, highestSlot: upTo };
    if (this.#isClosed || own !== this.#epoch) return; // what has resigned leads in a later epoch only
    if (leads === 0) return this.#resign();
    const leftMs = requestedMs + RESIGN_MS - clock.monotonic();
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
}

interface KnownRange {
  readonly newestEpoch: number;
  readonly highestSlot: Slot;
}

type Grant = readonly [leads: number, epoch: number, above: number, upTo: Slot];

/** A server that gives a range twice, or one far above the tip, could let two gateways sign `exact` for one slot. */
function lieIn(
  answer: unknown,
  { newestEpoch, highestSlot, epoch: own, tip }: KnownRange & { readonly epoch: number; readonly tip: Slot },
): string | undefined {
  if (!Array.isArray(answer) || answer.length !== 4 || !answer.every(Number.isSafeInteger))
    return 'it did not answer with four whole numbers';
  const [leads, epoch, above, upTo] = answer as unknown as Grant;
  if (leads !== 0 && leads !== 1) return `it answered ${leads} for whether this gateway leads`;
  if (leads === 1 && epoch === 0) return 'it named a leader of no epoch';
  if (epoch < newestEpoch) return `it named epoch ${epoch} after ${newestEpoch}`;
  if (upTo < highestSlot) return `it gave out slots up to ${upTo} after ${highestSlot}`;
  if (upTo > tip + MAX_SLOTS_ABOVE_TIP) return `it gave out slots up to ${upTo}, and the finalized tip is ${tip}`;
  if (leads === 0 || epoch === own) return above === -1 ? undefined : `it gave a range from ${above} to no new leader`;
  if (epoch === newestEpoch) return `it named epoch ${epoch} for two leaders`;
  if (above < highestSlot || above > upTo) return `it gave a range from ${above} to ${upTo} after ${highestSlot}`;
  return undefined;
}
