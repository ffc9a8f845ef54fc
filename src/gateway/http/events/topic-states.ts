import type { Slot } from '../../../shared/domain/slot.ts';
import { canonicalAccount, isSameAccount, lamportsOfKept, textOfKept } from '../../live/accounts/account-json.ts';
import { isSameValue } from '../../live/feed/feed-rules.ts';
import type { LinkedVersion } from '../../live/feed/history.ts';
import { type AccountVersion, isValue, type KeptAccount } from '../../live/feed/kept-account.ts';
import type { TopicName } from '../../routes/stream-topics.ts';

/** About the most characters of accounts that are compared or shown in a turn of the event loop: some 5 ms. */
export const MAX_TURN_LENGTH = 32 * 1024;
/** About the characters of an event beside its result, and what it costs to compare or show an account beside its JSON. */
export const EVENT_OVERHEAD = 256;

/** A state of which the text is made when it is needed. */
export interface KnownState {
  readonly slot: Slot;
  /** What the topic shows of the account. */
  readonly value: KeptAccount;
  /** The slot behind which changes before it may be missing; undefined where none can. */
  readonly gapFrom: Slot | undefined;
  resultText(): string;
}

/** Returns what a topic shows of an account. */
const shownOf = (name: TopicName, kept: KeptAccount): KeptAccount =>
  name === 'account' || kept === null ? kept : { ...BALANCE_ALONE, lamports: lamportsOfKept(kept) };

const BALANCE_ALONE = { owner: '', executable: false, rentEpoch: 0n, data: new Uint8Array(0) };

export const showsSame = (one: KeptAccount, other: KeptAccount): boolean =>
  isValue(one) && isValue(other) ? isSameValue(one, other) : isSameAccount(textOfKept(one), textOfKept(other));

/** Versions of an account, oldest first, and the slots of the first and the last of them. */
export interface VersionRow {
  readonly first: Slot;
  readonly last: Slot;
  /** Those behind a slot. */
  after(slot: Slot): Iterable<LinkedVersion<KeptAccount>>;
}

/** The states of one topic in a history. Of what the ring has dropped it remembers since when the oldest state has been so. */
export class TopicStates {
  readonly all: KnownState[] = [];
  readonly #name: TopicName;
  readonly #textOf: (version: AccountVersion) => string;
  #first: Slot | undefined;
  /** The newest version that was compared, and its JSON in canonical form, save for one of a feed. */
  #last: (AccountVersion & { readonly canonical: string | undefined }) | undefined;

  constructor(name: TopicName, textOf: (version: AccountVersion) => string) {
    this.#name = name;
    this.#textOf = textOf;
  }

  /** Adds the versions that are new, those of about `most` characters. Returns how many characters it has compared. */
  update({ first, last, after }: VersionRow, most = Number.POSITIVE_INFINITY): number {
    if (this.#first === first && this.#last?.slot === last) return 0;
    if (first < (this.all[0]?.slot ?? first)) this.#clear();
    this.trim(first);
    let length = 0;
    for (const version of after(this.#last?.slot ?? -1)) {
      length += this.#add(version);
      if (length >= most) break;
    }
    this.trim(first);
    this.#first = first;
    return length;
  }

  /** Forgets what was before a slot, which is that of the first version. */
  trim(first: Slot): void {
    if (first > (this.#last?.slot ?? first)) this.#clear(); // what followed the last one is not known any more
    while ((this.all[1]?.slot ?? first + 1) <= first) this.all.shift();
    this.#first = undefined; // what was before may be sent again
  }

  #clear(): void {
    this.all.length = 0;
    this.#last = undefined;
  }

  #add({ slot, gapFrom, value: kept }: LinkedVersion<KeptAccount>): number {
    const value = shownOf(this.#name, kept);
    const canonical = isValue(value) ? undefined : canonicalAccount(textOfKept(value));
    const before = this.#last;
    this.#last = { slot, value, canonical };
    const isSame =
      isValue(value) && before !== undefined && isValue(before.value)
        ? isSameValue(value, before.value)
        : canonical !== undefined && canonical === before?.canonical;
    if (gapFrom !== undefined || !isSame)
      this.all.push({ slot, value, gapFrom, resultText: () => this.#textOf({ slot, value }) });
    return EVENT_OVERHEAD + (isValue(kept) ? 0 : (textOfKept(kept)?.length ?? 0));
  }
}
