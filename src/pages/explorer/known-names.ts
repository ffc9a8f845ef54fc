import { knownMintSymbol } from '../../shared/domain/known-mints.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  CLOCK_SYSVAR,
  COMPUTE_BUDGET_PROGRAM,
  LOADER_V2,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  METADATA_PROGRAM,
  NATIVE_LOADER,
  RENT_SYSVAR,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../shared/domain/well-known-addresses.ts';

/** Names of ours, by address. */
export const NAMES: Readonly<Record<string, string>> = {
  [SYSTEM_PROGRAM]: 'System program',
  [TOKEN_PROGRAM]: 'Token program',
  [TOKEN_2022_PROGRAM]: 'Token-2022 program',
  [ASSOCIATED_TOKEN_PROGRAM]: 'Associated token program',
  [STAKE_PROGRAM]: 'Stake program',
  [VOTE_PROGRAM]: 'Vote program',
  [COMPUTE_BUDGET_PROGRAM]: 'Compute budget program',
  [LOOKUP_TABLE_PROGRAM]: 'Address lookup table program',
  [UPGRADEABLE_LOADER]: 'Upgradeable loader',
  [LOADER_V2]: 'Loader 2',
  [NATIVE_LOADER]: 'Native loader',
  [MEMO_PROGRAM]: 'Memo program',
  [METADATA_PROGRAM]: 'Token metadata program',
  [CLOCK_SYSVAR]: 'Clock sysvar',
  [RENT_SYSVAR]: 'Rent sysvar',
};

/** Returns what an address is known as, by a list of ours; undefined for others. */
export const knownName = (address: string): string | undefined =>
  NAMES[address] ?? knownMintSymbol(address) ?? undefined;

/** The kind of account by which its owner keeps money: of others the fields are of more interest than the balance. */
export const WALLET = 'system';

/** The kinds of accounts as people call them. */
const KIND_WORDS: Readonly<Record<string, string>> = {
  [WALLET]: 'Wallet',
  stake: 'Stake account',
  vote: 'Vote account',
  nonce: 'Nonce account',
  sysvar: 'Sysvar',
  'spl-token:mint': 'Token',
  'spl-token-2022:mint': 'Token',
  'spl-token:account': 'Token account',
  'spl-token-2022:account': 'Token account',
  'spl-token:multisig': 'Multisig',
  'spl-token-2022:multisig': 'Multisig',
  'bpf-loader-2': 'Program',
  'bpf-upgradeable-loader': 'Program (upgradeable)',
  'loader-v4': 'Program',
  'native-program': 'Built-in program',
  'address-lookup-table': 'Address lookup table',
};

export const kindWords = (kind: string | null): string => KIND_WORDS[kind ?? ''] ?? 'Account';
