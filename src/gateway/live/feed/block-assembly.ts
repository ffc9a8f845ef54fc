import type { Slot } from '../../../shared/domain/slot.ts';
import { MAX_WRITES } from '../../upstream/geyser/decode-update.ts';
import { type FeedMode, versionOf } from '../../upstream/geyser/encode-request.ts';
import type { AccountWrite, BlockLink, FeedUpdate } from '../../upstream/geyser/feed-update.ts';
import type { FeedRules } from './feed-rules.ts';

/** A block that has come whole: the version of its filter, and one write for each account. */
export type ReceivedBlock = BlockLink & { readonly version: number; readonly writes: readonly AccountWrite[] };

/** About the bytes of a write beside the data of the account. */
const WRITE_BYTES = 250;

/** Returns about the bytes of a write. */
export const bytesOfWrite = ({ value }: Pick<AccountWrite, 'value'>): number => WRITE_BYTES + (value?.data.length ?? 0);

/** Most blocks whose accounts have come and whose meta has not. */
const MAX_OPEN_BLOCKS = 64;
/** Most blocks that are known to be incomplete: the meta of a fork's may never come. */
const MAX_FORGOTTEN = 1024;

interface OpenBlock {
  readonly writes: Map<string, AccountWrite>;
  bytes: number;
}

/** Puts the messages of a stream together to blocks (G1, G5). */
export class BlockAssembly {
  readonly #mode: FeedMode;
  readonly #rules: FeedRules;
  /** Accounts of blocks whose meta has not come, by slot. */
  readonly #open = new Map<Slot, OpenBlock>();
  readonly #maxBytes: number;
  /** About the bytes of all these. */
  #bytes = 0;
  /** The blocks of which accounts were forgotten last, whose meta has not come. */
  readonly #forgotten = new Set<Slot>();
  /** True until a whole block can have come, where accounts come apart. */
  #isFirstPartial = false;

  /** `maxBytes`: the most bytes of accounts whose block meta has not come. */
  constructor(mode: FeedMode, rules: FeedRules, maxBytes: number) {
    this.#mode = mode;
    this.#rules = rules;
    this.#maxBytes = maxBytes;
  }

  /** Begins a connection. Without a replay the first block may have begun before the filter was in force. */
  restart(hasReplay: boolean): void {
    this.#open.clear();
    this.#bytes = 0;
    this.#forgotten.clear();
    this.#isFirstPartial = this.#mode === 'accounts' && !hasReplay;
  }

  /** Returns the block that a message makes whole. */
  add(update: FeedUpdate): ReceivedBlock | undefined {
    if (update.kind === 'account') this.#addWrite(update.slot, update.write);
    if (update.kind !== 'block' && update.kind !== 'block-meta') return undefined;
    if (!this.#rules.isBarrier(update.kind, this.#mode)) return undefined;
    const { slot, blockhash, parentSlot, parentBlockhash } = update;
    const open = this.#close(slot);
    const isForgotten = this.#forgotten.delete(slot);
    if (this.#isFirstPartial) {
      this.#isFirstPartial = false;
      return undefined;
    }
    const isPartial = isForgotten || (open !== undefined && open.writes.size > MAX_WRITES);
    if (update.kind === 'block-meta' && isPartial) return undefined; // the next block shows the gap
    const writes = update.kind === 'block' ? this.#newestOf(update.writes) : [...(open?.writes.values() ?? [])];
    const version = Math.max(-1, ...update.filters.map(versionOf));
    return { slot, blockhash, parentSlot, parentBlockhash, version, writes };
  }

  #addWrite(slot: Slot, write: AccountWrite): void {
    if (this.#mode === 'blocks') return;
    let open = this.#open.get(slot);
    if (open === undefined) {
      open = { writes: new Map(), bytes: 0 };
      this.#open.set(slot, open);
    }
    this.#keepNewest(open.writes, write);
    const bytes = bytesOfWrite(write);
    open.bytes += bytes;
    this.#bytes += bytes;
    while (this.#open.size > MAX_OPEN_BLOCKS || this.#bytes > this.#maxBytes) {
      const [oldest = slot] = this.#open.keys();
      this.#close(oldest);
      this.#forgotten.add(oldest);
      for (const slot of this.#forgotten) if (this.#forgotten.size > MAX_FORGOTTEN) this.#forgotten.delete(slot);
    }
  }

  #close(slot: Slot): OpenBlock | undefined {
    const open = this.#open.get(slot);
    this.#open.delete(slot);
    this.#bytes -= open?.bytes ?? 0;
    return open;
  }

  #newestOf(writes: readonly AccountWrite[]): readonly AccountWrite[] {
    const newest = new Map<string, AccountWrite>();
    for (const write of writes) this.#keepNewest(newest, write);
    return newest.size === writes.length ? writes : [...newest.values()];
  }

  #keepNewest(newest: Map<string, AccountWrite>, write: AccountWrite): void {
    const known = newest.get(write.address);
    if (known === undefined || this.#rules.supersedes(write, known)) newest.set(write.address, write);
  }
}
