import t from 'tap';
import { generateApiKey } from '../../src/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/access/api-keys/api-key-store.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { apiKeyRecord, issueKeys } from '../support/access/api-key-fixtures.ts';
import { type HttpAnswer, type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';

const left = async (asking: Promise<HttpAnswer>): Promise<number> =>
  Number((await asking).headers.get('x-ratelimit-remaining'));

/** Makes the node delay every account read until `release`; records the requests. */
function hold({ node }: SteppedHarness) {
  let letGo = (): void => {};
  const held = new Promise<undefined>((resolve) => {
    letGo = () => resolve(undefined);
  });
  const asked: string[] = [];
  node.overrides.set('getMultipleAccounts', ([addresses]) => {
    asked.push(...addresses);
    return held;
  });
  return { asked, letGo };
}

const wallet = (n: number): string => WALLETS[n]?.address ?? '';

t.test(
  'one caller may have a limited number of reads running and as many queued; the next is told to retry',
  async (t) => {
    const world = await startStepped(t, { perSlot: 0, set: ['limits.free.inFlight=2'] });
    const { get } = world;
    const { asked, letGo } = hold(world);
    const reads = Array.from({ length: 5 }, (_, n) => get(`/account/${wallet(n)}`));
    const refused = await Promise.race(reads);
    t.equal(refused.status, 503);
    t.equal(refused.json.error, 'overloaded');
    t.equal(refused.headers.get('retry-after'), '1');
    t.match(refused.headers.get('x-ratelimit-remaining'), /^\d+$/);
    await waitFor(() => asked.length === 2, 'two questions');
    t.equal((await get('/slot')).status, 200, 'what is in the cache is served');
    letGo();
    const statuses = (await Promise.all(reads)).map(({ status }) => status);
    t.same(statuses.toSorted(), [200, 200, 200, 200, 503]);
    t.equal(asked.length, 4);
  },
);

t.test('requests for what is already being read share that read, however many they are', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: ['limits.free.inFlight=1'] });
  const { get } = world;
  const { asked, letGo } = hold(world);
  const all = await left(get('/health'));
  const reads = Array.from({ length: 30 }, () => get(`/account/${wallet(0)}`));
  await waitFor(async () => (await left(get('/health'))) === all - 30, 'that all have come');
  letGo();
  for (const { status } of await Promise.all(reads)) t.equal(status, 200);
  t.equal(asked.length, 1);
});

t.test('a scale key is served before earlier requests in the queue', async (t) => {
  const state = t.testdir();
  const key = generateApiKey();
  await issueKeys(apiKeysPath(state), apiKeyRecord(key, { tier: 'scale' }));
  const world = await startStepped(t, { perSlot: 0, state, set: ['limits.inFlight=1'] });
  const { get } = world;
  const paying = { headers: { 'x-api-key': key } };
  const { asked, letGo } = hold(world);
  const [all, allOfKey] = [await left(get('/health')), await left(get('/health', paying))];
  const reads = [get(`/account/${wallet(0)}`)];
  await waitFor(() => asked.length === 1, 'the first question');
  reads.push(get(`/account/${wallet(1)}`));
  await waitFor(async () => (await left(get('/health'))) === all - 2, 'the second');
  reads.push(get(`/account/${wallet(2)}`, paying));
  await waitFor(async () => (await left(get('/health', paying))) === allOfKey - 1, 'the third');
  letGo();
  await Promise.all(reads);
  t.same(asked, [wallet(0), wallet(2), wallet(1)]);
});

t.test('calls of /rpc wait in the same queue', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: ['limits.inFlight=1', 'limits.queue=0'] });
  const { get, rpc } = world;
  const { asked, letGo } = hold(world);
  const read = get(`/account/${wallet(0)}`);
  await waitFor(() => asked.length === 1, 'the question');
  const refused = await rpc({ method: 'getBalance', params: [wallet(1)] });
  t.match([refused.status, refused.json.error], [503, 'overloaded']);
  letGo();
  t.equal((await read).status, 200);
  t.equal((await rpc({ method: 'getBalance', params: [wallet(1)] })).status, 200);
});
