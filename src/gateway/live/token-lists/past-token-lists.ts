import { countRows } from '../../../shared/domain/price-list.ts';
import { filterByMint, type TokenList, type TokenListQuery, type TokenListRead } from '../../tokens/token-list.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import { nothingKept, type PastSlot, type PastSlots } from '../past-slots.ts';
import type { TokenListState } from './token-list-state.ts';

type PastListQuery = Pick<TokenListQuery, 'owner' | 'mint' | 'cost'>;

/** Token lists that are kept live, at slots of which the ring has their versions. */
export class PastTokenLists {
  readonly #ring: VersionRing<TokenList>;
  readonly #slots: PastSlots;

  constructor(ring: VersionRing<TokenList>, slots: PastSlots) {
    this.#ring = ring;
    this.#slots = slots;
  }

  /** Rejects as {@link PastSlots.find} does. */
  async read({ owner, mint, cost }: PastListQuery, pastSlot: PastSlot): Promise<TokenListRead> {
    const history = this.#ring.get(owner);
    if (history === undefined) throw nothingKept('the token accounts of', owner);
    const { slot, versions, lease } = await this.#slots.find(pastSlot, [history]);
    const [version = { slot, value: NO_LIST }] = versions; // there is one for each history
    const list = mint === undefined ? version.value : filterByMint(version.value, mint);
    countRows({ cost }, list.accounts.length);
    return { slot, sinceSlot: version.slot, isConsistent: true, lease, list };
  }
}

/** Keeps a list in the ring for as long as it has its present lease; one at confirmed is as good for finalized slots. */
export function recordList(ring: VersionRing<TokenList>, state: TokenListState): void {
  const { owner, slot, list, lease, holder, commitment } = state;
  if (list === undefined || lease === undefined || commitment === 'processed') return;
  const isKept = ring.get(owner)?.at(slot) !== undefined;
  if (!isKept && ring.accepts(holder)) ring.start({ address: owner, heat: holder }, lease, { slot, value: list });
}

/** About the bytes of an account of a list: lists that follow each other share most of theirs. */
const ROW_BYTES = 600;

/** Returns about the bytes of a list. */
export const bytesOfList = ({ accounts }: TokenList): number => accounts.length * ROW_BYTES;

const NO_LIST: TokenList = { accounts: [], scales: new Map(), identities: undefined, dependsOnClock: false };
