import { isWrappedSol, WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { isIncidentalProgram, isTradingProgram, KNOWN_PROGRAMS, programRole } from '../programs/known-programs.ts';
import { type Instruction, inExecutionOrder } from '../records/instruction.ts';
import { statusOf, type Transaction } from '../records/transaction.ts';
import { accountOwners, type OwnerOf } from './account-owners.ts';
import { type Action, actionOf, type Ledger } from './action.ts';
import { type AssetAmount, negate, solAmount } from './asset-amount.ts';
import { changedTokens, hasAllLamports } from './balance-changes.ts';
import { grouped } from './grouped.ts';
import { isCore, type Movement, movementsOf, venueOf, withoutDoubt, withPayouts } from './movements.ts';
import { splitBySign } from './net-change.ts';
import { onlyValue } from './only-value.ts';
import { sumByMint } from './payments.ts';
import type { Transfer } from './transfer.ts';
import { WalletSums } from './wallet-sums.ts';

/** What one call of an exchange moved for a wallet. */
interface Trade {
  readonly wallet: string;
  readonly venue: Instruction;
  readonly legs: ReadonlySet<Movement>;
  readonly given: readonly AssetAmount[];
  readonly got: readonly AssetAmount[];
}

/**
 * Finds what changed the balances of wallets, and what of their changes that leaves open: of all wallets that signed, and
 * of all whose tokens a delegate moved.
 */
export function readLedger(transaction: Transaction, transfers: readonly Transfer[]): Ledger {
  const { feePayer, accounts } = transaction;
  const fee = transaction.fee ?? 0n;
  const paid: Action[] = fee === 0n ? [] : [actionOf('fee', feePayer, { given: [solAmount(fee)] })];
  if (statusOf(transaction) !== 'success') return { actions: paid, unaccounted: [] }; // the runtime takes back all but the fee
  const signers = new Set(accounts.filter(({ signer }) => signer).map(({ address }) => address));
  const ownerOf = accountOwners(transaction, transfers.length === 0 ? [] : inExecutionOrder(transaction.instructions));
  const moved = transfers.length === 0 ? [] : withoutDoubt(movementsOf(transaction, transfers, ownerOf, signers));
  const subjects = new Set([
    ...signers,
    ...moved.flatMap(({ from, authority, venue }) =>
      from === null || authority === null || (venue !== undefined && !signers.has(authority)) ? [] : [from],
    ),
  ]);
  const movements = withPayouts(moved, subjects);
  const open = openChanges(transaction, movements, netChangesOf(transaction, ownerOf));
  const payers = splitWallets(open.entries()).lost.map(([wallet]) => wallet);
  const trades = [...subjects].flatMap((wallet) => findTrades(wallet, movements, open, payers));
  const explained = [...paid, ...actionsOf(movements, trades, subjects)];
  const { direct, unaccounted } = closeChanges(open.entries(), subjects, transaction);
  return { actions: [...explained, ...direct], unaccounted };
}

/** Sums what neither the fee nor a movement explains of the changes of wallets. */
function openChanges(transaction: Transaction, movements: readonly Movement[], open: WalletSums): WalletSums {
  const { feePayer, fee, preTokenBalances, postTokenBalances } = transaction;
  const [hasLamports, hasTokens] = [
    hasAllLamports(transaction),
    preTokenBalances !== null && postTokenBalances !== null,
  ];
  if (hasLamports) open.add(feePayer, solAmount(fee ?? 0n));
  for (const movement of movements) {
    const { from, to, mint, amount, withheld } = movement;
    if (!(mint === WRAPPED_SOL ? hasLamports : hasTokens)) continue;
    if (from !== null) open.add(from, movement);
    if (to !== null) open.add(to, { ...movement, amount: withheld - amount });
  }
  return open;
}

/** Converts movements to actions: those that are legs of a trade of a wallet to that trade, at the place of the first. */
function* actionsOf(
  movements: readonly Movement[],
  trades: readonly Trade[],
  subjects: ReadonlySet<string>,
): Iterable<Action> {
  const listed = new Set<Trade>();
  for (const movement of movements) {
    const traded = trades.filter(({ legs }) => legs.has(movement));
    for (const trade of traded) {
      if (!listed.has(trade)) yield tradeAction(trade);
      listed.add(trade);
    }
    const isOpen = (party: string | null): boolean =>
      traded.length === 0 || (party !== null && subjects.has(party) && traded.every(({ wallet }) => wallet !== party));
    const [from, to] = [movement.from, movement.to].map((party) => (isOpen(party) ? party : null));
    if (from || to) yield movementAction({ ...movement, from: from ?? null, to: to ?? null });
  }
}

/**
 * Credits lamports that came without an instruction, to a wallet that signed or else to strangers: to the account that paid
 * them if that was one alone, and to the only program that was called, with that account. All else is unaccounted for.
 */
function closeChanges(
  open: ReturnType<WalletSums['entries']>,
  subjects: ReadonlySet<string>,
  { instructions }: Transaction,
) {
  // Those that neither signed nor had another sign for them lose and get lamports without an instruction.
  const { gained: paidOut, lost: paid } = splitWallets(open.filter(([wallet]) => !subjects.has(wallet)));
  const payers = new Set(paid.map(([wallet]) => wallet));
  const payer = onlyValue(payers);
  const ofPayers = instructions.filter((call) => !isCore(call) && call.accounts.some((account) => payers.has(account)));
  const paying = ofPayers.filter(({ programId }) => programRole(programId) !== 'guard');
  const others = instructions.filter(({ programId }) => !isIncidentalProgram(programId));
  const called = [paying, ofPayers].find(({ length }) => length > 0) ?? others;
  const program = onlyValue(called.map(({ programId }) => programId));
  const ofSubjects = open.filter(([wallet]) => subjects.has(wallet));
  const isTrade = inExecutionOrder(called).some(({ programId }) => isTradingProgram(programId)); // pools pay their makers
  const { gained, lost } = splitWallets(open);
  const signer = lost.map(([wallet]) => wallet).find((wallet) => subjects.has(wallet));
  const total = (changes: typeof gained): bigint => changes.reduce((sum, [, { amount }]) => sum + amount, 0n);
  const isEven = total(gained) + total(lost) === 0n;
  const isPaidBySigner = signer !== undefined && lost.length === 1 && isEven && program !== null && !isTrade;
  const credited = program === null || isPaidBySigner ? [] : splitWallets(ofSubjects).gained;
  const isMore = !isTrade && total(paidOut) > total(credited); // what is less is a fee
  const isForStrangers = program !== null && (isMore || (credited.length > 0 && programRole(program) === 'bridge'));
  // of what a signer and somebody else lost nobody knows who got it
  const payouts = isPaidBySigner ? gained : signer === undefined && isForStrangers ? paidOut : [];
  const source = signer ?? payer;
  const direct = [
    ...credited.map(([wallet, amount]) =>
      actionOf('direct', wallet, { counterparty: payer, got: [amount], program, role: 'program' }),
    ),
    ...payouts.map(([to, amount]) =>
      source === null
        ? actionOf('payout', to, { got: [amount], program, role: 'program' })
        : actionOf('payout', source, { counterparty: to, given: [amount], program, role: 'program' }),
    ),
  ];
  const explained = [...credited, ...(isPaidBySigner ? [...gained, ...lost] : [])];
  const unaccounted = ofSubjects
    .filter((change) => !explained.some(([wallet, { mint }]) => wallet === change[0] && mint === change[1].mint))
    .map(([userAccount, { mint, amount, decimals }]) => ({ userAccount, mint, amount: `${amount}`, decimals }));
  return { direct, unaccounted };
}

/** Splits changes of lamports into gains and losses. */
function splitWallets(changes: ReturnType<WalletSums['entries']>) {
  const ofSol = changes.filter(([, { mint }]) => mint === WRAPPED_SOL);
  return { gained: ofSol.filter(([, { amount }]) => amount > 0n), lost: ofSol.filter(([, { amount }]) => amount < 0n) };
}

/** Sums what changed for wallets: lamports with those of their token accounts, and tokens by the owner before and after. */
function netChangesOf(transaction: Transaction, ownerOf: OwnerOf): WalletSums {
  const { accounts, preBalances, postBalances, preTokenBalances, postTokenBalances } = transaction;
  const sums = new WalletSums();
  const recorded = [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])];
  for (const [place, { address }] of hasAllLamports(transaction) ? accounts.entries() : []) {
    const [before = 0n, after = 0n] = [preBalances[place], postBalances[place]];
    const isSameOwner = (): boolean =>
      ownerOf(address) === ownerOf(address, 'after') || recorded.every(({ account }) => account !== address);
    if (before === after && isSameOwner()) continue;
    sums.add(ownerOf(address), solAmount(-before));
    sums.add(ownerOf(address, 'after'), solAmount(after));
  }
  if (preTokenBalances === null || postTokenBalances === null) return sums;
  for (const change of changedTokens(transaction))
    if (!isWrappedSol(change.mint)) sums.add(change.owner ?? change.account, change);
  return sums;
}

