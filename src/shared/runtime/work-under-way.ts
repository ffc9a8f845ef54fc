/**
 * Work under way, by key. V8 links each table of a Map to the table that replaced it, and what a linked table names lives
 * until a full collection. So the tables name places here, and a place forgets its work when that ends.
 */
export class WorkUnderWay<T> {
  readonly #places = new Map<string, { work: T | undefined }>();

  get(key: string): T | undefined {
    return this.#places.get(key)?.work;
  }

  set(key: string, work: T): void {
    this.#places.set(key, { work });
  }

  delete(key: string): void {
    const place = this.#places.get(key);
    if (place !== undefined) place.work = undefined;
    this.#places.delete(key);
  }
}
