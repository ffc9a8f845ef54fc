import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { Instruction } from '../transactions/instruction.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { mintDecimals, type TokenAccount, tokenAccounts } from './token-accounts.ts';
import type { Transfer, TransferType } from './transfer.ts';
import { wrappedRent } from './wrapped-rent.ts';

/** Tokens on their way: who sends nothing, mints; who receives nothing, burns. `mint` null: that of the accounts. */
interface Quantity {
  readonly from: string | null;
  readonly to: string | null;
  readonly mint: string | null;
  readonly amount: bigint;
  /** What the instruction itself says is kept back. */
  readonly fee?: bigint | null;
}

type Draft = { -readonly [Name in keyof Transfer]: Transfer[Name] };

/**
 * Follows the balances of one transaction, instruction by instruction, and writes down what moves. Some amounts stand
 * in no instruction (what is wrapped, what a transfer fee keeps back): they follow from the balances.
 */
export class TransferBook {
  readonly #drafts: Draft[] = [];
  readonly #lamports: Map<string, bigint>;
  readonly #tokens: Map<string, TokenAccount>;
  readonly #later: ReadonlyMap<string, TokenAccount>;
  readonly #decimals: ReadonlyMap<string, number>;
  /** Accounts that the associated-token program is about to open: what they are paid is rent. */
  readonly #opening = new Set<string>();
  readonly #rent: (account: string) => bigint;
  readonly #balancesAfterKnown: boolean;

  constructor(transaction: Transaction) {
    const { accounts, preBalances, preTokenBalances, postTokenBalances } = transaction;
    this.#rent = wrappedRent(transaction);
    this.#balancesAfterKnown = postTokenBalances !== null;
    this.#lamports = new Map(accounts.map(({ address }, place) => [address, preBalances[place] ?? 0n]));
    this.#tokens = tokenAccounts(preTokenBalances);
    this.#later = tokenAccounts(postTokenBalances);
    this.#decimals = mintDecimals(transaction);
  }

  /** SOL moves between two accounts, by any program that says so. */
  sol(call: Instruction, from: string, to: string, amount: bigint, type: TransferType = 'transfer'): void {
    const rent = this.#opening.has(to) && call.innerIndex !== null;
    if (type === 'createAccount') this.#lamports.set(to, 0n); // nothing is created where there is something
    this.#move(from, to, amount);
    this.#write(call, { type: rent ? 'createAccount' : type, amount, fromUserAccount: from, toUserAccount: to });
  }

