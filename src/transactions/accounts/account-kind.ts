import {
  LOADER_V2,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  NATIVE_LOADER,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../shared/domain/well-known-addresses.ts';

/** Account kinds that follow from the owner alone. https://solana.com/docs/core/programs#core-programs */
const KIND_BY_OWNER: ReadonlyMap<string, string> = new Map(
  Object.entries({
    [SYSTEM_PROGRAM]: 'system',
    [STAKE_PROGRAM]: 'stake',
    [VOTE_PROGRAM]: 'vote',
    Sysvar1111111111111111111111111111111111111: 'sysvar',
    Config1111111111111111111111111111111111111: 'config',
    [LOOKUP_TABLE_PROGRAM]: 'address-lookup-table',
    [LOADER_V2]: 'bpf-loader-2',
    [UPGRADEABLE_LOADER]: 'bpf-upgradeable-loader',
    [LOADER_V4]: 'loader-v4',
    [NATIVE_LOADER]: 'native-program',
    Feature111111111111111111111111111111111111: 'feature',
  }),
);

/** Kinds of the accounts of token programs, which a node's parser names. */
const TOKEN_KINDS = /^spl-token(-2022)?:(mint|account|multisig)$/;

/** Program and type as the node's parser names them, if it knows the program. */
export interface ParsedAccountData {
  readonly program: string;
  readonly type: string;
}

/** Returns an account's kind in the words of the explorers; `unknown` if neither owner nor data says. */
export function accountKindOf(owner: string, parsed: ParsedAccountData | null): string {
  const kind = `${parsed?.program}:${parsed?.type}`;
  if (TOKEN_KINDS.test(kind)) return kind;
  if (parsed?.program === 'nonce') return 'nonce';
  return KIND_BY_OWNER.get(owner) ?? 'unknown';
}
