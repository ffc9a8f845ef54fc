import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { DEMO_ACCOUNTS } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGateway, waitFor } from '../support/harness.ts';
import { rpcRequest } from '../support/rpc-request.ts';

const run = promisify(execFile);
const ROOT = new URL('../../../', import.meta.url); // from dist/test/e2e
const section = readFileSync(new URL('src/page/docs/chapters/embedded-cluster.md', ROOT), 'utf8');
const [, airdrop = ''] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
const [, sendAndRead = ''] = /^```js\n(.*?)^```$/ms.exec(section) ?? [];

/** What an older version kept: one genesis for all runs in the folder. */
const KEPT_GENESIS = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';
const state = t.testdir({ 'cluster.json': JSON.stringify({ hash: KEPT_GENESIS, originMs: 1, slotMs: 400 }) });
const PATIENT = ['startMs', 'timeoutMs', 'slowTimeoutMs'].map((name) => `upstream.${name}=120000`);
const set = [...PATIENT, 'embedded.slotMs=200', 'embedded.transactionsPerSlot=1'];
const { gateway, get, logged } = await startGateway(t, [], { state, set });
const rpc = gateway.embedded?.rpc ?? '';
const asPasted = (code: string): string => code.replaceAll('http://127.0.0.1:8787', gateway.url);

t.test('the log and, for callers on the same machine, /health tell its address', async (t) => {
  const { result } = (await get('/health')).json;
  t.same(result.embedded, { rpc });
  t.equal(await rpcRequest(rpc, 'getGenesisHash'), result.cluster);
  const line = logged.find(({ message }) => /^the embedded demo cluster runs/.test(message));
  t.match(line?.fields, { rpc, cluster: gateway.cluster });
  t.same(
    Object.entries(line?.fields.accounts),
    DEMO_ACCOUNTS.map(({ name, address, holds }) => [name, `${address} ${holds}`]),
  );
});

t.test('a second gateway in the same folder has a cluster of its own', async (t) => {
  const second = await startGateway(t, [], { state, set: [...set, 'trustedProxies=127.0.0.1'] });
  t.equal(new Set([KEPT_GENESIS, gateway.cluster, second.gateway.cluster]).size, 3);
  const told = async (headers: Record<string, string> = {}) =>
    (await second.get('/health', { headers })).json.result.embedded;
  t.same(await told(), second.gateway.embedded);
  t.not(second.gateway.embedded?.rpc, rpc);
  t.equal(await told({ 'x-forwarded-for': '203.0.113.7' }), null, 'the caller is on another machine');
  t.same(await told({ 'x-forwarded-for': '::1' }), second.gateway.embedded);
  t.same((await get('/health', { headers: { 'x-forwarded-for': '203.0.113.7' } })).json.result.embedded, { rpc });
});

t.test('the reference names the demo accounts, and they hold what it says', async (t) => {
  const rows = [...section.matchAll(/^\| `(.+)` \| `(.+)` \| (.+) \|$/gm)];
  t.same(
    rows.map(([, ...columns]) => columns),
    DEMO_ACCOUNTS.map(({ name, address, holds }) => [name, address, holds]),
  );
  const held = async (path: string): Promise<any> => (await get(path)).json.result;
  const lamports: Record<string, number> = {};
  for (const { name, address, holds } of DEMO_ACCOUNTS) {
    lamports[name] = (await held(`/balance/${address}`)).lamports;
    const [, tokenName] = /^mint of ([\w ]+):/.exec(holds) ?? [];
    if (tokenName !== undefined) t.match((await held(`/token/${address}`)).metadata, { name: tokenName, symbol: name });
  }
  t.ok(Object.values(lamports).every((amount) => amount > 0));
  const [alice, bob, , pool] = DEMO_ACCOUNTS.map(({ address }) => address);
  for (const [owner, tokens] of [
    [alice, 4],
    [bob, 4],
    [pool, 2],
  ] as const) {
    const mints = (await held(`/token-accounts/${owner}`)).map(({ mint }: { mint: string }) => mint);
    for (const { name, address } of DEMO_ACCOUNTS.slice(5, 5 + tokens)) t.ok(mints.includes(address), name);
  }
  await waitFor(async () => (await held(`/address/${alice}/history`)).rows.length > 0, 'a history');
});

t.test('the airdrop in the reference lands', async (t) => {
  const { stdout } = await run('sh', ['-c', asPasted(airdrop)]);
  const { result } = JSON.parse(stdout);
  const status = async () => (await rpcRequest(rpc, 'getSignatureStatuses', [[result]])).value[0];
  await waitFor(async () => (await status())?.confirmationStatus === 'confirmed', 'the confirmation');
  t.equal((await status()).err, null);
});

t.test('the program in the reference sends a transaction and reads its own write', async (t) => {
  const file = `${t.testdir()}/send.mjs`;
  writeFileSync(file, asPasted(sendAndRead));
  const { stdout } = await run(process.execPath, [file], { env: { PATH: process.env['PATH'] } });
  const [, sent, read] = /^sent in slot (\d+); at slot (\d+) the balance is 0\.25 SOL\n$/.exec(stdout) ?? [];
  t.ok(Number(read) >= Number(sent), stdout);
});
