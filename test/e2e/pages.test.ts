import { request } from 'node:http';
import t from 'tap';
import { loadSite, SITE_PATHS } from '../../src/page/site.ts';
import { startGateway, startStepped } from '../support/harness.ts';

const { gateway, cluster } = await startStepped(t);
const site = await loadSite();
const fileAt = (path: string) => site.get(SITE_PATHS.get(path) ?? '');
const url = `${gateway.url}/verify`;
const page = fileAt('/verify');

t.test('each page is served as it was built, with a policy that lets it load nothing', async (t) => {
  for (const path of ['/', '/explorer', '/docs', '/verify', '/explorer?q=%231']) {
    const answer = await fetch(gateway.url + path);
    const file = fileAt(new URL(path, url).pathname);
    t.equal(answer.status, 200, path);
    t.equal(await answer.text(), file?.identity.toString());
    t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    t.equal(answer.headers.get('cache-control'), 'no-cache');
    t.match(
      answer.headers.get('content-security-policy'),
      /^default-src 'none'; .*trusted-types 'none'; frame-ancestors/,
    );
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    for (const name of ['limit', 'remaining', 'reset']) t.match(answer.headers.get(`x-ratelimit-${name}`), /^\d+$/);
  }
});

t.test('the widget is a script for pages of any origin', async (t) => {
  const { status, headers } = await fetch(`${gateway.url}/widget.js`);
  t.equal(status, 200);
  t.equal(headers.get('content-type'), 'text/javascript; charset=utf-8');
  t.equal(headers.get('cache-control'), 'public, max-age=300, stale-while-revalidate=86400');
  t.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
  t.match(headers.get('etag'), /^W\/"[0-9a-f]{16}"$/);
});

t.test('without pages their paths do not exist, and the document does', async (t) => {
  const { gateway: bare } = await startGateway(t, [`${cluster.url},${cluster.wsUrl}`], { set: ['pages=false'] });
  const statuses = await Promise.all(
    [...SITE_PATHS.keys(), '/api/v1/openapi.json'].map(async (path) => (await fetch(bare.url + path)).status),
  );
  t.same(statuses, [...[...SITE_PATHS].map(() => 404), 200]);
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
  t.same(await lengthFor('gzip, br'), ['br', page?.br.length]);
  t.same(await lengthFor('gzip'), ['gzip', page?.gzip.length]);
  t.same(await lengthFor('identity'), [undefined, page?.identity.length]);
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
  t.equal(again.headers.get('content-security-policy'), first.headers.get('content-security-policy'));
  const posted = await fetch(url, { method: 'POST', body: '{}' });
  t.equal(posted.status, 405);
  t.equal(posted.headers.get('allow'), 'GET, HEAD, OPTIONS');
  t.match(await posted.json(), { error: 'method_not_allowed' });
  t.equal((await fetch(`${url}/x`)).status, 404);
});
