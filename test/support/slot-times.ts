/** The slot times of clusters that freshness is tested on, in milliseconds: Solana's slots become shorter in steps. */
export const SLOT_TIMES = [400, 200, 150] as const;
