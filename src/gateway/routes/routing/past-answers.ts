import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Entry } from '../../cache/entry.ts';

/** About the bytes of an entry beside its result and its body, and of a body beside the result in it. */
const ENTRY_BYTES = 1500;

/** Answers about past slots with their bodies, so that each is sealed once. The ring decides each time what the answer is. */
export class PastAnswers {
  readonly #entries: LRUCache<string, Entry>;

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({ maxSize: Math.max(1, maxBytes) });
  }

  /** Returns the entry that was served before, if it says the same, or else keeps this one. */
  share(entry: Entry): Entry {
    const { key, resultBytes } = entry;
    const known = this.#entries.get(key);
    if (known !== undefined && isSame(known, entry)) return known;
    this.#entries.set(key, entry, { size: 2 * resultBytes + ENTRY_BYTES });
    return entry;
  }

  clear(): void {
    this.#entries.clear();
  }
}

const isSame = (one: Entry, other: Entry): boolean =>
  one.slot === other.slot &&
  one.meta === other.meta &&
  one.provenFrom === other.provenFrom &&
  isDeepStrictEqual(one.agreement, other.agreement) &&
  String(one.result) === String(other.result);
