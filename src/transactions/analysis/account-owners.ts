import type { Instruction } from '../records/instruction.ts';
import type { Transaction } from '../records/transaction.ts';
import { walletsBefore } from './token-account-balances.ts';

/** Finds the wallet of an account at a call; before the transaction where none is given. */
export type OwnerOf = (account: string, call?: Instruction | 'after') => string;

/**
 * Returns the function that finds the wallet of an account: the owner of a token account, any other account itself. Each
 * call that opens, gives away or closes an account may make it that of another wallet.
 */
export function accountOwners(transaction: Transaction, calls: readonly Instruction[]): OwnerOf {
  const { preTokenBalances, postTokenBalances } = transaction;
  const wallets = walletsBefore(transaction);
  const owners = new Map<string, string>();
  const ownersAfter = new Map<string, string>();
  const changes = new Map<string, { readonly place: number; owner: string | null }[]>();
  const addChange = (account: string, place: number, owner: string | null): void => {
    const earlier = changes.get(account);
    if (earlier === undefined) changes.set(account, [{ place, owner }]);
    else earlier.push({ place, owner });
  };
  const open = (account: string, owner: string, place: number): void => {
    const last = changes.get(account)?.at(-1);
    if (last?.owner === null) last.owner = owner; // what it gets before is its deposit
    if (last !== undefined || owners.has(account)) return;
    const isWallet = wallets.has(account);
    owners.set(account, isWallet ? account : owner);
    if (isWallet) addChange(account, place, owner);
  };
  for (const { account, owner } of preTokenBalances ?? []) if (owner !== null) owners.set(account, owner);
  for (const [place, { program, parsed }] of calls.entries()) {
    const { account, wallet, owner, authorityType, newAuthority } = parsed?.info ?? {};
    if (parsed === null || typeof account !== 'string') continue;
    if (program === 'spl-associated-token-account' && typeof wallet === 'string') open(account, wallet, place);
    if (program !== 'spl-token') continue;
    if (parsed.type === 'closeAccount') addChange(account, place, null);
    else if (parsed.type.startsWith('initializeAccount') && typeof owner === 'string') open(account, owner, place);
    else if (authorityType === 'accountOwner' && typeof newAuthority === 'string')
      addChange(account, place, newAuthority);
  }
  for (const { account, owner } of postTokenBalances ?? []) {
    if (owner === null) continue;
    ownersAfter.set(account, owner);
    if (!owners.has(account)) owners.set(account, owner);
  }
  const places = new Map(changes.size === 0 ? [] : calls.map((call, place) => [call, place]));
  return (account, call) => {
    const known = call === undefined ? undefined : changes.get(account);
    const place = call === 'after' ? calls.length : (places.get(call as Instruction) ?? 0);
    const last = known?.findLast((change) => change.place < place);
    const owner = last === undefined ? owners.get(account) : last.owner;
    return (call === 'after' ? ownersAfter.get(account) : null) ?? owner ?? account;
  };
}
