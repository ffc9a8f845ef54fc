import { commonSlot } from '../../../shared/domain/common-slot.ts';
import { combinedLease, type Lease } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { BalancesRead } from '../../upstream/reads/account-batcher.ts';
import { lamportsOf } from './account-json.ts';
import type { AccountState } from './account-state.ts';

/** The accounts of one query; undefined where one is not kept live. */
type Accounts = readonly (AccountState | undefined)[];

/**
 * Answers from the states that are kept live, at the newest slot that all their leases cover; undefined if an account has
 * no active lease, changed after that slot, or if the slot is below `minSlot`.
 */
export function balancesFromStates(accounts: Accounts, minSlot: Slot): BalancesRead | undefined {
  const leased = accounts.flatMap((account) => {
    const lease = account?.lease;
    return account === undefined || lease?.state !== 'active' ? [] : [{ account, lease }];
  });
  if (leased.length < accounts.length) return undefined;
  const slot = commonSlot(leased.map(({ account, lease }) => ({ sinceSlot: account.slot, slot: lease.slot })));
  if (slot === undefined || slot < minSlot) return undefined;
  return {
    slot,
    provenFrom: Math.max(...leased.map(({ account }) => account.provenFrom)),
    lamports: leased.map(({ account }) => lamportsOf(account.json)),
    lease: combinedLease(leased.map(({ lease }) => lease)),
  };
}

/**
 * Returns the lease for balances that were read from a node: as long as each equals the state that is kept live, they
 * hold at their own slot and at all slots that all leases advance to.
 */
export function balancesLease(accounts: Accounts, { slot, lamports }: BalancesRead): Lease | undefined {
  const leases = accounts.flatMap((account, i) => {
    const lease = account?.lease;
    if (account === undefined || lease?.state !== 'active' || slot < account.slot) return [];
    return lamports[i] === lamportsOf(account.json) ? [lease] : [];
  });
  return leases.length === accounts.length ? combinedLease(leases) : undefined;
}
