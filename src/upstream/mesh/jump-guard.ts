import type { Clock } from '../../domain/clock.ts';
import type { Slot } from '../../domain/slot.ts';

export interface JumpGuardOptions {
  readonly clock: Clock;
  /** Slots beyond what the elapsed time explains that one node alone may report. */
  readonly maxJump: number;
  /** Slots that the only node must advance steadily after a bigger step until its slots are accepted. */
  readonly steadySlots: number;
  /** Time without a new slot after which a node is no witness. */
  readonly silenceMs: number;
}

interface Observation {
  readonly slot: Slot;
  readonly atMs: number;
}

/** Assumed slot time until one is measured: a quarter of Solana's 400 ms target, which is the longest assumed. */
const INITIAL_SLOT_MS = 100;
const MAX_SLOT_MS = 400;
const MIN_SLOT_MS = 5;
/** Shortest time over which the slot time is measured, so that a burst doesn't distort it. */
const SLOT_TIME_WINDOW_MS = 1000;
/** Distance within which two nodes agree on the slot of the chain. */
const AGREEMENT_SLOTS = 20;
/** Slots that a steady advance may be ahead of the elapsed time: skipped slots come as one step. */
const STEADY_TOLERANCE_SLOTS = 2;

/**
 * Decides which slots of one commitment are accepted, so that no single node can advance the tip at will (I16). A step
 * beyond what the elapsed time explains is accepted when a second node is near it, or when the only node advances
 * steadily from there. Where two other nodes agree, no slot far from theirs is accepted.
 */
export class JumpGuard {
  readonly #options: JumpGuardOptions;
  readonly #observations = new Map<string, Observation>();
  /** Slot of each node when it jumped, and its latest slot since. */
  readonly #jumps = new Map<string, { readonly from: Observation; readonly last: Slot }>();
  #acceptedTip: Observation | undefined;
  /** Slots by which the accepted tip is ahead of what the elapsed time explains. */
  #aheadSlots = 0;
  #slotMs = INITIAL_SLOT_MS;
  #slotTimeFrom: Observation | undefined;

  constructor(options: JumpGuardOptions) {
    this.#options = options;
  }

  /** Tells whether the chain is known to have reached a slot. */
  isAccepted(slot: Slot): boolean {
    return this.#acceptedTip !== undefined && slot <= this.#acceptedTip.slot;
  }

  /** Tells whether a node reports slots that are not accepted. */
  isSuspect(nodeId: string): boolean {
    return this.#jumps.has(nodeId) && !this.isAccepted(this.#observations.get(nodeId)?.slot ?? 0);
  }

  /** Observes a slot that a node reports. */
  observe(nodeId: string, slot: Slot): void {
    const atMs = this.#options.clock.monotonic();
    if (this.#observations.get(nodeId)?.slot !== slot) this.#observations.set(nodeId, { slot, atMs });
    if (this.isAccepted(slot)) {
      this.#jumps.delete(nodeId);
      return;
    }
    const otherSlots = this.#slotsOfOthers(nodeId);
    const isAlone = otherSlots.length === 0;
    const { maxJump } = this.#options;
    const beyondAgreed = slot - (highestAgreedSlot(otherSlots) ?? Number.POSITIVE_INFINITY);
    // Distances to the others nearby; less than 0 for those ahead of it.
    const aheadOfNearby = otherSlots.map((other) => slot - other).filter((slots) => Math.abs(slots) <= maxJump);
    const isCorroborated = aheadOfNearby.length > 0;
    const aheadSlots = isCorroborated ? Math.max(0, Math.min(...aheadOfNearby)) : this.#aheadSlotsAt(slot);
    if (beyondAgreed <= AGREEMENT_SLOTS && (aheadSlots <= maxJump || (isAlone && this.#isSteady(nodeId, slot)))) {
      this.#aheadSlots = aheadSlots <= maxJump ? aheadSlots : 0;
      this.#acceptedTip = { slot, atMs };
      this.#jumps.delete(nodeId);
      if (isAlone || isCorroborated) this.#updateSlotTime(this.#acceptedTip);
    } else if (!this.#jumps.has(nodeId)) {
      this.#jumps.set(nodeId, { from: { slot, atMs }, last: slot });
    }
  }

  /** Returns by how many slots a new tip is ahead of what the elapsed time explains. */
  #aheadSlotsAt(slot: Slot): number {
    if (this.#acceptedTip === undefined) return 0;
    return Math.max(0, this.#aheadSlots + slot - this.#acceptedTip.slot - this.#elapsedSlots(this.#acceptedTip.atMs));
  }

  /** Tells whether the only node has, since its jump, advanced far enough and no faster than the time explains. */
  #isSteady(nodeId: string, slot: Slot): boolean {
    const jump = this.#jumps.get(nodeId);
    if (jump === undefined) return false;
    const { from, last } = jump;
    if (slot < last || slot - from.slot > STEADY_TOLERANCE_SLOTS + this.#elapsedSlots(from.atMs)) {
      this.#jumps.delete(nodeId); // another jump restarts the count
      return false;
    }
    this.#jumps.set(nodeId, { from, last: slot });
    return slot - from.slot >= this.#options.steadySlots;
  }

  #updateSlotTime(now: Observation): void {
    const from = this.#slotTimeFrom;
    if (from !== undefined && now.atMs - from.atMs < SLOT_TIME_WINDOW_MS) return;
    this.#slotTimeFrom = now;
    if (from === undefined || now.slot === from.slot) return;
    const slotMs = (now.atMs - from.atMs) / (now.slot - from.slot);
    this.#slotMs = Math.min(Math.max((this.#slotMs + slotMs) / 2, MIN_SLOT_MS), MAX_SLOT_MS);
  }

  /** Estimates the slots of the other nodes by now. */
  #slotsOfOthers(nodeId: string): readonly number[] {
    const freshSinceMs = this.#options.clock.monotonic() - this.#options.silenceMs;
    return [...this.#observations].flatMap(([id, { slot, atMs }]) =>
      id !== nodeId && atMs >= freshSinceMs ? [slot + this.#elapsedSlots(atMs)] : [],
    );
  }

  #elapsedSlots(atMs: number): number {
    return (this.#options.clock.monotonic() - atMs) / this.#slotMs;
  }
}

/** Finds the highest slot that another one is near; undefined where no two agree. */
export function highestAgreedSlot(slots: readonly number[]): number | undefined {
  const furthestFirst = slots.toSorted((a, b) => b - a);
  return furthestFirst.find((slot, i) => slot - (furthestFirst[i + 1] ?? Number.NEGATIVE_INFINITY) <= AGREEMENT_SLOTS);
}
