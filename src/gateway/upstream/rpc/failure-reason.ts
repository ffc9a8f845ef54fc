import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { rpcFaultOf } from './error-normalizer.ts';

/** The cause where a connection that was open has ended. */
export const CONNECTION_CLOSED = 'connection closed';

/** Causes of failed connections by the codes of Node, OpenSSL and undici; any other code is shown as it is. */
const CONNECTION_FAULTS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'its name was not found'],
  ['EAI_AGAIN', 'its name could not be looked up'],
  ['ETIMEDOUT', 'no connection in time'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection in time'],
  ['EHOSTUNREACH', 'host unreachable'],
  ['ENETUNREACH', 'network unreachable'],
  ['ECONNRESET', CONNECTION_CLOSED],
  ['EPIPE', CONNECTION_CLOSED],
  ['UND_ERR_SOCKET', CONNECTION_CLOSED],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'a response of more bytes than upstreamPolicy.maxBytes'],
]);

const TLS_CODE = /CERT|SSL|TLS|EPROTO|SIGNATURE|SELF_SIGNED/;
/** Code of a parser of HTTP: of Node (`HPE_INVALID_CONSTANT`) or of ws. */
const NOT_HTTP_CODE = /^HPE_|^WS_ERR/;

/** Says in words why a connection failed. The error's own message is not used, since it may hold the host. */
export function connectionFault(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown fault';
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const known = CONNECTION_FAULTS.get(code);
  if (known !== undefined) return known;
  if (TLS_CODE.test(code)) return `TLS error ${code}`;
  if (NOT_HTTP_CODE.test(code)) return 'no valid HTTP response';
  const [, status] = /^Unexpected server response: (\d{3})$/.exec(thrown.message) ?? []; // of ws
  if (status !== undefined) return httpFault(Number(status));
  if (thrown.message === 'Opening handshake has timed out') return 'no answer in time'; // of ws
  return code === '' ? thrown.name : code;
}

/** Says in words what is wrong with a response that is not a JSON-RPC response, by its HTTP status. */
export function httpFault(status: number): string {
  switch (status) {
    case 200:
      return 'the response is not JSON-RPC';
    case 401:
    case 403:
      return `HTTP ${status}: check the key in its URL`;
    case 404:
      return 'HTTP 404: check the path of its URL';
    default:
      return `HTTP ${status}`;
  }
}

/** Says in words why a call to a node failed, without its address: to the operator, and to callers of `/health`. */
export function failureReason(thrown: unknown): string {
  if (!(thrown instanceof GatewayError)) return 'internal error';
  const { cause, code, message } = thrown;
  if (rpcFaultOf(thrown) === 'rate-limit') return 'too many requests (HTTP 429)';
  if (typeof cause === 'string') return cause;
  return code === 'rpc_error' ? `error ${message}` : message;
}
