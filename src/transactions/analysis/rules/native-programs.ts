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
import type { ProgramInterpretation, StakeInterpretation } from '../interpretation.ts';
import {
  callsOf,
  findInstructions,
  infoAddress,
  infoAmount,
  type ParsedInstruction,
  type ParsedTransaction,
} from '../parsed-transaction.ts';
import { creditOf, type Share, shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';

const LOADERS: readonly string[] = [UPGRADEABLE_LOADER, LOADER_V4];

export const voteRule: Rule = ({ parsed, actor }) => {
  const [vote] = findInstructions(parsed, [VOTE_PROGRAM], /vote|towersync/i);
  if (vote === undefined || /authori[sz]e|initialize/i.test(vote.type ?? '')) return null;
  const voteAccount = infoAddress(vote, 'voteAccount') ?? parsed.feePayer;
  return { type: 'VOTE', actor, program: null, states: [], voteAccount };
};

/** Calls of loaders, the most significant first: what is replaced beside a deployment is described as a right. */
const LOADER_CALLS: readonly (readonly [name: RegExp, change: ProgramInterpretation['change']])[] = [
  [/^deploy/, 'deployed'],
  [/^upgrade/, 'upgraded'],
  [/^extend/, 'extended'],
  [/^write/, 'uploaded'],
  [/^initializeBuffer/, 'prepared'],
];

/** Interprets the deployment, replacement or extension of a program. */
export const loaderRule: Rule = (facts) => {
  for (const [name, change] of LOADER_CALLS) {
    const calls = findInstructions(facts.parsed, LOADERS, name);
    const [actor] = calls.map((call) => signerOf(call, facts));
    if (actor === undefined) continue;
    const named = calls
      .filter((call) => signerOf(call, facts) === actor)
      .flatMap((call) => infoAddress(call, 'programAccount') ?? infoAddress(call, 'account') ?? []);
    const type = change === 'upgraded' || change === 'extended' ? 'PROGRAM_UPGRADE' : 'PROGRAM_DEPLOY';
    return { type, actor, program: null, states: [], change, accounts: [...new Set(named)] };
  }
  return null;
};

/** Returns how each stake account is left whose holder signed for its delegation or deactivation, but not what was paid for it. */
export const findStakeChanges = (facts: TransactionFacts): readonly StakeInterpretation[] =>
  [...stakeCalls(facts)].map(([stakeAccount, call]) => {
    const common = { actor: signerOf(call, facts), program: null, stakeAccount, lamports: null, states: [] } as const;
    return call.type?.startsWith('deactivate')
      ? { ...common, type: 'UNSTAKE', change: 'deactivated', target: '' }
      : { ...common, type: 'STAKE', change: 'delegated', target: infoAddress(call, 'voteAccount') ?? '' };
  });

/** Returns the last delegation or deactivation of each stake account whose holder signed for it: that one holds. */
function stakeCalls(facts: TransactionFacts): ReadonlyMap<string, ParsedInstruction> {
  const last = new Map<string, ParsedInstruction>();
  for (const call of facts.calls) {
    if (call.programId !== STAKE_PROGRAM || !/^(delegate|redelegate|deactivate)/.test(call.type ?? '')) continue;
    const authority = infoAddress(call, 'stakeAuthority');
    if (authority === null || facts.parsed.signers.includes(authority))
      last.set(infoAddress(call, 'stakeAccount') ?? '', call);
  }
  return last;
}

/** Returns what was delegated of a new stake: null where another may hold it, or where some of it left. */
function stakedIn(
  { stakeAccount, actor }: StakeInterpretation,
  facts: TransactionFacts,
): Pick<StakeInterpretation, 'lamports' | 'states'> {
  const { parsed, calls } = facts;
  const delegation = stakeCalls(facts).get(stakeAccount);
  const place = delegation === undefined ? -1 : calls.indexOf(delegation);
  const isOwn = parsed.authorityChanges.some(
    ({ kind, authorityType, account, to }) =>
      kind === 'initializeAuthority' && authorityType === 'withdrawer' && account === stakeAccount && to === actor,
  );
  const before = parsed.actions.filter((action) => {
    const [call] = isOwn ? callsOf(action, parsed) : [];
    return call !== undefined && calls.indexOf(call) < place; // what comes later is not delegated
  });
  const isStaked = (action: Action): boolean =>
    action.actor === actor &&
    action.counterparty === stakeAccount &&
    callsOf(action, parsed).some(({ programId }) => programId === SYSTEM_PROGRAM); // tokens are not
  const paid = before.some((action) => action.actor === stakeAccount) ? [] : before.filter(isStaked);
  const staked = paid.reduce((sum, { given: [lamports] }) => sum + BigInt(lamports?.amount ?? 0), 0n);
  return { lamports: staked > 0n ? staked : null, states: shareOf(paid) };
}

/** Interprets stake that is delegated, moved, deactivated or withdrawn. */
export const stakeRule: Rule = (facts) => {
  const { parsed } = facts;
  const find = (type: RegExp) => findInstructions(parsed, [STAKE_PROGRAM], type)[0];
  const changes = findStakeChanges(facts);
  const delegation = changes.find(({ change }) => change === 'delegated');
  if (delegation !== undefined) return { ...delegation, ...stakedIn(delegation, facts) };
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
  const withdrawal = find(/^withdraw/);
  return withdrawal === undefined ? (changes[0] ?? null) : withdrawn(withdrawal, facts);
};

/** Returns who signed for a change of a stake or a program. */
function signerOf(call: ParsedInstruction, { parsed, actor }: TransactionFacts): string {
  const names = ['stakeAuthority', 'withdrawAuthority', 'authority', 'payerAccount'];
  const named = names.map((name) => infoAddress(call, name));
  return named.find((signer) => parsed.signers.includes(signer ?? '')) ?? actor;
}

/** Interprets a withdrawal; the program in whose call it was made is credited with it. */
function withdrawn(call: ParsedInstruction, facts: TransactionFacts): StakeInterpretation {
  const [stakeAccount, target] = [infoAddress(call, 'stakeAccount') ?? '', infoAddress(call, 'destination') ?? ''];
  const lamports = infoAmount(call, 'lamports');
  const states = statesOf(stakeAccount, target, lamports, facts.parsed);
  const common = { type: 'UNSTAKE', change: 'withdrawn', actor: signerOf(call, facts) } as const;
  return { ...common, program: creditOf(states), stakeAccount, target, lamports, states };
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
  const { calls, isAttempt } = facts;
  if (isAttempt) return null;
  const withdrawals = calls.filter(({ programId, type }) => programId === STAKE_PROGRAM && type === 'withdraw');
  const [withdrawal] = withdrawals;
  return withdrawals.length === 1 && withdrawal !== undefined && infoAmount(withdrawal, 'lamports') !== null
    ? withdrawn(withdrawal, facts)
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
  const writers = note.accounts.filter((account) => parsed.signers.includes(account)); // who it names must sign
  const writer = writers.includes(actor) ? actor : (writers[0] ?? actor);
  return { type: 'MEMO', actor: writer, program: null, states: [], memo: asString(note.info?.['memo']) ?? '' };
};
