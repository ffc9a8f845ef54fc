import { findProgramInstruction, type ProgramInstruction } from '../programs/program-instruction.ts';
import { findSwap } from './find-swap.ts';
import { findMainProgram } from './main-program.ts';
import { type NetChange, netChangeOf } from './net-change.ts';
import { allInstructions, type ParsedInstruction, type ParsedTransaction } from './parsed-transaction.ts';
import { findPayments, findSupplyChanges, type Payment } from './payments.ts';
import type { Swap } from './swap-legs.ts';
import { type AssetAmount, findOpenedAccounts, sumWalletChanges, type WalletChanges } from './wallet-changes.ts';

/** What the rules ask of a transaction, found once. */
export interface TransactionFacts {
  readonly parsed: ParsedTransaction;
  readonly hasFailed: boolean;
  /** Every instruction in execution order: each top-level one, then its inner ones. */
  readonly calls: readonly ParsedInstruction[];
  /** What each call is by the tables of programs, as far as they have it. */
  readonly instructionOf: (call: ParsedInstruction) => ProgramInstruction | null;
  readonly mainProgram: string | null;
  readonly changesOf: (wallet: string) => WalletChanges;
  /** The fee payer's gains and losses, without the fee, deposits and tips. */
  readonly netChange: NetChange;
  /** What was paid, without tips and the lamports that programs charge for a call. */
  readonly payments: readonly Payment[];
  readonly tips: readonly Payment[];
  readonly minted: readonly AssetAmount[];
  readonly burned: readonly AssetAmount[];
  readonly openedAccounts: ReadonlySet<string>;
  /** The trade by the gains and losses of wallets; null if there is none. */
  readonly swap: Swap | null;
}

/** Finds what the rules ask of a transaction, in time linear in its size. */
export function findFacts(parsed: ParsedTransaction): TransactionFacts {
  const calls = allInstructions(parsed);
  const instructions = new Map(calls.map((call) => [call, findProgramInstruction(call)]));
  const changesOf = sumWalletChanges(parsed);
  const mainProgram = findMainProgram(parsed);
  const hasFailed = parsed.status === 'failed';
  const { payments, tips } = findPayments(parsed);
  const usersOf = (): ReadonlySet<string> =>
    new Set([...instructions.values()].flatMap((call) => (call?.type === 'SWAP' ? (call.roles['user'] ?? []) : [])));
  return {
    parsed,
    hasFailed,
    calls,
    instructionOf: (call) => instructions.get(call) ?? null,
    mainProgram,
    changesOf,
    netChange: netChangeOf(changesOf(parsed.feePayer)),
    payments,
    tips,
    minted: findSupplyChanges(parsed, 'minted'),
    burned: findSupplyChanges(parsed, 'burned'),
    openedAccounts: findOpenedAccounts(parsed),
    swap: hasFailed ? null : findSwap({ parsed, mainProgram, changesOf, payments, usersOf }),
  };
}
