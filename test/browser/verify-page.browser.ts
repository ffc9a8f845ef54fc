import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { loadSite } from '../../src/shared/site/site.ts';
import { startStepped } from '../support/harness.ts';
import { CLUSTER, newSigner, sealAnswers } from '../support/receipts/sealed-answers.ts';
import { allVectors, testVectors } from '../support/receipts/test-vectors.ts';
import { openTab } from './chromium.ts';
import { waitFor } from './watch-page.ts';

const { gateway, get } = await startStepped(t);
/** The page without its example. */
const EMPTY_PAGE = `${gateway.url}/verify#form`;
const target = `/balance/${WHALE.address}`;
const { text: body } = await get(target);

/** Pastes a text and returns the report of the page. */
async function judged(page: Page, pasted: string): Promise<string | null> {
  await page.fill('#body', pasted);
  return page.textContent('#finding');
}

t.test('a user pastes an answer of the gateway and sees that it is proven', async (t) => {
  const { page, problems } = await openTab(t);
  await page.goto(EMPTY_PAGE);
  t.match(await judged(page, body), /^\? Signed, but by whom\?/);
  await page.click('#fill');
  await page.waitForSelector('#finding.proven');
  t.equal(await page.inputValue('#publicKey'), gateway.publicKey);
  t.equal(await page.inputValue('#cluster'), gateway.cluster);
  await page.fill('#request', `GET ${gateway.url}/api/v1${target}`);
  t.match(await page.textContent('#finding'), /^✓ Proven/);
  t.equal(await page.textContent('#finding pre'), body.slice('{"result":'.length, body.indexOf(',"slot":')));
  t.equal(await page.locator('#finding tr').count(), 12);
  t.same(problems, []);
});

t.test('the page shows which check fails if something was changed or differs from the input', async (t) => {
  const { page, problems } = await openTab(t);
  await page.goto(EMPTY_PAGE);
  await page.fill('#publicKey', gateway.publicKey);
  t.match(
    await judged(page, body.replace('"lamports":9', '"lamports":8')),
    /^✗ ForgedThe result is not the signed one/,
  );
  t.match(await judged(page, body.replace('confirmed', 'finalized')), /^✗ ForgedThe signature is of something else/);
  t.match(await page.textContent('#finding tr.wrong'), /^signature/);
  await page.fill('#request', 'GET /api/v1/slot');
  t.match(await judged(page, body), /^✗ Not provenThe answer is to another request/);
  t.match(await page.textContent('#finding tr.wrong'), /^request/);
  t.match(await page.textContent('#said'), /^Not proven: The answer is to another request/);
  t.equal(await page.locator('#finding').getAttribute('aria-live'), null, 'what was signed is not read out');
  await page.fill('#request', 'the balance');
  t.match(await page.textContent('#note'), /must read like/);
  t.equal(await judged(page, ''), '');
  t.equal(await page.textContent('#said'), '');
  t.same(problems, []);
});

t.test('a hostile answer is never parsed as HTML', async (t) => {
  const { page, problems } = await openTab(t);
  const signer = newSigner();
  const result = '"<img src=x onerror=alert(1)><script>alert(1)</script>"';
  const answer = {
    request: 'GET /api/v1/slot',
    slot: 1,
    commitment: 'confirmed',
    claim: 'observed',
    nonce: null,
  } as const;
  const [hostile = ''] = sealAnswers(signer, [{ ...answer, result }]);
  await page.goto(EMPTY_PAGE);
  await page.fill('#publicKey', signer.publicKey);
  await page.fill('#cluster', CLUSTER);
  t.match(await judged(page, hostile), /^✓ Proven/);
  t.equal(await page.textContent('#finding pre'), result);
  t.equal(await page.locator('#finding img, #finding script').count(), 0);
  t.same(problems, []);
});

t.test('once loaded the page needs no network', async (t) => {
  const { page, problems } = await openTab(t);
  await page.goto(EMPTY_PAGE);
  await page.context().setOffline(true);
  await page.fill('#publicKey', gateway.publicKey);
  t.match(await judged(page, body), /^✓ Proven/);
  t.same(problems, []);
});

t.test('a saved copy works, and makes no requests', async (t) => {
  const { page, problems } = await openTab(t);
  const file = join(t.testdir(), 'verify.html');
  writeFileSync(file, (await loadSite()).get('verify.html')?.identity ?? '');
  await page.goto(pathToFileURL(file).href);
  await page.fill('#publicKey', gateway.publicKey);
  t.match(await judged(page, body), /^✓ Proven/);
  t.same(problems, []);
  await page.click('#fill');
  await page.waitForFunction('note.textContent !== ""');
  t.match(await page.textContent('#note'), /No gateway answers/);
});

