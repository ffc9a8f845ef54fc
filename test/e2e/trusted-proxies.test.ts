import t from 'tap';
import { type GatewayHarness, startStepped } from '../support/harness.ts';
import { exchange, parseResponses, type RawResponse } from '../support/raw-http.ts';

/** Builds the PROXY protocol header, version 2, that a proxy sends before a caller's first byte. */
const preface = (...address: number[]): Buffer =>
  Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
    Buffer.of(0x21, 0x11, 0, 12, ...address, 127, 0, 0, 1, 0x30, 0x39, 0, 80),
  ]);

const GET = 'GET /api/v1/slot HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST = 'GET /api/v1/slot HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

const left = ({ head }: RawResponse): number => Number(/x-ratelimit-remaining: (\d+)/i.exec(head)?.[1]);

/** Sends bytes on a new connection; returns the remaining quota after each answer until the close. */
async function ask({ gateway }: GatewayHarness, ...bytes: (string | Buffer)[]): Promise<readonly number[]> {
  const { text } = await exchange(gateway.url, [Buffer.concat(bytes.map((part) => Buffer.from(part)))]);
  return parseResponses(text).map(left);
}

const SET = ['limits.free.requests=100'];

t.test('20: behind a trusted proxy the PROXY header names the caller', async (t) => {
  const world = await startStepped(t, { set: [...SET, 'trustedProxies=127.0.0.1'] });
  t.same(await ask(world, preface(203, 0, 113, 9), LAST), [99]);
  t.same(await ask(world, preface(203, 0, 113, 9), LAST), [98]);
  t.same(await ask(world, preface(203, 0, 113, 10), LAST), [99]);
  t.same(await ask(world, LAST), [99], 'the proxy itself');
});

t.test(
  '20: a caller behind it cannot become another in its next request: the connection closes after one answer',
  async (t) => {
    const world = await startStepped(t, { set: [...SET, 'trustedProxies=127.0.0.1'] });
    const [first, ...more] = await ask(world, preface(203, 0, 113, 9), GET, preface(203, 0, 113, 11), GET);
    t.ok(first === undefined || first === 99);
    t.same(more, []);
    t.same(await ask(world, preface(203, 0, 113, 11), LAST), [99], 'nothing was counted for the one he claimed to be');
  },
);

t.test('20: from anybody else the header is only bytes', async (t) => {
  const world = await startStepped(t, { set: [...SET, 'trustedProxies=10.0.0.0/8'] });
  t.same(await ask(world, preface(203, 0, 113, 9), LAST), [99]);
  t.same(await ask(world, preface(203, 0, 113, 10), LAST), [98]);
});
