/** A Solana slot number: the cluster's clock. Always a safe integer. */
export type Slot = number;

/** The length of a slot that the clusters aim at. https://solana.com/docs/terminology#slot */
export const SLOT_MS = 400;
