/** An account's owner and data, undecoded. */
export interface RawAccount {
  /** The program that owns the account, in base58. It alone writes `data` and defines its meaning. */
  readonly owner: string;
  readonly data: Uint8Array;
}
