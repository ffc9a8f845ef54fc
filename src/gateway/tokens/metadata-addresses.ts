import { LRUCache } from 'lru-cache';
import { atMost } from '../../shared/runtime/at-most.ts';
import { findMetadataAddress } from '../../transactions/index.ts';

/** The most addresses that are cached: about 5 MB. Deriving one costs as much as parsing several accounts. */
const MAX_ADDRESSES = 20_000;

const addresses = new LRUCache<string, string>({ ...atMost(MAX_ADDRESSES), memoMethod: findMetadataAddress });

/** Returns the address of a mint's Metaplex account, which never changes. */
export const cachedMetadataAddress = (mint: string): string => addresses.memo(mint);
