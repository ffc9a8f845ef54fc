import { createServer } from 'node:http';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGateway } from '../support/harness.ts';
import { listenOnLoopback } from '../support/loopback-server.ts';
import { openTabs } from './chromium.ts';
import { countLayoutShifts, shiftedElements, waitFor } from './watch-page.ts';

/** The time of a slot, and the time for which pages are watched, in milliseconds: 400 slots. */
const SLOT_MS = 50;
const WATCHED_MS = 20_000;

const cluster = await startEmbeddedCluster({ slotMs: SLOT_MS, transactionsPerSlot: 1 });
t.teardown(() => cluster.close());
// slots of 50 ms pass a jump guard's allowance while a busy machine holds the gateway up for three seconds
const { gateway } = await startGateway(t, [`${cluster.url},${cluster.wsUrl}`], {
  set: ['upstreamPolicy.maxSlotJump=10000'],
});

const host = createServer((_, response) => {
  response.setHeader('content-type', 'text/html').end(`<!doctype html><html lang="en"><title>A host</title>
<link rel="icon" href="data:,"><script src="${gateway.url}/widget.js"></script>
<slotgate-status></slotgate-status><p>Below the card.
<p><slotgate-status size="line" fields="slot total-tps fee"></slotgate-status> Beside the line.`);
});
const port = await listenOnLoopback(host);
t.teardown(() => host.close());

t.test('nothing moves in 400 slots, on any page and around the widget', async (t) => {
  const paths = ['/', `/explorer?q=${WALLETS[0]?.address}`, '/docs', '/verify'].map((path) => gateway.url + path);
  const urls = [...paths, `http://127.0.0.1:${port}/`];
  const tabs = await openTabs(t, urls.length);
  for (const [at, { page }] of tabs.entries()) {
    await page.setViewportSize({ width: 360, height: 900 });
    await countLayoutShifts(page);
    await page.goto(urls[at] ?? '');
  }
  const status = tabs[0]?.page;
  await waitFor(async () => (await status?.getAttribute('body', 'data-state')) === 'live', 'live');
  const slotOf = async (): Promise<number> => Number((await status?.textContent('#slot'))?.replace(/\D/g, ''));
  const first = await slotOf();
  await status?.waitForTimeout(WATCHED_MS);
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
