import { knownMintSymbol, WRAPPED_SOL } from '../accounts/known-mints.ts';
import type {
  AccountInterpretation,
  AuthorityInterpretation,
  ProgramInterpretation,
} from '../analysis/interpretation.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAccounts, formatAmount, formatSol } from './sentence-formats.ts';

export function describeOpening(
  { actor, accounts, tokenAccount, extendedTable }: AccountInterpretation,
  formatAddress: FormatAddress,
): string {
  if (tokenAccount !== null) {
    const { wallet, mint } = tokenAccount;
    const beneficiary = wallet === actor ? '' : ` for ${formatAddress(wallet)}`;
    return `${formatAddress(actor)} opened an account${beneficiary} that can hold ${tokenLabel(mint, formatAddress)}`;
  }
  if (extendedTable !== null)
    return `${formatAddress(actor)} added addresses to the address list ${formatAddress(extendedTable)}`;
  const opened =
    accounts.size === 1
      ? `the account ${formatAccounts(accounts, formatAddress)}`
      : accounts.size === 0
        ? 'an account'
        : `${accounts.size} accounts`;
  return `${formatAddress(actor)} opened ${opened}`;
}

export function describeClosing(
  { actor, program, closedTokenAccounts, refund }: AccountInterpretation,
  formatAddress: FormatAddress,
): string {
  const closed =
    closedTokenAccounts > 1
      ? `${closedTokenAccounts} token accounts`
      : closedTokenAccounts === 1
        ? 'a token account'
        : 'an account';
  const got = refund > 0n ? ` and got ${formatSol(refund)} back` : '';
  return `${formatAddress(actor)} closed ${closed}${got}${programPhrase(program, 'through', formatAddress)}`;
}

export function describeProgramChange(
  { actor, change, account }: ProgramInterpretation,
  formatAddress: FormatAddress,
): string {
  const who = formatAddress(actor);
  const what = formatAddress(account ?? '');
  switch (change) {
    case 'deployed':
      return `${who} put the program ${what} on the chain`;
    case 'uploaded':
      return `${who} uploaded a part of a program to ${account === null ? 'an account' : `the account ${what}`}`;
    case 'extended':
      return `${who} made room for a new version of the program ${what}`;
    case 'upgraded':
      return `${who} replaced the program ${what} by a new version`;
  }
}

/** Describes who may decide over what from now on, and what is at stake. */
export function describeAuthority(
  { type, actor, subject, power, from, to, stake, isUnlimited, others }: AuthorityInterpretation,
  formatAddress: FormatAddress,
): string {
  const who = formatAddress(actor);
  const more = others === 0 ? '' : `, and made ${others} more such ${others === 1 ? 'change' : 'changes'}`;
  const amount = isUnlimited ? 'all tokens' : stake === null ? 'tokens' : formatAmount(stake, formatAddress);
  const holding = stake === null || stake.amount === 0n ? '' : `, with ${formatAmount(stake, formatAddress)}`;
  switch (type) {
    case 'APPROVE':
      return `${who} allowed ${formatAddress(to ?? '')} to spend ${amount} of the account ${formatAddress(subject)}${more}`;
    case 'REVOKE':
      return `${who} no longer allows anybody else to spend tokens of the account ${formatAddress(subject)}${more}`;
    case 'FREEZE':
      return `${who} froze the account ${formatAddress(subject)}${holding}${more}`;
    case 'THAW':
      return `${who} released the frozen account ${formatAddress(subject)}${holding}${more}`;
    case 'SET_AUTHORITY': {
      const before = from === null ? '' : ` from ${formatAddress(from)}`;
      const after = to === null ? ' to nobody' : ` to ${formatAddress(to)}`;
      return `${who} passed the ${power} of ${formatAddress(subject)}${holding}${before}${after}${more}`;
    }
  }
}

const tokenLabel = (mint: string, formatAddress: FormatAddress): string =>
  mint === WRAPPED_SOL ? 'wrapped SOL' : (knownMintSymbol(mint) ?? `the token ${formatAddress(mint)}`);
