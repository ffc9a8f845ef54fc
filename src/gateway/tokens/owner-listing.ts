import { LRUCache } from 'lru-cache';
import type { Agreement } from '../../shared/domain/agreement.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { TOKEN_PROGRAMS } from '../../transactions/index.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { readAllTokenAccounts } from '../upstream/reads/token-accounts-by-owner.ts';
import { hadNoTurn } from '../upstream/rpc/rpc-client.ts';

export interface OwnerListing {
  readonly slots: readonly Slot[];
  readonly rows: readonly Buffer[];
  /** The operators that list the same accounts; undefined over one operator. */
  readonly agreement?: Agreement | undefined;
}

/** Lists the token accounts of an owner at a slot or later. */
export type ListOwner = (mesh: Pick<Mesh, 'call'>, owner: string, options: ReadOptions) => Promise<OwnerListing>;

/** Lists an owner's token accounts: one call for each token program. */
export const readOwnerListing: ListOwner = (mesh, owner, options) =>
  readAllTokenAccounts(mesh, owner, Object.values(TOKEN_PROGRAMS), options);

interface SharedListing {
  /** The slot that it had to reach; 0 for any. */
  readonly floor: Slot;
  readonly reading: Promise<OwnerListing>;
}

/** The most bytes of all listings that are remembered: some of the longest. */
const MAX_BYTES = 16 << 20;

/** The most listings of others that one waits for, as each may come to nothing for it. */
const MAX_JOINS = 3;

/** The memory of a listing without its rows. */
const LISTING_OVERHEAD_BYTES = 512;

/** Lists owners' token accounts so that all reads of an owner that begin at one tip share one listing. */
export class SharedListings {
  readonly #mesh: Pick<Mesh, 'tip'>;
  readonly #listings = new LRUCache<string, SharedListing>({
    maxSize: MAX_BYTES,
    sizeCalculation: () => LISTING_OVERHEAD_BYTES,
  });
  #tip: Slot = -1;

  constructor(mesh: Pick<Mesh, 'tip'>) {
    this.#mesh = mesh;
  }

  /** Returns the listing of this tip if it has reached the caller's slot, else reads it. */
  readonly list: ListOwner = async (mesh, owner, options) => {
    const { commitment, minContextSlot: floor = 0, agree = 1 } = options;
    this.#forgetEarlierTips();
    const tip = this.#tip;
    const key = `${commitment}/${agree}/${owner}`;
    for (let joins = 0; joins < MAX_JOINS; joins++) {
      const shared = this.#listings.get(key);
      if (shared === undefined) break;
      const listing = await shared.reading.catch((thrown: unknown) => {
        // A node may have refused a higher slot alone, and that caller alone may have had no turn.
        if (shared.floor <= floor && !hadNoTurn(thrown)) throw thrown;
      });
      if (listing !== undefined && Math.min(...listing.slots) >= floor) return listing;
    }
    const reading = readOwnerListing(mesh, owner, options);
    const isReached = floor <= (this.#mesh.tip(commitment) ?? 0); // nobody waits for a slot that one caller has made up
    if (isReached && tip === this.#tip) this.#share(key, { floor, reading });
    return reading;
  };

  /** Forgets all listings. */
  clear(): void {
    this.#listings.clear();
  }

  #share(key: string, shared: SharedListing): void {
    this.#listings.set(key, shared);
    const isShared = (): boolean => this.#listings.peek(key) === shared;
    shared.reading
      .then(({ rows }) => {
        const bytes = rows.reduce((sum, { length }) => sum + length, LISTING_OVERHEAD_BYTES);
        if (isShared()) this.#listings.set(key, { ...shared }, { size: bytes }); // the same object would not be measured again
      })
      .catch(() => isShared() && this.#listings.delete(key));
  }

  #forgetEarlierTips(): void {
    const tip = this.#mesh.tip('processed') ?? 0;
    if (tip === this.#tip) return;
    this.#tip = tip;
    this.#listings.clear();
  }
}
