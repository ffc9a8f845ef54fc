import { z } from 'zod';
import { ALL_READ_METHODS, type ReadMethod } from '../../../shared/domain/rpc-methods.ts';
import { postRoute, SMALL_READ_UNITS } from '../routing/route.ts';
import { rawJson } from '../routing/schemas.ts';
import { answerRpcCall, missUnitsOfCall } from './answer-rpc-call.ts';
import { parseRpcCall } from './parse-rpc-call.ts';

/** The methods whose results may be as long as a response of a node may be. */
const LARGE_METHODS: ReadonlySet<ReadMethod> = new Set([
  'getAccountInfo',
  'getBlock',
  'getBlockProduction',
  'getBlocks',
  'getBlocksWithLimit',
  'getClusterNodes',
  'getMultipleAccounts',
  'getTokenAccountsByDelegate',
  'getTokenAccountsByOwner',
  'getVoteAccounts',
]);

/** The most units of such a result: 32 MiB from the node, and as an answer. */
const LARGE_RESULT_UNITS = 62;

export const rpc = postRoute({
  path: '/rpc',
  summary: "Calls one of the cluster's read methods; the result is the node's own, byte for byte",
  body: z.object({ method: z.enum(ALL_READ_METHODS), params: z.array(z.unknown()).optional() }),
  result: rawJson,
  envelope: 'bare',
  errors: ['invalid_json', 'invalid_request', 'invalid_params', 'rpc_method_not_allowed', 'rpc_error'],
  hasSlot: true,
  hasJsonRpcForm: true,
  missUnitPrice:
    '1 for each started 10 keys of getMultipleAccounts beyond the first, 20 for getSupply and getTokenAccountsByDelegate',
  missUnitsOf: missUnitsOfCall,
  mostUnitsOf: (call) =>
    (LARGE_METHODS.has(call.method) ? LARGE_RESULT_UNITS : SMALL_READ_UNITS) + missUnitsOfCall(call),
  parse: (body, { rpcProfile }) => parseRpcCall(body, rpcProfile),
  resolve: answerRpcCall,
});
