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

/** Token accounts of one owner, and what is needed to show them. */
export interface TokenList {
  /** By mint and address. */
  readonly accounts: readonly ListedTokenAccount[];
  /** How amounts are shown, of each mint that is there. */
  readonly scales: ReadonlyMap<string, AmountScale>;
  /** True when some amounts are shown by the cluster's Clock, and so move while nothing changes. */
  readonly dependsOnClock: boolean;
}

export interface TokenListQuery {
  readonly owner: string;
  /** Only the accounts of this mint. Default: all, under both token programs. */
  readonly mint?: string | undefined;
  readonly commitment: Commitment;
  /** The answer must not be older than this. */
  readonly minContextSlot: Slot | undefined;
  /** What it was not long ago: a node may leave out an account that has been closed just after the slot that it names. */
  readonly known?: TokenList | undefined;
  /** How often it is read for want of one slot. One for who reads it again together with something else. */
  readonly maxAttempts?: number;
}

export interface TokenListRead {
  readonly slot: Slot;
  /** The first slot that all of it is known to hold at. Default: {@link slot}. */
  readonly sinceSlot?: Slot;
  /** False when no slot was found at which all of it was read. */
  readonly isConsistent: boolean;
  readonly list: TokenList;
  /** Vouches for it at later slots too. */
  readonly lease?: Lease | undefined;
}

/** Where token lists are read. Throws `result_too_large` for more than 10,000 accounts. */
export interface TokenListSource {
  read(query: TokenListQuery): Promise<TokenListRead>;
}

/** Reads a token list from the upstream: accounts and mints at one slot, as far as it can be. */
export async function readTokenList(mesh: Pick<Mesh, 'call'>, query: TokenListQuery): Promise<TokenListRead> {
  const { mint, commitment } = query;
  const read = (minContextSlot: Slot | undefined): Promise<ReadParts<TokenList>> => {
    const options = { commitment, minContextSlot };
    return mint === undefined ? readAllAccounts(mesh, query, options) : readAccountsOfMint(mesh, mint, query, options);
  };
  const { slot, sinceSlot, value, isConsistent } = await readAtOneSlot(query.minContextSlot, read, query.maxAttempts);
  return { slot, sinceSlot, isConsistent: isConsistent, list: value };
}

/** How amounts of a mint are shown. One that is gone has no decimals any more. */
export const scaleOf = ({ scales }: TokenList, mint: string): AmountScale => scales.get(mint) ?? CLOSED_MINT_SCALE;

/** True when two lists say the same. One that follows the Clock is like no other. */
export const isSameList = (one: TokenList, other: TokenList): boolean => isDeepStrictEqual(one, other);

/** The part of a list that is about one mint: nothing when that is no mint. */
export function filterByMint({ accounts, scales, dependsOnClock: followsClock }: TokenList, mint: string): TokenList {
  const scale = scales.get(mint);
  if (scale === undefined) return { accounts: [], scales: new Map(), dependsOnClock: followsClock };
  return {
    accounts: accounts.filter(({ token }) => token.mint === mint),
    scales: new Map([[mint, scale]]),
    dependsOnClock: followsClock,
  };
}

/** So many rows take a few milliseconds. */
const ROWS_PER_CHUNK = 32;

/** The accounts of a longer list are not read again by address. None that is kept live is longer. */
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

/** A node refuses to list the accounts of what is no mint; here that is an empty list. */
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

/** Reads by address what is listed, or was known, and the mints of it. */
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
 * Those of the named accounts that hold tokens of an owner, as they are by address. A list only tells which there may
 * be: a node makes it as of its newest root, which is ahead of the slot that it names where that is final already
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
