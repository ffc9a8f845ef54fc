import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { composePage, PAGES } from '../../../src/page/build/compose-page.ts';
import { loadSite, SITE_PATHS, type SiteFile } from '../../../src/page/site.ts';

const site = await loadSite();

const fileOf = (name: string): SiteFile => {
  const file = site.get(name);
  if (file === undefined) throw new Error(`the build has made no ${name}`);
  return file;
};

const sha256Of = (content: string | Buffer): string =>
  `sha256-${createHash('sha256').update(content).digest('base64')}`;

const policyOf = ({ headers }: SiteFile): string =>
  headers.find(([name]) => name === 'Content-Security-Policy')?.[1] ?? '';

/** The most bytes of each file in gzip, as its readers pay for them. */
const LIMITS = {
  'status.html': 64 * 1024,
  'explorer.html': 45 * 1024,
  'docs.html': 26 * 1024,
  'verify.html': 24 * 1024,
  'widget.js': 8000,
} as const;

t.test('every file of the site was built, within its limit', async (t) => {
  t.same(
    [...SITE_PATHS.values()].filter((name) => !site.has(name)),
    [],
  );
  const sizes = Object.entries(LIMITS).map(([name, limit]) => ({ name, bytes: fileOf(name).gzip.length, limit }));
  t.comment(sizes.map(({ name, bytes }) => `${name} ${bytes}`).join(', '));
  t.same(
    sizes.filter(({ bytes, limit }) => bytes > limit),
    [],
  );
});

for (const { name } of PAGES) {
  t.test(`the page ${name} is one file that loads no other, except for the widget that it shows`, async (t) => {
    const page = fileOf(`${name}.html`);
    const html = page.identity.toString();
    const policy = policyOf(page);
    t.match(html, /^<!doctype html>/);
    const markup = html
      .replace(/<(script type="module"|style)>[\s\S]*?<\/(?:script|style)>/g, '')
      .replace(/<pre[\s\S]*?<\/pre>/g, '');
    const widget = /<script src="widget.js\?[\w%]+" integrity="(sha256-[^"]+)" async>/.exec(markup)?.[1];
    t.equal(widget, name === 'docs' ? sha256Of(fileOf('widget.js').identity) : undefined);
    if (widget !== undefined) t.match(policy, ` '${widget}';`);
    t.notMatch(
      markup.replace('<script src="widget.js', ''),
      /\b(?:src|url)\s*=|\bstyle=|<link (?!rel="icon" href="data:)|\son\w+=/i,
    );
    t.notMatch(html, /\bimport\s*\(|@import|url\((?!data:)/);
    for (const [tag, open] of [
      ['script', '<script type="module">'],
      ['style', '<style>'],
    ] as const) {
      const inside = html.split(open)[1]?.split(`</${tag}>`)[0] ?? '';
      t.ok(inside.length > 100);
      t.match(policy, `${tag}-src '${sha256Of(inside)}`);
    }
    t.match(policy, /^default-src 'none'; .*require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors/);
    t.match(html, `content="${policy.replace("; frame-ancestors 'none'", '')}"`);
  });
}

t.test('all content codings decode to the same file, which its ETag names', async (t) => {
  for (const [name, { identity, br, gzip, etag }] of site) {
    t.ok(brotliDecompressSync(br).equals(identity), name);
    t.ok(gunzipSync(gzip).equals(identity), name);
    t.ok(createHash('sha256').update(identity).digest('hex').startsWith(etag), name);
  }
});

t.test('another script makes another policy, and dollar signs in it have no meaning', async (t) => {
  const html = '<!-- style --><!-- script -->';
  const made = (script: string) => composePage({ name: 'verify', html, style: 'p{}', script });
  t.equal(made("'$&'").html, `<style>p{}</style><script type="module">'$&'</script>`);
  t.not(made("'$&'").contentSecurityPolicy, made("'$1'").contentSecurityPolicy);
});
