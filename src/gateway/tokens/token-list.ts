import { isDeepStrictEqual } from 'node:util';
import { type Agreement, combinedAgreement } from '../../shared/domain/agreement.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import { compare } from '../../shared/domain/compare.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Lease } from '../../shared/domain/lease.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { countRows, type RequestCost } from '../../shared/domain/units.ts';
import { mapInChunks } from '../../shared/runtime/map-in-chunks.ts';
import { ownTurn } from '../../shared/runtime/own-turn.ts';
import {
  type AmountScale,
  dependsOnClock,
  identityInMint,
  nameInMetaplexAccount,
  type TokenIdentity,
} from '../../transactions/index.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { EncodedAccount, ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { type ReadParts, readAtOneSlot } from '../upstream/reads/read-at-one-slot.ts';
import {
  MAX_REREAD_ACCOUNTS,
  MAX_TOKEN_ACCOUNTS,
  mapRows,
  readTokenAccountsByOwner,
} from '../upstream/reads/token-accounts-by-owner.ts';
import { callsForRequest } from '../upstream/rpc/calls-for-request.ts';
import { type ListedTokenAccount, listedTokenAccount, parseListedTokenAccount } from './listed-token-account.ts';
import { cachedMetadataAddress } from './metadata-addresses.ts';
import { CLOSED_MINT_SCALE, type MintScales, readMintScales } from './mint-scales.ts';
import { type ListOwner, readOwnerListing } from './owner-listing.ts';

export interface TokenList {
  readonly accounts: readonly ListedTokenAccount[];
  readonly scales: ReadonlyMap<string, AmountScale>;
  readonly identities: ReadonlyMap<string, TokenIdentity> | undefined;
  /** True when the Clock sysvar scales some amounts: they change while no account does. */
  readonly dependsOnClock: boolean;
}

export type MintFacts = Pick<TokenList, 'scales' | 'identities'>;

export interface TokenListQuery {
  readonly owner: string;
  /** The mint to which the list is limited. Default: all accounts of both token programs. */
  readonly mint?: string | undefined;
  readonly commitment: Commitment;
  readonly minContextSlot: Slot | undefined;
  /** A recent list, whose accounts are read again: a node may leave out one that was closed just after the slot that it reports. */
  readonly known?: TokenList | undefined;
  /** Whether the identities of the mints are read, too. Ignored for the list of one mint. */
  readonly withIdentities?: boolean | undefined;
  /**
   * The most mints of which the owner has some: a list with more of them is refused as `result_too_large`. Of a long
   * list only these mints are read, and only the accounts that hold some are returned. Default: any number.
   */
  readonly maxHeldMints?: number | undefined;
  /** The most accounts of the list: a longer one is refused as `result_too_large` before its mints are read. */
  readonly maxAccounts?: number;
  /** The most rounds to read all parts at one slot. Callers that retry a larger read themselves pass one. */
  readonly maxRounds?: number;
  readonly cost?: RequestCost | undefined;
  /** Operators that must give the same. Default: 1. */
  readonly agree?: number | undefined;
  /** Whether an answer that fewer gave is of no use. Default: false. */
  readonly mustAgree?: boolean;
}

export interface TokenListRead {
  readonly slot: Slot;
  /** The first slot at which the whole list is known to hold. Default: {@link slot}. */
  readonly sinceSlot?: Slot;
  /** False when its parts could not be read at one slot. */
  readonly isConsistent: boolean;
  /** True when the list is so long that it isn't read again for the sake of one slot. Default: false. */
  readonly isLong?: boolean;
  readonly list: TokenList;
  /** The operators that gave all parts; undefined over one operator. */
  readonly agreement?: Agreement | undefined;
  /** The lease that dates the list beyond {@link slot}. */
  readonly lease?: Lease | undefined;
}

/** A source of token lists. It throws `result_too_large` for more than 10,000 accounts. */
export interface TokenListSource {
  read(query: TokenListQuery): Promise<TokenListRead>;
}

export async function readTokenList(
  mesh: Pick<Mesh, 'call'>,
  query: TokenListQuery,
  listOwner: ListOwner = readOwnerListing,
): Promise<TokenListRead> {
  const { mint, commitment, cost, agree } = query;
  const rpc = callsForRequest(mesh, cost);
  const read = (minContextSlot: Slot | undefined): Promise<ListParts> => {
    const options = { commitment, minContextSlot, agree };
    return mint === undefined
      ? readAllAccounts(rpc, query, options, listOwner)
      : readAccountsOfMint(rpc, mint, query, options, listOwner);
  };
  const { slot, sinceSlot, value, isConsistent } = await readAtOneSlot(query.minContextSlot, read, query.maxRounds);
  const { list, isLong, agreements } = value;
  return { slot, sinceSlot, isConsistent, isLong, list, agreement: combinedAgreement(agreements, slot) };
}

