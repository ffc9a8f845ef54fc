import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { parseExactJson } from '../../../shared/domain/parse-exact-json.ts';
import {
  asObject,
  explainTransaction,
  findExceededBound,
  findExceededEnhancedBound,
  isAddress,
  isParty,
  type JsonObject,
  normalizeTransaction,
  type ParsedTransaction,
  parseTransaction,
} from '../../../transactions/index.ts';
import { parseJsonBody } from '../routing/parse-json-body.ts';
import { enhancedTransactionSchema } from '../tx/enhanced-transaction-schema.ts';

const WHAT_TO_POST = 'post the `result` of GET /api/v1/tx/SIG (or of getTransaction, as json or jsonParsed) as `tx`';

/** Explains the transaction in a body of `/explain`. Throws `invalid_json`, `invalid_request` or `invalid_query`. */
export function explainBody(body: Buffer): string {
  const received = parseJsonBody(body); // refuses bodies that nest too deep or have a member `__proto__`
  const { tx, logs, perspective } = asObject(parseExactJson(body.toString()));
  if (!isObject(tx) || !(logs === undefined || isTexts(logs)) || !(perspective === undefined || isAddress(perspective)))
    throw new GatewayError('invalid_request', helpFor(received));
  checkBound(findExceededBound(tx));
  try {
    const parsed = parseRecord(tx, logs);
    if (perspective !== undefined && !isParty(perspective, parsed)) throw notAParty(perspective);
    return explainTransaction(parsed, perspective);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    // Any other failure here comes from the caller's text, so it is a 400.
    const message = `\`tx\` is neither a transaction record nor its enhanced view: ${WHAT_TO_POST}`;
    throw new GatewayError('invalid_request', message, { cause });
  }
}

export const notAParty = (address: string): GatewayError =>
  new GatewayError('invalid_query', `perspective: ${address} is no party to this transaction`);

function parseRecord(tx: JsonObject, logs: readonly string[] | undefined): ParsedTransaction {
  if (tx['transaction'] === undefined) {
    checkBound(findExceededEnhancedBound(tx));
    return enhancedTransactionSchema.parse(tx);
  }
  const recorded = normalizeTransaction(tx);
  return parseTransaction({ ...recorded, logs: logs ?? recorded.logs });
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

/** Throws if the caller's transaction exceeds a bound: its cost would have none, and Solana has no such transaction. */
function checkBound(exceeded: string | undefined): void {
  if (exceeded !== undefined) throw new GatewayError('invalid_request', `\`tx\` is no transaction: ${exceeded}`);
}

function helpFor(received: unknown): string {
  const { signature, tx, transaction } = Object(received);
  const isSignature = typeof tx === 'string' || (typeof signature === 'string' && transaction === undefined);
  return isSignature
    ? `a signature can't be explained here: GET /api/v1/tx/SIG?enhanced=1 says what it did, in \`enhanced.description\`; or ${WHAT_TO_POST}`
    : `the body must be {"tx": {…}, "logs"?: ["…"], "perspective"?: "an address"}: ${WHAT_TO_POST}`;
}
