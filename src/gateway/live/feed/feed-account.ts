import type { Slot } from '../../../shared/domain/slot.ts';
import type { AccountValue } from '../../upstream/geyser/feed-update.ts';
import type { RingMember } from './history.ts';
import type { AccountHistory, AccountVersion } from './kept-account.ts';

/** What an account was at a slot, as a feed sends it. */
export type FeedVersion = AccountVersion<AccountValue | null>;

/** Most writes of an account that isn't armed yet; then it is read again. */
const MAX_UNARMED_WRITES = 256;

const NONE: readonly FeedVersion[] = [];

/** An account on a stream. */
export class FeedAccount implements RingMember {
  readonly address: string;
  readonly key: string;
  readonly heat: RingMember['heat'];
  /** The first version of the filter that names it. */
  readonly filterVersion: number;
  /** The first block from which on the stream is complete for it; undefined until its filter is in force. */
  since: Slot | undefined = undefined;
  /** A read that waits until its slot is applied. */
  read: FeedVersion | undefined = undefined;
  /** What it was and is; undefined while that isn't known. */
  history: AccountHistory<AccountValue | null> | undefined = undefined;
  /** The writes since {@link since}, while it is not armed. */
  #writes: FeedVersion[] | undefined = undefined;
  readonly #stream: { onEvicted(account: FeedAccount): void };

  constructor(
    address: string,
    key: string,
    heat: RingMember['heat'],
    filterVersion: number,
    stream: { onEvicted(account: FeedAccount): void },
  ) {
    this.address = address;
    this.key = key;
    this.heat = heat;
    this.filterVersion = filterVersion;
    this.#stream = stream;
  }

  get isArmed(): boolean {
    return this.history !== undefined;
  }

  /** Remembers a write until the account is read. */
  keepWrite(version: FeedVersion): void {
    if (this.since === undefined || version.slot < this.since) return;
    this.#writes ??= [];
    this.#writes.push(version);
    if (this.#writes.length > MAX_UNARMED_WRITES) this.#writes.shift(); // older than any read that is under way
  }

  /** Returns the writes that were remembered, and forgets them with the read. */
  takeWrites(): readonly FeedVersion[] {
    const writes = this.#writes ?? NONE;
    this.#writes = undefined;
    this.read = undefined;
    return writes;
  }

  onEvicted(): void {
    this.#stream.onEvicted(this);
  }
}
