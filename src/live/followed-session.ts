import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import { SLOT_MS, type Slot } from '../domain/slot.ts';
import { BoundedWait } from './bounded-wait.ts';
import type { LeaseHolder } from './lease-holder.ts';
import type { PooledSession, PoolItem } from './session-pool.ts';
import type { Watermark } from './watermark.ts';

/** How often a state is read, as gateways tell each other. */
export interface ToldHeat {
  readonly rank: number;
  readonly tipAtLastRead: Slot;
}

/** A state that can be copied from a gateway which keeps it live. */
export interface FollowedState<V> extends PoolItem {
  readonly commitment: Commitment;
  /** The slot of the present value; -1 while nothing is known. */
  readonly slot: Slot;
  /** The tip at which it became ineligible to be kept live; undefined while it is eligible. */
  readonly tipAtIneligible: Slot | undefined;
  readonly holder: LeaseHolder;
  /** Joins a session, here one whose watermarks come with the values. */
  attach(watermark: Watermark | undefined): void;
  /** Leaves the session and revokes the lease. */
  detach(): void;
  /** Takes over a value and its lease. Returns whether the value is another one. */
  adopt(slot: Slot, value: V, watermark: Watermark): boolean;
  /** Ends the lease that was taken over: a newer value will come, which readers may wait for. */
  endAdopted(openWait: () => BoundedWait): void;
  /** Forgets the value, which turned out to be wrong. */
  invalidate(): void;
}

/** A value as the gateway that keeps it live has told it. */
interface Told<V> {
  readonly slot: Slot;
  readonly value: V;
  readonly watermark: Watermark;
}

/** The gateway that keeps states live, as their follower sees it. */
export interface FollowLink<T> {
  /** Asks it to keep states live, and to tell their values. */
  follow(states: readonly T[]): void;
  /** Tells it that states are still read. */
  touch(states: readonly T[]): void;
}

export interface FollowedSessionOptions<T, V> extends FollowLink<T> {
  readonly clock: Clock;
  /** Returns the newest slot that the cluster is known to have reached. */
  tip(commitment: Commitment): Slot | undefined;
  /** The slots without a read after which a state isn't kept live any more. */
  readonly idleSlots: number;
  keyOf(state: T): string;
  onChange(state: T, slot: Slot): void;
  /** Applies a value at processed, which has no lease; undefined when the last one was rolled back. */
  applyProcessed?(state: T, slot: Slot, value: V | undefined): void;
  /** Called when the other gateway doesn't keep a state. */
  onLeft(state: T): void;
  onLost(states: Iterable<T>, reason: string): void;
}

/** How often in the time after which it would be given up a state is told to be read still. */
const TOUCHES_PER_IDLE_TIME = 3;

/** The slots after which a state is asked for again that was not told: the question or the answer may be lost. */
const ASK_AGAIN_SLOTS = 16;

/** The longest time that a reader waits for the value that replaces one. */
const MAX_WAIT_MS = 2 * SLOT_MS;

/** The most states that one question names. */
const MAX_ASKED = 1000;

/**
 * States that another gateway keeps live, copied. It takes the place of a session with a node: no subscription is made, and
 * nothing is read. A value is taken over together with the watermark that dates it, and never for slots below those that
 * it was claimed for here before: after a change of that gateway the next one may be a little behind.
 */
export class FollowedSession<T extends FollowedState<V>, V> implements PooledSession<T> {
  readonly capacity = Number.POSITIVE_INFINITY;
  readonly maxSubscriptions = Number.POSITIVE_INFINITY;
  readonly mayGrow = false;
  readonly syncing = 0;
  readonly #options: FollowedSessionOptions<T, V>;
  readonly #states = new Map<string, T>();
  /** The states without a lease, and the values that are told of them but can't be claimed yet. */
  readonly #awaited = new Map<T, Told<V> | undefined>();
  readonly #openWait = (): BoundedWait => new BoundedWait(this.#options.clock, MAX_WAIT_MS);
  #toAsk: T[] = [];
  #tipAtLastAsk: Slot = 0;

  constructor(options: FollowedSessionOptions<T, V>) {
    this.#options = options;
  }

  get size(): number {
    return this.#states.size;
  }

