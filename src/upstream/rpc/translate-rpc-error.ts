import { GatewayError } from '../../domain/gateway-error.ts';
import { RPC_ERROR_CODE } from './rpc-error-code.ts';

/** What a node's refusals mean to who asked, by the node's numbers. */
export type RpcErrorTranslations = Readonly<Record<number, () => GatewayError>>;

/**
 * Puts a node's refusal into the words of a route, for use with `catch`. A refusal without a meaning there says only
 * whether asking again may help: `stale` where no node has come to the slot that it was held to, `upstream_unavailable`,
 * or `upstream_error`. All else is thrown on as it is.
 */
export const translateRpcError =
  (translations: RpcErrorTranslations) =>
  (thrown: unknown): never => {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'rpc_error') throw thrown;
    const translation = thrown.rpcCode === undefined ? undefined : translations[thrown.rpcCode];
    if (translation !== undefined) throw translation();
    if (thrown.rpcCode === RPC_ERROR_CODE.minContextSlotNotReached) throw staleError(thrown);
    throw thrown.status === 503
      ? new GatewayError('upstream_unavailable', 'no node is as far as that yet', { cause: thrown })
      : new GatewayError('upstream_error', 'the upstream refused the read', { cause: thrown });
  };

const staleError = (cause: GatewayError): GatewayError =>
  new GatewayError('stale', 'no upstream has come to the slot that was told already', { cause });
