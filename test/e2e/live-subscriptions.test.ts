import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { addressOfNumber } from '../support/address-of-number.ts';
import { type SteppedHarness, startGatewayOver, startStepped } from '../support/harness.ts';

const UNAUDITED = 'watch.auditMs=3600000';
/** The addresses that one request may name. */
const PER_REQUEST = 40;

const addresses = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => addressOfNumber(from + i));

type Reader = Pick<SteppedHarness, 'get'>;

async function readAll({ get }: Reader, wanted: readonly string[]): Promise<void> {
  for (let i = 0; i < wanted.length; i += PER_REQUEST) {
    const { status } = await get(`/balances?addresses=${wanted.slice(i, i + PER_REQUEST).join('%2C')}`);
    if (status !== 200) throw new Error(`status ${status}`);
  }
}

/** Returns the subscriptions of each WebSocket, those with most of them first. */
const subscriptions = async ({ cluster }: SteppedHarness): Promise<number[]> =>
  [...(await cluster.control.subscriptionCounts())].sort((a, b) => b - a);

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Counts the account reads at the node. */
const reads = ({ node }: SteppedHarness): number => node.requestCounts.get('getMultipleAccounts') ?? 0;

/** Reads accounts in slot after slot until reading them costs nothing; returns the most WebSockets that were open. */
async function untilLive(world: SteppedHarness, wanted: readonly string[], reader: Reader = world): Promise<number> {
  let most = 0;
  for (let quiet = 0, slots = 0; quiet < 3; slots++) {
    if (slots > 150) throw new Error(`not live: ${await subscriptions(world)}`);
    const before = reads(world);
    await readAll(reader, wanted);
    await world.step();
    most = Math.max(most, (await subscriptions(world)).length);
    quiet = reads(world) === before ? quiet + 1 : 0;
  }
  return most;
}

t.test('accounts share one WebSocket of a node that sets no limit, more than are tried at first', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: [UNAUDITED, 'watch.callerShare=1'] });
  const wanted = addresses(1200);
  t.ok((await untilLive(world, wanted)) <= 2);
  t.ok(Math.max(...(await subscriptions(world))) >= 1200);
});

t.test('the limit of a node is learned, however it shows, and each WebSocket is filled up to it', async (t) => {
  const rows = [];
  for (const refusal of ['error', 'close', 'late'] as const) {
    const world = await startStepped(t, { perSlot: 0, set: [UNAUDITED, 'upstream.ackMs=5000', 'watch.callerShare=1'] });
    await world.cluster.control.limitSubscriptions(100, refusal);
    await untilLive(world, addresses(240));
    const counts = await subscriptions(world);
    rows.push({ refusal, isKept: Math.max(...counts) <= 100, isTight: counts.length <= (refusal === 'error' ? 4 : 6) });
  }
  t.strictSame(
    rows,
    rows.map(({ refusal }) => ({ refusal, isKept: true, isTight: true })),
  );
});

t.test('a restarted gateway remembers the limit', async (t) => {
  const state = t.testdir();
  const set = [UNAUDITED, 'watch.callerShare=1'];
  const world = await startStepped(t, { perSlot: 0, state, set });
  await world.cluster.control.limitSubscriptions(100, 'close');
  const wanted = addresses(200);
  await untilLive(world, wanted);
  const isLost = ({ message }: { readonly message: string }): boolean =>
    message.includes('session') && message.includes('lost');
  t.ok(world.logged.some(isLost));
  await world.gateway.close();
  const again = await startGatewayOver(t, `${world.node.url},${world.cluster.wsUrl}`, world.clock, { state, set });
  for (let slots = 0; slots < 12 && sum(await subscriptions(world)) < 200; slots++) {
    await readAll(again, wanted);
    world.clock.advance(400);
    await sleep(40);
  }
  t.ok(sum(await subscriptions(world)) >= 200);
  t.notOk(again.logged.some(isLost));
});

t.test('after a lost connection accounts come to be live within the budget, those read most first', async (t) => {
  const perSecond = 2;
  const set = [UNAUDITED, 'watch.callerShare=1', `watch.requestsPerSecond=${perSecond}`];
  const world = await startStepped(t, { perSlot: 0, set });
  const all = addresses(500);
  const hot = all.slice(400, 460);
  await untilLive(world, all);
  for (let slots = 0; slots < 3; slots++) {
    await readAll(world, hot);
    await world.get(`/balance/${hot[0]}`);
    await world.step();
  }
  const sent: { readonly ms: number; readonly batch: readonly string[] }[] = [];
  let readsOfCallers = 0;
  world.node.overrides.set('getMultipleAccounts', ([batch, { encoding }]) => {
    if (encoding === 'jsonParsed') sent.push({ ms: world.clock.monotonic(), batch });
    else readsOfCallers++;
    return undefined;
  });
  await world.cluster.control.dropWebSockets();
  const cacheStatuses = new Set<string | null>();
  for (let ms = 0; ms < 8000; ms += 20) {
    world.clock.advance(20);
    await sleep(2);
    // from when another session is open: before, what a caller asks for is read
    if (ms % 2000 === 1500) cacheStatuses.add((await world.get(`/balance/${hot[0]}`)).headers.get('x-cache'));
  }
  // A request takes some time, in which the clock moves.
  const most = Math.max(...sent.map(({ ms: from }) => sent.filter(({ ms }) => ms >= from && ms < from + 900).length));
  t.ok(sent.length >= 8 && most <= perSecond, `${most} requests in a second, ${sent.length} in all`);
  const first = new Set(sent.slice(0, 2).flatMap(({ batch }) => batch));
  t.strictSame(
    hot.filter((address) => !first.has(address)),
    [],
  );
  t.ok(cacheStatuses.has('STALE'), `${[...cacheStatuses]}`);
  t.equal(readsOfCallers, 0, 'what is stale is served as it is, and what is live again from memory');
});
