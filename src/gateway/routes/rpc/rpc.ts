import * as z from 'zod';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { ALL_READ_METHODS } from '../../../shared/domain/rpc-methods.ts';
import { BASE_UNITS } from '../../../shared/domain/units.ts';
import { postRoute, SMALL_READ_UNITS } from '../routing/route.ts';
import { rawJson } from '../routing/schemas.ts';
import { answerRpcBatch } from './answer-rpc-batch.ts';
import { answerRpcCall, missUnitsOfCall } from './answer-rpc-call.ts';
import { parseRpcBody, type RpcBatch, type RpcCall, type RpcRequest } from './parse-rpc-call.ts';
import { RPC_METHODS } from './rpc-cache-policy.ts';

/** The most units of a large result: 32 MiB from the node, and as an answer. */
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
  missUnitPrice: '1 for each started 10 keys of getMultipleAccounts beyond the first, 20 for a scan',
  unitsOf: (request: RpcRequest) => BASE_UNITS * (callsOf(request).length - 1),
  missUnitsOf: (request) => sum(callsOf(request), missUnitsOfCall),
  mostUnitsOf: (request) => sum(callsOf(request), mostUnitsOfCall),
  parse: (body, { rpcProfile }) => parseRpcBody(body, rpcProfile),
  resolve: (request, context, admit, scope) =>
    'calls' in request ? answerRpcBatch(request, context, admit, scope) : answerRpcCall(request, context, admit, scope),
});

const callsOf = (request: RpcRequest): RpcBatch['calls'] => ('calls' in request ? request.calls : [request]);

const sum = (calls: RpcBatch['calls'], unitsOf: (call: RpcCall) => number): number =>
  calls.reduce((units, call) => units + (call instanceof GatewayError ? 0 : unitsOf(call)), 0);

const mostUnitsOfCall = (call: RpcCall): number =>
  (RPC_METHODS[call.method].isLarge === true ? LARGE_RESULT_UNITS : SMALL_READ_UNITS) + missUnitsOfCall(call);
