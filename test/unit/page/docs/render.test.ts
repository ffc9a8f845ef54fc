import t from 'tap';
import { ERRORS } from '../../../../src/domain/gateway-error.ts';
import { chapterHtml, escapeHtml } from '../../../../src/page/docs/markdown-html.ts';
import { snippetOf } from '../../../../src/page/docs/snippets.ts';
import { loadSite } from '../../../../src/page/site.ts';

t.test('Markdown of chapters becomes HTML, and none of it is taken for markup', async (t) => {
  const markdown = [
    '## Two `a<b>` words',
    'Text with **strong `code`** and [a link](/docs#limits),\na <https://example.com/x>, `x|y` & <b>.',
    '| a | b |\n|---|---|\n| `1 \\| 2` | <i> |',
    '- one\n- two',
    '1. first\n2. second',
    '```ts\nif (a < b && `c`) {}\n\n## no heading\n```',
  ].join('\n\n');
  t.equal(
    chapterHtml('chapter', markdown),
    [
      '<h3 id="chapter-two-a-b-words">Two <code>a&lt;b></code> words</h3>',
      '<p>Text with <b>strong <code>code</code></b> and <a href="#limits">a link</a>,\na <a href="https://example.com/x">https://example.com/x</a>, <code>x|y</code> &amp; &lt;b>.</p>',
      '<table><thead><tr><th>a<th>b</thead><tbody><tr><td><code>1 | 2</code><td>&lt;i></tbody></table>',
      '<ul><li>one<li>two</ul>',
      '<ol><li>first<li>second</ol>',
      '<pre tabindex="0"><code>if (a &lt; b &amp;&amp; `c`) {}\n\n## no heading</code></pre>',
    ].join(''),
  );
  t.equal(escapeHtml('<a href="&">'), '&lt;a href="&amp;">');
});

t.test('each error has its place on the page, and each link of the page leads to one', async (t) => {
  const html = (await loadSite()).get('docs.html')?.identity.toString() ?? '';
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  t.same(
    Object.keys(ERRORS).filter((code) => !ids.has(`error-${code}`)),
    [],
  );
  const links = [...html.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
  t.ok(links.length > 100);
  t.same(
    links.filter((id) => !ids.has(id)),
    [],
  );
});

t.test('a request is written as curl, TypeScript and Python', async (t) => {
  const request = {
    base: 'https://host/prefix/',
    method: 'get',
    path: '/token/{mint}/holders',
    pathValues: { mint: 'M/1' },
    query: { page: '2', by: "o'wner" },
    headers: { 'X-Min-Slot': '7', 'X-Api-Key': 'sg_1' },
  };
  t.equal(
    snippetOf('curl', request),
    "curl -H 'X-Min-Slot: 7' -H 'X-Api-Key: sg_1' 'https://host/prefix/api/v1/token/M%2F1/holders?page=2&by=o%27wner'",
  );
  t.equal(
    snippetOf('TypeScript', request),
    `import { createClient } from "slotgate-client";
const client = createClient({ url: "https://host/prefix/", headers: { 'x-api-key': "sg_1" } });
const { result } = await client.get("/token/:mint/holders", { mint: "M/1", page: 2, by: "o'wner" }, { minSlot: 7 }); // verified`,
  );
  t.match(snippetOf('Python', request), /headers=\{"X-Min-Slot":"7","X-Api-Key":"sg_1"\}\)/);
  const post = { ...request, method: 'post', path: '/rpc', pathValues: {}, query: {}, headers: {}, body: '{"a":"\'"}' };
  t.equal(
    snippetOf('curl', post),
    `curl -H 'content-type: application/json' -d '{"a":"'\\''"}' 'https://host/prefix/api/v1/rpc'`,
  );
  t.match(snippetOf('TypeScript', post), 'client.post("/rpc", {"a":"\'"});');
});
