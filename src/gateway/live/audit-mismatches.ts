import type { Slot } from '../../shared/domain/slot.ts';
import type { Contradiction } from '../upstream/rpc/facts.ts';

export interface LeasedState {
  readonly slot: Slot;
  /** The newest of them; undefined while the state has no lease. */
  readonly coveredSlot: Slot | undefined;
}

export interface AuditRead {
  readonly slot: Slot;
  /** Whether both may be true. Of two operators, whose parsers may differ, this is less than {@link isSame}. */
  isUnchanged(): boolean;
  /** Whether both are the same in all that is shown. Default: as {@link isUnchanged}. */
  isSame?(): boolean;
  /** Returns the digests of what contradicts each other in the state that is kept and in the re-read, for the log. */
  contradiction?(): Contradiction | undefined;
  /**
   * Reads the state of several operators, where another one than that of the session has re-read it; undefined if they don't
   * decide. Absent where the re-read itself is decisive.
   */
  settle?(): Promise<AuditRead | undefined>;
}

interface Mismatch<T> {
  readonly state: T;
  readonly read: AuditRead;
}

/** A lease that covered a slot at which the state had changed already, and the slots that show it. */
interface LeaseViolation<T> extends Mismatch<T> {
  readonly evidence: object;
}

/**
 * The differences that an audit has found and nobody has explained yet. Each may be a notification on its way. It is a
 * violation if the state still differs once it is known to hold at the slot of the re-read (I9).
 */
export class AuditMismatches<T extends LeasedState> {
  #mismatches: Mismatch<T>[] = [];

  add(state: T, read: AuditRead): void {
    this.#mismatches.push({ state, read });
  }

  /** Drops mismatches that can be explained, and violations; returns the latter. */
  dequeueViolations(): readonly LeaseViolation<T>[] {
    if (this.#mismatches.length === 0) return [];
    const comparable = this.#mismatches.filter(
      ({ state, read }) => state.coveredSlot !== undefined && state.slot <= read.slot,
    );
    const isDue = ({ state, read }: Mismatch<T>): boolean =>
      state.coveredSlot !== undefined && state.coveredSlot >= read.slot;
    this.#mismatches = comparable.filter((mismatch) => !isDue(mismatch));
    return comparable
      .filter((mismatch) => isDue(mismatch) && !mismatch.read.isUnchanged())
      .map(({ state, read }) => ({
        state,
        read,
        evidence: { from: state.slot, leased: state.coveredSlot, read: read.slot },
      }));
  }

  clear(): void {
    this.#mismatches = [];
  }
}
