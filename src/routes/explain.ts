import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import { parseExactJson } from '../domain/parse-exact-json.ts';
import { toJson } from '../domain/to-json.ts';
import { parseJsonBody } from '../routing/parse-json-body.ts';
import { postRoute } from '../routing/route.ts';
import { findExceededEnhancedBound } from '../solana/explain/enhanced-bounds.ts';
import { enhanceTransaction } from '../solana/explain/enhanced-transaction.ts';
import { explainTransaction as explainEnhanced } from '../solana/explain/explain-transaction.ts';
import { normalizeTransaction } from '../solana/transactions/transaction.ts';
import { findExceededBound } from '../solana/transactions/transaction-bounds.ts';
import { enhancedTransactionSchema } from './tx/enhanced-transaction-schema.ts';

const body = z.object({
  tx: z
    .record(z.string(), z.unknown())
    .describe('The result of `/tx` or of `getTransaction` (json, jsonParsed), or its `enhanced`'),
  logs: z.array(z.string()).optional().describe('The log messages, if the record lacks them'),
});

/** A transaction to explain: a record, with logs if it lacks them, or its enhanced view from `/tx?enhanced=1`. */
type ExplainRequest = z.infer<typeof body>;

/**
 * Maximum sum of squared text lengths, about 10 ms of decoding; the largest of 2,282 recorded transactions has 6.6 million.
 * Decoding base58 takes quadratic time, so one text as long as the largest body would take minutes.
 */
const MAX_DECODING_COST = 10_000_000;

/** Returns the sum of the squared lengths of all texts, without the logs, which are never decoded. */
function decodingCost(value: unknown): number {
  if (typeof value === 'string') return value.length ** 2;
  if (typeof value !== 'object' || value === null) return 0;
  let cost = 0;
  for (const [name, part] of Object.entries(value)) if (name !== 'logMessages') cost += decodingCost(part);
  return cost;
}

const WHAT_TO_POST = 'post the `result` of GET /api/v1/tx/SIG (or of getTransaction, as json or jsonParsed) as `tx`';

/** Says what to do instead of posting this body. */
function helpFor(received: unknown): string {
  const { signature, tx, transaction } = Object(received);
  const isSignature = typeof tx === 'string' || (typeof signature === 'string' && transaction === undefined);
  return isSignature
    ? `a signature can't be explained here: GET /api/v1/tx/SIG?enhanced=1 says what it did, in \`enhanced.description\`; or ${WHAT_TO_POST}`
    : `the body must be {"tx": {…}, "logs"?: ["…"]}: ${WHAT_TO_POST}`;
}

export const explain = postRoute({
  path: '/explain',
  summary: 'Says in one or two sentences what a transaction did, and why it failed if it failed',
  maxBytes: 256 * 1024,
  body,
  result: z.strictObject({ explanation: z.string() }),
  envelope: 'plain',
  errors: ['invalid_json', 'invalid_request'],
  hasSlot: false,
  hasJsonRpcForm: false,

  parse(text): ExplainRequest {
    const received = parseJsonBody(text); // refuses bodies that nest too deep or have a member `__proto__`
    const parsed = body.safeParse(parseExactJson(text.toString()));
    if (!parsed.success) throw new GatewayError('invalid_request', helpFor(received));
    const { tx } = parsed.data;
    if (decodingCost(tx) > MAX_DECODING_COST)
      throw new GatewayError('invalid_request', '`tx` has texts that are too long for a transaction');
    checkBound(findExceededBound(tx));
    return parsed.data;
  },

  async resolve(request) {
    return { result: toJson({ explanation: explainRequest(request) }), cacheStatus: 'BYPASS' };
  },
});

/** Throws if the caller's transaction exceeds a bound: its cost would have none, and Solana has no such transaction. */
function checkBound(exceeded: string | undefined): void {
  if (exceeded !== undefined) throw new GatewayError('invalid_request', `\`tx\` is no transaction: ${exceeded}`);
}

function explainRequest({ tx, logs }: ExplainRequest): string {
  const { transaction } = tx;
  try {
    if (transaction === undefined) {
      const enhanced = enhancedTransactionSchema.parse(tx);
      checkBound(findExceededEnhancedBound(enhanced));
      return explainEnhanced(enhanced);
    }
    const recorded = normalizeTransaction(tx);
    return explainEnhanced(enhanceTransaction({ ...recorded, logs: logs ?? recorded.logs }));
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    // Any other failure here comes from the caller's text, so it is a 400.
    const message = `\`tx\` is neither a transaction record nor its enhanced view: ${WHAT_TO_POST}`;
    throw new GatewayError('invalid_request', message, { cause });
  }
}
