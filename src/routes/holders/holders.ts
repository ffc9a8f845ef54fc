import bs58 from 'bs58';
import { z } from 'zod';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { SCAN_UNITS } from '../../domain/units.ts';
import type { Holder, HolderTable } from '../../routing/holder-tables.ts';
import { address, page } from '../../routing/params.ts';
import { LARGE_READ_UNITS, readRoute, type Uses } from '../../routing/route.ts';
import { integer } from '../../routing/schemas.ts';
import { decodeTokenProgramAccount } from '../../solana/accounts/token-program-accounts.ts';
import { type AmountScale, toTokenAmount } from '../../solana/accounts/ui-amount.ts';
import { requireMint } from '../../tokens/require-mint.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import type { ReadOptions } from '../../upstream/reads/encoded-accounts.ts';
import { readLargestTokenAccounts } from '../../upstream/reads/largest-token-accounts.ts';
import { readHolderTable } from './holder-table.ts';
import { isScanRefused } from './holder-table-cache.ts';

/** Rows of a page: as many as getTokenLargestAccounts returns, which needs no scan. */
const PAGE_SIZE = 20;

/** The most units of a later page: two scans, at most 64 MiB each, and some calls. */
const MOST_SCAN_UNITS = 2 * (SCAN_UNITS + 64) + 1;

export const holders = readRoute({
  path: '/token/:mint/holders',
  summary: 'The largest token accounts of a mint, with their owners',
  params: { mint: address, page },
  result: z.strictObject({
    mint: z.string(),
    decimals: integer,
    supply: z.string(),
    page: integer,
    pageSize: z.literal(PAGE_SIZE),
    total: integer.nullable(),
    hasMore: z.boolean(),
    source: z.enum(['largest-accounts', 'scan', 'das']),
    items: z.array(
      z.strictObject({
        rank: integer,
        address: z.string(),
        owner: z.string().nullable(),
        amount: z.string(),
        uiAmountString: z.string(),
        percentage: z.number(),
      }),
    ),
  }),
  scanUnitPrice: '20 for each scan, which pages after the first need',
  missUnitsOf: ({ page }) => (page === 1 ? 0 : SCAN_UNITS),
  mostUnitsOf: ({ page }) => (page === 1 ? LARGE_READ_UNITS : MOST_SCAN_UNITS),
  envelope: 'signed',
  cache: { slots: 25 },
  commitmentOf: () => 'confirmed',
  claimNumberOf: () => 2,
  errors: ['invalid_address', 'invalid_page', 'not_found', 'not_a_mint', 'holders_unavailable'],

  async resolve({ mint: address, page }, { mesh, holderTables }: Uses<'mesh' | 'holderTables'>, { minSlot }) {
    const at: ReadOptions = { commitment: 'confirmed', minContextSlot: minSlot };
    const table = holderTables.get(address);
    if (page === 1 && table === undefined) {
      const found = await readFirstPage(mesh, address, at).catch(throwHoldersUnavailable);
      const { slot, supply, scale, rows } = found;
      const total = found.isComplete ? rows.length : null;
      const shown = { ...pageFields(address, page, supply, scale), total, hasMore: !found.isComplete };
      return {
        slot,
        result: { ...shown, source: 'largest-accounts' as const, items: toItems(rows, 1, supply, scale) },
      };
    }
    let mintRead: Awaited<ReturnType<typeof requireMint>> | undefined;
    const scan = async (): Promise<HolderTable> => {
      mintRead = await requireMint(mesh, address, at);
      return readHolderTable(mesh, address, mintRead.mint.program, minSlot);
    };
    const scanned = await holderTables.getOrRead(address, scan).catch(throwHoldersUnavailable);
    const { slot: mintSlot, mint, mints } = mintRead ?? (await requireMint(mesh, address, at));
    const from = (page - 1) * PAGE_SIZE;
    const rows = scanned.rows(from, from + PAGE_SIZE);
    const scale = mints.scale(address);
    const hasMore = from + PAGE_SIZE < scanned.total;
    const shown = { ...pageFields(address, page, mint.supply, scale), total: scanned.total, hasMore };
    const items = toItems(rows, from + 1, mint.supply, scale);
    const slot = Math.min(mintSlot, scanned.slot);
    return { slot, result: { ...shown, source: 'scan' as const, items }, fromSnapshot: true };
  },
});

const pageFields = (mint: string, page: number, supply: bigint, { decimals }: AmountScale) =>
  ({ mint, decimals, supply: `${supply}`, page, pageSize: PAGE_SIZE }) as const;

const toItems = (rows: readonly Holder[], firstRank: number, supply: bigint, scale: AmountScale) =>
  rows.map(({ address, owner, amount }, i) => ({
    rank: firstRank + i,
    address,
    owner,
    amount: `${amount}`,
    uiAmountString: toTokenAmount(amount, scale).uiAmountString,
    percentage: supply === 0n ? 0 : Number(((Number(amount) / Number(supply)) * 100).toFixed(6)),
  }));

/** The first page, read without a scan. */
interface FirstPage {
  readonly slot: Slot;
  readonly supply: bigint;
  readonly scale: AmountScale;
  readonly rows: readonly Holder[];
  /** True if there are no other holders. */
  readonly isComplete: boolean;
}

/** Reads the largest accounts by getTokenLargestAccounts, then these and the mint, all at one slot. */
async function readFirstPage(mesh: Mesh, address: string, at: ReadOptions): Promise<FirstPage> {
  await requireMint(mesh, address, at); // throws not_a_mint, where the node's own error doesn't say why
  const largest = await readLargestTokenAccounts(mesh, address, at);
  const { mint, mints } = await requireMint(mesh, address, { ...at, minContextSlot: largest.slot }, largest.addresses);
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
    rows: rows.sort((a, b) => compareAmounts(a, b) || compareAddresses(a, b)),
    isComplete: largest.addresses.length < PAGE_SIZE,
  };
}

const compareAmounts = (a: Holder, b: Holder): number => (a.amount > b.amount ? -1 : a.amount < b.amount ? 1 : 0);

/** Compares the bytes of addresses, as the sort of a scan does. */
const compareAddresses = (a: Holder, b: Holder): number =>
  Buffer.compare(bs58.decode(a.address), bs58.decode(b.address));

/** Throws `holders_unavailable` if the node has no index of token accounts, or the mint has too many holders. */
function throwHoldersUnavailable(thrown: unknown): never {
  if (!(thrown instanceof GatewayError) || !isScanRefused(thrown)) throw thrown; // the caller may retry
  const reason =
    thrown.code === 'result_too_large'
      ? 'this mint has more holders than can be listed: ask for the first page, which needs no list'
      : 'no node lists the holders of this mint';
  throw new GatewayError('holders_unavailable', reason, { cause: thrown });
}
