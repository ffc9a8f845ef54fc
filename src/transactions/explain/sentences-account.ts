import { isWrappedSol } from '../../shared/domain/known-mints.ts';
import { MAX_U64 } from '../../shared/domain/max-u64.ts';
import { type AuthorityChange, isProposed } from '../analysis/authority-changes.ts';
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
  joinPhrases,
  ofOwner,
  tokenName,
  wordOrQuoted,
  YOU,
} from './sentence-formats.ts';
import { filledIn, wordsOf } from './words.ts';

export function describeOpening(
  { actor, accounts, tokenAccount, table }: AccountInterpretation,
  formatAddress: FormatAddress,
): string {
  if (tokenAccount !== null) {
    const { wallet, mint } = tokenAccount;
    const beneficiary = wallet === actor ? '' : ` for ${formatAddress(wallet)}`;
    return `${formatAddress(actor)} opened an account${beneficiary} that can hold ${tokenLabel(mint, formatAddress)}`;
  }
  if (table !== null) return `${formatAddress(actor)} added addresses to the lookup table ${formatAddress(table)}`;
  const named = formatAccounts(accounts, formatAddress);
  const one = named === YOU ? 'your account' : accounts.size === 1 ? `the account ${named}` : named;
  return `${formatAddress(actor)} opened ${accounts.size === 0 ? 'an account' : one}`;
}

export function describeClosing(
  { actor, program, closedAccounts, closedTokenAccounts, refund }: AccountInterpretation,
  formatAddress: FormatAddress,
): string {
  const isOfTokens = closedTokenAccounts > 0 && closedTokenAccounts === closedAccounts;
  const one = isOfTokens ? 'a token account' : 'an account';
  const closed = closedAccounts > 1 ? `${closedAccounts} ${isOfTokens ? 'token accounts' : 'accounts'}` : one;
  const got = refund > 0n ? ` and got ${formatSol(refund)} back` : '';
  return `${formatAddress(actor)} closed ${closed}${got}${programPhrase(program, 'through', formatAddress)}`;
}

/** The most programs that are named one by one. */
const MOST_NAMED = 4;

/** What was done to programs in words. */
const DEEDS = wordsOf('programs');

export function describeProgramChange(
  { actor, change, accounts }: ProgramInterpretation,
  formatAddress: FormatAddress,
): string {
  const count = accounts.length;
  const isNamed = count <= MOST_NAMED || change === 'upgraded'; // which is a right over somebody's program
  const listOf = (noun: string): string =>
    isNamed ? `the ${noun}${count > 1 ? 's' : ''} ${joinPhrases(accounts.map(formatAddress))}` : `${count} ${noun}s`;
  const [into, programs] = count === 0 ? ['an account', 'a program'] : [listOf('account'), listOf('program')];
  return `${formatAddress(actor)} ${filledIn(DEEDS.get(change) ?? '', { programs, into })}`;
}

/** Rights in words. */
const RIGHTS = wordsOf('rights');

/** Largest amount of a token account: an approval of it has no limit. */
const MAX_AMOUNT = `${MAX_U64}`;

/** Describes which authority passed to whom, and what is at stake. */
export function describeAuthority({ actor, change }: AuthorityInterpretation, formatAddress: FormatAddress): string {
  const who = formatAddress(actor);
  return change === null
    ? `${who} tried to change an authority`
    : `${who} ${describeAuthorityChange(change, actor, formatAddress)}`;
}

/** Changes of rights in words. */
const CHANGES = wordsOf('changes');

