import { ownTurn } from './own-turn.ts';

/** Maps a long list, some items in each turn of the event loop, so that no other request waits for all of it. */
export async function mapInChunks<T, R>(items: readonly T[], chunkSize: number, map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = [];
  for (const item of items) {
    if (mapped.length > 0 && mapped.length % chunkSize === 0) await ownTurn();
    mapped.push(map(item));
  }
  return mapped;
}

export const batchesOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
