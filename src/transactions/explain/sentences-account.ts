import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import type { AuthorityChange } from '../analysis/authority-changes.ts';
import type {
  AccountInterpretation,
  AuthorityInterpretation,
  ProgramInterpretation,
} from '../analysis/interpretation.ts';
import { formatUnits } from '../codec/format-decimal.ts';
import { programRole } from '../programs/known-programs.ts';
import { programPhrase } from './program-phrase.ts';
import {
  type FormatAddress,
  formatAccounts,
  formatAmount,
  formatSol,
  ofOwner,
  tokenName,
  wordOrQuoted,
  YOU,
} from './sentence-formats.ts';
import { wordsOf } from './words.ts';

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
    return `${formatAddress(actor)} added addresses to the lookup table ${formatAddress(extendedTable)}`;
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

/** Rights in words. */
const RIGHTS = wordsOf('rights');

/** Largest amount of a token account: an approval of it has no limit. */
const MAX_AMOUNT = `${2n ** 64n - 1n}`;

/** Describes which authority passed to whom, and what is at stake. */
export function describeAuthority({ actor, change }: AuthorityInterpretation, formatAddress: FormatAddress): string {
  const who = formatAddress(actor);
  return change === null
    ? `${who} tried to change an authority`
    : `${who} ${describeAuthorityChange(change, formatAddress)}`;
}

/** What is changed with a rate. */
const RATES: Readonly<Record<string, string>> = {
  transferFee: 'the fee of each transfer of',
  interest: 'the interest that is shown for',
  scale: 'the scale in which amounts are shown of',
  commissionRate: 'the commission of the vote account',
};

/** Returns ` to 1.5 %`; nothing if the instruction names no rate. */
const ratePhrase = ({ basisPoints }: AuthorityChange): string =>
  basisPoints === null ? '' : ` to ${formatUnits(BigInt(basisPoints), 2)} %`;

/** Describes a change of authority, without its author. */
export function describeAuthorityChange(change: AuthorityChange, formatAddress: FormatAddress): string {
  const { kind, account, authorityType, from, to, mint, amount } = change;
  const isOfOther = change.owner !== null && change.authority !== null && change.owner !== change.authority;
  const subject = `${formatAddress(account)}${isOfOther ? ofOwner(change.owner, formatAddress) : ''}`;
  const [before, after] = [from === null ? '' : ` from ${formatAddress(from)}`, to === null ? '' : formatAddress(to)];
  const holding = holdingPhrase(change, formatAddress);
  switch (kind) {
    case 'approve': {
      const tokens = amount === null || amount === MAX_AMOUNT ? 'all tokens' : tokensOf(change, amount, formatAddress);
      return `allowed ${after} to spend ${tokens} of the account ${subject}${holding}`;
    }
    case 'revoke':
      return `ended what others were allowed to spend of the account ${subject}${holding}`;
    case 'freeze':
      return `froze the account ${subject}${holding}`;
    case 'thaw':
      return `released the frozen account ${subject}${holding}`;
    case 'pause':
      return `stopped all transfers of ${tokenLabel(mint ?? account, formatAddress)}`;
    case 'resume':
      return `allowed transfers of ${tokenLabel(mint ?? account, formatAddress)} again`;
    case 'freezeNewAccounts':
      return `made new accounts of ${tokenLabel(mint ?? account, formatAddress)} start frozen`;
    case 'thawNewAccounts':
      return `made new accounts of ${tokenLabel(mint ?? account, formatAddress)} start usable`;
    case 'assign':
      return `gave ${subject === YOU ? 'your wallet' : `its wallet ${subject}`}${holding} away to the program ${after}`;
    case 'initializeAuthority':
      if (authorityType === 'permanentDelegate')
        return `let ${after} move everybody's tokens of ${tokenLabel(mint ?? account, formatAddress)}`;
      if (authorityType === 'transferHook')
        return `made each transfer of ${tokenLabel(mint ?? account, formatAddress)} call the program ${after}`;
      if (RATES[authorityType ?? ''] !== undefined) {
        const what = mint === null ? subject : tokenLabel(mint, formatAddress);
        const most =
          amount === null || amount === MAX_AMOUNT ? '' : `, at most ${tokensOf(change, amount, formatAddress)}`;
        return `changed ${RATES[authorityType ?? '']} ${what}${ratePhrase(change)}${most}`;
      }
      if (authorityType === 'cpiGuard') return `took the guard against programs off the account ${subject}${holding}`;
      if (authorityType === 'closedProgram') return `closed the program ${subject} for good`;
      return mint === null
        ? `gave ${after} the ${rightName(authorityType)} of ${subject}${holding}`
        : `let ${after} close the mint ${subject}`;
    case 'setLockup': {
      const { unixTimestamp = null, epoch = null } = change.lockup ?? {};
      const until = [
        ...(unixTimestamp === null ? [] : [dateOf(unixTimestamp)]),
        ...(epoch === null ? [] : [`epoch ${epoch}`]),
      ];
      const [end, custodian] = [
        until.length === 0 ? '' : ` until ${until.join(' and ')}`,
        to === null ? '' : ` with ${after} as its custodian`,
      ];
      return `changed the lock-up of the stake account ${subject}${holding}${end}${custodian}`;
    }
    default: {
      if (programRole(change.programId) !== 'core') {
        const what = account === change.owner ? 'what it has' : subject;
        const program = programPhrase(change.programId, 'on', formatAddress);
        return `gave ${after} a right over ${what}${program} (${wordOrQuoted(authorityType ?? '')})`;
      }
      const right = rightName(authorityType);
      return to === null
        ? `gave up the ${right} of ${subject}${holding} for good`
        : `passed the ${right} of ${subject}${holding}${before} to ${after}`;
    }
  }
}

/** Returns a right in words, or as a node names it. */
function rightName(right: string | null): string {
  if (right === null || right === '') return 'authority';
  return RIGHTS.get(right) ?? `${wordOrQuoted(right)} authority`;
}

/** Returns the day of a time in Unix seconds, or the seconds where it is beyond what a date can be. */
function dateOf(unixSeconds: string): string {
  const date = new Date(Number(unixSeconds) * 1000);
  return Number.isNaN(date.getTime()) ? `${unixSeconds} s` : date.toISOString().slice(0, 10);
}

/** Returns `, which holds 5 USDC`, or nothing if nothing is known to be at stake. */
function holdingPhrase(change: AuthorityChange, formatAddress: FormatAddress): string {
  const { tokenBalance, lamports } = change;
  if (tokenBalance !== null && tokenBalance !== '0')
    return ` (which holds ${tokensOf(change, tokenBalance, formatAddress)})`;
  const isStake =
    ['staker', 'withdrawer', 'nonce'].includes(change.authorityType ?? '') ||
    ['assign', 'setLockup'].includes(change.kind);
  return isStake && lamports !== null && lamports !== '0' ? ` (which holds ${formatSol(BigInt(lamports))})` : '';
}

const tokensOf = ({ mint, decimals }: AuthorityChange, amount: string, formatAddress: FormatAddress): string =>
  mint === null || decimals === null
    ? `${amount} smallest units`
    : formatAmount({ mint, amount: BigInt(amount), decimals }, formatAddress);

const tokenLabel = (mint: string, formatAddress: FormatAddress): string =>
  mint === WRAPPED_SOL ? 'wrapped SOL' : (tokenName(mint, formatAddress) ?? `the token ${formatAddress(mint)}`);
