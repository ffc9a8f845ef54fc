import { z } from 'zod';
import { NEVER, STAKE_STATES, stakeStateIn } from '../../../transactions/index.ts';
import { exactNumber, integer } from '../routing/schemas.ts';
import type { OwnedStake, StakeTable } from '../routing/stake-accounts.ts';

/** The stake accounts of an address, at a slot of their own. */
export const stakeSchema = z.strictObject({
  slot: integer.describe('The slot of this list, which is kept for a tenth of an epoch'),
  epoch: integer,
  lamports: z.string(),
  delegatedLamports: z.string(),
  valueUsd: exactNumber.nullable().describe('The value of `lamports`, which is not part of `totalUsd`'),
  accounts: z.array(
    z.strictObject({
      address: z.string(),
      lamports: z.string(),
      delegatedLamports: z.string(),
      state: z.enum(STAKE_STATES),
      voter: z.string().nullable(),
      activationEpoch: z.string().nullable(),
      deactivationEpoch: z.string().nullable(),
    }),
  ),
});

/** Describes the stake accounts of an address in an epoch. */
export function describeStake({ slot, accounts }: StakeTable, epoch: number) {
  const rows = accounts.map((account) => describeAccount(account, BigInt(epoch)));
  const lamports = accounts.reduce((sum, account) => sum + account.lamports, 0n);
  const delegated = rows.reduce((sum, { delegatedLamports }) => sum + BigInt(delegatedLamports), 0n);
  return { slot, epoch, lamports, delegatedLamports: `${delegated}`, accounts: rows };
}

function describeAccount({ address, lamports, delegation }: OwnedStake, epoch: bigint) {
  const state = stakeStateIn(epoch, delegation);
  return {
    address,
    lamports: `${lamports}`,
    delegatedLamports: `${state === 'inactive' ? 0n : (delegation?.stake ?? 0n)}`,
    state,
    voter: delegation?.voter ?? null,
    activationEpoch: epochText(delegation?.activationEpoch),
    deactivationEpoch: epochText(delegation?.deactivationEpoch),
  };
}

const epochText = (epoch: bigint | undefined): string | null =>
  epoch === undefined || epoch === NEVER ? null : `${epoch}`;
