import bs58 from 'bs58';
import type { Account } from './account.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './programs.ts';

/** What a token account held before or after a transaction. */
export interface TokenBalance {
  /** Index into the transaction's account keys. */
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  /** Which token program. */
  readonly program: string;
  readonly amount: bigint;
  readonly decimals: number;
}

const ACCOUNT_SIZE = 165;
/** In Token-2022 this byte after the base layout says whether extensions belong to a mint (1) or an account (2). */
const KIND_OFFSET = 165;

/** Reads the balances of those accounts that are initialized token accounts; `mintOf` finds a mint as it was then. */
export function tokenBalances(
  accounts: readonly (Account | undefined)[],
  mintOf: (address: string) => Account | undefined,
): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    if (account === undefined || !isTokenAccount(account)) return [];
    const { data, owner: program } = account;
    const mint = bs58.encode(data.subarray(0, 32));
    const decimals = mintOf(mint)?.data[44];
    if (decimals === undefined) return [];
    const amount = new DataView(data.buffer, data.byteOffset, data.length).getBigUint64(64, true);
    return [{ accountIndex, mint, owner: bs58.encode(data.subarray(32, 64)), program, amount, decimals }];
  });
}

function isTokenAccount({ owner, data }: Account): boolean {
  const initialized = data.length >= ACCOUNT_SIZE && data[108] !== 0;
  if (owner === TOKEN_PROGRAM) return initialized && data.length === ACCOUNT_SIZE;
  return owner === TOKEN_2022_PROGRAM && initialized && (data.length === ACCOUNT_SIZE || data[KIND_OFFSET] === 2);
}
