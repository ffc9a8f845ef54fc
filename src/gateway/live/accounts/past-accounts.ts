import { type Agreement, combinedAgreement } from '../../../shared/domain/agreement.ts';
import type { Lease } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { isOfFeed, type KeptAccount } from '../feed/kept-account.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import { type PastSlot, type PastSlots, throwNothingKept } from '../past-slots.ts';
import { type AccountJson, lamportsOfKept, textOfKept } from './account-json.ts';
import type { AccountState } from './account-state.ts';

export interface PastAccountsRead {
  readonly slot: Slot;
  /** The operators that gave all of them; undefined where that is not known. */
  readonly agreement: Agreement | undefined;
  readonly lease: Lease;
  readonly accounts: readonly PastAccount[];
}

export interface PastAccount {
  readonly lamports: bigint;
  /** As a node's parser shows it, or with its data as base64 where that was not read. */
  json(): AccountJson;
}

export type PastAccounts = ReturnType<typeof pastAccounts>;

/** Accounts that are kept live, at slots of which the ring has their versions. */
export const pastAccounts = (ring: VersionRing, slots: PastSlots) => ({
  /** Rejects as {@link PastSlots.check} and {@link PastSlots.find} do. */
  async read(addresses: readonly string[], pastSlot: PastSlot): Promise<PastAccountsRead> {
    slots.check(pastSlot);
    const histories = addresses.map((address) => ring.get(address) ?? throwNothingKept('account', address));
    const { slot, versions, lease } = await slots.find(pastSlot, histories);
    const agreements = histories.map((history) => history.agreementAt(slot));
    const accounts = versions.map((version) => accountOf(version.value, ring.textOf(version.value)));
    return { slot, agreement: combinedAgreement(agreements, slot), lease, accounts };
  },
});

function accountOf(value: KeptAccount, parsed: KeptAccount = value): PastAccount {
  return {
    get lamports() {
      return lamportsOfKept(value);
    },
    json: () => textOfKept(parsed),
  };
}

/**
 * Keeps in the ring what an account is that a WebSocket session or another gateway keeps live, for as long as it has a lease, and
 * ends that without one. Called whenever either may have changed.
 */
export function recordAccount(ring: VersionRing, account: AccountState): void {
  const { lease, commitment, slot, provenFrom, heldUntil, kept: value } = account;
  if (commitment === 'processed') return;
  if (account.recorded?.isKept !== true || account.recorded.coverage !== lease?.watermark) endRecorded(account);
  if (lease === undefined) return;
  const first = commitment === 'finalized' ? Math.max(slot, provenFrom) : slot; // a root may be newer than the slot it names
  const { recorded } = account;
  if (recorded === undefined) {
    if (mayRecord(ring, account)) account.recorded = ring.start(account, lease.watermark, { slot: first, value });
  } else if (first > recorded.newest.slot && value !== recorded.newest.value)
    ring.add(recorded, { slot: first, value }, heldUntil);
}

/** A feed, or a session at confirmed, may know more of the account already: one at finalized dates no version of a block. */
function mayRecord(ring: VersionRing, { address, commitment, slot, priority }: AccountState): boolean {
  const known = ring.get(address);
  const isDated = known !== undefined && (isOfFeed(known) || known.member.commitment === 'confirmed');
  const isAsGood = isDated || commitment === 'finalized';
  return !(known?.isOpen === true && isAsGood && known.at(slot) !== undefined) && ring.accepts(priority);
}

/** Ends what is recorded: the account is not known beyond. */
export function endRecorded(account: AccountState): void {
  account.recorded?.end();
  account.recorded = undefined;
}

/** Ends what is recorded, which turned out to be wrong. */
export function denyRecorded(account: AccountState): void {
  account.recorded?.deny();
  account.recorded = undefined;
}
