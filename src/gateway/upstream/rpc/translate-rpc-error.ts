import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { meaningOfCode, RPC_ERROR_CODE } from './rpc-error-code.ts';

/** Errors that RPC error codes, and those of the same meaning, become in a route. */
export type RpcErrorTranslations = Readonly<Record<number, () => GatewayError>>;

/** Creates a `catch` handler that throws what {@link translatedError} returns. */
export const translateRpcError =
  (translations: RpcErrorTranslations) =>
  (thrown: unknown): never => {
    throw translatedError(thrown, translations);
  };

/**
 * Converts a node's RPC error to a route's error. A code without a translation says only whether a retry may help: `stale`
 * where no node has reached the `minContextSlot`, `upstream_unavailable`, or `upstream_error`. Any other error stays as it is.
 */
export function translatedError(thrown: unknown, translations: RpcErrorTranslations): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'rpc_error') return thrown;
  const code = meaningOfCode(thrown.rpcCode);
  const translation = code === undefined ? undefined : translations[code];
  if (translation !== undefined) return translation();
  if (thrown.rpcCode === RPC_ERROR_CODE.minContextSlotNotReached) return staleError(thrown);
  return thrown.status === 503
    ? new GatewayError('upstream_unavailable', 'no node has reached that slot yet', { cause: thrown })
    : new GatewayError('upstream_error', 'the upstream refused the read', { cause: thrown });
}

const staleError = (cause: GatewayError): GatewayError =>
  new GatewayError('stale', 'no upstream has reached the slot of an answer already served', { cause });
