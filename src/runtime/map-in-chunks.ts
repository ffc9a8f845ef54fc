import { ownTurn } from '../domain/own-turn.ts';

/** Maps a long list some items at a time, so that no other request waits for all of it. */
export async function mapInChunks<T, R>(items: readonly T[], chunkSize: number, map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = [];
  for (let i = 0; i < items.length; i += chunkSize) {
    if (i > 0) await ownTurn();
    for (const item of items.slice(i, i + chunkSize)) mapped.push(map(item));
  }
  return mapped;
}
