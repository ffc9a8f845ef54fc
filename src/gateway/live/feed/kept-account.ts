import type { TemplatedText } from '../../../shared/runtime/templated-text.ts';
import type { AccountValue } from '../../upstream/geyser/feed-update.ts';
import type { History, RingMember, Version } from './history.ts';

/** The JSON of an account, in the form in which it takes least memory. */
export type KeptText = TemplatedText | string;

/** An account as a feed sends it, or as a node shows it as JSON; null where there was none. */
export type KeptAccount = AccountValue | KeptText | null;

export const isValue = (kept: KeptAccount): kept is AccountValue =>
  typeof kept === 'object' && kept !== null && 'data' in kept;

export type AccountVersion<W extends KeptAccount = KeptAccount> = Version<W>;
export type AccountHistory<W extends KeptAccount = KeptAccount> = History<KeptAccount, W>;

/** What an account was at a slot, as a feed sends it. */
export type FeedVersion = AccountVersion<AccountValue | null>;
export type FeedHistory = AccountHistory<AccountValue | null>;

/** An account on a stream. Its owner keeps in the same object what else it needs of it, since there may be very many. */
export interface FeedAccount extends RingMember {
  /** What it was and is, as the stream has it; undefined while that isn't known. */
  history: FeedHistory | undefined;
}

/** Returns true for the history of a feed, which covers each block, as long as it covers the newest one. */
export const isOfFeed = (history: AccountHistory): history is FeedHistory =>
  history.isOpen && history.coverage.finalizedSlot !== undefined;

/** Returns about the bytes of an account. */
export function bytesOfAccount(value: KeptAccount): number {
  if (value === null || typeof value === 'string') return value?.length ?? 0;
  return 'data' in value ? value.data.length : value.ownLength;
}
