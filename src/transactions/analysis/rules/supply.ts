import { TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import { type Action, effectsOf } from '../action.ts';
import type { AssetAmount } from '../asset-amount.ts';
import { hasInstruction } from '../parsed-transaction.ts';
import { type Share, shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { calledChange } from './calls.ts';

/** Interprets minted tokens; in a failed transaction, the attempt to mint some. */
export const mintRule: Rule = (facts) => {
  const { parsed, isAttempt, minted, burned, mainProgram, actor } = facts;
  const isMint = isAttempt ? hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^mintTo/) : minted.length > 0;
  if (!isMint) return null;
  const netChange = calledChange(facts, mainProgram);
  const isBurned = ({ mint }: AssetAmount): boolean => burned.some((amount) => amount.mint === mint);
  const common = { actor, program: mainProgram, gained: netChange.gained };
  const lost = netChange.lost.filter((amount) => !isBurned(amount)); // a burn is described apart
  return {
    type: 'TOKEN_MINT',
    ...common,
    lost,
    amounts: minted,
    states: statesOf('mint', lost, netChange, facts),
  };
};

/** Interprets burned tokens; in a failed transaction, the attempt to burn some. */
export const burnRule: Rule = (facts) => {
  const { parsed, isAttempt, burned, mainProgram, actor } = facts;
  const isBurn = isAttempt ? hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^burn/) : burned.length > 0;
  if (!isBurn) return null;
  const netChange = calledChange(facts, mainProgram);
  const holders = new Set(burned.map(({ holder }) => holder));
  const isOfSeveral = parsed.actions.some(
    ({ kind, authority }) => kind === 'burn' && (authority !== null || holders.size > 1),
  );
  const change = isOfSeveral // each burn is described with its signer
    ? { gained: [], lost: [], states: [] }
    : { ...netChange, states: statesOf('burn', netChange.gained, netChange, facts) };
  return { type: 'BURN', actor, program: mainProgram, amounts: burned, ...change };
};

/** Returns all that was minted or burned, and what the actor paid or got for it. */
function statesOf(
  kind: 'mint' | 'burn',
  price: readonly AssetAmount[],
  { states }: ReturnType<typeof calledChange>,
  { parsed: { actions }, actor }: TransactionFacts,
): readonly Share[] {
  const priced = new Set(price.map(({ mint }) => mint));
  const called = states.flatMap((share) => [...share.actions]);
  const paid = called.filter(
    (action) =>
      action.kind !== 'mint' &&
      action.kind !== 'burn' &&
      effectsOf(action).every(([wallet, { mint }]) => wallet !== actor || priced.has(mint)),
  );
  const isMade = (action: Action): boolean =>
    action.kind === kind || (kind === 'mint' && action.kind === 'payout' && action.given.length === 0);
  return [...shareOf(actions.filter(isMade)), ...shareOf(paid, actor)];
}
