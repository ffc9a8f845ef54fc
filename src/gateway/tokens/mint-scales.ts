import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../shared/domain/well-known-addresses.ts';
import { mapInChunks } from '../../shared/runtime/map-in-chunks.ts';
import {
  type AmountScale,
  accountKindOf,
  amountScaleOf,
  decodeClockTimestamp,
  decodeTokenProgramAccount,
  dependsOnClock,
  type Mint,
} from '../../transactions/index.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { type EncodedAccount, type ReadOptions, readEncodedAccounts } from '../upstream/reads/encoded-accounts.ts';

export type MintScales = Awaited<ReturnType<typeof readMintScales>>;

/** The number of mints that are decoded in one turn of the event loop. */
const MINTS_PER_CHUNK = 64;

export async function readMintScales(
  mesh: Pick<Mesh, 'call'>,
  addresses: readonly string[],
  options: ReadOptions,
  extraAddresses: readonly string[] = [],
) {
  const read = await readEncodedAccounts(mesh, [CLOCK_SYSVAR, ...addresses, ...extraAddresses], options);
  const { slots, accounts, agreement } = read;
  const clock = accounts.get(CLOCK_SYSVAR);
  const unixSeconds = clock && decodeClockTimestamp(clock.data);
  if (unixSeconds === undefined) throw new GatewayError('upstream_error', 'the node returned no Clock sysvar');
  const decoded = await mapInChunks(addresses, MINTS_PER_CHUNK, (address) => decodeMint(accounts.get(address)));
  const mints = new Map(addresses.map((address, i) => [address, decoded[i]]));
  const scales = new Map<string, AmountScale>();
  for (const [address, mint] of mints) if (mint !== undefined) scales.set(address, amountScaleOf(mint, unixSeconds));
  return {
    slots,
    accounts,
    agreement,
    /** The cluster's unix time, in seconds. */
    unixSeconds,
    mint: (address: string): Mint | undefined => mints.get(address),
    scale: (address: string): AmountScale => scales.get(address) ?? CLOSED_MINT_SCALE,
  };
}

export async function requireMint(
  mesh: Pick<Mesh, 'call'>,
  address: string,
  at: ReadOptions,
  otherAddresses: readonly string[] = [],
): Promise<{ readonly slot: Slot; readonly mint: Mint; readonly mints: MintScales }> {
  const mints = await readMintScales(mesh, [address], at, otherAddresses);
  const mint = mints.mint(address);
  if (mint !== undefined) return { slot: Math.min(...mints.slots), mint, mints };
  const account = mints.accounts.get(address);
  if (account === undefined) throw new GatewayError('not_found', 'there is no account at this address');
  const token = decodeTokenProgramAccount(account);
  const kind = accountKindOf(account.owner, token === undefined ? null : token);
  throw new GatewayError('not_a_mint', `this account is not a mint: its kind is ${kind}`);
}

/** The scale of a closed mint: it has no decimals. */
export const CLOSED_MINT_SCALE: AmountScale = { decimals: 0 };

export function decodeMint(account: EncodedAccount | undefined): Mint | undefined {
  const token = account && decodeTokenProgramAccount(account);
  return token?.type === 'mint' ? token : undefined;
}

/** True for a mint with exactly this scale, independent of the Clock, or for no mint where there is no scale. */
export function hasScale(account: EncodedAccount, scale: AmountScale | undefined): boolean {
  const mint = decodeMint(account);
  if (mint === undefined || scale === undefined) return mint === undefined && scale === undefined;
  return !dependsOnClock(mint) && scale.toUiAmount === undefined && mint.decimals === scale.decimals;
}
