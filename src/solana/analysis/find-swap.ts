import { isTradingProgram, programRole } from '../programs/known-programs.ts';
import { findFilledOrder } from './limit-order.ts';
import { findMainProgram } from './main-program.ts';
import { allInstructions, type ParsedTransaction } from './parsed-transaction.ts';
import { findSupplyChanges, isNftAmount } from './payments.ts';
import { negate, type Swap, solAmount, swapLegsOf } from './swap-legs.ts';
import { sumWalletChanges, type WalletChanges } from './wallet-changes.ts';

/**
 * Finds the swap in a transaction by its wallets' gains and losses, so that swaps of unknown programs are found too.
 * Null if there is none. Signers take precedence; if no signer traded, the transaction may fill an earlier order, whose
 * input comes out of an escrow.
 */
export function findSwap(parsed: ParsedTransaction): Swap | null {
  if (parsed.status === 'failed') return null;
  const changesOf = sumWalletChanges(parsed);
  const roundTripsOf = findRoundTrips(parsed);
  const nfts = mintedOrBurnedNfts(parsed);
  const signers = new Set(parsed.signers);
  for (const signer of new Set([parsed.feePayer, ...signers])) {
    const swap = walletSwap(changesOf(signer), nfts, roundTripsOf(signer));
    if (swap !== null) return swap;
  }
  const program = findMainProgram(parsed) ?? '';
  if (!isTradingProgram(program)) return null;
  const wallets = new Set(
    parsed.accountData.flatMap((account) => account.tokenBalanceChanges.map((change) => change.userAccount)),
  );
  const others = [...wallets].filter((wallet) => !signers.has(wallet)).map(changesOf);
  if (programRole(program) === 'orders') return findFilledOrder(others, parsed);
  return isCircularTrade(parsed) ? null : findUnattributedSwap(others, nfts);
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

/** Finds a trade on a known exchange between two parties that did not sign, such as a trader's own program. */
function findUnattributedSwap(others: readonly WalletChanges[], nfts: ReadonlySet<string>): Swap | null {
  for (const { wallet, tokens, ...rest } of others) {
    const sol = swapLegsOf({ tokens: [], ...rest })[0]?.amount ?? 0n;
    const swap = walletSwap({ wallet, sol, tokens }, nfts);
    if (swap !== null) return { ...swap, wallet: null };
  }
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

/** Returns whether all tokens that the signers sent into programs came back in kind: a circular trade for its surplus. */
export function isCircularTrade(parsed: ParsedTransaction): boolean {
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
  const isTrade = sent.size > 1 || isTradingProgram(findMainProgram(parsed) ?? '');
  return hasInnerCalls && isTrade && sent.size > 0 && [...sent].every((mint) => returned.has(mint));
}
