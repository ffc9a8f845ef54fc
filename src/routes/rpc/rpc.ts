import { z } from 'zod';
import { READ_METHODS } from '../../domain/rpc-methods.ts';
import { postRoute } from '../../routing/route.ts';
import { rawJson } from '../../routing/schemas.ts';
import { answerRpcCall } from './answer-rpc-call.ts';
import { parseRpcCall } from './parse-rpc-call.ts';

export const rpc = postRoute({
  path: '/rpc',
  summary: "Calls one of the cluster's read methods; the result is the node's own, byte for byte",
  body: z.object({ method: z.enum(READ_METHODS), params: z.array(z.unknown()).optional() }),
  result: rawJson,
  envelope: 'bare',
  errors: ['invalid_json', 'invalid_request', 'invalid_params', 'rpc_method_not_allowed', 'rpc_error'],
  hasSlot: true,
  hasJsonRpcForm: true,
  parse: parseRpcCall,
  resolve: answerRpcCall,
});
