import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { asBigInt, asString } from '../codec/json-fields.ts';
import type { Instruction } from '../records/instruction.ts';
import type { Transaction } from '../records/transaction.ts';
import { rentOf } from './wrapped-sol-rent.ts';

/** What a wallet loses with an account that is assigned to a program. */
interface Assignment {
  /** Whether the account is made for the program, with no more than its deposit. */
  readonly isMade: boolean;
  /** What the account has, or gets later; null if no record has it. */
  readonly lamports: bigint | null;
}

/** Finds which assignments of one transaction give a wallet to a program: others make an account for it. */
export class Assignments {
  readonly #transaction: Transaction;
  readonly #spaces = new Map<string, bigint>();

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  /** Notes the size that an instruction gives an account, which may be assigned later. */
  noteSpace({ program, parsed }: Instruction): void {
    const [account, bytes] = [asString(parsed?.info['account']), asBigInt(parsed?.info['space'])];
    if (program === 'system' && account !== null && bytes !== null) this.#spaces.set(account, bytes);
  }

  /** Returns what an assignment gives away; null if it is none of a wallet's account. `held`: its lamports, if known. */
  read(
    call: Instruction,
    account: string,
    { authority, to, held }: { authority: string | null; to: string | null; held: bigint | null },
  ): Assignment | null {
    const { accounts, preBalances, postBalances, feePayer } = this.#transaction;
    const place = accounts.findIndex(({ address }) => address === account);
    const before = preBalances[place] ?? 0n;
    const space = asBigInt(call.parsed?.info['space']) ?? this.#spaces.get(account);
    const isEmpty = held === 0n; // what it gets later is its program's, too
    const lamports = isEmpty ? (postBalances[place] ?? 0n) : held;
    const isSigned = accounts.some(({ address, signer }) => signer && address === authority);
    // a program signs for it, but not to make an account of its own of what somebody had sent there
    const isVault = call.innerIndex !== null && before > rentOf(space ?? 0n) && !this.#isOfCaller(call, to);
    if (lamports === 0n || !(isSigned || isVault) || to === SYSTEM_PROGRAM) return null;
    const deposit = space === undefined && !isEmpty ? null : rentOf(space ?? 0n);
    const isDeposit = deposit !== null && lamports !== null && lamports <= deposit && before <= rentOf(0n);
    return isEmpty && isDeposit ? null : { isMade: isDeposit && account !== feePayer, lamports };
  }

  /** Returns whether an account's new program is the one that made the call, or was called to make a token account. */
  #isOfCaller({ index, innerIndex, stackHeight }: Instruction, to: string | null): boolean {
    const topLevel = this.#transaction.instructions.find((other) => other.index === index);
    const earlier = topLevel?.inner.filter((other) => (other.innerIndex ?? 0) < (innerIndex ?? 0)) ?? [];
    const caller = earlier.findLast((other) => (other.stackHeight ?? 0) < (stackHeight ?? 0)) ?? topLevel;
    return caller?.programId === to || caller?.programId === ASSOCIATED_TOKEN_PROGRAM;
  }
}
