import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { asArray } from '../codec/json-fields.ts';
import { isIncidentalProgram, isTradingProgram, KNOWN_PROGRAMS, programRole } from '../programs/known-programs.ts';
import { isTipAccount } from '../programs/tip-accounts.ts';
import { type Instruction, inExecutionOrder } from '../transactions/instruction.ts';
import { statusOf, type Transaction } from '../transactions/transaction.ts';
import { type Action, type ActionKind, actionOf, type Ledger, type Unaccounted } from './action.ts';
import { type AssetAmount, negate, solAmount } from './asset-amount.ts';
import { isOfClosing } from './helius-transfers.ts';
import { splitBySign } from './net-change.ts';
import { onlyValue } from './only-value.ts';
import { sumByMint } from './payments.ts';
import type { Transfer } from './transfer.ts';
import { WalletSums } from './wallet-sums.ts';

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
  const open = openChanges(transaction, movements, ownerOf);
  const trades = [...subjects].flatMap((wallet) => findTrades(wallet, movements, open));
  const explained = [...paid, ...actionsOf(movements, trades, subjects)];
  const { direct, unaccounted } = closeChanges(open.entries(), subjects, transaction);
  return { actions: [...explained, ...direct], unaccounted };
}

/** Sums what neither the fee nor a movement explains of the changes of wallets. */
function openChanges(transaction: Transaction, movements: readonly Movement[], ownerOf: OwnerOf): WalletSums {
  const { feePayer, fee, preTokenBalances, postTokenBalances } = transaction;
  const open = netChangesOf(transaction, ownerOf);
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
  const direct: Action[] = [];
  const unaccounted: Unaccounted[] = [];
  const { gained: paidOut, lost } = splitWallets(open.filter(([wallet]) => !subjects.has(wallet)));
  const payer = onlyValue(lost.map(([wallet]) => wallet));
  const all = instructions.filter(({ programId }) => !isIncidentalProgram(programId));
  const ofPayer = all.filter(({ accounts }) => accounts.includes(payer ?? ''));
  const called = ofPayer.length > 0 ? ofPayer : all;
  const program = onlyValue(called.map(({ programId }) => programId));
  for (const [userAccount, { mint, amount, decimals }] of open.filter(([wallet]) => subjects.has(wallet)))
    if (amount > 0n && mint === WRAPPED_SOL && program !== null)
      direct.push(
        actionOf('direct', userAccount, { counterparty: payer, got: [solAmount(amount)], program, role: 'program' }),
      );
    else unaccounted.push({ userAccount, mint, amount: `${amount}`, decimals });
  const isTrade = inExecutionOrder(called).some(({ programId }) => isTradingProgram(programId)); // pools pay their makers
  const isForStrangers = program !== null && (direct.length === 0 ? !isTrade : programRole(program) === 'bridge');
  for (const [counterparty, amount] of isForStrangers ? paidOut : [])
    direct.push(
      actionOf('payout', payer ?? program ?? '', { counterparty, given: [amount], program, role: 'program' }),
    );
  return { direct, unaccounted };
}

/** Splits changes of lamports into gains and losses. */
function splitWallets(changes: ReturnType<WalletSums['entries']>) {
  const ofSol = changes.filter(([, { mint }]) => mint === WRAPPED_SOL);
  return { gained: ofSol.filter(([, { amount }]) => amount > 0n), lost: ofSol.filter(([, { amount }]) => amount < 0n) };
}

/** Returns whether a record has the lamports of all accounts. One that was cut may lack those which a call paid. */
const hasAllLamports = ({
  accounts,
  preBalances,
  postBalances,
}: Pick<Transaction, 'accounts' | 'preBalances' | 'postBalances'>): boolean =>
  Math.min(preBalances.length, postBalances.length) >= accounts.length;

type PlaceOfTransfer = Pick<Transfer, 'instructionIdx' | 'innerInstructionIdx'>;

/** Finds the wallet of an account at a place; before the transaction where none is given. */
type OwnerOf = (account: string, place?: PlaceOfTransfer | 'after') => string;

/**
 * Returns the function that finds the wallet of an account: the owner of a token account, any other account itself. One that
 * is closed and opened again may be that of two.
 */
