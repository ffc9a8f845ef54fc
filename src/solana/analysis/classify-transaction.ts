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
import { isTradingProgram, KNOWN_PROGRAMS } from '../programs/known-programs.ts';
import type { TransactionType } from '../programs/transaction-types.ts';
import { compressedNftAction } from './compressed-nft.ts';
import { isCircularTrade } from './find-swap.ts';
import { findMainProgram } from './main-program.ts';
import { findCloseAccountInstructions, hasInstruction, type ParsedTransaction } from './parsed-transaction.ts';
import { findPayments, findSupplyChanges, isNftAmount } from './payments.ts';
import type { Swap } from './swap-legs.ts';
import { findOpenedAccounts, sumWalletChanges } from './wallet-changes.ts';

/**
 * Classifies a transaction, by balances first, by instructions second: a change of balances is a fact, whatever the
 * program is called.
 */
export function classifyTransaction(parsed: ParsedTransaction, swap: Swap | null): TransactionType {
  if (parsed.status === 'failed') return classifyFailed(parsed);
  const nativeType = classifyNativeProgram(parsed);
  if (nativeType !== null) return nativeType;
  if (swap !== null) return [...swap.inputs, ...swap.outputs].some(isNftAmount) ? 'NFT_TRANSFER' : 'SWAP';
  if (isCircularTrade(parsed)) return 'SWAP';
  return classifyStake(parsed) ?? classifyTransfer(parsed) ?? classifyAccountChange(parsed);
}

const TOKEN_PROGRAM_IDS: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];
const LOADERS: readonly string[] = [UPGRADEABLE_LOADER, LOADER_V4];

/** Classifies a failed transaction by its instructions alone. */
function classifyFailed(parsed: ParsedTransaction): TransactionType {
  const program = findMainProgram(parsed);
  if (program !== null && isTradingProgram(program)) return 'SWAP';
  const nativeType = classifyNativeProgram(parsed) ?? classifyStake(parsed);
  if (nativeType !== null) return nativeType;
  if (hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^transfer/) || hasInstruction(parsed, [SYSTEM_PROGRAM], /^transfer/))
    return 'TRANSFER';
  if (hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^mintTo/)) return 'TOKEN_MINT';
  if (hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^burn/)) return 'BURN';
  return program === null ? classifyAccountChange(parsed) : 'UNKNOWN';
}

function classifyNativeProgram(parsed: ParsedTransaction): TransactionType | null {
  if (hasInstruction(parsed, [VOTE_PROGRAM], /vote|towersync/i)) return 'VOTE';
  if (hasInstruction(parsed, LOADERS, /^(upgrade|extend|setProgramLength)/)) return 'PROGRAM_UPGRADE';
  return hasInstruction(parsed, LOADERS, /^(deploy|write|initializeBuffer)/) ? 'PROGRAM_DEPLOY' : null;
}

function classifyStake(parsed: ParsedTransaction): TransactionType | null {
  if (hasInstruction(parsed, [STAKE_PROGRAM], /^(delegate|redelegate|split|merge|moveStake)/)) return 'STAKE';
  return hasInstruction(parsed, [STAKE_PROGRAM], /^(deactivate|withdraw)/) ? 'UNSTAKE' : null;
}

/** Classifies payments, mints, burns and other changes of balances. */
function classifyTransfer(parsed: ParsedTransaction): TransactionType | null {
  const payments = findPayments(parsed);
  const nftAction = compressedNftAction(parsed);
  if (payments.some(isNftAmount)) return 'NFT_TRANSFER';
  if (findSupplyChanges(parsed, 'minted').length > 0 || nftAction === 'minted') return 'TOKEN_MINT';
  if (nftAction === 'transferred') return 'NFT_TRANSFER';
  if (findSupplyChanges(parsed, 'burned').length > 0 || nftAction === 'burned') return 'BURN';
  if (payments.length > 0) return 'TRANSFER';
  const { sol, tokens } = sumWalletChanges(parsed)(parsed.feePayer);
  return findMainProgram(parsed) !== null && (sol !== 0n || tokens.length > 0) ? 'TRANSFER' : null;
}

/** Classifies changes of accounts, nonces and memos. */
function classifyAccountChange(parsed: ParsedTransaction): TransactionType {
  if (
    findCloseAccountInstructions(parsed).length > 0 ||
    hasInstruction(parsed, [LOOKUP_TABLE_PROGRAM, ...LOADERS], /^close/)
  )
    return 'CLOSE_ACCOUNT';
  const opensAccount = hasInstruction(
    parsed,
    [ASSOCIATED_TOKEN_PROGRAM, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM],
    /^(create|extend)/,
  );
  if (opensAccount || findOpenedAccounts(parsed).size > 0) return 'CREATE_ACCOUNT';
  if (findMainProgram(parsed) !== null) return 'UNKNOWN';
  if (hasInstruction(parsed, [SYSTEM_PROGRAM], /^advanceNonce/)) return 'NONCE_ADVANCE';
  return parsed.instructions.some(({ programId }) => KNOWN_PROGRAMS.get(programId)?.source === 'MEMO_PROGRAM')
    ? 'MEMO'
    : 'UNKNOWN';
}
