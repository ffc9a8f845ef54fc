import { inspect } from 'node:util';
import t, { type Test } from 'tap';
import type { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { RequestCost } from '../../../../src/domain/request-cost.ts';
import { RpcClient } from '../../../../src/upstream/rpc/rpc-client.ts';
import type { UpstreamSettings } from '../../../../src/upstream/upstream-options.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  errorBody,
  type ReplyScript,
  resultBody,
  ScriptedNode,
  SECRET,
  waitUntil,
} from '../../../support/scripted-node.ts';
import { UPSTREAM_SETTINGS } from '../../../support/upstream-settings.ts';

async function open(t: Test, settings: Partial<UpstreamSettings> = {}) {
  const server = await ScriptedNode.start();
  const clock = new ManualClock();
  const node = new RpcClient(server.nodeOptions('node-1'), {
    clock,
    random: () => 0,
    settings: { ...UPSTREAM_SETTINGS, ...settings },
  });
  node.slots.observe('finalized', 68);
  node.slots.observe('confirmed', 98);
  t.teardown(async () => {
    await node.close();
    await server.close();
  });
  return { server, clock, node };
}

const raw =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): ReplyScript =>
  (response) =>
    response.writeHead(status, headers).end(body);
const refusing =
  (error: string): ReplyScript =>
  (response, request) =>
    response.end(errorBody(request, error));
const hang: ReplyScript = () => {};
const failure = (work: Promise<unknown>): Promise<GatewayError> =>
  work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error) => error,
  );

t.test('every digit of a response is kept', async (t) => {
  const { server, node } = await open(t);
  const account = '{"lamports":9007199254740993,"rentEpoch":18446744073709551615,"space":0}';
  server.replies.getAccountInfo = `{ "context" : {"apiVersion":"4.2.2","slot":99} , "value" : ${account} }`;
  const { slot, value, result } = await node.call('getAccountInfo', ['x', { commitment: 'confirmed' }], 'confirmed');
  t.equal(slot, 99);
  t.equal(`${value}`, account);
  t.equal(`${result}`, server.replies.getAccountInfo);
  t.equal(node.apiVersion, '4.2.2');
  t.equal(node.slots.latest('confirmed'), 99);
});

t.test('every digit of a parameter is kept', async (t) => {
  const { server, node } = await open(t);
  server.replies.getBlockTime = '1700000000';
  await node.call('getBlockTime', [18446744073709551615n], 'confirmed');
  t.match(
    server.httpRequests[0]?.text,
    /^\{"jsonrpc":"2.0","id":\d+,"method":"getBlockTime","params":\[18446744073709551615\]\}$/,
  );
});

t.test('a response without a context holds at the newest slot reported before the request', async (t) => {
  const { server, node } = await open(t);
  server.replies.getTransaction = (response, request) => {
    node.slots.observe('confirmed', 500);
    response.end(resultBody(request, 'null'));
  };
  t.match(await node.call('getTransaction', ['x'], 'confirmed'), { slot: 98, value: Buffer.from('null') });
  t.equal((await node.call('getTransaction', ['x'], 'finalized')).slot, 68);
});

t.test('a response to a call with minContextSlot holds at that slot', async (t) => {
  const { server, node } = await open(t);
  server.replies.getSignaturesForAddress = '[]';
  server.replies.getBlockHeight = '77';
  server.replies.getTransaction = 'null';
  const params = ['x', { minContextSlot: 97 }];
  t.equal((await node.call('getSignaturesForAddress', params, 'confirmed')).slot, 97);
  t.equal((await node.call('getBlockHeight', params.slice(1), 'confirmed')).slot, 97);
  t.equal((await node.call('getTransaction', params, 'confirmed')).slot, 98, 'this method knows no such parameter');
});

t.test('getSlot and getEpochInfo name their slot, at the commitment of the call', async (t) => {
  const { server, node } = await open(t);
  server.slots = { processed: 120, confirmed: 118, finalized: 88 };
  server.replies.getEpochInfo = '{"absoluteSlot":117,"epoch":3}';
  t.equal((await node.call('getSlot', [], 'confirmed')).slot, 88);
  t.strictSame([node.slots.latest('finalized'), node.slots.latest('confirmed')], [88, 98]);
  t.equal((await node.call('getEpochInfo', [{ commitment: 'confirmed' }], 'processed')).slot, 117);
  server.replies.getSlot = '119';
  t.equal((await node.call('getSlot', [{ commitment: 'recent' }], 'confirmed')).slot, 119);
  t.strictSame(
    [node.slots.latest('processed'), node.slots.latest('confirmed')],
    [117, 117],
    'an unknown commitment changes nothing',
  );
});

