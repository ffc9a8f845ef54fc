import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { startGateway } from '../support/harness.ts';
import { listenOnLoopback } from '../support/loopback-server.ts';
import { openTab, openTabs } from './chromium.ts';
import { openTamperingProxy } from './tampering-proxy.ts';
import {
  accessibilityViolations,
  countLayoutShifts,
  countSockets,
  hideForTwoMinutes,
  shiftedElements,
  waitFor,
} from './watch-page.ts';

const cluster = await startEmbeddedCluster({ slotMs: 200, transactionsPerSlot: 3 });
t.teardown(() => cluster.close());
const nodes = [`${cluster.url},${cluster.wsUrl}`];
const { gateway } = await startGateway(t, nodes);
const meddler = await openTamperingProxy(t, gateway.url);

/** A page with three widgets: a card, another one, a line. */
const host = (base: string): string => `<!doctype html><html lang="en"><title>A host</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<main><h1>A host</h1><script src="${base}/widget.js" async></script>
<slotgate-status></slotgate-status>
<slotgate-status theme="dark" fields="slot total-tps fee height" label="Fees"></slotgate-status>
<slotgate-status size="line" fields="slot"></slotgate-status></main></html>`;

/** Serves a page from an origin of its own, with a policy. */
async function serveHost(html: string, policy = ''): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').setHeader('content-security-policy', policy).end(html);
  });
  const port = await listenOnLoopback(server);
  t.teardown(() => server.close());
  return `http://127.0.0.1:${port}/`;
}

const states = (page: Page): Promise<readonly string[]> =>
  page.evaluate('[...document.querySelectorAll("slotgate-status")].map(({ state }) => state)') as Promise<string[]>;

const untilAll = (page: Page, state: string): Promise<void> =>
  waitFor(async () => (await states(page)).every((each) => each === state), state);

t.test('a page that may add no script frames the widget alone', async (t) => {
  const { page, problems } = await openTab(t);
  const query = 'fields=slot+tps&size=line&src=http://127.0.0.1:9';
  const frame = `<iframe src="${gateway.url}/embed?${query}" width="480" height="40" title="Solana"></iframe>`;
  await page.goto(
    await serveHost(
      `<!doctype html><html lang="en"><title>A host</title><link rel="icon" href="data:,"><main>${frame}</main></html>`,
      "script-src 'none'",
    ),
  );
  const widget = page.frameLocator('iframe').locator('slotgate-status');
  await waitFor(async () => (await widget.evaluate((element) => Object(element).state)) === 'live', 'a live widget');
  const attributes = await Promise.all(['fields', 'size', 'src'].map((name) => widget.getAttribute(name)));
  t.same(attributes, ['slot tps', 'line', null], 'the query has its attributes, but another gateway');
  t.ok(await widget.evaluate(({ clientHeight }) => clientHeight <= 40));
  t.same(problems, []);
});

t.test('three widgets on another origin share one WebSocket, and show its state', async (t) => {
  const { page, problems } = await openTab(t);
  await countLayoutShifts(page);
  await page.goto(await serveHost(host(meddler.url)));
  await page.evaluate(`
    window.received = [];
    for (const type of ['slotgate-frame', 'slotgate-state'])
      document.body.addEventListener(type, ({ detail }) => received.push(detail.state ?? typeof detail.slot));`);
  await untilAll(page, 'live');
  await waitFor(
    async () => (await page.evaluate('received.filter((each) => each === "number").length > 3')) === true,
    'frames',
  );
  t.equal(meddler.upgrades, 1);
  const word = (): Promise<unknown> =>
    page.evaluate('document.querySelector("slotgate-status").shadowRoot.querySelector("[part~=word]").textContent');
  t.equal(await word(), 'Live');
  t.ok(await page.evaluate('document.querySelector("slotgate-status:state(live)") !== null'));
  t.same(await accessibilityViolations(page), []);
  t.same(await shiftedElements(page), []);

  meddler.hold = true;
  await untilAll(page, 'slow');
  t.match(
    await page.locator('slotgate-status [part~=state]').first().getAttribute('title'),
    /^Slow: no new slot for \d+ s$/,
  );
  meddler.hold = false;
  meddler.cut();
  await untilAll(page, 'live');
  t.match(await page.evaluate('received.filter((each) => each === "slow" || each === "live").slice(-6)'), ['slow']);
  t.same(problems, []);
});

