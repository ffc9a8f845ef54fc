import { z } from 'zod';
import { READ_METHODS } from '../../domain/rpc-methods.ts';
import { post } from '../../routing/route.ts';
import { raw } from '../../routing/shapes.ts';
import { answerCall } from './rpc-answer.ts';
import { parseCall } from './rpc-call.ts';

export const rpc = post({
  path: '/rpc',
  summary: "Calls one of the cluster's read methods; the result is the node's own, byte for byte",
  body: z.object({ method: z.enum(READ_METHODS), params: z.array(z.unknown()).optional() }),
  result: raw,
  envelope: 'bare',
  errors: ['invalid_json', 'invalid_request', 'invalid_params', 'rpc_method_not_allowed', 'rpc_error', 'stale'],
  parse: parseCall,
  resolve: answerCall,
});
