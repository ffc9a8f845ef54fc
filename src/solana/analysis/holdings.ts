import { ASSOCIATED_TOKEN_PROGRAM, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from '../../domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { address, amount, everyInstruction, type Facts } from './facts.ts';

/** An amount of something, signed; `mint` is wrapped SOL's for SOL in either form. */
export interface Quantity {
  readonly mint: string;
  /** In the smallest unit. */
  readonly amount: bigint;
  readonly decimals: number;
}

/**
 * What one wallet gained or lost in all, its token accounts included: SOL and wrapped SOL are one thing, the fee is
 * no loss. Neither is what it put into accounts that it opened, nor what it paid or got by a plain transfer of SOL.
 */
export interface Holdings {
  readonly wallet: string;
  /** Lamports that changed hands inside programs. */
  readonly sol: bigint;
  readonly tokens: readonly Quantity[];
}

/** The owner of each token account, as far as the transaction tells it. */
export function tokenAccountOwners(facts: Facts): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  const learn = (account: string | null, owner: string | null): void => {
    if (account !== null && owner !== null && !owners.has(account)) owners.set(account, owner);
  };
  for (const { tokenBalanceChanges } of facts.accountData)
    for (const { tokenAccount, userAccount } of tokenBalanceChanges) learn(tokenAccount, userAccount);
  for (const transfer of facts.tokenTransfers) {
    learn(transfer.fromTokenAccount, transfer.fromUserAccount);
    learn(transfer.toTokenAccount, transfer.toUserAccount);
  }
  for (const instruction of everyInstruction(facts)) {
    if (instruction.programId === ASSOCIATED_TOKEN_PROGRAM)
      learn(address(instruction, 'account'), address(instruction, 'wallet'));
    else if (/^(initializeAccount|closeAccount)/.test(instruction.type ?? ''))
      learn(address(instruction, 'account'), address(instruction, 'owner'));
  }
  return owners;
}

/** Accounts that the transaction opened or made room in, so that what is paid into them is a deposit. */
export function openedAccounts(facts: Facts): ReadonlySet<string> {
  const opened = new Set<string>();
  for (const instruction of everyInstruction(facts)) {
    const account =
      instruction.programId === SYSTEM_PROGRAM && /^(createAccount|allocate)/.test(instruction.type ?? '')
        ? (address(instruction, 'newAccount') ?? address(instruction, 'account'))
        : instruction.programId === ASSOCIATED_TOKEN_PROGRAM && instruction.innerInstructions.length > 0
          ? address(instruction, 'account')
          : instruction.programId === LOOKUP_TABLE_PROGRAM
            ? address(instruction, 'lookupTableAccount')
            : null;
    if (account !== null) opened.add(account);
  }
  return opened;
}

/** The holdings of one wallet; `owners` and `opened` come from the two functions above. */
export function holdingsOf(
  wallet: string,
  facts: Facts,
  owners: ReadonlyMap<string, string>,
  opened: ReadonlySet<string>,
): Holdings {
  const own = (account: string | null): boolean =>
    account !== null && (account === wallet || owners.get(account) === wallet);
  const changes = new Map(
    facts.accountData.map(({ account, nativeBalanceChange }) => [account, BigInt(nativeBalanceChange)]),
  );
  let sol = wallet === facts.feePayer ? BigInt(facts.fee) : 0n;
  const tokens = new Map<string, Quantity>();
  for (const { account, nativeBalanceChange, tokenBalanceChanges } of facts.accountData) {
    if (own(account)) sol += BigInt(nativeBalanceChange);
    for (const { userAccount, mint, rawTokenAmount } of tokenBalanceChanges) {
      if (userAccount !== wallet || mint === WRAPPED_SOL) continue; // it is in the lamports of its account
      const before = tokens.get(mint)?.amount ?? 0n;
      tokens.set(mint, {
        mint,
        amount: before + BigInt(rawTokenAmount.tokenAmount),
        decimals: rawTokenAmount.decimals,
      });
    }
  }
  for (const { from, to, lamports, direct } of solMoves(facts)) {
    if (own(from) && !own(to))
      sol += direct ? lamports : opened.has(to) ? smaller(lamports, changes.get(to) ?? 0n) : 0n;
    if (own(to) && !own(from) && direct) sol -= lamports;
  }
  return { wallet, sol, tokens: [...tokens.values()].filter((token) => token.amount !== 0n) };
}

/** A deposit that was paid back within the transaction is none. */
const smaller = (a: bigint, b: bigint): bigint => (b < 0n ? 0n : a < b ? a : b);

interface SolMove {
  readonly from: string;
  readonly to: string;
  readonly lamports: bigint;
  /** Asked for by the transaction itself, not by a program. */
  readonly direct: boolean;
}

function solMoves(facts: Facts): readonly SolMove[] {
  const direct = new Set(facts.instructions);
  return everyInstruction(facts).flatMap((instruction) => {
    if (instruction.programId !== SYSTEM_PROGRAM) return [];
    const from = address(instruction, 'source');
    const to = address(instruction, 'newAccount') ?? address(instruction, 'destination');
    const lamports = amount(instruction, 'lamports');
    return from === null || to === null || lamports === null
      ? []
      : [{ from, to, lamports, direct: direct.has(instruction) }];
  });
}
