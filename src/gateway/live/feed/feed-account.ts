import type { Slot } from '../../../shared/domain/slot.ts';
import type { AccountValue } from '../../upstream/geyser/feed-update.ts';
import type { RingMember } from './history.ts';
import type { AccountHistory, AccountVersion } from './kept-account.ts';

/** What an account was at a slot, as a feed sends it. */
export type FeedVersion = AccountVersion<AccountValue | null>;

/** An account on a stream. Its owner keeps in the same object what else it needs of it, since there may be very many. */
export interface FeedAccount extends RingMember {
  readonly key: string;
  /** What it was and is; undefined while that isn't known. */
  history: AccountHistory<AccountValue | null> | undefined;
  /** Undefined once it is armed. */
  unarmed: UnarmedAccount | undefined;
}

/** What a stream keeps of an account until it is armed. */
export class UnarmedAccount {
  /** The first version of the filter that names it. */
  readonly filterVersion: number;
  /** The first block from which on the stream is complete for it; undefined until its filter is in force. */
  since: Slot | undefined;
  /** A read that waits until its slot is applied. */
  read: FeedVersion | undefined = undefined;
  /** The writes since {@link since}. */
  readonly writes: FeedVersion[] = [];
  /** About the bytes of these. */
  bytes = 0;

  constructor(filterVersion: number, since?: Slot) {
    this.filterVersion = filterVersion;
    this.since = since;
  }
}