t.test('an attribute that changes takes effect without another connection', async (t) => {
  const { page } = await openTab(t);
  await page.goto(await serveHost(host(meddler.url)));
  await untilAll(page, 'live');
  const { upgrades } = meddler;
  const labels = await page.evaluate(`(async () => {
    const widget = document.querySelector('slotgate-status');
    widget.setAttribute('fields', 'epoch height');
    widget.setAttribute('label', 'Mine');
    await Promise.resolve();
    return [...widget.shadowRoot.querySelectorAll('[part~=label]')].map(({ textContent }) => textContent);
  })()`);
  t.same(labels, ['Epoch', 'Block height']);
  t.equal(meddler.upgrades, upgrades);
});

t.test('it works where the host forbids styles, and from a file', async (t) => {
  const { page, problems } = await openTab(t);
  const socket = gateway.url.replace('http', 'ws');
  const policy = `default-src 'none'; img-src data:; style-src 'none'; script-src ${gateway.url}; connect-src ${gateway.url} ${socket}`;
  await page.goto(await serveHost(host(gateway.url), policy));
  await untilAll(page, 'live');
  t.equal(
    await page.evaluate('getComputedStyle(document.querySelector("slotgate-status")).display'),
    'inline-block',
    'with its own style',
  );
  const file = join(t.testdir(), 'host.html');
  writeFileSync(file, host(gateway.url));
  await page.goto(pathToFileURL(file).href);
  await untilAll(page, 'live');
  t.same(problems, []);
});

t.test('the example of the docs shows the state and each change of it', async (t) => {
  const { page, problems } = await openTab(t);
  const example = fileURLToPath(new URL('../../../test/examples/widget.html', import.meta.url)); // from dist/test/browser
  const html = readFileSync(example, 'utf8').replace('http://127.0.0.1:8787', gateway.url);
  await page.goto(await serveHost(html.replace('<title>', '<link rel="icon" href="data:,"><title>')));
  await untilAll(page, 'live');
  t.match(await page.textContent('#log'), / → live$/);
  t.same(problems, []);
});

t.test('a line draws the last values of a rate that is shown', async (t) => {
  const { page } = await openTab(t);
  await page.goto(await serveHost(host(gateway.url)));
  const drawn = (): Promise<unknown> =>
    page.evaluate(`[...document.querySelectorAll('slotgate-status')].map(({ shadowRoot }) =>
      /^M.+L59 /.test(shadowRoot.querySelector('[part=spark][aria-hidden=true] path')?.getAttribute('d')))`);
  await waitFor(async () => String(await drawn()) === 'true,true,false', 'two values');
});

t.test('the state leads to the gateway, and the history of the network says how many slots were skipped', async (t) => {
  const { page, problems } = await openTab(t);
  const rows = [
    { slots: 150, skippedSlots: 6 },
    { slots: 50, skippedSlots: 3 },
  ];
  await page.route('**/network/history?*', (route) =>
    route.fulfill({ json: { result: { rows } }, headers: { 'access-control-allow-origin': '*' } }),
  );
  await page.goto(
    await serveHost(`<!doctype html><html lang="en"><title>A host</title><link rel="icon" href="data:,">
      <script src="${gateway.url}/widget.js"></script>
      <slotgate-status href fields="skip-rate epoch-end"></slotgate-status>
      <slotgate-status href="javascript:alert(1)"></slotgate-status></html>`),
  );
  const [linked, unlinked] = [page.locator('slotgate-status').nth(0), page.locator('slotgate-status').nth(1)];
  await linked.locator('[part~=link] [part~=word]').waitFor();
  t.equal(await linked.locator('a').getAttribute('href'), `${gateway.url}/`);
  t.equal(await unlinked.locator('a').count(), 0, 'to a page only');
  const shownIn = (name: string) => linked.locator(`[part~=value-${name}]`).textContent();
  await waitFor(async () => (await shownIn('skip-rate')) === '4.5%', 'the share of both rows');
  await waitFor(async () => /^\d+ [hms]/.test((await shownIn('epoch-end')) ?? ''), 'a time');

  const late: Route[] = [];
  const headers = { 'access-control-allow-origin': '*' };
  await page.route(`${gateway.url}/**/history?*`, (route) => void late.push(route));
  await page.route(`${meddler.url}/**/history?*`, (route) => route.fulfill({ body: 'no JSON', headers }));
  await page.reload();
  await waitFor(() => late.length === 1, 'a request for the history');
  const other = page.waitForResponse(`${meddler.url}/**/history?*`);
  await page.evaluate(`document.querySelector('slotgate-status').setAttribute('src', '${meddler.url}')`);
  await (await other).finished();
  const read = page.waitForResponse(`${gateway.url}/**/history?*`);
  await late[0]?.fulfill({ json: { result: { rows } }, headers });
  await (await read).finished();
  await page.waitForTimeout(300); // for a share that would be shown
  t.equal(await shownIn('skip-rate'), '–', 'what one gateway has seen is not shown of another');
  t.same(problems, []);
});

