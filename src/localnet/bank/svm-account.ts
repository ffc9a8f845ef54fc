import { MAX_U64 } from '../../shared/domain/max-u64.ts';
import { SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';

/** State that Solana stores at an address, exact to the lamport. */
export interface Account {
  readonly lamports: bigint;
  /** Base58 address of the program that may change the account. */
  readonly owner: string;
  readonly executable: boolean;
  /** Shared by versions of an account, so never changed in place. */
  readonly data: Uint8Array;
}

/** Returns an account of the System program without data: a wallet, or one that is closed where it has no lamports. */
export const systemAccount = (lamports: bigint): Account => ({
  lamports,
  owner: SYSTEM_PROGRAM,
  executable: false,
  data: new Uint8Array(0),
});

/** Rent epoch of a rent-exempt account, the largest u64. Every account of today's Solana is rent exempt. */
export const RENT_EPOCH = MAX_U64;

export const isSameAccount = (a: Account | undefined, b: Account | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.lamports === b.lamports &&
    a.owner === b.owner &&
    a.executable === b.executable &&
    Buffer.compare(a.data, b.data) === 0);
