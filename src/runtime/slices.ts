/** Maps a long list some items at a time, so that no other request waits for all of it. */
export async function mapInSlices<T, R>(items: readonly T[], size: number, map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = [];
  for (let i = 0; i < items.length; i += size) {
    if (i > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    for (const item of items.slice(i, i + size)) mapped.push(map(item));
  }
  return mapped;
}