t.test('six tabs of one address all show numbers, although five streams are its limit', async (t) => {
  const { gateway: limited } = await startGateway(t, nodes);
  const url = await serveHost(host(limited.url));
  const tabs = await openTabs(t, 6);
  const sockets = tabs.map(({ page }) => countSockets(page));
  for (const { page } of tabs) await page.goto(url);
  for (const { page } of tabs) await untilAll(page, 'live');
  const slots = await Promise.all(
    tabs.map(({ page }) => page.evaluate('document.querySelector("slotgate-status").frame.slot')),
  );
  const invalid = slots.filter((slot) => !(Number(slot) > 0));
  t.same(invalid, []);
  await waitFor(() => sockets.some(({ opened }) => opened > 1), 'one of them to be refused and try again');
});

t.test('a tab hidden for a minute closes its connection until it is seen', async (t) => {
  const { page } = await openTab(t);
  await page.clock.install();
  const sockets = countSockets(page);
  await page.goto(await serveHost(host(gateway.url)));
  await untilAll(page, 'live');
  await hideForTwoMinutes(page, sockets);
  await untilAll(page, 'live');
  t.equal(sockets.opened, 2);

  await page.evaluate(`
    window.seen = [];
    document.addEventListener('slotgate-state', ({ detail }) => seen.push(detail.state));
    for (const each of document.querySelectorAll('slotgate-status')) each.remove();`);
  await page.clock.fastForward(600_000);
  await page.evaluate(`document.querySelector('main').append(document.createElement('slotgate-status'))`);
  await untilAll(page, 'live');
  t.same(await page.evaluate('seen'), ['live'], 'one that is shown later does not begin with a stall');
});

t.test('a reader that is too slow waits, and a key that is not valid ends the line', async (t) => {
  const { page } = await openTab(t);
  await page.clock.install();
  await page.addInitScript(`
    window.opened = 0;
    window.WebSocket = class extends EventTarget {
      constructor() {
        super();
        opened++;
        const close = new CloseEvent('close', { code: opened === 1 ? 1013 : 4401 });
        for (const event of [new Event('open'), close]) setTimeout(() => this.dispatchEvent(event));
      }
      close() {}
    };`);
  await page.goto(await serveHost(host(gateway.url)));
  await untilAll(page, 'limited');
  t.match(await page.locator('slotgate-status [part~=state]').first().textContent(), /next try in [123] s$/);
  t.equal(await page.evaluate('opened'), 1);
  await page.clock.fastForward(3000);
  await untilAll(page, 'offline');
  await page.clock.fastForward(600_000);
  t.equal(await page.evaluate('opened'), 2, 'no further one');
});

t.test('after a long outage it is live again within half a minute', async (t) => {
  const proxy = await openTamperingProxy(t, gateway.url);
  const { page } = await openTab(t);
  await page.clock.install();
  await page.goto(await serveHost(host(proxy.url)));
  await untilAll(page, 'live');
  proxy.gateway = 'http://127.0.0.1:1'; // nothing listens there
  proxy.cut();
  for (let minute = 0; minute < 10; minute++) {
    await page.clock.fastForward(60_000);
    await page.waitForTimeout(100);
  }
  await untilAll(page, 'offline');
  proxy.gateway = gateway.url;
  await page.clock.fastForward(31_000);
  await untilAll(page, 'live');
});

t.test('without a stream it polls each five seconds', async (t) => {
  const { gateway: closed } = await startGateway(t, nodes, { set: ['limits.free.streams=0'] });
  const { page } = await openTab(t);
  await page.goto(await serveHost(host(closed.url)));
  await untilAll(page, 'live');
  t.ok(Number(await page.evaluate('document.querySelector("slotgate-status").frame.slot')) > 0);
});