type ListParts = ReadParts<
  Pick<TokenListRead, 'list'> & { readonly isLong: boolean; readonly agreements: readonly (Agreement | undefined)[] }
>;

export const scaleOf = ({ scales }: TokenList, mint: string): AmountScale => scales.get(mint) ?? CLOSED_MINT_SCALE;

/** Identities count where both have them. A list that depends on the Clock equals no other. */
export function isSameList(one: TokenList, other: TokenList): boolean {
  if (one.identities !== undefined && other.identities !== undefined) return isDeepStrictEqual(one, other);
  return isDeepStrictEqual({ ...one, identities: undefined }, { ...other, identities: undefined });
}

/** Returns the list after some of its accounts have changed, or left it: those are undefined. Its amounts don't depend on the Clock. */
export function withChanges(
  list: TokenList,
  changes: ReadonlyMap<string, ListedTokenAccount | undefined>,
  { scales, identities }: MintFacts,
): TokenList {
  const unchanged = list.accounts.filter(({ address }) => !changes.has(address));
  const changed = [...changes.values()].filter((account) => account !== undefined);
  const accounts = [...unchanged, ...changed].sort(byMintAndAddress); // quick where they are sorted already
  const mints = new Set(accounts.map(({ token }) => token.mint));
  const ofListed = <V>(facts: ReadonlyMap<string, V>): Map<string, V> =>
    new Map([...facts].filter(([mint]) => mints.has(mint)));
  return { accounts, scales: ofListed(scales), identities: identities && ofListed(identities), dependsOnClock: false };
}

export function filterByMint({ accounts, scales, dependsOnClock: followsClock }: TokenList, mint: string): TokenList {
  const scale = scales.get(mint);
  return {
    accounts: accounts.filter(({ token }) => token.mint === mint),
    scales: new Map(scale === undefined ? [] : [[mint, scale]]),
    identities: undefined,
    dependsOnClock: followsClock,
  };
}

/** What a token's name costs in rows: an address is derived, two accounts are read, and symbols are compared. */
const ROWS_PER_IDENTITY = 2;

/** The number of rows that are decoded in one turn of the event loop, in a few milliseconds. */
const ROWS_PER_CHUNK = 32;

/** The number of addresses that are derived in one turn of the event loop, in a few milliseconds. */
const ADDRESSES_PER_CHUNK = 16;
const ACCOUNTS_PER_CHUNK = 1024;

async function readAllAccounts(
  mesh: Pick<Mesh, 'call'>,
  query: TokenListQuery,
  options: ReadOptions,
  listOwner: ListOwner,
): Promise<ListParts> {
  const { owner, maxAccounts = MAX_TOKEN_ACCOUNTS, cost } = query;
  const { slots, rows, agreement } = await counted(listOwner(mesh, owner, options), cost);
  if (rows.length > maxAccounts)
    throw new GatewayError('result_too_large', `the owner has more than ${maxAccounts} token accounts`);
  return readListed(mesh, query, options, { slots, rows, agreements: [agreement] });
}

/** Counts the rows of a listing for the request; those of one that is too long, too: it was read to its end. */
async function counted<T extends { readonly rows: readonly Buffer[] }>(
  listing: Promise<T>,
  cost: RequestCost | undefined,
): Promise<T> {
  try {
    const listed = await listing;
    countRows({ cost }, listed.rows.length);
    return listed;
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'result_too_large') countRows({ cost }, MAX_TOKEN_ACCOUNTS);
    throw thrown;
  }
}

async function readAccountsOfMint(
  mesh: Pick<Mesh, 'call'>,
  mint: string,
  query: TokenListQuery,
  options: ReadOptions,
  listOwner: ListOwner,
): Promise<ListParts> {
  const { owner, known, cost } = query;
  const mints = await readMintScales(mesh, [mint], options);
  const ofMint = {
    ...query,
    withIdentities: false,
    maxHeldMints: undefined,
    known: known && filterByMint(known, mint),
  };
  if (mints.mint(mint)?.isInitialized !== true) {
    const all = await counted(listOwner(mesh, owner, options), cost); // a node lists none by a mint that was closed
    const isOfMint = (row: Buffer): boolean => parseListedTokenAccount(row).token.mint === mint;
    const matches = await mapRows(all.rows, isOfMint);
    const rows = all.rows.filter((_, i) => matches[i]);
    return readListed(mesh, ofMint, options, { slots: all.slots, rows, agreements: [mints.agreement, all.agreement] });
  }
  const { slot, rows, agreement } = await counted(readTokenAccountsByOwner(mesh, owner, { mint }, options), cost);
  return readListed(mesh, ofMint, options, { slots: [slot], rows, agreements: [mints.agreement, agreement] });
}

interface Listed {
  readonly slots: readonly Slot[];
  readonly rows: readonly Buffer[];
  readonly agreements: readonly (Agreement | undefined)[];
}

