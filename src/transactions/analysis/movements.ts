import { isWrappedSol, WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { asArray, asBigInt } from '../codec/json-fields.ts';
import { isTradingProgram, programRole } from '../programs/known-programs.ts';
import { findProgramInstruction } from '../programs/program-instruction.ts';
import { isTipAccount } from '../programs/tip-accounts.ts';
import { type Instruction, inExecutionOrder } from '../records/instruction.ts';
import type { Transaction } from '../records/transaction.ts';
import type { OwnerOf } from './account-owners.ts';
import type { Action, ActionKind } from './action.ts';
import { type AssetAmount, negate } from './asset-amount.ts';
import { isOfClosing } from './helius-transfers.ts';
import type { Transfer } from './transfer.ts';
import { WalletSums } from './wallet-sums.ts';
import { rentOf } from './wrapped-sol-rent.ts';

/** A transfer between wallets, with the calls around it. */
export interface Movement extends AssetAmount {
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
export function movementsOf(
  { instructions }: Transaction,
  transfers: readonly Transfer[],
  ownerOf: OwnerOf,
  signers: ReadonlySet<string>,
): readonly Movement[] {
  const places = callersOf(instructions);
  const openingOf = openingsIn(instructions);
  const all = transfers.some(({ lamports }) => lamports !== null) ? transfers.flatMap(withLamports) : transfers;
  return all.flatMap((transfer, at): Movement[] => {
    const { type, asset, mint, decimals, feeAmount, call, fromUserAccount, fromTokenAccount } = transfer;
    if (isOfClosing(transfer, all[at + 1])) return []; // it is in what the closing pays out
    const before = all[at - 1];
    const amount = transfer.amount + (before !== undefined && isOfClosing(before, transfer) ? before.amount : 0n);
    const kind = KIND_BY_TRANSFER[type];
    const isUnknown = asset === 'token' && mint === null; // no record says what it is
    if (kind === undefined || isUnknown || amount === 0n) return [];
    const { from, to } = walletsOf(transfer, ownerOf);
    if (from === to) return [];
    const { callers, venue } = places.get(call) ?? TOP_LEVEL;
    const isSol = holdsSol(transfer);
    const isTip = isSol && kind === 'transfer' && isTipAccount(to ?? '');
    const hasOwner = asset === 'token' && fromUserAccount !== null;
    const signature = signatureOf(call, { kind, from, to, hasOwner }, signers);
    const isOwnerless = kind === 'close' && from === fromTokenAccount; // such as a mint
    const isOfNobody = isOwnerless && (callers.length === 0 || signature.role !== 'program'); // nor a program's own
    return [
      {
        kind: isTip ? 'tip' : isOfNobody ? 'transfer' : (openingOf(transfer) ?? kind),
        from,
        to,
        mint: isSol ? WRAPPED_SOL : (mint ?? ''),
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

const holdsSol = ({ asset, mint }: Transfer): boolean => asset === 'SOL' || isWrappedSol(mint);

/** Returns between which wallets a transfer was: SOL is of who owns the account that holds it. */
function walletsOf(transfer: Transfer, ownerOf: OwnerOf): Pick<Movement, 'from' | 'to'> {
  const { type, call, fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = transfer;
  const isSol = holdsSol(transfer);
  const walletOf = (account: string | null, user: string | null, isHeld: boolean): string | null => {
    if (!isHeld) return user ?? account;
    const holder = account ?? user;
    return holder === null ? null : ownerOf(holder, call);
  };
  return {
    from: walletOf(fromTokenAccount, fromUserAccount, isSol),
    to: walletOf(toTokenAccount, toUserAccount, isSol && type !== 'changeOwner'),
  };
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

/** Returns a function that says whether lamports are for a new account, and no more than its deposit; what it gets later is a payment. */
function openingsIn(instructions: readonly Instruction[]): (transfer: Transfer) => 'rent' | 'funding' | null {
  const made = accountsMade(instructions);
  return ({ type, asset, amount, lamports, call, fromTokenAccount, toUserAccount }) => {
    if (type === 'changeOwner' && asset === 'SOL' && lamports !== null && made.has(fromTokenAccount ?? ''))
      return 'rent';
    const account = made.get(toUserAccount ?? '');
    const isBefore = account !== undefined && isNotAfter(call, account.place);
    const isOpening = type === 'transfer' && asset === 'SOL' && call.innerIndex !== null && isBefore;
    if (type !== 'createAccount' && !isOpening) return null;
    if (account === undefined || amount > account.deposit) return 'funding';
    account.deposit -= amount;
    return 'rent';
  };
}

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
export function withPayouts(movements: readonly Movement[], subjects: ReadonlySet<string>): readonly Movement[] {
  const givers = new Set(movements.map(({ from }) => from));
  const kept = new WalletSums();
  // of all subjects by ''
  const calls = new Map<Instruction, { readonly given: WalletSums; readonly got: WalletSums; isTrade: boolean }>();
  for (const movement of movements) {
    const { from, to } = movement;
    const payer = payerOf(movement);
    if (from !== null) kept.add(from, negate(movement));
    if (to !== null) kept.add(to, movement);
    if (payer === undefined) continue;
    const sums = calls.get(payer) ?? {
      given: new WalletSums(),
      got: new WalletSums(),
      isTrade: isTrade(payer, subjects),
    };
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
    const most = [got, given].map((side) => (isPaying ? side.of('', mint) : 0n));
    const isMore =
      given.mintsOf(to).every((other) => other === mint) &&
      most.every((amount) => min(kept.of(to, mint), got.of(to, mint)) > amount);
    const isPayout = (hasPaid || (isPaid && !sums.isTrade)) && (sums.isTrade ? !isPaying && !givers.has(to) : isMore);
    return isPayout ? { ...movement, kind: 'payout' } : movement;
  });
}

/** What an exchange is called for beside trades: it pays out what somebody has there. */
const WITHDRAWALS: readonly (string | null)[] = ['REMOVE_FROM_POOL', 'WITHDRAW', 'CANCEL_ORDER', 'CLAIM'];

/** Returns whether a call is of an exchange, and not for what a wallet has there. */
function isTrade(call: Instruction, subjects: ReadonlySet<string>): boolean {
  if (!isTradingProgram(call.programId)) return false;
  const { type = null, roles = {} } = findProgramInstruction(call) ?? {};
  return !WITHDRAWALS.includes(type) || !subjects.has(roles.user ?? roles.owner ?? '');
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Returns the call in which something was paid: that of the outermost exchange, or else the innermost one. */
const payerOf = ({ callers, venue }: Movement): Instruction | undefined => venue ?? callers.at(-1);

export const venueOf = (callers: readonly Instruction[]): Instruction | undefined =>
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
    const callsOtherExchange = topLevel.inner.some(
      ({ programId }) => programId !== topLevel.programId && isTradingProgram(programId),
    );
    for (const call of topLevel.inner) {
      const { stackHeight } = call;
      if (stackHeight === null)
        callers = outermost; // another inner call may have made it, or not
      else if ((callers.at(-1)?.stackHeight ?? 0) >= stackHeight)
        callers = callers.filter((caller) => (caller.stackHeight ?? 0) < stackHeight);
      const isOpen = stackHeight === null && callsOtherExchange;
      if (call.parsed !== null) {
        const named = isOpen ? exchange : venueOf(callers);
        const isMade = named === undefined || (named === topLevel && !isOpen) || mayHaveMade(named, call);
        found.set(call, { callers, venue: isMade ? named : undefined });
      }
      if (isCore(call)) continue;
      callers = [...callers, call];
      if (isTradingProgram(call.programId)) exchange = call;
    }
  }
  return found;
}

export const isCore = ({ programId }: Instruction): boolean => programRole(programId) === 'core';

/** Returns whether a call has no account but those of its caller, as the runtime demands. Depths may be wrong. */
function mayHaveMade({ accounts: handed }: Instruction, { accounts, parsed }: Instruction): boolean {
  const { source, destination, account } = parsed?.info ?? {};
  const named = accounts.length > 0 ? accounts : [source, destination, account];
  return named.every((place) => typeof place !== 'string' || handed.includes(place));
}

/**
 * Where a record has no depths, a leg is only what went between the first two parties that gave something to each other: what
 * an exchange moves comes right behind its call, and what its caller moves comes later.
 */
export function withoutDoubt(movements: readonly Movement[]): readonly Movement[] {
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
