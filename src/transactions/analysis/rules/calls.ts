import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { COMPUTE_BUDGET_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { commonNameOf } from '../../programs/called-names.ts';
import { isTipAccount } from '../../programs/tip-accounts.ts';
import { effectsOf } from '../action.ts';
import { solAmount } from '../asset-amount.ts';
import type { CallInterpretation } from '../interpretation.ts';
import { callersOf } from '../main-program.ts';
import { type NetChange, netChangeOf } from '../net-change.ts';
import type { ParsedTransaction } from '../parsed-transaction.ts';
import { sumByMint } from '../payments.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import { hasBalances } from '../wallet-changes.ts';

/** Interprets a call of a program of which nothing more is known. */
export function interpretCall(
  facts: TransactionFacts,
  type: CallInterpretation['type'],
  program = facts.mainProgram ?? firstProgram(facts),
): CallInterpretation {
  const { parsed, calls, instructionOf } = facts;
  const call = calls.find(({ programId }) => programId === program);
  const instruction = call === undefined ? null : (call.type ?? instructionOf(call)?.name ?? null);
  const calledName = call === undefined || instruction !== null ? null : (call.name ?? commonNameOf(call.data));
  const isUntouched = isUnchanged(facts);
  return {
    type,
    actor: parsed.feePayer,
    program,
    instruction,
    calledName,
    ...calledChange(parsed, callersOf(program, parsed)),
    isUntouched,
    isByRole: false,
  };
}

/** Returns what the fee payer gained and lost in calls of some programs, or of all, without deposits and some payments. */
export function calledChange(
  { actions, feePayer }: ParsedTransaction,
  callers: ReadonlySet<string | null> | null,
  paid: readonly { readonly to: string }[] = [],
): NetChange {
  const called = actions.filter(
    ({ kind, program, counterparty }) =>
      program !== null &&
      (callers === null || callers.has(program)) &&
      kind !== 'rent' &&
      kind !== 'tip' &&
      paid.every(({ to }) => to !== counterparty),
  );
  const changes = called.flatMap(effectsOf).filter(([wallet]) => wallet === feePayer);
  const [sol = solAmount(0n), ...tokens] = sumByMint([solAmount(0n), ...changes.map(([, amount]) => amount)]);
  return netChangeOf({ sol: sol.amount, tokens });
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
