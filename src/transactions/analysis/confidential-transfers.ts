import { asBigInt } from '../codec/json-fields.ts';
import type { Instruction } from '../records/instruction.ts';
import { addressAt, effectsIn, placeOf } from './effects.ts';
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

const movementOf = effectsIn('hidden', ([type = '', from, to, mint = 'mint']) => {
  return { type, from: placeOf(from), to: placeOf(to), mint: placeOf(mint) };
});

const isType = (type: string): type is ConfidentialTransfer['type'] =>
  CONFIDENTIAL_TRANSFER_TYPES.some((known) => known === type);

/** Returns the hidden movement that an instruction makes; null if it makes none. */
export function confidentialTransferOf(call: Instruction, balances: CurrentBalances): ConfidentialTransfer | null {
  const { parsed, index, innerIndex } = call;
  const [movement] = movementOf(call);
  if (movement === undefined || parsed === null || !isType(movement.type)) return null;
  const { type } = movement;
  const [from, to] = [addressAt(parsed.info, movement.from), addressAt(parsed.info, movement.to)];
  const named = addressAt(parsed.info, movement.mint);
  const ownerOf = (account: string | null) => balances.tokenAccountOf(account)?.owner ?? null;
  const amount = type === 'deposit' || type === 'withdraw' ? asBigInt(parsed.info['amount']) : null;
  return {
    type,
    mint: named ?? balances.tokenAccountOf(from)?.mint ?? null,
    fromUserAccount: ownerOf(from),
    toUserAccount: ownerOf(to),
    fromTokenAccount: from,
    toTokenAccount: to,
    amount: amount === null ? null : `${amount}`,
    instructionIdx: index,
    innerInstructionIdx: innerIndex,
  };
}
