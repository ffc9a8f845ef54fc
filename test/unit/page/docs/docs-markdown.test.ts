import t from 'tap';
import { ERRORS } from '../../../../src/domain/gateway-error.ts';
import { createOpenApiDocument } from '../../../../src/http/rest/openapi.ts';
import { type ApiDocument, operationsOf } from '../../../../src/page/docs/api-document.ts';
import { CHAPTER_IDS, readChapters, sectionId } from '../../../../src/page/docs/chapters.ts';
import { docsMarkdown } from '../../../../src/page/docs/docs-markdown.ts';
import { llmsText } from '../../../../src/page/docs/llms-text.ts';
import { routes } from '../../../../src/routes/index.ts';

const document = createOpenApiDocument(routes, '1.2.3') as ApiDocument;
const chapters = readChapters();
const markdown = docsMarkdown(chapters, document);
const llms = llmsText(chapters, document);

/** Every anchor that the reference has. */
const anchors = new Set([
  ...CHAPTER_IDS,
  ...chapters.flatMap(({ id, markdown: text }) =>
    [...text.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) => sectionId(id, heading)),
  ),
  ...Object.keys(ERRORS).map((code) => `error-${code}`),
  ...operationsOf(document).map(({ details }) => details.operationId),
]);

t.test('the reference tells every route with its parameters, and every error with its cure', async (t) => {
  const headings = new Set(markdown.match(/^#+ .+$/gm));
  const missing = [
    ...operationsOf(document).map(({ method, path }) => `### ${method.toUpperCase()} ${path}`),
    ...Object.keys(ERRORS).map((code) => `### ${code}`),
    ...chapters.map(({ title }) => `## ${title}`),
  ].filter((heading) => !headings.has(heading));
  t.same(missing, []);
  t.match(markdown, /\| `limit` \(optional\) \| query \| integer \|/);
  t.match(markdown, /\| `result\.items\[\]\.mint` \| string \|/);
  t.match(
    markdown,
    /### rate_limited\n\n429: the request costs .* `Retry-After`.*The same request may succeed later\./,
  );
  t.match(markdown, '```python\nimport hashlib', 'with the examples that tests run');
  t.notMatch(markdown, '<!-- example');
});

t.test('no heading is lost or made by code, and tables have as many cells in every row', async (t) => {
  const fences = markdown.match(/^```/gm) ?? [];
  t.equal(fences.length % 2, 0);
  const text = markdown.replace(/^```.*?^```$/gms, '');
  const uneven: string[] = [];
  let cells = 0;
  for (const line of text.split('\n')) {
    const count = line.startsWith('|') ? line.replaceAll('\\|', '').split('|').length : 0;
    if (cells > 0 && count > 0 && count !== cells) uneven.push(line);
    cells = count;
  }
  t.same(uneven, []);
});

t.test('every link leads to a place that there is', async (t) => {
  const links = [...`${markdown}\n${llms}`.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const broken = links.filter((target) => {
    const [path = '', anchor] = target.split('#');
    if (/^https?:/.test(path)) return false;
    if (path !== '' && !['/docs', '/docs.md', '/verify', '/api/v1/openapi.json'].includes(path)) return true;
    return anchor !== undefined && !anchors.has(anchor);
  });
  t.ok(links.length > 50);
  t.same(broken, []);
});

t.test('llms.txt has the form that agents expect', async (t) => {
  t.match(llms, /^# slotgate\n\n> [^\n]+\n\n[^#]+\n\n## Reference\n\n- \[/);
  t.match(llms, '- [GET /api/v1/balance/{addr}](/docs#getBalance): ');
});
