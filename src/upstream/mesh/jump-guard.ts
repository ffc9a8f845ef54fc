import type { Clock } from '../../domain/clock.ts';
import type { Slot } from '../../domain/slot.ts';

export interface JumpGuardOptions {
  readonly clock: Clock;
  /** How many slots more than the time explains are believed on one node's word. */
  readonly maxJump: number;
  /** How many slots a node must go on steadily after a bigger step before it is believed, when it is the only one. */
  readonly steadySlots: number;
  /** A node that was not heard of for so long is no witness. */
  readonly silenceMs: number;
}

interface Observation {
  readonly slot: Slot;
  readonly atMs: number;
}

/** The time of a slot as long as nothing is known of it: a quarter of what Solana aims at, the longest it may be. */
const INITIAL_SLOT_MS = 100;
const MAX_SLOT_MS = 400;
const MIN_SLOT_MS = 5;
/** The pace is taken over no less than this, so that a burst doesn't pass for one. */
const SLOT_TIME_WINDOW_MS = 1000;
/** Nodes this near to each other agree on where the chain is. */
const AGREEMENT_SLOTS = 20;
/** A steady pace may be ahead of the time by so many slots: skipped slots come as one step. */
const STEADY_TOLERANCE_SLOTS = 2;

/**
 * Decides which slots of one commitment are believed, so that no single node can carry the tip away with it (I16). A
 * step beyond what the time explains is believed when a second node is near it, or when the only node goes on from it
 * steadily. Where two others agree, none is believed that is out of their sight.
 */
export class JumpGuard {
  readonly #options: JumpGuardOptions;
  readonly #observations = new Map<string, Observation>();
  /** Where a node stood when it jumped, and where it has gone on to since. */
  readonly #jumps = new Map<string, { readonly from: Observation; readonly last: Slot }>();
  #acceptedTip: Observation | undefined;
  /** How far the top is ahead of what the time explains. */
  #aheadSlots = 0;
  #slotMs = INITIAL_SLOT_MS;
  #slotTimeFrom: Observation | undefined;

  constructor(options: JumpGuardOptions) {
    this.#options = options;
  }

  /** True for a slot that is believed to have been. */
  isAccepted(slot: Slot): boolean {
    return this.#acceptedTip !== undefined && slot <= this.#acceptedTip.slot;
  }

  /** True while a node tells of slots that are not believed. */
  isSuspect(nodeId: string): boolean {
    return this.#jumps.has(nodeId) && !this.isAccepted(this.#observations.get(nodeId)?.slot ?? 0);
  }

  /** Takes note of where a node says that it is. */
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
    /** How far it is ahead of the nearest other; less than 0 if behind. */
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

  /** By how much the time doesn't explain that the top is here. */
  #aheadSlotsAt(slot: Slot): number {
    if (this.#acceptedTip === undefined) return 0;
    return Math.max(0, this.#aheadSlots + slot - this.#acceptedTip.slot - this.#elapsedSlots(this.#acceptedTip.atMs));
  }

  /** The only node has jumped: whether it has since gone on for long enough, at a pace that the time explains. */
  #isSteady(nodeId: string, slot: Slot): boolean {
    const jump = this.#jumps.get(nodeId);
    if (jump === undefined) return false;
    const { from, last } = jump;
    if (slot < last || slot - from.slot > STEADY_TOLERANCE_SLOTS + this.#elapsedSlots(from.atMs)) {
      this.#jumps.delete(nodeId); // another jump: it begins anew
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

  /** Where the others are by now, as far as they move. */
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

/** The furthest of those that have another near them; undefined where no two agree. */
export function highestAgreedSlot(slots: readonly number[]): number | undefined {
  const furthestFirst = slots.toSorted((a, b) => b - a);
  return furthestFirst.find((slot, i) => slot - (furthestFirst[i + 1] ?? Number.NEGATIVE_INFINITY) <= AGREEMENT_SLOTS);
}
