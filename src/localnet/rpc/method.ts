import type { Clock } from '../../domain/clock.ts';
import type { Chain } from '../bank/chain.ts';
import type { Faucet } from '../traffic/faucet.ts';
import type { Faults } from './faults.ts';

/** What methods answer from. */
export interface Node {
  readonly chain: Chain;
  readonly faucet: Faucet;
  readonly faults: Faults;
  readonly clock: Clock;
  /** Where it listens: host and port. */
  readonly address: string;
}

/** A JSON-RPC method: how many parameters it takes, and what it answers. Refusals are thrown as NodeError. */
export interface Method {
  readonly required: number;
  readonly optional: number;
  readonly answer: (node: Node, params: readonly unknown[]) => unknown;
}

export type Methods = Readonly<Record<string, Method>>;

/** Which version of a node's interface the answers follow, and that it is not one. */
export const VERSION = '4.2.2-embedded';
