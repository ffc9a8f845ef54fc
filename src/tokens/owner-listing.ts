import { LRUCache } from 'lru-cache';
import type { Slot } from '../domain/slot.ts';
import { mapInChunks } from '../runtime/map-in-chunks.ts';
import { TOKEN_PROGRAMS } from '../solana/accounts/token-program-accounts.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { readAllTokenAccounts } from '../upstream/reads/token-accounts-by-owner.ts';
import { type ListedTokenAccount, parseListedTokenAccount } from './listed-token-account.ts';

/** The token accounts that a node lists for an owner, and the slot of each token program's list. */
export interface OwnerListing {
  readonly slots: readonly Slot[];
  readonly accounts: readonly ListedTokenAccount[];
}

/** Lists the token accounts of an owner at a slot or later. */
export type ListOwner = (mesh: Pick<Mesh, 'call'>, owner: string, options: ReadOptions) => Promise<OwnerListing>;

/** The number of rows that are parsed in one turn of the event loop, in a few milliseconds. */
const ROWS_PER_CHUNK = 32;

/** Lists an owner's token accounts: one call for each token program. */
export const readOwnerListing: ListOwner = async (mesh, owner, options) => {
  const { slots, rows } = await readAllTokenAccounts(mesh, owner, Object.values(TOKEN_PROGRAMS), options);
  return { slots, accounts: await mapInChunks(rows, ROWS_PER_CHUNK, parseListedTokenAccount) };
};

/** A listing that others may use, too. */
interface SharedListing {
  /** The slot that it was asked to reach; 0 for any. */
  readonly floor: Slot;
  readonly reading: Promise<OwnerListing>;
}

/** The most accounts of all listings that are remembered: twice the longest. */
const MAX_ACCOUNTS = 20_000;

/** Lists owners' token accounts so that all reads of an owner that begin at one tip share one listing. */
export class SharedListings {
  readonly #mesh: Pick<Mesh, 'tip'>;
  readonly #listings = new LRUCache<string, SharedListing>({ maxSize: MAX_ACCOUNTS, sizeCalculation: () => 1 });
  #tip: Slot = -1;

  constructor(mesh: Pick<Mesh, 'tip'>) {
    this.#mesh = mesh;
  }

  /** Returns the listing of this tip if it has reached the caller's slot, else reads it. */
  readonly list: ListOwner = async (mesh, owner, options) => {
    const { commitment, minContextSlot: floor = 0 } = options;
    this.#forgetEarlierTips();
    const tip = this.#tip;
    const key = `${commitment}/${owner}`;
    const shared = this.#listings.get(key);
    if (shared !== undefined) {
      const listing = await shared.reading.catch((thrown: unknown) => {
        if (shared.floor <= floor) throw thrown; // else a node may have refused that higher slot alone
      });
      if (listing !== undefined && Math.min(...listing.slots) >= floor) return listing;
    }
    const reading = readOwnerListing(mesh, owner, options);
    const isReached = floor <= (this.#mesh.tip(commitment) ?? 0); // nobody waits for a slot that one caller has made up
    if (isReached && tip === this.#tip) this.#share(key, { floor, reading });
    return reading;
  };

  #share(key: string, shared: SharedListing): void {
    this.#listings.set(key, shared);
    const isShared = (): boolean => this.#listings.peek(key) === shared;
    shared.reading.then(
      ({ accounts }) => isShared() && this.#listings.set(key, shared, { size: 1 + accounts.length }),
      () => isShared() && this.#listings.delete(key),
    );
  }

  #forgetEarlierTips(): void {
    const tip = this.#mesh.tip('processed') ?? 0;
    if (tip === this.#tip) return;
    this.#tip = tip;
    this.#listings.clear();
  }
}
