import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { COMPUTE_BUDGET_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { commonNameOf } from '../../programs/called-names.ts';
import type { ProgramInstruction } from '../../programs/program-instruction.ts';
import { isTipAccount } from '../../programs/tip-accounts.ts';
import { type Action, effectsOf } from '../action.ts';
import { solAmount } from '../asset-amount.ts';
import type { CallInterpretation, CallType } from '../interpretation.ts';
import { type NetChange, splitBySign } from '../net-change.ts';
import { sumByMint } from '../payments.ts';
import { shareOf } from '../share.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import { findGivenRights, isSaidByRight } from './given-rights.ts';

/** Interprets a call of a program of which nothing more is known. */
export function interpretCall(
  facts: TransactionFacts,
  type: CallType,
  program = facts.mainProgram ?? firstProgram(facts),
): CallInterpretation {
  const { calls, instructionOf, actor } = facts;
  const call = calls.find(({ programId }) => programId === program);
  const instruction = call === undefined ? null : (call.type ?? instructionOf(call)?.name ?? null);
  const calledName = call === undefined || instruction !== null ? null : (call.name ?? commonNameOf(call.data));
  const isUntouched = isUnchanged(facts);
  const change = calledChange(facts, program);
  return {
    type,
    actor,
    program,
    instruction,
    calledName,
    ...change,
    states: isUntouched ? [] : change.states,
    isUntouched,
    isByRole: false,
  };
}

/** Returns what the main program is called for, by the transaction itself or else by others; null for what no table has. */
export function mainInstructions({
  calls,
  parsed,
  mainProgram,
  instructionOf,
}: TransactionFacts): readonly (ProgramInstruction | null)[] {
  const topLevel = parsed.instructions.filter(({ programId }) => programId === mainProgram);
  const called = topLevel.length > 0 ? topLevel : calls.filter(({ programId }) => programId === mainProgram);
  return called.map(instructionOf);
}

/** Returns whether an instruction places or cancels an order. */
export const isOrder = (instruction: ProgramInstruction | null): boolean =>
  instruction?.type === 'PLACE_ORDER' || instruction?.type === 'CANCEL_ORDER';

/** What a sentence names apart from what a call gave and took. */
const APART: readonly Action['kind'][] = ['rent', 'funding', 'tip', 'payout', 'asset'];

/** Returns what the actor gained and lost in calls of a program, or of any, without deposits and some payments. */
export function calledChange(
  { parsed, actor: subject }: Pick<TransactionFacts, 'parsed' | 'actor'>,
  caller: string | null,
  paid: ReadonlySet<Action> = new Set(),
): NetChange & Pick<CallInterpretation, 'states'> {
  const rights = findGivenRights(parsed);
  const called = parsed.actions.filter((action) => {
    const { kind, program, actor } = action;
    const isCalled = program !== null && (caller === null || caller === program);
    const isApart = APART.includes(kind) || (kind === 'close' && actor === subject); // for somebody else
    return isCalled && !isApart && !paid.has(action) && !isSaidByRight(rights, action);
  });
  const changes = called.flatMap(effectsOf).filter(([wallet]) => wallet === subject);
  const sums = sumByMint([solAmount(0n), ...changes.map(([, amount]) => amount)]); // SOL comes first
  return { ...splitBySign(sums), states: shareOf(called, subject) };
}

/** Returns the first program that a transaction calls for more than its limits; null if there is none. */
const firstProgram = ({ parsed }: TransactionFacts): string | null =>
  parsed.instructions.find(({ programId }) => programId !== COMPUTE_BUDGET_PROGRAM)?.programId ?? null;

/** Returns whether every balance is unchanged but for the fee, tips and what the transaction itself sent. */
export function isUnchanged({ parsed, tips, payments }: TransactionFacts): boolean {
  const { accountData, feePayer, fee, isIncomplete } = parsed;
  if (isIncomplete) return accountData.every(({ tokenBalanceChanges }) => tokenBalanceChanges.length === 0);
  const expected = new Map<string, bigint>([[feePayer, -BigInt(fee)]]);
  const add = (account: string, amount: bigint) => expected.set(account, (expected.get(account) ?? 0n) + amount);
  for (const { from, to, amount, mint, program } of [...tips, ...payments]) {
    if (mint !== WRAPPED_SOL || (program !== null && !isTipAccount(to))) continue;
    add(from, -amount);
    add(to, amount);
  }
  return accountData.every(
    ({ account, nativeBalanceChange, tokenBalanceChanges }) =>
      nativeBalanceChange === `${expected.get(account) ?? 0}` && tokenBalanceChanges.length === 0,
  );
}
