import { ownTurn } from '../../domain/own-turn.ts';

/** Work that yields about every {@link YIELD_EVERY_BYTES} bytes that it has scanned. */
export type YieldingWork<T> = Generator<void, T>;

/** Bytes scanned in one turn of the event loop: half a millisecond's work. */
export const YIELD_EVERY_BYTES = 128 * 1024;

/** Runs long work and yields to the event loop between its steps. */
export async function runYielding<T>(work: YieldingWork<T>, yieldTurn = ownTurn): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await yieldTurn();
  }
}
