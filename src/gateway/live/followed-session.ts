import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { batchesOf } from '../../shared/runtime/map-in-chunks.ts';
import { claimedSlotOf, type LiveState, liveKeyOf, ownKeyOf } from './live-state.ts';
import type { PooledSession } from './session-pool.ts';
import type { Watermark } from './watermark.ts';

export interface ReadRate {
  readonly rank: number;
  readonly tipAtLastRead: Slot;
}

/** Why a value holds no longer: a newer one comes, it was wrong, its fork was left, or it isn't kept live any more. */
export type ValueEnd = 'replaced' | 'wrong' | 'rolled-back' | 'left';

interface Published<V> {
  readonly slot: Slot;
  readonly value: V;
  readonly watermark: Watermark;
  /** The last slot at which the value before is known to hold; undefined where nobody needs it. */
  readonly heldUntil: Slot | undefined;
}

export interface FollowedSessionOptions<T, V> {
  /** Reports states that are read to the gateway that keeps them live; `needsValues` if their values are missing here. */
  report(states: readonly T[], needsValues: boolean): void;
  tip(commitment: Commitment): Slot | undefined;
  /** Returns the slots without a read after which a state isn't kept live any more. */
  idleSlots(): number;
  onChange(state: T, slot: Slot): void;
  /** Called when a state is dated by another lease, or by none any more; `isWrong` if what it was turned out to be wrong. */
  onLease(state: T, isWrong: boolean): void;
  /** Applies a value at processed, which has no lease; undefined when the last one was rolled back. */
  applyProcessed?(state: T, slot: Slot, value: V | undefined): void;
  onLeft(state: T): void;
  onLost(states: Iterable<T>, reason: string): void;
}

/** How often a state that is still read is reported in the time after which it would be given up. */
const REPORTS_PER_IDLE_TIME = 3;

/** The slots after which a missing value is requested again: the request or the value may be lost. */
const RETRY_SLOTS = 16;

/** The most states that one report names. */
const MAX_REPORTED = 1000;

/**
 * States that another gateway keeps live, copied. It takes the place of a session with a node: no subscription is made, and
 * nothing is read. A value is adopted together with the watermark that dates it, and never for slots below those that
 * it was claimed for here before: after a change of that gateway the next one may be a little behind.
 */
export class FollowedSession<T extends LiveState<V>, V> implements PooledSession<T> {
  /** It makes no subscription. */
  readonly connection = this;
  readonly capacity = Number.POSITIVE_INFINITY;
  readonly maxSubscriptions = Number.POSITIVE_INFINITY;
  readonly mayGrow = false;
  /** It compares nothing: the gateway that keeps the states does. */
  readonly sessionAudit = {
    checkLag: (commitment: Commitment) => this.#checkLag(commitment),
    audit: async () => 0,
    distrust: () => {},
  };
  readonly syncing = 0;
  readonly #options: FollowedSessionOptions<T, V>;
  readonly #states = new Map<string, T>();
  /** The states without a lease, and the values that have come of them but can't be claimed yet. */
  readonly #awaited = new Map<T, Published<V> | undefined>();
  #toRequest: T[] = [];
  #tipAtLastRequest: Slot = 0;

  constructor(options: FollowedSessionOptions<T, V>) {
    this.#options = options;
  }

  get size(): number {
    return this.#states.size;
  }

  add(state: T): void {
    this.#states.set(ownKeyOf(state), state);
    state.attach(undefined);
    this.#awaited.set(state, undefined);
    if (this.#toRequest.push(state) === 1) queueMicrotask(() => this.#request());
  }

  remove(state: T): void {
    const key = liveKeyOf(state);
    if (this.#states.get(key) !== state) return;
    this.#states.delete(key);
    this.#awaited.delete(state);
    state.detach();
    this.#options.onLease(state, false);
  }

  /** Applies a value, and the watermark that dates it; undefined for a value at processed. */
  onValue(key: string, slot: Slot, value: V, watermark: Watermark | undefined, heldUntil?: Slot): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    if (watermark === undefined) {
      this.#awaited.delete(state);
      this.#options.applyProcessed?.(state, slot, value);
    } else this.#settle(state, { slot, value, watermark, heldUntil });
  }

  /** Ends the lease of a state, forgets a wrong value, rolls back one at processed, or gives up what isn't kept. */
  onEnded(key: string, reason: ValueEnd = 'replaced', slot: Slot = 0): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    if (reason === 'rolled-back') this.#options.applyProcessed?.(state, slot, undefined);
    else if (reason === 'left') {
      this.remove(state);
      this.#options.onLeft(state);
    } else {
      this.#awaited.set(state, undefined);
      const isWrong = reason === 'wrong';
      if (isWrong) state.invalidate();
      else state.endAdopted();
      this.#options.onLease(state, isWrong);
    }
  }

