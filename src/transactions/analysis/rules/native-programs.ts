import {
  LOADER_V4,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../../shared/domain/well-known-addresses.ts';
import { asBigInt, asString } from '../../codec/json-fields.ts';
import { KNOWN_PROGRAMS } from '../../programs/known-programs.ts';
import type { Action } from '../action.ts';
import type { StakeInterpretation } from '../interpretation.ts';
import {
  callsOf,
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
export const loaderRule: Rule = (facts) => {
  const { parsed } = facts;
  const find = (type: RegExp) => findInstructions(parsed, LOADERS, type)[0];
  const [first] = findInstructions(parsed, LOADERS, /^(upgrade|extend|deploy|write|initializeBuffer)/);
  if (first === undefined) return null;
  const common = { actor: signerOf(first, facts), program: null, states: [] };
  const upgrade = find(/^upgrade/);
  const update = upgrade ?? find(/^extend/);
  if (update !== undefined) {
    const account = infoAddress(update, 'programAccount');
    return { ...common, type: 'PROGRAM_UPGRADE', change: update === upgrade ? 'upgraded' : 'extended', account };
  }
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
  const { parsed } = facts;
  const findAll = (type: RegExp) => findInstructions(parsed, [STAKE_PROGRAM], type);
  const find = (type: RegExp) => findAll(type)[0];
  const isEnded = ({ index, info }: ParsedInstruction): boolean =>
    findAll(/^deactivate/).some((end) => end.index > index && end.info?.['stakeAccount'] === info?.['stakeAccount']);
  const delegation = findAll(/^(delegate|redelegate)/).find((call) => !isEnded(call));
  if (delegation !== undefined) {
    const actor = signerOf(delegation, facts);
    const stakeAccount = infoAddress(delegation, 'stakeAccount') ?? '';
    const target = infoAddress(delegation, 'voteAccount') ?? '';
    const isOwn = parsed.authorityChanges.some(
      ({ kind, account, to }) => kind === 'initializeAuthority' && account === stakeAccount && to === actor,
    );
    const isStaked = (action: Action): boolean =>
      action.actor === actor &&
      action.counterparty === stakeAccount &&
      (action.instruction?.[0] ?? 0) < delegation.index && // what comes later is not delegated
      callsOf(action, parsed).some(({ programId }) => programId === SYSTEM_PROGRAM); // tokens are not
    const paid = isOwn ? parsed.actions.filter(isStaked) : [];
    const staked = paid.reduce((sum, { given: [lamports] }) => sum + BigInt(lamports?.amount ?? 0), 0n);
    const lamports = staked > 0n ? staked : null;
    const common = { actor, program: null, stakeAccount, target } as const;
    return { ...common, type: 'STAKE', change: 'delegated', lamports, states: shareOf(paid) };
  }
  const move = find(/^(split|merge|moveStake)/);
  if (move !== undefined) {
    const stakeAccount = infoAddress(move, 'source') ?? infoAddress(move, 'stakeAccount') ?? '';
    const target = infoAddress(move, 'destination') ?? infoAddress(move, 'newSplitAccount') ?? '';
    const named = infoAmount(move, 'lamports');
    const states = statesOf(stakeAccount, target, named, parsed);
    const [moved] = states.flatMap(({ actions }) => [...actions]); // a merge names no amount
    return {
      actor: signerOf(move, facts),
      program: null,
      type: move.type?.startsWith('split') ? 'SPLIT_STAKE' : move.type === 'merge' ? 'MERGE_STAKE' : 'STAKE',
      change: 'moved',
      stakeAccount,
      target,
      lamports: named ?? asBigInt(moved?.given[0]?.amount),
      states,
    };
  }
  const end = find(/^withdraw/) ?? find(/^deactivate/);
  return end === undefined ? null : withdrawn(end, null, facts);
};

/** Returns who signed for a change of a stake or a program. */
function signerOf(call: ParsedInstruction, { parsed, actor }: TransactionFacts): string {
  const named = ['stakeAuthority', 'withdrawAuthority', 'authority'].map((name) => infoAddress(call, name));
  return named.find((signer) => parsed.signers.includes(signer ?? '')) ?? actor;
}

function withdrawn(call: ParsedInstruction, program: string | null, facts: TransactionFacts): StakeInterpretation {
  const [stakeAccount, target] = [infoAddress(call, 'stakeAccount') ?? '', infoAddress(call, 'destination') ?? ''];
  const lamports = infoAmount(call, 'lamports');
  const common = { type: 'UNSTAKE', actor: signerOf(call, facts), program, stakeAccount } as const;
  if (lamports === null) return { ...common, change: 'deactivated', target: '', lamports, states: [] };
  const states = statesOf(stakeAccount, target, lamports, facts.parsed);
  return { ...common, change: 'withdrawn', target, lamports, states };
}

/** Returns the first movement from a stake account, of an amount if that is known: each further one has a clause of its own. */
const statesOf = (
  stakeAccount: string,
  target: string,
  lamports: bigint | null,
  { actions }: ParsedTransaction,
): readonly Share[] =>
  shareOf(
    actions
      .filter(({ kind, actor, counterparty }) => kind !== 'rent' && actor === stakeAccount && counterparty === target)
      .filter(({ given: [moved] }) => lamports === null || moved?.amount === `${lamports}`)
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
