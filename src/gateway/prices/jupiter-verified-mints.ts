import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/domain/clock.ts';
import type { RequestCost } from '../../shared/domain/price-list.ts';
import { atMost } from '../../shared/runtime/at-most.ts';
import { expiresAfter } from '../../shared/runtime/expires-after.ts';
import { eachElement, elements, isNull, members, parseString } from '../upstream/json/raw-json.ts';
import type { GetBytes } from './http-get.ts';
import { mapBatches } from './map-batches.ts';

/** Returns which of some mints are on a list of verified tokens. One that can't be looked up now counts as not. */
export type FindVerified = (mints: readonly string[], cost?: RequestCost) => Promise<ReadonlySet<string>>;

export interface JupiterVerifiedOptions {
  readonly url: string;
  /** Requests a URL; rejects without a request while the service is paused after a failure. */
  readonly get: GetBytes;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** The most mints per request; 100 are allowed, of 2 KB each. https://dev.jup.ag/api-reference/tokens/v2/search */
const MAX_IDS = 50;

/** The time for which a mint's place on the list is cached: it changes rarely. */
const TTL_MS = 3_600_000;

/** The most mints that are cached: a few MB. */
const MAX_CACHED = 20_000;

/** The tags of Jupiter's lists of verified tokens. */
const VERIFIED_TAGS: ReadonlySet<string> = new Set(['verified', 'strict']);

/** Looks mints up in Jupiter's list of verified tokens. Its last answers are used while it can't be reached. */
export function jupiterVerifiedMints({ url, get, clock }: JupiterVerifiedOptions): FindVerified {
  const cache = new LRUCache<string, boolean>({
    ...atMost(MAX_CACHED),
    allowStale: true,
    noDeleteOnStaleGet: true,
    ...expiresAfter(TTL_MS, clock),
  });
  const lookUp = async (mints: readonly string[], cost: RequestCost | undefined): Promise<void> => {
    const target = new URL(url);
    target.searchParams.set('query', mints.join(','));
    if (cost !== undefined) cost.calls++;
    const verified = readVerified(await get(target.href));
    for (const mint of mints) cache.set(mint, verified.has(mint));
  };
  return async (mints, cost) => {
    const missing = mints.filter((mint) => !cache.has(mint));
    await mapBatches(missing, MAX_IDS, (batch) => lookUp(batch, cost).catch(() => {})); // reported by `get`
    return new Set(mints.filter((mint) => cache.get(mint) === true));
  };
}

function readVerified(body: Buffer): ReadonlySet<string> {
  const verified = new Set<string>();
  for (const row of eachElement(body)) {
    const parts = members(row);
    const tags = parts.get('tags');
    const names = tags === undefined || isNull(tags) ? [] : elements(tags).map(parseString);
    if (parts.get('isVerified')?.toString() === 'true' || names.some((tag) => VERIFIED_TAGS.has(tag)))
      verified.add(parseString(parts.get('id')));
  }
  return verified;
}
