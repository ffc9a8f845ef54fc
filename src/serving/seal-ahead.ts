import type { Cache } from '../cache/cache.ts';
import { anchoredBodyOf, type CacheItem, type Entry } from '../cache/entry.ts';
import type { SealQueue } from './seal-queue.ts';

/**
 * Has the cache hold back new entries of hot keys until they are sealed, so that a hot key's next reader finds a body.
 * At most `maxQueued` bodies are sealed ahead at a time. Entries without a receipt get their body at once.
 */
export function sealHotEntriesAhead(cache: Cache, queue: SealQueue, maxQueued: number): void {
  cache.holdBackWith((next, current) => {
    if (next.meta.envelope === 'anchored') next.body = anchoredBodyOf(next);
    if (next.meta.envelope !== 'signed' || !isHot(cache, next, current) || queue.length >= maxQueued) return false;
    queue.addShared(next, true);
    return true;
  });
}

const isHot = (cache: Cache, next: Entry, current: CacheItem | undefined): boolean =>
  next.policy === 'live' || (current?.body !== undefined && cache.isHot(current));
