import { type Action, effectsOf } from './action.ts';
import type { AssetAmount } from './asset-amount.ts';
import { splitBySign } from './net-change.ts';
import type { ParsedTransaction } from './parsed-transaction.ts';
import { isNftAmount, sumByMint } from './payments.ts';
import { isCounted } from './remainder.ts';
import { type Share, shareOf } from './share.ts';

/** What a wallet gave to programs and got from them, each mint netted, without deposits and their return. */
export interface ProgramFlows {
  readonly given: readonly AssetAmount[];
  readonly received: readonly AssetAmount[];
  /** Receipts: tokens that the transaction minted to the wallet, or burned of it. */
  readonly receiptsGot: readonly AssetAmount[];
  readonly receiptsGiven: readonly AssetAmount[];
  /** Whether an NFT was minted or burned, as it stands for a position. */
  readonly hasPositionNft: boolean;
  /** The actions of which a sentence says all that names what was given and received, and those of the receipts. */
  readonly states: readonly Share[];
  readonly receiptStates: readonly Share[];
}

/** Sums what the calls of a program moved for a wallet. */
export function programFlowsOf(
  wallet: string,
  program: string | null,
  { actions: all }: Pick<ParsedTransaction, 'actions'>,
): ProgramFlows {
  const called = all.filter((action) => action.program !== null && action.program === program);
  const moved = called.filter(
    (action) =>
      (action.kind === 'transfer' || action.kind === 'payout' || action.kind === 'swap') &&
      isCounted(action) &&
      (action.actor === wallet) !== (action.counterparty === wallet),
  );
  const supply = called.filter(({ kind, actor }) => (kind === 'mint' || kind === 'burn') && actor === wallet);
  const netOf = (actions: readonly Action[]): readonly AssetAmount[] =>
    sumByMint(actions.flatMap(effectsOf).flatMap(([party, amount]) => (party === wallet ? [amount] : [])));
  const statesOf = (actions: readonly Action[], said: readonly AssetAmount[]): readonly Share[] => {
    const mints = new Set(said.map(({ mint }) => mint)); // what evened out is not said
    const isSaid = (action: Action): boolean =>
      effectsOf(action).every(([party, { mint }]) => party !== wallet || mints.has(mint));
    return shareOf(actions.filter(isSaid), wallet);
  };
  const receipts = netOf(supply);
  const fungible = receipts.filter(({ amount, decimals }) => !isNft({ amount, decimals }));
  const { gained: received, lost: given } = splitBySign(netOf(moved));
  const { gained: receiptsGot, lost: receiptsGiven } = splitBySign(fungible);
  return {
    given,
    received,
    receiptsGot,
    receiptsGiven,
    hasPositionNft: receipts.length > fungible.length,
    states: statesOf(moved, [...received, ...given]),
    receiptStates: statesOf(supply, [...receiptsGot, ...receiptsGiven]),
  };
}

const isNft = ({ amount, decimals }: Pick<AssetAmount, 'amount' | 'decimals'>): boolean =>
  isNftAmount({ amount: amount < 0n ? -amount : amount, decimals });
