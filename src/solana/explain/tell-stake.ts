import { STAKE_PROGRAM } from '../../domain/well-known-addresses.ts';
import { address, amount, asked, type Facts } from '../analysis/facts.ts';
import { type Spelling, sol } from './wording.ts';

export function tellStake(facts: Facts, spell: Spelling): string {
  const [delegation] = asked(facts, [STAKE_PROGRAM], /^(delegate|redelegate)/);
  if (delegation === undefined) return tellRearranged(facts, spell);
  const stake = address(delegation, 'stakeAccount');
  const vote = address(delegation, 'voteAccount');
  const added = BigInt(facts.accountData.find(({ account }) => account === stake)?.nativeBalanceChange ?? 0);
  const what = added > 0n ? sol(added) : `the stake account ${spell(stake ?? '')}`;
  return `${spell(facts.feePayer)} staked ${what} with the validator ${spell(vote ?? '')}`;
}

/** Stake that is divided or put together stays stake. */
function tellRearranged(facts: Facts, spell: Spelling): string {
  const [change] = asked(facts, [STAKE_PROGRAM], /^(split|merge|moveStake)/);
  const from = address(change, 'source') ?? address(change, 'stakeAccount') ?? '';
  const to = address(change, 'destination') ?? address(change, 'newSplitAccount') ?? '';
  const lamports = change && amount(change, 'lamports');
  const what = lamports ? `${sol(lamports)} of the stake account ${spell(from)}` : `the stake account ${spell(from)}`;
  return `${spell(facts.feePayer)} moved ${what} into the stake account ${spell(to)}`;
}

export function tellUnstake(facts: Facts, spell: Spelling): string {
  const [withdrawal] = asked(facts, [STAKE_PROGRAM], /^withdraw/);
  const taken = withdrawal && amount(withdrawal, 'lamports');
  if (withdrawal !== undefined && taken !== null && taken !== undefined)
    return `${spell(facts.feePayer)} withdrew ${sol(taken)} from the stake account ${spell(address(withdrawal, 'stakeAccount') ?? '')}`;
  const [deactivation] = asked(facts, [STAKE_PROGRAM], /^deactivate/);
  return `${spell(facts.feePayer)} began to unstake the stake account ${spell(address(deactivation, 'stakeAccount') ?? '')}`;
}
