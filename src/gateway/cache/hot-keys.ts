import type { LeaseSource } from '../../shared/domain/lease.ts';

/** Keys in the order of their first reads, and those of them that each source of leases dates. */
interface ReadKeys {
  readonly all: string[];
  readonly bySource: Map<LeaseSource, string[]>;
}

const noKeys = (): ReadKeys => ({ all: [], bySource: new Map() });

/** The keys that were read in this slot and in the last, at most `maxKeys` of each. */
export class HotKeys {
  readonly #maxKeys: number;
  #current = noKeys();
  #previous = noKeys();

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Records a key, and what advances the lease of its answer; called once per key and slot. */
  record(key: string, sources: readonly LeaseSource[] = []): void {
    const { all, bySource } = this.#current;
    if (all.length >= this.#maxKeys) return;
    all.push(key);
    for (const source of sources) {
      const keys = bySource.get(source);
      if (keys === undefined) bySource.set(source, [key]);
      else keys.push(key);
    }
  }

  rotate(): readonly string[] {
    this.#previous = this.#current;
    this.#current = noKeys();
    return this.#previous.all;
  }

  *datedBy(source: LeaseSource): Iterable<string> {
    yield* this.#previous.bySource.get(source) ?? [];
    yield* this.#current.bySource.get(source) ?? [];
  }
}
