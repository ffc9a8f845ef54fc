import { ownTurn } from '../domain/own-turn.ts';

/** Calls `work` for the parts of a range, each in a turn of the event loop of its own. */
export async function forEachChunk(
  total: number,
  length: number,
  work: (start: number, end: number) => void,
): Promise<void> {
  for (let start = 0; start < total; start += length) {
    if (start > 0) await ownTurn();
    work(start, Math.min(total, start + length));
  }
}
