/** An item of a queue, its rank, and its turn among those of equal rank. */
export interface Ranked<T> {
  readonly item: T;
  readonly rank: number;
  readonly turn: number;
}

/** A binary heap: the item of the highest rank comes first, of several the oldest. An item keeps its rank. */
export class HottestFirst<T> {
  readonly #items: T[] = [];
  readonly #ranks: number[] = [];
  readonly #turns: number[] = [];
  #lastTurn = 0;

  get size(): number {
    return this.#items.length;
  }

  push(item: T, rank: number): void {
    this.putBack({ item, rank, turn: ++this.#lastTurn });
  }

  /** Adds an item again, with the turn that it had. */
  putBack({ item, rank, turn }: Ranked<T>): void {
    let index = this.#items.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isAfter(parent, rank, turn)) break;
      this.#copy(parent, index);
      index = parent;
    }
    this.#put(index, item, rank, turn);
  }

  pop(): Ranked<T> | undefined {
    const [item] = this.#items;
    const [rank = 0] = this.#ranks;
    const [turn = 0] = this.#turns;
    const last = this.#items.pop();
    if (item === undefined || last === undefined) return undefined;
    const lastRank = this.#ranks.pop() ?? 0;
    const lastTurn = this.#turns.pop() ?? 0;
    const { length } = this.#items;
    let index = 0;
    for (let child = 1; child < length; child = 2 * index + 1) {
      if (child + 1 < length && this.#isAfter(child, this.#ranks[child + 1] ?? 0, this.#turns[child + 1] ?? 0)) child++;
      if (this.#isAfter(child, lastRank, lastTurn)) break;
      this.#copy(child, index);
      index = child;
    }
    if (length > 0) this.#put(index, last, lastRank, lastTurn);
    return { item, rank, turn };
  }

  #isAfter(index: number, rank: number, turn: number): boolean {
    const own = this.#ranks[index] ?? 0;
    return own === rank ? (this.#turns[index] ?? 0) > turn : own < rank;
  }

  #put(index: number, item: T, rank: number, turn: number): void {
    this.#items[index] = item;
    this.#ranks[index] = rank;
    this.#turns[index] = turn;
  }

  #copy(from: number, to: number): void {
    this.#put(to, this.#items[from] as T, this.#ranks[from] ?? 0, this.#turns[from] ?? 0); // an index below the length
  }
}
