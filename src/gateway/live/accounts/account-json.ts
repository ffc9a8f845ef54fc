import { tryOrUndefined } from '../../../shared/domain/try-or-undefined.ts';
import { type AccountValue, NO_BYTES } from '../../upstream/geyser/feed-update.ts';
import { OPEN_OBJECT } from '../../upstream/json/json-scanner.ts';
import { canonicalJson, members, parseString } from '../../upstream/json/raw-json.ts';
import { tokenPartsOf } from '../../upstream/reads/account-facts.ts';
import { parseAccountLamports } from '../../upstream/reads/account-info.ts';
import { isSameValue } from '../feed/feed-rules.ts';
import { isValue, type KeptAccount } from '../feed/kept-account.ts';

/** An account as JSON in one-byte characters, which the garbage collector need not trace; null when it is absent. */
export type AccountJson = string | null;

const JSON_NULL = Buffer.from('null');

/** Converts a node's account to the form that is kept. A node reports a closed account with 0 lamports: that is null. */
export function toAccountJson(account: Buffer | null): AccountJson {
  if (account === null || account.equals(JSON_NULL) || parseAccountLamports(account) === 0n) return null;
  return account.toString('latin1');
}

/** Converts a node's account as {@link toAccountJson} does; undefined for one that can't be decoded. */
export const decodeAccountJson = (account: Buffer | null): AccountJson | undefined =>
  tryOrUndefined(() => toAccountJson(account));

export function lamportsOf(json: AccountJson): bigint {
  const account = accountBytes(json);
  return account === null ? 0n : parseAccountLamports(account);
}

export const accountBytes = (json: AccountJson): Buffer | null => (json === null ? null : Buffer.from(json, 'latin1'));

/** `jsonParsed` scales token-2022 amounts by the mint's extensions and by the Clock: such JSON changes by itself. */
export function dependsOnClock(account: Buffer | null): boolean {
  const data = account === null ? undefined : members(account).get('data');
  if (data?.[0] !== OPEN_OBJECT) return false;
  const parts = members(data);
  const parsed = parts.get('parsed');
  if (parseString(parts.get('program')) !== 'spl-token-2022' || parsed?.[0] !== OPEN_OBJECT) return false;
  return parseString(members(parsed).get('type')) === 'account';
}

/** Returns true when two texts describe the same account: a node orders members differently over HTTP and WebSocket. */
export function isSameAccount(one: AccountJson, other: AccountJson): boolean {
  return one === other || canonicalAccount(one) === canonicalAccount(other);
}

/** Returns true as {@link isSameAccount} does, without any JSON where both are as a feed sends them. */
export const isSameKept = (one: KeptAccount, other: KeptAccount): boolean =>
  one !== null && other !== null && isValue(one) && isValue(other)
    ? one.rentEpoch === other.rentEpoch && isSameValue(one, other)
    : isSameAccount(textOfKept(one), textOfKept(other));

/** Returns a text that all JSON of the same account has. Never throws: JSON that has no canonical form stands for itself. */
export function canonicalAccount(json: AccountJson): string {
  const account = accountBytes(json);
  if (account === null) return '';
  try {
    if (!dependsOnClock(account)) return canonicalJson(account);
    const parts = members(account);
    const token = tokenPartsOf(parts.get('data') ?? JSON_NULL) ?? [];
    return [...['lamports', 'owner', 'space'].map((name) => parts.get(name)), ...token].join();
  } catch {
    return account.toString('latin1');
  }
}

/** Returns the text of an account that is kept in whatever form. */
export function textOfKept(kept: KeptAccount): AccountJson {
  return isValue(kept) ? unparsedJsonOf(kept) : (kept?.toString() ?? null);
}

/** Returns the length of that text. Of an account as a feed sends it no text is made: that takes 10 us for 2 KB. */
export function lengthOfKept(kept: KeptAccount): number {
  if (!isValue(kept)) return textOfKept(kept)?.length ?? 0;
  const { length } = kept.data;
  return unparsedJsonOf({ ...kept, data: NO_BYTES }).length + Math.ceil(length / 3) * 4 + `${length}`.length - 1;
}

/** Returns the balance of an account that is kept in whatever form. */
export const lamportsOfKept = (kept: KeptAccount): bigint =>
  isValue(kept) ? kept.lamports : lamportsOf(textOfKept(kept));

/** Returns an account in a node's own form, its data in base64. */
export const unparsedJsonOf = ({ lamports, owner, executable, rentEpoch, data }: AccountValue): string =>
  `{"data":["${Buffer.from(data).toString('base64')}","base64"],"executable":${executable},"lamports":${lamports},"owner":"${owner}","rentEpoch":${rentEpoch},"space":${data.length}}`;
