import { forEachChunk } from './for-each-chunk.ts';

/** Maps a long list some items at a time, so that no other request waits for all of it. */
export async function mapInChunks<T, R>(items: readonly T[], chunkSize: number, map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = [];
  await forEachChunk(items.length, chunkSize, (start, end) => {
    for (const item of items.slice(start, end)) mapped.push(map(item));
  });
  return mapped;
}
