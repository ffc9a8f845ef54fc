/** Queue that is fair to flows: each has its turn, however many items the others have (fair queuing, RFC 970). */
export class FairQueue<T> {
  /** Items by flow; the flow whose turn is next comes first. A Set keeps its order and deletes from the middle. */
  readonly #flows = new Map<string, Set<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Returns the number of items of one flow. */
  lengthOf(flow: string): number {
    return this.#flows.get(flow)?.size ?? 0;
  }

  add(flow: string, item: T): void {
    const items = this.#flows.get(flow);
    if (items === undefined) this.#flows.set(flow, new Set([item]));
    else items.add(item);
    this.#length++;
  }

  /** Deletes an item. Returns false if it isn't there. */
  delete(flow: string, item: T): boolean {
    const items = this.#flows.get(flow);
    if (items?.delete(item) !== true) return false;
    if (items.size === 0) this.#flows.delete(flow);
    this.#length--;
    return true;
  }

  /** Returns true if a flow that is eligible has an item. */
  has(isEligible: (flow: string) => boolean): boolean {
    for (const flow of this.#flows.keys()) if (isEligible(flow)) return true;
    return false;
  }

  /** Takes the oldest item of the next flow that is eligible; undefined if there is none. */
  take(isEligible: (flow: string) => boolean = () => true): T | undefined {
    for (const [flow, items] of this.#flows) {
      if (!isEligible(flow)) continue;
      const [item] = items;
      if (item === undefined) continue;
      this.#flows.delete(flow);
      items.delete(item);
      if (items.size > 0) this.#flows.set(flow, items); // behind all others
      this.#length--;
      return item;
    }
    return undefined;
  }
}
