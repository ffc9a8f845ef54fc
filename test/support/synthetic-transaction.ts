import bs58 from 'bs58';
import { normalizeTransaction, type Transaction } from '../../src/transactions/records/transaction.ts';

export const addressOf = (byte: number): string => bs58.encode(bytesOf(byte));

/** Returns an address for each byte. */
export const addressesOf = <const T extends readonly number[]>(...bytes: T) =>
  bytes.map(addressOf) as { readonly [K in keyof T]: string }; // map returns an array of the same length

export const bytesOf = (byte: number): Uint8Array => Uint8Array.from(Array<number>(32).fill(byte));

export const u64Bytes = (value: bigint): number[] => [...new Uint8Array(BigUint64Array.of(value).buffer)];

/** An instruction with its data, or as a node decodes it. */
export type SyntheticCall =
  | { readonly programId: string; readonly accounts: readonly string[]; readonly data: readonly number[] }
  | { readonly programId: string; readonly program: string; readonly parsed: object };

export interface SyntheticTransaction {
  readonly calls: readonly SyntheticCall[];
  /** Calls of the first instruction. */
  readonly inner?: readonly SyntheticCall[];
  /** Calls of the second instruction. */
  readonly innerOfSecond?: readonly SyntheticCall[];
  readonly signers?: readonly string[];
  /** Accounts in the order in which the lamports are given. */
  readonly accounts?: readonly string[];
  readonly lamports?: { readonly before: readonly bigint[]; readonly after: readonly bigint[] };
  readonly tokens?: readonly SyntheticBalance[];
  readonly err?: unknown;
}

/** A token account before and after: null where it does not exist then. */
export interface SyntheticBalance {
  readonly account: string;
  readonly mint: string;
  readonly owner: string | null;
  readonly before: bigint | null;
  readonly after: bigint | null;
  readonly ownerAfter?: string;
  /** 6 if it isn't given. */
  readonly decimals?: number;
}

/** Returns a transaction record as a node would give it, for what no recorded one has. */
export function syntheticRecord({ calls, inner = [], innerOfSecond = [], ...rest }: SyntheticTransaction): object {
  const { signers = [], accounts = [], lamports, tokens = [], err = null } = rest;
  const all = [...calls, ...inner, ...innerOfSecond];
  const named = all.flatMap((call) => ('data' in call ? call.accounts : []));
  const programs = all.map(({ programId }) => programId);
  const keys = [...new Set([...signers, ...accounts, ...tokens.map(({ account }) => account), ...named, ...programs])];
  const lamportsOf = (side: 'before' | 'after'): readonly bigint[] =>
    lamports === undefined ? [] : keys.map((_, place) => lamports[side][place] ?? 0n);
  const balances = (side: 'before' | 'after'): object[] =>
    tokens.flatMap(({ account, mint, owner, ownerAfter, decimals = 6, [side]: amount }) =>
      amount === null
        ? []
        : [
            {
              accountIndex: keys.indexOf(account),
              mint,
              owner: (side === 'after' ? ownerAfter : undefined) ?? owner ?? undefined,
              uiTokenAmount: { amount: `${amount}`, decimals },
            },
          ],
    );
  const toRecord = (call: SyntheticCall): object =>
    'data' in call ? { ...call, data: bs58.encode(Uint8Array.from(call.data)) } : call;
  return {
    slot: 1,
    blockTime: null,
    transaction: {
      signatures: ['signature'],
      message: {
        accountKeys: keys.map((pubkey) => ({ pubkey, signer: signers.includes(pubkey), writable: true })),
        instructions: calls.map(toRecord),
      },
    },
    meta: {
      err,
      fee: 5000,
      preBalances: lamportsOf('before'),
      postBalances: lamportsOf('after'),
      preTokenBalances: balances('before'),
      postTokenBalances: balances('after'),
      innerInstructions: [inner, innerOfSecond].map((made, index) => ({ index, instructions: made.map(toRecord) })),
    },
  };
}

export const syntheticTransaction = (transaction: SyntheticTransaction): Transaction =>
  normalizeTransaction(syntheticRecord(transaction));
