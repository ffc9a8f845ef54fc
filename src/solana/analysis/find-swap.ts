import { isTradingProgram } from '../programs/known-programs.ts';
import { allInstructions, type ParsedTransaction } from './parsed-transaction.ts';
import { findSupplyChanges, isNftAmount, type Payment } from './payments.ts';
import { programFlowsOf } from './program-flows.ts';
import { negate, type Swap, solAmount, swapLegsOf } from './swap-legs.ts';
import type { WalletChanges } from './wallet-changes.ts';

/** What the trades of a transaction are found by. */
interface TradeFacts {
  readonly parsed: ParsedTransaction;
  readonly mainProgram: string | null;
  readonly payments: readonly Payment[];
  /** Returns the wallets that instructions of exchanges name as their users. */
  readonly usersOf: () => ReadonlySet<string>;
  readonly changesOf: (wallet: string) => WalletChanges;
}

/** Finds the trade of a transaction; null if it has none. */
export function findSwap(facts: TradeFacts): Swap | null {
  const swap = findSignersSwap(facts);
  if (swap !== null || !isTradingProgram(facts.mainProgram ?? '')) return swap;
  return isCircularTrade(facts) ? null : (findSpentSwap(facts) ?? findUnsignedSwap(facts));
}

/** Finds the trade of a signer who spent the proceeds in the same transaction, by what moved in the call of the exchange. */
function findSpentSwap({ parsed, payments }: TradeFacts): Swap | null {
  const traded = payments.filter(({ program }) => program !== null && isTradingProgram(program));
  for (const wallet of new Set([parsed.feePayer, ...parsed.signers])) {
    const { given, received } = programFlowsOf(wallet, { parsed, payments: traded });
    if (given.length > 0 && received.length > 0) return { wallet, inputs: given, outputs: received };
  }
  return null;
}

/** Finds the trade of a signer by the gains and losses of its wallet; null if there is none. */
function findSignersSwap(facts: TradeFacts): Swap | null {
  const { parsed, changesOf } = facts;
  const roundTripsOf = findRoundTrips(parsed);
  const nfts = new Set([...mintedOrBurnedNfts(parsed), ...findSentMints(facts)]);
  for (const signer of new Set([parsed.feePayer, ...parsed.signers])) {
    const swap = walletSwap(changesOf(signer), nfts, roundTripsOf(signer));
    if (swap !== null) return swap;
  }
  return null;
}

/**
 * Finds a trade between two parties that did not sign, such as a trader's own program and a pool: the one that the
 * exchange's instruction names as its user, if it is known. Null if there is none, or if so many traded that it is unclear
 * which of them are pools.
 */
function findUnsignedSwap({ parsed, changesOf, usersOf }: TradeFacts): Swap | null {
  const nfts = mintedOrBurnedNfts(parsed);
  const swaps = unsignedChanges({ parsed, changesOf }).flatMap(({ wallet, sol, tokens }) => {
    const solLeg = swapLegsOf({ tokens: [], sol })[0]?.amount ?? 0n;
    return walletSwap({ wallet, sol: solLeg, tokens }, nfts) ?? [];
  });
  const users = usersOf();
  const [swap] = users.size === 1 ? swaps.filter(({ wallet }) => wallet !== null && users.has(wallet)) : [];
  const found = swap ?? (swaps.length > 2 ? undefined : swaps[0]);
  return found === undefined ? null : { ...found, wallet: null };
}

/** Returns the changes of the owners of tokens that did not sign. */
export function unsignedChanges({
  parsed,
  changesOf,
}: Pick<TradeFacts, 'parsed' | 'changesOf'>): readonly WalletChanges[] {
  const signers = new Set(parsed.signers);
  const owners = new Set(
    parsed.accountData.flatMap((account) => account.tokenBalanceChanges.map(({ userAccount }) => userAccount)),
  );
  return [...owners].filter((owner) => !signers.has(owner)).map(changesOf);
}

/**
 * Finds tokens that left a wallet and came back: what remains of them was not paid for with SOL. Returns the function
 * that gives their mints for a wallet.
 */
