import { RequestCost } from '../../../shared/domain/units.ts';

export interface CostSharer {
  readonly cost?: RequestCost | undefined;
}

/**
 * Cost of one call that the reads of several requests share. The call counts for the caller with the fewest reads in
 * it, which would have made it anyway: so nobody waits behind the share of another. Each request pays for the call, and
 * for the bytes of its own accounts.
 */
export class SharedCost<T extends CostSharer> {
  /** Cost to make the call with; undefined for work of the gateway itself. */
  readonly cost: RequestCost | undefined;
  readonly #reads: readonly T[];
  readonly #requests: ReadonlySet<RequestCost>;

  /** The reads are all of callers, or all of the gateway itself. */
  constructor(reads: readonly T[]) {
    this.#reads = reads;
    this.#requests = new Set(reads.flatMap(({ cost }) => cost ?? []));
    const [first, second] = this.#requests;
    const payer = second === undefined ? first : callerOfFewest(reads);
    this.cost = second === undefined || payer === undefined ? payer : new RequestCost(payer.caller, payer.hasPriority);
    for (const request of this.#requests) request.beginCall();
  }

  /** Shares out an answered call by the bytes of each read. */
  onAnswered(bytesOf: (read: T) => number): void {
    if (this.#countCalls())
      for (const read of this.#reads) if (read.cost !== undefined) read.cost.bytes += bytesOf(read);
    this.#end();
  }

  /** Shares out a failed call: among requests of one caller evenly; of several, nobody knows whose bytes they were. */
  onFailed(): void {
    if (this.#countCalls() && new Set([...this.#requests].map(({ caller }) => caller)).size === 1)
      for (const request of this.#requests) request.bytes += Math.ceil((this.cost?.bytes ?? 0) / this.#requests.size);
    this.#end();
  }

  #end(): void {
    for (const request of this.#requests) request.endCall();
  }

  #countCalls(): boolean {
    if (this.cost === undefined || this.#requests.has(this.cost)) return false;
    for (const request of this.#requests) request.calls += this.cost.calls;
    return true;
  }
}

/** Finds the caller with the fewest reads, among those whose tier goes first if there are any. */
function callerOfFewest(reads: readonly CostSharer[]): RequestCost | undefined {
  const first = reads[0]?.cost;
  if (reads.every(({ cost }) => cost?.caller === first?.caller)) return first;
  const counts = new Map<string, number>();
  for (const { cost } of reads) if (cost !== undefined) counts.set(cost.caller, (counts.get(cost.caller) ?? 0) + 1);
  const rankOf = ({ caller, hasPriority }: RequestCost): number =>
    (counts.get(caller) ?? 0) + (hasPriority ? 0 : reads.length);
  return reads
    .flatMap(({ cost }) => cost ?? [])
    .reduce<RequestCost | undefined>(
      (best, cost) => (best === undefined || rankOf(cost) < rankOf(best) ? cost : best),
      undefined,
    );
}
