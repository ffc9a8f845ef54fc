export interface IdleEvictingMapOptions<T> {
  /** How many there may be. */
  readonly maxSize: number;
  /** True of what nobody needs any more. */
  isIdle(value: T): boolean;
  /** Called for each that is let go. */
  onEvict(value: T): void;
}

/** How many are looked at to make room for one. */
const EVICTION_SAMPLES = 16;

/** All that is watched, by name. It is bounded, and what is idle is let go in time. */
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

  /** Adds what `make` makes, or nothing when there are too many already. */
  add(key: string, create: () => T): T | undefined {
    const { maxSize } = this.#options;
    if (this.size >= maxSize) this.evictIdle(EVICTION_SAMPLES);
    if (this.size >= maxSize) return undefined;
    const value = create();
    this.#entries.set(key, value);
    return value;
  }

  /** Looks at some of them in turn, and lets go of those that are idle. */
  evictIdle(samples: number): void {
    const entries = this.#entries.entries();
    for (let i = Math.min(samples, this.size); i > 0; i--) {
      const [key, value] = entries.next().value ?? [];
      if (key === undefined || value === undefined) return;
      this.#entries.delete(key);
      if (this.#options.isIdle(value)) this.#options.onEvict(value);
      else this.#entries.set(key, value); // at the end: the others come first
    }
  }
}