t.test('program accounts hold at their context if they have one', async (t) => {
  const { server, node } = await open(t);
  server.replies.getProgramAccounts = '[]';
  t.match(await node.call('getProgramAccounts', ['x'], 'confirmed'), { slot: 98, value: Buffer.from('[]') });
  server.replies.getProgramAccounts = '{"context":{"slot":99},"value":[1]}';
  t.match(await node.call('getProgramAccounts', ['x'], 'confirmed'), { slot: 99, value: Buffer.from('[1]') });
});

t.test('an invalid response is an upstream_error', async (t) => {
  const { server, node } = await open(t);
  const wrong: Record<string, ReplyScript> = {
    'a wrong id': (response, request) => response.end(resultBody({ ...request, id: request.id + 1 }, '1')),
    'another protocol': (response, request) => response.end(resultBody(request, '1').replace('2.0', '1.0')),
    'no result': (response, request) => response.end(`{"jsonrpc":"2.0","id":${request.id}}`),
    'a batch': (response, request) => response.end(`[${resultBody(request, '1')}]`),
    'truncated JSON': (response, request) => response.end(resultBody(request, '1').slice(0, -1)),
    'a truncated body': (response, request) => {
      response.writeHead(200, { 'content-length': 1000 }).write(resultBody(request, '1'));
      setTimeout(() => response.destroy(), 5);
    },
    'another protocol altogether': (response) => response.socket?.end('hello\r\n\r\n'),
    'a page': raw('<html>Bad gateway</html>', 502),
    nothing: raw(''),
    'a result with the wrong status': (response, request) => response.writeHead(500).end(resultBody(request, '1')),
    'an error that is none': refusing('"no"'),
    'an error without a code': refusing('{"message":"no"}'),
    'an error that is too long': refusing(`{"code":-32602,"message":"${'x'.repeat(70_000)}"}`),
  };
  for (const [name, reply] of Object.entries(wrong)) {
    server.replies.getVersion = reply;
    t.match(await failure(node.request('getVersion', [])), { code: 'upstream_error', status: 502 }, name);
    t.ok(node.isFailing, name);
  }
  server.replies.getBalance = '7';
  t.match(await failure(node.call('getBalance', ['x'], 'confirmed')), { code: 'upstream_error' }, 'no context');
  server.replies.getBalance = '{"context":{"slot":1.5},"value":7}';
  t.match(await failure(node.call('getBalance', ['x'], 'confirmed')), { code: 'upstream_error' }, 'no slot');
  server.replies.getVersion = '1';
  t.equal(`${await node.request('getVersion', [])}`, '1', 'the node is usable all the same');
  t.notOk(node.isFailing);
  server.replies.getVersion = raw('request body size exceeds allowed maximum', 413);
  for (let i = 0; i < 50; i++)
    t.match(await failure(node.request('getVersion', [])), { code: 'payload_too_large', status: 413 });
  t.notOk(node.isFailing || node.breaker.isOpen, 'a call that is too long says nothing about the node');
  server.replies.getBlock = refusing('{"code":-32603,"message":"Internal error"}');
  const cost = new RequestCost('a caller', false);
  for (let i = 0; i < 200; i++) await failure(node.request('getBlock', [i], { cost }));
  t.notOk(node.breaker.isOpen, 'nor does a refusal of what a caller asks for');
  for (let i = 0; i < 200; i++) await failure(node.request('getBlock', [i]));
  t.ok(node.breaker.isOpen, "but one of the gateway's own calls does");
});

t.test('an endless response is cut off', async (t) => {
  const { server, node } = await open(t, { maxBytes: 100_000 });
  let closed = false;
  server.replies.getVersion = (response) => {
    response.on('close', () => {
      closed = true;
    });
    const flow = () => {
      if (!closed) response.write('x'.repeat(10_000), () => setImmediate(flow));
    };
    flow();
  };
  t.match(await failure(node.request('getVersion', [])), { code: 'result_too_large', status: 413 });
  await waitUntil(() => closed);
});

t.test('a call to a hung node fails at its deadline, a slow method later', async (t) => {
  const { server, clock, node } = await open(t);
  server.replies.getBalance = hang;
  server.replies.getBlock = (response) => response.write('{"jsonrpc":'); // starts, and never ends
  const [fast, slow] = [failure(node.request('getBalance', [])), failure(node.request('getBlock', []))];
  await waitUntil(() => server.httpRequests.length === 2);
  clock.advance(1999);
  t.notOk(node.isFailing);
  clock.advance(1);
  t.match(await fast, { code: 'upstream_timeout', status: 504 });
  t.ok(node.isFailing);
  server.replies.getVersion = '1';
  await node.request('getVersion', []);
  clock.advance(8000);
  t.match(await slow, { code: 'upstream_timeout', status: 504 });
  t.notOk(node.isFailing, 'a long scan says nothing about the node');
});

