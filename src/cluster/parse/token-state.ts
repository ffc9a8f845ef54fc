import { ACCOUNT_STATES } from '../../chain/account-state.ts';
import { ByteReader } from '../../chain/byte-reader.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../domain/programs.ts';
import type { Account } from '../account.ts';
import { extensionsIn } from './extensions.ts';
import type { Scale } from './token-amount.ts';

const MINT_SIZE = 82;
const ACCOUNT_SIZE = 165;
const MULTISIG_SIZE = 355;

/** What the byte behind an account's length says of data that is longer. */
const KIND = { mint: 1, account: 2 } as const;

/** The mint fields that both token programs share. */
export interface Mint {
  readonly mintAuthority: string | null;
  readonly supply: bigint;
  readonly decimals: number;
  readonly isInitialized: boolean;
  readonly freezeAuthority: string | null;
}

/** The token account fields that both token programs share. */
export interface TokenAccount {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly delegate: string | null;
  readonly state: (typeof ACCOUNT_STATES)[number];
  /** Rent that a wrapped-SOL account keeps back; null when it holds another token. */
  readonly rentExemptReserve: bigint | null;
  readonly delegatedAmount: bigint;
  readonly closeAuthority: string | null;
}

/** Whether an account belongs to one of the two token programs. */
export const isTokenOwned = ({ owner }: Account): boolean => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM;

function holds(kind: keyof typeof KIND, { owner, data }: Account): boolean {
  if (data.length === (kind === 'mint' ? MINT_SIZE : ACCOUNT_SIZE)) return true;
  return (
    owner === TOKEN_2022_PROGRAM &&
    data.length > ACCOUNT_SIZE &&
    data.length !== MULTISIG_SIZE &&
    data[ACCOUNT_SIZE] === KIND[kind]
  );
}

/** Reads a mint; undefined when the account holds none. */
export function readMint(account: Account): Mint | undefined {
  if (!isTokenOwned(account) || !holds('mint', account)) return undefined;
  const read = new ByteReader(account.data);
  const mintAuthority = read.paddedOption(() => read.key());
  const supply = read.u64();
  const decimals = read.u8();
  const isInitialized = read.u8() === 1;
  return isInitialized
    ? { mintAuthority, supply, decimals, isInitialized, freezeAuthority: read.paddedOption(() => read.key()) }
    : undefined;
}

/** Reads a token account; undefined when the account holds none. */
export function readTokenAccount(account: Account): TokenAccount | undefined {
  if (!isTokenOwned(account) || !holds('account', account)) return undefined;
  const read = new ByteReader(account.data);
  const mint = read.key();
  const owner = read.key();
  const amount = read.u64();
  const delegate = read.paddedOption(() => read.key());
  const state = ACCOUNT_STATES[read.u8()];
  if (state === undefined || state === 'uninitialized') return undefined;
  const native = read.u32() === 1;
  const reserve = read.u64();
  const rentExemptReserve = native ? reserve : null;
  return {
    mint,
    owner,
    amount,
    delegate,
    state,
    rentExemptReserve,
    delegatedAmount: read.u64(),
    closeAuthority: read.paddedOption(() => read.key()),
  };
}

const YEAR_SECONDS = 365.24 * 24 * 60 * 60;
const BASIS_POINTS = 10_000;

/** How amounts of a mint are shown at a bank's time; undefined when the account is no mint. */
export function scaleOf(account: Account, unixSeconds: number): Scale | undefined {
  const mint = readMint(account);
  if (mint === undefined) return undefined;
  const { decimals } = mint;
  const one = 10 ** decimals;
  for (const { kind, bytes } of extensionsIn(account.data)) {
    const read = new ByteReader(bytes, 32); // behind the authority
    if (kind === 'interestBearingConfig') {
      const started = Number(read.i64());
      const rateBefore = read.i16();
      const updated = Number(read.i64());
      const rate = read.i16();
      const growth = (rate: number, seconds: number): number =>
        Math.exp((rate * seconds) / YEAR_SECONDS / BASIS_POINTS);
      const factor = growth(rateBefore, updated - started) * growth(rate, unixSeconds - updated);
      return { decimals, shown: (amount) => (amount * factor) / one };
    }
    if (kind === 'scaledUiAmountConfig') {
      const before = read.f64();
      const from = Number(read.i64());
      const factor = unixSeconds >= from ? read.f64() : before;
      return { decimals, shown: (amount) => Math.trunc(amount * factor) / one };
    }
  }
  return { decimals };
}
