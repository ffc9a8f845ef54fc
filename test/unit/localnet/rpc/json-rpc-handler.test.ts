import t from 'tap';
import { JsonRpcError } from '../../../../src/localnet/encode/json-rpc-error.ts';
import { handleJsonRpc } from '../../../../src/localnet/rpc/json-rpc-handler.ts';

/** Answers for a node with three methods. */
function answer(text: string, defects: unknown[] = []): string {
  const call = (method: string, params: unknown): unknown => {
    if (method === 'echo') return params;
    if (method === 'refuse') throw new JsonRpcError(-32016, 'too early', { contextSlot: 5 });
    throw new TypeError('a defect');
  };
  return handleJsonRpc(text, call, (thrown) => defects.push(thrown));
}

t.test('a batch is answered in order, without its notifications', async (t) => {
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'echo', params: [{ b: 1, a: [2] }] },
    { jsonrpc: '2.0', method: 'echo' },
    { jsonrpc: '2.0', id: 'two', method: 'refuse' },
  ];
  t.equal(
    answer(JSON.stringify(batch)),
    '[{"jsonrpc":"2.0","result":[{"a":[2],"b":1}],"id":1},' +
      '{"jsonrpc":"2.0","error":{"code":-32016,"message":"too early","data":{"contextSlot":5}},"id":"two"}]',
  );
  t.equal(answer('[{"jsonrpc":"2.0","method":"echo"}]'), '', 'no response');
});

t.test('an invalid entry with an id is refused alone, one without an id fails the batch', async (t) => {
  const good = '{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}';
  t.equal(
    answer(`[${good},{"id":2}]`),
    '[{"jsonrpc":"2.0","result":[],"id":1},{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":2}]',
  );
  for (const bad of ['1', 'null', '[]', '{"jsonrpc":"2.0","id":-1,"method":"echo"}', '{"id":true,"method":"echo"}']) {
    t.equal(
      answer(`[${good},${bad}]`),
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}',
      bad,
    );
  }
});

t.test('a defect of a method is an internal error for its caller, and is reported', async (t) => {
  const defects: unknown[] = [];
  const text = answer('{"jsonrpc":"2.0","id":1,"method":"break"}', defects);
  t.equal(text, '{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":1}');
  t.match(defects, [new TypeError('a defect')]);
});
