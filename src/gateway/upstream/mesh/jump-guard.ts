import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { TARGET_SLOT_MS } from '../../../shared/domain/slot-time.ts';
import { NodePace } from './node-pace.ts';

export interface JumpGuardOptions {
  readonly clock: Clock;
  /** Slots beyond what the elapsed time explains that one node alone may report. */
  readonly maxSlotJump: number;
  /** Slots that the only node must advance steadily after a bigger step until its slots are accepted. */
  readonly recoverySlots: number;
  /** Time without a new slot after which a node is no witness. */
  readonly idleTimeoutMs: number;
}

interface Observation {
  readonly slot: Slot;
  readonly atMs: number;
}

/** Steps in a row that are judged together. */
interface Burst extends Observation {
  /** Slots by which the accepted tip was ahead of what the elapsed time explained. */
  readonly aheadSlots: number;
  readonly sinceMs: number;
}

/** Distance within which two nodes agree on the slot of the chain. */
const AGREEMENT_SLOTS = 20;
/** Slots that a steady advance may be ahead of the elapsed time: skipped slots come as one step. */
const STEADY_TOLERANCE_SLOTS = 2;
/** Time for which steps are judged from where the first began: a feed sends all blocks that it was late with together. */
const BURST_MS = 10_000;

/**
 * Decides which slots of one commitment are accepted, so that no single node can advance the tip at will (I16). A step
 * beyond what the elapsed time explains is accepted when a second node is near it, or when the only node advances
 * steadily from there. Where two other nodes agree, no slot far from theirs is accepted. What the elapsed time explains
 * is measured by the slots of the other nodes where there are any, so that no node can lengthen its own steps.
 */
export class JumpGuard {
  readonly #options: JumpGuardOptions;
  readonly #paces = new Map<string, NodePace>();
  /** Slot of each node when it jumped, and its latest slot since. */
  readonly #jumps = new Map<string, { readonly from: Observation; readonly last: Slot }>();
  #acceptedTip: Observation | undefined;
  /** Slots by which the accepted tip is ahead of what the elapsed time explains. */
  #aheadSlots = 0;
  #burst: Burst | undefined;

  constructor(options: JumpGuardOptions) {
    this.#options = options;
  }

  /** The slot time in milliseconds that the nodes show: where there are two, the shorter one, else the median. */
  get slotTimeMs(): number {
    const fresh = this.#freshPaces();
    const times = (fresh.length > 0 ? fresh : [...this.#paces.values()]).map(({ slotMs }) => slotMs);
    return times.sort((a, b) => a - b)[(times.length - 1) >> 1] ?? TARGET_SLOT_MS;
  }

  isAccepted(slot: Slot): boolean {
    return this.#acceptedTip !== undefined && slot <= this.#acceptedTip.slot;
  }

  isSuspect(nodeId: string): boolean {
    return this.#jumps.has(nodeId) && !this.isAccepted(this.#paces.get(nodeId)?.slot ?? 0);
  }

  observe(nodeId: string, slot: Slot): void {
    const pace = this.#paces.get(nodeId) ?? new NodePace(this.#options.clock);
    this.#paces.set(nodeId, pace);
    pace.observe(slot);
    if (!this.isAccepted(slot)) this.#judge(nodeId, pace);
    const tip = this.#acceptedTip?.slot ?? -1;
    if (slot > tip) return;
    this.#jumps.delete(nodeId);
    pace.measure(tip - slot <= AGREEMENT_SLOTS);
  }

  #judge(nodeId: string, pace: NodePace): void {
    const { slot } = pace;
    const atMs = this.#options.clock.monotonic();
    const others = this.#freshPaces().filter((other) => other !== pace);
    const isAlone = others.length === 0;
    const witnesses = others.filter((other) => this.isAccepted(other.slot));
    const slotMs = isAlone
      ? pace.ownMs
      : Math.min(...(witnesses.length > 0 ? witnesses : [pace]).map((it) => it.witnessedMs));
    const elapsedSlots = (sinceMs: number): number => (atMs - sinceMs) / slotMs;
    const otherSlots = others.map((other) => other.slot + elapsedSlots(other.atMs)); // by now
    const { maxSlotJump } = this.#options;
    const beyondAgreed = slot - (highestAgreedSlot(otherSlots) ?? Number.POSITIVE_INFINITY);
    // Distances to the others nearby; less than 0 for those ahead of it.
    const aheadOfNearby = otherSlots.map((other) => slot - other).filter((slots) => Math.abs(slots) <= maxSlotJump);
    const burst = this.#burstAt(slot, atMs);
    const aheadOfBurst = burst.aheadSlots + slot - burst.slot - elapsedSlots(burst.atMs);
    const aheadSlots = Math.max(0, Math.min(aheadOfBurst, ...aheadOfNearby));
    const isInTime = aheadSlots <= maxSlotJump;
    const isExplained = isInTime || (isAlone && this.#isSteady(nodeId, slot, elapsedSlots));
    if (beyondAgreed <= AGREEMENT_SLOTS && isExplained) {
      this.#aheadSlots = isInTime ? aheadSlots : 0;
      this.#burst = isInTime ? burst : undefined;
      this.#acceptedTip = { slot, atMs };
    } else if (!this.#jumps.has(nodeId)) {
      this.#jumps.set(nodeId, { from: { slot, atMs }, last: slot });
    }
  }

  #burstAt(slot: Slot, atMs: number): Burst {
    if (this.#burst !== undefined && atMs - this.#burst.sinceMs < BURST_MS) return this.#burst;
    return { ...(this.#acceptedTip ?? { slot, atMs }), aheadSlots: this.#aheadSlots, sinceMs: atMs };
  }

  /** Returns true if the only node has, since its jump, advanced far enough and no faster than the time explains. */
  #isSteady(nodeId: string, slot: Slot, elapsedSlots: (sinceMs: number) => number): boolean {
    const jump = this.#jumps.get(nodeId);
    if (jump === undefined) return false;
    const { from, last } = jump;
    if (slot < last || slot - from.slot > STEADY_TOLERANCE_SLOTS + elapsedSlots(from.atMs)) {
      this.#jumps.delete(nodeId); // another jump restarts the count
      return false;
    }
    this.#jumps.set(nodeId, { from, last: slot });
    return slot - from.slot >= this.#options.recoverySlots;
  }

  #freshPaces(): readonly NodePace[] {
    const freshSinceMs = this.#options.clock.monotonic() - this.#options.idleTimeoutMs;
    return [...this.#paces.values()].filter(({ atMs }) => atMs >= freshSinceMs);
  }
}

/** Finds the highest slot that another one is near; undefined where no two agree. */
export function highestAgreedSlot(slots: readonly number[]): number | undefined {
  const furthestFirst = slots.toSorted((a, b) => b - a);
  return furthestFirst.find((slot, i) => slot - (furthestFirst[i + 1] ?? Number.NEGATIVE_INFINITY) <= AGREEMENT_SLOTS);
}
