import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import { parseExactJson } from '../domain/parse-exact-json.ts';
import { toJson } from '../domain/to-json.ts';
import { parseJsonBody } from '../routing/parse-json-body.ts';
import { postRoute } from '../routing/route.ts';
import { enhanceTransaction } from '../solana/explain/enhanced-transaction.ts';
import { explainTransaction as explainEnhanced } from '../solana/explain/explain-transaction.ts';
import { normalizeTransaction } from '../solana/transactions/transaction.ts';
import { enhancedTransactionSchema } from './tx/enhanced-transaction-schema.ts';

const body = z.object({
  tx: z
    .record(z.string(), z.unknown())
    .describe('The result of `/tx` or of `getTransaction` (json, jsonParsed), or its `enhanced`'),
  logs: z.array(z.string()).optional().describe('The log messages, where the record lacks them'),
});

/** What is to be explained: a record, with the logs it may lack, or what `/tx?enhanced=1` made of one. */
type ExplainRequest = z.infer<typeof body>;

/**
 * The time that base58 takes to decode grows with the square of its length: a text as long as the body may be would
 * take minutes. No transaction comes near this, which takes a tenth of a second.
 */
const MAX_DECODING_COST = 40_000_000;

/** The sum of the squares of all lengths; the logs are never decoded. */
function decodingCost(value: unknown): number {
  if (typeof value === 'string') return value.length ** 2;
  if (typeof value !== 'object' || value === null) return 0;
  let cost = 0;
  for (const [name, part] of Object.entries(value)) if (name !== 'logMessages') cost += decodingCost(part);
  return cost;
}

export const explain = postRoute({
  path: '/explain',
  summary: 'Says in one or two sentences what a transaction did, and why it failed if it did',
  maxBytes: 256 * 1024,
  body,
  result: z.strictObject({ explanation: z.string() }),
  envelope: 'plain',
  errors: ['invalid_json', 'invalid_request'],

  parse(text): ExplainRequest {
    parseJsonBody(text); // refuses what nests too deep or reaches for a prototype
    const parsed = body.safeParse(parseExactJson(text.toString()));
    if (parsed.success && decodingCost(parsed.data.tx) <= MAX_DECODING_COST) return parsed.data;
    throw new GatewayError(
      'invalid_request',
      'the body must be {"tx": {…}, "logs"?: ["…"]}, as a node would write them',
    );
  },

  async resolve(question) {
    return { result: toJson({ explanation: explainRequest(question) }), cacheStatus: 'BYPASS' };
  },
});

function explainRequest({ tx, logs }: ExplainRequest): string {
  const { transaction } = tx;
  try {
    if (transaction === undefined) return explainEnhanced(enhancedTransactionSchema.parse(tx));
    const recorded = normalizeTransaction(tx);
    return explainEnhanced(enhanceTransaction({ ...recorded, logs: logs ?? recorded.logs }));
  } catch (cause) {
    // Whatever it is that can't be told, it is the caller's text.
    throw new GatewayError('invalid_request', '`tx` is neither a transaction record nor its enhanced view', { cause });
  }
}
