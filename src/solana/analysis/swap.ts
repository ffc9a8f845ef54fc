import { negated, type Swap, sidesOf, solQuantity } from './exchange.ts';
import { everyInstruction, type Facts } from './facts.ts';
import { type Holdings, holdingsOf, openedAccounts, tokenAccountOwners } from './holdings.ts';
import { isMarket, programRole } from './known-programs.ts';
import { mainProgram } from './main-program.ts';
import { filledOrder } from './order.ts';
import { isCollectible, issued } from './payments.ts';

/**
 * Finds the exchange in a transaction by what its wallets gained and lost, so that it is found through programs never
 * seen before. Null when there is none. A signer comes first; where no signer traded, the transaction may fill an order
 * that somebody left before: then what is given comes out of an escrow.
 */
export function findSwap(facts: Facts): Swap | null {
  if (facts.status === 'failed') return null;
  const owners = tokenAccountOwners(facts);
  const opened = openedAccounts(facts);
  const holdings = (wallet: string): Holdings => holdingsOf(wallet, facts, owners, opened);
  const unique = collectiblesMadeOrDestroyed(facts);
  for (const signer of new Set([facts.feePayer, ...facts.signers])) {
    const swap = exchange(holdings(signer), unique, returnedTo(signer, facts));
    if (swap !== null) return swap;
  }
  const market = mainProgram(facts) ?? '';
  if (!isMarket(market)) return null;
  const wallets = new Set(
    facts.accountData.flatMap((account) => account.tokenBalanceChanges.map((change) => change.userAccount)),
  );
  const others = [...wallets].filter((wallet) => !facts.signers.includes(wallet)).map(holdings);
  if (programRole(market) === 'orders') return filledOrder(others, facts);
  return tradesInCircle(facts) ? null : anyExchange(others, unique);
}

/** Tokens that went out of the wallet and came back: what is left over of them was not paid for with SOL. */
function returnedTo(wallet: string, facts: Facts): ReadonlySet<string> {
  const sum = (side: 'fromUserAccount' | 'toUserAccount', mint: string): bigint =>
    facts.tokenTransfers
      .filter((transfer) => transfer[side] === wallet && transfer.mint === mint)
      .reduce((total, { amount }) => total + BigInt(amount), 0n);
  const mints = new Set(facts.tokenTransfers.map(({ mint }) => mint));
  return new Set(
    [...mints].filter((mint) => {
      const [out, back] = [sum('fromUserAccount', mint), sum('toUserAccount', mint)];
      return out > 0n && back > 0n && 2n * out > back && 2n * back > out;
    }),
  );
}

function exchange(
  { wallet, sol, tokens }: Holdings,
  unique: ReadonlySet<string>,
  returned: ReadonlySet<string> = new Set(),
): Swap | null {
  const traded = tokens.filter((token) => !unique.has(token.mint));
  const given = traded.filter((token) => token.amount < 0n).map(negated);
  const got = traded.filter((token) => token.amount > 0n);
  if (given.length > 0 && got.length > 0) return { wallet, given, got };
  if ([...given, ...got].every(({ mint }) => returned.has(mint))) return null;
  if (got.length > 0 && sol < 0n) return { wallet, given: [solQuantity(-sol)], got };
  if (given.length > 0 && sol > 0n) return { wallet, given, got: [solQuantity(sol)] };
  return null;
}

/** On a known exchange two sides traded, neither of which signed: a trader's own program, say. */
function anyExchange(others: readonly Holdings[], unique: ReadonlySet<string>): Swap | null {
  for (const { wallet, tokens, ...rest } of others) {
    const sol = sidesOf({ tokens: [], ...rest })[0]?.amount ?? 0n;
    const swap = exchange({ wallet, sol, tokens }, unique);
    if (swap !== null) return { ...swap, wallet: null };
  }
  return null;
}

/** Tokens of which one was made or destroyed stand for a position or a collectible: they are no price. */
function collectiblesMadeOrDestroyed(facts: Facts): ReadonlySet<string> {
  return new Set(
    [...issued(facts, 'minted'), ...issued(facts, 'burned')].filter(isCollectible).map(({ mint }) => mint),
  );
}

/** True when all that a signer sent into programs came back to it in kind: trading in a circle, for what is left over. */
export function tradesInCircle(facts: Facts): boolean {
  const own = new Set(facts.signers);
  const inside = facts.tokenTransfers.filter(
    ({ fromTokenAccount, toTokenAccount }) => fromTokenAccount !== null && toTokenAccount !== null,
  );
  const sent = new Set(
    inside
      .filter(({ fromUserAccount }) => fromUserAccount !== null && own.has(fromUserAccount))
      .map(({ mint }) => mint),
  );
  const back = new Set(
    inside.filter(({ toUserAccount }) => toUserAccount !== null && own.has(toUserAccount)).map(({ mint }) => mint),
  );
  const called = everyInstruction(facts).length > facts.instructions.length;
  const exchanged = sent.size > 1 || isMarket(mainProgram(facts) ?? '');
  return called && exchanged && sent.size > 0 && [...sent].every((mint) => back.has(mint));
}
