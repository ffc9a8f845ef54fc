import type { Slot } from './slot.ts';

/** Upper bound on how far a node's newest root is ahead of the slot that it reports, in slots. */
const MAX_ROOT_LEAD_SLOTS = 64;

/**
 * Returns the first slot at which a state is proven to hold that a node returned for `slot`, without evidence of its
 * newest root. A node reads finalized accounts as of that root, which may be newer than the slot that it reports
 * (https://github.com/anza-xyz/agave/pull/11666).
 */
export const provenWithoutClock = (slot: Slot): Slot => slot + MAX_ROOT_LEAD_SLOTS;
