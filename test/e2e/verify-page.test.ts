import { request } from 'node:http';
import t from 'tap';
import { loadPage } from '../../src/page/static-page.ts';
import { startStepped } from '../support/harness.ts';

const { gateway } = await startStepped(t);
const url = `${gateway.url}/verify`;
const page = await loadPage('verify');

t.test('/verify is the page, with a policy that lets it load nothing', async (t) => {
  const answer = await fetch(url);
  t.equal(answer.status, 200);
  t.equal(await answer.text(), page.identity.toString());
  t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(answer.headers.get('content-security-policy'), page.contentSecurityPolicy);
  t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  for (const name of ['limit', 'remaining', 'reset']) t.match(answer.headers.get(`x-ratelimit-${name}`), /^\d+$/);
});

t.test('the page is sent in the best coding that the caller accepts', async (t) => {
  const lengthFor = (coding: string, from = url) =>
    new Promise<[string | undefined, number]>((resolve, reject) => {
      request(from, { headers: { 'accept-encoding': coding } }, (answer) => {
        answer.resume();
        resolve([answer.headers['content-encoding'], Number(answer.headers['content-length'])]);
      })
        .once('error', reject)
        .end();
    });
  t.same(await lengthFor('gzip, br'), ['br', page.br.length]);
  t.same(await lengthFor('gzip'), ['gzip', page.gzip.length]);
  t.same(await lengthFor('identity'), [undefined, page.identity.length]);
  const document = `${gateway.url}/api/v1/openapi.json`;
  const [, whole] = await lengthFor('identity', document);
  const [coding, compressed] = await lengthFor('gzip, br', document);
  t.equal(coding, 'br');
  t.ok(compressed < whole / 4, `the document has ${compressed} of ${whole} bytes`);
  const etag = (await fetch(document)).headers.get('etag') ?? '';
  t.equal((await fetch(document, { headers: { 'if-none-match': etag } })).status, 304);
});

t.test('a caller with the page gets 304, HEAD has its headers, and other methods are refused', async (t) => {
  const first = await fetch(url, { method: 'HEAD' });
  t.equal(first.status, 200);
  t.equal(await first.text(), '');
  const again = await fetch(url, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
  t.equal(again.status, 304);
  t.equal(again.headers.get('content-security-policy'), page.contentSecurityPolicy);
  const posted = await fetch(url, { method: 'POST', body: '{}' });
  t.equal(posted.status, 405);
  t.equal(posted.headers.get('allow'), 'GET, HEAD, OPTIONS');
  t.match(await posted.json(), { error: 'method_not_allowed' });
  t.equal((await fetch(`${url}/x`)).status, 404);
});
