import type {
  MemoInterpretation,
  NonceInterpretation,
  StakeInterpretation,
  VoteInterpretation,
} from '../analysis/interpretation.ts';
import { quotedWords } from '../errors/quoted-words.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatSol } from './sentence-formats.ts';

/** The most characters of a memo that a sentence has. */
export const MAX_MEMO_CHARACTERS = 80;

export function describeStake(
  { type, actor, program, change, stakeAccount, target, lamports }: StakeInterpretation,
  formatAddress: FormatAddress,
  also = '',
): string {
  const who = `${formatAddress(actor)} ${also}`;
  const account = `the stake account ${formatAddress(stakeAccount)}`;
  switch (change) {
    case 'delegated':
      return `${who}staked ${lamports === null ? account : formatSol(lamports)} with the validator ${formatAddress(target)}`;
    case 'moved': {
      const verb = type === 'SPLIT_STAKE' ? 'split' : type === 'MERGE_STAKE' ? 'merged' : 'moved';
      const part = lamports === null || lamports === 0n ? account : `${formatSol(lamports)} of ${account}`;
      return `${who}${verb} ${part} into the stake account ${formatAddress(target)}`;
    }
    case 'withdrawn':
      return program === null && target === actor
        ? `${who}withdrew ${formatSol(lamports ?? 0n)} from ${account}`
        : `${who}withdrew ${formatSol(lamports ?? 0n)} from ${account} to ${formatAddress(target)}${programPhrase(program, 'through', formatAddress)}`;
    case 'deactivated':
      return `${who}began to unstake ${account}`;
  }
}

export const describeNonceAdvance = (
  { actor, nonceAccount }: NonceInterpretation,
  formatAddress: FormatAddress,
): string =>
  `${formatAddress(actor)} advanced the nonce${nonceAccount === null ? '' : ` of the account ${formatAddress(nonceAccount)}`}`;

export const describeVote = ({ voteAccount }: VoteInterpretation, formatAddress: FormatAddress): string =>
  `The validator ${formatAddress(voteAccount)} voted for blocks`;

export function describeMemo({ actor, memo }: MemoInterpretation, formatAddress: FormatAddress): string {
  const text = quotedWords(memo, MAX_MEMO_CHARACTERS);
  return `${formatAddress(actor)} wrote ${text === null ? 'a memo' : `the memo ${text}`}`;
}
