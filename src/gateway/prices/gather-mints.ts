import { type CostSharer, SharedCost } from '../upstream/reads/shared-cost.ts';

/** The most requests of one kind to a service that are under way, whoever caused them. */
const MAX_CONCURRENT_REQUESTS = 4;

interface Wanted<A, R> extends CostSharer {
  readonly asOf: A;
  readonly resolve: (found: Promise<R>) => void;
}

/**
 * Requests what many look-ups want, at most `size` mints at a time: those of one turn of the event loop together, and those
 * of the time in which the most requests are under way. So a service with a quota is not called for each mint. Callers are
 * served in turn. A mint that several want is requested once, in the turn of the first caller that is served.
 */
export function gatherMints<A extends CostSharer, R>(
  size: number,
  request: (mints: readonly string[], asOf: A) => Promise<R>,
): (mint: string, asOf: A) => Promise<R> {
  const waitingByMint = new Map<string, Wanted<A, R>[]>();
  /** Some of them may be requested already, for another caller. */
  const mintsByCaller = new Map<string | undefined, Set<string>>();
  const underWay = new Map<string, Promise<R>>();
  let running = 0;
  const run = async (batch: ReadonlyMap<string, readonly Wanted<A, R>[]>): Promise<void> => {
    const wanted = [...batch.values()].flat();
    const shared = new SharedCost(wanted);
    const found = request([...batch.keys()], { ...(wanted[0]?.asOf as A), cost: shared.cost });
    running++;
    for (const mint of batch.keys()) underWay.set(mint, found);
    for (const { resolve } of wanted) resolve(found);
    try {
      await found;
      shared.onAnswered(() => 0);
    } catch {
      shared.onFailed();
    }
    for (const mint of batch.keys()) underWay.delete(mint);
    running--;
    start();
  };
  const nextBatch = (): ReadonlyMap<string, readonly Wanted<A, R>[]> => {
    const batch = new Map<string, readonly Wanted<A, R>[]>();
    for (const [caller, mints] of mintsByCaller) {
      mintsByCaller.delete(caller);
      for (const mint of mints) {
        if (batch.size === size) break;
        mints.delete(mint);
        const waiting = waitingByMint.get(mint);
        if (waiting !== undefined) batch.set(mint, waiting);
        waitingByMint.delete(mint);
      }
      if (mints.size > 0) mintsByCaller.set(caller, mints); // behind the others
      if (batch.size === size) break;
    }
    return batch;
  };
  const start = (): void => {
    while (running < MAX_CONCURRENT_REQUESTS && waitingByMint.size > 0) void run(nextBatch());
  };
  return (mint, asOf) =>
    underWay.get(mint) ??
    new Promise((resolve) => {
      const { cost } = asOf;
      if (waitingByMint.size === 0) setImmediate(start);
      const waiting = waitingByMint.get(mint) ?? [];
      waiting.push({ asOf, cost, resolve });
      waitingByMint.set(mint, waiting);
      const mints = mintsByCaller.get(cost?.caller) ?? new Set();
      mintsByCaller.set(cost?.caller, mints.add(mint));
    });
}
