import { STAKE_PROGRAM } from '../../domain/well-known-addresses.ts';
import { findInstructions, infoAddress, infoAmount, type ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { type FormatAddress, formatSol } from './sentence-formats.ts';

export function describeStake(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const [delegation] = findInstructions(parsed, [STAKE_PROGRAM], /^(delegate|redelegate)/);
  if (delegation === undefined) return describeStakeMove(parsed, formatAddress);
  const stake = infoAddress(delegation, 'stakeAccount');
  const vote = infoAddress(delegation, 'voteAccount');
  const added = BigInt(parsed.accountData.find(({ account }) => account === stake)?.nativeBalanceChange ?? 0);
  const stakedText = added > 0n ? formatSol(added) : `the stake account ${formatAddress(stake ?? '')}`;
  return `${formatAddress(parsed.feePayer)} staked ${stakedText} with the validator ${formatAddress(vote ?? '')}`;
}

/** Describes a split or merge: the stake stays stake. */
function describeStakeMove(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const [change] = findInstructions(parsed, [STAKE_PROGRAM], /^(split|merge|moveStake)/);
  const from = infoAddress(change, 'source') ?? infoAddress(change, 'stakeAccount') ?? '';
  const to = infoAddress(change, 'destination') ?? infoAddress(change, 'newSplitAccount') ?? '';
  const lamports = change && infoAmount(change, 'lamports');
  const movedText = lamports
    ? `${formatSol(lamports)} of the stake account ${formatAddress(from)}`
    : `the stake account ${formatAddress(from)}`;
  return `${formatAddress(parsed.feePayer)} moved ${movedText} into the stake account ${formatAddress(to)}`;
}

export function describeUnstake(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const [withdrawal] = findInstructions(parsed, [STAKE_PROGRAM], /^withdraw/);
  const lamports = withdrawal && infoAmount(withdrawal, 'lamports');
  if (withdrawal !== undefined && lamports !== null && lamports !== undefined)
    return `${formatAddress(parsed.feePayer)} withdrew ${formatSol(lamports)} from the stake account ${formatAddress(infoAddress(withdrawal, 'stakeAccount') ?? '')}`;
  const [deactivation] = findInstructions(parsed, [STAKE_PROGRAM], /^deactivate/);
  return `${formatAddress(parsed.feePayer)} began to unstake the stake account ${formatAddress(infoAddress(deactivation, 'stakeAccount') ?? '')}`;
}
