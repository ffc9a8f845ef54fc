/** A queue in which callers take turns, each with its own items in their order. */
export class FairQueue<T> {
  /** The items by caller, in the order of the callers' turns. */
  readonly #items = new Map<string, T[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Returns the number of items of one caller. */
  lengthOf(caller: string): number {
    return this.#items.get(caller)?.length ?? 0;
  }

  push(caller: string, item: T): void {
    const own = this.#items.get(caller);
    if (own === undefined) this.#items.set(caller, [item]);
    else own.push(item);
    this.#length++;
  }

  /** Takes the next item; its caller's next turn comes after those of all others. */
  shift(): T | undefined {
    const [next] = this.#items;
    if (next === undefined) return undefined;
    const [caller, own] = next;
    const item = own.shift();
    this.#items.delete(caller);
    if (own.length > 0) this.#items.set(caller, own);
    this.#length--;
    return item;
  }

  /** Removes an item. Returns false if it isn't there. */
  remove(caller: string, item: T): boolean {
    const own = this.#items.get(caller) ?? [];
    const at = own.indexOf(item);
    if (at < 0) return false;
    own.splice(at, 1);
    if (own.length === 0) this.#items.delete(caller);
    this.#length--;
    return true;
  }
}
