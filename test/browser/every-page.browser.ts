import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGateway } from '../support/harness.ts';
import { openTab } from './chromium.ts';
import { accessibilityViolations, countLayoutShifts, shiftedElements, until, waitFor } from './watch-page.ts';

const WALLET = WALLETS[0]?.address ?? '';

const cluster = await startEmbeddedCluster({ slotMs: 200, transactionsPerSlot: 3 });
t.teardown(() => cluster.close());
const { gateway, get } = await startGateway(t, [`${cluster.url},${cluster.wsUrl}`]);

/** Waits until no part of a page waits for an answer, and a live page is live. */
const untilLoaded = (page: Page): Promise<void> =>
  until(
    page,
    `document.querySelector('[aria-busy=true]') === null &&
      (document.getElementById('view')?.childElementCount ?? 2) > 1 &&
      ['live', undefined].includes(document.body.dataset.state)`,
  );

/** The texts of cards that cover another cell, and the figures that are cut. */
const COVERED = `(() => {
  const boxOf = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  };
  const covers = (a, b) => b.width > 0 && a.right > b.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1;
  const rows = [...document.querySelectorAll('.scroll tbody tr')].filter(({ children }) => children.length > 1);
  const covered = rows.filter(({ children: [first, second] }) => covers(boxOf(first), boxOf(second)));
  const cut = [...document.querySelectorAll('.big, .price')].filter((each) => each.scrollWidth > each.clientWidth + 1);
  const offer = document.querySelector('[aria-label=Portfolio] .fresh');
  const under = offer === null ? [] : [...document.querySelectorAll('[aria-label=Portfolio] :is(h2, p, td)')];
  covered.push(...under.filter((each) => covers(boxOf(offer), boxOf(each)) && covers(boxOf(each), boxOf(offer))));
  return [...[...covered, ...cut].map(({ textContent }) => textContent), ...new Set(window.cutLabels)];
})()`;

/** Has the page keep what it writes onto canvases, and of that what does not fit. */
const WATCH_LABELS = `
  window.labels = [];
  window.cutLabels = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
    labels.push(text);
    const half = this.textAlign === 'center' ? this.measureText(text).width / 2 : 0;
    if (x < half || x + half > this.canvas.width) cutLabels.push(text);
    return fillText.call(this, text, x, ...rest);
  };`;

/** Where this run leaves its pictures: each page in both themes, on a desk and on a phone. */
const PICTURES = new URL('../../../.tap/pages/', import.meta.url); // from dist/test/browser
const PICTURED: readonly number[] = [1440, 390];

/** Returns a row of the table that this run prints: what a page costs to load, on this machine. */
const loadRow = async (page: Page, name: string, loadedMs: number): Promise<string> => {
  const [bytes, firstMs, paintMs] = (await page.evaluate(`(() => {
    const [{ encodedBodySize, responseEnd }] = performance.getEntriesByType('navigation');
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    return [encodedBodySize, responseEnd, paint?.startTime ?? NaN];
  })()`)) as readonly number[];
  return `| ${[name, bytes, ...[firstMs, paintMs, loadedMs].map((ms) => Math.round(ms ?? 0))].join(' | ')} |`;
};

t.test('each page is accessible, silent and still, in both themes, wide and narrow', async (t) => {
  await waitFor(async () => (await get(`/address/${WALLET}/history`)).json.result?.rows.length > 3, 'some history');
  const signature = (await get(`/address/${WALLET}/history?limit=1`)).json.result.rows[0].signature;
  const block = (await get(`/tx/${signature}`)).json.result.slot;
  const searches = {
    explorer: '',
    wallet: WALLET,
    token: DOLLAR.mint.address,
    changes: `${WALLET}&view=changes`,
    transaction: signature,
    block,
    nothing: 'nothing that exists',
  };
  const paths = Object.entries({
    status: '/',
    docs: '/docs',
    routes: '/docs/routes',
    widget: '/docs/widget',
    verify: '/verify',
    ...Object.fromEntries(Object.entries(searches).map(([name, query]) => [name, `/explorer?q=${query}`])),
    missing: '/no/such-page',
  });
  mkdirSync(PICTURES, { recursive: true });
  t.comment('| page, 1440 px | bytes sent | ms to its end | ms to first paint | ms until loaded |');
  const { page, problems } = await openTab(t);
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(gateway.url)) foreign.push(request.url());
  });
  await countLayoutShifts(page);
  await page.addInitScript(WATCH_LABELS);
  const faults: string[] = [];
  for (const width of [1440, 768, 390, 320]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [name, path] of paths) {
      const startMs = performance.now();
      await page.goto(gateway.url + path);
      await untilLoaded(page);
      if (width === 1440) t.comment(await loadRow(page, name, performance.now() - startMs));
      await page.waitForTimeout(500); // for frames that move nothing
      const found: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const rules = colorScheme === 'light' ? undefined : ['color-contrast']; // a theme has other colors, no other elements
        found.push(
          ...(await accessibilityViolations(page, rules)).map((violation) => `axe, ${colorScheme}: ${violation}`),
        );
        if (!PICTURED.includes(width)) continue;
        const picture = fileURLToPath(new URL(`${name}-${width}-${colorScheme}.png`, PICTURES));
        await page.screenshot({ path: picture, fullPage: name !== 'routes' });
      }
      found.push(...(await shiftedElements(page)).map((element) => `moved ${element}`));
      found.push(...(await page.evaluate<string[]>(COVERED)).map((text) => `covered or cut: ${text}`));
      if (name === 'status' && !(await page.evaluate('labels.some((label) => /^\\d+:\\d+:\\d+$/.test(label))')))
        found.push('no times below the plots of five minutes');
      const overflow = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      if (overflow) found.push('wider than the window');
      faults.push(...found.map((fault) => `${path} ${width}: ${fault}`));
    }
  }
  const expected = /status of 40[04]/; // of the search for nothing, of skipped slots
  t.same(faults, []);
  t.same(foreign, []);
  const unexpected = problems.filter((problem) => !expected.test(problem));
  t.same(unexpected, []);
});
