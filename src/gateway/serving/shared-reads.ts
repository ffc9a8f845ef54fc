import type { LRUCache } from 'lru-cache';
import type { Slot } from '../../shared/domain/slot.ts';
import { SingleFlight } from '../cache/single-flight.ts';
import { hadNoTurn } from '../upstream/rpc/rpc-client.ts';
import { isSlotNotReached } from './min-slot.ts';

interface Bounds {
  readonly minSlot: Slot;
  /** Milliseconds for which it is cached; 0: for good. Default: as the cache has it. */
  readonly ttlMs?: number;
}

/** The most reads of others that one waits for, as each may come to nothing for it. */
const MAX_JOINS = 3;

/** Dear reads: what they give is cached by key, and concurrent reads of one key share one. */
export class SharedReads<T extends { readonly slot: Slot }> {
  readonly #createCache: () => LRUCache<string, T>;
  #cached: LRUCache<string, T>;
  #flights = new SingleFlight<T>();

  constructor(createCache: () => LRUCache<string, T>) {
    this.#createCache = createCache;
    this.#cached = createCache();
  }

  /** Forgets all, also what is being read. */
  clear(): void {
    this.#cached.clear();
    this.#cached = this.#createCache();
    this.#flights = new SingleFlight();
  }

  /** Returns what is cached, unless it is older than `minSlot`. */
  get(key: string, minSlot: Slot = 0): T | undefined {
    const cached = this.#cached.get(key);
    return cached !== undefined && cached.slot >= minSlot ? cached : undefined;
  }

  /**
   * Returns what is cached, or reads. A caller that joins a read of another one runs its own where its slot was not reached by
   * that, or where the other one had no turn.
   */
  async getOrRead(key: string, { minSlot, ttlMs }: Bounds, read: () => Promise<T>): Promise<T> {
    const known = this.get(key, minSlot);
    if (known !== undefined) return known;
    const [cached, flights] = [this.#cached, this.#flights];
    const start = async (): Promise<T> => {
      const fresh = await read();
      cached.purgeStale(); // what has expired may be large
      cached.set(key, fresh, ttlMs === undefined ? {} : { ttl: ttlMs });
      return fresh;
    };
    for (let joins = 0; joins < MAX_JOINS; joins++) {
      const joined = flights.get(key);
      if (joined === undefined) return flights.run(key, start);
      const shared = await joined.catch((thrown: unknown) => {
        if (!isSlotNotReached(thrown) && !hadNoTurn(thrown)) throw thrown; // either may have been that caller alone
      });
      if (shared !== undefined && shared.slot >= minSlot) return shared;
    }
    return start();
  }
}
