import { parseExactJson } from '../../shared/domain/parse-exact-json.ts';
import { toJson } from '../../shared/domain/to-json.ts';
import { invalidRequest, JsonRpcError, parseError } from '../encode/json-rpc-error.ts';
import { sortKeys } from '../encode/sort-keys.ts';

/** Answers one well-formed call. Throws JsonRpcError for a refusal. */
export type CallHandler = (method: string, params: unknown) => unknown;

type JsonRpcId = number | bigint | string | null;

/** Parsed entry of a request. */
type RequestEntry =
  | {
      readonly kind: 'call';
      readonly id: JsonRpcId;
      readonly version: unknown;
      readonly method: string;
      readonly params: unknown;
    }
  | { readonly kind: 'notification' }
  | { readonly kind: 'invalid'; readonly id: JsonRpcId };

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
  const entries = (Array.isArray(request) ? request : [request]).map(parseEntry);
  if (entries.some((entry) => entry === undefined)) return errorResponse(null, parseError());
  const answers = entries.flatMap((entry) => (entry === undefined ? [] : handleEntry(entry, call, onError)));
  if (Array.isArray(request)) return answers.length === 0 ? '' : `[${answers.join(',')}]`;
  return answers[0] ?? '';
}

function handleEntry(entry: RequestEntry, call: CallHandler, onError: (thrown: unknown) => void): string[] {
  if (entry.kind === 'notification') return [];
  if (entry.kind === 'invalid') return [errorResponse(entry.id, invalidRequest())];
  if (entry.version === undefined || entry.version === null) {
    const error = invalidRequest('Unsupported JSON-RPC protocol version');
    return [toJson({ error: error.toJSON(), id: entry.id })];
  }
  try {
    return [toJson({ jsonrpc: '2.0', result: sortKeys(call(entry.method, entry.params)), id: entry.id })];
  } catch (thrown) {
    if (thrown instanceof JsonRpcError) return [errorResponse(entry.id, thrown)];
    onError(thrown);
    return [errorResponse(entry.id, new JsonRpcError(-32603, 'Internal error'))];
  }
}

const errorResponse = (id: JsonRpcId, error: JsonRpcError): string =>
  toJson({ jsonrpc: '2.0', error: error.toJSON(), id });

/** Parses an entry; undefined for one that can't be answered because it has no usable id. */
function parseEntry(value: unknown): RequestEntry | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { jsonrpc, id, method, params } = value as Record<string, unknown>; // an object of parsed JSON
  const known = Object.keys(value).every((name) => KNOWN_MEMBERS.has(name));
  const callable = params === undefined || params === null || typeof params === 'object';
  const versioned = jsonrpc === undefined || jsonrpc === null || jsonrpc === '2.0';
  const wellFormed = known && callable && versioned && typeof method === 'string';
  if (id === undefined) return wellFormed ? { kind: 'notification' } : { kind: 'invalid', id: null };
  if (!isId(id)) return undefined;
  return wellFormed ? { kind: 'call', id, version: jsonrpc, method, params } : { kind: 'invalid', id };
}

const isId = (id: unknown): id is JsonRpcId =>
  id === null || typeof id === 'string' || ((typeof id === 'bigint' || Number.isInteger(id)) && Number(id) >= 0);
