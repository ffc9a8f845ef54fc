import { LRUCache } from 'lru-cache';
import type { Agreement } from '../../shared/domain/agreement.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { TOKEN_PROGRAMS } from '../../transactions/index.ts';
import { SharedReads } from '../serving/shared-reads.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { readAllTokenAccounts } from '../upstream/reads/token-accounts-by-owner.ts';

export interface OwnerListing {
  readonly slots: readonly Slot[];
  readonly rows: readonly Buffer[];
  /** The operators that list the same accounts; undefined over one operator. */
  readonly agreement?: Agreement | undefined;
}

type DatedListing = OwnerListing & { readonly slot: Slot };

export type ListOwner = (mesh: Pick<Mesh, 'call'>, owner: string, options: ReadOptions) => Promise<OwnerListing>;

/** Lists an owner's token accounts: one call for each token program. */
export const readOwnerListing: ListOwner = (mesh, owner, options) =>
  readAllTokenAccounts(mesh, owner, Object.values(TOKEN_PROGRAMS), options);

/** The most bytes of all listings that are remembered: some of the longest. */
const MAX_BYTES = 16 << 20;

/** The memory of a listing without its rows. */
const LISTING_OVERHEAD_BYTES = 512;

const bytesOf = ({ rows }: OwnerListing): number =>
  rows.reduce((sum, { length }) => sum + length, LISTING_OVERHEAD_BYTES);

/** Lists owners' token accounts so that all reads of an owner that begin at one tip share one listing. */
export class SharedListings {
  readonly #mesh: Pick<Mesh, 'tip'>;
  readonly #listings = new SharedReads(
    () => new LRUCache<string, DatedListing>({ maxSize: MAX_BYTES, sizeCalculation: bytesOf }),
  );
  #tip: Slot = -1;

  constructor(mesh: Pick<Mesh, 'tip'>) {
    this.#mesh = mesh;
  }

  /** Returns the listing of this tip if it has reached the caller's slot, else reads it. */
  readonly list: ListOwner = async (mesh, owner, options) => {
    const { commitment, minContextSlot: minSlot = 0, agree = 1 } = options;
    this.#forgetEarlierTips();
    const read = async (): Promise<DatedListing> => {
      const listing = await readOwnerListing(mesh, owner, options);
      return { ...listing, slot: Math.min(...listing.slots) };
    };
    if (minSlot > (this.#mesh.tip(commitment) ?? 0)) return read(); // nobody waits for a slot that one caller has made up
    return this.#listings.getOrRead(`${commitment}/${agree}/${owner}`, { minSlot }, read);
  };

  clear(): void {
    this.#listings.clear();
  }

  #forgetEarlierTips(): void {
    const tip = this.#mesh.tip('processed') ?? 0;
    if (tip === this.#tip) return;
    this.#tip = tip;
    this.clear();
  }
}
