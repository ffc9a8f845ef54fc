import { programRole } from '../programs/known-programs.ts';
import { namedTypeOf } from '../programs/named-type.ts';
import { findProgramInstruction, type ProgramInstruction } from '../programs/program-instruction.ts';
import { findSwap } from './find-swap.ts';
import type { Interpretation } from './interpretation.ts';
import { findActor, findMainProgram } from './main-program.ts';
import { allInstructions, type ParsedInstruction, type ParsedTransaction } from './parsed-transaction.ts';
import { findSupplyChanges, type Payment, paymentsIn, type SupplyChange } from './payments.ts';
import { isSent } from './remainder.ts';
import type { Swap } from './swap-legs.ts';

/** What the rules need to know of a transaction, found once. */
export interface TransactionFacts {
  readonly parsed: ParsedTransaction;
  /** Whether nothing is known to have happened: it failed, or no record says that it did not. */
  readonly isAttempt: boolean;
  /** Every instruction in execution order: each top-level one, then its inner ones. */
  readonly calls: readonly ParsedInstruction[];
  /** What each call is by the tables of programs, as far as they have it. */
  readonly instructionOf: (call: ParsedInstruction) => ProgramInstruction | null;
  readonly mainProgram: string | null;
  /** The wallet that acted. */
  readonly actor: string;
  /** What was sent to others, without tips, legs of trades and the lamports that programs charge for a call. */
  readonly payments: readonly Payment[];
  readonly tips: readonly Payment[];
  readonly minted: readonly SupplyChange[];
  readonly burned: readonly SupplyChange[];
  /** The trade by the gains and losses of wallets; null if there is none. */
  readonly swap: Swap | null;
}

/** Interprets a kind of transaction; null for every other kind. */
export type Rule = (facts: TransactionFacts) => Interpretation | null;

/** Returns what a call is by the name in the log, if its program is known. */
function namedInstruction({ programId, name }: ParsedInstruction): ProgramInstruction | null {
  const type = name === null ? null : namedTypeOf(programRole(programId), name);
  return name === null || type === null ? null : { name, type, roles: {}, values: {} };
}

/** Finds the facts of a transaction in time linear in its size. */
export function findFacts(parsed: ParsedTransaction): TransactionFacts {
  const calls = allInstructions(parsed);
  const instructions = new Map(calls.map((call) => [call, findProgramInstruction(call) ?? namedInstruction(call)]));
  const mainProgram = findMainProgram(parsed);
  const isAttempt = parsed.status !== 'success';
  const payments = paymentsIn(parsed.actions.filter(isSent));
  const tradeRole = (role: 'user' | 'inputMint'): ReadonlySet<string> =>
    new Set([...instructions.values()].flatMap((call) => (call?.type === 'SWAP' ? (call.roles[role] ?? []) : [])));
  const instructionOf = (call: ParsedInstruction): ProgramInstruction | null => instructions.get(call) ?? null;
  return {
    parsed,
    isAttempt,
    calls,
    instructionOf,
    mainProgram,
    actor: findActor(parsed, mainProgram),
    payments,
    tips: paymentsIn(parsed.actions.filter(({ kind }) => kind === 'tip')),
    minted: findSupplyChanges(parsed, 'minted'),
    burned: findSupplyChanges(parsed, 'burned'),
    swap: isAttempt ? null : findSwap({ parsed, mainProgram, payments, tradeRole }),
  };
}
