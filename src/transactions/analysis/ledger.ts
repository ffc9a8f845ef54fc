import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { asArray, asBigInt } from '../codec/json-fields.ts';
import { isIncidentalProgram, isTradingProgram, KNOWN_PROGRAMS, programRole } from '../programs/known-programs.ts';
import { isTipAccount } from '../programs/tip-accounts.ts';
import { type Instruction, inExecutionOrder } from '../transactions/instruction.ts';
import type { TokenBalance } from '../transactions/token-balance.ts';
import { statusOf, type Transaction } from '../transactions/transaction.ts';
import { type Action, type ActionKind, actionOf, type Ledger } from './action.ts';
import { type AssetAmount, negate, solAmount } from './asset-amount.ts';
import { hasAllLamports } from './balance-changes.ts';
import { isOfClosing } from './helius-transfers.ts';
import { splitBySign } from './net-change.ts';
import { onlyValue } from './only-value.ts';
import { sumByMint } from './payments.ts';
import { walletsBefore } from './token-account-balances.ts';
import type { Transfer } from './transfer.ts';
import { WalletSums } from './wallet-sums.ts';
import { rentOf } from './wrapped-sol-rent.ts';

/** A transfer between wallets, with the calls around it. */
interface Movement extends AssetAmount {
  readonly kind: ActionKind;
  readonly from: string | null;
  readonly to: string | null;
  /** What of the amount did not arrive. */
  readonly withheld: bigint;
  /** Who signed for it in the place of the owner; null if the owner did, or if the instruction doesn't say. */
  readonly authority: string | null;
  readonly role: Action['role'];
  /** The calls of programs that are not Solana's own, the outermost first. */
  readonly callers: readonly Instruction[];
  /** The call in which it can be a leg of a trade; undefined if it was made in that of no exchange. */
  readonly venue: Instruction | undefined;
  readonly instruction: readonly [topLevel: number, inner: number | null];
}

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
export function readLedger(
  transaction: Transaction,
  transfers: readonly Transfer[],
  changed: readonly TokenBalance[],
): Ledger {
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
  const open = openChanges(transaction, movements, netChangesOf(transaction, changed, ownerOf));
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
  const called =
    ofPayers.length > 0 ? ofPayers : instructions.filter(({ programId }) => !isIncidentalProgram(programId));
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

/** Finds the wallet of an account at a call; before the transaction where none is given. */
type OwnerOf = (account: string, call?: Instruction | 'after') => string;

/**
 * Returns the function that finds the wallet of an account: the owner of a token account, any other account itself. Each
 * call that opens, gives away or closes an account may make it that of another wallet.
 */
function accountOwners(transaction: Transaction, calls: readonly Instruction[]): OwnerOf {
  const { preTokenBalances, postTokenBalances } = transaction;
  const wallets = walletsBefore(transaction);
  const owners = new Map<string, string>();
  const ownersAfter = new Map<string, string>();
  const changes = new Map<string, { readonly place: number; owner: string | null }[]>();
  const addChange = (account: string, place: number, owner: string | null): void => {
    const earlier = changes.get(account);
    if (earlier === undefined) changes.set(account, [{ place, owner }]);
    else earlier.push({ place, owner });
  };
  const open = (account: string, owner: string, place: number): void => {
    const last = changes.get(account)?.at(-1);
    if (last?.owner === null) last.owner = owner; // what it gets before is its deposit
    if (last !== undefined || owners.has(account)) return;
    const isWallet = wallets.has(account);
    owners.set(account, isWallet ? account : owner);
    if (isWallet) addChange(account, place, owner);
  };
  for (const { account, owner } of preTokenBalances ?? []) if (owner !== null) owners.set(account, owner);
  for (const [place, { program, parsed }] of calls.entries()) {
    const { account, wallet, owner, authorityType, newAuthority } = parsed?.info ?? {};
    if (parsed === null || typeof account !== 'string') continue;
    if (program === 'spl-associated-token-account' && typeof wallet === 'string') open(account, wallet, place);
    if (program !== 'spl-token') continue;
    if (parsed.type === 'closeAccount') addChange(account, place, null);
    else if (parsed.type.startsWith('initializeAccount') && typeof owner === 'string') open(account, owner, place);
    else if (authorityType === 'accountOwner' && typeof newAuthority === 'string')
      addChange(account, place, newAuthority);
  }
  for (const { account, owner } of postTokenBalances ?? []) {
    if (owner === null) continue;
    ownersAfter.set(account, owner);
    if (!owners.has(account)) owners.set(account, owner);
  }
  const places = new Map(changes.size === 0 ? [] : calls.map((call, place) => [call, place]));
  return (account, call) => {
    const known = call === undefined ? undefined : changes.get(account);
    const place = call === 'after' ? calls.length : (places.get(call as Instruction) ?? 0);
    const last = known?.findLast((change) => change.place < place);
    const owner = last === undefined ? owners.get(account) : last.owner;
    return (call === 'after' ? ownersAfter.get(account) : null) ?? owner ?? account;
  };
}

/** Sums what changed for wallets: lamports with those of their token accounts, and tokens by the owner before and after. */
function netChangesOf(transaction: Transaction, changed: readonly TokenBalance[], ownerOf: OwnerOf): WalletSums {
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
  for (const change of changed) if (change.mint !== WRAPPED_SOL) sums.add(change.owner ?? change.account, change);
  return sums;
}

const KIND_BY_TRANSFER: Readonly<Partial<Record<Transfer['type'], ActionKind>>> = {
  transfer: 'transfer',
  mint: 'mint',
  burn: 'burn',
  unwrap: 'transfer',
  changeOwner: 'changeOwner',
  withdrawWithheldFee: 'withheldFee',
  depositConfidential: 'hide',
  withdrawConfidential: 'hide',
  createAccount: 'rent',
  closeAccount: 'close',
};

/** Converts transfers between accounts to those between wallets. */
function movementsOf(
  { instructions }: Transaction,
  transfers: readonly Transfer[],
  ownerOf: OwnerOf,
  signers: ReadonlySet<string>,
): readonly Movement[] {
  const places = callersOf(instructions);
  const made = accountsMade(instructions);
  /** Returns whether lamports are for a new account, and no more than its deposit; what it gets later is a payment. */
  const openingOf = ({ type, asset, lamports, ...transfer }: Transfer): 'rent' | 'funding' | null => {
    if (type === 'changeOwner' && asset === 'SOL' && lamports !== null && made.has(transfer.fromTokenAccount ?? ''))
      return 'rent';
    const account = made.get(transfer.toUserAccount ?? '');
    const isBefore = account !== undefined && isNotAfter(transfer.call, account.place);
    const isOpening = type === 'transfer' && asset === 'SOL' && transfer.call.innerIndex !== null && isBefore;
    if (type !== 'createAccount' && !isOpening) return null;
    if (account === undefined || transfer.amount > account.deposit) return 'funding';
    account.deposit -= transfer.amount;
    return 'rent';
  };
  const all = transfers.some(({ lamports }) => lamports !== null) ? transfers.flatMap(withLamports) : transfers;
  return all.flatMap((transfer, at): Movement[] => {
    const { type, asset, mint, decimals, feeAmount, call } = transfer;
    if (isOfClosing(transfer, all[at + 1])) return []; // it is in what the closing pays out
    const before = all[at - 1];
    const amount = transfer.amount + (before !== undefined && isOfClosing(before, transfer) ? before.amount : 0n);
    const { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = transfer;
    const kind = KIND_BY_TRANSFER[type];
    const isSol = asset === 'SOL' || mint === WRAPPED_SOL;
    const isUnknown = asset === 'token' && mint === null; // no record says what it is
    if (kind === undefined || isUnknown || amount === 0n) return [];
    const walletOf = (account: string | null): string | null => (account === null ? null : ownerOf(account, call));
    const from = isSol ? walletOf(fromTokenAccount ?? fromUserAccount) : (fromUserAccount ?? fromTokenAccount);
    const isPaid = isSol && kind !== 'changeOwner';
    const to = isPaid ? walletOf(toTokenAccount ?? toUserAccount) : (toUserAccount ?? toTokenAccount);
    const { callers, venue } = places.get(call) ?? TOP_LEVEL;
    const isTip = isSol && kind === 'transfer' && isTipAccount(to ?? '');
    const signature = signatureOf(
      call,
      { kind, from, to, hasOwner: asset === 'token' && fromUserAccount !== null },
      signers,
    );
    const isOwnerless = kind === 'close' && from === fromTokenAccount; // such as a mint
    const isOfNobody = isOwnerless && (callers.length === 0 || signature.role !== 'program'); // nor a program's own
    return from === to
      ? []
      : [
          {
            kind: isTip ? 'tip' : isOfNobody ? 'transfer' : (openingOf(transfer) ?? kind),
            from,
            to,
            mint: mint ?? WRAPPED_SOL,
            amount,
            withheld: feeAmount ?? 0n,
            decimals,
            ...signature,
            callers,
            venue,
            instruction: [call.index, call.innerIndex],
          },
        ];
  });
}

/** Returns a change of owner with what it does to the account's lamports: those beyond the deposit are as if they were sent. */
function withLamports(transfer: Transfer): readonly Transfer[] {
  const { lamports } = transfer;
  if (lamports === null) return [transfer];
  const ofSol = { ...transfer, asset: 'SOL', mint: null, decimals: 9 } as const;
  return [
    transfer,
    { ...ofSol, amount: lamports.deposit },
    { ...ofSol, type: 'transfer', amount: lamports.rest, toTokenAccount: null },
  ];
}

/** The most bytes of a lookup table. */
const MOST_TABLE_BYTES = 56n + 256n * 32n;

/** An account that is made in a transaction. */
interface MadeAccount {
  /** The most lamports that are still its deposit. */
  deposit: bigint;
  /** The instruction that makes it; null for one that grows with each. */
  readonly place: Instruction | null;
}

const isNotAfter = ({ index, innerIndex }: Instruction, place: Instruction | null): boolean =>
  place === null || index < place.index || (index === place.index && (innerIndex ?? -1) <= (place.innerIndex ?? -1));

function accountsMade(instructions: readonly Instruction[]): ReadonlyMap<string, MadeAccount> {
  const made = new Map<string, MadeAccount>();
  for (const call of inExecutionOrder(instructions)) {
    const { program, parsed } = call;
    const isTable = program === 'address-lookup-table';
    const isMade = isTable ? /^(create|extend)/ : /^(createAccount|allocate)/;
    if (parsed === null || !(isTable || program === 'system') || !isMade.test(parsed.type)) continue;
    const { newAccount, account, space, lookupTableAccount } = parsed.info;
    const opened = isTable ? lookupTableAccount : (newAccount ?? account);
    const bytes = isTable ? MOST_TABLE_BYTES : asBigInt(space);
    if (typeof opened === 'string' && bytes !== null)
      made.set(opened, { deposit: rentOf(bytes), place: isTable ? null : call });
  }
  return made;
}

/** What instructions call the account that signs for what they move. */
const AUTHORITY =
  /^(multisig)?(authority|owner|sourceBase|(withdraw|withdrawWithheld|nonce|stake|lookupTable)Authority)$/i;

/** Returns who signed an instruction that moves what a wallet has, and how it stands to the wallet. */
function signatureOf(
  call: Instruction,
  { kind, from, to, hasOwner }: Pick<Movement, 'kind' | 'from' | 'to'> & { readonly hasOwner: boolean },
  signers: ReadonlySet<string>,
): Pick<Movement, 'authority' | 'role'> {
  const info = call.parsed?.info ?? {};
  const isAuthority = ([name, value]: readonly [string, unknown]): boolean =>
    typeof value === 'string' && AUTHORITY.test(name) && !(call.program === 'system' && name === 'owner'); // of a new account
  const named = Object.entries(info).find(isAuthority)?.[1];
  const member = asArray(info['signers']).find((value) => typeof value === 'string' && signers.has(value));
  const isNamedSigner = typeof named === 'string' && signers.has(named); // further accounts are for a hook
  const isOfMultisig = typeof member === 'string' && !isNamedSigner && (named === from || kind === 'withheldFee');
  const authority = typeof named !== 'string' ? from : isOfMultisig ? member : named;
  const isMade = from === null && (kind !== 'withheldFee' || authority === to);
  if (isMade || authority === from)
    return { authority: null, role: signers.has(from ?? to ?? '') ? 'owner' : 'program' };
  if (hasOwner && authority === named && kind !== 'close') return { authority, role: 'delegate' };
  return authority !== null && signers.has(authority)
    ? { authority, role: 'authority' }
    : { authority: null, role: 'program' };
}

/**
 * Finds what programs paid to strangers out of what no signer has: to somebody that gave nothing else in the same call, and that has
 * more of it than signers got or gave there. Within the calls of an exchange that is the trade of another one, unless a signer
 * gave something and none got anything.
 */
function withPayouts(movements: readonly Movement[], subjects: ReadonlySet<string>): readonly Movement[] {
  const givers = new Set(movements.map(({ from }) => from));
  const kept = new WalletSums();
  const calls = new Map<Instruction, { readonly given: WalletSums; readonly got: WalletSums }>(); // of all subjects by ''
  for (const movement of movements) {
    const { from, to } = movement;
    const payer = payerOf(movement);
    if (from !== null) kept.add(from, negate(movement));
    if (to !== null) kept.add(to, movement);
    if (payer === undefined) continue;
    const sums = calls.get(payer) ?? { given: new WalletSums(), got: new WalletSums() };
    calls.set(payer, sums);
    if (from !== null) sums.given.add(subjects.has(from) ? '' : from, movement);
    if (to !== null) sums.got.add(subjects.has(to) ? '' : to, movement);
  }
  return movements.map((movement) => {
    const { kind, from, to, mint } = movement;
    const payer = payerOf(movement);
    const sums = payer && calls.get(payer);
    if (sums === undefined) return movement;
    const { given, got } = sums;
    const isPaid = kind === 'transfer' && from !== null && !subjects.has(from);
    if (to === null || subjects.has(to) || !(isPaid || kind === 'mint')) return movement;
    const [isPaying, hasPaid] = [got, given].map((side) => side.mintsOf('').length > 0);
    const isTrade = isTradingProgram(payer?.programId ?? null);
    const most = [got, given].map((side) => (isPaying ? side.of('', mint) : 0n));
    const isMore =
      given.mintsOf(to).every((other) => other === mint) &&
      most.every((amount) => min(kept.of(to, mint), got.of(to, mint)) > amount);
    const isPayout = (hasPaid || (isPaid && !isTrade)) && (isTrade ? !isPaying && !givers.has(to) : isMore);
    return isPayout ? { ...movement, kind: 'payout' } : movement;
  });
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Returns the call in which something was paid: that of the outermost exchange, or else the innermost one. */
const payerOf = ({ callers, venue }: Movement): Instruction | undefined => venue ?? callers.at(-1);

/** Returns the call to which a movement is credited: the outermost exchange, else the outermost program that is known. */
const creditedOf = (callers: readonly Instruction[]): Instruction | undefined =>
  venueOf(callers) ??
  callers.find(({ programId }) => !isIncidentalProgram(programId) && KNOWN_PROGRAMS.has(programId)) ??
  callers[0];

const venueOf = (callers: readonly Instruction[]): Instruction | undefined =>
  callers.find(({ programId }) => isTradingProgram(programId));

/** The programs' calls in which an instruction was made, and that of which it may be a leg. */
type Place = Pick<Movement, 'callers' | 'venue'>;
const TOP_LEVEL: Place = { callers: [], venue: undefined };

/** Returns the calls in which each inner instruction was certainly made. */
function callersOf(instructions: readonly Instruction[]): ReadonlyMap<Instruction, Place> {
  const found = new Map<Instruction, Place>();
  for (const topLevel of instructions) {
    const outermost = isCore(topLevel) ? [] : [topLevel];
    let callers: readonly Instruction[] = outermost;
    let exchange: Instruction | undefined;
    for (const call of topLevel.inner) {
      const { stackHeight } = call;
      if (stackHeight === null)
        callers = outermost; // another inner call may have made it, or not
      else if ((callers.at(-1)?.stackHeight ?? 0) >= stackHeight)
        callers = callers.filter((caller) => (caller.stackHeight ?? 0) < stackHeight);
      const isOpen = stackHeight === null && topLevel.inner.some((other) => !isCore(other));
      const venue = !isOpen ? venueOf(callers) : exchange && isHandedTo(exchange, call) ? exchange : undefined;
      if (call.parsed !== null) found.set(call, { callers, venue });
      if (isCore(call)) continue;
      callers = [...callers, call];
      if (isTradingProgram(call.programId)) exchange = call;
    }
  }
  return found;
}

const isCore = ({ programId }: Instruction): boolean => programRole(programId) === 'core';

/** Returns whether an exchange was handed the accounts between which a call moves something. */
function isHandedTo({ accounts: handed }: Instruction, { accounts, parsed }: Instruction): boolean {
  const { source, destination } = parsed?.info ?? {};
  const named = accounts.length > 0 ? accounts.slice(0, 2) : [source, destination];
  return named.every((account) => typeof account === 'string' && handed.includes(account));
}

/**
 * Where a record has no depths, a leg is only what went between the first two parties that gave something to each other: what
 * an exchange moves comes right behind its call, and what its caller moves comes later.
 */
function withoutDoubt(movements: readonly Movement[]): readonly Movement[] {
  const open = movements.filter(({ venue, callers }) => venue !== undefined && !callers.includes(venue));
  if (open.length === 0) return movements;
  const keyOf = (venue: Instruction | undefined, ...parties: readonly (string | null)[]): string =>
    [venue?.index, venue?.innerIndex, ...parties].join(' ');
  const given = new Set(open.map(({ venue, from, to }) => keyOf(venue, from, to)));
  const mutual = open.filter(({ venue, from, to }) => given.has(keyOf(venue, to, from)));
  const pairs = new Map(mutual.toReversed().map(({ venue, from, to }) => [venue, [from, to]]));
  const isLeg = ({ venue, from, to }: Movement): boolean =>
    pairs.get(venue)?.includes(from) === true && pairs.get(venue)?.includes(to) === true;
  return movements.map((movement) =>
    open.includes(movement) && !isLeg(movement) ? { ...movement, venue: undefined } : movement,
  );
}

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
  const sold = all.filter(({ got }) => got.length === 0);
  const paid = open.of(wallet, WRAPPED_SOL);
  return all.flatMap((trade) => {
    const [only, ...others] = sold;
    const isPaidOut = paid > 0n && payers.length > 0 && payers.every((payer) => trade.venue.accounts.includes(payer));
    if (trade === only && others.length === 0 && isPaidOut && trade.given.some(({ mint }) => mint !== WRAPPED_SOL)) {
      open.add(wallet, solAmount(-paid)); // some exchanges pay out without an instruction
      return [{ ...trade, got: [solAmount(paid)] }];
    }
    return trade.given.length > 0 && trade.got.length > 0 ? [trade] : [];
  });
}

/** Nets what a call moved: in the calls of exchanges that it made if those moved both sides, so that its own fee is apart. */
function tradeOf(wallet: string, venue: Instruction, group: readonly Movement[]): Trade {
  const inPools = group.filter(
    ({ callers }) => callers.filter(({ programId }) => isTradingProgram(programId)).length > 1,
  );
  const pools = netOf(wallet, inPools);
  if (pools.given.length > 0 && pools.got.length > 0) return { wallet, venue, legs: new Set(inPools), ...pools };
  const moved = group.filter(({ kind }) => kind === 'transfer' || kind === 'close');
  return { wallet, venue, legs: new Set(moved), ...netOf(wallet, moved) };
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