/** Reads the mints of listed accounts, and the accounts themselves unless they are many. */
async function readListed(
  mesh: Pick<Mesh, 'call'>,
  { owner, withIdentities = false, maxHeldMints, known, cost }: TokenListQuery,
  options: ReadOptions,
  { slots, rows, agreements }: Listed,
): Promise<ListParts> {
  const isLong = rows.length > MAX_REREAD_ACCOUNTS;
  const partsOf = (list: TokenList, mints?: MintScales): ListParts => ({
    slots: [...slots, ...(mints?.slots ?? [])],
    isRepeatable: !isLong,
    value: { list, isLong, agreements: mints === undefined ? agreements : [...agreements, mints.agreement] },
  });
  const listed =
    isLong && maxHeldMints !== undefined
      ? await parseHeld(rows, maxHeldMints)
      : await mapRows(rows, parseListedTokenAccount);
  const candidates = isLong ? listed : [...listed, ...(known?.accounts ?? [])];
  if (candidates.length === 0)
    return partsOf({
      accounts: [],
      scales: new Map(),
      identities: withIdentities ? new Map() : undefined,
      dependsOnClock: false,
    });
  const addresses = isLong ? [] : candidates.map(({ address }) => address);
  const mintAddresses = [...new Set(candidates.map(({ token }) => token.mint))];
  countRows({ cost }, (withIdentities ? 1 + ROWS_PER_IDENTITY : 1) * mintAddresses.length);
  const metadataAddressOf = (mint: string): string =>
    known?.identities?.get(mint)?.metadataAddress ?? cachedMetadataAddress(mint);
  const metadata = withIdentities ? await mapInChunks(mintAddresses, ADDRESSES_PER_CHUNK, metadataAddressOf) : [];
  const mints = await readMintScales(mesh, mintAddresses, options, [...addresses, ...metadata]);
  const accounts = isLong ? listed : await selectOwned(addresses, mints.accounts, owner);
  const identities = withIdentities ? await identitiesOf(mintAddresses, metadata, mints) : undefined;
  return partsOf(await buildTokenList(accounts, mints, identities), mints);
}

/** Parses the accounts that hold some of a mint. Throws `result_too_large` as soon as there are more mints than `maxMints`. */
async function parseHeld(rows: readonly Buffer[], maxMints: number): Promise<readonly ListedTokenAccount[]> {
  const mints = new Set<string>();
  const listed = await mapRows(rows, (row) => {
    const account = parseListedTokenAccount(row);
    if (account.token.amount === 0n) return undefined;
    mints.add(account.token.mint);
    if (mints.size > maxMints) throw tooManyMints(maxMints);
    return account;
  });
  return listed.filter((account) => account !== undefined);
}

const tooManyMints = (maxMints: number): GatewayError =>
  new GatewayError(
    'result_too_large',
    `the address holds more than ${maxMints.toLocaleString('en-US')} different tokens, the most that are valued: list them with /token-accounts/OWNER, or those of one mint with ?mint=MINT`,
  );

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

async function buildTokenList(
  accounts: readonly ListedTokenAccount[],
  mints: MintScales,
  identities: MintFacts['identities'],
): Promise<TokenList> {
  await ownTurn();
  const sorted = accounts.toSorted(byMintAndAddress); // 5 ms for the 10,000 that a list has at most
  const scales = new Map<string, AmountScale>();
  let followsClock = false;
  await mapInChunks(sorted, ACCOUNTS_PER_CHUNK, ({ token }) => {
    const mint = mints.mint(token.mint);
    if (mint === undefined || scales.has(token.mint)) return;
    followsClock ||= dependsOnClock(mint);
    scales.set(token.mint, mints.scale(token.mint));
  });
  const listed = identities && new Map([...identities].filter(([mint]) => scales.has(mint)));
  return { accounts: sorted, scales, identities: listed, dependsOnClock: followsClock };
}

async function identitiesOf(addresses: readonly string[], metadataAddresses: readonly string[], mints: MintScales) {
  const addressed = addresses.map((address, i) => ({ address, metadataAddress: metadataAddresses[i] ?? '' }));
  const identified = await mapInChunks(addressed, ROWS_PER_CHUNK, ({ address, metadataAddress }) => {
    const mint = mints.mint(address);
    if (mint === undefined) return [];
    const inMint = identityInMint(address, mint);
    const metaplex =
      inMint.embedded === null ? nameInMetaplexAccount(address, mints.accounts.get(metadataAddress)) : null;
    return [[address, { metadataAddress, metaplex, ...inMint }] as const];
  });
  return new Map<string, TokenIdentity>(identified.flat());
}

const byMintAndAddress = (a: ListedTokenAccount, b: ListedTokenAccount): number =>
  compare(a.token.mint, b.token.mint) || compare(a.address, b.address);
