/** State that Solana stores at an address, exact to the lamport. */
export interface Account {
  readonly lamports: bigint;
  /** Base58 address of the program that may change the account. */
  readonly owner: string;
  readonly executable: boolean;
  /** Shared by versions of an account, so never changed in place. */
  readonly data: Uint8Array;
}

/** Rent epoch of a rent-exempt account, the largest u64. Every account of today's Solana is rent exempt. */
export const RENT_EPOCH = 18_446_744_073_709_551_615n;

export const isSameAccount = (a: Account | undefined, b: Account | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.lamports === b.lamports &&
    a.owner === b.owner &&
    a.executable === b.executable &&
    Buffer.compare(a.data, b.data) === 0);
