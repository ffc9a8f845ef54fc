import { SYSTEM_PROGRAM, TOKEN_PROGRAM_IDS } from '../../../domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../../accounts/known-mints.ts';
import { hasInstruction } from '../parsed-transaction.ts';
import type { Rule } from './rule.ts';

/** Tells of payments; of a failed transaction, that something was to be sent. */
export const paymentRule: Rule = ({ parsed, hasFailed, payments, tips, netChange, mainProgram, openedAccounts }) => {
  const told = { type: 'TRANSFER', actor: parsed.feePayer, tips, ...netChange } as const;
  const isTransfer =
    hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^transfer/) || hasInstruction(parsed, [SYSTEM_PROGRAM], /^transfer/);
  if (hasFailed) return isTransfer ? { ...told, program: null, payments } : null;
  if (payments.length > 0) return { ...told, program: programOf(payments), payments };
  const hasHidden = parsed.confidentialTransfers.some(({ type }) => type === 'transfer');
  if (mainProgram === null)
    return (isTransfer || hasHidden) && openedAccounts.size === 0
      ? { ...told, program: null, payments, gained: [], lost: [] }
      : null;
  const isMoved = [...netChange.gained, ...netChange.lost].some(
    ({ mint, amount }) => mint !== WRAPPED_SOL || amount > 1n,
  );
  return isMoved ? { ...told, program: mainProgram, payments } : null;
};

/** Returns the program that made all payments; null if there is none, or several. */
function programOf(payments: readonly { readonly program: string | null }[]): string | null {
  const programs = new Set(payments.map(({ program }) => program));
  const [only = null] = programs;
  return programs.size === 1 ? only : null;
}
