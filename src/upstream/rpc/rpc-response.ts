import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';

/** What a node said, unparsed: bytes stay bytes, so no number passes through a double. */
export interface RpcResponse {
  /**
   * The slot the reading holds at: `context.slot` where the node names one, else the newest slot at the reading's
   * commitment that the same node had shown before the request was sent.
   */
  readonly slot: Slot;
  /** The node's `result`, byte for byte. */
  readonly result: Buffer;
  /** The `value` inside a result that has a `context`, else the result itself. */
  readonly value: Buffer;
}

export interface CallOptions {
  /** At which commitment an answer without a context is anchored. Default: confirmed. */
  readonly commitment?: Commitment;
  /** The answer must not be older: for the methods that a node can't be held to a slot by `minContextSlot`. */
  readonly minSlot?: Slot | undefined;
  /** Reads with the same name go to the same node while it is well: for what nodes may order in ways of their own. */
  readonly affinity?: string;
}
