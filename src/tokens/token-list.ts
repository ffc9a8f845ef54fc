import { isDeepStrictEqual } from 'node:util';
import type { Commitment } from '../domain/commitment.ts';
import type { Lease } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';
import { mapInChunks } from '../runtime/map-in-chunks.ts';
import { type Mint, TOKEN_PROGRAMS } from '../solana/accounts/token-program-accounts.ts';
import { type AmountScale, dependsOnClock } from '../solana/accounts/ui-amount.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { EncodedAccount, ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { type ReadParts, readAtOneSlot } from '../upstream/reads/read-at-one-slot.ts';
import { readAllTokenAccounts, readTokenAccountsByOwner } from '../upstream/reads/token-accounts-by-owner.ts';
import { type ListedTokenAccount, listedTokenAccount, parseListedTokenAccount } from './listed-token-account.ts';
import { CLOSED_MINT_SCALE, type MintScales, readMintScales } from './mint-scales.ts';

/** The token accounts of one owner, and the scales of their amounts. */
export interface TokenList {
  /** The accounts, ordered by mint and address. */
  readonly accounts: readonly ListedTokenAccount[];
  /** The scale of each mint that exists. */
  readonly scales: ReadonlyMap<string, AmountScale>;
  /** True when the Clock sysvar scales some amounts: they change while no account does. */
  readonly dependsOnClock: boolean;
}

export interface TokenListQuery {
  readonly owner: string;
  /** The mint to which the list is limited. Default: all accounts of both token programs. */
  readonly mint?: string | undefined;
  readonly commitment: Commitment;
  /** The slot that the answer must have reached. */
  readonly minContextSlot: Slot | undefined;
  /** A recent list: a node may leave out an account that was closed just after the slot that it reports. */
  readonly known?: TokenList | undefined;
  /** The most tries to read all parts at one slot. Callers that retry a larger read themselves pass one. */
  readonly maxAttempts?: number;
}

export interface TokenListRead {
  readonly slot: Slot;
  /** The first slot at which the whole list is known to hold. Default: {@link slot}. */
  readonly sinceSlot?: Slot;
  /** False when its parts could not be read at one slot. */
  readonly isConsistent: boolean;
  readonly list: TokenList;
  /** The lease that dates the list beyond {@link slot}. */
  readonly lease?: Lease | undefined;
}

/** A source of token lists. It throws `result_too_large` for more than 10,000 accounts. */
export interface TokenListSource {
  read(query: TokenListQuery): Promise<TokenListRead>;
}

/** Reads a token list from the upstream, with accounts and mints at one slot if possible. */
export async function readTokenList(mesh: Pick<Mesh, 'call'>, query: TokenListQuery): Promise<TokenListRead> {
  const { mint, commitment } = query;
  const read = (minContextSlot: Slot | undefined): Promise<ReadParts<TokenList>> => {
    const options = { commitment, minContextSlot };
    return mint === undefined ? readAllAccounts(mesh, query, options) : readAccountsOfMint(mesh, mint, query, options);
  };
  const { slot, sinceSlot, value, isConsistent } = await readAtOneSlot(query.minContextSlot, read, query.maxAttempts);
  return { slot, sinceSlot, isConsistent, list: value };
}

/** Returns the scale of a mint's amounts. A closed mint has no decimals. */
export const scaleOf = ({ scales }: TokenList, mint: string): AmountScale => scales.get(mint) ?? CLOSED_MINT_SCALE;

/** Returns true when two lists are equal. A list that depends on the Clock equals no other. */
export const isSameList = (one: TokenList, other: TokenList): boolean => isDeepStrictEqual(one, other);

/** Returns the part of a list that belongs to one mint; an empty list when that is no mint. */
export function filterByMint({ accounts, scales, dependsOnClock: followsClock }: TokenList, mint: string): TokenList {
  const scale = scales.get(mint);
  if (scale === undefined) return { accounts: [], scales: new Map(), dependsOnClock: followsClock };
  return {
    accounts: accounts.filter(({ token }) => token.mint === mint),
    scales: new Map([[mint, scale]]),
    dependsOnClock: followsClock,
  };
}

