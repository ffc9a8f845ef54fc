import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { isTipAccount } from '../programs/tip-accounts.ts';
import { type Action, toAmount } from './action.ts';
import { type AssetAmount, solAmount } from './asset-amount.ts';
import type { ParsedTransaction } from './parsed-transaction.ts';
import { originsOfTransfers } from './program-of-transfer.ts';
import { findOpenedAccounts, findTokenAccountOwners } from './wallet-changes.ts';

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

/**
 * Returns the transfers that a person would call payments: no deposits of new accounts, no wrapping or unwrapping of
 * SOL. Apart from them, tips; a single lamport that a program charges for its call is neither.
 */
export function findPayments(parsed: ParsedTransaction): {
  readonly payments: readonly Payment[];
  readonly tips: readonly Payment[];
} {
  const owners = findTokenAccountOwners(parsed);
  const opened = findOpenedAccounts(parsed);
  const { nativeOrigin, tokenOrigin } = originsOfTransfers(parsed);
  const sol = parsed.nativeTransfers.flatMap((transfer): Payment[] => {
    const { fromUserAccount: from, toUserAccount: to, amount } = transfer;
    const { step, program } = nativeOrigin(transfer);
    if (opened.has(to) || owners.get(from) === to || owners.get(to) === from) return [];
    return [{ from, to, ...solAmount(BigInt(amount)), withheld: 0n, step, program, authority: null, role: 'owner' }];
  });
  const tokens = parsed.tokenTransfers.flatMap((transfer): Payment[] => {
    const { fromTokenAccount, toTokenAccount, fromUserAccount, toUserAccount, mint, amount, decimals } = transfer;
    const { authority, ...origin } = tokenOrigin(transfer);
    const from = fromUserAccount ?? fromTokenAccount;
    const to = toUserAccount ?? toTokenAccount;
    if (fromTokenAccount === null || toTokenAccount === null || from === null || to === null) return [];
    const signature =
      authority === fromUserAccount
        ? ({ authority: null, role: 'owner' } as const)
        : ({ authority, role: 'delegate' } as const);
    const withheld = BigInt(transfer.feeAmount ?? 0);
    return [{ from, to, mint, amount: BigInt(amount), decimals, withheld, ...origin, ...signature }];
  });
  const all = [...sol, ...tokens].filter(({ amount }) => amount > 0n);
  return {
    payments: all.filter((payment) => !isTip(payment) && !isChargeOfProgram(payment)),
    tips: all.filter(isTip),
  };
}

const isTip = ({ to, mint }: Payment): boolean => mint === WRAPPED_SOL && isTipAccount(to);

/** Returns whether a payment is the lamport that some programs charge for a call, so that it changes an account. */
const isChargeOfProgram = ({ mint, amount, program }: Payment): boolean =>
  program !== null && mint === WRAPPED_SOL && amount === 1n;

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
