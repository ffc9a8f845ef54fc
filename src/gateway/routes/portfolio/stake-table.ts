import * as z from 'zod';
import { compare } from '../../../shared/domain/compare.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { STAKE_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import {
  decodeStakeAccount,
  NEVER,
  STAKE_ACCOUNT_BYTES,
  STAKE_STATES,
  stakeStateIn,
  WITHDRAWER_OFFSET,
} from '../../../transactions/index.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { parseListedLamports, readProgramAccounts } from '../../upstream/reads/program-accounts.ts';
import { isRefusal } from '../../upstream/rpc/error-normalizer.ts';
import { hadNoTurn } from '../../upstream/rpc/rpc-client.ts';
import { exactNumber, integer } from '../routing/schemas.ts';
import type { OwnedStake, StakeTable } from '../routing/stake-accounts.ts';
import type { ScanTablesKind } from '../scans/scan-tables.ts';

/** Returns whether no node lists the accounts: one without an index of them may also run into the timeout. */
const isRefused = (error: GatewayError): boolean =>
  isRefusal(error) || (error.code === 'upstream_timeout' && !hadNoTurn(error));

export const STAKE_TABLES: ScanTablesKind<StakeTable> = {
  maxSize: 50_000, // accounts, of some 20 MB
  sizeOf: ({ accounts }) => accounts.length + 1, // a table without any counts as one
  ttlMs: 0,
  isRefused,
};

const MAX_ACCOUNTS = 1000;

/** Reads all stake accounts of a withdrawer by one program scan. Rejects with the node's own error. */
export async function readStakeTable(
  mesh: Pick<Mesh, 'call'>,
  withdrawer: string,
  minContextSlot: Slot | undefined,
): Promise<StakeTable> {
  const accounts: OwnedStake[] = [];
  const query = {
    filters: [{ dataSize: STAKE_ACCOUNT_BYTES }, { memcmp: { offset: WITHDRAWER_OFFSET, bytes: withdrawer } }],
    dataSlice: { offset: 0, length: STAKE_ACCOUNT_BYTES },
    minContextSlot,
  };
  const slot = await readProgramAccounts(mesh, STAKE_PROGRAM, query, ({ address, data, row }) => {
    const stake = decodeStakeAccount({ owner: STAKE_PROGRAM, data });
    if (stake?.withdrawer !== withdrawer) return;
    if (accounts.length === MAX_ACCOUNTS)
      throw new GatewayError('result_too_large', `the address has more than ${MAX_ACCOUNTS} stake accounts`);
    accounts.push({ address, lamports: parseListedLamports(row), delegation: stake.delegation });
  });
  return { slot, accounts: accounts.sort((a, b) => compare(b.lamports, a.lamports) || compare(a.address, b.address)) };
}

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
