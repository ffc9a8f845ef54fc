import type { Page } from 'playwright-core';
import t from 'tap';
import { startGateway } from '../support/harness.ts';
import { startLiveCluster } from '../support/test-cluster.ts';
import { openTab, openTabs } from './chromium.ts';
import { openTamperingProxy } from './tampering-proxy.ts';
import {
  accessibilityViolations,
  countLayoutShifts,
  countSockets,
  restoreDate,
  setHidden,
  shiftedElements,
  waitFor,
} from './watch-page.ts';

const cluster = await startLiveCluster({ slotMs: 200, transactionsPerSlot: 3 });
t.teardown(() => cluster.close());
const nodes = [`${cluster.url},${cluster.wsUrl}`];

const text = async (page: Page, id: string): Promise<string> => (await page.textContent(`#${id}`)) ?? '';
const stateOf = (page: Page): Promise<string | null> => page.getAttribute('body', 'data-state');
const untilState = (page: Page, ...wanted: readonly string[]): Promise<void> =>
  waitFor(async () => wanted.includes((await stateOf(page)) ?? ''), wanted.join(' or '));
const slotOf = async (page: Page): Promise<number> => Number((await text(page, 'slot')).replace(/\D/g, ''));
const word = (page: Page): Promise<string | null> =>
  page.locator('slotgate-status [part~=state]').first().getAttribute('title');
const boxes = (page: Page): Promise<unknown> =>
  page.evaluate(
    `[...document.querySelectorAll('slotgate-status')].map((each) => JSON.stringify(each.getBoundingClientRect()))`,
  );

/** How much of the newest fifth of the plot of slot times is painted: by the grid alone little of it. */
const PAINTED = `(() => {
  const canvas = document.querySelector('#pace canvas');
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(width * 0.8, height * 0.1, width * 0.15, height * 0.6);
  return data.filter((value, at) => at % 4 === 3 && value > 0).length / (data.length / 4);
})()`;

/** Moves the clock of a page, and lets it draw. */
async function letPass(page: Page, ms: number): Promise<void> {
  await page.clock.runFor(ms);
  await restoreDate(page);
  await page.clock.runFor(1100);
}

t.test('while the network stands still old and new pages say so, and nothing on them says otherwise', async (t) => {
  const { gateway, get } = await startGateway(t, nodes, { set: ['cache.maxStaleSlots=20'] });
  const [old, fresh, host] = await openTabs(t, 3);
  if (old === undefined || fresh === undefined || host === undefined) throw new Error('no tabs');
  for (const { page } of [old, fresh, host]) await page.clock.install();
  await countLayoutShifts(old.page);
  await old.page.goto(gateway.url);
  await untilState(old.page, 'live');
  await waitFor(async () => /^0\.\d s ago$/.test(await text(old.page, 'slot-age')), 'an age');
  t.equal(await text(old.page, 'health-text'), 'All nodes answer.');

  t.teardown(() => cluster.control.resumeSlots());
  await cluster.control.pauseSlots();
  await untilState(old.page, 'slow');
  t.match(await text(old.page, 'state'), /^Slow: no new slot for \d s$/);
  await waitFor(async () => (await get('/health')).status === 503, 'an unhealthy gateway');
  await fresh.page.goto(gateway.url);
  await untilState(fresh.page, 'slow');
  const age = (words: string): number => Number(/no new slot for (\d+) s$/.exec(words)?.[1]);
  t.ok(age(await text(fresh.page, 'state')) >= 8, 'a new page knows the age from the gateway');
  const widgets = ['', 'fields="slot"', 'size="line" fields="slot"', 'style="--slotgate-font:20px/1.5 monospace"'];
  const elements = widgets.map((attributes) => `<slotgate-status ${attributes}></slotgate-status>`);
  await host.page.setContent(`<script src="${gateway.url}/widget.js"></script>${elements.join(' beside ')}`);
  await waitFor(async () => age((await word(host.page)) ?? '') >= 8, 'the age in a new widget');
  const boxesBefore = await boxes(host.page);

  for (const { page } of [old, fresh]) {
    await letPass(page, 120_000);
    await untilState(page, 'stalled');
    const first = await text(page, 'state');
    t.match(first, /^Stalled: no new slot for [2-9] m( \d+ s)?$/);
    await letPass(page, 2000);
    await waitFor(async () => (await text(page, 'state')) !== first, 'a later age');
    await waitFor(async () => /^No new slot for \d m.*; node-1: /.test(await text(page, 'health-text')), 'the reason');
    t.match(await text(page, 'slot-age'), /^[2-9] m( \d+ s)? ago$/);
    t.ok((await slotOf(page)) > 0, 'the last slot is still there');
    for (const id of ['tps', 'tps-all', 'fee-range']) t.equal(await text(page, id), '–', id);
    t.match(await text(page, 'fee'), /^– /);
    await waitFor(async () => Number(await page.evaluate(PAINTED)) > 0.15, 'a hatching over the time without slots');
    const shown = (await page.locator('body').allInnerTexts()).join();
    t.notMatch(shown, /Live|Degraded|Offline|answer\.|is well|0\.\d s|● ok/);
    t.same(await accessibilityViolations(page), []);
  }
  t.same(await shiftedElements(old.page), [], 'and nothing has moved');
  await letPass(host.page, 20_000);
  await waitFor(
    async () => /^Stalled: no new slot for \d+ [ms]/.test((await word(host.page)) ?? ''),
    'a stalled widget',
  );
  t.same(await boxes(host.page), boxesBefore, 'no widget has another size');
  const time = host.page.locator('slotgate-status [part~=time]').first();
  t.match(await time.textContent(), /^\d+ [ms].* without a new slot$/);
  const found = [old, fresh].flatMap(({ problems }) => problems);
  t.same(found, []);

  await cluster.control.resumeSlots();
  for (const { page } of [old, fresh]) await untilState(page, 'live');
  await waitFor(async () => (await word(host.page)) === 'Live', 'a live widget');
  t.same(await boxes(host.page), boxesBefore);
});

