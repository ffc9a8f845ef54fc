import { ownTurn } from './own-turn.ts';

/**
 * Maps a long list, some items in each turn of the event loop, so that no other request waits for all of it. A chunk ends with the
 * item that fills it. Default: the size of each is 1.
 */
export async function mapInChunks<T, R>(
  items: readonly T[],
  chunkSize: number,
  map: (item: T) => R,
  sizeOf: (item: T) => number = () => 1,
): Promise<R[]> {
  const mapped: R[] = [];
  let size = 0;
  for (const item of items) {
    if (size >= chunkSize) {
      await ownTurn();
      size = 0;
    }
    mapped.push(map(item));
    size += sizeOf(item);
  }
  return mapped;
}

export const batchesOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
