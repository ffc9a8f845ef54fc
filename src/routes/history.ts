import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import { RawJson } from '../domain/to-json.ts';
import { address, before, commitment, limit, optionalLiteral } from '../routing/params.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { integer, rawJson } from '../routing/schemas.ts';
import { TRANSFER_TYPES } from '../solana/analysis/transfer.ts';
import type { TransferRow } from '../solana/analysis/transfer-row.ts';
import { readTransaction } from '../solana/transactions/transaction.ts';
import { cursorNotFound, readSignaturePage, type SignatureRow } from '../upstream/reads/signature-page.ts';
import type { TransactionReadOptions } from '../upstream/reads/transaction-record.ts';

/** Maximum rows of a page of signatures. */
const MAX_SIGNATURES_PER_PAGE = 100;

/** Maximum transactions of a page of transfers. Each costs an upstream call. */
const MAX_TRANSFERS_PER_PAGE = 25;

const confirmationStatus = z.enum(['confirmed', 'finalized']);
const nullableString = z.string().nullable();

const signatureRow = z.strictObject({
  signature: z.string(),
  slot: integer,
  blockTime: integer.nullable(),
  confirmationStatus,
  err: rawJson,
  memo: nullableString,
});

const transferRow: z.ZodType<TransferRow> = z.strictObject({
  signature: z.string(),
  slot: integer.nullable(),
  blockTime: integer.nullable(),
  confirmationStatus,
  type: z.enum(TRANSFER_TYPES),
  asset: z.enum(['SOL', 'token']),
  direction: z.enum(['in', 'out', 'self']),
  counterparty: nullableString,
  fromUserAccount: nullableString,
  toUserAccount: nullableString,
  fromTokenAccount: nullableString,
  toTokenAccount: nullableString,
  mint: nullableString,
  symbol: nullableString,
  amount: z.string(),
  decimals: integer,
  uiAmount: z.string(),
  feeAmount: nullableString,
  instructionIdx: integer,
  innerInstructionIdx: integer.nullable(),
});

export interface HistoryPage {
  readonly rows: readonly (Omit<SignatureRow, 'err'> & { readonly err: RawJson })[] | readonly TransferRow[];
  readonly nextBefore: string | null;
  readonly scanned: number;
}

export const history = readRoute({
  path: '/address/:addr/history',
  summary: 'The transactions that name an address, newest first, or the transfers in them',
  params: {
    addr: address,
    before,
    type: optionalLiteral('transfers', 'With `transfers`: the transfers, instead of the transactions'),
    limit: limit(50, MAX_SIGNATURES_PER_PAGE),
    commitment: commitment('confirmed', ['confirmed', 'finalized']),
  },
  result: z.strictObject({
    rows: z.union([z.array(signatureRow), z.array(transferRow)]),
    nextBefore: nullableString,
    scanned: integer,
  }),
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  errors: ['invalid_address', 'invalid_cursor', 'cursor_not_found'],

  async resolve(
    { addr, before, type, limit, commitment },
    {
      mesh,
      decoder,
      transactionRecords,
      onDecodeError,
    }: Uses<'mesh' | 'decoder' | 'transactionRecords' | 'onDecodeError'>,
    { minSlot },
  ) {
    const most = type === 'transfers' ? Math.min(limit, MAX_TRANSFERS_PER_PAGE) : limit;
    const page = await readSignaturePage(mesh, { address: addr, before, limit: most, commitment, minSlot });
    if (page.rows.length === 0 && before !== undefined)
      await checkCursor({ mesh, transactionRecords }, addr, before, { commitment, minSlot: page.slot });
    const { nextBefore } = page;
    const scanned = page.rows.length;
    if (type === undefined) {
      const rows = page.rows.map((row) => ({ ...row, err: new RawJson(row.err) }));
      const result: HistoryPage = { rows, nextBefore, scanned };
      return { slot: page.slot, result, final: page.isFinal };
    }
    const { slot, rows } = await readTransfers({ mesh, decoder, transactionRecords, onDecodeError }, addr, page.rows, {
      commitment,
      minSlot,
    });
    const result: HistoryPage = { rows, nextBefore, scanned };
    return { slot: Math.min(page.slot, slot), result };
  },
});

/**
 * Throws `cursor_not_found` for a cursor that is no transaction of the address, nor of a token account of it. A node that
 * knows the transaction gives an empty page for it, as it does at the end of a history.
 */
async function checkCursor(
  { mesh, transactionRecords }: Uses<'mesh' | 'transactionRecords'>,
  address: string,
  before: string,
  bounds: TransactionReadOptions,
): Promise<void> {
  const { record } = await transactionRecords.read(mesh, { signature: before, slot: undefined }, bounds);
  if (record === null) throw cursorNotFound();
  const { accounts, preTokenBalances, postTokenBalances } = readTransaction(record.toString());
  const owners = [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])].map(({ owner }) => owner);
  if (!accounts.some((account) => account.address === address) && !owners.includes(address)) throw cursorNotFound();
}

/** Reads the transfers in the transactions of a page. `slot` is the oldest slot at which one of them was read. */
async function readTransfers(
  {
    mesh,
    decoder,
    transactionRecords,
    onDecodeError,
  }: Uses<'mesh' | 'decoder' | 'transactionRecords' | 'onDecodeError'>,
  address: string,
  page: readonly SignatureRow[],
  bounds: TransactionReadOptions,
): Promise<{ readonly slot: Slot; readonly rows: readonly TransferRow[] }> {
  const succeeded = page.filter(({ err }) => err === 'null'); // failed transactions have no transfers
  const records = await transactionRecords.readAll(mesh, succeeded, bounds);
  const rows: TransferRow[] = [];
  for (const [index, { signature, confirmationStatus }] of succeeded.entries()) {
    const record = records[index]?.record ?? throwMissingRecord();
    try {
      rows.push(...(await decoder.findTransfers(record, { address, confirmationStatus })));
    } catch (defect) {
      if (defect instanceof GatewayError) throw defect;
      onDecodeError(signature, defect); // one record that can't be decoded must not hide the others
    }
  }
  return { slot: Math.min(...records.map(({ slot }) => slot)), rows };
}

/** Throws: a page with a transaction missing would pass for a complete one. */
function throwMissingRecord(): never {
  throw new GatewayError('upstream_unavailable', 'a transaction of the page could not be read; retry in a moment');
}
