import { isAssociatedTokenAccount } from '../accounts/program-derived-address.ts';
import { type Instruction, inExecutionOrder } from './instruction.ts';
import { signerOf } from './instruction-layout.ts';
import type { TokenBalance, TokenBalances } from './token-balance.ts';

/** Bound of the pairs of a wallet and an account that are compared, at 0.15 ms each. */
const MAX_COMPARISONS = 48;

/**
 * Adds the owners that old nodes did not record, as far as the instructions name them. A call that opens, approves or
 * gives away an account names its owner. The signer of a transfer is its owner unless the account was approved to them
 * here. An associated token account follows from its wallet.
 */
export function inferOwners(
  balances: TokenBalances,
  instructions: readonly Instruction[],
  signers: readonly string[],
): TokenBalances {
  const ownerless = [...(balances.before ?? []), ...(balances.after ?? [])].filter(({ owner }) => owner === null);
  if (ownerless.length === 0) return balances;
  const { owners, newOwners } = ownersNamedBy(inExecutionOrder(instructions));
  for (const [account, owner] of associatedOwners(ownerless, owners, signers)) owners.set(account, owner);
  const addOwner = (isAfter: boolean) => (balance: TokenBalance) => {
    const newOwner = isAfter ? newOwners.get(balance.account) : undefined;
    return { ...balance, owner: balance.owner ?? newOwner ?? owners.get(balance.account) ?? null };
  };
  return { before: balances.before?.map(addOwner(false)) ?? null, after: balances.after?.map(addOwner(true)) ?? null };
}

/** Returns the owners that instructions name, the surest first, since none replaces another; and the last new owners. */
function ownersNamedBy(calls: readonly Instruction[]) {
  const [owners, newOwners] = [new Map<string, string>(), new Map<string, string>()];
  const add = (account: unknown, owner: unknown): void => {
    if (typeof account === 'string' && typeof owner === 'string' && !owners.has(account)) owners.set(account, owner);
  };
  const approvals = new Set<string>();
  for (const { program, parsed } of calls) {
    const { type, info } = parsed ?? { type: '', info: {} };
    if (program === 'spl-associated-token-account') add(info['account'], info['wallet']);
    if (program !== 'spl-token') continue;
    if (type.startsWith('initializeAccount')) add(info['account'], info['owner']);
    if (type.startsWith('approve')) {
      add(info['source'], signerOf(info, 'owner'));
      approvals.add(`${info['source']} ${info['delegate']}`);
    }
    if (type !== 'setAuthority' || info['authorityType'] !== 'accountOwner') continue;
    const { account, newAuthority } = info;
    add(account, signerOf(info, 'authority'));
    if (typeof account === 'string' && typeof newAuthority === 'string') newOwners.set(account, newAuthority);
  }
  for (const { program, parsed } of calls) {
    const { type, info } = parsed ?? { type: '', info: {} };
    if (program !== 'spl-token' || !/^(transfer|burn)/.test(type)) continue;
    const [account, authority] = [info['source'] ?? info['account'], signerOf(info, 'authority')];
    if (!approvals.has(`${account} ${authority}`)) add(account, authority);
  }
  return { owners, newOwners };
}

/** Returns the owners of accounts that are the associated ones of wallets in the transaction, first of those that signed. */
function associatedOwners(
  ownerless: readonly TokenBalance[],
  owners: ReadonlyMap<string, string>,
  signers: readonly string[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const mints = new Map(ownerless.map(({ account, mint }) => [account, mint]));
  let comparisons = 0;
  for (const wallet of new Set([...signers, ...owners.values()])) {
    for (const [account, mint] of mints) {
      if (owners.has(account) || found.has(account)) continue;
      if (comparisons === MAX_COMPARISONS) return found;
      comparisons++;
      if (isAssociated(account, wallet, mint)) found.set(account, wallet);
    }
  }
  return found;
}

function isAssociated(account: string, wallet: string, mint: string): boolean {
  try {
    return isAssociatedTokenAccount(account, wallet, mint, 'spl-token');
  } catch {
    return false; // no address of the record
  }
}
