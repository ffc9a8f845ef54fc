import type { Slot } from './slot.ts';

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
  /** Monotonic milliseconds at which it was last known to hold. It stands still too. */
  readonly provenMs: number;
  /** Notes that somebody reads the answer while the tip is at `tip`: what nobody reads is not kept live for long. */
  touch(tip: Slot): void;
  /** Calls the listener once, when a newer state is there. One listener per name: a later one replaces it. */
  onNews(name: string, listener: () => void): void;
  /** Lets go of the listener of this name. */
  offNews(name: string): void;
}

/**
 * Vouches for what rests on several proofs at once: at their oldest slot, for as long as there is news of none of them.
 * At least one must be given.
 */
export function allOf(parts: readonly Proof[]): Proof {
  return {
    get state() {
      const states = new Set(parts.map(({ state }) => state));
      return WORST_FIRST.find((state) => states.has(state)) ?? 'live';
    },
    get slot() {
      return Math.min(...parts.map(({ slot }) => slot));
    },
    get behindSlots() {
      return Math.max(...parts.map(({ behindSlots }) => behindSlots));
    },
    get provenMs() {
      return Math.min(...parts.map(({ provenMs }) => provenMs));
    },
    touch(tip) {
      for (const part of parts) part.touch(tip);
    },
    onNews(name, listener) {
      let isTold = false;
      const tell = (): void => {
        if (!isTold) listener();
        isTold = true;
      };
      for (const part of parts) part.onNews(name, tell);
    },
    offNews(name) {
      for (const part of parts) part.offNews(name);
    },
  };
}

const WORST_FIRST: readonly ProofState[] = ['superseded', 'lost', 'behind', 'live'];

/**
 * Vouches for what was looked at now and is to be looked at anew after so many slots, whatever else vouches for it: half
 * of an {@link allOf}.
 */
export function lasting(slots: number, tip: () => Slot, nowMs: number): Proof {
  const end = tip() + slots;
  const isOver = (): boolean => tip() >= end;
  return {
    get state() {
      return isOver() ? 'superseded' : 'live';
    },
    slot: Number.MAX_SAFE_INTEGER,
    behindSlots: 0,
    get provenMs() {
      return isOver() ? nowMs : Number.POSITIVE_INFINITY;
    },
    touch() {},
    onNews() {}, // nobody has to be told: whoever asks is told the state
    offNews() {},
  };
}
