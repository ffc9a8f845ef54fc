import { SYSTEM_PROGRAM, VOTE_PROGRAM } from '../../domain/well-known-addresses.ts';
import { findInstructions, infoAddress, type ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { KNOWN_PROGRAMS } from '../programs/known-programs.ts';
import type { FormatAddress } from './sentence-formats.ts';

export function describeNonceAdvance(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const nonce = infoAddress(findInstructions(parsed, [SYSTEM_PROGRAM], /^advanceNonce/)[0], 'nonceAccount');
  return `${formatAddress(parsed.feePayer)} renewed the one-time code${nonce === null ? '' : ` of the account ${formatAddress(nonce)}`}`;
}

export const describeMemo = (parsed: ParsedTransaction, formatAddress: FormatAddress): string =>
  `${formatAddress(parsed.feePayer)} wrote the note ${memoText(parsed)} on the chain`;

export function describeVote(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const vote = infoAddress(findInstructions(parsed, [VOTE_PROGRAM], /vote|towersync/i)[0], 'voteAccount');
  return `The validator ${formatAddress(vote ?? parsed.feePayer)} voted for the blocks that it holds to be valid`;
}

function memoText(parsed: ParsedTransaction): string {
  const memo = parsed.instructions.find(({ programId }) => KNOWN_PROGRAMS.get(programId)?.source === 'MEMO_PROGRAM')
    ?.info?.['memo'];
  const text = typeof memo === 'string' ? memo.replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ').trim() : '';
  return text.length > 80 ? `“${text.slice(0, 80)}…”` : `“${text}”`;
}
