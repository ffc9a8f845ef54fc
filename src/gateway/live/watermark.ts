import type { Clock } from '../../shared/domain/clock.ts';
import type { LeaseSource } from '../../shared/domain/lease.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { BoundedWait } from './bounded-wait.ts';

/** The lag behind the cluster from which on other nodes are called instead. */
export const MAX_LAG_SLOTS = 8;

/** The newest slot up to which all notifications of a session have arrived, at one commitment (I2). */
export class Watermark implements LeaseSource {
  /** Itself, as all leases name it that it alone advances. */
  readonly asSources: readonly [Watermark] = [this];
  readonly #tip: () => Slot | undefined;
  readonly #isRenewing: () => boolean;
  readonly #parentOf: (slot: Slot) => Slot | undefined;
  /** The node of its session; undefined for one that another gateway reports. */
  readonly nodeId: string | undefined;
  readonly #waits = new Set<BoundedWait>();
  #slot: Slot = -1;
  #clockSlot: Slot = -1;
  #validatedMs = Number.NEGATIVE_INFINITY;
  #isLost = false;
  #isDenied = false;
  #isBehind = false;

  /**
   * `tip` returns the newest slot that any node has reported at this commitment. `isRenewing`
   * returns true while what was kept over a lost session comes to be live over another. `nodeId` is the node of the session,
   * `parentOf` what it names as the parent of a slot.
   */
  constructor(
    tip: () => Slot | undefined,
    isRenewing: () => boolean = () => false,
    nodeId?: string,
    parentOf: (slot: Slot) => Slot | undefined = () => undefined,
  ) {
    this.#tip = tip;
    this.#isRenewing = isRenewing;
    this.nodeId = nodeId;
    this.#parentOf = parentOf;
  }

  get slot(): Slot {
    return this.#slot;
  }

  /** True once what it covered turned out to be wrong. */
  get isDenied(): boolean {
    return this.#isDenied;
  }

  /** Monotonic milliseconds of the last Clock update. */
  get validatedMs(): number {
    return this.#validatedMs;
  }

  /** The state of its leases that are not revoked. */
  get state(): LeaseSource['state'] {
    if (this.#isLost) return this.#isRenewing() ? 'renewing' : 'lost';
    return this.#isBehind ? 'behind' : 'active';
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** The distance to the cluster's tip at this commitment. */
  get lagSlots(): number {
    return Math.max(0, (this.#tip() ?? this.#slot) - this.#slot);
  }

  /**
   * Advances to `previous`, the slot of the Clock update before the present one: a node sends notifications in order, so
   * all up to that slot have arrived, while those of the present slot may still be on their way.
   */
  advance(previous: Slot | undefined, nowMs: number, clockSlot = previous ?? -1): void {
    if (this.#isLost) return;
    this.#clockSlot = clockSlot;
    this.#validatedMs = nowMs;
    this.#slot = Math.max(this.#slot, previous ?? -1);
    this.checkLag();
    this.#endWaits();
  }

  /** Resolves with the next Clock update, or when the session is lost; at the latest after `maxMs` milliseconds. */
  async nextUpdate(clock: Clock, maxMs: number): Promise<void> {
    if (this.#isLost) return;
    const wait = new BoundedWait(clock, maxMs);
    this.#waits.add(wait);
    await wait.done;
    this.#waits.delete(wait);
  }

  /** Returns the newest slot before this one up to which all notifications had arrived when one of this slot did. */
  completeBefore(slot: Slot): Slot {
    const complete = this.#clockSlot < slot ? this.#clockSlot : Math.min(this.#slot, slot - 1);
    const parent = this.#parentOf(slot);
    return parent !== undefined && parent <= complete ? slot - 1 : complete; // what is between has no block
  }

  checkLag(): void {
    this.#isBehind = this.#slot >= 0 && this.lagSlots > MAX_LAG_SLOTS;
  }

  /** Stops the watermark for good: the session is lost. */
  markLost(): void {
    this.#isLost = true;
    this.#endWaits();
  }

  /** Stops the watermark and denies what it covered so far: the session broke its order. */
  invalidate(): void {
    this.markLost();
    this.#isDenied = true;
    this.#validatedMs = Number.NEGATIVE_INFINITY;
  }

  #endWaits(): void {
    for (const wait of this.#waits) wait.finish();
  }
}