  /** The associated-token program is asked for an account; where there is one already, nothing comes of it. */
  expect(account: string): void {
    if (!this.#tokens.has(account)) this.#opening.add(account);
  }

  /** A token account comes to be. What its lamports are above the rent is wrapped at once. */
  open(call: Instruction, account: string, opened: TokenAccount): void {
    this.#opening.delete(account);
    this.#tokens.set(account, opened);
    if (opened.mint === WRAPPED_SOL) this.wrap(call, account);
  }

  /** The lamports of a wrapped-SOL account are counted as tokens. */
  wrap(call: Instruction, account: string): void {
    const held = this.#token(account);
    const amount = this.lamports(account) - this.#rent(account) - (held?.amount ?? 0n);
    this.#credit(account, amount);
    const owner = held?.owner ?? null;
    this.#write(call, {
      ...this.#tokenPart(call, WRAPPED_SOL),
      type: 'wrap',
      amount: amount < 0n ? 0n : amount,
      fromUserAccount: owner,
      toUserAccount: owner,
      toTokenAccount: account,
    });
  }

  /** Tokens move, come to be (`from` null) or vanish (`to` null). */
  tokens(call: Instruction, type: TransferType, { from, to, mint, amount, fee = null }: Quantity): void {
    const sender = this.#token(from);
    const receiver = this.#token(to);
    if (from !== null) this.#credit(from, -amount);
    if (to !== null) this.#credit(to, amount - (fee ?? 0n));
    const native = (sender ?? receiver)?.mint === WRAPPED_SOL;
    if (native && from !== null && to !== null) this.#move(from, to, amount);
    this.#write(call, {
      ...this.#tokenPart(call, mint ?? sender?.mint ?? receiver?.mint ?? null),
      type,
      amount,
      feeAmount: fee,
      fromUserAccount: sender?.owner ?? null,
      toUserAccount: receiver?.owner ?? null,
      fromTokenAccount: from,
      toTokenAccount: to,
    });
  }

  /** A token account goes to another owner with all that is in it. */
  changeOwner(call: Instruction, account: string, owner: string | null): void {
    const held = this.#token(account);
    this.#write(call, {
      ...this.#tokenPart(call, held?.mint ?? null),
      type: 'changeOwner',
      amount: held?.amount ?? 0n,
      fromUserAccount: held?.owner ?? null,
      toUserAccount: owner,
      fromTokenAccount: account,
      toTokenAccount: account,
    });
    if (held !== undefined) this.#tokens.set(account, { ...held, owner });
  }

  /** A token account ends: wrapped SOL is paid out, then the rent. */
  close(call: Instruction, account: string, to: string): void {
    const held = this.#token(account);
    const lamports = this.lamports(account);
    const wrapped = held?.mint === WRAPPED_SOL ? held.amount : 0n;
    if (wrapped > 0n) {
      this.#write(call, {
        ...this.#tokenPart(call, WRAPPED_SOL),
        type: 'unwrap',
        amount: wrapped,
        fromUserAccount: held?.owner ?? null,
        toUserAccount: to,
        fromTokenAccount: account,
      });
    }
    this.#tokens.delete(account);
    this.#move(account, to, lamports);
    const amount = lamports - wrapped;
    this.#write(call, {
      type: 'closeAccount',
      amount,
      fromUserAccount: account,
      fromTokenAccount: account,
      toUserAccount: to,
    });
  }

  /** All lamports of an account at this moment. */
  lamports(account: string): bigint {
    return this.#lamports.get(account) ?? 0n;
  }

  /**
   * What moved, in order of execution, with the amounts that only the balances after tell. A fee that an account pays
   * out to itself shows in no balance: no row is made of it.
   */
  settled(): Transfer[] {
    if (this.#balancesAfterKnown) this.#settle();
    return this.#drafts.filter(
      ({ type, amount }) => amount > 0n || !(type === 'wrap' || type === 'withdrawWithheldFee'),
    );
  }

  /** The balances after have the last word on what is wrapped, kept back as a fee, or paid out of such fees. */
  #settle(): void {
    for (const account of new Set([...this.#tokens.keys(), ...this.#later.keys()])) {
      const missing = (this.#later.get(account)?.amount ?? 0n) - (this.#tokens.get(account)?.amount ?? 0n);
      const into = this.#drafts.filter(
        ({ toTokenAccount, type }) => toTokenAccount === account && type !== 'changeOwner',
      );
      if (missing === 0n) continue;
      const paid =
        into.find(({ type }) => type === 'withdrawWithheldFee') ?? into.findLast(({ type }) => type === 'wrap');
      if (paid !== undefined && paid.amount + missing >= 0n) paid.amount += missing;
      else if (missing < 0n)
        keepBack(
          into.filter((draft) => draft.type === 'transfer' && draft.feeAmount === null),
          -missing,
        );
    }
  }

  #token(account: string | null): TokenAccount | undefined {
    if (account === null) return undefined;
    const later = this.#later.get(account);
    return this.#tokens.get(account) ?? (later && { ...later, amount: 0n });
  }

  #credit(account: string, amount: bigint): void {
    const held = this.#token(account);
    if (held !== undefined) this.#tokens.set(account, { ...held, amount: held.amount + amount });
  }

  #move(from: string, to: string, lamports: bigint): void {
    this.#lamports.set(from, this.lamports(from) - lamports);
    this.#lamports.set(to, this.lamports(to) + lamports);
  }

  #tokenPart({ programId }: Instruction, mint: string | null): Partial<Draft> {
    return { asset: 'token', mint, programId, decimals: this.#decimals.get(mint ?? '') ?? 0 };
  }

  #write({ index, innerIndex }: Instruction, part: Pick<Draft, 'type' | 'amount'> & Partial<Draft>): void {
    this.#drafts.push({
      asset: 'SOL',
      fromUserAccount: null,
      toUserAccount: null,
      fromTokenAccount: null,
      toTokenAccount: null,
      mint: null,
      programId: null,
      decimals: 9,
      feeAmount: null,
      instructionIdx: index,
      innerInstructionIdx: innerIndex,
      ...part,
    });
  }
}

/** Shares a fee out among the transfers that it was kept back of: the program takes the same part of each, rounded up. */
function keepBack(transfers: readonly Draft[], fee: bigint): void {
  let left = fee;
  let sent = transfers.reduce((sum, { amount }) => sum + amount, 0n);
  if (left > sent) return; // it went another way: no transfer keeps back more than was sent
  for (const transfer of transfers) {
    const part = sent === 0n ? 0n : (left * transfer.amount + sent - 1n) / sent;
    transfer.feeAmount = part;
    left -= part;
    sent -= transfer.amount;
  }
}
