import type { Slot } from './answer.ts';

/**
 * `live`: a change would be told, so silence means that nothing changed. `behind`: the same, from a node that lags.
 * `lost`: a change would not be told any more. `superseded`: there is a newer state.
 */
export type ProofState = 'live' | 'behind' | 'lost' | 'superseded';

/** What vouches for an answer beyond the slot it was read at, for as long as nothing changes. */
export interface Proof {
  readonly state: ProofState;
  /** The newest slot at which the answer is known to hold. It stands still once the state is superseded or lost. */
  readonly slot: Slot;
  /** How far that is behind what the cluster has reached at the same commitment. */
  readonly behindSlots: number;
  /** Monotonic milliseconds at which it was last known to hold. */
  readonly provenMs: number;
  /** Notes that somebody reads the answer while the tip is at `tip`: what nobody reads is not kept live for long. */
  touch(tip: Slot): void;
  /** Calls the listener once, when a newer state is there. One listener per name: a later one replaces it. */
  onNews(name: string, listener: () => void): void;
}
