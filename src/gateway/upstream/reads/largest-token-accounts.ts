import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { nftOwnerOf } from '../../../transactions/index.ts';
import { elements, member, parseString, shortText } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { type ReadOptions, readEncodedAccounts } from './encoded-accounts.ts';

interface LargestTokenAccounts {
  readonly slot: Slot;
  readonly addresses: readonly string[];
  /** True if one of them is empty: so are all others of the mint. */
  readonly hasEmpty: boolean;
}

export async function readLargestTokenAccounts(
  rpc: RpcCaller,
  mint: string,
  { commitment, minContextSlot: minSlot }: ReadOptions,
): Promise<LargestTokenAccounts> {
  const { slot, value } = await rpc.call('getTokenLargestAccounts', [mint, { commitment }], { commitment, minSlot });
  const rows = elements(value);
  const addresses = rows.map((row) => parseString(member(row, 'address')));
  return { slot, addresses, hasEmpty: rows.some((row) => shortText(member(row, 'amount')) === '"0"') };
}

/** What a node says of a mint that its bank doesn't have (agave, rpc.rs). */
const NO_MINT = /could not find mint|not a Token mint/;

/** Throws `upstream_unavailable` where another read has shown that there is the mint: a node that knows none is a moment behind. */
export function throwMintNotKnownYet(thrown: unknown): never {
  const isBehind = thrown instanceof GatewayError && thrown.rpcCode === RPC_ERROR_CODE.invalidParams;
  if (!isBehind || !NO_MINT.test(thrown.message)) throw thrown;
  throw new GatewayError('upstream_unavailable', 'no node knows the mint yet that another has', { cause: thrown });
}

/** Reads the owner of the single token of a mint; undefined if none has it. Does not translate RPC errors. */
export async function readNftOwner(
  mesh: Pick<Mesh, 'call'>,
  mint: string,
  options: ReadOptions,
): Promise<string | undefined> {
  const { slot, addresses } = await readLargestTokenAccounts(mesh, mint, options);
  const [largest] = addresses;
  if (largest === undefined) return undefined;
  const { accounts } = await readEncodedAccounts(mesh, [largest], { ...options, minContextSlot: slot });
  return nftOwnerOf(mint, accounts.get(largest) ?? null);
}