t.test('its policy keeps foreign scripts out, and the page out of frames', async (t) => {
  const { page, problems } = await openTab(t);
  await page.goto(EMPTY_PAGE);
  const written = await page.evaluate(`(() => {
    const script = document.createElement('script');
    script.append('window.ran = 1');
    document.head.append(script);
    try { document.body.innerHTML = '<b>'; } catch ({ name }) { return name; }
  })()`);
  t.equal(written, 'TypeError', 'no script writes HTML');
  t.equal(await page.evaluate('window.ran'), undefined);
  t.match(problems.join(), /requires .TrustedScript. assignment/);
  const elsewhere = await page.evaluate(`fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'kept')`);
  t.equal(elsewhere, 'kept');
  t.match(problems.at(-1), /Refused to connect because it violates the document's Content Security Policy/);
  await page.goto('about:blank');
  const framed = page.waitForEvent('framenavigated', (frame) => frame.parentFrame() !== null && frame.url() !== '');
  await page.setContent(`<iframe src="${gateway.url}/verify"></iframe>`);
  t.match((await framed).url(), /^chrome-error:/);
});

t.test('it begins with a live answer that is proven and, with one digit forged, refused', async (t) => {
  const { page, problems } = await openTab(t);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${gateway.url}/verify`);
  await page.waitForSelector('#finding.proven');
  t.match(await page.textContent('#finding'), /^✓ ProvenThe key \w{4}…\w{4} said this, to this request, at slot \d+/);
  const bottom = await page.locator('#finding > p').evaluate((element) => element.getBoundingClientRect().bottom);
  t.ok(bottom < 844, `the verdict ends at ${bottom} px`);
  await page.click('#forge');
  t.match(await page.textContent('#finding'), /^✗ Forged/);
  await page.click('#example');
  await page.waitForSelector('#finding.proven');
  t.match(await judged(page, body), /^\? Signed, but by whom\?/, 'an answer of the reader is not compared with it');

  let held: Route | undefined;
  await page.route('**/api/v1/balance/*', (route) => {
    held = route;
  });
  await page.reload();
  await waitFor(() => held !== undefined, 'the request for the example');
  t.match(await judged(page, body), /^\? Signed, but by whom\?/);
  const late = page.waitForResponse('**/api/v1/balance/*');
  await held?.continue();
  await (await late).finished();
  await page.waitForTimeout(300); // for an example that would be shown
  t.equal(await page.inputValue('#body'), body, 'an example that comes late is not shown');
  t.equal(await page.inputValue('#publicKey'), '');
  const handedOver = { body, request: `GET /api/v1${target}`, nonce: 'ab'.repeat(16) };
  await page.goto(`${gateway.url}/verify#${new URLSearchParams(handedOver)}`);
  await page.waitForSelector('#finding.refused');
  t.match(await page.textContent('#finding tr.wrong'), /^nonce/, 'the nonce of a link is compared');
  t.same(problems, []);
});

t.test('no name in a result shows the figures beside it in another order', async (t) => {
  const { page } = await openTab(t);
  const signer = newSigner();
  const statement = { slot: 1, commitment: 'confirmed', claim: 'observed', nonce: null } as const;
  const result = '{"name":"a\u202eb","of":["\u05d0","100","200"]}';
  const [sealed = ''] = sealAnswers(signer, [{ ...statement, request: 'GET /api/v1/slot', result }], Date.now());
  await page.goto(EMPTY_PAGE);
  await page.fill('#publicKey', signer.publicKey);
  t.match(await judged(page, sealed), /^✓ Proven/);
  t.equal(await page.textContent('#finding pre'), result.replace('\u202e', '\\u202e'));
  const [name = 0, first = 0, second = 0] = await page.evaluate<
    readonly number[]
  >(`['\u05d0', '100', '200'].map((part) => {
    const text = document.querySelector('#finding pre').firstChild;
    const range = document.createRange();
    range.setStart(text, text.data.indexOf(part));
    range.setEnd(text, text.data.indexOf(part) + part.length);
    return range.getBoundingClientRect().x;
  })`);
  t.ok(name < first && first < second, 'nor letters that read from right to left');
});

t.test('a dropped file is judged by its bytes', async (t) => {
  const { page } = await openTab(t);
  await page.goto(EMPTY_PAGE);
  const drop = (bytes: Buffer): Promise<unknown> =>
    page.evaluate(`
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([Uint8Array.from([${[...bytes]}])], 'answer.json'));
      dispatchEvent(new DragEvent('drop', { dataTransfer }));`);
  await drop(Buffer.from(body));
  await page.waitForSelector('#finding.open');
  await drop(Buffer.concat([Buffer.from(body), Buffer.of(0xff)]));
  await waitFor(async () => (await page.textContent('#note'))?.includes('not UTF-8') === true, 'the fault');
  t.equal(await page.inputValue('#body'), '', 'what is no text is not shown as if it were one');
});

t.test('a receipt of several operators says how many agreed', async (t) => {
  const { page } = await openTab(t);
  const vector = allVectors.find(({ body }) => body.includes('"agreed":"2/'));
  await page.goto(EMPTY_PAGE);
  await page.fill('#publicKey', testVectors.publicKey);
  t.match(await judged(page, vector?.body ?? ''), /^✓ Proven.*Confirmed by 2 of \d operators/);
  t.match(await page.textContent('#finding tr:has(th:text-is("agreed"))'), /\d\/\d/);
});
