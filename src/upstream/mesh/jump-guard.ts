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

interface Sighting {
  readonly slot: Slot;
  readonly atMs: number;
}

/** The time of a slot as long as nothing is known of it: a quarter of what Solana aims at, the longest it may be. */
const FIRST_SLOT_MS = 100;
const LONGEST_SLOT_MS = 400;
const SHORTEST_SLOT_MS = 5;
/** The pace is taken over no less than this, so that a burst doesn't pass for one. */
const PACE_MS = 1000;
/** Nodes this near to each other agree on where the chain is. */
const AGREED_SLOTS = 20;
/** A steady pace may be ahead of the time by so many slots: skipped slots come as one step. */
const STEADY_AHEAD = 2;

/**
 * Decides which slots of one commitment are believed, so that no single node can carry the tip away with it (I16). A
 * step beyond what the time explains is believed when a second node is near it, or when the only node goes on from it
 * steadily. Where two others agree, none is believed that is out of their sight.
 */
export class JumpGuard {
  readonly #options: JumpGuardOptions;
  readonly #seen = new Map<string, Sighting>();
  /** Where a node stood when it jumped, and where it has gone on to since. */
  readonly #jumped = new Map<string, { readonly from: Sighting; readonly last: Slot }>();
  #top: Sighting | undefined;
  /** How far the top is ahead of what the time explains. */
  #excess = 0;
  #slotMs = FIRST_SLOT_MS;
  #paceFrom: Sighting | undefined;

  constructor(options: JumpGuardOptions) {
    this.#options = options;
  }

  /** True for a slot that is believed to have been. */
  believes(slot: Slot): boolean {
    return this.#top !== undefined && slot <= this.#top.slot;
  }

  /** True while a node tells of slots that are not believed. */
  doubts(witness: string): boolean {
    return this.#jumped.has(witness) && !this.believes(this.#seen.get(witness)?.slot ?? 0);
  }

  /** Takes note of where a node says that it is. */
  show(witness: string, slot: Slot): void {
    const atMs = this.#options.clock.monotonic();
    if (this.#seen.get(witness)?.slot !== slot) this.#seen.set(witness, { slot, atMs });
    if (this.believes(slot)) {
      this.#jumped.delete(witness);
      return;
    }
    const others = this.#others(witness);
    const alone = others.length === 0;
    const { maxJump } = this.#options;
    const far = slot - (agreed(others) ?? Number.POSITIVE_INFINITY);
    /** How far it is ahead of the nearest other; less than 0 if behind. */
    const ahead = others.map((other) => slot - other).filter((slots) => Math.abs(slots) <= maxJump);
    const witnessed = ahead.length > 0;
    const excess = witnessed ? Math.max(0, Math.min(...ahead)) : this.#excessAt(slot);
    if (far <= AGREED_SLOTS && (excess <= maxJump || (alone && this.#isSteady(witness, slot)))) {
      this.#excess = excess <= maxJump ? excess : 0;
      this.#top = { slot, atMs };
      this.#jumped.delete(witness);
      if (alone || witnessed) this.#learnPace(this.#top);
    } else if (!this.#jumped.has(witness)) {
      this.#jumped.set(witness, { from: { slot, atMs }, last: slot });
    }
  }

  /** By how much the time doesn't explain that the top is here. */
  #excessAt(slot: Slot): number {
    if (this.#top === undefined) return 0;
    return Math.max(0, this.#excess + slot - this.#top.slot - this.#slotsSince(this.#top.atMs));
  }

  /** The only node has jumped: whether it has since gone on for long enough, at a pace that the time explains. */
  #isSteady(witness: string, slot: Slot): boolean {
    const jump = this.#jumped.get(witness);
    if (jump === undefined) return false;
    const { from, last } = jump;
    if (slot < last || slot - from.slot > STEADY_AHEAD + this.#slotsSince(from.atMs)) {
      this.#jumped.delete(witness); // another jump: it begins anew
      return false;
    }
    this.#jumped.set(witness, { from, last: slot });
    return slot - from.slot >= this.#options.steadySlots;
  }

  #learnPace(now: Sighting): void {
    const from = this.#paceFrom;
    if (from !== undefined && now.atMs - from.atMs < PACE_MS) return;
    this.#paceFrom = now;
    if (from === undefined || now.slot === from.slot) return;
    const slotMs = (now.atMs - from.atMs) / (now.slot - from.slot);
    this.#slotMs = Math.min(Math.max((this.#slotMs + slotMs) / 2, SHORTEST_SLOT_MS), LONGEST_SLOT_MS);
  }

  /** Where the others are by now, as far as they move. */
  #others(witness: string): readonly number[] {
    const freshFrom = this.#options.clock.monotonic() - this.#options.silenceMs;
    return [...this.#seen].flatMap(([id, { slot, atMs }]) =>
      id !== witness && atMs >= freshFrom ? [slot + this.#slotsSince(atMs)] : [],
    );
  }

  #slotsSince(atMs: number): number {
    return (this.#options.clock.monotonic() - atMs) / this.#slotMs;
  }
}

/** The furthest of those that have another near them; undefined where no two agree. */
export function agreed(slots: readonly number[]): number | undefined {
  const furthestFirst = slots.toSorted((a, b) => b - a);
  return furthestFirst.find((slot, i) => slot - (furthestFirst[i + 1] ?? Number.NEGATIVE_INFINITY) <= AGREED_SLOTS);
}
