/** What the decoders need of an account: who may write it, and what is written there. */
export interface RawAccount {
  /** The program that owns the account, in base58. Whoever owns it decides what the bytes mean. */
  readonly owner: string;
  readonly data: Uint8Array;
}