t.test('calls beyond the queue are overloaded, the rest is served in order', async (t) => {
  const { server, clock, node } = await open(t, { connections: 2, queue: 3 });
  const delayed: (() => void)[] = [];
  server.replies.getBlockTime = (response, request) => {
    delayed.push(() => response.end(resultBody(request, `${request.params[0]}`)));
  };
  const pending = [0, 1, 2, 3, 4].map((n) => node.request('getBlockTime', [n]));
  t.match(await failure(node.request('getBlockTime', [5])), { code: 'overloaded', status: 503, retryAfter: 1 });
  for (let n = 0; n < 3; n++) {
    await waitUntil(() => delayed.length > n);
    delayed[n]?.();
    t.equal(`${await pending[n]}`, `${n}`);
  }
  await waitUntil(() => delayed.length === 5);
  t.strictSame(server.httpRequests.map(({ params }) => params[0]).sort(), [0, 1, 2, 3, 4]);
  t.equal(node.requestCount, 5);
  const late = failure(node.request('getBlockTime', [6]));
  clock.advance(2000);
  t.match(await late, { code: 'upstream_timeout' }, 'the deadline counts from the question, not from the sending');
  t.equal(node.requestCount, 5, 'a call that timed out in the queue is never sent');
  await Promise.allSettled(pending);
});

t.test('a rate-limited node is not called for the time that it names', async (t) => {
  const { server, clock, node } = await open(t);
  const refusals: Record<string, ReplyScript> = {
    'HTTP 429': raw('slow down', 429, { 'retry-after': '7' }),
    'HTTP 429 with a date': (response) =>
      response.writeHead(429, { 'retry-after': new Date(clock.now() + 7000).toUTCString() }).end(),
    'JSON 429': (response, request) =>
      response.writeHead(200, { 'retry-after': '7' }).end(errorBody(request, '{"code":429,"message":"Too many"}')),
    'a borrowed number': (response, request) =>
      response
        .writeHead(200, { 'retry-after': '7' })
        .end(errorBody(request, '{"code":-32005,"message":"Rate limit reached"}')),
  };
  for (const [name, reply] of Object.entries(refusals)) {
    server.replies.getVersion = reply;
    t.match(await failure(node.request('getVersion', [])), { code: 'upstream_unavailable', retryAfter: 7 }, name);
    const sent = node.requestCount;
    clock.advance(6500);
    t.match(await failure(node.request('getVersion', [])), { code: 'upstream_unavailable', retryAfter: 1 }, name);
    t.equal(node.requestCount, sent, name);
    clock.advance(500);
    server.replies.getVersion = '1';
    t.equal(`${await node.request('getVersion', [])}`, '1', name);
  }
});

t.test("a node's errors keep their code and get the status of their kind", async (t) => {
  const { server, node } = await open(t);
  const statuses: Record<number, readonly number[]> = {
    400: [-32600, -32602, -32015],
    404: [-32001, -32004, -32007, -32009, -32011, -32014, -32020],
    503: [-32005, -32016],
    502: [-32601, -32603, -32010, -32012, -32019, 403, 1],
  };
  for (const [status, codes] of Object.entries(statuses)) {
    for (const code of codes) {
      server.replies.getBlock = refusing(`{"code":${code},"message":"Slot 5 was skipped","data":null}`);
      t.match(await failure(node.request('getBlock', [5])), {
        code: 'rpc_error',
        status: Number(status),
        rpcCode: code,
        message: `${code}: Slot 5 was skipped`,
        retryAfter: status === '503' ? 1 : undefined,
      });
    }
  }
  server.replies.getHealth = refusing(
    '{"code":-32005,"message":"Node is behind by 42 slots, over the limit","data":{"numSlotsBehind":42}}',
  );
  t.match(await failure(node.request('getHealth', [])), { code: 'rpc_error', status: 503 }, 'this is no rate limit');
});

t.test('no error shows a URL, a key or a host', async (t) => {
  const { server, clock, node } = await open(t);
  const { url } = server.nodeOptions('');
  const inspected = (error: Error) => inspect(error, { depth: 10, showHidden: true });
  const leaky: ReplyScript[] = [
    refusing(JSON.stringify({ code: -32602, message: `Bad key ${SECRET} at ${url}, see rpc.example.com/v1/abc` })),
    refusing(JSON.stringify({ code: -32602, message: `${'x'.repeat(990)} ${url}` })),
    raw(url, 429),
    raw(url, 502),
    raw(`"${url}`),
    (response) => response.destroy(),
    (response) => response.socket?.end(`${url}\r\n\r\n`),
  ];
  for (const reply of leaky) {
    server.replies.getVersion = reply;
    t.notMatch(inspected(await failure(node.request('getVersion', []))), new RegExp(`${SECRET}|127.0.0.1|example`));
    clock.advance(1000); // past the pause after a 429
  }
  await server.close();
  const refused = await failure(node.request('getVersion', []));
  t.match(refused, { code: 'upstream_unavailable', cause: 'connection refused' });
  t.notMatch(inspected(refused), new RegExp(`${SECRET}|127.0.0.1`));
});
