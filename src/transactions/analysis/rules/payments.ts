import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import type { Action } from '../action.ts';
import { onlyValue } from '../only-value.ts';
import { hasInstruction } from '../parsed-transaction.ts';
import { paymentsIn, sentToItself } from '../payments.ts';
import { isSent } from '../remainder.ts';
import { shareOf } from '../share.ts';
import { calledChange } from './calls.ts';
import type { Rule } from './rule.ts';

/** Interprets payments; in a failed transaction, the attempt to send something. */
export const paymentRule: Rule = ({ parsed, hasFailed, tips, mainProgram, openedAccounts }) => {
  const unknown = { payments: [], gained: [], lost: [], states: [] };
  const common = { type: 'TRANSFER', actor: parsed.feePayer, tips, ...unknown } as const;
  const isTransfer =
    hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^transfer/) || hasInstruction(parsed, [SYSTEM_PROGRAM], /^transfer/);
  if (hasFailed) return isTransfer ? { ...common, program: null } : null;
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
  const hasHidden = parsed.confidentialTransfers.some(({ type }) => type === 'transfer');
  if (mainProgram === null)
    return (isTransfer || hasHidden) && openedAccounts.size === 0 ? { ...common, program: null } : null;
  const { gained, lost, states } = calledChange(parsed, null);
  const isMoved = [...gained, ...lost].some(({ mint, amount }) => mint !== WRAPPED_SOL || amount > 1n);
  return isMoved ? { ...common, program: mainProgram, gained, lost, states } : null;
};
