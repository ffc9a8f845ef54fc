import type { Slot } from '../../../shared/domain/slot.ts';
import type { BlockLink } from '../../upstream/geyser/feed-update.ts';
import { bytesOfWrite, type ReceivedBlock } from './block-assembly.ts';
import type { AppliedBlock } from './feed-rules.ts';

/** A block that was missed, as a node shows it. */
export interface MissedBlock extends BlockLink {
  /** Addresses of the accounts that it may have written. */
  readonly written: { has(address: string): boolean };
}

/** What closes a gap: all its blocks, the block that is to be read next, or nothing. */
export type GapStep =
  | { readonly name: 'known'; readonly missed: readonly MissedBlock[]; readonly nextSlot: Slot }
  | { readonly name: 'read'; readonly slot: Slot }
  | { readonly name: 'conflict'; readonly slot: Slot }
  | { readonly name: 'too-long' };

const MAX_AHEAD = 512;
/** Most missing blocks that are read one by one. */
const MAX_MISSED = 64;

/** The blocks between the applied one and those that came too early, found by their parents (G6). */
export class Gap {
  /** Blocks that don't follow the applied one, in the order of slots. */
  #ahead: ReceivedBlock[] = [];
  /** Blocks between the applied one and those, newest first. */
  #missed: MissedBlock[] = [];
  /** Blocks that were read, by hash: another loss of the connection does not make them be read again. */
  readonly #reads = new Map<string, MissedBlock>();
  readonly #maxBytes: number;
  /** About the bytes of the blocks that wait. */
  #bytes = 0;

  /** `maxBytes`: the most bytes of what the blocks that wait have written. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isOpen(): boolean {
    return this.#ahead.length > 0;
  }

  get firstSlot(): Slot | undefined {
    return this.#ahead[0]?.slot;
  }

  /** The slot of the newest block that waits; -1 where none does. */
  get lastSlot(): Slot {
    return this.#ahead.at(-1)?.slot ?? -1;
  }

  /** The slot of the block that is missing next; undefined where none is. */
  get awaitedSlot(): Slot | undefined {
    return this.#oldest?.parentSlot;
  }

  /** The oldest block that is known of those behind the applied one. */
  get #oldest(): BlockLink | undefined {
    return this.#missed.at(-1) ?? this.#ahead[0];
  }

  /** Lets a block wait. Returns false if too many do. */
  wait(block: ReceivedBlock): boolean {
    if (block.slot <= this.lastSlot) return true; // a duplicate
    this.#ahead.push(block);
    for (const write of block.writes) this.#bytes += bytesOfWrite(write);
    return this.#ahead.length <= MAX_AHEAD && this.#bytes <= this.#maxBytes;
  }

  /** Accepts a read of a block. Returns false where it is not the one that is missing next. */
  onRead(block: MissedBlock | undefined): boolean {
    const child = this.#oldest;
    if (block === undefined || block.slot !== child?.parentSlot || block.blockhash !== child.parentBlockhash)
      return false;
    if (block.parentSlot >= block.slot) return false; // a node that lies could have it follow itself
    this.#reads.set(block.blockhash, block);
    return true;
  }

  next(applied: AppliedBlock, isOneEpoch: (from: Slot, to: Slot) => boolean): GapStep | undefined {
    const [first] = this.#ahead;
    if (first === undefined) return undefined;
    let oldest: BlockLink = this.#missed.at(-1) ?? first;
    for (let parent = this.#parentOf(oldest); parent !== undefined; parent = this.#parentOf(oldest)) {
      this.#missed.push(parent);
      oldest = parent;
    }
    const { parentSlot } = oldest;
    if (parentSlot === applied.slot && oldest.parentBlockhash === applied.blockhash)
      return { name: 'known', missed: this.#missed.toReversed(), nextSlot: first.slot };
    if (parentSlot <= applied.slot) return { name: 'conflict', slot: parentSlot };
    const isTooLong = this.#missed.length >= MAX_MISSED || !isOneEpoch(applied.slot, first.slot);
    return isTooLong ? { name: 'too-long' } : { name: 'read', slot: parentSlot };
  }

  /** Returns the parent of a block where it was read. Both its slot and its hash must be those that the block names. */
  #parentOf({ parentSlot, parentBlockhash }: BlockLink): MissedBlock | undefined {
    const read = this.#reads.get(parentBlockhash);
    return read?.slot === parentSlot ? read : undefined;
  }

  /** Closes the gap, and returns the blocks that waited behind it. */
  close(): readonly ReceivedBlock[] {
    const ahead = this.#ahead;
    this.forgetAhead();
    this.#reads.clear();
    return ahead;
  }

  /** Forgets what waited, which comes again over another connection. */
  forgetAhead(): void {
    this.#ahead = [];
    this.#missed = [];
    this.#bytes = 0;
  }
}
