import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { rateLimited } from '../../../../src/upstream/rpc/error-normalizer.ts';
import { connectionFault, failureReason, httpFault } from '../../../../src/upstream/rpc/failure-reason.ts';

const coded = (code: string): Error => Object.assign(new Error(`${code} rpc.example.com:443/s3cr3t`), { code });

t.test('a failed connection is told in words, which never hold the host', async (t) => {
  const faults: Record<string, string> = {
    ECONNREFUSED: 'connection refused',
    ENOTFOUND: 'its name was not found',
    EAI_AGAIN: 'its name could not be looked up',
    UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
    EHOSTUNREACH: 'host unreachable',
    UND_ERR_SOCKET: 'connection closed',
    CERT_HAS_EXPIRED: 'TLS error CERT_HAS_EXPIRED',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS error DEPTH_ZERO_SELF_SIGNED_CERT',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS error UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ERR_SSL_WRONG_VERSION_NUMBER: 'TLS error ERR_SSL_WRONG_VERSION_NUMBER',
    ERR_TLS_CERT_ALTNAME_INVALID: 'TLS error ERR_TLS_CERT_ALTNAME_INVALID',
    HPE_INVALID_CONSTANT: 'no valid HTTP response',
    EUNKNOWN: 'EUNKNOWN',
  };
  for (const [code, words] of Object.entries(faults)) t.equal(connectionFault(coded(code)), words);
  t.equal(connectionFault(new Error('Unexpected server response: 401')), 'HTTP 401: check the key in its URL');
  t.equal(connectionFault(new Error('Opening handshake has timed out')), 'no answer in time');
  t.equal(connectionFault(new TypeError('rpc.example.com')), 'TypeError');
  t.equal(connectionFault('rpc.example.com'), 'unknown fault');
});

t.test('a failed call is told by its cause, else by its message', async (t) => {
  const cases: readonly (readonly [thrown: unknown, words: string])[] = [
    [new GatewayError('upstream_error', 'a node sent no valid response', { cause: httpFault(502) }), 'HTTP 502'],
    [new GatewayError('upstream_error', 'a node sent no genesis hash'), 'a node sent no genesis hash'],
    [new GatewayError('rpc_error', '-32005: Node is behind', { rpcCode: -32005 }), 'error -32005: Node is behind'],
    [rateLimited(1), 'too many requests (HTTP 429)'],
    [new Error('a defect at https://rpc.example.com'), 'internal error'],
  ];
  for (const [thrown, words] of cases) t.equal(failureReason(thrown), words);
});
