import t from 'tap';
import { ERRORS, type ErrorCode, GatewayError } from '../../../src/domain/gateway-error.ts';

const codes = Object.keys(ERRORS) as ErrorCode[]; // the table's own keys

t.test('every code has the status of the table, and a body with two members', async (t) => {
  for (const code of codes) {
    const error = new GatewayError(code, 'why');
    t.match(code, /^[a-z]+(_[a-z]+)*$/);
    t.equal(error.status, ERRORS[code].status);
    t.equal(JSON.stringify(error), `{"error":"${code}","message":"why"}`);
  }
});

t.test('every 503 has a Retry-After, other errors only when it is given', async (t) => {
  for (const code of codes)
    t.equal(new GatewayError(code, '').retryAfter, ERRORS[code].status === 503 ? 1 : undefined, code);
  t.equal(new GatewayError('stale', '', { retryAfter: 9 }).retryAfter, 9);
  t.equal(new GatewayError('rate_limited', '', { retryAfter: 3 }).retryAfter, 3);
  t.equal(new GatewayError('rpc_error', '', { status: 503 }).retryAfter, 1);
});

t.test('details are kept outside the body', async (t) => {
  const error = new GatewayError('rpc_error', 'no', { status: 404, rpcCode: -32009, cause: 'http://key@node' });
  t.match(error, { status: 404, rpcCode: -32009, cause: 'http://key@node' });
  t.equal(JSON.stringify(error), '{"error":"rpc_error","message":"no"}');
  t.equal(new GatewayError('method_not_allowed', '', { allow: 'GET' }).allow, 'GET');
});

t.test('any other thrown value becomes an internal error without details', async (t) => {
  const known = new GatewayError('not_found', 'x');
  t.equal(GatewayError.from(known), known);
  for (const thrown of [new Error('http://key@node'), 'text', undefined, null]) {
    const error = GatewayError.from(thrown);
    t.equal(JSON.stringify(error), '{"error":"internal_error","message":"internal error"}');
    t.equal(error.status, 500);
    t.equal(error.cause, thrown);
  }
});
