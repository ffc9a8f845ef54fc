import { request } from 'undici';
import type { Commitment } from '../../src/shared/domain/commitment.ts';

interface RpcAnswer<R> {
  readonly result: R;
  readonly error?: { readonly message: string };
}

/** Calls a node's method over HTTP; the result is of the type that the caller names. Throws the JSON-RPC error, or `HTTP <status>`. */
export async function rpcRequest<R = unknown>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<R> {
  const { statusCode, body } = await request(url, callOf(method, params));
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`);
  const { result, error }: RpcAnswer<R> = JSON.parse(text);
  if (error !== undefined) throw Object.assign(new Error(error.message), error);
  return result;
}

/** The parameters of a call: the method decides whether the first is a text, a list of addresses or the configuration. */
export type RpcParams = readonly [
  first: string & readonly string[] & RpcConfig,
  config: RpcConfig,
  ...more: readonly RpcConfig[],
];

/** The last parameter of a call, as most methods have it. */
export interface RpcConfig {
  readonly commitment?: Commitment;
  readonly minContextSlot?: number;
  readonly encoding?: string;
  readonly dataSlice?: { readonly offset: number; readonly length: number };
  readonly before?: string;
  readonly limit?: number;
  readonly mint?: string;
  readonly programId?: string;
  readonly filters?: readonly { readonly memcmp?: { readonly bytes: string } }[];
}

/** Reads the configuration from the parameters of a call; empty if there is none. */
export function configOf(params: readonly unknown[]): RpcConfig {
  const last = params.at(-1);
  return typeof last === 'object' && last !== null && !Array.isArray(last) ? last : {};
}

/** Calls a method like {@link rpcRequest}; returns the whole response. */
export const rpcPost = (url: string, method: string, params: readonly unknown[] = []): Promise<Response> =>
  fetch(url, callOf(method, params));

const callOf = (method: string, params: readonly unknown[]) => ({
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});
