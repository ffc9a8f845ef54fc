import type { Clock } from '../../domain/clock.ts';
import type { Chain } from '../bank/chain.ts';
import type { Faucet } from '../traffic/faucet.ts';
import type { InjectedFaults } from './injected-faults.ts';

/** What methods answer from. */
export interface NodeContext {
  readonly chain: Chain;
  readonly faucet: Faucet;
  readonly faults: InjectedFaults;
  readonly clock: Clock;
  /** Where it listens: host and port. */
  readonly address: string;
}

/** A JSON-RPC method: how many parameters it takes, and what it answers. Refusals are thrown as NodeError. */
export interface MethodHandler {
  readonly required: number;
  readonly optional: number;
  readonly handle: (node: NodeContext, params: readonly unknown[]) => unknown;
}

export type MethodHandlers = Readonly<Record<string, MethodHandler>>;

/** Which version of a node's interface the answers follow, and that it is not one. */
export const NODE_VERSION = '4.2.2-embedded';
