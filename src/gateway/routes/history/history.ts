import * as z from 'zod';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { RawJson } from '../../../shared/domain/to-json.ts';
import { countRows } from '../../../shared/domain/units.ts';
import {
  type DescribedNetRow,
  readTransaction,
  type Transaction,
  type TransferRow,
} from '../../../transactions/index.ts';
import { findLargestTokenAccounts } from '../../tokens/find-largest-token-accounts.ts';
import { member, parseSafeInteger } from '../../upstream/json/raw-json.ts';
import type { VersionedReadOptions } from '../../upstream/reads/max-supported-version.ts';
import {
  cursorNotFound,
  readSignaturePage,
  type SignaturePage,
  type SignatureQuery,
  type SignatureRow,
} from '../../upstream/reads/signature-page.ts';
import { address, before, commitment, limit, optionalLiteral } from '../routing/params.ts';
import { type RequestScope, requesterOf } from '../routing/request-scope.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { integer } from '../routing/schemas.ts';
import { netRow, signatureRow, transferRow } from './history-rows.ts';

const MAX_SIGNATURES_PER_PAGE = 100;

/** Maximum transactions of a page of transfers. Each costs an upstream call. */
const MAX_TRANSFERS_PER_PAGE = 25;

/** Maximum token accounts whose transactions are read with those of their owner. Each costs an upstream call. */
const MAX_TOKEN_ACCOUNTS = 20;

export const history = readRoute({
  path: '/address/:addr/history',
  summary: 'The transactions of an address and its token accounts, newest first, or what they changed and moved',
  params: {
    addr: address,
    before,
    type: optionalLiteral(
      'transfers',
      'With `transfers`: of each transaction a row `net`, what it changed for the address, then its transfers',
    ),
    limit: limit(
      50,
      MAX_SIGNATURES_PER_PAGE,
      `Maximum number of transactions; with \`type=transfers\` at most ${MAX_TRANSFERS_PER_PAGE} are read`,
    ),
    commitment: commitment('confirmed', ['confirmed', 'finalized']),
  },
  result: z.strictObject({
    rows: z.union([z.array(signatureRow), z.array(z.union([netRow, transferRow]))]),
    nextBefore: z.string().nullable(),
    scanned: integer,
  }),
  envelope: 'signed',
  cache: { slots: 2 },
  claimNumberOf: ({ type }) => (type === undefined ? 2 : 3),
  errors: ['invalid_address', 'invalid_cursor', 'cursor_not_found'],

  async resolve(
    { addr, before, type, limit, commitment },
    context: Uses<PageParts | 'decoder' | 'onDecodeError'>,
    scope,
  ) {
    const { minSlot } = scope;
    const most = type === 'transfers' ? Math.min(limit, MAX_TRANSFERS_PER_PAGE) : limit;
    const page = await readPage(context, scope, { address: addr, before, limit: most, commitment, minSlot });
    const { nextBefore } = page;
    const scanned = page.rows.length;
    if (type === undefined) {
      const rows = page.rows.map((row) => ({ ...row, err: new RawJson(row.err) }));
      // never final: which lists are merged changes with the accounts of the owner
      return { slot: page.slot, result: { rows, nextBefore, scanned } };
    }
    const { slot, rows } = await readTransfers(context, scope, addr, page.rows, { commitment, minSlot });
    return { slot: Math.min(page.slot, slot), result: { rows, nextBefore, scanned } };
  },
});

/** The listed token accounts that cost as much as one row of a token list: only their amounts are read. */
const ACCOUNTS_PER_ROW = 10;

type PageParts = 'callsFor' | 'mesh' | 'listOwner' | 'mergedSignatures' | 'transactionRecords';

/**
 * Reads a page of the transactions that name an address or one of its largest token accounts: a transfer of tokens names
 * the account, not its owner. Without such accounts it is the node's own list.
 */
async function readPage(context: Uses<PageParts>, scope: RequestScope, query: SignatureQuery): Promise<SignaturePage> {
  const { callsFor, mesh, listOwner, mergedSignatures } = context;
  const rpc = callsFor(scope);
  const { address, before, commitment, minSlot = 0 } = query;
  const accounts = await findLargestTokenAccounts(rpc, listOwner, address, {
    commitment,
    minContextSlot: Math.max(minSlot, mesh.tip(commitment) ?? 0), // as the lists of signatures
    maxAccounts: MAX_TOKEN_ACCOUNTS,
  });
  countRows(scope, Math.ceil(accounts.listed / ACCOUNTS_PER_ROW));
  const addresses = [address, ...accounts.addresses] as const;
  const bounds = { commitment, minSlot };
  const locate = (cursor: string): Promise<Slot> => slotOfCursor(context, addresses, cursor, bounds, scope);
  const hasTokens = accounts.addresses.length > 0;
  const page = hasTokens
    ? await mergedSignatures.read(rpc, { ...query, addresses, slotOfCursor: locate })
    : await readSignaturePage(rpc, query);
  // a node that knows the cursor gives an empty page for it, as it does at the end of a history
  if (!hasTokens && page.rows.length === 0 && before !== undefined) await locate(before);
  return { ...page, slot: Math.min(page.slot, ...accounts.slots) };
}

/**
 * Returns the slot of the transaction that a cursor names. Throws `cursor_not_found` for one that names none of the
 * addresses, of which the first one is the owner of the others, nor a token account that this one owns or owned.
 */
async function slotOfCursor(
  { callsFor, transactionRecords }: Uses<'callsFor' | 'transactionRecords'>,
  addresses: readonly [string, ...string[]],
  cursor: string,
  bounds: VersionedReadOptions,
  scope: Pick<RequestScope, 'cost'>,
): Promise<Slot> {
  const named = { signature: cursor, slot: undefined };
  const { record } = await transactionRecords.read(callsFor(scope), named, bounds, scope.cost);
  if (record === null || !namesOneOf(addresses, record)) throw cursorNotFound();
  return parseSafeInteger(member(record, 'slot'));
}

function namesOneOf(addresses: readonly [string, ...string[]], record: Buffer): boolean {
  let transaction: Transaction;
  try {
    transaction = readTransaction(record.toString());
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    return true; // a record that can't be read names whatever the node says
  }
  const { accounts, preTokenBalances, postTokenBalances } = transaction;
  const wanted = new Set(addresses);
  const owners = [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])].map(({ owner }) => owner);
  return accounts.some(({ address }) => wanted.has(address)) || owners.includes(addresses[0]);
}

/**
 * Reads what the transactions of a page changed and moved. `slot` is the oldest slot at which one of them was read.
 */
async function readTransfers(
  {
    callsFor,
    decoder,
    transactionRecords,
    onDecodeError,
  }: Uses<'callsFor' | 'decoder' | 'transactionRecords' | 'onDecodeError'>,
  scope: RequestScope,
  address: string,
  page: readonly SignatureRow[],
  bounds: VersionedReadOptions,
): Promise<{ readonly slot: Slot; readonly rows: (DescribedNetRow | TransferRow)[] }> {
  const records = await transactionRecords.readAll(callsFor(scope), page, bounds, scope.cost);
  const rows: (DescribedNetRow | TransferRow)[] = [];
  for (const [index, { signature, confirmationStatus }] of page.entries()) {
    const record = records[index]?.record ?? throwMissingRecord();
    try {
      const found = await decoder.findTransfers(record, { address, confirmationStatus }, requesterOf(scope));
      for (const defect of found.defects) onDecodeError(signature, defect);
      rows.push(...found.rows);
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
