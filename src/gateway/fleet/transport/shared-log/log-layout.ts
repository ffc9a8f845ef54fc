/** The length of the head of the file: the end of the log, its complement, the epoch; the rest is room for later versions. */
export const LOG_HEAD_BYTES = 64;

/** The head of a frame: the length of the payload, u32 in little-endian. */
export const FRAME_HEAD_BYTES = 4;

/** The most that is written at one time: a reader that is so near to being overtaken has to join again. */
export const MAX_BATCH_BYTES = 1 << 20;

export const MAX_PAYLOAD_BYTES = MAX_BATCH_BYTES - FRAME_HEAD_BYTES;

/** The length of the log without its head: seconds of the busiest traffic. */
export const LOG_BYTES = 16 << 20;
