import { type Agreement, combinedAgreement } from './agreement.ts';
import type { Slot } from './slot.ts';

/**
 * The state of a lease. `active`: a change would be notified, so silence means that nothing changed. `behind`: the same,
 * from a node that lags. `lost`: the session ended, so a change would not be notified. `renewing`: the same, and another session
 * comes to replace it. `revoked`: a newer state exists.
 */
export type LeaseState = 'active' | 'behind' | 'renewing' | 'lost' | 'revoked';

/** What advances leases, such as the watermark of a session. */
export interface LeaseSource {
  /** The state that its leases have unless they are revoked. */
  readonly state: LeaseState;
  /** The newest slot at which what its leases cover is known to be unchanged. */
  readonly slot: Slot;
  /** The distance of that to the cluster's tip at the same commitment. */
  readonly lagSlots: number;
  /** Monotonic milliseconds at which that was last known. */
  readonly validatedMs: number;
}

export interface LeaseListener {
  /** A newer state has replaced the one that the answer of this key was made from. */
  onRevoked(key: string): void;
}

/** The right to date an answer beyond the slot it was read at, for as long as the state doesn't change (I2, I6). */
export interface Lease {
  readonly state: LeaseState;
  /** The newest slot at which the answer is known to hold. It stops advancing once the lease is revoked or lost. */
  readonly slot: Slot;
  /** The distance of that to the cluster's tip at the same commitment. */
  readonly lagSlots: number;
  /** Monotonic milliseconds at which the answer was last known to hold. They stop advancing with {@link slot}. */
  readonly validatedMs: number;
  /** The first slot at which what it covers is proven to hold, as `Answer.provenFrom`. Default: that of the answer. */
  readonly provenFrom?: Slot | undefined;
  /** The operators that gave what it covers when they were read last. Default: those that gave the answer. */
  readonly agreement?: Agreement | undefined;
  readonly sources: readonly LeaseSource[];
  /** The tip with which it ends by itself. Default: it has no such end. */
  readonly endSlot?: Slot | undefined;
  /** Records a read of the answer at a tip: an answer that nobody reads is not kept live for long. */
  recordRead(tip: Slot): void;
  /** Calls the listener of this key once, when the lease is revoked. A later listener of the same key replaces it. */
  onRevoked(key: string, listener: LeaseListener): void;
  offRevoked(key: string): void;
}

/** Covers the slot of the oldest lease, and is revoked with the first. At least one must be given. */
export function combinedLease(leases: readonly Lease[]): Lease {
  return {
    // Each hit of the cache reads these two, so they allocate nothing.
    get state() {
      return worstState(leases);
    },
    get slot() {
      let oldest = Number.POSITIVE_INFINITY;
      for (const { slot } of leases) if (slot < oldest) oldest = slot;
      return oldest;
    },
    get lagSlots() {
      return Math.max(...leases.map(({ lagSlots }) => lagSlots));
    },
    get validatedMs() {
      return Math.min(...leases.map(({ validatedMs }) => validatedMs));
    },
    get provenFrom() {
      return latest(leases);
    },
    get agreement() {
      const agreements = leases.map(({ agreement }) => agreement);
      return combinedAgreement(agreements, agreements[0]?.slot ?? 0);
    },
    sources: [...new Set(leases.flatMap(({ sources }) => sources))],
    endSlot: leases.reduce<Slot | undefined>((end, lease) => earliest(end, lease.endSlot), undefined),
    recordRead(tip) {
      for (const lease of leases) lease.recordRead(tip);
    },
    onRevoked(key, listener) {
      let isCalled = false;
      const once: LeaseListener = {
        onRevoked() {
          if (!isCalled) listener.onRevoked(key);
          isCalled = true;
        },
      };
      for (const lease of leases) lease.onRevoked(key, once);
    },
    offRevoked(key) {
      for (const lease of leases) lease.offRevoked(key);
    },
  };
}

/** Returns the slot from which on all are proven; undefined where one doesn't name its own. */
function latest(leases: readonly Lease[]): Slot | undefined {
  let newest: Slot = 0;
  for (const { provenFrom } of leases) {
    if (provenFrom === undefined) return undefined;
    newest = Math.max(newest, provenFrom);
  }
  return newest;
}

const earliest = (one: Slot | undefined, other: Slot | undefined): Slot | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

const SEVERITY: Readonly<Record<LeaseState, number>> = { active: 0, behind: 1, renewing: 2, lost: 3, revoked: 4 };

export function worstState(parts: readonly { readonly state: LeaseState }[]): LeaseState {
  let worst: LeaseState = 'active';
  for (const { state } of parts) if (SEVERITY[state] > SEVERITY[worst]) worst = state;
  return worst;
}

/** The limit of a lease: it ends `slots` after the present tip. */
export interface LeaseTerm {
  readonly slots: number;
  readonly tip: () => Slot;
  readonly nowMs: number;
}

/** At its end the lease counts as revoked, without a call of the listeners: a reader of the answer sees the state. */
export function limitedLease(lease: Lease, { slots, tip, nowMs }: LeaseTerm): Lease {
  const endSlot = tip() + slots;
  const isExpired = (): boolean => tip() >= endSlot;
  return {
    get state() {
      return isExpired() ? 'revoked' : lease.state;
    },
    get slot() {
      return lease.slot;
    },
    get lagSlots() {
      return lease.lagSlots;
    },
    get validatedMs() {
      return isExpired() ? Math.min(nowMs, lease.validatedMs) : lease.validatedMs;
    },
    get provenFrom() {
      return lease.provenFrom;
    },
    get agreement() {
      return lease.agreement;
    },
    sources: lease.sources,
    endSlot: earliest(endSlot, lease.endSlot),
    recordRead: (tip) => lease.recordRead(tip),
    onRevoked: (key, listener) => lease.onRevoked(key, listener),
    offRevoked: (key) => lease.offRevoked(key),
  };
}
