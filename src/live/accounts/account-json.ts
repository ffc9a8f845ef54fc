import { canonicalJson, members, parseString } from '../../upstream/json/raw-json.ts';
import { parseAccountLamports } from '../../upstream/reads/account-info.ts';
import type { AccountJson } from './account-state.ts';

const JSON_NULL = Buffer.from('null');
const OPENING_BRACE = 0x7b;

/** An account as it is kept. An emptied account is told with no lamports: it is as absent as one never made. */
export function toAccountJson(account: Buffer | null): AccountJson {
  if (account === null || account.equals(JSON_NULL) || parseAccountLamports(account) === 0n) return null;
  return account.toString('latin1');
}

/** The balance; 0 of an absent account. */
export function lamportsOf(json: AccountJson): bigint {
  const account = accountBytes(json);
  return account === null ? 0n : parseAccountLamports(account);
}

/** The account's own bytes again. */
export const accountBytes = (json: AccountJson): Buffer | null => (json === null ? null : Buffer.from(json, 'latin1'));

/**
 * True when the parsed text may change while the account does not: a token-2022 account shows its amount scaled by
 * what its mint says and by the Clock, and does not say whether its mint does.
 */
export function dependsOnClock(account: Buffer | null): boolean {
  const data = account === null ? undefined : members(account).get('data');
  if (data?.[0] !== OPENING_BRACE) return false;
  const parts = members(data);
  const parsed = parts.get('parsed');
  if (parseString(parts.get('program')) !== 'spl-token-2022' || parsed?.[0] !== OPENING_BRACE) return false;
  return parseString(members(parsed).get('type')) === 'account';
}

/** Whether two texts mean the same account. A node orders members one way over HTTP and another over its WebSocket. */
export function isSameAccount(one: AccountJson, other: AccountJson): boolean {
  return one === other || canonicalAccount(one) === canonicalAccount(other);
}

function canonicalAccount(json: AccountJson): string {
  const account = accountBytes(json);
  if (account === null) return '';
  if (!dependsOnClock(account)) return canonicalJson(account);
  const parts = members(account);
  return ['lamports', 'owner', 'space'].map((name) => parts.get(name)?.toString()).join();
}
