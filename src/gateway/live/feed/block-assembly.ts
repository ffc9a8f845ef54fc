import type { Slot } from '../../../shared/domain/slot.ts';
import { type FeedMode, versionOf } from '../../upstream/geyser/encode-request.ts';
import type { AccountWrite, BlockLink, FeedUpdate } from '../../upstream/geyser/feed-update.ts';
import type { FeedRules } from './feed-rules.ts';

/** A block that has come whole: the version of its filter, and one write for each account. */
export type ReceivedBlock = BlockLink & { readonly version: number; readonly writes: readonly AccountWrite[] };

/** Most blocks whose accounts have come and whose meta has not. */
const MAX_OPEN_BLOCKS = 64;

/** Puts the messages of a stream together to blocks (G1, G5). */
export class BlockAssembly {
  readonly #mode: FeedMode;
  readonly #rules: FeedRules;
  /** Accounts of blocks whose meta has not come, by slot. */
  readonly #open = new Map<Slot, Map<string, AccountWrite>>();
  /** True until a whole block can have come, where accounts come apart. */
  #isFirstPartial = false;

  constructor(mode: FeedMode, rules: FeedRules) {
    this.#mode = mode;
    this.#rules = rules;
  }

  /** Begins a connection. Without a replay the first block may have begun before the filter was in force. */
  restart(hasReplay: boolean): void {
    this.#open.clear();
    this.#isFirstPartial = this.#mode === 'accounts' && !hasReplay;
  }

  /** Returns the block that a message makes whole. */
  add(update: FeedUpdate): ReceivedBlock | undefined {
    if (update.kind === 'account') this.#addWrite(update.slot, update.write);
    if (update.kind !== 'block' && update.kind !== 'block-meta') return undefined;
    if (!this.#rules.isBarrier(update.kind, this.#mode)) return undefined;
    const { slot, blockhash, parentSlot, parentBlockhash } = update;
    const open = this.#open.get(slot);
    this.#open.delete(slot);
    if (this.#isFirstPartial) {
      this.#isFirstPartial = false;
      return undefined;
    }
    const writes = update.kind === 'block' ? this.#newestOf(update.writes) : [...(open?.values() ?? [])];
    const version = Math.max(-1, ...update.filters.map(versionOf));
    return { slot, blockhash, parentSlot, parentBlockhash, version, writes };
  }

  #addWrite(slot: Slot, write: AccountWrite): void {
    if (this.#mode === 'blocks') return;
    let open = this.#open.get(slot);
    if (open === undefined) {
      open = new Map();
      this.#open.set(slot, open);
      const [oldest] = this.#open.keys();
      if (this.#open.size > MAX_OPEN_BLOCKS && oldest !== undefined) this.#open.delete(oldest);
    }
    this.#keepNewest(open, write);
  }

  #newestOf(writes: readonly AccountWrite[]): readonly AccountWrite[] {
    const newest = new Map<string, AccountWrite>();
    for (const write of writes) this.#keepNewest(newest, write);
    return newest.size === writes.length ? writes : [...newest.values()];
  }

  #keepNewest(newest: Map<string, AccountWrite>, write: AccountWrite): void {
    const known = newest.get(write.key);
    if (known === undefined || this.#rules.supersedes(write, known)) newest.set(write.key, write);
  }
}