  add(state: T): void {
    this.#states.set(this.#options.keyOf(state), state);
    state.attach(undefined);
    this.#awaited.set(state, undefined);
    if (this.#toAsk.push(state) === 1) queueMicrotask(() => this.#ask());
  }

  remove(state: T): void {
    const key = this.#options.keyOf(state);
    if (this.#states.get(key) !== state) return;
    this.#states.delete(key);
    this.#awaited.delete(state);
    state.detach();
  }

  /** Applies a value that was told, and the watermark that dates it; undefined for a value at processed. */
  onTold(key: string, slot: Slot, value: V, watermark: Watermark | undefined): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    if (watermark === undefined) {
      this.#awaited.delete(state);
      this.#options.applyProcessed?.(state, slot, value);
    } else this.#settle(state, { slot, value, watermark });
  }

  /** Ends the lease of a state, which a newer value is to replace. */
  onEnded(key: string): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    this.#awaited.set(state, undefined);
    state.endAdopted(this.#openWait);
  }

  /** Forgets a value that turned out to be wrong. */
  onWrong(key: string): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    this.#awaited.set(state, undefined);
    state.invalidate();
  }

  /** Rolls back a state at processed. */
  onRolledBack(key: string, slot: Slot): void {
    const state = this.#states.get(key);
    if (state !== undefined) this.#options.applyProcessed?.(state, slot, undefined);
  }

  /** Gives up a state that the other gateway doesn't keep. */
  onLeft(key: string): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    this.remove(state);
    this.#options.onLeft(state);
  }

  /** Takes over what waited for a watermark; what a lost one dated waits again. */
  onWatermark(watermark: Watermark): void {
    if (watermark.isLost) {
      for (const state of this.#states.values()) {
        if (state.holder.lease?.watermark === watermark) this.#awaited.set(state, undefined);
      }
    }
    for (const [state, told] of this.#awaited) if (told !== undefined) this.#settle(state, told);
  }

  /** Asks again for what was not told, and tells what is read still; called when the tip has advanced. */
  checkLag(commitment: Commitment): void {
    const tip = this.#options.tip('processed');
    if (commitment !== 'processed' || tip === undefined) return;
    if (tip - this.#tipAtLastAsk >= ASK_AGAIN_SLOTS) {
      this.#toAsk = [...this.#awaited.keys()].slice(0, MAX_ASKED);
      this.#ask();
    }
    this.#touch(tip);
  }

  /** Compares nothing: the gateway that keeps the states does. */
  async audit(): Promise<number> {
    return 0;
  }

  /** Gives up all states, and ends what still dates them. */
  close(reason = 'it is not followed any more'): void {
    const states = [...this.#states.values()];
    for (const state of states) if (state.holder.lease?.watermark.isLost === false) state.endAdopted(this.#openWait);
    this.#states.clear();
    this.#awaited.clear();
    this.#toAsk = [];
    this.#options.onLost(states, reason);
  }

  #ask(): void {
    const states = this.#toAsk.filter((state) => this.#awaited.has(state));
    this.#toAsk = [];
    this.#tipAtLastAsk = this.#options.tip('processed') ?? 0;
    for (const state of states) recordSubscriber(state, this.#tipAtLastAsk);
    for (let i = 0; i < states.length; i += MAX_ASKED) this.#options.follow(states.slice(i, i + MAX_ASKED));
  }

  /** Takes a value over if its slot was reached and is none below those claimed before; else it waits for its watermark. */
  #settle(state: T, told: Told<V>): void {
    const { slot, value, watermark } = told;
    const coveredSlot = Math.max(slot, watermark.slot);
    const claimedSlot = Math.max(state.slot, state.holder.claimedSlot);
    const tip = this.#options.tip(state.commitment) ?? -1;
    if (watermark.isLost || coveredSlot > tip || coveredSlot < claimedSlot) {
      this.#awaited.set(state, watermark.isLost ? undefined : told);
      state.endAdopted(this.#openWait);
      return;
    }
    this.#awaited.delete(state);
    if (state.adopt(slot, value, watermark)) this.#options.onChange(state, state.slot);
  }

  /** Examines some states in turn, and tells which of them are read: each is told before it would be given up. */
  #touch(tip: Slot): void {
    const { idleSlots, keyOf, touch } = this.#options;
    const intervalSlots = Math.ceil(idleSlots / TOUCHES_PER_IDLE_TIME);
    const touched: T[] = [];
    const states = this.#states.values();
    for (let i = Math.ceil(this.size / intervalSlots); i > 0; i--) {
      const state = states.next().value;
      if (state === undefined) break;
      recordSubscriber(state, tip);
      if (tip - (state.holder.heat.tipAtLastRead ?? 0) <= intervalSlots) touched.push(state);
      const key = keyOf(state);
      this.#states.delete(key);
      this.#states.set(key, state); // at the end: the others have their turn first
    }
    for (let i = 0; i < touched.length; i += MAX_ASKED) touch(touched.slice(i, i + MAX_ASKED));
  }
}

/** Counts a subscriber as a reader: the other gateway knows readers only. */
function recordSubscriber({ holder }: { readonly holder: LeaseHolder }, tip: Slot): void {
  if (holder.isSubscribed) holder.heat.record(tip);
}
