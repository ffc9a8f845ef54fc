import type { CacheItem } from './entry.ts';

/** What is known of a key. It stays while items follow one another under the key. */
export interface KeyRecord {
  /** The present item. One that takes as much memory may replace it at any time. */
  item: CacheItem;
  readonly bytes: number;
  newer: KeyRecord | undefined;
  older: KeyRecord | undefined;
}

export interface LruItemsOptions {
  /** The most memory that all items together take, in bytes. */
  readonly maxBytes: number;
  readonly maxItemBytes: number;
  sizeOf(item: CacheItem): number;
  /** Called with each item that has no room: the least recently used, or one that is too large. */
  onEvicted(item: CacheItem): void;
}

/** The least recently used go when memory is full. A look-up moves nothing: readers of busy keys call {@link touch}. */
export class LruItems {
  readonly #options: LruItemsOptions;
  readonly #records = new Map<string, KeyRecord>();
  #newest: KeyRecord | undefined;
  #oldest: KeyRecord | undefined;
  bytes = 0;

  constructor(options: LruItemsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#records.size;
  }

  find(key: string): KeyRecord | undefined {
    return this.#records.get(key);
  }

  *[Symbol.iterator](): Iterator<CacheItem> {
    for (const { item } of this.#records.values()) yield item;
  }

  delete(key: string): void {
    const record = this.#records.get(key);
    if (record !== undefined) this.#remove(record);
  }

  touch(record: KeyRecord): void {
    if (record === this.#newest) return;
    this.#unlink(record);
    this.#link(record);
  }

  set(item: CacheItem): void {
    const { maxBytes, maxItemBytes, sizeOf, onEvicted } = this.#options;
    const bytes = sizeOf(item);
    const former = this.#records.get(item.key);
    if (former !== undefined) this.#remove(former);
    if (bytes > maxItemBytes) {
      onEvicted(item);
      return;
    }
    while (this.bytes + bytes > maxBytes && this.#oldest !== undefined) {
      const evicted = this.#oldest;
      this.#remove(evicted);
      onEvicted(evicted.item);
    }
    const record: KeyRecord = { item, bytes, newer: undefined, older: undefined };
    this.#records.set(item.key, record);
    this.#link(record);
    this.bytes += bytes;
  }

  #remove(record: KeyRecord): void {
    this.#records.delete(record.item.key);
    this.#unlink(record);
    this.bytes -= record.bytes;
  }

  #link(record: KeyRecord): void {
    record.older = this.#newest;
    record.newer = undefined;
    if (this.#newest === undefined) this.#oldest = record;
    else this.#newest.newer = record;
    this.#newest = record;
  }

  #unlink({ newer, older }: KeyRecord): void {
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
  }
}