function accountOwners({ preTokenBalances, postTokenBalances }: Transaction, calls: readonly Instruction[]): OwnerOf {
  const owners = new Map<string, string>();
  const add = (account: unknown, owner: unknown): void => {
    if (typeof account === 'string' && typeof owner === 'string' && !owners.has(account)) owners.set(account, owner);
  };
  for (const { account, owner } of [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])]) add(account, owner);
  const closed = new Map<unknown, Instruction>();
  const again = new Map<unknown, { readonly owner: string; readonly closing: Instruction }>();
  for (const call of calls) {
    const { account, wallet, owner } = call.parsed?.info ?? {};
    if (call.program === 'spl-associated-token-account') add(account, wallet);
    if (call.program !== 'spl-token') continue;
    if (call.parsed?.type === 'closeAccount') closed.set(account, call);
    if (!call.parsed?.type.startsWith('initializeAccount')) continue;
    const closing = closed.get(account);
    if (closing === undefined) add(account, owner);
    else if (typeof owner === 'string') again.set(account, { owner, closing });
  }
  return (account, place) => {
    const second = again.get(account);
    const isSecond = second !== undefined && (place === 'after' || (place && !isNotAfter(place, second.closing)));
    return isSecond ? second.owner : (owners.get(account) ?? account);
  };
}