/** The number of rows that are decoded in one turn of the event loop, in a few milliseconds. */
const ROWS_PER_CHUNK = 32;

/** The length of a list up to which its accounts are re-read by address. No list that is kept live is longer. */
const MAX_REREAD_ACCOUNTS = 200;

async function readAllAccounts(
  mesh: Pick<Mesh, 'call'>,
  { owner, known }: TokenListQuery,
  options: ReadOptions,
): Promise<ReadParts<TokenList>> {
  const { slots, rows } = await readAllTokenAccounts(mesh, owner, Object.values(TOKEN_PROGRAMS), options);
  const listed = await mapInChunks(rows, ROWS_PER_CHUNK, parseListedTokenAccount);
  const read = await readByAddress(mesh, owner, listed, known?.accounts ?? [], options);
  return { slots: [...slots, ...read.slots], value: read.value };
}

/** Reads the accounts of one mint. A node rejects an address that is no mint; here that is an empty list. */
async function readAccountsOfMint(
  mesh: Pick<Mesh, 'call'>,
  mint: string,
  { owner, known }: TokenListQuery,
  options: ReadOptions,
): Promise<ReadParts<TokenList>> {
  const mints = await readMintScales(mesh, [mint], options);
  if (mints.mint(mint) === undefined) return { slots: mints.slots, value: buildTokenList([], mints) };
  const { slot, rows } = await readTokenAccountsByOwner(mesh, owner, { mint }, options);
  const listed = await mapInChunks(rows, ROWS_PER_CHUNK, parseListedTokenAccount);
  const read = await readByAddress(
    mesh,
    owner,
    listed,
    known === undefined ? [] : filterByMint(known, mint).accounts,
    options,
  );
  return { slots: [slot, ...read.slots], value: read.value };
}

/** Reads the listed accounts, those that were known before, and their mints by address. */
async function readByAddress(
  mesh: Pick<Mesh, 'call'>,
  owner: string,
  listed: readonly ListedTokenAccount[],
  known: readonly ListedTokenAccount[],
  options: ReadOptions,
): Promise<ReadParts<TokenList>> {
  const isLong = listed.length > MAX_REREAD_ACCOUNTS;
  const candidates = isLong ? listed : [...listed, ...known];
  const addresses = isLong ? [] : candidates.map(({ address }) => address);
  const mints = await readMintScales(mesh, [...new Set(candidates.map(({ token }) => token.mint))], options, addresses);
  const accounts = isLong ? listed : await selectOwned(addresses, mints.accounts, owner);
  return { slots: mints.slots, value: buildTokenList(accounts, mints) };
}

/**
 * Selects the accounts that belong to an owner when read by address. A node's list only says which accounts there may
 * be: it is built from the node's newest root, which may be newer than the finalized slot that the node reports
 * (https://github.com/anza-xyz/agave/pull/11666).
 */
async function selectOwned(
  addresses: readonly string[],
  accounts: ReadonlyMap<string, EncodedAccount>,
  owner: string,
): Promise<readonly ListedTokenAccount[]> {
  const listed = await mapInChunks([...new Set(addresses)], ROWS_PER_CHUNK, (address) => {
    const account = accounts.get(address);
    return account && listedTokenAccount(address, account);
  });
  return listed.flatMap((account) => (account?.token.owner === owner ? [account] : []));
}

function buildTokenList(accounts: readonly ListedTokenAccount[], mints: MintScales): TokenList {
  const existingMints = new Map<string, Mint>();
  for (const { token } of accounts) {
    const mint = mints.mint(token.mint);
    if (mint !== undefined) existingMints.set(token.mint, mint);
  }
  return {
    accounts: accounts.toSorted((a, b) => compareText(a.token.mint, b.token.mint) || compareText(a.address, b.address)),
    scales: new Map([...existingMints.keys()].map((mint) => [mint, mints.scale(mint)])),
    dependsOnClock: [...existingMints.values()].some(dependsOnClock),
  };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
