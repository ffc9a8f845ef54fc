import { canonicalJson, members, parseString } from '../../upstream/json/raw-json.ts';
import { parseAccountLamports } from '../../upstream/reads/account-info.ts';
import type { AccountText } from './watched-account.ts';

const NULL = Buffer.from('null');
const OPENING_BRACE = 0x7b;

/** An account as it is kept. An emptied account is told with no lamports: it is as absent as one never made. */
export function keep(account: Buffer | null): AccountText {
  if (account === null || account.equals(NULL) || parseAccountLamports(account) === 0n) return null;
  return account.toString('latin1');
}

/** The balance; 0 of an absent account. */
export function lamportsOf(kept: AccountText): bigint {
  const account = bytesOf(kept);
  return account === null ? 0n : parseAccountLamports(account);
}

/** The account's own bytes again. */
export const bytesOf = (kept: AccountText): Buffer | null => (kept === null ? null : Buffer.from(kept, 'latin1'));

/**
 * True when the parsed text may change while the account does not: a token-2022 account shows its amount scaled by
 * what its mint says and by the Clock, and does not say whether its mint does.
 */
export function followsClock(account: Buffer | null): boolean {
  const data = account === null ? undefined : members(account).get('data');
  if (data?.[0] !== OPENING_BRACE) return false;
  const parts = members(data);
  const parsed = parts.get('parsed');
  if (parseString(parts.get('program')) !== 'spl-token-2022' || parsed?.[0] !== OPENING_BRACE) return false;
  return parseString(members(parsed).get('type')) === 'account';
}

/** Whether two texts mean the same account. A node orders members one way over HTTP and another over its WebSocket. */
export function isSameAccount(one: AccountText, other: AccountText): boolean {
  return one === other || meaning(one) === meaning(other);
}

function meaning(kept: AccountText): string {
  const account = bytesOf(kept);
  if (account === null) return '';
  if (!followsClock(account)) return canonicalJson(account);
  const parts = members(account);
  return ['lamports', 'owner', 'space'].map((name) => parts.get(name)?.toString()).join();
}
