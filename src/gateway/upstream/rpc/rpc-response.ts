import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';
import type { Facts } from './facts.ts';

/** Response of a node, unparsed: bytes stay bytes, so no number passes through a double. */
export interface RpcResponse {
  /**
   * Slot at which the response holds: `context.slot` where the node names one, else the newest slot at the commitment
   * that the same node had reported before the request was sent.
   */
  readonly slot: Slot;
  readonly result: Buffer;
  /** Bytes of the `value` in a result with a `context`, else of the result itself. */
  readonly value: Buffer;
  /** The node that has responded, of a mesh. */
  readonly nodeId?: string;
  /** The operators that gave the same, of a call that compares them; undefined over one operator. */
  readonly agreement?: Agreement;
}

/** What a response says, as far as operators are compared by it. Two digests are equal where the texts are. */
export interface ConsensusData {
  /** The digest of all that an answer shows of it; {@link NOTHING} where it shows nothing. */
  readonly digest: string;
  /**
   * Extracts what every honest node has alike; what a parser or the retention of a node adds is no part of it. Called where
   * digests differ. Absent where all of the responses of honest nodes may differ.
   */
  readonly facts?: () => Facts | Promise<Facts>;
  /** The slot at which another response must be to be compared; undefined where the result is the same at each slot. */
  readonly slot: Slot | undefined;
  /** The slot from which on the response can be compared: later than {@link slot} where the node had read a newer root. */
  readonly needsSlot: Slot;
}

/** The digest of a null for what nodes forget: one that has it decides against all that have nothing. */
export const NOTHING = 'none';

export interface AgreeOptions {
  /** Operators that must give the same; with 1 a part of the calls is compared in the background. */
  readonly count: number;
  /** Operators that the caller demands: that there is nothing is `no_agreement` if fewer say it. Default: 1. */
  readonly demanded?: number | undefined;
  /** Whether a first response needs more than its operator, where only that shows it. Default: operators are read in parallel. */
  readonly onlyIf?: ((first: RpcResponse) => boolean) | undefined;
  readonly compare: (response: RpcResponse) => Promise<ConsensusData>;
}

export interface CallOptions {
  /** Commitment whose latest slot dates a response without a context. Default: confirmed. */
  readonly commitment?: Commitment;
  /** Oldest slot of the response, also for methods without `minContextSlot`. */
  readonly minSlot?: Slot | undefined;
  /** Calls with the same key go to the same node while it is healthy, for lists that each node may order differently. */
  readonly affinity?: string;
  /** Whether the response is known to be large: the call takes its turn, and its time, with the slow methods. */
  readonly isLarge?: boolean | undefined;
  /** Monotonic milliseconds that shorten the method's time limit. */
  readonly deadlineMs?: number | undefined;
  /** Request that causes the call, whose calls, scans and bytes are counted. Default: it is work of the gateway itself. */
  readonly cost?: RequestCost | undefined;
  /** Compares operators where a mesh has several. Default: the response of one is believed. */
  readonly agree?: AgreeOptions | undefined;
}

/** Calls RPC methods: of a mesh, or of one node. */
export interface RpcCaller {
  call(method: RpcMethod, params?: readonly unknown[], options?: CallOptions): Promise<RpcResponse>;
}
