/** The number of a Solana slot; always a safe integer. */
export type Slot = number;
