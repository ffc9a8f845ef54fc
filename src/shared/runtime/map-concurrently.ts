/** Maps a list in order, with at most `most` calls of `map` under way. After a failure no further one is started. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  most: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const mapped: R[] = [];
  const queue = items.entries(); // shared: each worker dequeues the next one
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (hasFailed) return;
      mapped[index] = await map(item).catch((thrown: unknown) => {
        hasFailed = true;
        throw thrown;
      });
    }
  };
  await Promise.all(Array.from({ length: most }, worker));
  return mapped;
}
