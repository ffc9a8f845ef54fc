import * as z from 'zod';
import { compare } from '../../shared/domain/compare.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import { SCAN_UNITS } from '../../shared/domain/units.ts';
import {
  type AmountScale,
  addressBytes,
  decodeTokenProgramAccount,
  ownerLabelsOf,
  toTokenAmount,
} from '../../transactions/index.ts';
import { requireMint } from '../tokens/mint-scales.ts';
import type { ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { readLargestTokenAccounts, throwMintNotKnownYet } from '../upstream/reads/largest-token-accounts.ts';
import { isRefusal } from '../upstream/rpc/error-normalizer.ts';
import type { RpcCaller } from '../upstream/rpc/rpc-response.ts';
import { address, optionalLiteral, page } from './routing/params.ts';
import { requesterOf } from './routing/request-scope.ts';
import { LARGE_READ_UNITS, readRoute, type Uses } from './routing/route.ts';
import { integer } from './routing/schemas.ts';
import {
  createHolderTable,
  type Holder,
  type HolderTable,
  type OwnerHolding,
  scanHolders,
} from './scans/holder-table.ts';
import { REFUSAL_SEC } from './scans/scan-tables.ts';

/** Rows of a page: getTokenLargestAccounts returns 20 without a scan. */
const PAGE_SIZE = 20;

/** The most units of a later page: two scans, at most 64 MiB each, and some calls. */
const MOST_SCAN_UNITS = 2 * (SCAN_UNITS + 64) + 1;

const amounts = {
  amount: z.string(),
  uiAmountString: z.string(),
  percentage: z.number().nullable().describe('Of the supply; null where that is 0, as of wrapped SOL'),
};
const label = z
  .string()
  .nullable()
  .describe('What the owner is, if it is a burn address or a vault of a known program');

const accountRow = z.strictObject({
  rank: integer,
  address: z.string(),
  owner: z.string().nullable(),
  ...amounts,
  label,
});
const ownerRow = z.strictObject({ rank: integer, owner: z.string(), accounts: integer, ...amounts, label });

export const holders = readRoute({
  path: '/token/:mint/holders',
  summary: 'The largest token accounts of a mint, with their owners, or its largest owners',
  params: {
    mint: address,
    page,
    by: optionalLiteral('owner', 'With `owner`: one row per owner, its accounts added up'),
  },
  result: z.strictObject({
    mint: z.string(),
    decimals: integer,
    supply: z.string(),
    page: integer,
    pageSize: z.literal(PAGE_SIZE),
    total: integer.nullable(),
    hasMore: z.boolean(),
    source: z.enum(['largest-accounts', 'scan']),
    items: z.union([z.array(accountRow), z.array(ownerRow)]),
  }),
  missUnitPrice: '20 for each scan, which pages after the first and `by=owner` need',
  missUnitsOf: (params) => (needsScan(params) ? SCAN_UNITS : 0),
  mostUnitsOf: (params) => (needsScan(params) ? MOST_SCAN_UNITS : LARGE_READ_UNITS),
  envelope: 'signed',
  cache: { ms: 10_000 },
  claimNumberOf: () => 3,
  errors: ['invalid_address', 'invalid_page', 'not_found', 'not_a_mint', 'holders_unavailable'],

  async resolve(
    params,
    { callsFor, holderTables, holderTabler }: Uses<'callsFor' | 'holderTables' | 'holderTabler'>,
    scope,
  ) {
    const { minSlot, namedSlot = 0, cost } = scope;
    const rpc = callsFor(scope);
    const { mint: address, page, by } = params;
    const at: ReadOptions = { commitment: 'confirmed', minContextSlot: minSlot };
    if (!needsScan(params) && holderTables.get(address, minSlot) === undefined) {
      const { slot, supply, scale, rows, isComplete } = await readFirstPage(rpc, address, at);
      const total = isComplete ? rows.length : null;
      const shown = { ...pageFields(address, page, supply, scale), total, hasMore: !isComplete };
      const items = toItems(rows, 1, { mint: address, supply, scale });
      return { slot, result: { ...shown, source: 'largest-accounts' as const, items } };
    }
    const scan = async (): Promise<HolderTable> => {
      const { slot, mint, mints } = await requireMint(rpc, address, at);
      const { supply, program } = mint;
      const scanned = await scanHolders(rpc, address, program, minSlot);
      const ofMint = { slot: Math.min(slot, scanned.slot), supply, scale: mints.scale(address) };
      return createHolderTable({ ...scanned, ...ofMint }, holderTabler, requesterOf({ cost })); // others may wait for it, too
    };
    const table = await holderTables.getOrScan(address, namedSlot, scan, cost).catch(throwHoldersUnavailable);
    const owners = by === 'owner' ? await table.owners() : undefined;
    const from = (page - 1) * PAGE_SIZE;
    const to = from + PAGE_SIZE;
    const { slot, supply, scale } = table;
    const { total } = owners ?? table;
    const listed = { mint: address, supply, scale };
    const shown = { ...pageFields(address, page, supply, scale), total, hasMore: to < total };
    const items = owners
      ? toItems(owners.rows(from, to), from + 1, listed)
      : toItems(table.rows(from, to), from + 1, listed);
    return { slot, result: { ...shown, source: 'scan' as const, items }, fromSnapshot: true };
  },
});

const needsScan = ({ page, by }: { readonly page: number; readonly by: 'owner' | undefined }): boolean =>
  page > 1 || by === 'owner';

const pageFields = (mint: string, page: number, supply: bigint, { decimals }: AmountScale) =>
  ({ mint, decimals, supply: `${supply}`, page, pageSize: PAGE_SIZE }) as const;

interface ListedMint {
  readonly mint: string;
  readonly supply: bigint;
  readonly scale: AmountScale;
}

const toItems = <Row extends Holder | OwnerHolding>(rows: readonly Row[], firstRank: number, mint: ListedMint) => {
  const labelOf = ownerLabelsOf(mint.mint);
  return rows.map((row, i) => {
    const { amount, ...holder } = row;
    return { rank: firstRank + i, ...holder, ...describeAmount(amount, mint), label: labelOf(row.owner) };
  });
};

const describeAmount = (amount: bigint, { supply, scale }: ListedMint) => ({
  amount: `${amount}`,
  uiAmountString: toTokenAmount(amount, scale).uiAmountString,
  percentage: supply === 0n ? null : Number(((Number(amount) / Number(supply)) * 100).toFixed(6)),
});

/** Reads the largest accounts by getTokenLargestAccounts, then these and the mint, all at one slot. */
async function readFirstPage(rpc: RpcCaller, address: string, at: ReadOptions) {
  const known = await requireMint(rpc, address, at); // throws not_a_mint, where the node's own error doesn't say why
  if (!known.mint.isInitialized)
    return { slot: known.slot, supply: 0n, scale: known.mints.scale(address), rows: [], isComplete: true };
  const largest = await readLargestTokenAccounts(rpc, address, at)
    .catch(throwMintNotKnownYet)
    .catch(throwHoldersUnavailable);
  const { mint, mints } = await requireMint(rpc, address, { ...at, minContextSlot: largest.slot }, largest.addresses);
  const rows = largest.addresses.flatMap((holder): Holder[] => {
    const account = mints.accounts.get(holder);
    const token = account && decodeTokenProgramAccount(account);
    if (token?.type !== 'account' || token.mint !== address || token.amount === 0n) return [];
    return [{ address: holder, owner: token.owner, amount: token.amount }];
  });
  return {
    slot: largest.slot,
    supply: mint.supply,
    scale: mints.scale(address),
    rows: rows.sort((a, b) => compare(b.amount, a.amount) || compareAddresses(a, b)),
    isComplete: largest.addresses.length < PAGE_SIZE || largest.hasEmpty,
  };
}

/** Compares the bytes of addresses, as the sort of a scan does. */
const compareAddresses = (a: Holder, b: Holder): number =>
  Buffer.compare(addressBytes(a.address), addressBytes(b.address));

/** Throws `holders_unavailable` if the node has no index of token accounts, or the mint has too many holders. */
function throwHoldersUnavailable(thrown: unknown): never {
  if (!(thrown instanceof GatewayError) || !isRefusal(thrown)) throw thrown; // the caller may retry
  const reason =
    thrown.code === 'result_too_large'
      ? 'this mint has more holders than can be listed: request the first page by account, which needs no list'
      : 'no node lists the holders of this mint';
  throw new GatewayError('holders_unavailable', reason, { cause: thrown, retryAfter: REFUSAL_SEC });
}
