import { type CostSharer, SharedCost } from '../upstream/reads/shared-cost.ts';

/** The most requests of one kind to a service that are under way, whoever caused them. */
const MAX_CONCURRENT_REQUESTS = 4;

interface Wanted<A, R> extends CostSharer {
  readonly mint: string;
  readonly asOf: A;
  readonly resolve: (found: R) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Requests what many look-ups want, at most `size` mints at a time: those of one turn of the event loop together, and those
 * of the time in which the most requests are under way. So a service with a quota is not called for each mint. Callers are
 * served in turn.
 */
export function gatherMints<A extends CostSharer, R>(
  size: number,
  request: (mints: readonly string[], asOf: A) => Promise<R>,
): (mint: string, asOf: A) => Promise<R> {
  const waitingByCaller = new Map<string | undefined, Wanted<A, R>[]>();
  let running = 0;
  const run = async (batch: readonly Wanted<A, R>[], asOf: A): Promise<void> => {
    const shared = new SharedCost(batch);
    running++;
    try {
      const found = await request([...new Set(batch.map(({ mint }) => mint))], { ...asOf, cost: shared.cost });
      shared.onAnswered(() => 0);
      for (const { resolve } of batch) resolve(found);
    } catch (thrown) {
      shared.onFailed();
      for (const { reject } of batch) reject(thrown);
    }
    running--;
    start();
  };
  const nextBatch = (): readonly Wanted<A, R>[] => {
    const batch: Wanted<A, R>[] = [];
    for (const [caller, waiting] of waitingByCaller) {
      if (batch.length === size) break;
      batch.push(...waiting.splice(0, size - batch.length)); // the fewer requests it is in, the less it pays
      waitingByCaller.delete(caller);
      if (waiting.length > 0) waitingByCaller.set(caller, waiting); // behind the others
    }
    return batch;
  };
  const start = (): void => {
    while (running < MAX_CONCURRENT_REQUESTS) {
      const batch = nextBatch();
      if (batch[0] === undefined) return;
      void run(batch, batch[0].asOf);
    }
  };
  return (mint, asOf) =>
    new Promise((resolve, reject) => {
      const { cost } = asOf;
      if (waitingByCaller.size === 0) setImmediate(start);
      const waiting = waitingByCaller.get(cost?.caller) ?? [];
      waiting.push({ mint, asOf, cost, resolve, reject });
      waitingByCaller.set(cost?.caller, waiting);
    });
}
