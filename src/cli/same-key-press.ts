import type { Clock } from '../shared/domain/clock.ts';

/** A second signal in this time is the same key press: npm forwards Ctrl-C to a process that has it already. */
const SAME_SIGNAL_MS = 500;

/**
 * Returns what is true for a signal of the key press before. The time alone does not decide: a process that closes may hold
 * its thread for seconds, and what came within them is handled before `setImmediate`.
 */
export function createKeyPressFilter(clock: Pick<Clock, 'after'>): () => boolean {
  let isSame = false;
  return () => {
    if (isSame) return true;
    isSame = true;
    clock.after(SAME_SIGNAL_MS, () =>
      setImmediate(() => {
        isSame = false;
      }),
    );
    return false;
  };
}
