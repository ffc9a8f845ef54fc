import type { Lease } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';

/** A state that is kept live: its slot, and the lease that dates it beyond that slot. */
export interface LeasedState {
  readonly slot: Slot;
  readonly lease: Lease | undefined;
}

/** A re-read that differs from the state that is kept. */
interface Mismatch<T> {
  readonly state: T;
  readonly readSlot: Slot;
  readonly stateSlot: Slot;
}

/** A lease that covered a slot at which the state had changed already, and the slots that show it. */
interface LeaseViolation<T> {
  readonly state: T;
  readonly evidence: object;
}

/**
 * The differences that an audit has found and nobody has explained yet. Each may be a notification on its way. It is a
 * violation as soon as the lease covers the slot of the re-read (I9).
 */
export class AuditMismatches<T extends LeasedState> {
  #mismatches: Mismatch<T>[] = [];

  add(state: T, readSlot: Slot): void {
    this.#mismatches.push({ state, readSlot, stateSlot: state.slot });
  }

  /** Drops mismatches that a notification has explained; returns one that has become a violation, if there is any. */
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
    return { state, evidence: { from: stateSlot, leased: state.lease?.slot, read: readSlot } };
  }

  clear(): void {
    this.#mismatches = [];
  }
}
