import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { isIncidentalProgram, isTradingProgram, programRole } from '../programs/known-programs.ts';
import { isTipAccount } from '../programs/tip-accounts.ts';
import { type Instruction, inExecutionOrder } from '../transactions/instruction.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { Action, ActionAmount, ActionKind, Ledger, Unaccounted } from './action.ts';
import { type AssetAmount, negate, solAmount } from './asset-amount.ts';
import { splitBySign } from './net-change.ts';
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
  /** Who signed for it, as far as the instruction names it. */
  readonly authority: string | null;
  /** The calls of programs that are not Solana's own, the outermost first. */
  readonly callers: readonly Instruction[];
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
  if (transaction.err !== null) return { actions: paid, unaccounted: [] }; // the runtime takes back all but the fee
  const signers = new Set(accounts.filter(({ signer }) => signer).map(({ address }) => address));
  const ownerOf = accountOwners(transaction, transfers.length === 0 ? [] : inExecutionOrder(transaction.instructions));
  const movements = transfers.length === 0 ? [] : movementsOf(transaction, transfers, ownerOf);
  const subjects = new Set([...signers, ...movements.filter(isDelegated).map(({ from }) => from ?? '')]);
  const open = openChanges(transaction, movements, ownerOf, subjects);
  const trades = [...subjects].flatMap((wallet) => findTrades(wallet, movements, open));
  const explained = [...paid, ...actionsOf(movements, trades, subjects, signers)];
  const { direct, unaccounted } = closeChanges(open, transaction);
  return { actions: [...explained, ...direct], unaccounted };
}

/** Sums what neither the fee nor a movement explains of the changes of wallets. */
function openChanges(
  transaction: Transaction,
  movements: readonly Movement[],
  ownerOf: (account: string) => string,
  subjects: ReadonlySet<string>,
): WalletSums {
  const open = new WalletSums();
  addNetChanges(open, transaction, ownerOf, subjects);
  const { feePayer, fee, postBalances, preTokenBalances, postTokenBalances } = transaction;
  const [hasLamports, hasTokens] = [postBalances.length > 0, preTokenBalances !== null && postTokenBalances !== null];
  if (hasLamports) open.add(feePayer, solAmount(fee ?? 0n));
  for (const movement of movements) {
    const { from, to, mint, amount, withheld } = movement;
    if (!(mint === WRAPPED_SOL ? hasLamports : hasTokens)) continue;
    if (from !== null && subjects.has(from)) open.add(from, movement);
    if (to !== null && subjects.has(to)) open.add(to, { ...movement, amount: withheld - amount });
  }
  return open;
}

/** Converts movements to actions: those that are legs of a trade of a wallet to that trade, at the place of the first. */
function* actionsOf(
  movements: readonly Movement[],
  trades: readonly Trade[],
  subjects: ReadonlySet<string>,
  signers: ReadonlySet<string>,
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
    if (from || to) yield movementAction({ ...movement, from: from ?? null, to: to ?? null }, signers);
  }
}

/** Credits lamports that came without an instruction to the only program that was called; all else is unaccounted for. */
function closeChanges(open: WalletSums, { instructions }: Transaction) {
  const direct: Action[] = [];
  const unaccounted: Unaccounted[] = [];
  const rest = open.entries();
  const called = rest.length === 0 ? [] : instructions.map(({ programId }) => programId);
  const [program = null, ...others] = new Set(called.filter((id) => !isIncidentalProgram(id)));
  for (const [userAccount, { mint, amount, decimals }] of rest)
    if (amount > 0n && mint === WRAPPED_SOL && program !== null && others.length === 0)
      direct.push(actionOf('direct', userAccount, { got: [solAmount(amount)], program, role: 'program' }));
    else unaccounted.push({ userAccount, mint, amount: `${amount}`, decimals });
  return { direct, unaccounted };
}

