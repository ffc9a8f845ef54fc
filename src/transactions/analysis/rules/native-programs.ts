import {
  LOADER_V4,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../../shared/domain/well-known-addresses.ts';
import { asString } from '../../codec/json-fields.ts';
import { KNOWN_PROGRAMS } from '../../programs/known-programs.ts';
import { findInstructions, infoAddress, infoAmount } from '../parsed-transaction.ts';
import type { Rule } from './rule.ts';

const LOADERS: readonly string[] = [UPGRADEABLE_LOADER, LOADER_V4];

export const voteRule: Rule = ({ parsed }) => {
  const [vote] = findInstructions(parsed, [VOTE_PROGRAM], /vote|towersync/i);
  if (vote === undefined || /authori[sz]e|initialize/i.test(vote.type ?? '')) return null;
  const voteAccount = infoAddress(vote, 'voteAccount') ?? parsed.feePayer;
  return { type: 'VOTE', actor: parsed.feePayer, program: null, voteAccount };
};

/** Interprets the deployment, replacement or extension of a program. */
export const loaderRule: Rule = ({ parsed }) => {
  const find = (type: RegExp) => findInstructions(parsed, LOADERS, type)[0];
  const common = { actor: parsed.feePayer, program: null };
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
export const stakeRule: Rule = ({ parsed }) => {
  const find = (type: RegExp) => findInstructions(parsed, [STAKE_PROGRAM], type)[0];
  const common = { actor: parsed.feePayer, program: null };
  const delegation = find(/^(delegate|redelegate)/);
  if (delegation !== undefined) {
    const stakeAccount = infoAddress(delegation, 'stakeAccount') ?? '';
    const change = parsed.accountData.find(({ account }) => account === stakeAccount)?.nativeBalanceChange;
    const lamports = BigInt(change ?? 0) > 0n ? BigInt(change ?? 0) : null;
    const target = infoAddress(delegation, 'voteAccount') ?? '';
    return { ...common, type: 'STAKE', change: 'delegated', stakeAccount, target, lamports };
  }
  const move = find(/^(split|merge|moveStake)/);
  if (move !== undefined)
    return {
      ...common,
      type: move.type?.startsWith('split') ? 'SPLIT_STAKE' : move.type === 'merge' ? 'MERGE_STAKE' : 'STAKE',
      change: 'moved',
      stakeAccount: infoAddress(move, 'source') ?? infoAddress(move, 'stakeAccount') ?? '',
      target: infoAddress(move, 'destination') ?? infoAddress(move, 'newSplitAccount') ?? '',
      lamports: infoAmount(move, 'lamports'),
    };
  const withdrawal = find(/^withdraw/);
  const stakeOf = (call: typeof withdrawal) => infoAddress(call, 'stakeAccount') ?? '';
  const lamports = withdrawal === undefined ? null : infoAmount(withdrawal, 'lamports');
  if (withdrawal !== undefined && lamports !== null) {
    const target = infoAddress(withdrawal, 'destination') ?? '';
    return { ...common, type: 'UNSTAKE', change: 'withdrawn', stakeAccount: stakeOf(withdrawal), target, lamports };
  }
  const deactivation = find(/^deactivate/);
  if (deactivation === undefined && withdrawal === undefined) return null;
  const stakeAccount = stakeOf(deactivation ?? withdrawal);
  return { ...common, type: 'UNSTAKE', change: 'deactivated', stakeAccount, target: '', lamports: null };
};

/** Interprets stake that a program withdrew for its caller, such as a stake pool or a bond of a validator. */
export const innerStakeRule: Rule = ({ parsed, calls, mainProgram, hasFailed }) => {
  if (hasFailed || mainProgram === null) return null;
  const withdrawals = calls.filter(({ programId, type }) => programId === STAKE_PROGRAM && type === 'withdraw');
  const [withdrawal] = withdrawals;
  const lamports = withdrawal === undefined ? null : infoAmount(withdrawal, 'lamports');
  if (withdrawals.length !== 1 || lamports === null) return null;
  return {
    type: 'UNSTAKE',
    actor: parsed.feePayer,
    program: mainProgram,
    change: 'withdrawn',
    stakeAccount: infoAddress(withdrawal, 'stakeAccount') ?? '',
    target: infoAddress(withdrawal, 'destination') ?? '',
    lamports,
  };
};

export const nonceRule: Rule = ({ parsed, mainProgram }) => {
  const [advance] = findInstructions(parsed, [SYSTEM_PROGRAM], /^advanceNonce/);
  if (advance === undefined || mainProgram !== null) return null;
  return {
    type: 'NONCE_ADVANCE',
    actor: parsed.feePayer,
    program: null,
    nonceAccount: infoAddress(advance, 'nonceAccount'),
  };
};

export const memoRule: Rule = ({ parsed, mainProgram }) => {
  const note = parsed.instructions.find(({ programId }) => KNOWN_PROGRAMS.get(programId)?.source === 'MEMO_PROGRAM');
  if (note === undefined || mainProgram !== null) return null;
  return { type: 'MEMO', actor: parsed.feePayer, program: null, memo: asString(note.info?.['memo']) ?? '' };
};
