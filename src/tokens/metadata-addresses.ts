import { LRUCache } from 'lru-cache';
import { findMetadataAddress } from '../solana/accounts/metaplex-metadata-account.ts';

/** The most addresses that are remembered: about 5 MB. To derive one takes as long as to parse several accounts. */
const MAX_ADDRESSES = 20_000;

const addresses = new LRUCache<string, string>({ max: MAX_ADDRESSES });

/** Returns the address of a mint's Metaplex account, which never changes. */
export function cachedMetadataAddress(mint: string): string {
  const known = addresses.get(mint);
  if (known !== undefined) return known;
  const derived = findMetadataAddress(mint);
  addresses.set(mint, derived);
  return derived;
}