/** Describes a change of authority behind the name of its author. */
export function describeAuthorityChange(change: AuthorityChange, by: string, formatAddress: FormatAddress): string {
  const { account, owner, authority, authorityType, from, to, mint, amount, lockup, effectiveTimestamp } = change;
  const [form, after] = [formOf(change, by), to === null ? '' : formatAddress(to)];
  const isOfOther = owner !== null && authority !== null && owner !== authority;
  const isYours = formatAddress(account) === YOU;
  const named = isYours && isOfOther ? 'your account' : formatAddress(account);
  const subject = `${named}${isOfOther ? ofOwner(owner, formatAddress) : ''}`;
  const tokens = amount === null || amount === MAX_AMOUNT ? null : tokensOf(change, amount, formatAddress);
  const { unixTimestamp = null, epoch = null } = lockup ?? {};
  const until = [
    ...(isNoEnd(unixTimestamp) ? [] : [dateOf(unixTimestamp)]),
    ...(isNoEnd(epoch) ? [] : [`epoch ${epoch}`]),
  ];
  const words = CHANGES.get(form) ?? '';
  return filledIn(isYours ? words.replace(/the (\w+ )?\w+ \{account\}/, '{account}') : words, {
    account: subject === YOU ? 'your account' : subject,
    wallet: subject === YOU ? 'your wallet' : `its wallet ${subject}`,
    itself: subject === YOU ? 'yourself' : authority === account ? 'itself' : subject,
    what: account !== owner ? subject : subject === YOU ? 'what you have' : 'what it has',
    token: tokenLabel(mint ?? account, formatAddress),
    right: form === 'byProgram' || form === 'proposed' ? wordOrQuoted(authorityType ?? '') : rightName(authorityType),
    from: from === null ? '' : ` from ${formatAddress(from)}`,
    to: after,
    holding: holdingPhrase(change, formatAddress),
    amount: tokens ?? 'all tokens',
    rate: ratePhrase(change),
    start: effectiveTimestamp === null ? '' : ` from ${dateOf(effectiveTimestamp)} on`,
    most: tokens === null ? '' : `, at most ${tokens}`,
    end: until.length === 0 ? '' : ` until ${until.join(' and ')}`,
    custodian: to === null ? '' : ` with ${after} as its custodian`,
    program: programPhrase(change.programId, 'on', formatAddress),
  });
}

/** Returns the row of words on a change. */
function formOf(change: AuthorityChange, by: string): string {
  const { kind, authorityType, to, programId } = change;
  if (kind === 'setAuthority' && to !== null && programRole(programId) !== 'core')
    return isProposed(change) ? 'proposed' : 'byProgram';
  if (kind === 'setAuthority' && to === null) return authorityType === 'closeAccount' ? 'leftToOwner' : 'givenUp';
  if (kind === 'setAuthority') return 'passed';
  if (kind !== 'initializeAuthority') return kind;
  if (authorityType !== null && authorityType !== 'pause' && CHANGES.has(authorityType)) return authorityType; // a right to it
  return to === by ? 'got' : 'given';
}

/** Returns ` to 1.5 %`; nothing if the instruction names no rate. */
const ratePhrase = ({ basisPoints }: AuthorityChange): string =>
  basisPoints === null ? '' : ` to ${formatUnits(BigInt(basisPoints), 2)} %`;

/** Returns a right in words, or as a node names it. */
function rightName(right: string | null): string {
  if (right === null || right === '') return 'authority';
  return RIGHTS.get(right) ?? `${wordOrQuoted(right)} authority`;
}

const isNoEnd = (end: string | null): end is null => end === null || end === '0';

/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799n;

/** Returns the day of a time in Unix seconds, or the seconds where it is beyond what a date can be. */
function dateOf(unixSeconds: string): string {
  const seconds = BigInt(unixSeconds);
  return seconds < 0n || seconds > LAST_SECOND
    ? `${unixSeconds} s`
    : new Date(Number(seconds) * 1000).toISOString().slice(0, 10);
}

/** Returns `, which holds 5 USDC`, or nothing if nothing is known to be at stake. */
function holdingPhrase(change: AuthorityChange, formatAddress: FormatAddress): string {
  const { tokenBalance, lamports } = change;
  if (tokenBalance !== null && tokenBalance !== '0')
    return ` (which holds ${tokensOf(change, tokenBalance, formatAddress)})`;
  const isStake =
    ['accountOwner', 'staker', 'withdrawer', 'nonce', 'program'].includes(change.authorityType ?? '') ||
    ['assign', 'setLockup'].includes(change.kind);
  return isStake && lamports !== null && lamports !== '0' ? ` (which holds ${formatSol(BigInt(lamports))})` : '';
}

const tokensOf = ({ mint, decimals }: AuthorityChange, amount: string, formatAddress: FormatAddress): string =>
  mint === null || decimals === null
    ? `${amount} smallest units`
    : formatAmount({ mint, amount: BigInt(amount), decimals }, formatAddress);

/** Returns `USDC`, `“A dog”` or `the token 7xKX…gAsU`; the wrapped form of SOL by its name. */
export const tokenLabel = (mint: string, formatAddress: FormatAddress): string =>
  isWrappedSol(mint) ? 'wrapped SOL' : (tokenName(mint, formatAddress) ?? `the token ${formatAddress(mint)}`);