  /** Adopts what waited for a watermark; what a lost one dated waits again. */
  onWatermark(watermark: Watermark): void {
    if (watermark.isLost) {
      for (const state of this.#states.values()) {
        if (state.lease?.watermark === watermark) this.#awaited.set(state, undefined);
      }
    }
    for (const [state, value] of this.#awaited) if (value !== undefined) this.#settle(state, value);
  }

  /** Requests missing values again, and reports what is still read; called when the tip has advanced. */
  #checkLag(commitment: Commitment): void {
    const tip = this.#options.tip('processed');
    if (commitment !== 'processed' || tip === undefined) return;
    if (tip - this.#tipAtLastRequest >= RETRY_SLOTS) {
      this.#toRequest = [...this.#awaited.keys()].slice(0, MAX_REPORTED);
      this.#request();
    }
    this.#reportRead(tip);
  }

  /** Gives up all states, and ends what still dates them. */
  close(reason = 'it is not followed any more'): void {
    const states = [...this.#states.values()];
    for (const state of states) {
      if (state.lease?.watermark.isLost === false) state.endAdopted();
      this.#options.onLease(state, false);
    }
    this.#states.clear();
    this.#awaited.clear();
    this.#toRequest = [];
    this.#options.onLost(states, reason);
  }

  #request(): void {
    const states = this.#toRequest.filter((state) => this.#awaited.has(state));
    this.#toRequest = [];
    this.#tipAtLastRequest = this.#options.tip('processed') ?? 0;
    for (const state of states) recordSubscriber(state, this.#tipAtLastRequest);
    for (const batch of batchesOf(states, MAX_REPORTED)) this.#options.report(batch, true);
  }

  /** Adopts a value if its slot was reached and is none below those claimed before; else it waits for its watermark. */
  #settle(state: T, published: Published<V>): void {
    const { slot, value, watermark, heldUntil } = published;
    const coveredSlot = Math.max(slot, watermark.slot);
    const claimedSlot = Math.max(state.slot, claimedSlotOf(state));
    const tip = this.#options.tip(state.commitment) ?? -1;
    if (watermark.isLost || coveredSlot > tip || coveredSlot < claimedSlot) {
      this.#awaited.set(state, watermark.isLost ? undefined : published);
      state.endAdopted();
      this.#options.onLease(state, false);
      return;
    }
    this.#awaited.delete(state);
    const hasChanged = state.adopt(slot, value, watermark, heldUntil);
    this.#options.onLease(state, false);
    if (hasChanged) this.#options.onChange(state, state.slot);
  }

  /** Examines some states in turn, and reports those that are read: each before it would be given up. */
  #reportRead(tip: Slot): void {
    const { idleSlots, report } = this.#options;
    const intervalSlots = Math.ceil(idleSlots() / REPORTS_PER_IDLE_TIME);
    const read: T[] = [];
    const states = this.#states.entries();
    for (let i = Math.ceil(this.size / intervalSlots); i > 0; i--) {
      const [key, state] = states.next().value ?? [];
      if (key === undefined || state === undefined) break;
      recordSubscriber(state, tip);
      if (tip - (state.tipAtLastRead ?? 0) <= intervalSlots) read.push(state);
      this.#states.delete(key);
      this.#states.set(key, state); // at the end: the others have their turn first
    }
    for (const batch of batchesOf(read, MAX_REPORTED)) report(batch, false);
  }
}

/** Counts a subscriber as a reader: the other gateway knows readers only. */
function recordSubscriber(state: LiveState, tip: Slot): void {
  if (state.subscriptions !== undefined) state.recordRead(tip);
}
