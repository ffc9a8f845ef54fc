/** The length of a slot that the clusters aim at. https://solana.com/docs/terminology#slot */
export const SLOT_MS = 400;
