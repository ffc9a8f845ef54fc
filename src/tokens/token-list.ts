import { isDeepStrictEqual } from 'node:util';
import type { Commitment } from '../domain/commitment.ts';
import type { Proof } from '../domain/proof.ts';
import type { Slot } from '../domain/slot.ts';
import { mapInChunks } from '../runtime/map-in-chunks.ts';
import { type Mint, TOKEN_PROGRAMS } from '../solana/accounts/token.ts';
import { type AmountScale, dependsOnClock } from '../solana/accounts/ui-amount.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { EncodedAccount, ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { type ReadParts, readAtOneSlot } from '../upstream/reads/read-at-one-slot.ts';
import { readAllTokenAccounts, readTokenAccountsByOwner } from '../upstream/reads/token-accounts-by-owner.ts';
import { type HeldToken, heldToken, heldTokenIn } from './held-token.ts';
import { GONE, type Mints, readMints } from './mints.ts';

/** Token accounts of one owner, and what is needed to show them. */
export interface TokenList {
  /** By mint and address. */
  readonly held: readonly HeldToken[];
  /** How amounts are shown, of each mint that is there. */
  readonly scales: ReadonlyMap<string, AmountScale>;
  /** True when some amounts are shown by the cluster's Clock, and so move while nothing changes. */
  readonly followsClock: boolean;
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
  readonly rounds?: number;
}

export interface TokenListReading {
  readonly slot: Slot;
  /** The first slot that all of it is known to hold at. Default: {@link slot}. */
  readonly sinceSlot?: Slot;
  /** False when no slot was found at which all of it was read. */
  readonly agree: boolean;
  readonly list: TokenList;
  /** Vouches for it at later slots too. */
  readonly proof?: Proof | undefined;
}

/** Where token lists are read. Throws `result_too_large` for more than 10,000 accounts. */
export interface TokenListSource {
  read(query: TokenListQuery): Promise<TokenListReading>;
}

/** Reads a token list from the upstream: accounts and mints at one slot, as far as it can be. */
export async function readTokenList(mesh: Pick<Mesh, 'call'>, query: TokenListQuery): Promise<TokenListReading> {
  const { mint, commitment } = query;
  const read = (minContextSlot: Slot | undefined): Promise<ReadParts<TokenList>> => {
    const at = { commitment, minContextSlot };
    return mint === undefined ? readAll(mesh, query, at) : readOfMint(mesh, mint, query, at);
  };
  const { slot, sinceSlot, value, isConsistent } = await readAtOneSlot(query.minContextSlot, read, query.rounds);
  return { slot, sinceSlot, agree: isConsistent, list: value };
}

/** How amounts of a mint are shown. One that is gone has no decimals any more. */
export const scaleIn = ({ scales }: TokenList, mint: string): AmountScale => scales.get(mint) ?? GONE;

/** True when two lists say the same. One that follows the Clock is like no other. */
export const isSameList = (one: TokenList, other: TokenList): boolean => isDeepStrictEqual(one, other);

/** The part of a list that is about one mint: nothing when that is no mint. */
export function ofMint({ held, scales, followsClock }: TokenList, mint: string): TokenList {
  const scale = scales.get(mint);
  if (scale === undefined) return { held: [], scales: new Map(), followsClock };
  return { held: held.filter(({ token }) => token.mint === mint), scales: new Map([[mint, scale]]), followsClock };
}

/** So many rows take a few milliseconds. */
const SLICE = 32;

/** The accounts of a longer list are not read again by address. None that is kept live is longer. */
const MOST_NAMED = 200;

async function readAll(
  mesh: Pick<Mesh, 'call'>,
  { owner, known }: TokenListQuery,
  at: ReadOptions,
): Promise<ReadParts<TokenList>> {
  const { slots, rows } = await readAllTokenAccounts(mesh, owner, Object.values(TOKEN_PROGRAMS), at);
  const listed = await mapInChunks(rows, SLICE, heldTokenIn);
  const read = await readNamed(mesh, owner, listed, known?.held ?? [], at);
  return { slots: [...slots, ...read.slots], value: read.value };
}

/** A node refuses to list the accounts of what is no mint; here that is an empty list. */
async function readOfMint(
  mesh: Pick<Mesh, 'call'>,
  mint: string,
  { owner, known }: TokenListQuery,
  at: ReadOptions,
): Promise<ReadParts<TokenList>> {
  const mints = await readMints(mesh, [mint], at);
  if (mints.mint(mint) === undefined) return { slots: mints.slots, value: listOf([], mints) };
  const { slot, rows } = await readTokenAccountsByOwner(mesh, owner, { mint }, at);
  const listed = await mapInChunks(rows, SLICE, heldTokenIn);
  const read = await readNamed(mesh, owner, listed, known === undefined ? [] : ofMint(known, mint).held, at);
  return { slots: [slot, ...read.slots], value: read.value };
}

/** Reads by address what is listed, or was known, and the mints of it. */
async function readNamed(
  mesh: Pick<Mesh, 'call'>,
  owner: string,
  listed: readonly HeldToken[],
  known: readonly HeldToken[],
  at: ReadOptions,
): Promise<ReadParts<TokenList>> {
  const isLong = listed.length > MOST_NAMED;
  const there = isLong ? listed : [...listed, ...known];
  const named = isLong ? [] : there.map(({ address }) => address);
  const mints = await readMints(mesh, [...new Set(there.map(({ token }) => token.mint))], at, named);
  const held = isLong ? listed : await heldAmong(named, mints.accounts, owner);
  return { slots: mints.slots, value: listOf(held, mints) };
}

/**
 * Those of the named accounts that hold tokens of an owner, as they are by address. A list only tells which there may
 * be: a node makes it as of its newest root, which is ahead of the slot that it names where that is final already
 * (https://github.com/anza-xyz/agave/pull/11666).
 */
async function heldAmong(
  named: readonly string[],
  accounts: ReadonlyMap<string, EncodedAccount>,
  owner: string,
): Promise<readonly HeldToken[]> {
  const held = await mapInChunks([...new Set(named)], SLICE, (address) => {
    const account = accounts.get(address);
    return account && heldToken(address, account);
  });
  return held.flatMap((each) => (each?.token.owner === owner ? [each] : []));
}

function listOf(held: readonly HeldToken[], mints: Mints): TokenList {
  const there = new Map<string, Mint>();
  for (const { token } of held) {
    const mint = mints.mint(token.mint);
    if (mint !== undefined) there.set(token.mint, mint);
  }
  return {
    held: held.toSorted((a, b) => compare(a.token.mint, b.token.mint) || compare(a.address, b.address)),
    scales: new Map([...there.keys()].map((mint) => [mint, mints.scale(mint)])),
    followsClock: [...there.values()].some(dependsOnClock),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
