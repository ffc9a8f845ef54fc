/** The slot times of clusters that freshness is tested on, in milliseconds: Solana's slots become shorter in steps. */
export const SLOT_TIMES = [400, 200, 150] as const;

/** The longest and the shortest of them, for worlds that each cost half a second of CPU. */
export const SLOT_TIME_BOUNDS = [400, 150] as const;
