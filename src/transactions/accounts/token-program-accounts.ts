import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import type { RawAccount } from '../codec/raw-account.ts';
import { TOKEN_ACCOUNT_STATES } from './token-account-states.ts';
import { decodeExtensions, type TokenExtension } from './token-extensions.ts';

/** Addresses of the two token programs, by the names that nodes give them. */
export const TOKEN_PROGRAMS = {
  'spl-token': TOKEN_PROGRAM,
  'spl-token-2022': TOKEN_2022_PROGRAM,
} as const;

export type TokenProgram = keyof typeof TOKEN_PROGRAMS;

/** A mint; only Token-2022 has extensions. */
export interface Mint {
  readonly type: 'mint';
  readonly program: TokenProgram;
  readonly mintAuthority: string | null;
  /** The supply in smallest units. */
  readonly supply: bigint;
  readonly decimals: number;
  readonly isInitialized: boolean;
  readonly freezeAuthority: string | null;
  readonly extensions: readonly TokenExtension[];
}

/** A token account. Amounts are in the mint's smallest units. */
export interface TokenAccount {
  readonly type: 'account';
  readonly program: TokenProgram;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly delegate: string | null;
  readonly state: (typeof TOKEN_ACCOUNT_STATES)[number];
  /** Lamports of a wrapped SOL account that are its rent; null for any other mint. */
  readonly rentExemptReserve: bigint | null;
  readonly delegatedAmount: bigint;
  readonly closeAuthority: string | null;
  readonly extensions: readonly TokenExtension[];
}

/** An authority shared by several keys. */
export interface Multisig {
  readonly type: 'multisig';
  readonly program: TokenProgram;
  readonly numRequiredSigners: number;
  readonly numValidSigners: number;
  readonly isInitialized: boolean;
  readonly signers: readonly string[];
}

/** The place of the amount in a token account, after mint and owner: 8 bytes, little-endian. */
export const TOKEN_AMOUNT_OFFSET = 64;

export const MULTISIG_BYTES = 355;

const ACCOUNT_BYTES = { mint: 82, account: 165, multisig: MULTISIG_BYTES } as const;
const MULTISIG_MAX_SIGNERS = 11;

/** Account types that Token-2022 writes after the length of a token account, in accounts with extensions. */
const ACCOUNT_TYPES: Readonly<Record<number, 'mint' | 'account'>> = { 1: 'mint', 2: 'account' };
const EXTENSIONS_OFFSET = ACCOUNT_BYTES.account + 1;

/** Returns the name of the token program with this address; undefined for another program. */
export function tokenProgramOf(owner: string): TokenProgram | undefined {
  if (owner === TOKEN_PROGRAMS['spl-token']) return 'spl-token';
  return owner === TOKEN_PROGRAMS['spl-token-2022'] ? 'spl-token-2022' : undefined;
}

/**
 * Decodes an account of a token program; undefined if another program owns it or the data fits none of its account
 * types.
 * https://github.com/solana-program/token-2022/blob/main/interface/src/state.rs
 */
export function decodeTokenProgramAccount({ owner, data }: RawAccount): Mint | TokenAccount | Multisig | undefined {
  const program = tokenProgramOf(owner);
  if (program === undefined) return undefined;
  switch (accountTypeOf(program, data)) {
    case 'mint':
      return tryDecode(data, (reader) => ({ ...readMint(reader), program, extensions: extensionsOf(data) }));
    case 'account':
      return tryDecode(data, (reader) => ({ ...readAccount(reader), program, extensions: extensionsOf(data) }));
    case 'multisig':
      return tryDecode(data, (reader) => ({ ...readMultisig(reader), program }));
    default:
      return undefined;
  }
}

/**
 * Determines the account type by size, and for extended data by its type byte. Token-2022 never lets extended data
 * become as long as a multisig, so each size is unambiguous.
 */
function accountTypeOf(program: TokenProgram, data: Uint8Array): keyof typeof ACCOUNT_BYTES | undefined {
  if (data.length === ACCOUNT_BYTES.mint) return 'mint';
  if (data.length === ACCOUNT_BYTES.account) return 'account';
  if (data.length === ACCOUNT_BYTES.multisig) return 'multisig';
  if (program === 'spl-token' || data.length < ACCOUNT_BYTES.account) return undefined;
  const accountType = ACCOUNT_TYPES[data[ACCOUNT_BYTES.account] ?? 0];
  const padding = data.subarray(ACCOUNT_BYTES.mint, ACCOUNT_BYTES.account);
  return accountType === 'mint' && padding.some((byte) => byte !== 0) ? undefined : accountType;
}

const extensionsOf = (data: Uint8Array): readonly TokenExtension[] =>
  decodeExtensions(data.subarray(EXTENSIONS_OFFSET));

function readMint(reader: ByteReader) {
  return {
    type: 'mint',
    mintAuthority: reader.cOption(() => reader.pubkey()),
    supply: reader.u64(),
    decimals: reader.u8(),
    isInitialized: reader.bool(),
    freezeAuthority: reader.cOption(() => reader.pubkey()),
  } as const;
}

function readAccount(reader: ByteReader) {
  return {
    type: 'account',
    mint: reader.pubkey(),
    owner: reader.pubkey(),
    amount: reader.u64(),
    delegate: reader.cOption(() => reader.pubkey()),
    state: readState(reader),
    rentExemptReserve: reader.cOption(() => reader.u64()),
    delegatedAmount: reader.u64(),
    closeAuthority: reader.cOption(() => reader.pubkey()),
  } as const;
}

function readState(reader: ByteReader): TokenAccount['state'] {
  const number = reader.u8();
  const state = TOKEN_ACCOUNT_STATES[number];
  if (state === undefined) throw new RangeError(`${number} is no state of a token account`);
  return state;
}

function readMultisig(reader: ByteReader) {
  const numRequiredSigners = reader.u8();
  const numValidSigners = reader.u8();
  const isInitialized = reader.bool();
  const signers = Array.from({ length: Math.min(numValidSigners, MULTISIG_MAX_SIGNERS) }, () => reader.pubkey());
  return { type: 'multisig', numRequiredSigners, numValidSigners, isInitialized, signers } as const;
}
