import { isWrappedSol } from '../../shared/domain/known-mints.ts';
import { SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import type { ProgramInstruction } from '../programs/program-instruction.ts';
import type { AssetAmount } from './asset-amount.ts';
import { solAmount } from './asset-amount.ts';
import { infoAddress, infoAmount, type ParsedInstruction, type ParsedTransaction } from './parsed-transaction.ts';
import { isNftAmount, type Payment } from './payments.ts';

/** What a creator got of a sale. */
export interface Royalty {
  readonly account: string;
  readonly amount: bigint;
}

/** The money of a sale. */
export interface SaleMoney {
  /** What was paid in all, to whomever. */
  readonly price: AssetAmount | null;
  readonly proceeds: AssetAmount | null;
  readonly royalties: readonly Royalty[] | null;
}

/** A call that a table of instructions names, with the position of its top-level instruction. */
export interface NamedCall {
  readonly call: ParsedInstruction;
  readonly instruction: ProgramInstruction;
  readonly step: number;
}

interface SaleFacts {
  readonly parsed: ParsedTransaction;
  readonly calls: readonly ParsedInstruction[];
  readonly payments: readonly Payment[];
}

export const UNKNOWN_MONEY: SaleMoney = { price: null, proceeds: null, royalties: null };

/**
 * Finds what was paid in sales: by the payments that their instructions made or, where a program pays from an account of
 * its own, by the lamports that no instruction moved. Unknown where what somebody paid has a clause of its own.
 */
export function findSaleMoney(sales: readonly NamedCall[], parties: readonly string[], facts: SaleFacts): SaleMoney {
  const isOfSale = ({ step, program }: Payment): boolean =>
    sales.some((sale) => sale.step === step && sale.call.programId === program);
  const paid = facts.payments.filter((payment) => isOfSale(payment) && !isNftAmount(payment));
  const [currency, ...others] = new Set(paid.map(({ mint }) => mint));
  const isApart = paid.some(({ from, authority }) => isPaidApart(from, authority, parties, facts.parsed));
  if (others.length > 0 || isApart) return UNKNOWN_MONEY;
  if (currency === undefined) {
    const { instructions } = facts.parsed;
    // what a program that called the marketplace paid to others is no part of the price
    const isNested = sales.some(({ step, call: { programId } }) =>
      instructions.some((topLevel) => topLevel.index === step && topLevel.programId !== programId),
    );
    return sales.length > 1 ? UNKNOWN_MONEY : shareOut(sales, unexplainedLamports(facts), null, isNested);
  }
  const nets = new Map<string, bigint>();
  for (const { from, to, amount } of paid) {
    add(nets, from, -amount);
    add(nets, to, amount);
  }
  const decimals = paid[0]?.decimals ?? 0;
  return shareOut(sales, nets, { mint: currency, amount: 0n, decimals });
}

/** Returns whether a payment has a clause of its own: that of a signer that is no party, or one that another signed for. */
export const isPaidApart = (
  payer: string,
  authority: string | null,
  parties: readonly string[],
  { signers }: ParsedTransaction,
): boolean => signers.includes(authority ?? payer) && (authority !== null || !parties.includes(payer));

/**
 * Shares out what was paid among seller, marketplace and creators, or names what the seller got alone. `paid` names the
 * currency; null if by balances.
 */
function shareOut(
  sales: readonly NamedCall[],
  nets: ReadonlyMap<string, bigint>,
  paid: AssetAmount | null,
  isSellersAlone = false,
): SaleMoney {
  const rolesOf = (...names: readonly (keyof ProgramInstruction['roles'])[]): ReadonlySet<string> =>
    new Set(sales.flatMap(({ instruction: { roles } }) => names.flatMap((name) => roles[name] ?? [])));
  const buyers = rolesOf('buyer');
  const sellers = rolesOf('seller');
  const own = rolesOf('vault', 'pool');
  const served = rolesOf('treasury', 'makerBroker', 'takerBroker');
  const isOfSeller = (account: string): boolean => sellers.has(account) || own.has(account);
  const received = [...nets].filter(
    ([account, net]) => net > 0n && !buyers.has(account) && (!isSellersAlone || isOfSeller(account)),
  );
  const total = received.reduce((sum, [, net]) => sum + net, 0n);
  const proceeds = received.reduce((sum, [account, net]) => (isOfSeller(account) ? sum + net : sum), 0n);
  if (proceeds === 0n || (paid === null && !isPaidByOne(nets, buyers))) return UNKNOWN_MONEY;
  const isFeeKnown = !isSellersAlone && sales.every(({ instruction }) => instruction.roles.treasury !== undefined);
  const royalties = received
    .filter(([account]) => !isOfSeller(account) && !served.has(account))
    .map(([account, amount]) => ({ account, amount }));
  const inCurrency = (amount: bigint): AssetAmount => (paid === null ? solAmount(amount) : { ...paid, amount });
  return { price: inCurrency(total), proceeds: inCurrency(proceeds), royalties: isFeeKnown ? royalties : null };
}

/**
 * Returns whether one account alone paid, or gave the buyer back what the others lost: else part of what others gained is
 * rent of accounts that closed.
 */
function isPaidByOne(nets: ReadonlyMap<string, bigint>, buyers: ReadonlySet<string>): boolean {
  const losses = [...nets.values()].filter((net) => net < 0n).map((net) => -net);
  const [largest = 0n] = losses.toSorted((a, b) => (a < b ? 1 : -1));
  const rest = losses.reduce((sum, loss) => sum + loss, 0n) - largest;
  const returned = [...nets].reduce((sum, [account, net]) => (net > 0n && buyers.has(account) ? sum + net : sum), 0n);
  return rest === 0n || rest === returned;
}

/** Returns the changes in lamports that no instruction explains: programs change accounts of their own directly. */
function unexplainedLamports({ parsed, calls }: SaleFacts): ReadonlyMap<string, bigint> {
  const nets = new Map(
    parsed.accountData.map(({ account, nativeBalanceChange }) => [account, BigInt(nativeBalanceChange ?? 0)]),
  );
  add(nets, parsed.feePayer, BigInt(parsed.fee));
  const move = (from: string | null, to: string | null, amount: bigint): void => {
    if (from === null || to === null) return;
    add(nets, from, amount);
    add(nets, to, -amount);
  };
  for (const call of calls)
    if (call.programId === SYSTEM_PROGRAM) {
      const to = infoAddress(call, 'newAccount') ?? infoAddress(call, 'destination');
      move(infoAddress(call, 'source'), to, infoAmount(call, 'lamports') ?? 0n);
    }
  for (const { mint, fromTokenAccount, toTokenAccount, amount } of parsed.tokenTransfers)
    if (isWrappedSol(mint)) move(fromTokenAccount, toTokenAccount, BigInt(amount));
  for (const call of calls)
    if (call.type === 'closeAccount') {
      const account = infoAddress(call, 'account');
      move(account, infoAddress(call, 'destination'), -(nets.get(account ?? '') ?? 0n));
    }
  return nets;
}

function add(sums: Map<string, bigint>, account: string, amount: bigint): void {
  sums.set(account, (sums.get(account) ?? 0n) + amount);
}
