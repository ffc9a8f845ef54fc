import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import type { Action } from '../action.ts';
import type { TransferInterpretation } from '../interpretation.ts';
import { onlyValue } from '../only-value.ts';
import { hasInstruction, type ParsedTransaction } from '../parsed-transaction.ts';
import { paymentsIn, sentToItself } from '../payments.ts';
import { isSent } from '../remainder.ts';
import { creditOf, shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { findOpenedAccounts } from '../wallet-changes.ts';
import { calledChange } from './calls.ts';

/** Interprets payments; in a failed transaction, the attempt to send something. */
export const paymentRule: Rule = (facts) => {
  const { parsed, isAttempt, mainProgram } = facts;
  const common = emptyTransfer(facts);
  if (isAttempt) return isTransfer(parsed) ? common : null;
  const isOfPayer = ({ actor }: Action): number => Number(actor === parsed.feePayer);
  const sent = parsed.actions.filter(isSent).toSorted((a, b) => isOfPayer(b) - isOfPayer(a));
  const named = [...paymentsIn(sent), ...sentToItself(parsed)];
  if (named.length > 0)
    return {
      ...common,
      program: onlyValue(named.map(({ program }) => program)),
      payments: named,
      states: shareOf(sent),
    };
  if (mainProgram === null) return null;
  const { gained, lost, states } = calledChange(facts, null);
  const isMoved = [...gained, ...lost].some(({ mint, amount }) => mint !== WRAPPED_SOL || amount > 1n);
  return isMoved ? { ...common, program: creditOf(states), gained, lost, states } : null;
};

/** Interprets what moved nothing but a tip or a hidden amount, or sent nothing. */
export const emptyTransferRule: Rule = (facts) => {
  const { parsed, mainProgram } = facts;
  const hasHidden = parsed.confidentialTransfers.some(({ type }) => type === 'transfer');
  const isEmpty = (isTransfer(parsed) || hasHidden) && findOpenedAccounts(parsed).size === 0;
  if (mainProgram !== null || !isEmpty) return null;
  // what no action has went between accounts of one wallet
  const paid = new Set(parsed.actions.map(({ counterparty }) => counterparty));
  const own = parsed.nativeTransfers.filter(({ toUserAccount }) => !paid.has(toUserAccount));
  const owners = new Map(own.map(({ fromUserAccount, toUserAccount }) => [toUserAccount, fromUserAccount]));
  return { ...emptyTransfer(facts), payments: sentToItself(parsed, owners) };
};

const isTransfer = (parsed: ParsedTransaction): boolean =>
  hasInstruction(parsed, [...TOKEN_PROGRAM_IDS, SYSTEM_PROGRAM], /^transfer/);

const emptyTransfer = ({ parsed }: TransactionFacts): TransferInterpretation => {
  const nothing = { program: null, payments: [], gained: [], lost: [], states: [] };
  return { type: 'TRANSFER', actor: parsed.feePayer, ...nothing };
};
