import { ASSOCIATED_TOKEN_PROGRAM, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from '../../domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { allInstructions, infoAddress, infoAmount, type ParsedTransaction } from './parsed-transaction.ts';

/** A signed amount of an asset; for SOL in either form `mint` is wrapped SOL's. */
export interface AssetAmount {
  readonly mint: string;
  /** In the smallest unit. */
  readonly amount: bigint;
  readonly decimals: number;
}

/**
 * The net gain or loss of a wallet with its token accounts. SOL and wrapped SOL are one asset. The fee, deposits in
 * accounts that the wallet opened, and plain transfers of SOL don't count.
 */
export interface WalletChanges {
  readonly wallet: string;
  /** Lamports gained or lost inside programs. */
  readonly sol: bigint;
  readonly tokens: readonly AssetAmount[];
}

/** Finds the owner of each token account, as far as the transaction names it. */
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

/** Finds the accounts that the transaction opened or extended, so that payments to them are deposits. */
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

/** Returns the changes of one wallet; `owners` and `opened` are the results of the two functions above. */
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
      if (userAccount !== wallet || mint === WRAPPED_SOL) continue; // already in the lamports of its account
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

/** Returns the part of a deposit that remains: some of it may be paid back within the transaction. */
const remainingDeposit = (a: bigint, b: bigint): bigint => (b < 0n ? 0n : a < b ? a : b);

interface SolTransfer {
  readonly from: string;
  readonly to: string;
  readonly lamports: bigint;
  /** True if the transaction itself calls for it, false if a program does. */
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
