import t, { type Test } from 'tap';
import { RateLimiter } from '../../src/access/limits/rate-limiter.ts';
import { Cache } from '../../src/cache/cache.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { Signer } from '../../src/receipts/signer.ts';
import { routes } from '../../src/routes/index.ts';
import { type HttpAnswer, startStepped } from '../support/harness.ts';
import {
  breakEachRoute,
  createRouteCaller,
  DEFECTS,
  findAnswerFaults,
  WITHOUT_LIVE_DATA,
  withReplaced,
} from '../support/route-defects.ts';

const world = await startStepped(t, { set: WITHOUT_LIVE_DATA });
const { get, logged, step } = world;
const ask = await createRouteCaller(world);
const bomb = DEFECTS.throws;

const isDefect = (t: Test, got: HttpAnswer, what: string): void =>
  void t.same(findAnswerFaults(got, logged.at(-1)), [], what);

t.test('10: a route that throws or rejects is a 500, and then all is well again', async (t) => {
  const broken = new Set<string>();
  for await (const { path, fault, wrong, statusAfter } of breakEachRoute(world, ask)) {
    t.same(wrong, [], `${path}: ${fault}`);
    t.equal(statusAfter, 200, `${path}: after ${fault}`);
    broken.add(path);
  }
  t.equal(broken.size, routes.length);
});

t.test('a cache that breaks is a 500 for every route that reads from it', async (t) => {
  await withReplaced(Cache.prototype, 'get', bomb, async () => {
    for (const path of ['/slot', '/epoch', '/balance/:addr']) isDefect(t, await ask(path), path);
  });
  t.equal((await ask('/slot')).status, 200);
});

t.test('so is a limiter that breaks, for every method', async (t) => {
  await withReplaced(RateLimiter.prototype, 'consume', bomb, async () => {
    for (const path of routes.map(({ path }) => path)) isDefect(t, await ask(path), path);
    isDefect(t, await get('/no/such/route'), 'no route');
    isDefect(t, await get('/slot', { method: 'DELETE' }), 'DELETE');
  });
  t.equal((await ask('/slot')).status, 200);
});

t.test('a signer that breaks is a 500 for who waits for the receipt', async (t) => {
  await step(3);
  await withReplaced(Signer.prototype, 'seal', bomb, async () => {
    isDefect(t, await get(`/balance/${WALLETS[5]?.address}`), 'a cold read');
    await step(2);
    isDefect(t, await get('/slot'), 'a live route');
  });
  await step(1);
  t.equal((await get('/slot')).status, 200);
  t.equal((await get(`/balance/${WALLETS[5]?.address}`)).status, 200);
});