/** Returns the function that finds the wallet of an account: the owner of a token account, any other account itself. */
function accountOwners(
  { preTokenBalances, postTokenBalances }: Transaction,
  calls: readonly Instruction[],
): (account: string) => string {
  const owners = new Map<string, string>();
  const add = (account: unknown, owner: unknown): void => {
    if (typeof account === 'string' && typeof owner === 'string' && !owners.has(account)) owners.set(account, owner);
  };
  for (const { account, owner } of [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])]) add(account, owner);
  for (const { program, parsed } of calls)
    if (program === 'spl-associated-token-account') add(parsed?.info['account'], parsed?.info['wallet']);
    else if (program === 'spl-token' && parsed?.type.startsWith('initializeAccount'))
      add(parsed.info['account'], parsed.info['owner']);
  return (account) => owners.get(account) ?? account;
}

/** Adds what changed for wallets: lamports with those of their token accounts, and tokens by the owner before and after. */
function addNetChanges(
  sums: WalletSums,
  { accounts, preBalances, postBalances, preTokenBalances, postTokenBalances }: Transaction,
  ownerOf: (account: string) => string,
  subjects: ReadonlySet<string>,
): void {
  for (const [place, { address }] of accounts.entries()) {
    const [wallet, before, after] = [ownerOf(address), preBalances[place], postBalances[place]];
    if (before !== undefined && after !== undefined && before !== after && subjects.has(wallet))
      sums.add(wallet, solAmount(after - before));
  }
  if (preTokenBalances === null || postTokenBalances === null) return;
  for (const [balances, sign] of [
    [preTokenBalances, -1n],
    [postTokenBalances, 1n],
  ] as const)
    for (const { account, owner, mint, amount, decimals } of balances)
      if (mint !== WRAPPED_SOL && subjects.has(owner ?? account))
        sums.add(owner ?? account, { mint, decimals, amount: sign * amount });
}

