import type { Clock } from '../domain/clock.ts';
import type { RpcMethod } from '../domain/rpc-methods.ts';

/** Address of one Solana node. Both URLs and the headers may hold keys, so none of them is ever shown. */
export interface NodeOptions {
  /** Name that people see instead of the URL. */
  readonly id: string;
  readonly url: string;
  readonly wsUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Share of the calls among equally healthy and quick nodes. Default: 1. */
  readonly weight?: number;
  /** Whether the node keeps the whole ledger, so that it is called for what others have pruned. */
  readonly archival?: boolean;
  /** Whether its URLs lead to a pool of nodes, so that another may answer than the one that notifies. */
  readonly pooled?: boolean;
  /** Methods that the node may be called for. Default: all. */
  readonly methods?: readonly RpcMethod[];
}

/** Section `upstream` of the config; config/default.json has the values. */
export interface UpstreamSettings {
  /** Time limit of a call. */
  readonly timeoutMs: number;
  /** Time limit of a call that scans or reaches into old ledgers. */
  readonly slowTimeoutMs: number;
  /** HTTP connections to a node, and so its requests in flight. */
  readonly connections: number;
  /** Requests to a node that may wait for a connection; further ones are `overloaded`. */
  readonly queue: number;
  /** Longest response, longest WebSocket message, and most bytes of unhandled messages. */
  readonly maxBytes: number;
  /** Time without a message after which a WebSocket counts as dead, and without a slot after which a node is stalled. */
  readonly silenceMs: number;
  /** Time between pings; each must be answered before the next. */
  readonly pingMs: number;
  /** Time limit of a handshake and of the acknowledgement of a subscription. */
  readonly ackMs: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** Time limit of `connectMesh`. */
  readonly startMs: number;
  /** Most subscriptions of one WebSocket. */
  readonly subscriptions: number;
  /** Most bytes of responses that are received at once, over all nodes. */
  readonly inFlightBytes: number;
  /** Slots beyond what the elapsed time explains that one node alone may report. */
  readonly maxJump: number;
  /** Slots that the only node must advance steadily after a bigger step until its slots are accepted. */
  readonly steadySlots: number;
}

/** Dependencies of all parts of the mesh. */
export interface UpstreamDeps {
  readonly clock: Clock;
  /** Random number from 0 up to, but not including, 1. Spreads reconnects. */
  readonly random: () => number;
  readonly settings: UpstreamSettings;
}
