import { effectsOf } from './action.ts';
import type { AssetAmount } from './asset-amount.ts';
import { callersOf } from './main-program.ts';
import { splitBySign } from './net-change.ts';
import type { ParsedTransaction } from './parsed-transaction.ts';
import { isNftAmount, type Payment, sumByMint } from './payments.ts';

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

interface FlowFacts {
  readonly parsed: ParsedTransaction;
  readonly payments: readonly Payment[];
  readonly mainProgram: string | null;
}

/** Sums what a wallet gave to the main program, or to one that called it, and what it got. */
export function programFlowsOf(wallet: string, { parsed, payments, mainProgram }: FlowFacts): ProgramFlows {
  const callers = callersOf(mainProgram, parsed);
  const moved = payments
    .filter(
      ({ program, from, to }) => program !== null && callers.has(program) && (from === wallet) !== (to === wallet),
    )
    .map(({ from, mint, amount, decimals }) => ({ mint, decimals, amount: from === wallet ? -amount : amount }));
  const supply = parsed.actions
    .filter(
      ({ kind, program, actor }) =>
        (kind === 'mint' || kind === 'burn') && program !== null && callers.has(program) && actor === wallet,
    )
    .flatMap(effectsOf)
    .map(([, amount]) => amount);
  const [net, receipts] = [sumByMint(moved), sumByMint(supply)];
  const fungible = receipts.filter(({ amount, decimals }) => !isNft(amount, decimals));
  const { gained: received, lost: given } = splitBySign(net);
  const { gained: receiptsGot, lost: receiptsGiven } = splitBySign(fungible);
  return {
    given,
    received,
    receiptsGot,
    receiptsGiven,
    hasPositionNft: receipts.length > fungible.length,
  };
}

const isNft = (amount: bigint, decimals: number): boolean =>
  isNftAmount({ amount: amount < 0n ? -amount : amount, decimals });
