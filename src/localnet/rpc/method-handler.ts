import type { Clock } from '../../shared/domain/clock.ts';
import type { Chain } from '../bank/chain.ts';
import type { Faucet } from '../traffic/faucet.ts';
import type { InjectedFaults } from './injected-faults.ts';

/** State that methods read and change. */
export interface NodeContext {
  readonly chain: Chain;
  readonly faucet: Faucet;
  readonly faults: InjectedFaults;
  readonly clock: Clock;
  readonly address: string;
}

/** A JSON-RPC method: its number of parameters, and its answer. Refusals are thrown as JsonRpcError. */
export interface MethodHandler<Answer = unknown> {
  readonly required: number;
  readonly optional: number;
  readonly handle: (node: NodeContext, params: readonly unknown[]) => Answer;
}

/** Declares a method by its numbers of required and of optional parameters. */
export const method = <Answer>(
  required: number,
  optional: number,
  handle: MethodHandler<Answer>['handle'],
): MethodHandler<Answer> => ({ required, optional, handle });

export type MethodHandlers = Readonly<Record<string, MethodHandler>>;

/** Version of the node interface that the answers follow, marked as embedded. */
export const NODE_VERSION = '4.2.2-embedded';
