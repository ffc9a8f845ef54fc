import { combinedLease, type Lease } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { BalancesRead } from '../../upstream/reads/account-batcher.ts';
import { lamportsOf } from './account-json.ts';
import type { AccountState } from './account-state.ts';

/** The accounts of one query; undefined where one is not kept live. */
type Accounts = readonly (AccountState | undefined)[];

/** Returns the lease by which readers date a state. */
export type LeaseOf = (account: AccountState) => Lease | undefined;

/** At the newest slot that all leases cover; undefined without one, after a change beyond it, or below `minSlot`. */
export function balancesFromStates(accounts: Accounts, minSlot: Slot, leaseOf: LeaseOf): BalancesRead | undefined {
  const leased = accounts.flatMap((account) => {
    const lease = account && leaseOf(account);
    return account === undefined || lease?.state !== 'active' ? [] : [{ account, lease }];
  });
  if (leased.length < accounts.length) return undefined;
  const slot = commonSlot(leased.map(({ account, lease }) => ({ sinceSlot: account.slot, slot: lease.slot })));
  if (slot === undefined || slot < minSlot) return undefined;
  const combined = combinedLease(leased.map(({ lease }) => lease));
  return {
    slot,
    provenFrom: Math.max(...leased.map(({ account }) => account.provenFrom)),
    agreement: combined.agreement,
    lamports: leased.map(({ account }) => lamportsOf(account.json)),
    lease: combined,
  };
}

/** As long as each equals the state that is kept live, the balances hold at all slots that all leases advance to. */
export function balancesLease(
  accounts: Accounts,
  { slot, lamports }: BalancesRead,
  leaseOf: LeaseOf,
): Lease | undefined {
  const leases = accounts.flatMap((account, i) => {
    const lease = account && leaseOf(account);
    if (account === undefined || lease?.state !== 'active' || slot < account.slot) return [];
    return lamports[i] === lamportsOf(account.json) ? [lease] : [];
  });
  return leases.length === accounts.length ? combinedLease(leases) : undefined;
}

/** The slots at which a state is known to hold: all from `sinceSlot` to `slot`. */
interface SlotSpan {
  readonly sinceSlot: Slot;
  readonly slot: Slot;
}

/** Returns the newest slot at which all hold together; undefined if one changed after the last of another. */
export function commonSlot(spans: Iterable<SlotSpan>): Slot | undefined {
  let newest = Number.POSITIVE_INFINITY;
  let oldest = Number.NEGATIVE_INFINITY;
  for (const { sinceSlot, slot } of spans) {
    newest = Math.min(newest, slot);
    oldest = Math.max(oldest, sinceSlot);
  }
  return oldest <= newest && Number.isFinite(newest) ? newest : undefined;
}
