import {
  LOADER_V4,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../../shared/domain/well-known-addresses.ts';
import { asBigInt, asString } from '../../codec/json-fields.ts';
import { KNOWN_PROGRAMS } from '../../programs/known-programs.ts';
import type { StakeInterpretation } from '../interpretation.ts';
import {
  findInstructions,
  infoAddress,
  infoAmount,
  type ParsedInstruction,
  type ParsedTransaction,
} from '../parsed-transaction.ts';
import { type Share, shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';

const LOADERS: readonly string[] = [UPGRADEABLE_LOADER, LOADER_V4];

export const voteRule: Rule = ({ parsed, actor }) => {
  const [vote] = findInstructions(parsed, [VOTE_PROGRAM], /vote|towersync/i);
  if (vote === undefined || /authori[sz]e|initialize/i.test(vote.type ?? '')) return null;
  const voteAccount = infoAddress(vote, 'voteAccount') ?? parsed.feePayer;
  return { type: 'VOTE', actor, program: null, states: [], voteAccount };
};

/** Interprets the deployment, replacement or extension of a program. */
export const loaderRule: Rule = ({ parsed, actor }) => {
  const find = (type: RegExp) => findInstructions(parsed, LOADERS, type)[0];
  const common = { actor, program: null, states: [] };
  const upgrade = find(/^upgrade/);
  if (upgrade !== undefined)
    return { ...common, type: 'PROGRAM_UPGRADE', change: 'upgraded', account: infoAddress(upgrade, 'programAccount') };
  const extension = find(/^(extend|setProgramLength)/);
  if (extension !== undefined)
    return {
      ...common,
      type: 'PROGRAM_UPGRADE',
      change: 'extended',
      account: infoAddress(extension, 'programAccount'),
    };
  const deploy = find(/^deploy/);
  const program = infoAddress(deploy, 'programAccount');
  if (program !== null) return { ...common, type: 'PROGRAM_DEPLOY', change: 'deployed', account: program };
  const write = find(/^(write|initializeBuffer)/);
  if (deploy === undefined && write === undefined) return null;
  const account = infoAddress(write, 'account') ?? infoAddress(write, 'programAccount');
  return { ...common, type: 'PROGRAM_DEPLOY', change: 'uploaded', account };
};

/** Interprets stake that is delegated, moved, deactivated or withdrawn. */
export const stakeRule: Rule = (facts) => {
  const { parsed, actor } = facts;
  const find = (type: RegExp) => findInstructions(parsed, [STAKE_PROGRAM], type)[0];
  const common = { actor, program: null };
  const delegation = find(/^(delegate|redelegate)/);
  if (delegation !== undefined) {
    const stakeAccount = infoAddress(delegation, 'stakeAccount') ?? '';
    const states = shareOf(parsed.actions.filter((action) => action.counterparty === stakeAccount));
    const lamports = parsed.accountData.find(({ account }) => account === stakeAccount)?.nativeBalanceChange ?? '0';
    const target = infoAddress(delegation, 'voteAccount') ?? '';
    const staked = BigInt(lamports) > 0n ? BigInt(lamports) : null;
    return { ...common, type: 'STAKE', change: 'delegated', stakeAccount, target, lamports: staked, states };
  }
  const move = find(/^(split|merge|moveStake)/);
  if (move !== undefined) {
    const stakeAccount = infoAddress(move, 'source') ?? infoAddress(move, 'stakeAccount') ?? '';
    const target = infoAddress(move, 'destination') ?? infoAddress(move, 'newSplitAccount') ?? '';
    const states = statesOf(stakeAccount, target, parsed);
    const [moved] = states.flatMap(({ actions }) => [...actions]); // a merge names no amount
    return {
      ...common,
      type: move.type?.startsWith('split') ? 'SPLIT_STAKE' : move.type === 'merge' ? 'MERGE_STAKE' : 'STAKE',
      change: 'moved',
      stakeAccount,
      target,
      lamports: infoAmount(move, 'lamports') ?? asBigInt(moved?.given[0]?.amount),
      states,
    };
  }
  const withdrawal = find(/^withdraw/);
  if (withdrawal !== undefined) return withdrawn(withdrawal, null, facts);
  const deactivation = find(/^deactivate/);
  if (deactivation === undefined) return null;
  const stakeAccount = infoAddress(deactivation, 'stakeAccount') ?? '';
  return { ...common, type: 'UNSTAKE', change: 'deactivated', stakeAccount, target: '', lamports: null, states: [] };
};

function withdrawn(
  call: ParsedInstruction,
  program: string | null,
  { parsed, actor }: TransactionFacts,
): StakeInterpretation | null {
  const [stakeAccount, target] = [infoAddress(call, 'stakeAccount') ?? '', infoAddress(call, 'destination') ?? ''];
  const lamports = infoAmount(call, 'lamports');
  const common = { type: 'UNSTAKE', actor, program, stakeAccount } as const;
  if (lamports === null) return { ...common, change: 'deactivated', target: '', lamports, states: [] };
  return { ...common, change: 'withdrawn', target, lamports, states: statesOf(stakeAccount, target, parsed) };
}

/** Returns the first movement from a stake account: each further one has a clause of its own. */
const statesOf = (stakeAccount: string, target: string, { actions }: ParsedTransaction): readonly Share[] =>
  shareOf(
    actions
      .filter(({ kind, actor, counterparty }) => kind !== 'rent' && actor === stakeAccount && counterparty === target)
      .slice(0, 1),
  );

/** Interprets stake that a program withdrew for its caller, such as a stake pool or a bond of a validator. */
export const innerStakeRule: Rule = (facts) => {
  const { calls, mainProgram, isAttempt } = facts;
  if (isAttempt || mainProgram === null) return null;
  const withdrawals = calls.filter(({ programId, type }) => programId === STAKE_PROGRAM && type === 'withdraw');
  const [withdrawal] = withdrawals;
  return withdrawals.length === 1 && withdrawal !== undefined && infoAmount(withdrawal, 'lamports') !== null
    ? withdrawn(withdrawal, mainProgram, facts)
    : null;
};

export const nonceRule: Rule = ({ parsed, mainProgram, actor }) => {
  const [advance] = findInstructions(parsed, [SYSTEM_PROGRAM], /^advanceNonce/);
  if (advance === undefined || mainProgram !== null) return null;
  return {
    type: 'NONCE_ADVANCE',
    actor,
    program: null,
    states: [],
    nonceAccount: infoAddress(advance, 'nonceAccount'),
  };
};

export const memoRule: Rule = ({ parsed, mainProgram, actor }) => {
  const note = parsed.instructions.find(({ programId }) => KNOWN_PROGRAMS.get(programId)?.source === 'MEMO_PROGRAM');
  if (note === undefined || mainProgram !== null) return null;
  return { type: 'MEMO', actor, program: null, states: [], memo: asString(note.info?.['memo']) ?? '' };
};
