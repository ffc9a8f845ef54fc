import { isWrappedSol, WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
} from '../../shared/domain/well-known-addresses.ts';
import { oncePer } from '../../shared/runtime/once-per.ts';
import { effectsOf } from './action.ts';
import { type AssetAmount, solAmount } from './asset-amount.ts';
import { grouped } from './grouped.ts';
import {
  allInstructions,
  callsOf,
  findCloseAccountInstructions,
  infoAddress,
  type ParsedTransaction,
} from './parsed-transaction.ts';
import { WalletSums } from './wallet-sums.ts';

/** Signed changes of a wallet with its token accounts. SOL and wrapped SOL are one asset. */
export interface WalletChanges {
  readonly wallet: string;
  readonly amounts: readonly AssetAmount[];
}

/** Finds the owner of each token account, as far as the transaction names it. */
export const findTokenAccountOwners = oncePer((parsed: ParsedTransaction): ReadonlyMap<string, string> => {
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
  for (const action of parsed.actions) {
    const [call] = action.given[0]?.mint === WRAPPED_SOL ? callsOf(action, parsed) : [];
    addOwner(infoAddress(call, 'source') ?? infoAddress(call, 'account'), action.actor);
    addOwner(infoAddress(call, 'destination'), action.counterparty);
  }
  for (const instruction of allInstructions(parsed)) {
    if (instruction.programId === ASSOCIATED_TOKEN_PROGRAM)
      addOwner(infoAddress(instruction, 'account'), infoAddress(instruction, 'wallet'));
    else if (/^(initializeAccount|closeAccount)/.test(instruction.type ?? ''))
      addOwner(infoAddress(instruction, 'account'), infoAddress(instruction, 'owner'));
  }
  return owners;
});

/** Finds the accounts that the transaction opened or extended, so that payments to them are deposits. */
export const findOpenedAccounts = oncePer((parsed: ParsedTransaction): ReadonlySet<string> => {
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
});

/**
 * Sums what changed for each account and for the owner of each token account: lamports with those of token accounts, and
 * tokens. What is zero is left out.
 */
export const walletChangesOf = oncePer((parsed: ParsedTransaction): ReadonlyMap<string, readonly AssetAmount[]> => {
  const owners = findTokenAccountOwners(parsed);
  const sums = new WalletSums();
  for (const { account, nativeBalanceChange, tokenBalanceChanges } of parsed.accountData) {
    const [owner, lamports] = [owners.get(account), solAmount(BigInt(nativeBalanceChange ?? 0))];
    sums.add(account, lamports);
    if (owner !== undefined && owner !== account) sums.add(owner, lamports);
    for (const { userAccount, mint, rawTokenAmount } of tokenBalanceChanges)
      if (!isWrappedSol(mint))
        // which is in the lamports of its account
        sums.add(userAccount, { mint, amount: BigInt(rawTokenAmount.tokenAmount), decimals: rawTokenAmount.decimals });
  }
  const explained = new WalletSums();
  for (const [party, amount] of parsed.actions.flatMap(effectsOf)) explained.add(party, amount);
  for (const { userAccount, amount, ...left } of parsed.unaccounted)
    explained.add(userAccount, { ...left, amount: BigInt(amount) });
  for (const wallet of ownersOfMoved(parsed))
    sums.add(wallet, solAmount(explained.of(wallet, WRAPPED_SOL) - sums.of(wallet, WRAPPED_SOL)));
  const changes = grouped(sums.entries(), ([wallet]) => wallet);
  return new Map(changes.map((group) => [group[0]?.[0] ?? '', group.map(([, amount]) => amount)]));
});

/** Finds the wallets whose token accounts may be somebody else's before or after: their lamports do not show what changed. */
function ownersOfMoved(parsed: ParsedTransaction): ReadonlySet<string> {
  const { actions, accountData, signers, isIncomplete } = parsed;
  const closings = findCloseAccountInstructions(parsed);
  const passed = actions.filter(
    (action) =>
      action.kind === 'changeOwner' ||
      callsOf(action, parsed).some(({ info }) => info?.['authorityType'] === 'accountOwner'),
  );
  if (isIncomplete || closings.length + passed.length === 0) return new Set();
  const closed = new Set(closings.map((call) => infoAddress(call, 'account')));
  const twice = accountData.filter(({ tokenBalanceChanges: { length }, account }) => length > 1 && closed.has(account));
  return new Set([
    ...signers,
    ...passed.flatMap(({ actor, counterparty }) => [actor, counterparty ?? actor]),
    ...twice.flatMap(({ tokenBalanceChanges }) => tokenBalanceChanges.map(({ userAccount }) => userAccount)),
  ]);
}
