import { isWrappedSol } from '../../shared/domain/known-mints.ts';
import { asBigInt, asDecimals, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import { type AccountKey, accountAddressAt } from './account-keys.ts';
import { type Instruction, inExecutionOrder } from './instruction.ts';

/** A token account before or after a transaction. */
export interface TokenBalance {
  /** The token account. */
  readonly account: string;
  readonly mint: string;
  /** The owner. In records from before nodes wrote owners it follows from the instructions, or is null. */
  readonly owner: string | null;
  /** Null in those records. */
  readonly programId: string | null;
  readonly amount: bigint;
  readonly decimals: number;
}

/** A balance as it stands in a record, which may lack its scale. */
type RecordedBalance = Omit<TokenBalance, 'decimals'> & { readonly decimals: number | null };

/** Reads the token balances of a record, of each account the last; null if it has none. */
export function readTokenBalances(accounts: readonly AccountKey[], balances: unknown): RecordedBalance[] | null {
  if (!Array.isArray(balances)) return null;
  const read = balances.flatMap((balance) => readTokenBalance(accounts, asObject(balance)));
  return [...new Map(read.map((balance) => [balance.account, balance])).values()];
}

/** Token accounts of a record; null where it has none. */
export interface TokenBalances {
  readonly before: TokenBalance[] | null;
  readonly after: TokenBalance[] | null;
}

/**
 * Adds the balances that a record which was cut lacks of accounts: by what calls moved, or of wrapped SOL by the lamports that
 * the account gained, if the record has them. Accounts of which that can't be are left out; those of wrapped SOL stay.
 */
export function completeBalances(
  { before, after }: TokenBalances,
  instructions: readonly Instruction[],
  lamportsGained: () => ReadonlyMap<string, bigint>,
): TokenBalances {
  if (before === null || after === null) return { before, after };
  const calls = inExecutionOrder(instructions).filter(({ program }) => program === 'spl-token');
  const { opened, closed, passed } = accountsMade(calls, [...before, ...after]);
  const had = new Map([...opened, ...before.map((balance) => [balance.account, balance] as const)]);
  const listed = (list: readonly TokenBalance[]) => new Set(list.map(({ account }) => account));
  const [listedBefore, listedAfter] = [listed(before), listed(after)];
  const lackedAfter = [...had.values()].filter(({ account }) => !closed.has(account) && !listedAfter.has(account));
  const lackedBefore = after.filter(({ account }) => !opened.has(account) && !listedBefore.has(account));
  if (lackedAfter.length + lackedBefore.length === 0) return { before, after };
  const [moved, gained] = [movedBy(calls), lamportsGained()];
  const made = (lacked: readonly TokenBalance[], sign: 1n | -1n): TokenBalance[] =>
    lacked.flatMap((balance) => {
      const { account, mint } = balance;
      const isSol = isWrappedSol(mint);
      const change = isSol ? gained.get(account) : (moved.get(account) ?? 0n);
      if (change === undefined || (isSol && opened.has(account))) return [];
      const amount = balance.amount + sign * change;
      const owner = passed.has(account) ? null : balance.owner;
      return isSol && amount < 0n ? [] : [{ ...balance, owner, amount }];
    });
  const [addedAfter, addedBefore] = [made(lackedAfter, 1n), made(lackedBefore, -1n)];
  const added = [...addedAfter, ...addedBefore];
  const wrong = new Set(added.filter(({ amount }) => amount < 0n).map(({ account }) => account));
  const isRight = ({ account }: TokenBalance): boolean => !wrong.has(account);
  return { before: [...before, ...addedBefore].filter(isRight), after: [...after, ...addedAfter].filter(isRight) };
}

/** Finds the token accounts that calls opened, of mints with a known scale, those that are closed in the end or change owners. */
function accountsMade(calls: readonly Instruction[], known: readonly TokenBalance[]) {
  const [opened, closed, passed] = [new Map<string, TokenBalance>(), new Set<unknown>(), new Set<unknown>()];
  for (const { parsed } of calls) {
    const { account, mint, owner, authorityType } = parsed?.info ?? {};
    if (parsed?.type === 'closeAccount') closed.add(account);
    if (authorityType === 'accountOwner') passed.add(account);
    if (parsed?.type.startsWith('initializeAccount') !== true || typeof account !== 'string') continue;
    closed.delete(account);
    const alike = known.find((balance) => balance.mint === mint);
    if (alike !== undefined) opened.set(account, { ...alike, account, owner: asString(owner), amount: 0n });
  }
  return { opened, closed, passed };
}

/** Sums what calls put into token accounts or took out of them. */
function movedBy(calls: readonly Instruction[]): ReadonlyMap<unknown, bigint> {
  const sums = new Map<unknown, bigint>();
  for (const { parsed } of calls) {
    const [, verb] = /^(transfer|mint|burn)(?:To)?(?:Checked(?:WithFee)?)?$/.exec(parsed?.type ?? '') ?? [];
    if (parsed === null || verb === undefined) continue;
    const { source, destination, account, amount, tokenAmount, feeAmount } = parsed.info;
    const sent = asBigInt(amount ?? asObject(tokenAmount)['amount']) ?? 0n;
    const withheld = asBigInt(asObject(feeAmount)['amount']) ?? 0n;
    const [from, to] = [
      source ?? (verb === 'burn' ? account : null),
      destination ?? (verb === 'mint' ? account : null),
    ];
    sums.set(from, (sums.get(from) ?? 0n) - sent);
    sums.set(to, (sums.get(to) ?? 0n) + sent - withheld);
  }
  return sums;
}

/**
 * Gives all balances of a mint the same decimals, which some may lack, but for a mint that the transaction makes: one that was
 * closed may have had others. A list with a balance whose decimals no record has counts as missing.
 */
export function withOneScale(
  before: readonly RecordedBalance[] | null,
  after: readonly RecordedBalance[] | null,
  instructions: readonly Instruction[],
): TokenBalances {
  const all = [...(before ?? []), ...(after ?? [])];
  const known = new Map<string, number>();
  for (const { mint, decimals } of all) if (decimals !== null) known.set(mint, known.get(mint) || decimals);
  if (all.every(({ mint, decimals }) => known.get(mint) === decimals)) return { before, after } as TokenBalances; // so each has some
  const made = new Set(
    inExecutionOrder(instructions).map(({ parsed }) =>
      /^initializeMint2?$/.test(parsed?.type ?? '') ? parsed?.info['mint'] : null,
    ),
  );
  const scaled = (balances: readonly RecordedBalance[] | null): TokenBalance[] | null => {
    const found = (balances ?? []).flatMap((balance) => {
      const decimals = made.has(balance.mint) ? balance.decimals : (known.get(balance.mint) ?? null);
      return decimals === null ? [] : [{ ...balance, decimals }];
    });
    return found.length === balances?.length ? found : null;
  };
  return { before: scaled(before), after: scaled(after) };
}

function readTokenBalance(
  accounts: readonly AccountKey[],
  { accountIndex, mint, owner, programId, uiTokenAmount }: JsonObject,
): RecordedBalance[] {
  const account = accountAddressAt(accounts, accountIndex);
  const { amount, decimals } = asObject(uiTokenAmount);
  const rawAmount = asBigInt(amount);
  if (account === null || typeof mint !== 'string' || rawAmount === null) return [];
  const scale = asDecimals(decimals);
  return [
    { account, mint, owner: asString(owner), programId: asString(programId), amount: rawAmount, decimals: scale },
  ];
}
