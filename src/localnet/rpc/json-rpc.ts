import { parseExactJson } from '../../domain/parse-exact-json.ts';
import { toJson } from '../../domain/to-json.ts';
import { byName } from '../encode/member-order.ts';
import { internalError, invalidRequest, NodeError, parseError } from '../encode/node-error.ts';

/** Answers one well-formed call. Throws NodeError for a refusal. */
export type Call = (method: string, params: unknown) => unknown;

type Id = number | bigint | string | null;

/** What one entry of a request turned out to be. */
type Entry =
  | {
      readonly kind: 'call';
      readonly id: Id;
      readonly version: unknown;
      readonly method: string;
      readonly params: unknown;
    }
  | { readonly kind: 'notification' }
  | { readonly kind: 'invalid'; readonly id: Id };

const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/**
 * Answers the text of a JSON-RPC request, single or batch, with the text of its answer; empty where a node has nothing
 * to say. `call` is asked for each call in it; what it throws besides NodeError goes to `onError`. One entry that is no
 * request at all spoils its whole batch.
 */
export function answerJsonRpc(text: string, call: Call, onError: (thrown: unknown) => void): string {
  let request: unknown;
  try {
    request = parseExactJson(text);
  } catch {
    return failure(null, parseError());
  }
  const entries = (Array.isArray(request) ? request : [request]).map(entryOf);
  if (entries.some((entry) => entry === undefined)) return failure(null, parseError());
  const answers = entries.flatMap((entry) => (entry === undefined ? [] : answerEntry(entry, call, onError)));
  if (Array.isArray(request)) return answers.length === 0 ? '' : `[${answers.join(',')}]`;
  return answers[0] ?? '';
}

function answerEntry(entry: Entry, call: Call, onError: (thrown: unknown) => void): string[] {
  if (entry.kind === 'notification') return [];
  if (entry.kind === 'invalid') return [failure(entry.id, invalidRequest())];
  if (entry.version === undefined || entry.version === null) {
    const error = invalidRequest('Unsupported JSON-RPC protocol version');
    return [toJson({ error: error.toJSON(), id: entry.id })];
  }
  try {
    return [toJson({ jsonrpc: '2.0', result: byName(call(entry.method, entry.params)), id: entry.id })];
  } catch (thrown) {
    if (thrown instanceof NodeError) return [failure(entry.id, thrown)];
    onError(thrown);
    return [failure(entry.id, internalError())];
  }
}

const failure = (id: Id, error: NodeError): string => toJson({ jsonrpc: '2.0', error: error.toJSON(), id });

/** Sorts an entry; undefined for what can't even be refused, because it has no usable id. */
function entryOf(value: unknown): Entry | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { jsonrpc, id, method, params } = value as Record<string, unknown>; // an object that JSON gave
  const known = Object.keys(value).every((name) => MEMBERS.has(name));
  const callable = params === undefined || params === null || typeof params === 'object';
  const versioned = jsonrpc === undefined || jsonrpc === null || jsonrpc === '2.0';
  const wellFormed = known && callable && versioned && typeof method === 'string';
  if (id === undefined) return wellFormed ? { kind: 'notification' } : { kind: 'invalid', id: null };
  if (!isId(id)) return undefined;
  return wellFormed ? { kind: 'call', id, version: jsonrpc, method, params } : { kind: 'invalid', id };
}

const isId = (id: unknown): id is Id =>
  id === null || typeof id === 'string' || ((typeof id === 'bigint' || Number.isInteger(id)) && Number(id) >= 0);
