import type { Clock } from '../domain/clock.ts';
import type { RpcMethod } from '../domain/rpc-methods.ts';

/** Where one Solana node is. Both URLs and the headers may hold keys, so none of them is ever shown. */
export interface NodeOptions {
  /** What people see instead of the URL. */
  readonly id: string;
  readonly url: string;
  readonly wsUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of two nodes that are equally well and quick, the one with twice the weight gets twice the reads. Default: 1. */
  readonly weight?: number;
  /** Whether it keeps the whole ledger, so that it is asked when others no longer know. */
  readonly archival?: boolean;
  /** Whether there are many nodes behind its URLs, so that who answers may be another than who tells. */
  readonly pooled?: boolean;
  /** The only methods that it is to be asked for. Default: all. */
  readonly methods?: readonly RpcMethod[];
}

/** The `upstream` part of the config; config/default.json has the values. */
export interface UpstreamSettings {
  /** How long a read may take altogether. */
  readonly timeoutMs: number;
  /** The same for reads that scan or reach into old ledgers. */
  readonly slowTimeoutMs: number;
  /** HTTP connections to a node, and so requests in flight. */
  readonly connections: number;
  /** Requests to a node that may wait for a connection; one more is `overloaded`. */
  readonly queue: number;
  /** The longest answer and the longest WebSocket message, and how many bytes of messages may wait for us. */
  readonly maxBytes: number;
  /** A WebSocket that says nothing for so long is dead, and so is a tip that stands still. */
  readonly silenceMs: number;
  /** Between pings; each must be answered before the next. */
  readonly pingMs: number;
  /** How long a handshake or the acknowledgement of a subscription may take. */
  readonly ackMs: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** How long {@link connectMesh} goes on trying. */
  readonly startMs: number;
  /** How many subscriptions one WebSocket may carry. */
  readonly subscriptions: number;
  /** How many bytes of answers may be on their way in at once, over all nodes. */
  readonly inFlightBytes: number;
  /** How many slots more than the time explains are believed on one node's word. */
  readonly maxJump: number;
  /** How many slots the only node must go on steadily after a bigger step before it is believed. */
  readonly steadySlots: number;
}

/** What all parts of the mesh are given from outside. */
export interface UpstreamDeps {
  readonly clock: Clock;
  /** From 0 up to, but not including, 1. Spreads reconnects. */
  readonly random: () => number;
  readonly settings: UpstreamSettings;
}
