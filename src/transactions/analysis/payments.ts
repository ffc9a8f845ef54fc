import { type Action, toAmount } from './action.ts';
import { type AssetAmount, solAmount } from './asset-amount.ts';
import {
  allInstructions,
  infoAddress,
  type ParsedInstruction,
  type ParsedTransaction,
  type TokenTransfer,
  tokenAmountIn,
} from './parsed-transaction.ts';

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
export function toPayment({ actor: from, counterparty: to, given, instruction, ...rest }: Action): Payment | null {
  const [amount] = given;
  if (amount === undefined || to === null) return null;
  const { program, authority, role, withheld } = rest;
  const step = instruction?.[0] ?? null;
  return { ...toAmount(amount), from, to, withheld: BigInt(withheld ?? 0), program, authority, role, step };
}

/** Returns what actions of a transaction gave to somebody. */
export const paymentsIn = (actions: readonly Action[]): readonly Payment[] =>
  actions.flatMap((action) => toPayment(action) ?? []);

/** Returns what went from a wallet to itself: no balance shows it. `owners`: by account, those of accounts that got SOL. */
export function sentToItself(
  parsed: ParsedTransaction,
  owners: ReadonlyMap<string, string> = new Map(),
): readonly Payment[] {
  const sol = parsed.nativeTransfers.map(({ fromUserAccount: from, toUserAccount: to, amount }) => ({
    ...solAmount(BigInt(amount)),
    from,
    to: owners.get(to) ?? to,
    authority: null,
  }));
  const moverOf = moverReader(parsed);
  const tokens = parsed.tokenTransfers.map((transfer) => {
    const { fromUserAccount: from, toUserAccount: to, mint, amount, decimals } = transfer;
    return { from, to, mint, amount: BigInt(amount), decimals, authority: moverOf(transfer) };
  });
  return [...sol, ...tokens].flatMap(({ from, to, authority: mover, ...amount }): Payment[] => {
    if (from === null || from !== to || amount.amount === 0n) return [];
    const authority = mover === from ? null : mover;
    const role = authority === null ? 'owner' : 'delegate';
    return [{ ...amount, from, to, authority, role, withheld: 0n, program: null, step: null }];
  });
}

/** Returns a function that finds the signer of each transfer of tokens in its turn; null if its instruction names several. */
function moverReader(parsed: ParsedTransaction): (transfer: TokenTransfer) => string | null {
  const calls = allInstructions(parsed).filter(({ type }) => type?.startsWith('transfer'));
  return ({ fromTokenAccount, toTokenAccount, amount }) => {
    const isIt = (call: ParsedInstruction): boolean =>
      infoAddress(call, 'source') === fromTokenAccount &&
      infoAddress(call, 'destination') === toTokenAccount &&
      `${tokenAmountIn(call)}` === amount;
    const at = calls.findIndex(isIt);
    return at < 0 ? null : infoAddress(calls.splice(at, 1)[0], 'authority');
  };
}

/** An amount minted or burned, with the owner of its account; null if no record names it. */
export interface SupplyChange extends AssetAmount {
  readonly holder: string | null;
}

/** Returns the amounts minted, or those burned. */
export const findSupplyChanges = (
  { tokenTransfers }: ParsedTransaction,
  side: 'minted' | 'burned',
): readonly SupplyChange[] =>
  tokenTransfers
    .filter((transfer) => (side === 'minted' ? transfer.fromTokenAccount : transfer.toTokenAccount) === null)
    .map(({ mint, amount, decimals, fromUserAccount, toUserAccount }) => ({
      ...{ mint, amount: BigInt(amount), decimals },
      holder: side === 'minted' ? toUserAccount : fromUserAccount,
    }));

/** Sums amounts by mint, in order of appearance; those of a mint that was made again with other decimals stay apart. */
export function sumByMint(quantities: readonly AssetAmount[]): readonly AssetAmount[] {
  const sums = new Map<string, AssetAmount>();
  for (const { mint, amount, decimals } of quantities) {
    const key = `${mint} ${decimals}`;
    sums.set(key, { mint, amount: amount + (sums.get(key)?.amount ?? 0n), decimals });
  }
  return [...sums.values()];
}

/** Returns whether an amount is one indivisible token: an NFT, as far as a transaction shows. */
export const isNftAmount = ({ amount, decimals }: Pick<AssetAmount, 'amount' | 'decimals'>): boolean =>
  decimals === 0 && amount === 1n;
