import { methodNotFound } from '../encode/node-error.ts';
import { ACCOUNT_METHODS } from './accounts.ts';
import { BLOCK_METHODS } from './blocks.ts';
import { CLUSTER_METHODS } from './cluster.ts';
import type { Method, Methods, Node } from './method.ts';
import { positional } from './params.ts';
import { SENDING_METHODS } from './sending.ts';
import { SLOT_METHODS } from './slots.ts';
import { TOKEN_METHODS } from './tokens.ts';
import { TRANSACTION_METHODS } from './transactions.ts';

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...ACCOUNT_METHODS,
    ...TOKEN_METHODS,
    ...SLOT_METHODS,
    ...BLOCK_METHODS,
    ...TRANSACTION_METHODS,
    ...CLUSTER_METHODS,
    ...SENDING_METHODS,
  } satisfies Methods),
);

/** Whether a node answers to this name at all. */
export const isMethod = (name: string): boolean => METHODS.has(name);

/** Answers one call. Throws NodeError for what a node refuses. */
export function call(node: Node, name: string, params: unknown): unknown {
  const method = METHODS.get(name);
  if (method === undefined) throw methodNotFound();
  return method.answer(node, positional(params, method.required, method.optional));
}
