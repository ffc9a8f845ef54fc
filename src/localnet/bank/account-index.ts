import type { Account } from './svm-account.ts';
import { isOwnedByTokenProgram } from './token-state.ts';

/** Bytes that the data of an account must have at an offset: Solana's `memcmp` filter. */
export interface Memcmp {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Returns whether data has the bytes of a filter; data that ends before them has not. */
export const matchesMemcmp = (data: Uint8Array, { offset, bytes }: Memcmp): boolean =>
  Buffer.compare(data.subarray(offset, offset + bytes.length), bytes) === 0;

/** Offset of the mint in a token account, in both token programs. */
export const TOKEN_MINT_OFFSET = 0;
export const TOKEN_OWNER_OFFSET = 32;

const ADDRESS_BYTES = 32;
/** Offsets of the indexed addresses. An owner has fewer accounts than a mint, so that is looked up first. */
const INDEXED_OFFSETS = [TOKEN_OWNER_OFFSET, TOKEN_MINT_OFFSET] as const;

/**
 * Accounts by the program that owns them, and those of the token programs by mint and by owner: what Agave's indexes
 * `program-id`, `spl-token-mint` and `spl-token-owner` cover. An account has the keys of each of its states that a
 * commitment may still read, so a caller that looks up a key has to compare the state that it reads.
 */
export class AccountIndex {
  readonly #addressesByKey = new Map<string, Set<string>>();
  readonly #keysByAddress = new Map<string, Set<string>>();

  addresses(key: string): Iterable<string> {
    return this.#addressesByKey.get(key) ?? [];
  }

  add(address: string, state: Account): void {
    for (const key of indexKeysOf(state)) this.#addKey(address, key);
  }

  replace(address: string, states: readonly Account[]): void {
    const kept = new Set(states.flatMap(indexKeysOf));
    for (const key of this.#keysByAddress.get(address) ?? []) if (!kept.has(key)) this.#removeKey(address, key);
    for (const key of kept) this.#addKey(address, key);
  }

  #addKey(address: string, key: string): void {
    addTo(this.#addressesByKey, key, address);
    addTo(this.#keysByAddress, address, key);
  }

  #removeKey(address: string, key: string): void {
    removeFrom(this.#addressesByKey, key, address);
    removeFrom(this.#keysByAddress, address, key);
  }
}

export function indexKeysOf(state: Account): string[] {
  const { owner, data } = state;
  if (!isOwnedByTokenProgram(state)) return [owner];
  const tokenKeys = INDEXED_OFFSETS.filter((offset) => data.length >= offset + ADDRESS_BYTES).map((offset) =>
    tokenKey(owner, offset, data),
  );
  return [owner, ...tokenKeys];
}

/** Returns the key that all accounts of a program have that match the filters. */
export function indexKeyOf(program: string, filters: readonly Memcmp[]): string {
  if (!isOwnedByTokenProgram({ owner: program })) return program;
  for (const offset of INDEXED_OFFSETS) {
    const filter = filters.find((filter) => filter.offset === offset && filter.bytes.length >= ADDRESS_BYTES);
    if (filter !== undefined) return tokenKey(program, offset, filter.bytes, 0);
  }
  return program;
}

function tokenKey(program: string, offset: number, bytes: Uint8Array, start = offset): string {
  const address = Buffer.from(bytes.buffer, bytes.byteOffset + start, ADDRESS_BYTES);
  return `${program} ${offset} ${address.toString('latin1')}`;
}

function addTo(sets: Map<string, Set<string>>, name: string, member: string): void {
  sets.set(name, (sets.get(name) ?? new Set()).add(member));
}

function removeFrom(sets: Map<string, Set<string>>, name: string, member: string): void {
  const set = sets.get(name);
  if (set?.delete(member) && set.size === 0) sets.delete(name);
}
