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

/** Handles values, about `bytesPerTurn` bytes of them in one turn of the event loop. */
export async function forEachYielding(
  values: Iterable<Buffer>,
  bytesPerTurn: number,
  handle: (bytes: Buffer) => void,
): Promise<void> {
  let bytesSinceYield = 0;
  for (const bytes of values) {
    handle(bytes);
    bytesSinceYield += bytes.length;
    if (bytesSinceYield < bytesPerTurn) continue;
    await ownTurn();
    bytesSinceYield = 0;
  }
}