function findRoundTrips(parsed: ParsedTransaction): (wallet: string) => ReadonlySet<string> {
  const flowsByWallet = new Map<string, Map<string, { sent: bigint; received: bigint }>>();
  const flowOf = (wallet: string, mint: string): { sent: bigint; received: bigint } => {
    const byMint = flowsByWallet.get(wallet) ?? new Map();
    const flow = byMint.get(mint) ?? { sent: 0n, received: 0n };
    flowsByWallet.set(wallet, byMint.set(mint, flow));
    return flow;
  };
  for (const { fromUserAccount, toUserAccount, mint, amount } of parsed.tokenTransfers) {
    if (fromUserAccount !== null) flowOf(fromUserAccount, mint).sent += BigInt(amount);
    if (toUserAccount !== null) flowOf(toUserAccount, mint).received += BigInt(amount);
  }
  const isRoundTrip = ({ sent, received }: { readonly sent: bigint; readonly received: bigint }): boolean =>
    sent > 0n && received > 0n && 2n * sent > received && 2n * received > sent;
  return (wallet) =>
    new Set([...(flowsByWallet.get(wallet) ?? [])].flatMap(([mint, flow]) => (isRoundTrip(flow) ? [mint] : [])));
}

function walletSwap(
  { wallet, sol, tokens }: WalletChanges,
  nfts: ReadonlySet<string>,
  returned: ReadonlySet<string> = new Set(),
): Swap | null {
  const traded = tokens.filter((token) => !nfts.has(token.mint));
  const inputs = traded.filter((token) => token.amount < 0n).map(negate);
  const outputs = traded.filter((token) => token.amount > 0n);
  if (inputs.length > 0 && outputs.length > 0) return { wallet, inputs, outputs };
  if ([...inputs, ...outputs].every(({ mint }) => returned.has(mint))) return null;
  if (outputs.length > 0 && sol < 0n) return { wallet, inputs: [solAmount(-sol)], outputs };
  if (inputs.length > 0 && sol > 0n) return { wallet, inputs, outputs: [solAmount(sol)] };
  return null;
}

/** Finds NFTs that were minted or burned: they stand for positions or collectibles and are no price. */
function mintedOrBurnedNfts(parsed: ParsedTransaction): ReadonlySet<string> {
  return new Set(
    [...findSupplyChanges(parsed, 'minted'), ...findSupplyChanges(parsed, 'burned')]
      .filter(isNftAmount)
      .map(({ mint }) => mint),
  );
}

/** Finds tokens that only the transaction itself sent, not the exchange: who got them didn't trade them. */
function findSentMints({ payments, mainProgram }: TradeFacts): ReadonlySet<string> {
  if (!isTradingProgram(mainProgram ?? '')) return new Set();
  const moved = new Set(payments.filter(({ program }) => program !== null).map(({ mint }) => mint));
  return new Set(payments.map(({ mint }) => mint).filter((mint) => !moved.has(mint)));
}

/** Returns whether all tokens that the signers sent into programs came back in kind: a circular trade for its surplus. */
export function isCircularTrade({ parsed, mainProgram }: Pick<TradeFacts, 'parsed' | 'mainProgram'>): boolean {
  const signers = new Set(parsed.signers);
  const accountTransfers = parsed.tokenTransfers.filter(
    ({ fromTokenAccount, toTokenAccount }) => fromTokenAccount !== null && toTokenAccount !== null,
  );
  const sent = new Set(
    accountTransfers
      .filter(({ fromUserAccount }) => fromUserAccount !== null && signers.has(fromUserAccount))
      .map(({ mint }) => mint),
  );
  const returned = new Set(
    accountTransfers
      .filter(({ toUserAccount }) => toUserAccount !== null && signers.has(toUserAccount))
      .map(({ mint }) => mint),
  );
  const hasInnerCalls = allInstructions(parsed).length > parsed.instructions.length;
  const isTrade = sent.size > 1 || isTradingProgram(mainProgram ?? '');
  return hasInnerCalls && isTrade && sent.size > 0 && [...sent].every((mint) => returned.has(mint));
}
