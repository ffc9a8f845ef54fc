import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGateway, waitFor } from '../support/harness.ts';
import { openTabs } from './chromium.ts';
import { countLayoutShifts, restoreDate, shiftedElements } from './watch-page.ts';

/** The time between two changes of a page, and the time in which the test lets it pass, in milliseconds. */
const PACE_MS = 400;
const STEP_MS = 50;

const MINUTE_MS = 60_000;

const cluster = await startEmbeddedCluster({ slotMs: STEP_MS, transactionsPerSlot: 1 });
t.teardown(() => cluster.close());
// slots of 50 ms pass a jump guard's allowance while a busy machine holds the gateway up for three seconds
const { gateway } = await startGateway(t, [`${cluster.url},${cluster.wsUrl}`], { set: ['upstream.maxJump=10000'] });

const host = createServer((_, response) => {
  response.setHeader('content-type', 'text/html').end(`<!doctype html><html lang="en"><title>A host</title>
<link rel="icon" href="data:,"><script src="${gateway.url}/widget.js"></script>
<slotgate-status></slotgate-status><p>Below the card.
<p><slotgate-status size="line" fields="slot total-tps fee"></slotgate-status> Beside the line.`);
});
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
t.teardown(() => host.close());

t.test('nothing moves in a minute of frames, on any page and around the widget', async (t) => {
  const paths = ['/', `/explorer?q=${WALLETS[0]?.address}`, '/docs', '/verify'].map((path) => gateway.url + path);
  // A server that listens on a port has an address with one.
  const urls = [...paths, `http://127.0.0.1:${(host.address() as AddressInfo).port}/`];
  const tabs = await openTabs(t, urls.length);
  for (const [at, { page }] of tabs.entries()) {
    await page.setViewportSize({ width: 360, height: 900 });
    await page.clock.install();
    await countLayoutShifts(page);
    await page.goto(urls[at] ?? '');
  }
  const status = tabs[0]?.page;
  await waitFor(async () => (await status?.getAttribute('body', 'data-state')) === 'live', 'live');
  const slotOf = async (): Promise<number> => Number((await status?.textContent('#slot'))?.replace(/\D/g, ''));
  const first = await slotOf();
  const letPass = async (page: Page): Promise<void> => {
    await page.clock.runFor(PACE_MS);
    await restoreDate(page);
    await page.waitForTimeout(STEP_MS);
  };
  for (let passedMs = 0; passedMs < MINUTE_MS; passedMs += PACE_MS)
    await Promise.all(tabs.map(({ page }) => letPass(page)));
  t.ok((await slotOf()) > first, 'with later frames');

  const faults: string[] = [];
  for (const [at, { page, problems }] of tabs.entries()) {
    faults.push(...problems, ...(await shiftedElements(page)).map((element) => `${urls[at]}: moved ${element}`));
    await page.evaluate(`
      const block = document.createElement('div');
      block.textContent = 'in the way';
      document.body.prepend(block);`);
    await waitFor(async () => (await shiftedElements(page)).length > 0, 'the counter to see what does move');
  }
  t.same(faults, []);
});
