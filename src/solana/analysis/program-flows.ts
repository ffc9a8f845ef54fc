import type { ParsedTransaction } from './parsed-transaction.ts';
import { isNftAmount, type Payment, sumByMint } from './payments.ts';
import type { AssetAmount } from './wallet-changes.ts';

/** What a wallet gave to programs and got from them, each mint netted, without deposits and their return. */
export interface ProgramFlows {
  readonly given: readonly AssetAmount[];
  readonly received: readonly AssetAmount[];
  /** Receipts: tokens that the transaction minted to the wallet, or burned of it. */
  readonly receiptsGot: readonly AssetAmount[];
  readonly receiptsGiven: readonly AssetAmount[];
  /** Whether an NFT was minted or burned, as it stands for a position. */
  readonly hasPositionNft: boolean;
}

/** Sums what a wallet gave to programs and got from them. */
export function programFlowsOf(
  wallet: string,
  { parsed, payments }: { readonly parsed: ParsedTransaction; readonly payments: readonly Payment[] },
): ProgramFlows {
  const moved = payments
    .filter(({ program, from, to }) => program !== null && (from === wallet) !== (to === wallet))
    .map(({ from, mint, amount, decimals }) => ({ mint, decimals, amount: from === wallet ? -amount : amount }));
  const supply = parsed.tokenTransfers.flatMap((transfer) => {
    const { fromTokenAccount, toTokenAccount, fromUserAccount, toUserAccount, mint, decimals } = transfer;
    const amount = BigInt(transfer.amount);
    if (fromTokenAccount === null && toUserAccount === wallet) return [{ mint, decimals, amount }];
    return toTokenAccount === null && fromUserAccount === wallet ? [{ mint, decimals, amount: -amount }] : [];
  });
  const [net, receipts] = [sumByMint(moved), sumByMint(supply)];
  const gains = (amounts: readonly AssetAmount[]): AssetAmount[] => amounts.filter(({ amount }) => amount > 0n);
  const losses = (amounts: readonly AssetAmount[]): AssetAmount[] =>
    amounts.filter(({ amount }) => amount < 0n).map((loss) => ({ ...loss, amount: -loss.amount }));
  const fungible = receipts.filter(({ amount, decimals }) => !isNft(amount, decimals));
  return {
    given: losses(net),
    received: gains(net),
    receiptsGot: gains(fungible),
    receiptsGiven: losses(fungible),
    hasPositionNft: receipts.length > fungible.length,
  };
}

const isNft = (amount: bigint, decimals: number): boolean =>
  isNftAmount({ amount: amount < 0n ? -amount : amount, decimals });
