import type { AssetAmount } from './asset-amount.ts';
import { negate, toAssetAmount } from './asset-amount.ts';
import type { ParsedTransaction, TokenTransfer } from './parsed-transaction.ts';
import { findSupplyChanges } from './payments.ts';
import { type Swap, swapLegsOf } from './swap-legs.ts';
import type { WalletChanges } from './wallet-changes.ts';

/** Finds the order that a transaction filled; `others` are the changes of wallets that did not sign. */
export const findFilledOrder = (others: readonly WalletChanges[], parsed: ParsedTransaction): Swap | null =>
  findKeeperFill(parsed) ?? findEscrowFill(others, parsed);

/**
 * Finds an order filled by a keeper: a signer that first receives one token and then sends another one to the order's
 * owner.
 */
function findKeeperFill({ signers, tokenTransfers }: ParsedTransaction): Swap | null {
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
  return { wallet: output.toUserAccount, inputs: [leg(input)], outputs: [leg(output)], program: null };
}

/**
 * Finds an order filled from an escrow. Pools gain one token and lose another; a wallet that only gained and an escrow
 * that only lost are the two sides of an order.
 */
function findEscrowFill(others: readonly WalletChanges[], parsed: ParsedTransaction): Swap | null {
  const minted = new Set(findSupplyChanges(parsed, 'minted').map(({ mint }) => mint));
  const legs = others.flatMap(({ wallet, ...changes }) => {
    const [only, ...more] = swapLegsOf(changes).filter(({ mint }) => !minted.has(mint));
    return only === undefined || more.length > 0 ? [] : [{ wallet, ...only }];
  });
  const [input, ...further] = legs.filter(({ amount }) => amount < 0n);
  const gains = legs.filter(({ amount, mint }) => amount > 0n && mint !== input?.mint);
  const output = gains.reduce<(typeof gains)[number] | undefined>(
    (largest, gain) => (largest === undefined || gain.amount > largest.amount ? gain : largest),
    undefined,
  );
  if (input === undefined || output === undefined || further.length > 0) return null;
  if (gains.some(({ mint }) => mint !== output.mint)) return null;
  return { wallet: output.wallet, inputs: [negate(input)], outputs: [toAssetAmount(output)], program: null };
}
