import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/domain/clock.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import type { RequestCost } from '../../shared/domain/units.ts';
import { atMost } from '../../shared/runtime/at-most.ts';
import { expiresAfter } from '../../shared/runtime/expires-after.ts';
import { elements, forEachElement, isNull, members, parseString } from '../upstream/json/raw-json.ts';
import type { CostSharer } from '../upstream/reads/shared-cost.ts';
import { gatherMints } from './gather-mints.ts';
import type { GetBytes } from './http-get.ts';

/** Returns which of some mints are on a list of verified tokens. */
export type FindVerified = (mints: readonly string[], cost?: RequestCost) => Promise<ReadonlySet<string>>;

/** The most mints per request; 100 are allowed, of 2 KB each. https://dev.jup.ag/api-reference/tokens/v2/search */
const MAX_IDS = 50;

/** The time for which a mint's place on the list is cached: it changes rarely. */
const TTL_MS = 3_600_000;

/** The most mints that are cached: a few MB. */
const MAX_CACHED = 20_000;

const VERIFIED_TAGS: ReadonlySet<string> = new Set(['verified', 'strict']);

/** Creates the look-up in Jupiter's list of verified tokens, for at most {@link MAX_IDS} mints. */
export const jupiterVerifiedMints =
  ({ url, get }: { readonly url: string; readonly get: GetBytes }): FindVerified =>
  async (mints, cost) => {
    const target = new URL(url);
    target.searchParams.set('query', mints.join(','));
    return readVerified(await get(target.href, cost));
  };

/** Caches what a look-up finds. Its last answers are used while it fails; a mint that has none counts as not on the list. */
export function cachedVerified(lookUp: FindVerified, clock: Pick<Clock, 'monotonic'>): FindVerified {
  const cache = new LRUCache<string, boolean>({
    ...atMost(MAX_CACHED),
    allowStale: true,
    noDeleteOnStaleGet: true,
    ...expiresAfter(TTL_MS, clock),
  });
  const gathered = gatherMints(MAX_IDS, async (mints, { cost }: CostSharer) => {
    const verified = await lookUp(mints, cost).catch(() => undefined); // its watch reports a failure
    if (verified !== undefined) for (const mint of mints) cache.set(mint, verified.has(mint));
  });
  return async (mints, cost) => {
    await Promise.all(mints.filter((mint) => !cache.has(mint)).map((mint) => gathered(mint, { cost })));
    return new Set(mints.filter((mint) => cache.get(mint) === true));
  };
}

/** Bytes of rows that are read in one turn of the event loop: a few milliseconds' work if they are short. */
const BYTES_PER_TURN = 32 * 1024;

/** An odd row leaves the other mints their places. */
async function readVerified(body: Buffer): Promise<ReadonlySet<string>> {
  const verified = new Set<string>();
  await forEachElement(body, BYTES_PER_TURN, (row) => {
    const id = tryOrUndefined(() => verifiedIn(row));
    if (id !== undefined) verified.add(id);
  });
  return verified;
}

function verifiedIn(row: Buffer): string | undefined {
  const parts = members(row);
  const tags = parts.get('tags');
  const names = tags === undefined || isNull(tags) ? [] : elements(tags).map(parseString);
  const isVerified = parts.get('isVerified')?.toString() === 'true' || names.some((tag) => VERIFIED_TAGS.has(tag));
  return isVerified ? parseString(parts.get('id')) : undefined;
}
