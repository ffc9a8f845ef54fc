import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { buildPage, loadPage } from '../../../src/page/static-page.ts';

const page = await loadPage('verify');
const html = page.identity.toString();

t.test('the page is one file that refers to no other', async (t) => {
  t.match(html, /^<!doctype html>/);
  t.notMatch(html.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, ''), /\b(?:src|href|url|action)\s*=/i);
  t.notMatch(html, /\bimport\s*[('"]|@import|url\(/);
});

t.test('its policy allows its own script and style, in the header and in the file', async (t) => {
  for (const tag of ['script', 'style']) {
    const inside = new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? '';
    t.ok(inside.length > 100);
    t.match(page.contentSecurityPolicy, `${tag}-src 'sha256-${createHash('sha256').update(inside).digest('base64')}'`);
  }
  t.match(page.contentSecurityPolicy, /^default-src 'none'; .*; frame-ancestors 'none'$/);
  t.match(html, `content="${page.contentSecurityPolicy.replace("; frame-ancestors 'none'", '')}"`);
});

t.test('all its content codings decode to the same page', async (t) => {
  t.ok(brotliDecompressSync(page.br).equals(page.identity));
  t.ok(gunzipSync(page.gzip).equals(page.identity));
});

t.test('another script makes another ETag', async (t) => {
  const html = '<link rel="stylesheet" href="page.css"><script type="module" src="main.ts"></script>';
  const made = async (script: string) => buildPage({ html, style: 'p{}', script });
  const [one, same, other] = await Promise.all([made("'$&'"), made("'$&'"), made("'$1'")]);
  t.equal(one.identity.toString(), `<style>p{}</style><script type="module">'$&'</script>`);
  t.equal(one.etag, same.etag);
  t.not(one.etag, other.etag);
  t.not(one.contentSecurityPolicy, other.contentSecurityPolicy);
});
