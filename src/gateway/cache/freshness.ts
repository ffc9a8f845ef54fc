import type { CacheItem, EntryStatus } from './entry.ts';
import type { Tip } from './tip.ts';

/** The distance to the tip up to which an entry is served while it is refreshed, or while its lease is lost. */
const MAX_REFRESH_LAG_SLOTS = 8;

/** Returns true when the entry may be served as a hit. The only check on the hot path. */
export function isFresh(entry: CacheItem, tip: Tip, maxStaleMs: number): boolean {
  if (entry.final) return true;
  if (tip.isStalled) return false;
  if (entry.policy === 'live') return tip.coarseNowMs - entry.validatedMs <= maxStaleMs;
  const state = entry.lease?.state;
  if (state === 'lost' || state === 'renewing' || state === 'behind') return false;
  const { policy } = entry;
  if (policy.ms !== undefined && entry.lease === undefined) return tip.coarseNowMs - entry.validatedMs < policy.ms;
  if (entry.isRefreshing || entry.successor !== undefined)
    return !isDenied(entry) && tip.slot - entry.tipAtFetch < MAX_REFRESH_LAG_SLOTS;
  if (entry.lease !== undefined) return state === 'active' && entry.lease.slot <= entry.slot;
  return tip.slot - entry.tipAtFetch < (policy.slots ?? 0);
}

/** Returns how an entry may be used, for requests that are not hits. */
export function statusOf(entry: CacheItem, tip: Tip, maxStaleMs: number, nowMs: number): EntryStatus {
  if (isFresh(entry, tip, maxStaleMs)) return 'fresh';
  if (entry.kind !== 'answer') return 'expired';
  const { lease } = entry;
  const validatedMs =
    entry.policy === 'live' ? Math.min(entry.validatedMs, tip.advancedMs) : (lease?.validatedMs ?? entry.validatedMs);
  if (nowMs - validatedMs > maxStaleMs) return 'expired';
  if (isTentative(entry) && entry.tipAtFetch < tip.slot) return 'expired';
  if (tip.isStalled || lease?.state === 'renewing') return 'stale';
  return lease?.state === 'lost' && lease.lagSlots <= MAX_REFRESH_LAG_SLOTS ? 'stale' : 'old';
}

/** Returns true once what the item was made of turned out to be wrong. */
const isDenied = ({ lease }: CacheItem): boolean => lease?.validatedMs === Number.NEGATIVE_INFINITY;

/** A fork may take a processed state back with the next slot, unless it is kept current. */
const isTentative = ({ policy, meta }: CacheItem): boolean => policy !== 'live' && meta.commitment === 'processed';
