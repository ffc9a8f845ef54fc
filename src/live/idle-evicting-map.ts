export interface IdleEvictingMapOptions<T> {
  /** The most entries that the map holds. */
  readonly maxSize: number;
  /** Returns true for a value that nobody uses any more. */
  isIdle(value: T): boolean;
  /** Called with each value that is evicted. */
  onEvict(value: T): void;
}

/** The number of entries that are examined to make space for one (as Redis' `maxmemory-samples`). */
const EVICTION_SAMPLES = 16;

/** A bounded map that evicts idle values only: a full map without idle values takes no new one. */
export class IdleEvictingMap<T> {
  readonly #options: IdleEvictingMapOptions<T>;
  readonly #entries = new Map<string, T>();

  constructor(options: IdleEvictingMapOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  /** Adds the value that `create` returns; returns undefined without calling it when the map is full. */
  add(key: string, create: () => T): T | undefined {
    const { maxSize } = this.#options;
    if (this.size >= maxSize) this.evictIdle(EVICTION_SAMPLES);
    if (this.size >= maxSize) return undefined;
    const value = create();
    this.#entries.set(key, value);
    return value;
  }

  /** Examines the next `samples` entries in turn and evicts the idle ones. */
  evictIdle(samples: number): void {
    const entries = this.#entries.entries();
    for (let i = Math.min(samples, this.size); i > 0; i--) {
      const [key, value] = entries.next().value ?? [];
      if (key === undefined || value === undefined) return;
      this.#entries.delete(key);
      if (this.#options.isIdle(value)) this.#options.onEvict(value);
      else this.#entries.set(key, value); // at the end: the other entries are examined first
    }
  }
}
