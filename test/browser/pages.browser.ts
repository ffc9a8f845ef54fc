import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { DOLLAR, WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { type GatewayHarness, startGateway } from '../support/harness.ts';
import { openTab } from './chromium.ts';
import { openPrefixProxy } from './prefix-proxy.ts';
import { openTamperingProxy } from './tampering-proxy.ts';
import { countSockets, hideForTwoMinutes, restoreDate, until, untilShown, waitFor } from './watch-page.ts';

const WALLET = WALLETS[0]?.address ?? '';

const folders = t.testdir({ gateway: {}, limited: {} });
const cluster = await startEmbeddedCluster({ slotMs: 200, transactionsPerSlot: 3 });
t.teardown(() => cluster.close());
const nodes = [`${cluster.url},${cluster.wsUrl}`];
const receiptKey = null; // the one of the folder: a gateway that is started again signs with it
const start = (): Promise<GatewayHarness> => startGateway(t, nodes, { state: `${folders}/gateway`, receiptKey });
const { gateway, get } = await start();
const meddler = await openTamperingProxy(t, gateway.url);

const text = async (page: Page, id: string): Promise<string> => (await page.textContent(`#${id}`)) ?? '';

const untilState = (page: Page, wanted: string): Promise<void> =>
  until(page, `document.body.dataset.state === '${wanted}'`);

t.test('the status page is live, verified frame by frame, and says when it is not', async (t) => {
  const { page, problems } = await openTab(t);
  await page.goto(meddler.url);
  await untilState(page, 'live');
  await until(page, '/^[1-9]\\d* frames verified$/.test(document.getElementById("proof").textContent)');
  t.equal(await text(page, 'mark'), '✓');
  const slotOf = async (): Promise<number> => Number((await text(page, 'slot')).replace(/\D/g, ''));
  const slot = await slotOf();
  await waitFor(async () => (await slotOf()) > slot, 'a later slot');
  t.equal(await page.getAttribute('#key', 'title'), gateway.publicKey);

  meddler.hold = true;
  await untilState(page, 'slow');
  t.match(await text(page, 'state'), /^Slow: no new slot for \d+ s$/);
  meddler.hold = false;
  meddler.cut();
  await untilState(page, 'live');

  meddler.tamper = (packet) => packet.replace(/"seq":(\d)/g, (_, digit) => `"seq":${(Number(digit) + 1) % 10}`);
  await until(page, 'document.getElementById("mark").textContent === "✗"');
  const shown = await slotOf();
  t.match(await text(page, 'key-text'), /An answer was refused\. The result is not the signed one/);
  t.equal(await text(page, 'state'), 'Refused');
  t.match(await text(page, 'health-text'), /not proven/);
  t.ok((await slotOf()) - shown <= 2, 'what is refused is not shown');
  meddler.tamper = (packet) => packet;
  await untilState(page, 'live');
  t.same(problems, []);
});

t.test('plots begin with what the gateway saw before the page was opened', async (t) => {
  const seen = async (): Promise<number> => {
    const response = await fetch(`${gateway.url}/api/v1/network/history?step=slot&span=5m`);
    return ((await response.json()) as { result: { rows: unknown[] } }).result.rows.length;
  };
  await waitFor(async () => (await seen()) > 60, 'slots that the gateway has seen');
  const { page, problems } = await openTab(t);
  await page.addInitScript('Object.defineProperty(navigator, "language", { value: "en-US@posix" })'); // of LANG=C
  await page.goto(meddler.url);
  await untilState(page, 'live');
  await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
  const shown = (id: string): string =>
    `document.querySelectorAll("#${id} tbody tr").length > Number.parseInt(document.getElementById("proof").textContent)`;
  for (const id of ['pace', 'fees']) await until(page, shown(id));
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await untilShown(page.locator('.balance'));
  t.same(problems, [], 'a language tag that is none stops no page');
});

t.test('the page is live again after the gateway was started again', async (t) => {
  const { gateway: first } = await startGateway(t, nodes, { state: `${folders}/gateway`, receiptKey });
  const proxy = await openTamperingProxy(t, first.url);
  const { page } = await openTab(t);
  // as Firefox does for a reader who lets sites keep nothing
  await page.addInitScript(`
    const refuse = () => { throw new DOMException('not allowed', 'SecurityError'); };
    navigator.locks.request = async () => refuse();
    window.BroadcastChannel = class { constructor() { refuse(); } };
    Object.defineProperty(window, 'localStorage', { get: refuse });`);
  await page.goto(proxy.url);
  await untilState(page, 'live');
  await first.close();
  await until(page, '["restarting", "offline"].includes(document.body.dataset.state)');
  const { gateway: second } = await startGateway(t, nodes, { state: `${folders}/gateway`, receiptKey });
  proxy.gateway = second.url;
  await untilState(page, 'live');
  t.equal(await text(page, 'mark'), '✓');
});

t.test('a tab hidden for a minute closes its line until it is seen', async (t) => {
  const { page, problems } = await openTab(t);
  await page.clock.install();
  const sockets = countSockets(page);
  await page.goto(gateway.url);
  await untilState(page, 'live');
  await page.evaluate(`
    window.seen = [];
    document.addEventListener('visibilitychange', () => {
      window.titleBefore = document.title;
      if (document.hidden) seen.length = 0; // of the time before it was hidden
    });
    const note = () => document.hidden || seen.push(document.body.dataset.state + ' ' + /ago|–/.exec(document.getElementById('slot-age').textContent));
    document.addEventListener('visibilitychange', note);
    new MutationObserver(note).observe(document.body, { attributeFilter: ['data-state'] });`);
  await hideForTwoMinutes(page, sockets);
  await untilState(page, 'live');
  t.same(
    await page.evaluate('[...new Set(seen)].filter((each) => each !== "refused –")'), // by the clock that was put forward
    ['connecting –', 'live ago'],
    'it does not take its own sleep for a stall, and claims no age of what it saw before',
  );
  t.equal(await page.evaluate('titleBefore'), 'slotgate: status of the network', 'a tab without a line claims nothing');
  const { opened } = sockets;
  const stopped = await page.context().newPage();
  await stopped.goto(`${gateway.url}/robots.txt`);
  await stopped.evaluate(
    `void navigator.locks.request('slotgate line 2 ${gateway.url}/', { steal: true }, () => new Promise(() => {}))`,
  );
  await waitFor(() => sockets.closed === opened, 'the end of a line that is stolen');
  for (const _ of [1, 2]) await page.clock.fastForward(10_000);
  await restoreDate(page);
  await waitFor(() => sockets.opened === opened + 1, 'the line, stolen from a tab that sends nothing');
  await untilState(page, 'live');

  const streams: string[] = [];
  page.on('websocket', (socket) => streams.push(socket.url()));
  await page.goto(`${gateway.url}/explorer?q=${WALLET}`);
  await untilShown(page.locator('.part[aria-label="Balance"]').locator('text=/lamports, live$/'));
  await hideForTwoMinutes(page, sockets);
  t.match(streams, [/interval=10000$/, /interval=10000$/], 'nothing shows their frames');
  t.same(problems, []);
});

t.test('another key is refused until the reader accepts it', async (t) => {
  const proxy = await openTamperingProxy(t, gateway.url);
  const { page } = await openTab(t);
  await page.goto(proxy.url);
  await untilState(page, 'live');
  const { gateway: other } = await startGateway(t, nodes);
  proxy.gateway = other.url;
  proxy.cut();
  await page.waitForSelector('#accept:visible');
  t.match(await text(page, 'key-text'), `the gateway signs with ${other.publicKey} now`);
  t.equal(await text(page, 'mark'), '✗');
  await page.setViewportSize({ width: 320, height: 256 });
  t.ok((await page.locator('#key-notice').evaluate((notice) => notice.getBoundingClientRect().top)) > 0, 'at 400 %');
  await page.setViewportSize({ width: 1280, height: 720 });
  await untilState(page, 'refused');
  t.notMatch((await page.locator('main').allInnerTexts()).join(), /All nodes answer|Connecting|● ok/);
  const { page: explorer } = { page: await page.context().newPage() };
  await explorer.goto(`${proxy.url}/explorer?q=${WALLET}`);
  await explorer.locator('.failed').first().waitFor();
  await explorer.waitForSelector('#accept:visible'); // a busy gateway fails parts for other reasons before
  t.match(await text(explorer, 'key-text'), `the gateway signs with ${other.publicKey} now`);
  await explorer.route('**/api/v1/pubkey', (route) => route.fulfill({ json: { publicKey: gateway.publicKey } }));
  await explorer.click('#accept'); // of the key that is shown, whatever the gateway names by now
  await explorer.locator('.balance').waitFor();
  t.equal(await explorer.locator('.failed').count(), 0, 'the explorer is no dead end');
  await explorer.evaluate(`localStorage.setItem('slotgate.key.${other.cluster}', '${gateway.publicKey}')`);
  await page.click('#accept');
  await until(page, 'document.getElementById("mark").textContent === "✓"');
  t.equal(await page.getAttribute('#key', 'title'), other.publicKey);
});

t.test('a reader whose clock is wrong sees what is proven now, and nothing older', async (t) => {
  const { page } = await openTab(t);
  /** Opens a page whose clock is ahead by a number of seconds, or behind. */
  const open = async (aheadSec: number, path: string, tab = page): Promise<void> => {
    await tab.addInitScript(
      `{ const { now } = Date; window.rightNow ??= now; Date.now = () => now.call(Date) + ${aheadSec * 1000}; }`,
    );
    await tab.goto(gateway.url + path);
  };
  const setRight = (page: Page): Promise<unknown> => page.evaluate('Date.now = rightNow');
  const slots: string[] = [];
  page.on('request', (request) => slots.push(...(request.url().match(/v1\/slot$/) ?? [])));
  let frames = 0;
  page.on('websocket', (socket) => socket.on('framereceived', () => frames++));
  await page.route('**/api/v1/slot', async (route) => {
    await waitFor(() => frames > 3, 'frames that wait for the clock');
    await route.continue();
  });
  await open(-10, '/');
  await until(page, '/^[1-9]\\d* frames verified$/.test(document.getElementById("proof").textContent)');
  t.equal(slots.length, 1, 'all frames wait for one client');
  await page.unroute('**/api/v1/slot');
  const transactions: string[] = [];
  page.on('request', (request) => transactions.push(...(request.url().match(/v1\/tx\/\w+/) ?? [])));
  const { signature } = (await get(`/address/${WALLET}/history?limit=1`)).json.result.rows[0];
  await open(-1000, `/explorer?q=${signature}`); // 1010 s behind: each page adds its own
  await until(page, '/· [1-9]\\d* \\w+ ago$/.test(document.querySelector("time")?.textContent)');
  const pass = (ms: number, tab = page): Promise<unknown> =>
    tab.evaluate(`{ const { now } = performance; performance.now = () => now.call(performance) + ${ms}; }`);
  await pass(3_600_000); // while the clock was set back by as much
  await page.fill('#q', WALLET);
  await page.press('#q', 'Enter');
  await page.locator('.failed + button').first().click();
  await untilShown(page.locator('.balance'));
  const { length: before } = transactions;
  await page.goBack();
  await waitFor(() => transactions.length > before, 'what the client of now reads');
  await open(-100, '/'); // 1110 s behind
  await until(page, 'document.getElementById("mark").textContent === "✓"');
  await setRight(page);
  await until(page, '/, [1-9]\\d* refused$/.test(document.getElementById("proof").textContent)');
  await until(page, 'document.getElementById("mark").textContent === "✓"');
  const other = await page.context().newPage(); // which shows the frames of the first one
  const read: string[] = [];
  other.on('response', (response) => {
    const [, name] = /v1\/(slot|performance)$/.exec(response.url()) ?? [];
    if (name !== undefined) read.push(name);
  });
  await open(-100, '/', other);
  await waitFor(() => read.includes('performance'), 'what is read each minute');
  await setRight(other);
  await pass(61_000, other);
  await waitFor(() => read.join().endsWith('performance,slot,performance'), 'reads of another client');
  await other.close();
  await page.route('**/api/v1/health', async (route) => {
    const { result } = await (await route.fetch()).json();
    await route.fulfill({ json: { result: { ...result, cluster: WALLET } } });
  });
  slots.length = 0;
  await page.goto(gateway.url);
  await until(page, '/, [2-9]\\d refused$/.test(document.getElementById("proof").textContent)');
  t.ok(slots.length < 4, 'another cluster is looked for every 10 s at most');
  await page.unroute('**/api/v1/health');
  const { text: body } = await get('/slot'); // made for no nonce: anybody may have kept it
  await page.route('**/api/v1/slot', (route) => route.fulfill({ body, contentType: 'application/json' }));
  await open(-100, '/'); // 1210 s behind
  await untilState(page, 'refused');
  t.match(await text(page, 'key-text'), 'issued in the future, or your clock is behind');
});

t.test('a page whose address has used up its limit counts down', async (t) => {
  const { gateway: limited } = await startGateway(t, nodes, {
    state: `${folders}/limited`,
    set: ['limits.free.units=4', 'limits.free.streams=0'],
  });
  const { page } = await openTab(t);
  await page.goto(limited.url);
  await fetch(`${limited.url}/api/v1/slot`);
  await fetch(`${limited.url}/api/v1/slot`);
  await untilState(page, 'limited');
  const seconds = async (): Promise<string | undefined> => /next try in (\d+) s/.exec(await text(page, 'state'))?.[1];
  let first: string | undefined;
  await waitFor(async () => {
    first = await seconds();
    return first !== undefined;
  }, 'a time');
  await until(page, `!document.getElementById('state').textContent.includes('in ${first} s')`);
  t.ok(Number(first) > 0);
});

t.test('an address is read, evidence opened, and another view found, by keyboard alone', async (t) => {
  const { page, problems } = await openTab(t);
  await page.goto(gateway.url);
  await page.keyboard.press('Tab');
  t.equal(await page.evaluate('document.activeElement.className'), 'skip');
  await page.keyboard.press('/');
  await page.keyboard.type(WHALE.address);
  await page.keyboard.press('Enter');
  await untilShown(page.locator('.balance'));
  t.match(await page.textContent('.balance'), /^9,007,199\.254740993 SOL/);
  await page.waitForSelector('.title .chip:text("Wallet")');
  await page.evaluate('document.querySelector(".balance").id = "kept"');
  await page.locator('.skip').focus();
  await page.keyboard.press('Enter');
  t.equal(await page.evaluate('document.activeElement.id'), 'content');
  t.equal(await page.locator('#kept').count(), 1, 'to skip the header loads nothing again');
  const proof = page.locator('.proof > summary');
  t.match(await proof.textContent(), /✓ verified in your browser · slot [\d,]+/);
  await proof.focus();
  await page.keyboard.press('Enter');
  const evidence = page.locator('.evidence summary', { hasText: /^Balance: as of slot [\d,]+, confirmed$/ });
  await evidence.focus();
  await page.keyboard.press('Enter');
  const verify = page.locator('.evidence a', { hasText: 'Verify line by line' }).first();
  await verify.focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('#finding.proven');
  t.same(problems, []);
});

t.test('the explorer shows tokens, transactions and blocks, and says why it shows nothing', async (t) => {
  const { page } = await openTab(t);
  const show = async (query: string): Promise<void> => {
    await page.goto(`${gateway.url}/explorer?q=${encodeURIComponent(query)}`);
    await page.waitForSelector('.title, .part');
  };
  await show(DOLLAR.mint.address);
  const part = (title: string) => page.locator(`.part[aria-label="${title}"]`);
  await untilShown(page.locator('h1 bdi:text("“Demo Dollar”")'));
  await untilShown(part('Holders').locator('p:has-text("The 10 largest hold ")'));
  await (await untilShown(part('Holders').locator('td a'))).click();
  await untilShown(page.locator('.title .chip:text("Wallet")'));
  await (await untilShown(part('History').locator('td a'))).click();
  await untilShown(part('Instructions').locator('.call-line'));
  await part('Overview').locator('dd a').first().click();
  await page.waitForSelector('h1:text("Slot ")');
  await untilShown(part('Transactions').locator('tbody tr'));
  await page.goBack();
  await untilShown(part('Instructions').locator('.call-line'));
  await show('pyth');
  await untilShown(page.locator('.title p:text-matches("“pyth” is also the name of the program .{9}, the program ")'));
  await show('no such thing');
  await untilShown(part('Search').locator('p:text("We can’t read that as an address")'));
  await show(DOLLAR.mint.address.slice(0, 30));
  await untilShown(part('Search').locator('p:text("a transaction 86 to 88: this has 30.")'));
  await part('Search').locator('a:text("See what is on the cluster")').click();
  await untilShown(part('Newest blocks'));
});

t.test('the reference sends requests and opens the stream', async (t) => {
  const { page, problems } = await openTab(t);
  await page.goto(`${gateway.url}/docs/routes`);
  const route = (id: string) => page.locator(`#${id}`);
  await route('getBalance').locator('.try button:text("curl")').waitFor(); // open, not behind “Send”
  await route('getBalance').locator('.try summary').click();
  await route('getBalance').locator('input').first().fill(WHALE.address);
  t.match(await route('getBalance').locator('.try pre').first().textContent(), `/api/v1/balance/${WHALE.address}'`);
  await route('getBalance').locator('button:text("TypeScript")').click();
  t.match(await route('getBalance').locator('.try pre').first().textContent(), 'client.get("/balance/:addr"');
  await route('getBalance').locator('button[type=submit]').click();
  await route('getBalance').locator('.try .good').waitFor();
  t.match(await route('getBalance').locator('.try pre').last().textContent(), '"lamports": 9007199254740993');
  const held: Route[] = [];
  await page.route('**/api/v1/balance/*', (request) => void held.push(request));
  for (const count of [1, 2]) {
    await route('getBalance').locator('button[type=submit]').click();
    await waitFor(() => held.length === count, 'a request');
  }
  await held[1]?.continue();
  await route('getBalance').locator('.try .good').waitFor();
  const late = page.waitForResponse('**/api/v1/balance/*');
  await held[0]?.fulfill({ json: {} });
  await (await late).finished();
  await page.unroute('**/api/v1/balance/*');
  const key = (id: string) => route(id).locator('input[type=password]');
  await key('getBalance').fill('a key');
  t.equal(await key('getBlock').inputValue(), 'a key', 'which is sent with each request');
  t.match(await route('getBlock').locator('.try pre').first().textContent(), 'X-Api-Key: a key');
  t.match(await route('getBalance').locator('.try pre').last().textContent(), '"lamports"', 'the newest answer stays');
  await route('getBalance').locator('a:text("Verify this answer")').click();
  await page.waitForSelector('#finding.proven');
  await page.goto(`${gateway.url}/docs/routes`);
  await route('postExplain').locator('.try summary').click();
  await route('postExplain').locator('button[type=submit]').click();
  await route('postExplain').locator('.try pre:has-text("sent 1 SOL")').waitFor();
  await route('getBlock').locator('.try summary').click();
  await route('getBlock').locator('button[type=submit]').click();
  t.equal(await page.evaluate('document.activeElement.validity.valueMissing'), true, 'a value is missing');
  t.equal(await route('getBlock').locator('.try .bad').count(), 0, 'so nothing is sent');
  await route('getStream').locator('.try summary').click();
  await route('getStream').locator('button[type=submit]').click();
  await route('getStream').locator('pre:has-text("closed: 1000"), pre:has-text("closed: 1005")').waitFor();
  t.match(await route('getStream').locator('.try pre').textContent(), /^\{"result":\{"slot":/);
  await page.goto(`${gateway.url}/docs#widget`);
  await page.waitForURL(/\/docs\/widget$/);
  await until(page, 'document.querySelector("slotgate-status").state === "live"');
  await page.locator('#builder label:has-text("Fee")').click();
  t.match(await page.textContent('#widget-code'), 'fields="slot tps slot-time fee epoch"');
  for (const box of await page.locator('#builder input[type=checkbox]').all()) await box.check();
  await until(
    page,
    `/ height="(\\d+)"/.exec(document.getElementById('frame-code').textContent)[1] >= document.querySelector('slotgate-status').offsetHeight`,
  );
  t.same(problems, []);
});

t.test('the reference is readable on a phone, names the gateway that serves it, and its accounts exist', async (t) => {
  const { page, problems } = await openTab(t);
  await page.setViewportSize({ width: 320, height: 700 });
  for (const chapter of ['start', 'routes', 'clients', 'receipts', 'limits', 'errors']) {
    await page.goto(`${gateway.url}/docs/${chapter}`);
    await page.waitForFunction(
      `![...document.querySelectorAll('main pre')].some((pre) => pre.innerText.includes('127.0.0.1:8787'))`,
    );
    const narrow = await page.evaluate(`(() => {
      const probe = document.createElement('span');
      probe.style.cssText = 'position:absolute;width:8ch';
      document.querySelector('main').append(probe);
      const least = probe.getBoundingClientRect().width;
      const cells = [...document.querySelectorAll('main td')].filter(({ textContent }) => textContent.length > 8);
      const isColumn = (cell) => cell.clientWidth < least && cell.clientHeight > 2 * cell.clientWidth;
      return cells.filter(isColumn).map(({ textContent }) => textContent);
    })()`);
    t.same(narrow, [], `${chapter}: no cell is narrower than eight digits`);
    t.notOk(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), `${chapter} fits`);
  }
  await page.goto(`${gateway.url}/docs/start`);
  await page.waitForFunction(`document.querySelector('main').innerText.includes('${new URL(gateway.url).host}')`);
  const command = page.locator('main pre', { hasText: '/api/v1/balance/' }).first();
  await waitFor(async () => {
    const [, address = ''] = /\/balance\/(\w+)/.exec((await command.textContent()) ?? '') ?? [];
    return BigInt((await get(`/balance/${address}`)).json.result?.lamports ?? 0) > 0n;
  }, 'an answer to the first command that is more than 0');
  await page.locator('.contents summary').click();
  await page.locator('.contents summary').click();
  await page.keyboard.press('/');
  t.equal(await page.evaluate('document.activeElement.id'), 'find');
  await page.keyboard.type('min_slot_not');
  t.same(await page.locator('.contents ul ul a:visible').allTextContents(), ['min_slot_not_reached']);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs\/errors#error-min_slot_not_reached$/);
  t.same(problems, []);
});

t.test('each link of llms.txt leads to a place that its page has', async (t) => {
  const { page, problems } = await openTab(t);
  const llms = await (await fetch(`${gateway.url}/llms.txt`)).text();
  const places = new Map<string, string[]>();
  for (const [, path = '', , anchor] of llms.matchAll(/\]\((\/docs\/[^)#]+)(#([^)]+))?\)/g))
    places.set(path, [...(places.get(path) ?? []), ...(anchor === undefined ? [] : [anchor])]);
  t.ok(places.size > 10, `${places.size} pages`);
  for (const [path, anchors] of places) {
    t.equal((await page.goto(gateway.url + path))?.status(), 200, path);
    const missing = await page.evaluate(
      `${JSON.stringify(anchors)}.filter((anchor) => document.getElementById(anchor) === null)`,
    );
    t.same(missing, [], path);
  }
  await page.goto(`${gateway.url}/docs#error-rate_limited`);
  await page.waitForURL(/\/docs\/errors#error-rate_limited$/);
  t.same(problems, []);
});

t.test('all pages work below a prefix that a proxy removes', async (t) => {
  const proxy = await openPrefixProxy(t, gateway.url, '/some/gateway');
  const { page, problems } = await openTab(t);
  await page.goto(proxy.url);
  await untilState(page, 'live');
  await page.fill('#q', WALLET);
  await page.press('#q', 'Enter');
  await page.waitForURL(`${proxy.url}explorer?q=${WALLET}`);
  await untilShown(page.locator('.part[aria-label="Balance"]').locator('text=/lamports, live$/'));
  await page.locator('.proof > summary').click();
  await page.locator('.proof a:text("How")').click();
  await page.waitForURL(`${proxy.url}docs/receipts`);
  await page.locator('.contents a:text-is("The widget")').click();
  await page.waitForURL(`${proxy.url}docs/widget`);
  await until(page, 'document.querySelector("slotgate-status").state === "live"');
  const examples = page.locator('main pre', { hasText: 'src="' }).first();
  await waitFor(
    async () => (await examples.textContent())?.includes(`src="${proxy.url}widget.js"`) === true,
    'its URL',
  );
  await page.goto(`${proxy.url}docs`);
  await page.locator('header a:text("Verify")').click();
  await page.waitForSelector('#finding.proven');
  await page.goto(`${proxy.url}docs/nothing`);
  await page.locator('main a:text("Explorer")').click();
  await page.waitForURL(`${proxy.url}explorer`);
  const refused = await fetch(`${proxy.url}api/v1/balance/x`);
  const help = /<([^>]+)>; rel="help"/.exec(refused.headers.get('link') ?? '')?.[1] ?? '';
  t.equal(new URL(help, refused.url).href, `${proxy.url}docs/errors#error-invalid_address`);
  t.same(proxy.strayPaths, []);
  const unexpected = problems.filter((problem) => !/status of 404/.test(problem));
  t.same(unexpected, []);
});

t.test('without scripts each page says what there is instead, and the reference is whole', async (t) => {
  const { page: scripted } = await openTab(t);
  const profile = await scripted.context().browser()?.newContext({ javaScriptEnabled: false });
  if (profile === undefined) throw new Error('no browser');
  t.teardown(() => profile.close());
  const page = await profile.newPage();
  for (const [path, hidden] of [
    ['/', '.lead, .tiles, .plots'],
    ['/explorer', '.part'],
    ['/verify', '#finding p'],
  ] as const) {
    await page.goto(gateway.url + path);
    t.ok(await page.locator('noscript a').first().isVisible(), `${path} leads on`);
    t.equal(await page.locator(hidden).locator('visible=true').count(), 0, `${path} shows nothing that stays empty`);
  }
  await page.goto(`${gateway.url}/docs/routes`);
  const route = page.locator('#getBalance');
  t.match(await route.textContent(), /The answer is signed/);
  t.ok(await route.locator('pre', { hasText: '"lamports"' }).first().isVisible(), 'with an example answer');
});

t.test('plots end now, one time for all, follow the theme, and print light', async (t) => {
  const { page, problems } = await openTab(t);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.route('**/api/v1/health', async (route) => {
    const { result } = await (await route.fetch()).json();
    await route.fulfill({ json: { result: { ...result, embedded: { rpc: gateway.url } } } });
  });
  await page.goto(gateway.url);
  await untilState(page, 'live');
  t.equal(await text(page, 'cluster'), 'Demo cluster');
  const legend = (): Promise<unknown> =>
    page.evaluate(`getComputedStyle(document.querySelector('#pace .u-series:nth-child(2) .u-marker')).borderColor`);
  await page.locator('#pace .u-series:nth-child(2) .u-marker').waitFor();
  const light = await legend();
  await page.click('#theme');
  await page.click('#theme');
  t.equal(await page.getAttribute('#theme', 'title'), 'Theme: dark');
  t.not(await legend(), light, 'the colours of the legend follow the theme');
  const html = await (await fetch(gateway.url)).text();
  const unscripted = await page.context().newPage();
  await unscripted.emulateMedia({ colorScheme: 'light' });
  await unscripted.route(`${gateway.url}/`, (route) =>
    route.fulfill({ contentType: 'text/html', body: html.split('<script type="module">')[0] ?? '' }),
  );
  await unscripted.goto(gateway.url);
  const scheme = await unscripted.evaluate('getComputedStyle(document.documentElement).colorScheme');
  t.equal(scheme, 'dark', 'from the first paint on');
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  t.equal(await legend(), light, 'paper is light');
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  t.not(await legend(), light);
  await page.emulateMedia({ media: 'print' });
  for (const id of ['bar', 'cells', 'pace']) t.ok(await page.locator(`#${id}`).isVisible(), `${id} is printed`);
  t.notOk(await page.locator('.ranges').first().isVisible());
  await page.emulateMedia({ media: 'screen' });
  await page.locator('#rates .ranges button:text("5 min")').click();
  t.equal(new URL(page.url()).searchParams.get('rates'), '5m');
  await page.locator('#pace .plot').focus();
  await page.keyboard.press('ArrowLeft');
  const read = page.locator('#pace .u-series:nth-child(2) .u-value');
  await waitFor(
    async () => (await read.isVisible()) && /^\d/.test((await read.textContent()) ?? ''),
    'a value by keyboard',
  );
  t.equal(await page.locator('#pace .u-series:nth-child(3)').textContent(), 'target400', 'beside the aim');
  await waitFor(async () => (await page.locator('#cells a[href]').count()) > 10, 'slots of the strip');
  await waitFor(async () => /^[\d,]+ · Live · slotgate$/.test(await page.title()), 'a title');
  t.same(problems, []);
});
