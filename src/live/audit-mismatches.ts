import type { Lease } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';

/** What is kept live: from which slot on, and what vouches for it. */
export interface LeasedState {
  readonly slot: Slot;
  readonly lease: Lease | undefined;
}

/** A reading of a slot that disagrees with what is kept. */
interface Mismatch<T> {
  readonly state: T;
  readonly readSlot: Slot;
  readonly stateSlot: Slot;
}

/** A claim that was false, and the slots that show it. */
interface LeaseViolation<T> {
  readonly state: T;
  readonly evidence: object;
}

/** Disagreements that an audit has found: each is news on its way, unless everything up to its slot has been told. */
export class AuditMismatches<T extends LeasedState> {
  #mismatches: Mismatch<T>[] = [];

  add(state: T, readSlot: Slot): void {
    this.#mismatches.push({ state, readSlot, stateSlot: state.slot });
  }

  /** Looks again at all of them. Returns what was claimed falsely, if anything was. */
  findViolation(): LeaseViolation<T> | undefined {
    if (this.#mismatches.length === 0) return undefined;
    const open = this.#mismatches.filter(
      ({ state, stateSlot }) => state.lease !== undefined && state.slot === stateSlot,
    );
    const isViolation = ({ state, readSlot }: Mismatch<T>): boolean =>
      state.lease !== undefined && state.lease.slot >= readSlot;
    this.#mismatches = open.filter((mismatch) => !isViolation(mismatch));
    const violation = open.find(isViolation);
    if (violation === undefined) return undefined;
    const { state, stateSlot, readSlot } = violation;
    return { state, evidence: { from: stateSlot, claimed: state.lease?.slot, read: readSlot } };
  }

  clear(): void {
    this.#mismatches = [];
  }
}
