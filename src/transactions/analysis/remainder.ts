import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { isTradingProgram, programRole } from '../programs/known-programs.ts';
import { type Action, type Remainder, toAmount } from './action.ts';
import type { ParsedTransaction } from './parsed-transaction.ts';
import { isNftAmount } from './payments.ts';
import type { Share } from './share.ts';

/**
 * Finds what a sentence must still say, so that what it says adds up to what changed for each wallet that signed, and for
 * each whose account somebody else disposed of. Nothing is netted with what the sentence says: what was traded and what was
 * stolen are two figures.
 */
export function findRemainder(
  stated: readonly Share[],
  { signers, actions, unaccounted }: ParsedTransaction,
): Remainder {
  const subjects = new Set([
    ...signers,
    ...actions.flatMap(({ actor, authority, program }) =>
      authority === null || (isTradingProgram(program) && !signers.includes(authority)) ? [] : [actor],
    ),
  ]);
  const isStated = (action: Action, party: string | null): boolean =>
    stated.some(({ actions: of, wallet }) => of.has(action) && (wallet === null || wallet === party));
  // beside what is said to be minted, to whomever, all that is minted is said
  const isMint = stated.some(
    ({ actions: of, wallet }) => wallet === null && [...of].some(({ kind }) => kind === 'mint'),
  );
  const isForAnybody = (action: Action): boolean =>
    action.kind === 'payout' ||
    (action.kind === 'mint' && (action.program === null || isMint || isForDeposit(action, actions, subjects)));
  const isOpen = (action: Action): boolean =>
    [action.actor, action.counterparty].some(
      (party) => party !== null && (isForAnybody(action) || subjects.has(party)) && !isStated(action, party),
    );
  const open = actions.filter((action) => isCounted(action) && isOpen(action));
  const evened = returnedDeposits(open);
  return {
    actions: open.filter((action) => !evened.has(action)),
    changes: unaccounted.map(({ userAccount, mint, amount, decimals }) => [
      userAccount,
      { mint, decimals, amount: BigInt(amount) },
    ]),
  };
}

/**
 * Returns whether a program minted what somebody deposited for, and others got more of it than signers did in that
 * instruction, which is no fee: shares of a pool of stakes, or the NFT of a position, beside what a signer gave to that program.
 */
function isForDeposit(
  { program, instruction, got: [share] }: Action,
  actions: readonly Action[],
  subjects: ReadonlySet<string>,
): boolean {
  const ofProgram = actions.filter((action) => action.program === program && subjects.has(action.actor));
  const isPosition = share !== undefined && isNftAmount(toAmount(share)) && ofProgram.some(isSent);
  if (!isPosition && programRole(program) !== 'staking') return false;
  let excess = 0n;
  for (const { kind, actor, program: maker, instruction: place, got } of actions)
    if (kind === 'mint' && maker === program && place?.[0] === instruction?.[0] && got[0]?.mint === share?.mint)
      excess += (subjects.has(actor) ? -1n : 1n) * BigInt(got[0]?.amount ?? 0);
  return excess > 0n;
}

/** Finds deposits that came back in the calls of the program for which they were paid, and their returns. */
function returnedDeposits(actions: readonly Action[]): ReadonlySet<Action> {
  const evened = new Set<Action>();
  const returns = actions.filter(({ kind }) => kind === 'direct' || kind === 'close');
  for (const deposit of actions) {
    if (deposit.kind !== 'rent') continue;
    const returned = returns.find(
      ({ kind, program, counterparty, actor, given, got }) =>
        (kind === 'close'
          ? counterparty === deposit.actor && actor === deposit.counterparty
          : actor === deposit.actor) &&
        program === deposit.program &&
        (kind === 'close' ? given : got)[0]?.amount === deposit.given[0]?.amount,
    );
    if (returned === undefined || evened.has(returned)) continue;
    evened.add(deposit).add(returned);
  }
  return evened;
}

/** The fee and tips stand in the sentence on the cost; changes of rights and hidden amounts have sentences of their own. */
const ELSEWHERE: readonly Action['kind'][] = ['fee', 'tip', 'changeOwner', 'hide'];

/** Returns whether an action sent something to somebody. */
export const isSent = (action: Action): boolean =>
  (action.kind === 'transfer' || action.kind === 'payout') && action.counterparty !== null && isCounted(action);

/** Returns whether a sentence has to say what an action did: the lamport that some programs charge for a call it does not. */
export const isCounted = ({ kind, program, given: [first] }: Action): boolean =>
  !ELSEWHERE.includes(kind) &&
  !(kind === 'transfer' && program !== null && first?.mint === WRAPPED_SOL && first.amount === '1');
