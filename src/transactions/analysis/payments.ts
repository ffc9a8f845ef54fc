import { type Action, toAmount } from './action.ts';
import { type AssetAmount, solAmount } from './asset-amount.ts';
import type { ParsedTransaction } from './parsed-transaction.ts';

/** An amount that one wallet sent to another, whatever accounts it was in. */
export interface Payment extends AssetAmount {
  readonly from: string;
  readonly to: string;
  /** The program whose call moved it; null if the transaction itself did. */
  readonly program: string | null;
  /** Position of the top-level instruction; null if unclear. */
  readonly step: number | null;
  /** Who signed for it in the place of `from`, a delegate or the holder of another right; null if nobody did. */
  readonly authority: string | null;
  readonly role: Action['role'];
  /** What of it was withheld as the token's fee. */
  readonly withheld: bigint;
}

/** Returns the payment that an action was; null for one that gave nothing to anybody. */
export function toPayment({ actor, counterparty, given, withheld, instruction, ...rest }: Action): Payment | null {
  const [amount] = given;
  if (amount === undefined || counterparty === null) return null;
  const { program, authority, role } = rest;
  const step = instruction?.[0] ?? null;
  return {
    ...toAmount(amount),
    from: actor,
    to: counterparty,
    withheld: BigInt(withheld ?? 0),
    program,
    authority,
    role,
    step,
  };
}

/** Returns what actions of a transaction gave to somebody. */
export const paymentsIn = (actions: readonly Action[]): readonly Payment[] =>
  actions.flatMap((action) => toPayment(action) ?? []);

/** Returns what went from a wallet to itself: no balance shows it. `owners`: by account, those of accounts that got SOL. */
export function sentToItself(
  { nativeTransfers, tokenTransfers }: ParsedTransaction,
  owners: ReadonlyMap<string, string> = new Map(),
): readonly Payment[] {
  const sol = nativeTransfers.map(({ fromUserAccount, toUserAccount, amount }) => ({
    ...solAmount(BigInt(amount)),
    fromUserAccount,
    toUserAccount: owners.get(toUserAccount) ?? toUserAccount,
  }));
  const tokens = tokenTransfers.map((transfer) => ({ ...transfer, amount: BigInt(transfer.amount) }));
  return [...sol, ...tokens].flatMap(
    ({ fromUserAccount: from, toUserAccount: to, mint, amount, decimals }): Payment[] =>
      from === null || from !== to || amount === 0n
        ? []
        : [
            {
              from,
              to,
              mint,
              amount,
              decimals,
              withheld: 0n,
              program: null,
              step: null,
              authority: null,
              role: 'owner',
            },
          ],
  );
}

/** Returns the amounts minted, or those burned. */
export function findSupplyChanges(parsed: ParsedTransaction, side: 'minted' | 'burned'): readonly AssetAmount[] {
  return parsed.tokenTransfers
    .filter((transfer) => (side === 'minted' ? transfer.fromTokenAccount : transfer.toTokenAccount) === null)
    .map(({ mint, amount, decimals }) => ({ mint, amount: BigInt(amount), decimals }));
}

/** Sums amounts by mint, in order of appearance. */
export function sumByMint(quantities: readonly AssetAmount[]): readonly AssetAmount[] {
  const sums = new Map<string, AssetAmount>();
  for (const { mint, amount, decimals } of quantities)
    sums.set(mint, { mint, amount: amount + (sums.get(mint)?.amount ?? 0n), decimals });
  return [...sums.values()];
}

/** Returns whether an amount is one indivisible token: an NFT, as far as a transaction shows. */
export const isNftAmount = ({ amount, decimals }: Pick<AssetAmount, 'amount' | 'decimals'>): boolean =>
  decimals === 0 && amount === 1n;
