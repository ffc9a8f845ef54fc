import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../domain/well-known-addresses.ts';
import { compressedNft } from './compressed-nft.ts';
import type { Swap } from './exchange.ts';
import { asks, closedAccounts, type Facts } from './facts.ts';
import { holdingsOf, openedAccounts, tokenAccountOwners } from './holdings.ts';
import { isMarket, KNOWN_PROGRAMS } from './known-programs.ts';
import { mainProgram } from './main-program.ts';
import { isCollectible, issued, payments } from './payments.ts';
import { tradesInCircle } from './swap.ts';

/** What a transaction was for. */
export type TransactionKind =
  | 'TRANSFER'
  | 'SWAP'
  | 'TOKEN_MINT'
  | 'BURN'
  | 'STAKE'
  | 'UNSTAKE'
  | 'CREATE_ACCOUNT'
  | 'CLOSE_ACCOUNT'
  | 'NONCE_ADVANCE'
  | 'MEMO'
  | 'VOTE'
  | 'NFT_TRANSFER'
  | 'PROGRAM_DEPLOY'
  | 'PROGRAM_UPGRADE'
  | 'UNKNOWN';

/** Balances tell first, instructions second: what changed hands is a fact whatever the program is called. */
export function classify(facts: Facts, swap: Swap | null): TransactionKind {
  if (facts.status === 'failed') return attempted(facts);
  const native = ofNativeProgram(facts);
  if (native !== null) return native;
  if (swap !== null) return [...swap.given, ...swap.got].some(isCollectible) ? 'NFT_TRANSFER' : 'SWAP';
  if (tradesInCircle(facts)) return 'SWAP';
  return staked(facts) ?? moved(facts) ?? kept(facts);
}

const TOKENS: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];
const LOADERS: readonly string[] = [UPGRADEABLE_LOADER, LOADER_V4];

/** What a failed transaction was for can only be read from what it asked for. */
function attempted(facts: Facts): TransactionKind {
  const main = mainProgram(facts);
  if (main !== null && isMarket(main)) return 'SWAP';
  const certain = ofNativeProgram(facts) ?? staked(facts);
  if (certain !== null) return certain;
  if (asks(facts, TOKENS, /^transfer/) || asks(facts, [SYSTEM_PROGRAM], /^transfer/)) return 'TRANSFER';
  if (asks(facts, TOKENS, /^mintTo/)) return 'TOKEN_MINT';
  if (asks(facts, TOKENS, /^burn/)) return 'BURN';
  return main === null ? kept(facts) : 'UNKNOWN';
}

function ofNativeProgram(facts: Facts): TransactionKind | null {
  if (asks(facts, [VOTE_PROGRAM], /vote|towersync/i)) return 'VOTE';
  if (asks(facts, LOADERS, /^(upgrade|extend|setProgramLength)/)) return 'PROGRAM_UPGRADE';
  return asks(facts, LOADERS, /^(deploy|write|initializeBuffer)/) ? 'PROGRAM_DEPLOY' : null;
}

function staked(facts: Facts): TransactionKind | null {
  if (asks(facts, [STAKE_PROGRAM], /^(delegate|redelegate|split|merge|moveStake)/)) return 'STAKE';
  return asks(facts, [STAKE_PROGRAM], /^(deactivate|withdraw)/) ? 'UNSTAKE' : null;
}

/** What went from hand to hand. */
function moved(facts: Facts): TransactionKind | null {
  const paid = payments(facts);
  const nft = compressedNft(facts);
  if (paid.some(isCollectible)) return 'NFT_TRANSFER';
  if (issued(facts, 'minted').length > 0 || nft === 'minted') return 'TOKEN_MINT';
  if (nft === 'transferred') return 'NFT_TRANSFER';
  if (issued(facts, 'burned').length > 0 || nft === 'burned') return 'BURN';
  if (paid.length > 0) return 'TRANSFER';
  const { sol, tokens } = holdingsOf(facts.feePayer, facts, tokenAccountOwners(facts), openedAccounts(facts));
  return mainProgram(facts) !== null && (sol !== 0n || tokens.length > 0) ? 'TRANSFER' : null;
}

/** What was only set up, put away or noted. */
function kept(facts: Facts): TransactionKind {
  if (closedAccounts(facts).length > 0 || asks(facts, [LOOKUP_TABLE_PROGRAM, ...LOADERS], /^close/))
    return 'CLOSE_ACCOUNT';
  const opens = asks(facts, [ASSOCIATED_TOKEN_PROGRAM, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM], /^(create|extend)/);
  if (opens || openedAccounts(facts).size > 0) return 'CREATE_ACCOUNT';
  if (mainProgram(facts) !== null) return 'UNKNOWN';
  if (asks(facts, [SYSTEM_PROGRAM], /^advanceNonce/)) return 'NONCE_ADVANCE';
  return facts.instructions.some(({ programId }) => KNOWN_PROGRAMS.get(programId)?.source === 'MEMO_PROGRAM')
    ? 'MEMO'
    : 'UNKNOWN';
}