t.test('Offline is a gateway that does not answer, and no other', async (t) => {
  const { gateway } = await startGateway(t, nodes);
  const proxy = await openTamperingProxy(t, gateway.url);
  const { page } = await openTab(t);
  await page.goto(proxy.url);
  await untilState(page, 'live');
  proxy.gateway = 'http://127.0.0.1:1'; // nothing listens there
  proxy.cut();
  await untilState(page, 'offline');
  t.equal(await text(page, 'state'), 'Offline');
  t.equal(await text(page, 'health-text'), 'No answer from the gateway.');
});

t.test('a frame without a receipt never stands beside the proof of earlier ones, nor beside a refusal', async (t) => {
  const { gateway } = await startGateway(t, nodes);
  const proxy = await openTamperingProxy(t, gateway.url);
  const { page } = await openTab(t);
  /** Refuses one upgrade from now on; the next one stays without an answer. */
  const refuseUpgrades = (): Promise<unknown> =>
    page.evaluate(`
      let isRefused = false;
      window.WebSocket = class extends EventTarget {
        constructor() {
          super();
          if (!isRefused) setTimeout(() => this.dispatchEvent(new CloseEvent('close', { code: 1006 })));
          isRefused = true;
        }
        close() {}
      };`);
  const untilPolled = async (): Promise<void> => {
    const read = page.waitForResponse(/\/network$/);
    proxy.cut();
    await (await read).finished();
  };
  await page.goto(proxy.url);
  await waitFor(async () => /verified$/.test(await text(page, 'proof')), 'a proof');
  await refuseUpgrades();
  proxy.tamper = (packet) => packet.replace(/"seq":(\d)/g, (_, digit) => `"seq":${(Number(digit) + 1) % 10}`);
  await untilState(page, 'refused');
  const slot = await slotOf(page);
  proxy.tamper = (packet) => packet;
  await untilPolled();
  await page.waitForTimeout(300); // for a frame that would be shown
  t.equal(await slotOf(page), slot);
  t.equal(await stateOf(page), 'refused');

  await page.goto(proxy.url);
  await waitFor(async () => /verified$/.test(await text(page, 'proof')), 'a proof');
  await refuseUpgrades();
  await untilPolled();
  await untilState(page, 'live');
  await waitFor(async () => (await text(page, 'proof')) === 'read without a receipt', 'the words for it');
  t.not(await text(page, 'mark'), '✓');
});

t.test('eight tabs of one browser share one line; when its tab closes another opens it', async (t) => {
  const { gateway } = await startGateway(t, nodes);
  const tabs = await openTabs(t, 8);
  const sockets = tabs.map(({ page }) => countSockets(page));
  const opened = (): number => sockets.reduce((sum, each) => sum + each.opened, 0);
  for (const { page } of tabs) await page.goto(gateway.url);
  const untilRising = async (page: Page): Promise<void> => {
    await untilState(page, 'live');
    const slot = await slotOf(page);
    await waitFor(async () => (await slotOf(page)) > slot, 'a later slot');
    await waitFor(async () => /^[\d,]+ frames verified$/.test(await text(page, 'proof')), 'the proof');
  };
  for (const { page } of tabs) await untilRising(page);
  t.equal(opened(), 1);
  const leading = sockets.findIndex(({ opened }) => opened === 1);
  const others = tabs.filter((_, at) => at !== leading);
  // a tab that was hidden less than a minute ago still opens the line for the others
  for (const { page } of others.slice(0, -1)) await setHidden(page, true);
  await tabs[leading]?.page.close();
  await waitFor(() => opened() === 2, 'another line');
  t.equal(sockets.at(-1)?.opened, 0, 'none waits until the hidden tabs, which came first, leave the queue');
  for (const { page } of others) await untilRising(page);
  const found = others.flatMap(({ problems }) => problems);
  t.same(found, []);
});

t.test('eight browsers behind one address show a slot that rises, though five streams are its limit', async (t) => {
  const { gateway } = await startGateway(t, nodes);
  const pages: Page[] = [];
  while (pages.length < 8) pages.push((await openTab(t)).page);
  for (const page of pages) await page.goto(gateway.url);
  const slots: number[] = [];
  for (const page of pages) {
    await untilState(page, 'live');
    slots.push(await slotOf(page));
  }
  for (const [at, page] of pages.entries())
    await waitFor(async () => (await slotOf(page)) > (slots[at] ?? 0), 'a later slot');
  const words = await Promise.all(pages.map((page) => text(page, 'state')));
  t.equal(words.filter((each) => each === 'Live').length, 5);
  t.equal(words.filter((each) => each === 'Live, each 5 s').length, 3);
  const polled = pages[words.indexOf('Live, each 5 s')];
  t.match(await polled?.getAttribute('#state', 'title'), /this address may have used up its own/);
  t.equal(polled && (await text(polled, 'proof')), 'read without a receipt');
});
