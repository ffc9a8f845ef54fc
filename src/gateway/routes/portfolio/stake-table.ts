import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { STAKE_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { decodeStakeAccount, STAKE_ACCOUNT_BYTES, WITHDRAWER_OFFSET } from '../../../transactions/index.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { parseListedLamports, readProgramAccounts } from '../../upstream/reads/program-accounts.ts';
import type { OwnedStake, StakeTable } from '../routing/stake-accounts.ts';

/** The most stake accounts that are listed: some hundred KB. */
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
  return { slot, accounts: accounts.sort((a, b) => byLamports(a, b) || byAddress(a, b)) };
}

const byLamports = (a: OwnedStake, b: OwnedStake): number =>
  a.lamports > b.lamports ? -1 : a.lamports < b.lamports ? 1 : 0;

const byAddress = (a: OwnedStake, b: OwnedStake): number => (a.address < b.address ? -1 : 1);
