import { compare } from '../../shared/domain/compare.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import { TOKEN_AMOUNT_OFFSET } from '../../transactions/index.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { mapRows, parseKeyedAccount } from '../upstream/reads/token-accounts-by-owner.ts';
import { RPC_ERROR_CODE } from '../upstream/rpc/rpc-error-code.ts';
import type { ListOwner } from './owner-listing.ts';

/** Of both programs. None, and no slots, where there is no list: over 10,000 accounts, or a node without an index of that owner. */
export async function findLargestTokenAccounts(
  mesh: Pick<Mesh, 'call'>,
  listOwner: ListOwner,
  owner: string,
  { maxAccounts, ...options }: ReadOptions & { readonly maxAccounts: number },
) {
  try {
    const { slots, rows } = await listOwner(mesh, owner, options);
    const accounts = await mapRows(rows, (row) => {
      const { address, data } = parseKeyedAccount(row);
      return { address, amount: amountIn(data) };
    });
    const largest = accounts.sort((a, b) => compare(b.amount, a.amount) || compare(a.address, b.address));
    return { slots, addresses: largest.slice(0, maxAccounts).map(({ address }) => address), listed: rows.length };
  } catch (thrown) {
    if (thrown instanceof GatewayError && isWithoutList(thrown)) return { slots: [], addresses: [], listed: 0 };
    throw thrown;
  }
}

const isWithoutList = ({ code, rpcCode }: GatewayError): boolean =>
  code === 'result_too_large' || rpcCode === RPC_ERROR_CODE.keyExcludedFromSecondaryIndex;

function amountIn(data: Uint8Array): bigint {
  if (data.length < TOKEN_AMOUNT_OFFSET + 8) return 0n;
  return new DataView(data.buffer, data.byteOffset).getBigUint64(TOKEN_AMOUNT_OFFSET, true);
}
