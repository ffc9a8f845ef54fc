/** The number of a Solana slot; always a safe integer. */
export type Slot = number;

/** The slot time that clusters aim at, in milliseconds. https://solana.com/docs/terminology#slot */
export const SLOT_MS = 400;
