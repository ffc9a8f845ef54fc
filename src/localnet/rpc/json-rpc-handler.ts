import { parseExactJson } from '../../shared/domain/parse-exact-json.ts';
import { toJson } from '../../shared/domain/to-json.ts';
import { invalidRequest, JsonRpcError, parseError } from '../encode/json-rpc-error.ts';
import { sortKeys } from '../encode/sort-keys.ts';

/** Answers one well-formed call. Throws JsonRpcError for a refusal. */
export type CallHandler = (method: string, params: unknown) => unknown;

type JsonRpcId = number | bigint | string | null;

/** An entry of a request that can be answered: a call, a notification, or what is neither but has an id. */
interface RequestEntry extends Readonly<Record<string, unknown>> {
  readonly id?: JsonRpcId;
}

const KNOWN_MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/**
 * Answers the text of a JSON-RPC request, single or batch, with the text of its response; empty where a node sends
 * none. `call` answers each call in it; what it throws besides JsonRpcError goes to `onError`. One entry without a
 * usable id makes the whole batch fail.
 */
export function handleJsonRpc(text: string, call: CallHandler, onError: (thrown: unknown) => void): string {
  let request: unknown;
  try {
    request = parseExactJson(text);
  } catch {
    return errorResponse(null, parseError());
  }
  const entries: readonly unknown[] = Array.isArray(request) ? request : [request];
  if (!entries.every(isEntry)) return errorResponse(null, parseError());
  const answers = entries.flatMap((entry) => handleEntry(entry, call, onError));
  if (Array.isArray(request)) return answers.length === 0 ? '' : `[${answers.join(',')}]`;
  return answers[0] ?? '';
}

function handleEntry(entry: RequestEntry, call: CallHandler, onError: (thrown: unknown) => void): string[] {
  const { jsonrpc: version = null, id = null, method, params = null } = entry;
  const isKnown = Object.keys(entry).every((name) => KNOWN_MEMBERS.has(name));
  if (!isKnown || typeof params !== 'object' || (version !== null && version !== '2.0') || typeof method !== 'string')
    return [errorResponse(id, invalidRequest())];
  if (entry.id === undefined) return []; // a notification
  if (version === null) {
    const error = invalidRequest('Unsupported JSON-RPC protocol version');
    return [toJson({ error: error.toJSON(), id })];
  }
  try {
    return [toJson({ jsonrpc: '2.0', result: sortKeys(call(method, params)), id })];
  } catch (thrown) {
    if (thrown instanceof JsonRpcError) return [errorResponse(id, thrown)];
    onError(thrown);
    return [errorResponse(id, new JsonRpcError(-32603, 'Internal error'))];
  }
}

const errorResponse = (id: JsonRpcId, error: JsonRpcError): string =>
  toJson({ jsonrpc: '2.0', error: error.toJSON(), id });

const isEntry = (value: unknown): value is RequestEntry =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && (!('id' in value) || isId(value.id));

const isId = (id: unknown): id is JsonRpcId =>
  id === null || typeof id === 'string' || ((typeof id === 'bigint' || Number.isInteger(id)) && Number(id) >= 0);
