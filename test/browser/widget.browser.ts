import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { startGateway, waitFor } from '../support/harness.ts';
import { openTab, openTabs } from './chromium.ts';
import { openTamperingProxy } from './tampering-proxy.ts';
import {
  accessibilityViolations,
  countLayoutShifts,
  countSockets,
  hideForTwoMinutes,
  shiftedElements,
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // A server that listens on a port has an address with one.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const states = (page: Page): Promise<readonly string[]> =>
  page.evaluate('[...document.querySelectorAll("slotgate-status")].map(({ state }) => state)') as Promise<string[]>;

const untilAll = (page: Page, state: string): Promise<void> =>
  waitFor(async () => (await states(page)).every((each) => each === state), state);

t.test('three widgets on another origin share one WebSocket, and tell what becomes of it', async (t) => {
  const { page, problems } = await openTab(t);
  await countLayoutShifts(page);
  await page.goto(await serveHost(host(meddler.url)));
  await page.evaluate(`
    window.heard = [];
    for (const type of ['slotgate-frame', 'slotgate-state'])
      document.body.addEventListener(type, ({ detail }) => heard.push(detail.state ?? typeof detail.slot));`);
  await untilAll(page, 'live');
  await waitFor(
    async () => (await page.evaluate('heard.filter((each) => each === "number").length > 3')) === true,
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
  const heldMs = performance.now();
  await untilAll(page, 'stale');
  t.ok(performance.now() - heldMs <= 3300, 'stale three seconds after the last frame');
  t.match(await word(), /^Stale \d+ s$/);
  meddler.hold = false;
  meddler.cut();
  const cutMs = performance.now();
  await untilAll(page, 'live');
  t.ok(performance.now() - cutMs <= 3000, 'live again within three seconds');
  t.match(await page.evaluate('heard.filter((each) => each === "stale" || each === "live").slice(-6)'), ['stale']);
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
  t.equal(await page.evaluate('document.querySelector("slotgate-status").offsetWidth'), 224, 'with its own style');
  const file = join(t.testdir(), 'host.html');
  writeFileSync(file, host(gateway.url));
  await page.goto(pathToFileURL(file).href);
  await untilAll(page, 'live');
  t.same(problems, []);
});

t.test('the example of the docs shows the state, and tells each change of it', async (t) => {
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
  t.same(
    slots.filter((slot) => !(Number(slot) > 0)),
    [],
  );
  t.ok(
    sockets.some(({ opened }) => opened > 1),
    'one of them was refused',
  );
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

t.test('where no stream is to be had it asks each five seconds', async (t) => {
  const { gateway: closed } = await startGateway(t, nodes, { set: ['limits.free.streams=0'] });
  const { page } = await openTab(t);
  await page.goto(await serveHost(host(closed.url)));
  await untilAll(page, 'live');
  t.ok(Number(await page.evaluate('document.querySelector("slotgate-status").frame.slot')) > 0);
});