/** Returns the call to which a movement is credited: the outermost exchange, else the outermost program that is known. */
const creditedOf = (callers: readonly Instruction[]): Instruction | undefined =>
  venueOf(callers) ??
  callers.find(({ programId }) => !isIncidentalProgram(programId) && KNOWN_PROGRAMS.has(programId)) ??
  callers[0];

/** Finds what calls of exchanges moved for a wallet, both ways; `payers` lost lamports without an instruction. */
function findTrades(
  wallet: string,
  movements: readonly Movement[],
  open: WalletSums,
  payers: readonly string[],
): readonly Trade[] {
  const byVenue = new Map<Instruction, Movement[]>();
  for (const movement of movements) {
    const { venue } = movement;
    if (venue === undefined || (movement.from !== wallet && movement.to !== wallet)) continue;
    const group = byVenue.get(venue);
    if (group === undefined) byVenue.set(venue, [movement]);
    else group.push(movement);
  }
  const all = [...byVenue].map(([venue, group]) => tradeOf(wallet, venue, group));
  const sold = all.filter(({ given, got }) => got.length === 0 && given.some(({ mint }) => mint !== WRAPPED_SOL));
  const paid = open.of(wallet, WRAPPED_SOL);
  return all.flatMap((trade) => {
    const [only, ...others] = sold;
    const isPaidOut = paid > 0n && payers.length > 0 && payers.every((payer) => trade.venue.accounts.includes(payer));
    if (trade === only && others.length === 0 && isPaidOut) {
      open.add(wallet, solAmount(-paid)); // some exchanges pay out without an instruction
      return [{ ...trade, got: [solAmount(paid)] }];
    }
    return trade.given.length > 0 && trade.got.length > 0 ? [trade] : [];
  });
}

