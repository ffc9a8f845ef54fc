export interface RosterOptions<T> {
  /** How many there may be. */
  readonly most: number;
  /** True of what nobody needs any more. */
  isIdle(watched: T): boolean;
  /** Called for each that is let go. */
  dropped(watched: T): void;
}

/** How many are looked at to make room for one. */
const PROBES = 16;

/** All that is watched, by name. It is bounded, and what is idle is let go in time. */
export class Roster<T> {
  readonly #options: RosterOptions<T>;
  readonly #byName = new Map<string, T>();

  constructor(options: RosterOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): T | undefined {
    return this.#byName.get(name);
  }

  /** Adds what `make` makes, or nothing when there are too many already. */
  add(name: string, make: () => T): T | undefined {
    const { most } = this.#options;
    if (this.size >= most) this.sweep(PROBES);
    if (this.size >= most) return undefined;
    const watched = make();
    this.#byName.set(name, watched);
    return watched;
  }

  /** Looks at some of them in turn, and lets go of those that are idle. */
  sweep(probes: number): void {
    const names = this.#byName.entries();
    for (let i = Math.min(probes, this.size); i > 0; i--) {
      const [name, watched] = names.next().value ?? [];
      if (name === undefined || watched === undefined) return;
      this.#byName.delete(name);
      if (this.#options.isIdle(watched)) this.#options.dropped(watched);
      else this.#byName.set(name, watched); // at the end: the others come first
    }
  }
}
