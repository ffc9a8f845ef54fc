import { type Agreement, combinedAgreement } from '../../../shared/domain/agreement.ts';
import type { Lease } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { KeptAccount } from '../feed/kept-account.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import { type PastSlot, type PastSlots, throwNothingKept } from '../past-slots.ts';
import { type AccountJson, lamportsOfKept, textOfKept } from './account-json.ts';

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
