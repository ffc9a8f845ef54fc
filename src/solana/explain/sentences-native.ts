import type {
  MemoInterpretation,
  NonceInterpretation,
  StakeInterpretation,
  VoteInterpretation,
} from '../analysis/interpretation.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatSol, quote } from './sentence-formats.ts';

export function describeStake(
  { actor, program, change, stakeAccount, target, lamports }: StakeInterpretation,
  formatAddress: FormatAddress,
): string {
  const who = formatAddress(actor);
  const account = `the stake account ${formatAddress(stakeAccount)}`;
  switch (change) {
    case 'delegated':
      return `${who} staked ${lamports === null ? account : formatSol(lamports)} with the validator ${formatAddress(target)}`;
    case 'moved': {
      const part = lamports === null || lamports === 0n ? account : `${formatSol(lamports)} of ${account}`;
      return `${who} moved ${part} into the stake account ${formatAddress(target)}`;
    }
    case 'withdrawn':
      return program === null
        ? `${who} withdrew ${formatSol(lamports ?? 0n)} from ${account}`
        : `${who} had ${formatSol(lamports ?? 0n)} of ${account} paid out to ${formatAddress(target)}${programPhrase(program, 'through', formatAddress)}`;
    case 'deactivated':
      return `${who} began to unstake ${account}`;
  }
}

export const describeNonceAdvance = (
  { actor, nonceAccount }: NonceInterpretation,
  formatAddress: FormatAddress,
): string =>
  `${formatAddress(actor)} advanced the nonce${nonceAccount === null ? '' : ` of the account ${formatAddress(nonceAccount)}`}`;

export const describeVote = ({ voteAccount }: VoteInterpretation, formatAddress: FormatAddress): string =>
  `The validator ${formatAddress(voteAccount)} voted for the blocks that it holds to be valid`;

export function describeMemo({ actor, memo }: MemoInterpretation, formatAddress: FormatAddress): string {
  const text = memo.replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ').trim();
  return `${formatAddress(actor)} wrote the note ${quote(text.length > 80 ? `${text.slice(0, 80)}…` : text)} on the chain`;
}
