import type { Clock } from '../shared/domain/clock.ts';

/** The most messages in a second; the gateway refuses messages beyond ten. */
const MAX_MESSAGES = 8;
const WINDOW_MS = 1000;

export type SendThrottle = ReturnType<typeof createSendThrottle>;

/** `sendNext` makes and sends the next message; it returns false if there is none. */
export function createSendThrottle(clock: Clock, sendNext: () => boolean) {
  let sentMs: number[] = [];
  let cancelTimer = (): void => {};
  let isScheduled = false;
  let isClosed = false;
  const flush = (): void => {
    if (isClosed) return;
    const nowMs = clock.monotonic();
    sentMs = sentMs.filter((sent) => nowMs - sent < WINDOW_MS);
    while (sentMs.length < MAX_MESSAGES) {
      if (!sendNext()) {
        isScheduled = false;
        return;
      }
      sentMs.push(nowMs);
    }
    const [oldest = nowMs] = sentMs;
    cancelTimer = clock.after(oldest + WINDOW_MS - nowMs, flush);
  };
  return {
    /** Sends what there is to send as soon as the limit allows, and not before the caller's code has run to its end. */
    schedule(): void {
      if (!isScheduled) queueMicrotask(flush);
      isScheduled = true;
    },
    close(): void {
      isClosed = true;
      cancelTimer();
    },
  };
}
