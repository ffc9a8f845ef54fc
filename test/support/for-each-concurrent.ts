/** Runs a callback for each item, with a limit on concurrency. */
export async function forEachConcurrent<T>(
  items: Iterable<T>,
  concurrency: number,
  callback: (item: T, i: number) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let count = 0;
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await callback(next.value, count++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
