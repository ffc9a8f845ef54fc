import { ownTurn } from '../../../shared/runtime/own-turn.ts';

interface SteppedWork {
  run(maxBytes: number): boolean;
}

/** Bytes scanned in one turn of the event loop: half a millisecond's work. */
export const YIELD_EVERY_BYTES = 128 * 1024;

/** Does long work and yields to the event loop between its steps. */
export async function runYielding(work: SteppedWork, yieldTurn = ownTurn): Promise<void> {
  while (!work.run(YIELD_EVERY_BYTES)) await yieldTurn();
}
