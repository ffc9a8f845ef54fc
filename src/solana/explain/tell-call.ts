import { SYSTEM_PROGRAM, VOTE_PROGRAM } from '../../domain/well-known-addresses.ts';
import { address, asked, type Facts } from '../analysis/facts.ts';
import { KNOWN_PROGRAMS, programName } from '../analysis/known-programs.ts';
import { mainProgram } from '../analysis/main-program.ts';
import type { Spelling } from './wording.ts';

export function tellNonce(facts: Facts, spell: Spelling): string {
  const nonce = address(asked(facts, [SYSTEM_PROGRAM], /^advanceNonce/)[0], 'nonceAccount');
  return `${spell(facts.feePayer)} renewed the one-time code${nonce === null ? '' : ` of the account ${spell(nonce)}`}`;
}

export const tellMemo = (facts: Facts, spell: Spelling): string =>
  `${spell(facts.feePayer)} wrote the note ${note(facts)} on the chain`;

export function tellVote(facts: Facts, spell: Spelling): string {
  const vote = address(asked(facts, [VOTE_PROGRAM], /vote|towersync/i)[0], 'voteAccount');
  return `The validator ${spell(vote ?? facts.feePayer)} voted for the blocks that it holds to be valid`;
}

/** Nothing is known but which program was called, and that no balance changed. */
export function tellCall(facts: Facts, spell: Spelling): string {
  const id =
    mainProgram(facts) ??
    facts.instructions
      .map(({ programId }) => programId)
      .find((program) => KNOWN_PROGRAMS.get(program)?.source !== 'COMPUTE_BUDGET_PROGRAM');
  if (id === undefined) return `${spell(facts.feePayer)} sent a transaction that does nothing`;
  const name = programName(id);
  const called = name === null ? `the program ${spell(id)}` : `the ${name} program`;
  const type = facts.instructions.find(({ programId }) => programId === id)?.type ?? null;
  return `${spell(facts.feePayer)} called ${called}${type === null ? '' : ` (${type})`}; ${untouched(facts) ? 'no SOL or token changed hands' : 'balances of other accounts changed'}`;
}

/** Whether every balance is as before, the fee aside. */
const untouched = ({ accountData, feePayer, fee }: Facts): boolean =>
  accountData.every(({ account, nativeBalanceChange, tokenBalanceChanges }) => {
    const change = BigInt(nativeBalanceChange) + (account === feePayer ? BigInt(fee) : 0n);
    return change === 0n && tokenBalanceChanges.length === 0;
  });

function note(facts: Facts): string {
  const memo = facts.instructions.find(({ programId }) => KNOWN_PROGRAMS.get(programId)?.source === 'MEMO_PROGRAM')
    ?.info?.['memo'];
  const text = typeof memo === 'string' ? memo.replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ').trim() : '';
  return text.length > 80 ? `“${text.slice(0, 80)}…”` : `“${text}”`;
}
