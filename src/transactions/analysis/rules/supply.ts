import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import { asArray } from '../../codec/json-fields.ts';
import { KNOWN_PROGRAMS } from '../../programs/known-programs.ts';
import { type Action, effectsOf, toAmount } from '../action.ts';
import { type AssetAmount, negate } from '../asset-amount.ts';
import { callsOf, hasInstruction } from '../parsed-transaction.ts';
import type { SupplyChange } from '../payments.ts';
import { creditOf, type Share, shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { WalletSums } from '../wallet-sums.ts';
import { calledChange } from './calls.ts';

/** Interprets minted tokens; in a failed transaction, the attempt to mint some. */
export const mintRule: Rule = (facts) => {
  const { parsed, isAttempt, minted, burned } = facts;
  const isMint = isAttempt ? hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^mintTo/) : exceeds(minted, burned);
  if (!isMint) return null;
  const all = parsed.actions.filter(isMinted);
  const signed = all.filter(({ program: maker }) => maker === null);
  const program = makerOf(all, facts) ?? (signed.length > 0 ? null : (all[0]?.program ?? null));
  const actor = program === null ? minterOf(signed, facts) : facts.actor;
  // what another program or signer minted beside it is described apart
  const isOwn = (action: Action): boolean =>
    action.program === program && (program !== null || minterOf([action], facts) === actor);
  const made = all.filter(isOwn);
  const netChange = changeIn(program, facts);
  const common = { actor, program, gained: netChange.gained };
  const lost = without([...minted, ...burned], netChange.lost); // a burn is described apart
  return {
    type: 'TOKEN_MINT',
    ...common,
    lost,
    amounts:
      made.length === all.length
        ? minted
        : made.flatMap(({ actor: holder, got }) => got.map((amount) => ({ ...toAmount(amount), holder }))),
    states: [...shareOf(made), ...statesOf(lost, netChange, actor)],
  };
};

/** Interprets burned tokens; in a failed transaction, the attempt to burn some. */
export const burnRule: Rule = (facts) => {
  const { parsed, isAttempt, minted, burned, actor } = facts;
  const isBurn = isAttempt ? hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^burn/) : exceeds(burned, minted);
  if (!isBurn) return null;
  const made = parsed.actions.filter(({ kind }) => kind === 'burn');
  const program = makerOf(made, facts);
  const netChange = changeIn(program, facts);
  const gained = without(burned, netChange.gained);
  const holders = new Set(burned.map(({ holder }) => holder));
  const isOfSeveral = made.some(({ authority }) => authority !== null || holders.size > 1);
  const change = isOfSeveral // each burn is described with its signer
    ? { gained: [], lost: [], states: [] }
    : { ...netChange, gained, states: [...shareOf(made), ...statesOf(gained, netChange, actor)] };
  return { type: 'BURN', actor, program, amounts: burned, ...change };
};

/** Returns whether somebody got more that way than it lost: shares that are burned where they were minted are neither. */
function exceeds(amounts: readonly SupplyChange[], others: readonly SupplyChange[]): boolean {
  const sums = new WalletSums();
  for (const change of amounts) sums.add(change.holder ?? '', change);
  for (const change of others) sums.add(change.holder ?? '', negate(change));
  return sums.entries().some(([, { amount }]) => amount > 0n);
}

/** Returns what was paid or got for what was minted or burned: not the same token, of which each movement is described apart. */
const without = (supplied: readonly AssetAmount[], amounts: readonly AssetAmount[]): readonly AssetAmount[] =>
  amounts.filter(({ mint }) => supplied.every((amount) => amount.mint !== mint));

const isMinted = ({ kind, got: [made] }: Action): boolean =>
  kind === 'mint' || (kind === 'payout' && made !== undefined && made.mint !== WRAPPED_SOL);

/** Returns who signed for what the transaction itself minted: the wallet that acted, if it did. */
function minterOf(made: readonly Action[], { parsed, actor }: TransactionFacts): string {
  const calls = made.flatMap((action) => callsOf(action, parsed));
  const named = calls.flatMap((call) => [call.info?.['mintAuthority'], ...asArray(call.info?.['signers'])]);
  return [actor, ...parsed.signers].find((signer) => named.includes(signer)) ?? actor;
}

/** Returns the program that minted or burned all of it; in a failed transaction, the one that was to. */
const makerOf = (made: readonly Action[], { isAttempt, mainProgram }: TransactionFacts): string | null =>
  isAttempt ? mainProgram : creditOf(shareOf(made));

type CalledChange = ReturnType<typeof calledChange>;

/**
 * Returns what the actor gained and lost in the calls of a program: nothing where the transaction itself minted or burned, or
 * a stranger's program, of which the sentence names who got what was paid.
 */
const changeIn = (program: string | null, facts: TransactionFacts): CalledChange =>
  KNOWN_PROGRAMS.has(program ?? '') ? calledChange(facts, program) : { gained: [], lost: [], states: [] };

/** Returns what the actor paid or got for what was minted or burned. */
function statesOf(price: readonly AssetAmount[], { states }: CalledChange, actor: string): readonly Share[] {
  const priced = new Set(price.map(({ mint }) => mint));
  const called = states.flatMap((share) => [...share.actions]);
  const paid = called.filter(
    (action) =>
      action.kind !== 'mint' &&
      action.kind !== 'burn' &&
      effectsOf(action).every(([wallet, { mint }]) => wallet !== actor || priced.has(mint)),
  );
  return shareOf(paid, actor);
}
