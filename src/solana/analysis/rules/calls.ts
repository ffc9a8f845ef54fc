import { COMPUTE_BUDGET_PROGRAM } from '../../../domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../../accounts/known-mints.ts';
import { isTipAccount } from '../../programs/tip-accounts.ts';
import type { CallInterpretation } from '../interpretation.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import { hasBalances } from '../wallet-changes.ts';

/** Tells that a program was called, and no more. */
export function interpretCall(
  facts: TransactionFacts,
  type: CallInterpretation['type'],
  program = facts.mainProgram ?? firstProgram(facts),
): CallInterpretation {
  const { parsed, calls, instructionOf, netChange } = facts;
  const call = calls.find(({ programId }) => programId === program);
  const instruction = call === undefined ? null : (call.type ?? instructionOf(call)?.name ?? null);
  const isUntouched = isUnchanged(facts);
  return { type, actor: parsed.feePayer, program, instruction, ...netChange, isUntouched, isByRole: false };
}

/** Returns the first program that a transaction calls for more than its limits; null if there is none. */
const firstProgram = ({ parsed }: TransactionFacts): string | null =>
  parsed.instructions.find(({ programId }) => programId !== COMPUTE_BUDGET_PROGRAM)?.programId ?? null;

/** Returns whether every balance is unchanged but for the fee, tips and what the transaction itself sent. */
export function isUnchanged({ parsed, tips, payments }: TransactionFacts): boolean {
  const { accountData, feePayer, fee } = parsed;
  if (!hasBalances(parsed)) return accountData.every(({ tokenBalanceChanges }) => tokenBalanceChanges.length === 0);
  const expected = new Map<string, bigint>([[feePayer, -BigInt(fee)]]);
  const add = (account: string, amount: bigint) => expected.set(account, (expected.get(account) ?? 0n) + amount);
  for (const { from, to, amount, mint, program } of [...tips, ...payments]) {
    if (mint !== WRAPPED_SOL || (program !== null && !isTipAccount(to))) continue;
    add(from, -amount);
    add(to, amount);
  }
  return accountData.every(
    ({ account, nativeBalanceChange, tokenBalanceChanges }) =>
      BigInt(nativeBalanceChange) === (expected.get(account) ?? 0n) && tokenBalanceChanges.length === 0,
  );
}
