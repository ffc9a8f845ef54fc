import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGateway, waitFor } from '../support/harness.ts';
import { openTab } from './chromium.ts';

const WALLET = WALLETS[0]?.address ?? '';

const cluster = await startEmbeddedCluster({ slotMs: 200, transactionsPerSlot: 3 });
t.teardown(() => cluster.close());
const nodes = [`${cluster.url},${cluster.wsUrl}`];
const { gateway, get } = await startGateway(t, nodes);

/** Holds the answers of the gateway to some requests; each is answered when the test says so. */
async function holdAnswers(page: Page, pattern: RegExp): Promise<readonly Route[]> {
  const held: Route[] = [];
  await page.route(pattern, (route) => void held.push(route));
  return held;
}

const part = (page: Page, title: string) => page.locator(`.part[aria-label="${title}"]`);
const columns = (page: Page, title: string) => part(page, title).locator('thead th').allTextContents();
const isBusy = (page: Page, title: string) => part(page, title).locator('[aria-busy=true]').count();

t.test('each example of the start page exists', async (t) => {
  const { page } = await openTab(t);
  await page.goto(`${gateway.url}/explorer`);
  await page.waitForSelector('.examples a:text("A recent block")');
  const links = await page
    .locator('.examples a')
    .evaluateAll((found) => found.map((link) => [link.textContent, link.getAttribute('href')] as const));
  t.equal(links.length, 4);
  for (const [text, href] of links) {
    await page.goto(`${gateway.url}/${href}`);
    await page.waitForSelector('.title h1');
    t.equal(await page.locator('#view > p.panel').count(), 0, `${text} is there`);
  }
});

t.test('of two histories requested one after the other the later is shown, whichever answers last', async (t) => {
  await waitFor(async () => (await get(`/address/${WALLET}/history`)).json.result?.rows.length > 3, 'some history');
  const { page, problems } = await openTab(t);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await part(page, 'History').locator('tbody tr').first().waitFor();
  const held = await holdAnswers(page, /history\?/);
  await part(page, 'History').locator('button:text("Changes")').click();
  await part(page, 'History').locator('button:text("Signatures")').click();
  await waitFor(() => held.length === 2, 'both requests');
  t.equal(await isBusy(page, 'History'), 1, 'it says that it waits');
  const [changes, signatures] = held;
  await signatures?.continue();
  await waitFor(async () => (await isBusy(page, 'History')) === 0, 'the signatures');
  const late = page.waitForResponse(/type=transfers/);
  await changes?.continue();
  await (await late).finished();
  await page.waitForTimeout(300); // the answer is verified before it could be shown
  t.same(await columns(page, 'History'), ['Transaction', 'Time', 'Slot', 'Status', 'Memo']);
  t.equal(await part(page, 'History').locator('[aria-pressed=true]').textContent(), 'Signatures');
  t.same(problems, []);
});

t.test('a further page that was requested before the reader chose another table does not come back', async (t) => {
  await waitFor(
    async () => (await get(`/address/${WALLET}/history?limit=26`)).json.result?.rows.length > 25,
    '26 rows',
  );
  const { page } = await openTab(t);
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  const held = await holdAnswers(page, /history\?.*before=/);
  await part(page, 'History').locator('button:text("More")').click();
  await waitFor(() => held.length === 1, 'the request');
  await part(page, 'History').locator('button:text("Changes")').click();
  await part(page, 'History').locator('th:text("Change")').waitFor();
  const late = page.waitForResponse(/before=/);
  await held[0]?.continue();
  await (await late).finished();
  await page.waitForTimeout(300); // the answer is verified before it could be shown
  t.same(await columns(page, 'History'), ['Transaction', 'Time', 'Status', 'Change']);
});

t.test('a balance is shown within a second where no stream is to be had', async (t) => {
  const { gateway: closed } = await startGateway(t, nodes, { set: ['limits.free.streams=0'] });
  const { page } = await openTab(t);
  await page.goto(`${closed.url}/explorer`);
  await page.waitForSelector('.examples a:text("A recent block")');
  await page.fill('#q', WALLET);
  await page.press('#q', 'Enter');
  const startedMs = performance.now();
  await page.waitForSelector('.balance');
  t.ok(performance.now() - startedMs < 1000, `${Math.round(performance.now() - startedMs)} ms`);
  t.match(await part(page, 'Balance').locator('p.muted').textContent(), /lamports$/, 'and is not called live');
  const { page: live } = await openTab(t);
  await live.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await part(live, 'Balance').locator('text=/lamports, live$/').waitFor();
});

t.test('a transaction that could not be read is read again, once for both of its parts', async (t) => {
  const { result } = (await get(`/address/${WALLET}/history`)).json;
  const { page } = await openTab(t);
  const held = await holdAnswers(page, /\/tx\//);
  await page.goto(`${gateway.url}/explorer?q=${result.rows[0].signature}`);
  await waitFor(() => held.length === 1, 'the request');
  const refusal = { success: false, error: { code: 'tx_not_found', message: 'Not yet.', retryable: false } };
  await held[0]?.fulfill({ status: 404, json: refusal });
  const again = page.locator('.part button:text("Try again")');
  await waitFor(async () => (await again.count()) === 2, 'both parts to fail');
  for (const at of [0, 1]) await again.nth(at).click();
  await waitFor(() => held.length === 2, 'another request');
  await held[1]?.continue();
  await part(page, 'What it did').locator('.sentence').waitFor();
  await part(page, 'Transaction').locator('dt').first().waitFor();
  t.equal(await again.count(), 0);
  t.equal(held.length, 2);
});
