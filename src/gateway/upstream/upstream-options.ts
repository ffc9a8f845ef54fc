import type { Config } from '../../config/config-schema.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import type { RpcMethod } from '../../shared/domain/rpc-methods.ts';

/** Address of one Solana node. Both URLs and the headers may hold keys: callers see none, the log `redactedOrigin`. */
export interface NodeOptions {
  /** Name that people see instead of the URL. */
  readonly id: string;
  /** Who runs it: the nodes of one operator are one voice. Default: the node itself. */
  readonly operator?: string;
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

export type UpstreamSettings = Config['upstreamPolicy'];

export interface UpstreamDeps {
  readonly clock: Clock;
  /** Random number from 0 up to, but not including, 1. Spreads reconnects. */
  readonly random: () => number;
  readonly settings: UpstreamSettings;
}
