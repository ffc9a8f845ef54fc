import type { ErrorCode, GatewayError } from '../../../shared/domain/gateway-error.ts';
import { RPC_ERROR_CODE } from '../../upstream/rpc/rpc-error-code.ts';

/** Returns the text before and after the result of a JSON-RPC call, its members in the order of a node's. */
export const jsonRpcFrame = (id: string): readonly [before: string, after: string] => [
  '{"jsonrpc":"2.0","result":',
  `,"id":${id}}`,
];

/** Writes the error of a JSON-RPC call. `data` is that of the node, and its `error` the stable code that the plain form has. */
export function jsonRpcError(id: string, error: GatewayError): string {
  const { rpcCode, rpcData, message } = error;
  const isFromNode = error.code === 'rpc_error' && rpcCode !== undefined;
  const code = isFromNode ? rpcCode : (JSON_RPC_CODES[error.code] ?? INTERNAL_ERROR);
  const text = isFromNode ? message.replace(`${rpcCode}: `, '') : message; // the plain form has no other place for it
  const data = `{${rpcData === undefined ? '' : `${rpcData},`}"error":"${error.code}"}`;
  return `{"jsonrpc":"2.0","error":{"code":${code},"message":${JSON.stringify(text)},"data":${data}},"id":${id}}`;
}

/** JSON-RPC codes of the gateway's own errors; all others are {@link INTERNAL_ERROR}. */
const JSON_RPC_CODES: { readonly [C in ErrorCode]?: number } = {
  invalid_request: RPC_ERROR_CODE.invalidRequest,
  rpc_method_not_allowed: RPC_ERROR_CODE.methodNotFound,
  invalid_params: RPC_ERROR_CODE.invalidParams,
  min_slot_not_reached: RPC_ERROR_CODE.minContextSlotNotReached,
};

const INTERNAL_ERROR = -32603;
