import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import { onlyValue } from '../only-value.ts';
import { hasInstruction } from '../parsed-transaction.ts';
import type { Rule } from './rule.ts';

/** Interprets payments; in a failed transaction, the attempt to send something. */
export const paymentRule: Rule = ({ parsed, hasFailed, payments, tips, netChange, mainProgram, openedAccounts }) => {
  const common = { type: 'TRANSFER', actor: parsed.feePayer, tips, ...netChange } as const;
  const isTransfer =
    hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^transfer/) || hasInstruction(parsed, [SYSTEM_PROGRAM], /^transfer/);
  if (hasFailed) return isTransfer ? { ...common, program: null, payments } : null;
  if (payments.length > 0) return { ...common, program: onlyValue(payments.map(({ program }) => program)), payments };
  const hasHidden = parsed.confidentialTransfers.some(({ type }) => type === 'transfer');
  if (mainProgram === null)
    return (isTransfer || hasHidden) && openedAccounts.size === 0
      ? { ...common, program: null, payments, gained: [], lost: [] }
      : null;
  const isMoved = [...netChange.gained, ...netChange.lost].some(
    ({ mint, amount }) => mint !== WRAPPED_SOL || amount > 1n,
  );
  return isMoved ? { ...common, program: mainProgram, payments } : null;
};
