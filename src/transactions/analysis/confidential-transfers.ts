import { asBigInt, asString } from '../codec/json-fields.ts';
import type { Instruction } from '../transactions/instruction.ts';
import type { ParsedInfo } from '../transactions/instruction-layout.ts';
import type { CurrentBalances } from './transfer-ledger.ts';

export const CONFIDENTIAL_TRANSFER_TYPES = [
  'transfer',
  'mint',
  'burn',
  'withdrawWithheldFee',
  'deposit',
  'withdraw',
  'apply',
] as const;

/**
 * A movement of tokens whose amount is encrypted (Token-2022), or one of an account alone: `deposit` into its hidden
 * balance, `withdraw` from it, `apply` of what it received to what it can spend.
 */
export interface ConfidentialTransfer {
  readonly type: (typeof CONFIDENTIAL_TRANSFER_TYPES)[number];
  readonly mint: string | null;
  /** Owners of the token accounts; null: nobody, or not recorded. */
  readonly fromUserAccount: string | null;
  readonly toUserAccount: string | null;
  readonly fromTokenAccount: string | null;
  readonly toTokenAccount: string | null;
  /** Amount in smallest units, of a deposit or withdrawal; null: hidden. */
  readonly amount: string | null;
  readonly instructionIdx: number;
  readonly innerInstructionIdx: number | null;
}

interface Movement {
  readonly type: ConfidentialTransfer['type'];
  readonly from: string | null;
  readonly to: string | null;
  readonly mint: string | null;
}

/**
 * Returns account and mint of a deposit or withdrawal. Nodes name its first two accounts source and destination, as if
 * it had three.
 */
export function confidentialAccountOf(info: ParsedInfo): { account: string | null; mint: string | null } {
  const { account, source, destination, mint } = info;
  return source === undefined
    ? { account: asString(account), mint: asString(mint) }
    : { account: asString(source), mint: asString(destination) };
}

const MOVEMENTS: Readonly<Record<string, (info: ParsedInfo) => Movement>> = {
  confidentialTransfer: ({ source, destination, mint }) => move('transfer', source, destination, mint),
  confidentialTransferWithFee: ({ source, destination, mint }) => move('transfer', source, destination, mint),
  confidentialMint: ({ destination, mint }) => move('mint', null, destination, mint),
  confidentialBurn: ({ destination, mint }) => move('burn', destination, null, mint),
  permissionedConfidentialBurn: ({ account, mint }) => move('burn', account, null, mint),
  withdrawWithheldConfidentialTransferTokensFromMint: ({ feeRecipient, mint }) =>
    move('withdrawWithheldFee', null, feeRecipient, mint),
  withdrawWithheldConfidentialTransferTokensFromAccounts: ({ feeRecipient, mint }) =>
    move('withdrawWithheldFee', null, feeRecipient, mint),
  depositConfidentialTransfer: (info) => moveWithin('deposit', info),
  withdrawConfidentialTransfer: (info) => moveWithin('withdraw', info),
  applyPendingConfidentialTransferBalance: ({ account }) => move('apply', account, account, null),
};

const move = (type: Movement['type'], from: unknown, to: unknown, mint: unknown): Movement => ({
  type,
  from: asString(from),
  to: asString(to),
  mint: asString(mint),
});

/** Returns a movement between the two balances of one account. */
function moveWithin(type: Movement['type'], info: ParsedInfo): Movement {
  const { account, mint } = confidentialAccountOf(info);
  return { type, from: account, to: account, mint };
}

/** Returns the hidden movement that an instruction makes; null if it makes none. */
export function confidentialTransferOf(call: Instruction, balances: CurrentBalances): ConfidentialTransfer | null {
  const { program, parsed, index, innerIndex } = call;
  if (program !== 'spl-token' || parsed === null) return null;
  const movement = MOVEMENTS[parsed.type]?.(parsed.info);
  if (movement === undefined) return null;
  const { type, from, to } = movement;
  const mint = movement.mint ?? (from === null ? null : (balances.tokenAccountOf(from)?.mint ?? null));
  const ownerOf = (account: string | null) =>
    account === null ? null : (balances.tokenAccountOf(account)?.owner ?? null);
  const amount = type === 'deposit' || type === 'withdraw' ? asBigInt(parsed.info['amount']) : null;
  return {
    type,
    mint,
    fromUserAccount: ownerOf(from),
    toUserAccount: ownerOf(to),
    fromTokenAccount: from,
    toTokenAccount: to,
    amount: amount === null ? null : `${amount}`,
    instructionIdx: index,
    innerInstructionIdx: innerIndex,
  };
}
