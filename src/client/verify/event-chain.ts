import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Receipt } from './receipt.ts';
import { ensure } from './receipt-error.ts';
import { type ChainedFields, eventText } from './statement.ts';

/** The state before an event, as its frame shows it. Nobody has signed it: the chain proves it. */
export interface StateBefore {
  readonly slot: Slot;
  /** The exact text of the result. */
  readonly result: string;
}

const hexDigest = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

/** Returns the member `previous` of the event that follows an event, or the state at which a chain begins. */
export const chainDigest = (fields: ChainedFields): string => hexDigest(eventText(fields));

/**
 * Checks that verified events of one topic and address follow each other: none is missing between two of them, doubled or in
 * another place. What is missing at the end can't be seen.
 */
export class EventChain {
  #last: Receipt | undefined;
  #newestSlot = -1;
  #starts = 0;

  /** The states at which a chain began, the first one included: between such a state and the event before it some may be missing. */
  get starts(): number {
    return this.#starts;
  }

  /** Adds the next receipt. Throws a ReceiptError `chain` if it does not follow the last one. */
  add(receipt: Receipt, before?: StateBefore): void {
    const { previous = null, slot, digest } = receipt;
    const last = this.#last;
    // Another process may know since when an account has been as it is: that slot is older.
    const isKnownState = previous === null && digest === last?.digest;
    ensure(isKnownState || slot > this.#newestSlot, 'chain');
    if (previous === null || last === undefined) this.#starts++;
    else ensure(previous === chainDigest(lastEventOf(last, before)), 'chain');
    this.#last = receipt;
    this.#newestSlot = Math.max(this.#newestSlot, slot);
  }
}

/**
 * A chain begins with a state at the slot at which it was read. Another process may know since when it was that state: the event
 * then names an older slot, and says with it that there was none in between.
 */
function lastEventOf(last: Receipt, before: StateBefore | undefined): ChainedFields {
  const isState = (last.previous ?? null) === null;
  const isSameState = before !== undefined && before.slot < last.slot && hexDigest(before.result) === last.digest;
  return isState && isSameState ? { ...last, slot: before.slot } : last;
}
