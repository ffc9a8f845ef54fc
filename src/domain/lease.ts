import type { Slot } from './slot.ts';

/**
 * `live`: a change would be told, so silence means that nothing changed. `behind`: the same, from a node that lags.
 * `lost`: a change would not be told any more. `superseded`: there is a newer state.
 */
export type LeaseState = 'active' | 'behind' | 'lost' | 'revoked';

/** What vouches for an answer beyond the slot it was read at, for as long as nothing changes. */
export interface Lease {
  readonly state: LeaseState;
  /** The newest slot at which the answer is known to hold. It stands still once the state is superseded or lost. */
  readonly slot: Slot;
  /** How far that is behind what the cluster has reached at the same commitment. */
  readonly lagSlots: number;
  /** Monotonic milliseconds at which it was last known to hold. It stands still too. */
  readonly validatedMs: number;
  /** Notes that somebody reads the answer while the tip is at `tip`: what nobody reads is not kept live for long. */
  recordRead(tip: Slot): void;
  /** Calls the listener once, when a newer state is there. One listener per name: a later one replaces it. */
  onRevoked(name: string, listener: () => void): void;
  /** Lets go of the listener of this name. */
  offRevoked(name: string): void;
}

/**
 * Vouches for what rests on several proofs at once: at their oldest slot, for as long as there is news of none of them.
 * At least one must be given.
 */
export function combinedLease(leases: readonly Lease[]): Lease {
  return {
    get state() {
      const states = new Set(leases.map(({ state }) => state));
      return WORST_FIRST.find((state) => states.has(state)) ?? 'active';
    },
    get slot() {
      return Math.min(...leases.map(({ slot }) => slot));
    },
    get lagSlots() {
      return Math.max(...leases.map(({ lagSlots }) => lagSlots));
    },
    get validatedMs() {
      return Math.min(...leases.map(({ validatedMs }) => validatedMs));
    },
    recordRead(tip) {
      for (const lease of leases) lease.recordRead(tip);
    },
    onRevoked(name, listener) {
      let isNotified = false;
      const notifyOnce = (): void => {
        if (!isNotified) listener();
        isNotified = true;
      };
      for (const lease of leases) lease.onRevoked(name, notifyOnce);
    },
    offRevoked(name) {
      for (const lease of leases) lease.offRevoked(name);
    },
  };
}

const WORST_FIRST: readonly LeaseState[] = ['revoked', 'lost', 'behind', 'active'];

/**
 * Vouches for what was looked at now and is to be looked at anew after so many slots, whatever else vouches for it: half
 * of an {@link combinedLease}.
 */
export function expiringLease(slots: number, tip: () => Slot, nowMs: number): Lease {
  const expirySlot = tip() + slots;
  const isExpired = (): boolean => tip() >= expirySlot;
  return {
    get state() {
      return isExpired() ? 'revoked' : 'active';
    },
    slot: Number.MAX_SAFE_INTEGER,
    lagSlots: 0,
    get validatedMs() {
      return isExpired() ? nowMs : Number.POSITIVE_INFINITY;
    },
    recordRead() {},
    onRevoked() {}, // nobody has to be told: whoever asks is told the state
    offRevoked() {},
  };
}
