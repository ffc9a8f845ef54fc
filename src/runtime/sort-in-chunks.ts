import { ownTurn } from '../domain/own-turn.ts';
import { mapInChunks } from './map-in-chunks.ts';

/** The number of items that are sorted or merged in one turn of the event loop: about a millisecond's work. */
const CHUNK_LENGTH = 1024;

/** Sorts a long list by merging sorted runs, some items at a time, so that no other request waits for all of it. */
export async function sortInChunks<T>(items: readonly T[], compare: (a: T, b: T) => number): Promise<readonly T[]> {
  const starts = Array.from({ length: Math.ceil(items.length / CHUNK_LENGTH) }, (_, i) => i * CHUNK_LENGTH);
  let runs = await mapInChunks(starts, 1, (start) => items.slice(start, start + CHUNK_LENGTH).sort(compare));
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(await merge(runs[i] ?? [], runs[i + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(a: T[], b: T[], compare: (a: T, b: T) => number): Promise<T[]> {
  if (b.length === 0) return a;
  const merged: T[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const takesFirst = j === b.length || (i < a.length && compare(a[i] as T, b[j] as T) <= 0);
    merged.push((takesFirst ? a[i++] : b[j++]) as T);
    if (merged.length % CHUNK_LENGTH === 0) await ownTurn();
  }
  return merged;
}
