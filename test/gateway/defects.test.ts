import t, { type Test } from 'tap';
import { Limiter } from '../../src/access/limiter.ts';
import { Cache } from '../../src/cache/cache.ts';
import { COINS, WALLETS } from '../../src/cluster/economy/cast.ts';
import { Signer } from '../../src/receipt/signer.ts';
import { routes } from '../../src/routes/index.ts';
import type { Route } from '../../src/routes/route.ts';
import { type Got, openStepped } from './open.ts';

const world = await openStepped(t, { set: ['watch.accounts=0'] }); // what is kept live is answered without a route
const { get, rpc, logged, step, cluster } = world;

const SECRET = 'what only the log may know';
const bomb = (): never => {
  throw new TypeError(SECRET);
};
const rejection = (): Promise<never> => Promise.reject(new TypeError(SECRET));

/** Puts something else in the place of a member for the length of `work`. */
async function replaced(owner: object, name: string, member: unknown, work: () => Promise<void>): Promise<void> {
  const original = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value: member, configurable: true, writable: true });
  try {
    await work();
  } finally {
    if (original !== undefined) Object.defineProperty(owner, name, original);
  }
}

const [wallet] = WALLETS;
const mint = COINS[0]?.mint.address;
await step(4);
const transactions = WALLETS.flatMap(({ address }) => cluster.chain.transactionsOf(address)).filter(
  ({ slot }) => slot <= cluster.chain.slot('confirmed'),
);
const signatures = [...new Set(transactions.map(({ signature }) => signature))];
const record = (await get(`/tx/${signatures.pop()}`)).json.result;

/** A target of each route that nothing is kept for: what is final is asked for only once. */
const targets: Readonly<Record<string, () => string>> = {
  '/balance/:addr': () => `/balance/${wallet.address}`,
  '/account/:addr': () => `/account/${wallet.address}`,
  '/epoch': () => '/epoch?commitment=processed',
  '/token-accounts/:owner': () => `/token-accounts/${wallet.address}`,
  '/address/:addr/portfolio': () => `/address/${wallet.address}/portfolio`,
  '/address/:addr/history': () => `/address/${wallet.address}/history`,
  '/token/:mint': () => `/token/${mint}`,
  '/token/:mint/holders': () => `/token/${mint}/holders`,
  '/block/:slot': () => `/block/${cluster.chain.slot('confirmed')}`,
  '/tx/:sig': () => `/tx/${signatures.pop()}`,
  '/search': () => `/search?q=${wallet.address}`,
};
const json = { 'content-type': 'application/json' };

function ask(path: string): Promise<Got> {
  if (path === '/rpc') return rpc({ method: 'getSlot' });
  if (path === '/explain') return get(path, { method: 'POST', headers: json, body: JSON.stringify({ tx: record }) });
  return get(targets[path]?.() ?? path);
}

function isDefect(t: Test, got: Got, what: string): void {
  t.equal(got.status, 500, `${what} ${got.text}`);
  t.equal(got.text, '{"error":"internal_error","message":"internal error"}');
  t.equal(got.headers.get('content-type'), 'application/json; charset=utf-8');
  for (const name of ['limit', 'remaining', 'reset']) t.match(got.headers.get(`x-ratelimit-${name}`), /^\d+$/);
  const line = logged.at(-1);
  t.equal(line?.level, 'error');
  t.equal(line?.facts.requestId, got.headers.get('x-request-id'), 'the log has it, under the id of the request');
  t.match(String(line?.facts.err?.message ?? line?.facts.err), SECRET);
}

/** For how many slots what a route told may be told again. */
const lifeOf = (route: Route): number => ('cache' in route ? route.cache.slots : 0);

for (const route of routes) {
  const steps = (['resolve', 'answer', 'parse', 'commitmentOf'] as const).filter((name) => name in route);
  for (const name of steps) {
    for (const [how, fault] of Object.entries({ throws: bomb, rejects: rejection })) {
      if (how === 'rejects' && name !== 'resolve') continue;
      t.test(`${route.path}: ${name} ${how}`, async (t) => {
        await step(lifeOf(route) + 3, 4); // so that nothing is at hand
        await replaced(route, name, fault, async () => isDefect(t, await ask(route.path), name));
        t.equal((await ask(route.path)).status, 200, 'and all is well again');
      });
    }
  }
}

t.test('a cache that breaks is a 500 for every route that reads from it', async (t) => {
  await replaced(Cache.prototype, 'get', bomb, async () => {
    for (const path of ['/slot', '/epoch', '/network', '/performance', '/priority-fee', '/balance/:addr'])
      isDefect(t, await ask(path), path);
  });
  t.equal((await ask('/slot')).status, 200);
});

t.test('so is a limiter that breaks, for every method', async (t) => {
  await replaced(Limiter.prototype, 'take', bomb, async () => {
    for (const path of routes.map(({ path }) => path)) isDefect(t, await ask(path), path);
    isDefect(t, await get('/no/such/route'), 'no route');
    isDefect(t, await get('/slot', { method: 'DELETE' }), 'DELETE');
  });
  t.equal((await ask('/slot')).status, 200);
});

t.test('a signer that breaks is a 500 for who waits for the receipt', async (t) => {
  await step(3);
  await replaced(Signer.prototype, 'seal', bomb, async () => {
    isDefect(t, await get(`/balance/${WALLETS[5]?.address}`), 'a cold read');
    await step(2);
    isDefect(t, await get('/slot'), 'a live route');
  });
  await step(1);
  t.equal((await get('/slot')).status, 200);
  t.equal((await get(`/balance/${WALLETS[5]?.address}`)).status, 200);
});
