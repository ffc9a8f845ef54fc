import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
} from '../../shared/domain/well-known-addresses.ts';
import type { AssetAmount } from './asset-amount.ts';
import { allInstructions, infoAddress, infoAmount, type ParsedTransaction } from './parsed-transaction.ts';

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
          : instruction.programId === LOOKUP_TABLE_PROGRAM && /^(create|extend)/.test(instruction.type ?? '')
            ? infoAddress(instruction, 'lookupTableAccount')
            : null;
    if (account !== null) opened.add(account);
  }
  return opened;
}

/** The changes of a wallet while they are summed. */
interface WalletSums {
  sol: bigint;
  readonly tokens: Map<string, AssetAmount>;
}

/**
 * Sums the changes of all wallets in one pass over the transaction, so that its cost doesn't grow with the number of
 * wallets that are looked at. Returns the function that gives a wallet's changes.
 */
export function sumWalletChanges(parsed: ParsedTransaction): (wallet: string) => WalletChanges {
  const owners = findTokenAccountOwners(parsed);
  const opened = findOpenedAccounts(parsed);
  const sumsByWallet = new Map<string, WalletSums>();
  const sumsOf = (wallet: string): WalletSums => {
    const sums = sumsByWallet.get(wallet) ?? { sol: 0n, tokens: new Map() };
    sumsByWallet.set(wallet, sums);
    return sums;
  };
  /** Returns the wallets to which an account belongs: itself and its owner. */
  const walletsOf = (account: string): ReadonlySet<string> => new Set([account, owners.get(account) ?? account]);

  if (hasBalances(parsed)) sumsOf(parsed.feePayer).sol += BigInt(parsed.fee);
  const nativeChanges = new Map<string, bigint>();
  for (const { account, nativeBalanceChange, tokenBalanceChanges } of parsed.accountData) {
    const lamports = BigInt(nativeBalanceChange);
    nativeChanges.set(account, lamports);
    for (const wallet of walletsOf(account)) sumsOf(wallet).sol += lamports;
    for (const { userAccount, mint, rawTokenAmount } of tokenBalanceChanges) {
      if (mint === WRAPPED_SOL) continue; // already in the lamports of its account
      const { tokens } = sumsOf(userAccount);
      const amount = (tokens.get(mint)?.amount ?? 0n) + BigInt(rawTokenAmount.tokenAmount);
      tokens.set(mint, { mint, amount, decimals: rawTokenAmount.decimals });
    }
  }
  for (const { from, to, lamports, isTopLevel, isDeposit } of findSolTransfers(parsed, opened)) {
    const [senders, receivers] = [walletsOf(from), walletsOf(to)];
    const deposit = isDeposit ? remainingDeposit(lamports, nativeChanges.get(to) ?? 0n) : 0n;
    for (const wallet of senders) if (!receivers.has(wallet)) sumsOf(wallet).sol += isTopLevel ? lamports : deposit;
    for (const wallet of receivers) if (!senders.has(wallet) && isTopLevel) sumsOf(wallet).sol -= lamports;
  }
  return (wallet) => {
    const { sol, tokens } = sumsByWallet.get(wallet) ?? { sol: 0n, tokens: new Map<string, AssetAmount>() };
    return { wallet, sol, tokens: [...tokens.values()].filter(({ amount }) => amount !== 0n) };
  };
}

/** Returns whether balances were recorded: the fee alone changes one. */
export const hasBalances = ({ accountData }: Pick<ParsedTransaction, 'accountData'>): boolean =>
  accountData.some(({ nativeBalanceChange }) => nativeBalanceChange !== '0');

/** Returns the part of a deposit that remains: some of it may be paid back within the transaction. */
const remainingDeposit = (a: bigint, b: bigint): bigint => (b < 0n ? 0n : a < b ? a : b);

interface SolTransfer {
  readonly from: string;
  readonly to: string;
  readonly lamports: bigint;
  /** True if the transaction itself calls for it, false if a program does. */
  readonly isTopLevel: boolean;
  /** True for what opens an account; what it gets afterwards is a payment, as the price of a token that is launched. */
  readonly isDeposit: boolean;
}

function findSolTransfers(parsed: ParsedTransaction, opened: ReadonlySet<string>): readonly SolTransfer[] {
  const topLevel = new Set(parsed.instructions);
  const allocated = new Set<string>();
  return allInstructions(parsed).flatMap((instruction) => {
    if (instruction.programId !== SYSTEM_PROGRAM) return [];
    const opens = /^(createAccount|allocate)/.test(instruction.type ?? '');
    const from = infoAddress(instruction, 'source');
    const to = infoAddress(instruction, 'newAccount') ?? infoAddress(instruction, 'destination');
    const lamports = infoAmount(instruction, 'lamports');
    const isDeposit = to !== null && opened.has(to) && !allocated.has(to);
    const account = infoAddress(instruction, 'newAccount') ?? infoAddress(instruction, 'account');
    if (opens && account !== null) allocated.add(account);
    return from === null || to === null || lamports === null
      ? []
      : [{ from, to, lamports, isTopLevel: topLevel.has(instruction), isDeposit }];
  });
}
