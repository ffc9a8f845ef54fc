import fc from 'fast-check';
import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { isReadMethod, READ_METHODS } from '../../../../src/domain/rpc-methods.ts';
import { parseRpcCall } from '../../../../src/routes/rpc/parse-rpc-call.ts';
import { parseJsonBody } from '../../../../src/routing/parse-json-body.ts';

/** Returns the code of the error for a body, or `accepted`. */
function refusalOf(body: string | Uint8Array): string {
  try {
    parseRpcCall(Buffer.from(body));
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.code;
    throw thrown;
  }
  return 'accepted';
}

t.test('each of the 21 methods is accepted, with params or without', async (t) => {
  t.equal(READ_METHODS.length, 21);
  for (const method of READ_METHODS) {
    const plain = parseRpcCall(Buffer.from(JSON.stringify({ method, id: 1 })));
    t.same(plain, { method, params: [], jsonRpcId: undefined });
    const params = ['x', { commitment: 'confirmed' }, [1, null, true]];
    const jsonRpc = parseRpcCall(Buffer.from(JSON.stringify({ id: 1, jsonrpc: '2.0', method, params })));
    t.same(jsonRpc, { method, params, jsonRpcId: '1' });
  }
});

t.test('any bytes give one of the 21 methods or a documented error', async () => {
  const refusals = ['invalid_json', 'invalid_request', 'invalid_params', 'rpc_method_not_allowed'];
  const method = fc.oneof(fc.constantFrom<unknown>(...READ_METHODS, 'sendTransaction', '__proto__'), fc.jsonValue());
  const body = fc.oneof(
    fc.record({ method, params: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()) }).map((o) => JSON.stringify(o)),
    fc.uint8Array(),
    fc.string(),
  );
  fc.assert(
    fc.property(body, (body) => {
      try {
        return isReadMethod(parseRpcCall(Buffer.from(body)).method);
      } catch (thrown) {
        return thrown instanceof GatewayError && refusals.includes(thrown.code);
      }
    }),
    { numRuns: 2000 },
  );
});

t.test('a number that would be rounded is refused, however deep; the largest exact one is accepted', async (t) => {
  const call = (number: string) => `{"method":"getBlock","params":[[{"x":${number}}]]}`;
  for (const number of ['9007199254740992', '-9007199254740992', '1e16', '1e999', '18446744073709551615'])
    t.equal(refusalOf(call(number)), 'invalid_params', number);
  for (const number of ['9007199254740991', '-9007199254740991', '0.5', '-0'])
    t.equal(refusalOf(call(number)), 'accepted');
});

t.test('a body has at most 2,000 values, counted outside of strings', async (t) => {
  const body = (values: number): string =>
    JSON.stringify({ method: 'getSlot', params: [Array(values).fill(1), ',[{'] });
  t.equal(refusalOf(body(1995)), 'accepted');
  t.equal(refusalOf(body(1996)), 'invalid_request');
});

t.test('nesting is counted outside of strings, before the body is parsed', async (t) => {
  const nested = (levels: number, inside = '') => `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`;
  t.ok(Array.isArray(parseJsonBody(Buffer.from(nested(64)))));
  t.throws(() => parseJsonBody(Buffer.from(nested(65))), { code: 'invalid_json' });
  const brackets = JSON.stringify(`${'['.repeat(500)}"${'{'.repeat(500)}\\`);
  t.same(parseJsonBody(Buffer.from(`[${brackets}]`)), [JSON.parse(brackets)]);
  const start = performance.now();
  t.throws(() => parseJsonBody(Buffer.from('['.repeat(65_536))), { code: 'invalid_json' });
  t.ok(performance.now() - start < 20);
});

t.test('a body that would change a prototype is refused as JSON', async (t) => {
  for (const body of [
    '{"__proto__":{}}',
    '{"a":[{"__proto__":1}]}',
    '{"constructor":{"prototype":{}}}',
    '{"\\u005f_proto__":{}}',
  ])
    t.equal(refusalOf(body), 'invalid_json', body);
  t.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
});
