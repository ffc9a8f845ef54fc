import fc from 'fast-check';
import t from 'tap';
import { READ_METHODS } from '../../src/domain/rpc-methods.ts';
import { startStepped } from '../support/harness.ts';
import { malformedCalls, REJECTED_METHOD_NAMES } from '../support/rpc-method-spellings.ts';

const { get, rpc, cluster } = await startStepped(t, { perSlot: 0 });

const total = async (): Promise<number> =>
  Object.values(await cluster.control.requestCounts()).reduce((sum, calls) => sum + calls, 0);

t.test('a method outside the 21 is 403, whatever it is, and never reaches a node', async (t) => {
  const before = await total();
  const messages = new Set<string>();
  for (const method of REJECTED_METHOD_NAMES) {
    const got = await rpc({ method, params: [] });
    t.equal(got.status, 403, JSON.stringify(method));
    t.equal(got.json.error, 'rpc_method_not_allowed');
    messages.add(got.json.message);
  }
  t.equal(messages.size, 1, 'the message is the same for a write and for an unknown name');
  t.equal(await total(), before);
});

t.test('a batch and a method that is not text are 400 and never reach a node', async (t) => {
  const before = await total();
  for (const body of malformedCalls('getClusterNodes')) t.equal((await rpc(JSON.stringify(body))).status, 400);
  t.equal(await total(), before);
});

t.test('of two methods in one body the last one counts, and only it is sent', async (t) => {
  const before = await cluster.control.requestCounts();
  const smuggled = await rpc('{"method":"getVersion","method":"sendTransaction"}');
  t.equal(smuggled.status, 403);
  const harmless = await rpc('{"method":"sendTransaction","jsonrpc":"2.0","id":"x","method":"getClusterNodes"}');
  t.equal(harmless.status, 200);
  const after = await cluster.control.requestCounts();
  t.equal(after['sendTransaction'], undefined);
  t.equal(after['getClusterNodes'], (before['getClusterNodes'] ?? 0) + 1);
});

t.test('no body thrown at /rpc reaches another method or does harm', async (t) => {
  const json = { 'content-type': 'application/json' };
  const known = new Set<unknown>([...READ_METHODS, 'getGenesisHash']);
  const key = fc.constantFrom('method', 'params', 'id', 'constructor', 'toString');
  const members = fc.dictionary(key, fc.jsonValue());
  const method = fc.oneof(fc.constantFrom<unknown>('sendTransaction', 'getProgramAccounts'), fc.json(), fc.string());
  const body = fc.oneof(
    fc
      .tuple(members, fc.constantFrom({}, { jsonrpc: '2.0' }, { jsonrpc: 2 }))
      .map(([a, b]) => JSON.stringify({ ...a, ...b })),
    fc.record({ method, params: fc.jsonValue() }).map((members) => JSON.stringify(members)),
    fc.json(),
    fc.string(),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
  await fc.assert(
    fc.asyncProperty(body, async (body) => {
      const { status, json: answer } = await get('/rpc', { method: 'POST', headers: json, body });
      const members = Object.keys(answer).join();
      return [400, 403].includes(status)
        ? members === 'error,message'
        : status === 200 && members === 'jsonrpc,error,id' && [-32600, -32601, -32602].includes(answer.error.code);
    }),
    { numRuns: 400 },
  );
  for (const name of Object.keys(await cluster.control.requestCounts())) t.ok(known.has(name), name);
  t.same(Object.keys(Object.prototype), []);
});

t.test('numbers, texts and deep data reach the node unchanged', async (t) => {
  const [address] = ['Vote111111111111111111111111111111111111111'];
  const slice = { encoding: 'base64', dataSlice: { offset: 1, length: 3 } };
  const { json } = await rpc({ method: 'getAccountInfo', params: [address, slice] });
  t.equal(Buffer.from(json.result.value.data[0], 'base64').length, 3);
});