/** Nets what a call moved: in the calls of exchanges that it made if those moved both sides, so that its own fee is apart. */
function tradeOf(wallet: string, venue: Instruction, group: readonly Movement[]): Trade {
  const byCall = grouped(group, ({ callers }) => `${callers.at(-1)?.innerIndex}`);
  const inPools = byCall.filter((made) => isOfPool(wallet, venue, made)).flat();
  const pools = netOf(wallet, inPools);
  if (pools.given.length > 0 && pools.got.length > 0) return { wallet, venue, legs: new Set(inPools), ...pools };
  const moved = group.filter(({ kind }) => kind === 'transfer' || kind === 'close');
  return { wallet, venue, legs: new Set(moved), ...netOf(wallet, moved) };
}

/** Returns whether the call of an exchange made what moved, or one that moved both sides: an exchange that is in no table. */
function isOfPool(wallet: string, venue: Instruction, made: readonly [Movement, ...Movement[]]): boolean {
  const [{ callers }] = made;
  if (callers.filter(({ programId }) => isTradingProgram(programId)).length > 1) return true;
  const { given, got } = netOf(wallet, made);
  return callers.includes(venue) && callers.at(-1) !== venue && given.length > 0 && got.length > 0;
}

function netOf(wallet: string, movements: readonly Movement[]): Pick<Trade, 'given' | 'got'> {
  const effects = movements.flatMap((movement) => [
    ...(movement.from === wallet ? [negate(movement)] : []),
    ...(movement.to === wallet ? [{ ...movement, amount: movement.amount - movement.withheld }] : []),
  ]);
  const { lost: given, gained: got } = splitBySign(sumByMint(effects));
  return { given, got };
}

function tradeAction({ wallet, venue, legs, given, got }: Trade): Action {
  const [callers = []] = [...legs].map((leg) => leg.callers);
  const { programId, index, innerIndex } = callers.includes(venue) ? venue : (callers[0] ?? venue);
  const { authority = null, role = 'owner' } = [...legs].find(({ from }) => from === wallet) ?? {};
  const signed = authority === null ? {} : { authority, role };
  return actionOf('swap', wallet, { given, got, program: programId, instruction: [index, innerIndex], ...signed });
}

function movementAction(movement: Movement): Action {
  const { kind, from, to, withheld, authority, role, callers, instruction } = movement;
  return actionOf(kind, from ?? to ?? '', {
    counterparty: from === null ? null : to,
    given: from === null ? [] : [movement],
    got: from === null ? [{ ...movement, amount: movement.amount - withheld }] : [],
    withheld: withheld === 0n || from === null ? null : `${withheld}`,
    program: creditedOf(callers)?.programId ?? null,
    instruction,
    role,
    authority,
  });
}
