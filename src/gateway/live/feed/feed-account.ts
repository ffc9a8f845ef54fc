import type { AccountValue } from '../../upstream/geyser/feed-update.ts';
import type { RingMember } from './history.ts';
import type { AccountHistory, AccountVersion } from './kept-account.ts';

/** What an account was at a slot, as a feed sends it. */
export type FeedVersion = AccountVersion<AccountValue | null>;

/** An account on a stream. Its owner keeps in the same object what else it needs of it, since there may be very many. */
export interface FeedAccount extends RingMember {
  /** What it was and is, as the stream has it; undefined while that isn't known. */
  history: AccountHistory<AccountValue | null> | undefined;
}
