import { negated, plain, type Swap, sidesOf } from './exchange.ts';
import type { Facts, TokenTransfer } from './facts.ts';
import type { Holdings, Quantity } from './holdings.ts';
import { issued } from './payments.ts';

/** Finds whose order a transaction filled, and what for; `others` are the holdings of those who did not sign. */
export const filledOrder = (others: readonly Holdings[], facts: Facts): Swap | null =>
  carriedOut(facts) ?? settled(others, facts);

/** A signer who got one thing first and passed another on at last carried out the order of whom it passed it to. */
function carriedOut({ signers, tokenTransfers }: Facts): Swap | null {
  const keeper = (user: string | null): boolean => user !== null && signers.includes(user);
  const first = tokenTransfers.findIndex(
    ({ fromUserAccount, toUserAccount }) => keeper(toUserAccount) && !keeper(fromUserAccount),
  );
  const given = tokenTransfers[first];
  const passedOn = tokenTransfers
    .slice(first + 1)
    .filter(
      ({ fromUserAccount, toUserAccount, mint }) =>
        keeper(fromUserAccount) && !keeper(toUserAccount) && mint !== given?.mint,
    );
  const last = passedOn.at(-1)?.mint;
  const got = passedOn
    .filter(({ mint }) => mint === last)
    .reduce<TokenTransfer | undefined>(
      (most, one) => (most === undefined || BigInt(one.amount) > BigInt(most.amount) ? one : most),
      undefined,
    );
  if (given === undefined || got === undefined || got.toUserAccount === null) return null;
  const leg = ({ mint, amount, decimals }: TokenTransfer): Quantity => ({ mint, amount: BigInt(amount), decimals });
  return { wallet: got.toUserAccount, given: [leg(given)], got: [leg(got)] };
}

/** Pools gain one thing and lose another. A wallet that only gained, and an escrow that only lost, are the two sides of an order. */
function settled(others: readonly Holdings[], facts: Facts): Swap | null {
  const minted = new Set(issued(facts, 'minted').map(({ mint }) => mint));
  const sides = others.flatMap(({ wallet, ...holdings }) => {
    const [only, ...more] = sidesOf(holdings).filter(({ mint }) => !minted.has(mint));
    return only === undefined || more.length > 0 ? [] : [{ wallet, ...only }];
  });
  const [given, ...further] = sides.filter(({ amount }) => amount < 0n);
  const gains = sides.filter(({ amount, mint }) => amount > 0n && mint !== given?.mint);
  const got = gains.reduce<(typeof gains)[number] | undefined>(
    (most, gain) => (most === undefined || gain.amount > most.amount ? gain : most),
    undefined,
  );
  if (given === undefined || got === undefined || further.length > 0) return null;
  if (gains.some(({ mint }) => mint !== got.mint)) return null;
  return { wallet: got.wallet, given: [negated(given)], got: [plain(got)] };
}
