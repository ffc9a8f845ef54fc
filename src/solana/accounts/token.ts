import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../domain/well-known-addresses.ts';
import { type ByteReader, readBytes } from '../codec/byte-reader.ts';
import type { StoredAccount } from '../codec/stored-account.ts';
import { ACCOUNT_STATES } from './account-state.ts';
import { type Extension, readExtensions } from './token-2022.ts';

/** The two token programs by the names that nodes give them. */
export const TOKEN_PROGRAMS = {
  'spl-token': TOKEN_PROGRAM,
  'spl-token-2022': TOKEN_2022_PROGRAM,
} as const;

export type TokenProgram = keyof typeof TOKEN_PROGRAMS;

/** A kind of token: what both programs keep of it, and the extensions that only Token-2022 knows. */
export interface Mint {
  readonly type: 'mint';
  readonly program: TokenProgram;
  readonly mintAuthority: string | null;
  /** In the smallest units. */
  readonly supply: bigint;
  readonly decimals: number;
  readonly isInitialized: boolean;
  readonly freezeAuthority: string | null;
  readonly extensions: readonly Extension[];
}

/** Some owner's holding of one mint. Amounts are in the mint's smallest units. */
export interface TokenAccount {
  readonly type: 'account';
  readonly program: TokenProgram;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly delegate: string | null;
  readonly state: (typeof ACCOUNT_STATES)[number];
  /** The lamports that wrapped SOL keeps back as rent; null when the account holds any other token. */
  readonly rentExemptReserve: bigint | null;
  readonly delegatedAmount: bigint;
  readonly closeAuthority: string | null;
  readonly extensions: readonly Extension[];
}

/** An authority that several keys share. */
export interface Multisig {
  readonly type: 'multisig';
  readonly program: TokenProgram;
  readonly numRequiredSigners: number;
  readonly numValidSigners: number;
  readonly isInitialized: boolean;
  readonly signers: readonly string[];
}

const SIZES = { mint: 82, account: 165, multisig: 355 } as const;
const MULTISIG_PLACES = 11;

/** What Token-2022 writes behind an account's length when there is more than the base. */
const EXTENDED: Readonly<Record<number, 'mint' | 'account'>> = { 1: 'mint', 2: 'account' };
const EXTENSIONS_START = SIZES.account + 1;

/** The token program with this address, if it is one. */
export function tokenProgramOf(owner: string): TokenProgram | undefined {
  if (owner === TOKEN_PROGRAMS['spl-token']) return 'spl-token';
  return owner === TOKEN_PROGRAMS['spl-token-2022'] ? 'spl-token-2022' : undefined;
}

/**
 * What a token program keeps in an account; undefined when another program owns it or the data has none of its forms.
 * https://github.com/solana-program/token-2022/blob/main/interface/src/state.rs
 */
export function decodeToken({ owner, data }: StoredAccount): Mint | TokenAccount | Multisig | undefined {
  const program = tokenProgramOf(owner);
  if (program === undefined) return undefined;
  switch (formOf(program, data)) {
    case 'mint':
      return readBytes(data, (from) => ({ ...readMint(from), program, extensions: extensionsIn(data) }));
    case 'account':
      return readBytes(data, (from) => ({ ...readAccount(from), program, extensions: extensionsIn(data) }));
    case 'multisig':
      return readBytes(data, (from) => ({ ...readMultisig(from), program }));
    default:
      return undefined;
  }
}

/**
 * The size tells the form, but for extended data, which says it itself. Token-2022 never lets extended data become as long
 * as a multisig, so no size can be read in two ways.
 */
function formOf(program: TokenProgram, data: Uint8Array): keyof typeof SIZES | undefined {
  if (data.length === SIZES.mint) return 'mint';
  if (data.length === SIZES.account) return 'account';
  if (data.length === SIZES.multisig) return 'multisig';
  if (program === 'spl-token' || data.length < SIZES.account) return undefined;
  const form = EXTENDED[data[SIZES.account] ?? 0];
  const padding = data.subarray(SIZES.mint, SIZES.account);
  return form === 'mint' && padding.some((byte) => byte !== 0) ? undefined : form;
}

const extensionsIn = (data: Uint8Array): readonly Extension[] => readExtensions(data.subarray(EXTENSIONS_START));

function readMint(from: ByteReader) {
  return {
    type: 'mint',
    mintAuthority: from.paddedOption(() => from.key()),
    supply: from.u64(),
    decimals: from.u8(),
    isInitialized: from.bool(),
    freezeAuthority: from.paddedOption(() => from.key()),
  } as const;
}

function readAccount(from: ByteReader) {
  return {
    type: 'account',
    mint: from.key(),
    owner: from.key(),
    amount: from.u64(),
    delegate: from.paddedOption(() => from.key()),
    state: readState(from),
    rentExemptReserve: from.paddedOption(() => from.u64()),
    delegatedAmount: from.u64(),
    closeAuthority: from.paddedOption(() => from.key()),
  } as const;
}

function readState(from: ByteReader): TokenAccount['state'] {
  const number = from.u8();
  const state = ACCOUNT_STATES[number];
  if (state === undefined) throw new RangeError(`${number} is no state of a token account`);
  return state;
}

function readMultisig(from: ByteReader) {
  const numRequiredSigners = from.u8();
  const numValidSigners = from.u8();
  const isInitialized = from.bool();
  const signers = Array.from({ length: Math.min(numValidSigners, MULTISIG_PLACES) }, () => from.key());
  return { type: 'multisig', numRequiredSigners, numValidSigners, isInitialized, signers } as const;
}
