/** What Solana stores at an address, exact to the lamport. */
export interface Account {
  readonly lamports: bigint;
  /** Base58 address of the program that may change it. */
  readonly owner: string;
  readonly executable: boolean;
  /** Never changed in place: versions of an account share it. */
  readonly data: Uint8Array;
}

/** Every account of today's Solana is rent exempt and carries this epoch, the largest u64. */
export const RENT_EPOCH = 18_446_744_073_709_551_615n;

export const isSameAccount = (a: Account | undefined, b: Account | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.lamports === b.lamports &&
    a.owner === b.owner &&
    a.executable === b.executable &&
    Buffer.compare(a.data, b.data) === 0);