t.test('no value is cut, in any font and size, and a line keeps its state', async (t) => {
  const { page } = await openTab(t);
  const { gateway: closed } = await startGateway(t, nodes, { set: ['limits.free.streams=0'] });
  const network = await fetch(`${closed.url}/api/v1/network`);
  const { result, ...rest } = (await network.json()) as { result: object };
  const widest = { slot: 999999999, epoch: 9999, priorityFee: 1234567, blockHeight: 999999999, epochProgress: 0.99 };
  const json = { result: { ...result, ...widest, seq: 1 }, ...rest };
  await page.route('**/api/v1/network', (route) =>
    route.fulfill({ json, headers: { 'access-control-allow-origin': '*' } }),
  );
  const fonts = ['Arial', 'DejaVu Sans', 'SF Pro Text', 'Verdana', 'monospace'];
  const cards = fonts.flatMap((font) =>
    [14, 20].map(
      (px) => `<p><slotgate-status style="--slotgate-font:${px}px/1.5 '${font}',sans-serif"
        fields="slot tps slot-time fee epoch height"></slotgate-status></p>`,
    ),
  );
  const line =
    '<p style="width:300px"><slotgate-status size="line" fields="slot fee height epoch"></slotgate-status></p>';
  await page.goto(
    await serveHost(`<!doctype html><html lang="en"><title>A host</title><link rel="icon" href="data:,">
      <script src="${closed.url}/widget.js"></script>${cards.join('')}${line}</html>`),
  );
  await waitFor(
    async () => (await page.textContent('slotgate-status [part~=value-slot]')) === '999,999,999',
    'the widest values',
  );
  const cut = await page.evaluate(`[...document.querySelectorAll('slotgate-status')].flatMap((widget) => {
    const box = widget.getBoundingClientRect();
    return [...widget.shadowRoot.querySelectorAll('dd, .state')].filter((each) => {
      const { right, bottom, left } = each.getBoundingClientRect();
      const isInside = right <= box.right + 0.5 && bottom <= box.bottom + 0.5;
      const isDropped = widget.matches('[size=line]') && each.localName === 'dd' && !isInside;
      return !isDropped && (each.scrollWidth > each.clientWidth || !isInside);
    }).map((each) => widget.getAttribute('style') + ' ' + each.className + ' ' + each.textContent);
  })`);
  t.same(cut, []);
  const shown = await page.evaluate(`[...document.querySelectorAll('[size=line]')].map((widget) =>
    [...widget.shadowRoot.querySelectorAll('.word, dd')].filter((each) =>
      each.getBoundingClientRect().bottom <= widget.getBoundingClientRect().bottom + 0.5).length)`);
  t.ok(Number(shown) >= 2 && Number(shown) < 5, `a narrow line shows its state and ${Number(shown) - 1} values`);
});

t.test('a field that there is not, a source that is no gateway, and a frame that is refused, are named', async (t) => {
  const { page } = await openTab(t);
  const warnings: string[] = [];
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
  await page.goto(
    await serveHost(`<!doctype html><html lang="en"><title>A host</title><link rel="icon" href="data:,">
      <script src="${gateway.url}/widget.js"></script><slotgate-status fields="slot price"></slotgate-status>
      <slotgate-status src="ftp://elsewhere"></slotgate-status></html>`),
  );
  await waitFor(async () => String(await states(page)) === 'live,offline', 'both');
  t.equal(
    await page.locator('slotgate-status').nth(1).locator('[part~=word]').textContent(),
    'No gateway at ftp://elsewhere',
  );
  t.match(warnings.join('\n'), /there is no field price/);
  t.match(warnings.join('\n'), /the attribute src must name a gateway/);

  warnings.length = 0;
  await page.route('**/client/*.js', (route) => {
    const [name = ''] = /[^/]+$/.exec(route.request().url()) ?? [];
    return route.fulfill({ path: fileURLToPath(new URL(`../../client/${name}`, import.meta.url)) }); // from dist/test/browser
  });
  await page.goto(
    await serveHost(`<!doctype html><html lang="en"><title>A host</title><link rel="icon" href="data:,">
      <script type="module">
        import { defineStatusElement } from './client/widget.js';
        const verify = () => { if (!window.isProven) throw new Error('stale'); return true; };
        defineStatusElement({ gateway: '${gateway.url}/', verify });
      </script><slotgate-status fields="slot"></slotgate-status></html>`),
  );
  await untilAll(page, 'refused');
  t.same(warnings, ['slotgate: Error: stale'], 'once, and no word about the network');
  await page.evaluate('window.isProven = true');
  await untilAll(page, 'live');
});
