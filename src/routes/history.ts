import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import { RawJson } from '../domain/to-json.ts';
import { address, before, commitment, limit, optionalLiteral } from '../routing/params.ts';
import { type RouteContext, readRoute } from '../routing/route.ts';
import { integer, rawJson } from '../routing/schemas.ts';
import { knownMintSymbol } from '../solana/accounts/known-mints.ts';
import { type TransferRow, transferRowsOf } from '../solana/analysis/transfer-row.ts';
import { readTransaction } from '../solana/transactions/transaction.ts';
import { readSignaturePage, type SignatureRow } from '../upstream/reads/signature-page.ts';
import { readTransactionRecords, type TransactionReadOptions } from '../upstream/reads/transaction-record.ts';

const MAX_SIGNATURES_PER_PAGE = 100;

/** Each row of transfers costs a read of its transaction. */
const MAX_TRANSFERS_PER_PAGE = 25;

const confirmationStatus = z.enum(['confirmed', 'finalized']);
const name = z.string().nullable();

const signatureRow = z.strictObject({
  signature: z.string(),
  slot: integer,
  blockTime: integer.nullable(),
  confirmationStatus,
  err: rawJson,
  memo: name,
});

const transferRow: z.ZodType<TransferRow> = z.strictObject({
  signature: z.string(),
  slot: integer.nullable(),
  blockTime: integer.nullable(),
  confirmationStatus,
  type: z.enum([
    'transfer',
    'mint',
    'burn',
    'wrap',
    'unwrap',
    'changeOwner',
    'withdrawWithheldFee',
    'createAccount',
    'closeAccount',
  ]),
  asset: z.enum(['SOL', 'token']),
  direction: z.enum(['in', 'out', 'self']),
  counterparty: name,
  fromUserAccount: name,
  toUserAccount: name,
  fromTokenAccount: name,
  toTokenAccount: name,
  mint: name,
  symbol: name,
  amount: z.string(),
  decimals: integer,
  uiAmount: z.string(),
  feeAmount: name,
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
  summary: 'The transactions that name an address, newest first, or what moved in them',
  params: {
    addr: address,
    before,
    type: optionalLiteral('transfers', 'What moved, instead of the transactions'),
    limit: limit(50, MAX_SIGNATURES_PER_PAGE),
    commitment: commitment('confirmed', ['confirmed', 'finalized']),
  },
  result: z.strictObject({
    rows: z.union([z.array(signatureRow), z.array(transferRow)]),
    nextBefore: name,
    scanned: integer,
  }),
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  errors: ['invalid_address', 'invalid_cursor', 'cursor_not_found'],

  async resolve({ addr, before, type, limit, commitment }, context, { minSlot }) {
    const most = type === 'transfers' ? Math.min(limit, MAX_TRANSFERS_PER_PAGE) : limit;
    const page = await readSignaturePage(context.mesh, { address: addr, before, limit: most, commitment, minSlot });
    const { nextBefore } = page;
    const scanned = page.rows.length;
    if (type === undefined) {
      const rows = page.rows.map((row) => ({ ...row, err: new RawJson(row.err) }));
      const result: HistoryPage = { rows, nextBefore, scanned };
      return { slot: page.slot, result, final: page.isFinal };
    }
    const { slot, rows } = await readTransfers(context, addr, page.rows, { commitment, minSlot });
    const result: HistoryPage = { rows, nextBefore, scanned };
    return { slot: Math.min(page.slot, slot), result };
  },
});

/** What moved in the transactions of a page, and the oldest slot at which one of them was read. */
async function readTransfers(
  { mesh, onDecodeError }: RouteContext,
  address: string,
  page: readonly SignatureRow[],
  bounds: TransactionReadOptions,
): Promise<{ readonly slot: Slot; readonly rows: readonly TransferRow[] }> {
  const succeeded = page.filter(({ err }) => err === 'null'); // a failed transaction moved nothing
  const signatures = succeeded.map(({ signature }) => signature);
  const records = await readTransactionRecords(mesh, signatures, bounds);
  const rows = succeeded.flatMap(({ signature, confirmationStatus }, index) => {
    const record = records[index]?.record ?? throwMissingRecord();
    try {
      return transferRowsOf(address, readTransaction(record.toString()), {
        confirmationStatus,
        symbolOf: knownMintSymbol,
      });
    } catch (defect) {
      onDecodeError(signature, defect); // one record that our reader can't make sense of must not hide the others
      return [];
    }
  });
  return { slot: Math.min(...records.map(({ slot }) => slot)), rows };
}

/** A page with a gap would pass for a whole one. */
function throwMissingRecord(): never {
  throw new GatewayError('upstream_unavailable', 'a transaction of the page can not be read now');
}
