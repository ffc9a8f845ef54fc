import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { isTradingProgram } from '../programs/known-programs.ts';
import type { Action } from './action.ts';
import { type AssetAmount, negate, solAmount, toAssetAmount } from './asset-amount.ts';
import type { ParsedTransaction, TokenTransfer } from './parsed-transaction.ts';
import { findSupplyChanges } from './payments.ts';
import { type Share, shareOf } from './share.ts';
import type { Swap } from './swap-legs.ts';
import type { WalletChanges } from './wallet-changes.ts';

/** Finds the order that a transaction filled; `others` are the changes of wallets that did not sign. */
export function findFilledOrder(others: readonly WalletChanges[], parsed: ParsedTransaction): Swap | null {
  const found = findKeeperFill(parsed) ?? findEscrowFill(others, parsed);
  return found === null ? null : { ...found, program: null, states: statesOfFill(found.wallet, parsed) };
}

/** A fill is stated from the side of the order's owner; what is left to its keeper is one figure for each mint. */
export const statesOfFill = (owner: string | null, { actions }: ParsedTransaction): readonly Share[] => {
  const isOfFill = (action: Action): boolean => touches(action, owner) || isTradingProgram(action.program);
  return shareOf(actions.filter((action) => FILL_KINDS.includes(action.kind) && isOfFill(action)));
};

const FILL_KINDS: readonly Action['kind'][] = ['swap', 'transfer', 'payout'];

const touches = ({ actor, counterparty }: Action, wallet: string | null): boolean =>
  actor === wallet || counterparty === wallet;

type Fill = Pick<Swap, 'wallet' | 'inputs' | 'outputs'>;

/**
 * Finds an order filled by a keeper: a signer that first receives one token and then sends another one to the order's
 * owner.
 */
function findKeeperFill({ signers, tokenTransfers }: ParsedTransaction): Fill | null {
  const isKeeper = (user: string | null): boolean => user !== null && signers.includes(user);
  const first = tokenTransfers.findIndex(
    ({ fromUserAccount, toUserAccount }) => isKeeper(toUserAccount) && !isKeeper(fromUserAccount),
  );
  const input = tokenTransfers[first];
  const passedOn = tokenTransfers
    .slice(first + 1)
    .filter(
      ({ fromUserAccount, toUserAccount, mint }) =>
        isKeeper(fromUserAccount) && !isKeeper(toUserAccount) && mint !== input?.mint,
    );
  const outputMint = passedOn.at(-1)?.mint;
  const output = passedOn
    .filter(({ mint }) => mint === outputMint)
    .reduce<TokenTransfer | undefined>(
      (largest, candidate) =>
        largest === undefined || BigInt(candidate.amount) > BigInt(largest.amount) ? candidate : largest,
      undefined,
    );
  if (input === undefined || output === undefined || output.toUserAccount === null) return null;
  const leg = ({ mint, amount, decimals }: TokenTransfer): AssetAmount => ({ mint, amount: BigInt(amount), decimals });
  return { wallet: output.toUserAccount, inputs: [leg(input)], outputs: [leg(output)] };
}

/**
 * Finds an order filled from an escrow. Pools gain one asset and lose another; a wallet that only gained and an escrow that
 * only lost are the two sides of an order. SOL on the same side as a token is the rent of an account.
 */
function findEscrowFill(others: readonly WalletChanges[], parsed: ParsedTransaction): Fill | null {
  const minted = new Set(findSupplyChanges(parsed, 'minted').map(({ mint }) => mint));
  const legs = others.flatMap(({ wallet, amounts }) => {
    const sol = amounts.find(({ mint }) => mint === WRAPPED_SOL) ?? solAmount(0n);
    const [only = sol, ...more] = amounts.filter(({ mint }) => mint !== WRAPPED_SOL && !minted.has(mint));
    const isPool = more.length > 0 || (only.amount < 0n !== sol.amount < 0n && sol.amount !== 0n);
    return isPool || only.amount === 0n ? [] : [{ wallet, ...only }];
  });
  const given = legs.filter(({ amount }) => amount < 0n).map((leg) => ({ ...leg, ...negate(leg) }));
  if (given.filter(({ mint }) => mint !== WRAPPED_SOL).length > 1) return null;
  const input = largestOf(given);
  const output = largestOf(legs.filter(({ amount, mint }) => amount > 0n && mint !== input?.mint));
  if (input === null || output === null) return null;
  return { wallet: output.wallet, inputs: [toAssetAmount(input)], outputs: [toAssetAmount(output)] };
}

type Leg = AssetAmount & { readonly wallet: string };

/** Returns the largest leg, of tokens before SOL; null if several mints were tokens, or if there is none. */
function largestOf(legs: readonly Leg[]): Leg | null {
  const tokens = legs.filter(({ mint }) => mint !== WRAPPED_SOL);
  if (new Set(tokens.map(({ mint }) => mint)).size > 1) return null;
  return (tokens.length > 0 ? tokens : legs).reduce<Leg | null>(
    (largest, leg) => (largest === null || leg.amount > largest.amount ? leg : largest),
    null,
  );
}