const KIND_BY_TRANSFER: Readonly<Partial<Record<Transfer['type'], ActionKind>>> = {
  transfer: 'transfer',
  mint: 'mint',
  burn: 'burn',
  unwrap: 'close',
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
  ownerOf: (account: string) => string,
): readonly Movement[] {
  const callOf = callersByPlace(instructions);
  const made = accountsMade(instructions);
  return transfers.flatMap((transfer): Movement[] => {
    const { type, asset, mint, amount, decimals, feeAmount, instructionIdx, innerInstructionIdx } = transfer;
    const { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = transfer;
    const kind = KIND_BY_TRANSFER[type];
    const isSol = asset === 'SOL' || mint === WRAPPED_SOL;
    if (kind === undefined || amount === 0n || (isSol && kind === 'changeOwner')) return [];
    const walletOf = (account: string | null): string | null => (account === null ? null : ownerOf(account));
    const from = isSol ? walletOf(fromTokenAccount ?? fromUserAccount) : (fromUserAccount ?? fromTokenAccount);
    const to = isSol ? walletOf(toTokenAccount ?? toUserAccount) : (toUserAccount ?? toTokenAccount);
    const { call, callers } = callOf(instructionIdx, innerInstructionIdx);
    const authority = authorityOf(call, fromTokenAccount ?? fromUserAccount);
    const isTip = isSol && kind === 'transfer' && isTipAccount(to ?? '');
    const isRent =
      asset === 'SOL' && kind === 'transfer' && innerInstructionIdx !== null && made.has(toUserAccount ?? '');
    return from === to
      ? []
      : [
          {
            kind: isTip ? 'tip' : isRent ? 'rent' : kind,
            from,
            to,
            mint: mint ?? WRAPPED_SOL,
            amount,
            withheld: feeAmount ?? 0n,
            decimals,
            authority,
            callers,
            instruction: [instructionIdx, innerInstructionIdx],
          },
        ];
  });
}

/** Returns the accounts that were made in steps: the lamports that they get from a program are a deposit, too. */
const accountsMade = (instructions: readonly Instruction[]): ReadonlySet<unknown> =>
  new Set(
    inExecutionOrder(instructions).flatMap(({ program, parsed }) => {
      if (program === 'system' && parsed?.type.startsWith('allocate')) return [parsed.info['account']];
      const isTable = program === 'address-lookup-table' && /^(create|extend)/.test(parsed?.type ?? '');
      return isTable ? [parsed?.info['lookupTableAccount']] : [];
    }),
  );

/** Returns who signed an instruction that moves what an account has; null if it doesn't say. */
function authorityOf(call: Instruction | undefined, account: string | null): string | null {
  const info = call?.parsed?.info ?? {};
  const named = ['authority', 'multisigAuthority', 'owner', 'multisigOwner', 'withdrawAuthority', 'nonceAuthority'];
  const found = named.map((name) => info[name]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : call?.program === 'system' ? account : null;
}

const isDelegated = ({ kind, from, authority }: Movement): boolean =>
  (kind === 'transfer' || kind === 'burn') && from !== null && authority !== null && authority !== from;

/** Returns the function that finds an instruction, and the programs' calls in which it was made. */
function callersByPlace(instructions: readonly Instruction[]) {
  const found = new Map<string, { readonly call: Instruction; readonly callers: readonly Instruction[] }>();
  for (const topLevel of instructions) {
    found.set(`${topLevel.index}.null`, { call: topLevel, callers: [] });
    const outermost = isCore(topLevel) ? [] : [topLevel];
    let callers: readonly Instruction[] = outermost;
    let latest: Instruction | undefined;
    for (const call of topLevel.inner) {
      const { stackHeight } = call;
      if (stackHeight === null)
        callers = latest !== undefined && isWithin(call, latest) ? [...outermost, latest] : outermost;
      else if ((callers.at(-1)?.stackHeight ?? 0) >= stackHeight)
        callers = callers.filter((caller) => (caller.stackHeight ?? 0) < stackHeight);
      if (call.parsed !== null) found.set(`${call.index}.${call.innerIndex}`, { call, callers });
      if (isCore(call)) continue;
      callers = [...callers, call];
      latest = call;
    }
  }
  const none = { call: undefined, callers: [] };
  return (index: number, innerIndex: number | null) => found.get(`${index}.${innerIndex}`) ?? none;
}

const isCore = ({ programId }: Instruction): boolean => programRole(programId) === 'core';

/** Returns whether a call was passed all that another one names: where a record has no depth, it may have made that one. */
function isWithin({ accounts, parsed }: Instruction, caller: Instruction): boolean {
  const { source, destination } = parsed?.info ?? {};
  const named = accounts.length > 0 ? accounts.slice(0, 2) : [source, destination];
  return named.every((account) => typeof account === 'string' && caller.accounts.includes(account));
}

/** Finds what calls of exchanges moved for a wallet, both ways. */
function findTrades(wallet: string, movements: readonly Movement[], open: WalletSums): readonly Trade[] {
  const byVenue = new Map<Instruction, Movement[]>();
  for (const movement of movements) {
    const venue = movement.callers.find(({ programId }) => isTradingProgram(programId));
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

function tradeAction({ wallet, venue, given, got }: Trade): Action {
  const { programId, index, innerIndex } = venue;
  return actionOf('swap', wallet, { given, got, program: programId, instruction: [index, innerIndex] });
}

function movementAction(movement: Movement, signers: ReadonlySet<string>): Action {
  const { kind, from, to, withheld, authority, callers, instruction } = movement;
  const actor = from ?? to ?? '';
  const isSigned = authority === null || authority === from ? signers.has(actor) : false;
  return actionOf(kind, actor, {
    counterparty: from === null ? null : to,
    given: from === null ? [] : [movement],
    got: from === null ? [{ ...movement, amount: movement.amount - withheld }] : [],
    withheld: withheld === 0n || from === null ? null : `${withheld}`,
    program: callers[0]?.programId ?? null,
    instruction,
    role: isSigned ? 'owner' : isDelegated(movement) ? 'delegate' : 'program',
    authority: isSigned || !isDelegated(movement) ? null : authority,
  });
}

type ActionParts = Partial<Omit<Action, 'kind' | 'actor' | 'given' | 'got'>> & {
  readonly given?: readonly AssetAmount[];
  readonly got?: readonly AssetAmount[];
};

function actionOf(kind: ActionKind, actor: string, { given = [], got = [], ...parts }: ActionParts): Action {
  const toText = ({ mint, amount, decimals }: AssetAmount): ActionAmount => ({ mint, amount: `${amount}`, decimals });
  return {
    kind,
    actor,
    counterparty: null,
    given: given.map(toText),
    got: got.map(toText),
    withheld: null,
    program: null,
    instruction: null,
    role: 'owner',
    authority: null,
    ...parts,
  };
}
