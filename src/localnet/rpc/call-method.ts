import { methodNotFound } from '../encode/json-rpc-error.ts';
import { ACCOUNT_METHODS } from './account-methods.ts';
import { BLOCK_METHODS } from './block-methods.ts';
import { CLUSTER_METHODS } from './cluster-methods.ts';
import { readPositional } from './json-rpc-params.ts';
import type { MethodHandler, MethodHandlers, NodeContext } from './method-handler.ts';
import { SENDING_METHODS } from './sending-methods.ts';
import { SIMULATION_METHODS } from './simulation-methods.ts';
import { SLOT_METHODS } from './slot-methods.ts';
import { TOKEN_METHODS } from './token-methods.ts';
import { TRANSACTION_METHODS } from './transaction-methods.ts';

const METHODS: ReadonlyMap<string, MethodHandler> = new Map(
  Object.entries({
    ...ACCOUNT_METHODS,
    ...TOKEN_METHODS,
    ...SLOT_METHODS,
    ...BLOCK_METHODS,
    ...TRANSACTION_METHODS,
    ...CLUSTER_METHODS,
    ...SENDING_METHODS,
    ...SIMULATION_METHODS,
  } satisfies MethodHandlers),
);

/** Returns whether a node has a method of this name. */
export const isMethod = (name: string): boolean => METHODS.has(name);

/** Answers one call. Throws JsonRpcError for a call that a node refuses. */
export function callMethod(node: NodeContext, name: string, params: unknown): unknown {
  const method = METHODS.get(name);
  if (method === undefined) throw methodNotFound();
  return method.handle(node, readPositional(params, method.required, method.optional));
}
