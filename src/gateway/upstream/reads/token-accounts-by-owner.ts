import { type Agreement, combinedAgreement } from '../../../shared/domain/agreement.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { mapInChunks } from '../../../shared/runtime/map-in-chunks.ts';
import { YIELD_EVERY_BYTES } from '../json/cooperative.ts';
import { forEachElement, members, parseString, pickMembers } from '../json/raw-json.ts';
import { digestOf } from '../rpc/facts.ts';
import type { ConsensusData, RpcCaller, RpcResponse } from '../rpc/rpc-response.ts';
import { elementsOf } from './account-facts.ts';
import { type EncodedAccount, parseEncodedAccount, type ReadOptions } from './encoded-accounts.ts';

/** Filter of an owner's token accounts: those of one mint, or all of one token program. */
export type TokenAccountsFilter = { readonly mint: string } | { readonly programId: string };

/** Most accounts in an answer: no caller could use more. */
export const MAX_TOKEN_ACCOUNTS = 10_000;

/** As the node's JSON, for {@link parseKeyedAccount}. Throws `result_too_large` for more than 10,000. */
export async function readTokenAccountsByOwner(
  rpc: RpcCaller,
  owner: string,
  filter: TokenAccountsFilter,
  { agree = 1, ...options }: ReadOptions,
): Promise<ListedRows> {
  const params = [owner, filter, { encoding: 'base64', ...options }];
  const { slot, value, agreement } = await rpc.call('getTokenAccountsByOwner', params, {
    commitment: options.commitment,
    agree: { count: agree, compare: compareListings },
  });
  const rows = await rowsOf(value);
  if (rows.length > MAX_TOKEN_ACCOUNTS) throw tooManyTokenAccounts('mint' in filter);
  return { slot, rows, agreement };
}

/** Finds the rows of a list: of one that is too long one more than an answer may have. */
async function rowsOf(value: Buffer): Promise<readonly Buffer[]> {
  const rows: Buffer[] = [];
  const add = (row: Buffer): void => {
    if (rows.length <= MAX_TOKEN_ACCOUNTS) rows.push(row);
  };
  await forEachElement(value, YIELD_EVERY_BYTES, add);
  return rows;
}

/** The length of a list up to which its accounts are re-read by address. No live list is longer. */
export const MAX_REREAD_ACCOUNTS = 200;

/**
 * Extracts what operators are compared by: which accounts a list names, and what it says of them where nobody reads them again. A
 * difference proves nothing, as an honest node may make its list of a newer root than the slot that it names, and no Clock shows
 * that.
 */
async function compareListings({ slot, value }: RpcResponse): Promise<ConsensusData> {
  const rows = await rowsOf(value);
  const isReread = rows.length <= MAX_REREAD_ACCOUNTS;
  const named = await mapRows(rows, (row) => {
    const [address, account = NO_ACCOUNT] = pickMembers(row, ['pubkey', 'account']);
    const shown = isReread ? [] : pickMembers(account, ['lamports', 'owner', 'data']).flatMap(elementsOf);
    return `${address} ${digestOf(shown.map(String))}`;
  });
  return { digest: digestOf(named.sort()), slot, needsSlot: slot };
}

const NO_ACCOUNT = Buffer.from('{}');

/** The bytes of rows that are parsed in one turn of the event loop, in about a millisecond: the data of an account may be long. */
const ROW_BYTES_PER_TURN = 32 * 1024;

export const mapRows = <R>(rows: readonly Buffer[], map: (row: Buffer) => R): Promise<R[]> =>
  mapInChunks(rows, ROW_BYTES_PER_TURN, map, ({ length }) => length);

interface ListedRows {
  readonly slot: Slot;
  readonly rows: readonly Buffer[];
  /** The operators that list the same; undefined over one operator. */
  readonly agreement: Agreement | undefined;
}

/** Reads an owner's token accounts of each program. Throws as {@link readTokenAccountsByOwner} does. */
export async function readAllTokenAccounts(
  rpc: RpcCaller,
  owner: string,
  programs: readonly string[],
  options: ReadOptions,
): Promise<Omit<ListedRows, 'slot'> & { readonly slots: readonly Slot[] }> {
  const lists = await Promise.all(
    programs.map((programId) => readTokenAccountsByOwner(rpc, owner, { programId }, options)),
  );
  const rows = lists.flatMap(({ rows }) => rows);
  if (rows.length > MAX_TOKEN_ACCOUNTS) throw tooManyTokenAccounts(false);
  const slots = lists.map(({ slot }) => slot);
  const agreements = lists.map(({ agreement }) => agreement);
  return { slots, rows, agreement: combinedAgreement(agreements, Math.min(...slots)) };
}

export function parseKeyedAccount(row: Buffer): EncodedAccount & { readonly address: string } {
  const parts = members(row);
  const account = parts.get('account');
  if (account === undefined) throw new GatewayError('upstream_error', 'a listed account has no account');
  return { address: parseString(parts.get('pubkey')), ...parseEncodedAccount(account) };
}

const tooManyTokenAccounts = (isOfOneMint: boolean): GatewayError =>
  new GatewayError(
    'result_too_large',
    isOfOneMint
      ? 'the owner has more than 10,000 token accounts of this mint'
      : 'the owner has over 10,000 token accounts: request those of one mint, with /token-accounts/OWNER?mint=MINT',
  );
