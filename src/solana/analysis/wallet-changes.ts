import { ASSOCIATED_TOKEN_PROGRAM, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from '../../domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { allInstructions, infoAddress, infoAmount, type ParsedTransaction } from './parsed-transaction.ts';

/** An amount of something, signed; `mint` is wrapped SOL's for SOL in either form. */
export interface AssetAmount {
  readonly mint: string;
  /** In the smallest unit. */
  readonly amount: bigint;
  readonly decimals: number;
}

/**
 * What one wallet gained or lost in all, its token accounts included: SOL and wrapped SOL are one thing, the fee is
 * no loss. Neither is what it put into accounts that it opened, nor what it paid or got by a plain transfer of SOL.
 */
export interface WalletChanges {
  readonly wallet: string;
  /** Lamports that changed hands inside programs. */
  readonly sol: bigint;
  readonly tokens: readonly AssetAmount[];
}

/** The owner of each token account, as far as the transaction tells it. */
export function findTokenAccountOwners(parsed: ParsedTransaction): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  const addOwner = (account: string | null, owner: string | null): void => {
    if (account !== null && owner !== null && !owners.has(account)) owners.set(account, owner);
  };
  for (const { tokenBalanceChanges } of parsed.accountData)
    for (const { tokenAccount, userAccount } of tokenBalanceChanges) addOwner(tokenAccount, userAccount);
  for (const transfer of parsed.tokenTransfers) {
    addOwner(transfer.fromTokenAccount, transfer.fromUserAccount);
    addOwner(transfer.toTokenAccount, transfer.toUserAccount);
  }
  for (const instruction of allInstructions(parsed)) {
    if (instruction.programId === ASSOCIATED_TOKEN_PROGRAM)
      addOwner(infoAddress(instruction, 'account'), infoAddress(instruction, 'wallet'));
    else if (/^(initializeAccount|closeAccount)/.test(instruction.type ?? ''))
      addOwner(infoAddress(instruction, 'account'), infoAddress(instruction, 'owner'));
  }
  return owners;
}

/** Accounts that the transaction opened or made room in, so that what is paid into them is a deposit. */
export function findOpenedAccounts(parsed: ParsedTransaction): ReadonlySet<string> {
  const opened = new Set<string>();
  for (const instruction of allInstructions(parsed)) {
    const account =
      instruction.programId === SYSTEM_PROGRAM && /^(createAccount|allocate)/.test(instruction.type ?? '')
        ? (infoAddress(instruction, 'newAccount') ?? infoAddress(instruction, 'account'))
        : instruction.programId === ASSOCIATED_TOKEN_PROGRAM && instruction.innerInstructions.length > 0
          ? infoAddress(instruction, 'account')
          : instruction.programId === LOOKUP_TABLE_PROGRAM
            ? infoAddress(instruction, 'lookupTableAccount')
            : null;
    if (account !== null) opened.add(account);
  }
  return opened;
}

/** The holdings of one wallet; `owners` and `opened` come from the two functions above. */
export function walletChangesOf(
  wallet: string,
  parsed: ParsedTransaction,
  owners: ReadonlyMap<string, string>,
  opened: ReadonlySet<string>,
): WalletChanges {
  const isOwn = (account: string | null): boolean =>
    account !== null && (account === wallet || owners.get(account) === wallet);
  const changes = new Map(
    parsed.accountData.map(({ account, nativeBalanceChange }) => [account, BigInt(nativeBalanceChange)]),
  );
  let sol = wallet === parsed.feePayer ? BigInt(parsed.fee) : 0n;
  const tokens = new Map<string, AssetAmount>();
  for (const { account, nativeBalanceChange, tokenBalanceChanges } of parsed.accountData) {
    if (isOwn(account)) sol += BigInt(nativeBalanceChange);
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
  for (const { from, to, lamports, isTopLevel } of findSolTransfers(parsed)) {
    if (isOwn(from) && !isOwn(to))
      sol += isTopLevel ? lamports : opened.has(to) ? remainingDeposit(lamports, changes.get(to) ?? 0n) : 0n;
    if (isOwn(to) && !isOwn(from) && isTopLevel) sol -= lamports;
  }
  return { wallet, sol, tokens: [...tokens.values()].filter((token) => token.amount !== 0n) };
}

/** A deposit that was paid back within the transaction is none. */
const remainingDeposit = (a: bigint, b: bigint): bigint => (b < 0n ? 0n : a < b ? a : b);

interface SolTransfer {
  readonly from: string;
  readonly to: string;
  readonly lamports: bigint;
  /** Asked for by the transaction itself, not by a program. */
  readonly isTopLevel: boolean;
}

function findSolTransfers(parsed: ParsedTransaction): readonly SolTransfer[] {
  const topLevel = new Set(parsed.instructions);
  return allInstructions(parsed).flatMap((instruction) => {
    if (instruction.programId !== SYSTEM_PROGRAM) return [];
    const from = infoAddress(instruction, 'source');
    const to = infoAddress(instruction, 'newAccount') ?? infoAddress(instruction, 'destination');
    const lamports = infoAmount(instruction, 'lamports');
    return from === null || to === null || lamports === null
      ? []
      : [{ from, to, lamports, isTopLevel: topLevel.has(instruction) }];
  });
}
