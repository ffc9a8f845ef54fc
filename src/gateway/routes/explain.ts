import * as z from 'zod';
import { toJson } from '../../shared/domain/to-json.ts';
import { runAdmitted } from '../../shared/runtime/fair-semaphore.ts';
import { requesterOf } from './routing/request-scope.ts';
import { postRoute, type Uses } from './routing/route.ts';

export const explain = postRoute({
  path: '/explain',
  summary: 'Says in one or two sentences what a transaction did, and why it failed if it failed',
  maxBytes: 256 * 1024,
  body: z.object({
    tx: z
      .record(z.string(), z.unknown())
      .describe('The result of `/tx` or of `getTransaction` (json, jsonParsed), or its `enhanced`'),
    perspective: z
      .string()
      .optional()
      .describe('The address of a party of the transaction, from whose view it is explained: “You sent …”'),
    logs: z.array(z.string()).optional().describe('The log messages, if the record lacks them'),
  }),
  result: z.strictObject({ explanation: z.string() }),
  envelope: 'plain',
  errors: ['invalid_json', 'invalid_request', 'invalid_query'],
  hasSlot: false,
  hasJsonRpcForm: false,

  /** Leaves the body as it is: to parse a long one would hold the event loop. */
  parse: (text): Buffer => text,

  async resolve(body, { decoder }: Uses<'decoder'>, admit, scope) {
    const explanation = await runAdmitted(admit, () => decoder.explain(body, requesterOf(scope)));
    return { result: toJson({ explanation }), cacheStatus: 'BYPASS' };
  },
});
