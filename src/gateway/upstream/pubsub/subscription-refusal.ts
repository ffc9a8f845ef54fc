import { members, parseString } from '../json/raw-json.ts';

/** Codes of JSON-RPC 2.0 for what is wrong with one request: invalid request, unknown method, invalid parameters. */
const FAULTS_OF_REQUEST: ReadonlySet<string> = new Set(['-32600', '-32601', '-32602']);

/** Words of nodes that accept no more: "Node subscription limit reached" (agave), "method exceeded limit" (Syndica). */
const NO_MORE = /limit|too many|exceed|maximum|quota/i;

/**
 * Returns true if a node refuses a subscription because it has too many, by the `error` of its response. A valid
 * `accountSubscribe` has nothing else that could be refused; a `programSubscribe` may not be served at all.
 */
export function isOverLimit(method: string, error: Buffer | undefined): boolean {
  try {
    const parts = members(error ?? Buffer.from('{}'));
    if (NO_MORE.test(parseString(parts.get('message') ?? Buffer.from('""')))) return true;
    return method === 'accountSubscribe' && !FAULTS_OF_REQUEST.has(`${parts.get('code')}`);
  } catch {
    return false;
  }
}
