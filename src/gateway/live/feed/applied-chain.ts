import type { Slot } from '../../../shared/domain/slot.ts';
import type { BlockLink } from '../../upstream/geyser/feed-update.ts';
import type { AppliedBlock, BlockRelation, FeedRules } from './feed-rules.ts';

const MAX_REMEMBERED = 1024;

/** The blocks that a stream has applied, each the parent of the next. */
export class AppliedChain {
  readonly #rules: FeedRules;
  /** Oldest first. */
  readonly #hashes = new Map<Slot, string>();
  #oldest: Slot = -1;
  #newest: AppliedBlock | undefined;

  constructor(rules: FeedRules) {
    this.#rules = rules;
  }

  get newest(): AppliedBlock | undefined {
    return this.#newest;
  }

  has(slot: Slot): boolean {
    return this.#hashes.has(slot);
  }

  /** Returns how a block relates to the newest one; the first block is the next one. */
  relationOf(block: BlockLink): BlockRelation {
    if (this.#newest === undefined) return 'next';
    return this.#rules.relationOf(block, this.#newest, (slot) => this.#hashes.get(slot), this.#oldest);
  }

  append({ slot, blockhash }: AppliedBlock): void {
    this.#newest = { slot, blockhash };
    this.#hashes.set(slot, blockhash);
    if (this.#hashes.size === 1) this.#oldest = slot;
    if (this.#hashes.size <= MAX_REMEMBERED) return;
    this.#hashes.delete(this.#oldest);
    const [next = slot] = this.#hashes.keys();
    this.#oldest = next;
  }

  /** Forgets all: the next block follows none. */
  clear(): void {
    this.#hashes.clear();
    this.#newest = undefined;
  }
}
