import { isWrappedSol, WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import type { Instruction } from '../records/instruction.ts';
import type { Transaction } from '../records/transaction.ts';
import {
  collectMintDecimals,
  type TokenAccountBalance,
  tokenAccountBalances,
  walletsBefore,
} from './token-account-balances.ts';
import type { Transfer, TransferType } from './transfer.ts';
import { rentOf, wrappedSolRent } from './wrapped-sol-rent.ts';

/** Tokens to move: without a sender they are minted, without a receiver burned. `mint` null: the accounts' mint. */
interface TokenMovement {
  readonly from: string | null;
  readonly to: string | null;
  readonly mint: string | null;
  readonly amount: bigint;
  /** Transfer fee that the instruction names. */
  readonly fee?: bigint | null;
}

/** The balances at one point of a transaction. */
export interface CurrentBalances {
  readonly lamportsOf: (account: string) => bigint;
  /** Returns a token account; undefined if it is none, or if no record has it. */
  readonly tokenAccountOf: (account: string | null) => TokenAccountBalance | undefined;
  readonly decimalsOf: (mint: string) => number | null;
  /** Returns whether an account signed as a wallet, which no token account has been made of. */
  readonly isWallet: (account: string) => boolean;
}

/** The most lamports that an account of the token program is taken to have as its rent. */
const MOST_RENT = rentOf(10_240n);

type MutableTransfer = { -readonly [Name in keyof Transfer]: Transfer[Name] };

/**
 * Follows the balances of one transaction, instruction by instruction, and records its transfers. Some amounts are in
 * no instruction (wrapped SOL, withheld transfer fees): they follow from the balances.
 */
export class TransferLedger implements CurrentBalances {
  readonly #transfers: MutableTransfer[] = [];
  /** Withdrawals of what accounts had above their rent. */
  readonly #excesses: MutableTransfer[] = [];
  readonly #lamports: Map<string, bigint>;
  readonly #wallets: Set<string>;
  readonly #tokenAccounts: Map<string, TokenAccountBalance>;
  readonly #tokenAccountsAfter: ReadonlyMap<string, TokenAccountBalance>;
  readonly #decimalsByMint: Map<string, number>;
  /** Accounts that the associated-token program is about to create: payments to them are rent. */
  readonly #expectedAccounts = new Set<string>();
  readonly #lamportsAfter: ReadonlyMap<string, bigint>;
  readonly #rentOf: (account: string) => bigint;
  readonly #hasPostTokenBalances: boolean;

  constructor(transaction: Transaction) {
    const { feePayer, accounts, preBalances, postBalances, preTokenBalances, postTokenBalances } = transaction;
    this.#rentOf = wrappedSolRent(transaction);
    this.#hasPostTokenBalances = postTokenBalances !== null;
    this.#lamports = new Map(accounts.map(({ address }, index) => [address, preBalances[index] ?? 0n]));
    this.#moveLamports(feePayer, '', transaction.fee ?? 0n);
    this.#wallets = new Set(walletsBefore(transaction));
    this.#lamportsAfter = new Map(postBalances.map((lamports, index) => [accounts[index]?.address ?? '', lamports]));
    this.#tokenAccounts = tokenAccountBalances(preTokenBalances);
    this.#tokenAccountsAfter = tokenAccountBalances(postTokenBalances);
    this.#decimalsByMint = collectMintDecimals(transaction);
  }

  /** Records a transfer of SOL by any program. */
  moveSol(call: Instruction, from: string, to: string, amount: bigint, type: TransferType = 'transfer'): void {
    const isRent = this.#expectedAccounts.has(to) && call.innerIndex !== null;
    // an account can only be created if it is empty, with one exception
    if (type === 'createAccount' && call.parsed?.type !== 'createAccountAllowPrefund') this.#lamports.set(to, 0n);
    this.#moveLamports(from, to, amount);
    this.#record(call, { type: isRent ? 'createAccount' : type, amount, fromUserAccount: from, toUserAccount: to });
  }

  /** Expects an account of the associated-token program; without effect if the account exists. */
  expectAccount(account: string): void {
    if (!this.#tokenAccounts.has(account)) this.#expectedAccounts.add(account);
  }

  /** Opens a token account. For wrapped SOL, lamports above the rent are wrapped immediately. */
  openAccount(call: Instruction, account: string, balance: TokenAccountBalance): void {
    if (this.#wallets.delete(account))
      this.#record(call, {
        type: 'changeOwner',
        amount: this.lamportsOf(account),
        fromUserAccount: account,
        toUserAccount: balance.owner,
        fromTokenAccount: account,
        toTokenAccount: account,
      });
    this.#expectedAccounts.delete(account);
    this.#tokenAccounts.set(account, balance);
    if (isWrappedSol(balance.mint)) this.wrapSol(call, account);
  }

  /** Notes the decimals of a mint that is made. One that was closed may have had others. */
  makeMint(mint: string, decimals: number): void {
    this.#decimalsByMint.set(mint, decimals);
  }

  /** Records the wrapping of an account's lamports as tokens. */
  wrapSol(call: Instruction, account: string): void {
    const tokenAccount = this.tokenAccountOf(account);
    const amount = this.lamportsOf(account) - this.#rentOf(account) - (tokenAccount?.amount ?? 0n);
    this.#creditTokens(account, amount);
    const owner = tokenAccount?.owner ?? null;
    this.#record(call, {
      ...this.#tokenFields(tokenAccount?.mint ?? WRAPPED_SOL),
      type: 'wrap',
      amount: amount < 0n ? 0n : amount,
      fromUserAccount: owner,
      toUserAccount: owner,
      toTokenAccount: account,
    });
  }

  /** Records a transfer of tokens, a mint (`from` null) or a burn (`to` null). */
  moveTokens(call: Instruction, type: TransferType, { from, to, mint, amount, fee = null }: TokenMovement): void {
    const sender = this.tokenAccountOf(from);
    const receiver = this.tokenAccountOf(to);
    if (from !== null) this.#creditTokens(from, -amount);
    if (to !== null) this.#creditTokens(to, amount - (fee ?? 0n));
    if (isWrappedSol((sender ?? receiver)?.mint) && from !== null && to !== null) this.#moveLamports(from, to, amount);
    this.#record(call, {
      ...this.#tokenFields(mint ?? sender?.mint ?? receiver?.mint ?? null),
      type,
      amount,
      feeAmount: fee,
      fromUserAccount: sender?.owner ?? null,
      toUserAccount: receiver?.owner ?? null,
      fromTokenAccount: from,
      toTokenAccount: to,
    });
  }

  /** Records that a token account changes its owner, with all tokens in it. */
  changeOwner(call: Instruction, account: string, owner: string | null): void {
    const tokenAccount = this.tokenAccountOf(account);
    const unwrapped = this.lamportsOf(account) - (isWrappedSol(tokenAccount?.mint) ? (tokenAccount?.amount ?? 0n) : 0n);
    const rest = unwrapped - this.#rentOf(account);
    this.#record(call, {
      ...this.#tokenFields(tokenAccount?.mint ?? null),
      lamports: rest > 0n ? { deposit: unwrapped - rest, rest } : { deposit: unwrapped, rest: 0n },
      type: 'changeOwner',
      amount: tokenAccount?.amount ?? 0n,
      fromUserAccount: tokenAccount?.owner ?? null,
      toUserAccount: owner,
      fromTokenAccount: account,
      toTokenAccount: account,
    });
    if (tokenAccount !== undefined) this.#tokenAccounts.set(account, { ...tokenAccount, owner });
  }

  /** Records the payout of wrapped SOL from an account that stays; `amount` null: all of it. */
  unwrapSol(call: Instruction, account: string, to: string, amount: bigint | null): void {
    const unwrapped = amount ?? this.tokenAccountOf(account)?.amount ?? 0n;
    this.#recordUnwrap(call, account, to, unwrapped);
    this.#creditTokens(account, -unwrapped);
    this.#moveLamports(account, to, unwrapped);
  }

  /** Records the withdrawal of the lamports above an account's rent; what is left follows from the balances after. */
  withdrawExcess(call: Instruction, account: string, to: string): void {
    const after = this.#lamportsAfter.get(account) ?? this.lamportsOf(account);
    const isClosed = after === 0n && call.program === 'spl-token'; // which pays the rest out
    const excess = this.lamportsOf(account) - (isClosed ? this.#rentOf(account) : after);
    this.moveSol(call, account, to, excess > 0n ? excess : 0n); // what came back may be more
    this.#excesses.push(...this.#transfers.slice(-1));
  }

  /** Closes a token account: pays out wrapped SOL, then the rent. */
  closeAccount(call: Instruction, account: string, to: string): void {
    const tokenAccount = this.tokenAccountOf(account);
    const lamports = this.lamportsOf(account);
    const wrapped = isWrappedSol(tokenAccount?.mint) ? (tokenAccount?.amount ?? 0n) : 0n;
    if (wrapped > 0n) this.#recordUnwrap(call, account, to, wrapped);
    this.#tokenAccounts.delete(account);
    this.#moveLamports(account, to, lamports);
    const amount = lamports - wrapped;
    this.#record(call, {
      type: 'closeAccount',
      amount,
      fromUserAccount: account,
      fromTokenAccount: account,
      toUserAccount: to,
    });
  }

  isWallet(account: string): boolean {
    return this.#wallets.has(account);
  }

  /** Returns an account's current lamports. */
  lamportsOf(account: string): bigint {
    return this.#lamports.get(account) ?? 0n;
  }

  /**
   * Returns the transfers in execution order, with the amounts that only the balances after show. A fee that an account
   * pays to itself changes no balance and has no transfer.
   */
  finish(): Transfer[] {
    if (this.#hasPostTokenBalances) this.#reconcile();
    for (const excess of this.#excesses) this.#reconcileExcess(excess);
    const excesses = new Set(this.#excesses);
    return this.#transfers.filter(
      (transfer) =>
        transfer.amount > 0n ||
        !(excesses.has(transfer) || ['wrap', 'unwrap', 'withdrawWithheldFee'].includes(transfer.type)),
    );
  }

  /** Corrects wrapped amounts, withheld fees and withdrawals of such fees by the balances after. */
  #reconcile(): void {
    const incomingByAccount = new Map<string | null, MutableTransfer[]>();
    for (const transfer of this.#transfers) {
      const incoming = incomingByAccount.get(transfer.toTokenAccount) ?? [];
      if (transfer.type !== 'changeOwner') incoming.push(transfer);
      incomingByAccount.set(transfer.toTokenAccount, incoming);
    }
    for (const [account, { amount }] of this.#tokenAccountsAfter) {
      const difference = amount - (this.#tokenAccounts.get(account)?.amount ?? 0n);
      const incoming = incomingByAccount.get(account) ?? [];
      if (difference === 0n) continue;
      const adjustable =
        incoming.find(({ type }) => type === 'withdrawWithheldFee') ?? incoming.findLast(({ type }) => type === 'wrap');
      if (adjustable !== undefined && adjustable.amount + difference >= 0n) adjustable.amount += difference;
      else if (difference < 0n)
        withholdFee(
          incoming.filter((transfer) => transfer.type === 'transfer' && transfer.feeAmount === null),
          -difference,
        );
    }
  }

  /**
   * Corrects an excess by what its receiver has after, and who has the rest: the account, which got something later, or where
   * it was closed the receiver of its rent, since no record has the size of an account.
   */
  #reconcileExcess(excess: MutableTransfer): void {
    const { fromUserAccount: account, toUserAccount: to } = excess;
    const rest = this.#transfers.find(
      ({ type, fromUserAccount }) => type === 'closeAccount' && fromUserAccount === account,
    );
    const [payer, receiver] = [rest?.toUserAccount ?? account ?? '', to ?? ''];
    const missing = -this.#unexplainedOf(payer);
    const received = this.#unexplainedOf(receiver);
    // what is closed had the rent of some size: all else a program moved itself
    const rent = this.#rentOf(account ?? '') - missing;
    const isRent = received === missing && rent > 0n && rent <= MOST_RENT && excess.amount + missing > 0n;
    if (rest === undefined ? missing <= 0n || received < missing : !isRent) return;
    this.#moveLamports(payer, receiver, missing);
    excess.amount += missing;
    if (rest !== undefined) rest.amount -= missing;
  }

  #unexplainedOf(account: string): bigint {
    return (this.#lamportsAfter.get(account) ?? 0n) - this.lamportsOf(account);
  }

  #recordUnwrap(call: Instruction, account: string, to: string, amount: bigint): void {
    const tokenAccount = this.tokenAccountOf(account);
    this.#record(call, {
      ...this.#tokenFields(tokenAccount?.mint ?? WRAPPED_SOL),
      type: 'unwrap',
      amount,
      fromUserAccount: tokenAccount?.owner ?? null,
      toUserAccount: to,
      fromTokenAccount: account,
    });
  }

  decimalsOf(mint: string): number | null {
    return this.#decimalsByMint.get(mint) ?? null;
  }

  tokenAccountOf(account: string | null): TokenAccountBalance | undefined {
    if (account === null) return undefined;
    const after = this.#tokenAccountsAfter.get(account);
    return this.#tokenAccounts.get(account) ?? (after && { ...after, amount: 0n });
  }

  #creditTokens(account: string, amount: bigint): void {
    const tokenAccount = this.tokenAccountOf(account);
    if (tokenAccount !== undefined)
      this.#tokenAccounts.set(account, { ...tokenAccount, amount: tokenAccount.amount + amount });
  }

  #moveLamports(from: string, to: string, lamports: bigint): void {
    this.#lamports.set(from, this.lamportsOf(from) - lamports);
    this.#lamports.set(to, this.lamportsOf(to) + lamports);
  }

  #tokenFields(mint: string | null): Partial<MutableTransfer> {
    return { asset: 'token', mint, decimals: this.#decimalsByMint.get(mint ?? '') ?? 0 };
  }

  #record(call: Instruction, fields: Pick<MutableTransfer, 'type' | 'amount'> & Partial<MutableTransfer>): void {
    this.#transfers.push({
      asset: 'SOL',
      fromUserAccount: null,
      toUserAccount: null,
      fromTokenAccount: null,
      toTokenAccount: null,
      mint: null,
      decimals: 9,
      feeAmount: null,
      lamports: null,
      call,
      ...fields,
    });
  }
}

/** Allocates a withheld fee among transfers: the program withholds the same part of each, rounded up. */
function withholdFee(transfers: readonly MutableTransfer[], fee: bigint): void {
  let unallocated = fee;
  let unallocatedAmount = transfers.reduce((sum, { amount }) => sum + amount, 0n);
  if (unallocated > unallocatedAmount) return; // another cause: no transfer withholds more than was sent
  for (const transfer of transfers) {
    const share =
      unallocatedAmount === 0n ? 0n : (unallocated * transfer.amount + unallocatedAmount - 1n) / unallocatedAmount;
    transfer.feeAmount = share;
    unallocated -= share;
    unallocatedAmount -= transfer.amount;
  }
}
