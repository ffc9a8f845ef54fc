import { DOLLAR } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { exchange, type RawExchange } from '../../../support/raw-http.ts';
import { expectNone, info } from '../../findings.ts';
import { statuses } from '../http/http-case.ts';
import { CALL, call, get, post, request } from '../http/raw-request.ts';
import { expectAll, type WireRow } from '../wire-row.ts';
import { type WireTestbed, withWireTestbed } from '../wire-testbed.ts';

const LIMIT = 40;
const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

/** Slots by the node's answer for their blocks. */
const BLOCK_SLOTS = { pruned: 3, hanging: 4, garbled: 5 } as const;
/** Route with a defect in this row. */
const BROKEN_ROUTE = '/search';

/** A request for each status of the gateway. */
const REQUEST_BY_STATUS: Readonly<Record<number, string>> = {
  101: request('GET /api/v1/stream', ...WEBSOCKET, KEY),
  200: get(),
  204: request('OPTIONS /api/v1/slot'),
  304: get('If-None-Match: *'),
  400: request('GET /api/v1/balance/x'),
  401: get('X-Api-Key: sg_live_x'),
  403: `${post('Content-Length: 28')}{"method":"sendTransaction"}`,
  404: request('GET /api/v1/no'),
  405: request('DELETE /api/v1/slot'),
  410: request(`GET /api/v1/block/${BLOCK_SLOTS.pruned}`),
  413: post('Content-Length: 70000') + 'a'.repeat(70_000),
  414: request(`GET /api/v1/slot?${'a'.repeat(3000)}`),
  415: request('POST /api/v1/rpc', 'Content-Type: text/xml', `Content-Length: ${CALL.length}`) + CALL,
  426: request('GET /api/v1/stream'),
  500: request(`GET /api/v1${BROKEN_ROUTE}?q=${DOLLAR.mint.address}`),
  501: request(`GET /api/v1/token/${DOLLAR.mint.address}/holders?page=2`),
  502: request(`GET /api/v1/block/${BLOCK_SLOTS.garbled}`),
  503: get('X-Min-Slot: 9007199254740991'),
  504: request(`GET /api/v1/block/${BLOCK_SLOTS.hanging}`),
};

/** The units of the statuses that don't cost one: a preflight is free, a scan costs 20 and its second call one. */
const UNITS: Readonly<Record<string, number>> = { 204: 0, 501: 22 };

/** Quota headers of an answer, as integers. */
interface QuotaHeaders {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** Quota headers on every status, with the expected countdown. */
export const rateHeaders: WireRow = {
  id: '23',
  title: 'the three headers and CORS, on an answer of every status',
  run: () =>
    withWireTestbed(
      [`limits.free.requests=${LIMIT}`, 'limits.free.windowSeconds=600', 'upstream.slowTimeoutMs=2000'],
      checkStatuses,
    ),
};

async function checkStatuses({ url, node, gateway }: WireTestbed) {
  node.overrides.set('getBlock', ([slot]) => {
    if (slot === BLOCK_SLOTS.pruned) return { error: '{"code":-32001,"message":"cleaned up"}' };
    return slot === BLOCK_SLOTS.hanging ? new Promise(() => {}) : { result: '7' };
  });
  node.overrides.set('getProgramAccounts', () => ({ error: '{"code":-32010,"message":"excluded"}' }));
  await gateway.breakRoute(BROKEN_ROUTE);
  let [left, right, reset, cors] = [LIMIT, 0, 0, 0];
  const seen = new Set<number>();
  const judge = async (packet: string, weight: number, from?: string): Promise<void> => {
    const exchanged = await exchange(url, [packet], {
      responses: 1,
      ...(from !== undefined && { localAddress: from }),
    });
    const [status = 0] = statuses(exchanged);
    seen.add(status);
    left -= weight;
    const quota = parseQuotaHeaders(exchanged);
    reset ||= quota.reset;
    if (quota.limit === LIMIT && quota.remaining === left && quota.reset === reset) right++;
    else console.error(`   ${status}: ${JSON.stringify(quota)}, not ${left} of ${LIMIT} until ${reset}`);
    if (status === 101 || /\r\naccess-control-expose-headers: X-RateLimit-Limit/i.test(exchanged.text)) cors++;
  };
  const asked = Object.entries(REQUEST_BY_STATUS);
  for (const [status, packet] of asked) await judge(packet, UNITS[status] ?? 1);
  const used = LIMIT - left;
  for (let i = used; i < LIMIT; i++) await exchange(url, [get()]);
  left = 0;
  await judge(get(), 0);
  await judge(call(), 0);
  const judged = asked.length + 2;
  const missing = [...Object.keys(REQUEST_BY_STATUS).map(Number), 429].filter((status) => !seen.has(status));
  for (const status of missing) console.error(`   no answer with ${status}`);
  return [
    info('statuses', [...seen].sort().join(' ')),
    expectNone('missing', missing.length),
    expectAll('with three correct integers', right, judged),
    expectAll('with CORS', cors, judged),
  ];
}

function parseQuotaHeaders({ text }: RawExchange): QuotaHeaders {
  const [limit = NaN, remaining = NaN, reset = NaN] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(new RegExp(`\\r\\nx-ratelimit-${name}: (\\d+)\\r\\n`, 'i').exec(text)?.[1]),
  );
  return { limit, remaining, reset };
}
