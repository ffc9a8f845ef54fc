import { Cache } from '../../src/gateway/cache/cache.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import type { Route } from '../../src/gateway/routes/routing/route.ts';
import { COINS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { TARGET_SLOT_MS } from '../../src/shared/domain/slot-time.ts';
import type { HttpAnswer, LogLine, SteppedHarness } from './harness.ts';
import { rpcRequest } from './rpc-request.ts';

const SECRET_MESSAGE = 'what only the log may know';

/** Settings without live data and refreshes, which are answered without calling a route. */
export const WITHOUT_LIVE_DATA: readonly string[] = ['live.accounts=0', 'live.lists=0', 'refresh.hotKeys=0'];

/** Functions that take the place of a working one. */
export const DEFECTS = {
  throws: (): never => {
    throw new TypeError(SECRET_MESSAGE);
  },
  rejects: (): Promise<never> => Promise.reject(new TypeError(SECRET_MESSAGE)),
} as const;

/** Replaces a member while `body` runs. */
export async function withReplaced<T>(
  owner: object,
  name: string,
  member: unknown,
  work: () => Promise<T>,
): Promise<T> {
  if (!(name in owner)) throw new Error(`nothing to replace: ${name}`);
  const original = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value: member, configurable: true, writable: true });
  try {
    return await work();
  } finally {
    if (original !== undefined) Object.defineProperty(owner, name, original);
  }
}

/** Requests something from a route, named by its path, that is not cached. */
export type RouteCaller = (path: string) => Promise<HttpAnswer>;

/** One for each request of `/tx`. */
const TRANSACTIONS = 24;

/** Creates a caller with fresh targets for each route: immutable ones are requested only once. */
export async function createRouteCaller({ get, rpc, step, cluster }: SteppedHarness): Promise<RouteCaller> {
  const [wallet] = WALLETS;
  const mint = COINS[0]?.mint.address;
  const signatures: string[] = [];
  for (let lamports = 1; lamports <= TRANSACTIONS; lamports++)
    signatures.push(await rpcRequest<string>(cluster.url, 'requestAirdrop', [wallet.address, lamports]));
  await step(4); // until they are confirmed
  const { meta, ...record } = (await get(`/tx/${signatures.pop()}`)).json.result;
  const short = { ...record, meta: { ...Object(meta), logMessages: [] } }; // below 16 KiB, so that it costs one unit
  const targets: Readonly<Record<string, () => string>> = {
    '/balance/:addr': () => `/balance/${wallet.address}`,
    '/balances': () => `/balances?addresses=${wallet.address}`,
    '/account/:addr': () => `/account/${wallet.address}`,
    '/epoch': () => '/epoch?commitment=processed',
    '/token-accounts/:owner': () => `/token-accounts/${wallet.address}`,
    '/address/:addr/portfolio': () => `/address/${wallet.address}/portfolio`,
    '/address/:addr/history': () => `/address/${wallet.address}/history`,
    '/token/:mint': () => `/token/${mint}`,
    '/token/:mint/holders': () => `/token/${mint}/holders`,
    '/block/:slot': () => `/block/${cluster.chain.slot('confirmed')}`,
    '/leaders/:slot': () => `/leaders/${cluster.chain.slot('confirmed')}`,
    '/tx/:sig': () => `/tx/${signatures.pop()}`,
    '/search': () => `/search?q=${wallet.address}`,
  };
  const headers = { 'content-type': 'application/json' };
  return (path) => {
    if (path === '/rpc') return rpc({ method: 'getSlot' });
    if (path === '/explain') return get(path, { method: 'POST', headers, body: JSON.stringify({ tx: short }) });
    return get(targets[path]?.() ?? path);
  };
}

const internalErrorBody = (requestId: string | null): string =>
  JSON.stringify({
    error: 'internal_error',
    message: `internal error; the gateway's log has its cause as ${requestId}`,
  });

/** Lists the faults of the answer to a request that met a defect, and of its log line. */
export function findAnswerFaults({ status, text, headers }: HttpAnswer, line: LogLine | undefined): readonly string[] {
  const wrong = Object.entries({
    status: status === 500,
    body: text === internalErrorBody(headers.get('x-request-id')),
    type: headers.get('content-type') === 'application/json; charset=utf-8',
    quota: ['limit', 'remaining', 'reset'].every((name) => /^\d+$/.test(headers.get(`x-ratelimit-${name}`) ?? '')),
    level: line?.level === 'error',
    id: line?.fields.requestId === headers.get('x-request-id'),
    cause: String(line?.fields.err?.message ?? line?.fields.err).includes(SECRET_MESSAGE),
  }).filter(([, isRight]) => !isRight);
  return wrong.map(([name]) => `${name}: ${status} ${text} ${JSON.stringify(line?.fields)}`.slice(0, 300));
}

/** A defect in a route, the faults of the answer to it, and the status of the next answer without it. */
export interface BrokenRouteResult {
  readonly path: string;
  readonly fault: string;
  readonly wrong: readonly string[];
  readonly statusAfter: number;
}

/** Returns for how many slots the cache may serve a route's answer. */
const lifetimeSlotsOf = (route: Route): number =>
  'cache' in route ? (route.cache.slots ?? Math.ceil(route.cache.ms / TARGET_SLOT_MS)) : 0;

/** Breaks each function of each route in each way, and requests it: one of each route, before all answers are too old. */
export async function* breakEachRoute(
  { step, logged }: SteppedHarness,
  request: RouteCaller,
): AsyncGenerator<BrokenRouteResult> {
  const rounds = Math.max(...routes.map((route) => faultPointsOf(route).length));
  for (let round = 0; round < rounds; round++) {
    await step(Math.max(...routes.map(lifetimeSlotsOf)) + 3, 16); // until nothing is cached
    for (const route of routes) {
      const point = faultPointsOf(route)[round];
      if (point === undefined) continue;
      const { owner, name, how, fault } = point;
      const wrong = await withReplaced(owner, name, fault, async () =>
        findAnswerFaults(await request(route.path), logged.at(-1)),
      );
      yield { path: route.path, fault: `${name} ${how}`, wrong, statusAfter: (await request(route.path)).status };
    }
  }
}

/** Lists the places where a route can break. A live route has no function; what it reads is broken instead. */
function faultPointsOf(route: Route) {
  const { throws, rejects } = DEFECTS;
  const names = (['resolve', 'answer', 'parse'] as const).filter((name) => name in route);
  const own = names.map((name) => ({ owner: route, name, how: 'throws', fault: throws }));
  if (own.length === 0) return [{ owner: Cache.prototype, name: 'get', how: 'throws', fault: throws }];
  return 'resolve' in route ? [...own, { owner: route, name: 'resolve', how: 'rejects', fault: rejects }] : own;
}