/** Sums what changed for wallets: lamports with those of their token accounts, and tokens by the owner before and after. */
function netChangesOf(
  { accounts, preBalances, postBalances, preTokenBalances, postTokenBalances }: Transaction,
  ownerOf: OwnerOf,
): WalletSums {
  const sums = new WalletSums();
  for (const [place, { address }] of hasAllLamports({ accounts, preBalances, postBalances })
    ? accounts.entries()
    : []) {
    const [before = 0n, after = 0n] = [preBalances[place], postBalances[place]];
    if (before === after && ownerOf(address) === ownerOf(address, 'after')) continue;
    sums.add(ownerOf(address), solAmount(-before));
    sums.add(ownerOf(address, 'after'), solAmount(after));
  }
  if (preTokenBalances === null || postTokenBalances === null) return sums;
  for (const [balances, sign] of [
    [preTokenBalances, -1n],
    [postTokenBalances, 1n],
  ] as const)
    for (const { account, owner, mint, amount, decimals } of balances)
      if (mint !== WRAPPED_SOL) sums.add(owner ?? account, { mint, decimals, amount: sign * amount });
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
  const callOf = callersByPlace(instructions);
  const made = accountsMade(instructions);
  /** Returns whether lamports are for a new account, and no more than its deposit; what it gets later is a payment. */
  const openingOf = ({ type, asset, ...transfer }: Transfer): 'rent' | 'funding' | null => {
    const account = made.get(transfer.toUserAccount ?? '');
    const isBefore = account !== undefined && isNotAfter(transfer, account.place);
    const isOpening = type === 'transfer' && asset === 'SOL' && transfer.innerInstructionIdx !== null && isBefore;
    if (type !== 'createAccount' && !isOpening) return null;
    if (account === undefined || transfer.amount > account.deposit) return 'funding';
    account.deposit -= transfer.amount;
    return 'rent';
  };
  return transfers.flatMap((transfer, at): Movement[] => {
    const { type, asset, mint, decimals, feeAmount, instructionIdx, innerInstructionIdx } = transfer;
    if (isOfClosing(transfer, transfers[at + 1])) return []; // it is in what the closing pays out
    const before = transfers[at - 1];
    const amount = transfer.amount + (before !== undefined && isOfClosing(before, transfer) ? before.amount : 0n);
    const { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = transfer;
    const kind = KIND_BY_TRANSFER[type];
    const isSol = asset === 'SOL' || mint === WRAPPED_SOL;
    const isUnknown = asset === 'token' && mint === null; // no record says what it is
    if (kind === undefined || isUnknown || amount === 0n || (isSol && kind === 'changeOwner')) return [];
    const walletOf = (account: string | null): string | null => (account === null ? null : ownerOf(account, transfer));
    const from = isSol ? walletOf(fromTokenAccount ?? fromUserAccount) : (fromUserAccount ?? fromTokenAccount);
    const to = isSol ? walletOf(toTokenAccount ?? toUserAccount) : (toUserAccount ?? toTokenAccount);
    const { call, callers, venue } = callOf(instructionIdx, innerInstructionIdx);
    const isTip = isSol && kind === 'transfer' && isTipAccount(to ?? '');
    return from === to
      ? []
      : [
          {
            kind: isTip ? 'tip' : (openingOf(transfer) ?? kind),
            from,
            to,
            mint: mint ?? WRAPPED_SOL,
            amount,
            withheld: feeAmount ?? 0n,
            decimals,
            ...signatureOf(call, { kind, from, to, hasOwner: asset === 'token' && fromUserAccount !== null }, signers),
            callers,
            venue,
            instruction: [instructionIdx, innerInstructionIdx],
          },
        ];
  });
}

/** The most bytes of a lookup table. */
const MOST_TABLE_BYTES = 56 + 256 * 32;
/** The lamports that an account of a number of bytes needs. https://solana.com/docs/core/accounts#rent */
const rentOf = (bytes: number): bigint => BigInt(128 + bytes) * 6_960n;

/** An account that is made in a transaction. */
interface MadeAccount {
  /** The most lamports that are still its deposit. */
  deposit: bigint;
  /** The instruction that makes it; null for one that grows with each. */
  readonly place: Instruction | null;
}

const isNotAfter = ({ instructionIdx, innerInstructionIdx }: PlaceOfTransfer, place: Instruction | null): boolean =>
  place === null ||
  instructionIdx < place.index ||
  (instructionIdx === place.index && (innerInstructionIdx ?? -1) <= (place.innerIndex ?? -1));

function accountsMade(instructions: readonly Instruction[]): ReadonlyMap<string, MadeAccount> {
  const made = new Map<string, MadeAccount>();
  for (const call of inExecutionOrder(instructions)) {
    const { program, parsed } = call;
    const { newAccount, account, space, lookupTableAccount } = parsed?.info ?? {};
    const isOpened = program === 'system' && /^(createAccount|allocate)/.test(parsed?.type ?? '');
    const isTable = program === 'address-lookup-table' && /^(create|extend)/.test(parsed?.type ?? '');
    const opened = isOpened ? (newAccount ?? account) : isTable ? lookupTableAccount : undefined;
    const bytes = isTable ? MOST_TABLE_BYTES : Number(space);
    if (typeof opened === 'string' && Number.isSafeInteger(bytes))
      made.set(opened, { deposit: rentOf(bytes), place: isTable ? null : call });
  }
  return made;
}

/** What instructions call the account that signs for what they move. */
const AUTHORITIES: readonly string[] = [
  'authority',
  'multisigAuthority',
  'owner',
  'multisigOwner',
  'withdrawAuthority',
  'nonceAuthority',
  'stakeAuthority',
  'lookupTableAuthority',
  'sourceBase',
  'withdrawWithheldAuthority',
  'multisigWithdrawWithheldAuthority',
];

/** Returns who signed an instruction that moves what a wallet has, and how it stands to the wallet. */
function signatureOf(
  call: Instruction | undefined,
  { kind, from, to, hasOwner }: Pick<Movement, 'kind' | 'from' | 'to'> & { readonly hasOwner: boolean },
  signers: ReadonlySet<string>,
): Pick<Movement, 'authority' | 'role'> {
  const info = call?.parsed?.info ?? {};
  const named = AUTHORITIES.map((name) => info[name]).find((value) => typeof value === 'string');
  const member = asArray(info['signers']).find((value) => typeof value === 'string' && signers.has(value));
  const isOfMultisig = typeof member === 'string' && (named === from || kind === 'withheldFee');
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
 * Finds what programs paid to strangers: to somebody that gave nothing, out of what no signer has, in a call that paid
 * nothing to a signer. Within the calls of an exchange that is the trade of another one, unless a signer gave something.
 */
function withPayouts(movements: readonly Movement[], subjects: ReadonlySet<string>): readonly Movement[] {
  const givers = new Set(movements.map(({ from }) => from));
  const callsOf = (side: 'from' | 'to'): ReadonlySet<Instruction | undefined> =>
    new Set(movements.flatMap((movement) => (subjects.has(movement[side] ?? '') ? [payerOf(movement)] : [])));
  const [paying, paid] = [callsOf('to'), callsOf('from')];
  return movements.map((movement) => {
    const { kind, from, to } = movement;
    const payer = payerOf(movement);
    const isPayout =
      kind === 'transfer' &&
      payer !== undefined &&
      !paying.has(payer) &&
      (paid.has(payer) || !isTradingProgram(payer.programId)) &&
      ![from, to].some((party) => party === null || subjects.has(party)) &&
      !givers.has(to);
    return isPayout ? { ...movement, kind: 'payout' } : movement;
  });
}

/** Returns the call in which something was paid: that of the outermost exchange, or else the innermost one. */
const payerOf = ({ callers, venue }: Movement): Instruction | undefined => venue ?? callers.at(-1);

/** Returns the call to which a movement is credited: the outermost exchange, else the outermost program that is known. */
const creditedOf = (callers: readonly Instruction[]): Instruction | undefined =>
  venueOf(callers) ??
  callers.find(({ programId }) => !isIncidentalProgram(programId) && KNOWN_PROGRAMS.has(programId)) ??
  callers[0];

const venueOf = (callers: readonly Instruction[]): Instruction | undefined =>
  callers.find(({ programId }) => isTradingProgram(programId));

/** An instruction, with the programs' calls in which it was made and that of which it may be a leg. */
interface Place extends Pick<Movement, 'callers' | 'venue'> {
  readonly call: Instruction | undefined;
}

/** Returns the function that finds an instruction, and the calls in which it was certainly made. */
function callersByPlace(instructions: readonly Instruction[]): (index: number, innerIndex: number | null) => Place {
  const found = new Map<string, Place>();
  for (const topLevel of instructions) {
    found.set(`${topLevel.index}.null`, { call: topLevel, callers: [], venue: undefined });
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
      if (call.parsed !== null) found.set(`${call.index}.${call.innerIndex}`, { call, callers, venue });
      if (isCore(call)) continue;
      callers = [...callers, call];
      if (isTradingProgram(call.programId)) exchange = call;
    }
  }
  const none = { call: undefined, callers: [], venue: undefined };
  return (index, innerIndex) => found.get(`${index}.${innerIndex}`) ?? none;
}

const isCore = ({ programId }: Instruction): boolean => programRole(programId) === 'core';

/** Returns whether an exchange was handed the accounts between which a call moves something. */
function isHandedTo({ accounts: handed }: Instruction, { accounts, parsed }: Instruction): boolean {
  const { source, destination } = parsed?.info ?? {};
  const named = accounts.length > 0 ? accounts.slice(0, 2) : [source, destination];
  return named.every((account) => typeof account === 'string' && handed.includes(account));
}

/** Where a record has no depths, a leg is only what went between two parties that both gave and got something in the call. */
function withoutDoubt(movements: readonly Movement[]): readonly Movement[] {
  const open = movements.filter(({ venue, callers }) => venue !== undefined && !callers.includes(venue));
  if (open.length === 0) return movements;
  const keyOf = ({ venue }: Movement, party: string | null): string => `${venue?.index}.${venue?.innerIndex} ${party}`;
  const givers = new Set(open.map((movement) => keyOf(movement, movement.from)));
  const takers = new Set(open.map((movement) => keyOf(movement, movement.to)));
  const isLeg = (movement: Movement): boolean =>
    takers.has(keyOf(movement, movement.from)) && givers.has(keyOf(movement, movement.to));
  return movements.map((movement) =>
    open.includes(movement) && !isLeg(movement) ? { ...movement, venue: undefined } : movement,
  );
}

/** Finds what calls of exchanges moved for a wallet, both ways. */
function findTrades(wallet: string, movements: readonly Movement[], open: WalletSums): readonly Trade[] {
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
    if (trade === only && others.length === 0 && paid > 0n && trade.given.some(({ mint }) => mint !== WRAPPED_SOL)) {
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
  return actionOf('swap', wallet, { given, got, program: programId, instruction: [index, innerIndex] });
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
