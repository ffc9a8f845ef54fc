import { countRows } from '../../../shared/domain/units.ts';
import { filterByMint, type TokenList, type TokenListQuery, type TokenListRead } from '../../tokens/token-list.ts';
import type { History } from '../feed/history.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import { type PastSlot, type PastSlots, throwNothingKept } from '../past-slots.ts';
import type { TokenListState } from './token-list-state.ts';

type PastListQuery = Pick<TokenListQuery, 'owner' | 'mint' | 'cost'>;

export type PastTokenLists = ReturnType<typeof pastTokenLists>;

/** Token lists that are kept live, at slots of which the ring has their versions. */
export const pastTokenLists = (ring: VersionRing<TokenList>, slots: PastSlots) => ({
  /** Rejects as {@link PastSlots.check} and {@link PastSlots.find} do. */
  async read({ owner, mint, cost }: PastListQuery, pastSlot: PastSlot): Promise<TokenListRead> {
    slots.check(pastSlot);
    const history = ring.get(owner) ?? throwNothingKept('the token accounts of', owner);
    const { slot, versions, lease } = await slots.find(pastSlot, [history]);
    const [version = { slot, value: NO_LIST }] = versions; // there is one for each history
    const list = mint === undefined ? version.value : filterByMint(version.value, mint);
    countRows({ cost }, list.accounts.length);
    return { slot, sinceSlot: version.slot, isConsistent: true, lease, list };
  },
});

/**
 * Keeps a list in the ring for as long as it has its present lease; one at confirmed is as good for finalized slots.
 * Returns the history that begins with it; undefined where there is one already, or none.
 */
export function recordList(ring: VersionRing<TokenList>, state: TokenListState): History<TokenList> | undefined {
  const { address, slot, list, lease, commitment } = state;
  if (list === undefined || lease === undefined || commitment === 'processed') return undefined;
  const known = ring.get(address);
  const isKept = known?.isOpen === true && known.at(slot) !== undefined;
  if (isKept || !ring.accepts(state.priority)) return undefined;
  return ring.start(state, lease, { slot, value: list });
}

/** About the bytes of an account of a list: lists that follow each other share most of theirs. */
const ROW_BYTES = 600;

/** Returns about the bytes of a list. */
export const bytesOfList = ({ accounts }: TokenList): number => accounts.length * ROW_BYTES;

const NO_LIST: TokenList = { accounts: [], scales: new Map(), identities: undefined, dependsOnClock: false };
