import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import type { Snapshot } from '../../src/client/client.ts';
import { FAULT_EXPLANATIONS } from '../../src/client/verify/fault-explanations.ts';
import { verifyReceipt } from '../../src/client/verify/verify-receipt.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { tiersOf } from '../../src/gateway/access/limits/tiers.ts';
import { createOpenApiDocument } from '../../src/gateway/http/rest/openapi.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import { composePage, PAGES } from '../../src/pages/build/compose-page.ts';
import { type ApiDocument, operationsOf } from '../../src/pages/docs/api-document.ts';
import { docsPath, readChapters, sectionId } from '../../src/pages/docs/chapters.ts';
import { docsMarkdown, llmsText } from '../../src/pages/docs/docs-markdown.ts';
import { EXAMPLE_ANSWERS } from '../../src/pages/docs/example-answers.ts';
import { chapterHtml, escapeHtml } from '../../src/pages/docs/markdown-html.ts';
import { languagesFor, snippetOf } from '../../src/pages/docs/snippets.ts';
import { qrCode } from '../../src/pages/explorer/qr-code.ts';
import { wordsOf } from '../../src/pages/format/amounts.ts';
import { Figures, formatSentence, formatSpan, shorten } from '../../src/pages/format/figures.ts';
import { Announcer } from '../../src/pages/live/announcer.ts';
import { agreementWords, type Health, type HealthReport, healthSentence } from '../../src/pages/live/health.ts';
import {
  afterEvent,
  describeView,
  isOld,
  type LineEvent,
  movedBy,
  newLine,
  viewOf,
} from '../../src/pages/live/state.ts';
import { textStore } from '../../src/pages/live/text-store.ts';
import { FeeLevels } from '../../src/pages/plot/fee-levels.ts';
import { extentOf, spansWithout, summarize, TimeSeries, tableRows } from '../../src/pages/plot/series.ts';
import { SlotPace } from '../../src/pages/plot/slot-pace.ts';
import { SlotStrip, STRIP_SLOTS } from '../../src/pages/plot/slot-strip.ts';
import { TIME_STEPS } from '../../src/pages/plot/time-steps.ts';
import { TransactionRates } from '../../src/pages/plot/transaction-rates.ts';
import {
  type VerificationInput,
  type VerificationReport,
  verifyText,
} from '../../src/pages/verify/verification-report.ts';
import { fieldNames, fieldText, rateOf } from '../../src/pages/widget/fields.ts';
import { readSkipRate } from '../../src/pages/widget/skip-rate.ts';
import { Sparkline } from '../../src/pages/widget/sparkline.ts';
import { ERRORS } from '../../src/shared/domain/gateway-error.ts';
import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import { toJson } from '../../src/shared/domain/to-json.ts';
import { SYSTEM_PROGRAM, VOTE_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { CHAPTER_IDS, DOCUMENT_PATHS, loadSite, SITE_PATHS, type SiteFile } from '../../src/shared/site/site.ts';
import { createChecker } from '../support/assert-documented.ts';
import { pluck } from '../support/pluck.ts';
import { CLUSTER, NOW_MS, newSigner, sealAnswers } from '../support/receipts/sealed-answers.ts';
import { allVectors, singleVector, testVectors } from '../support/receipts/test-vectors.ts';

t.test('docs-markdown', async (t) => {
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

  t.test('the reference describes every route with its parameters, and every error with its cure', async (t) => {
    const headings = new Set(markdown.match(/^#+ .+$/gm));
    const missing = [
      ...operationsOf(document).map(({ method, path }) => `### ${method.toUpperCase()} ${path}`),
      ...Object.keys(ERRORS).map((code) => `### ${code}`),
      ...chapters.map(({ title }) => `## ${title}`),
    ].filter((heading) => !headings.has(heading));
    t.same(missing, []);
    t.match(markdown, '| `limit` (optional) | query | integer, at most 100, default 50 |');
    t.match(markdown, '| `addresses` | query | string[], at most 40 |');
    t.match(markdown, '| `tx` | body | object | The result of');
    t.match(markdown, /\| `method` \| body \| "getBalance" .*\n\| `params` \(optional\) \| body \| any\[\] \|/);
    t.match(markdown, /\| `result\.items\[\]\.mint` \| string \|/);
    t.match(
      markdown,
      /### rate_limited\n\n429: the request costs .* `Retry-After`.*The same request may succeed later\./,
    );
    t.match(markdown, /### rpc_error\n\n400, 404, 502 or 503: .*-32009 [^.]+\.\n/, "a node's code decides");
    t.match(markdown, /### not_found\n\n404: .*forgotten an old one\.\n/, 'it may appear');
    t.match(markdown, '```python\nimport hashlib', 'with the examples that tests run');
    t.notMatch(markdown, '<!-- example');
    const alerts = readFileSync('config/monitoring/alerts.yml', 'utf8').matchAll(/- alert: (\w+)/g);
    const documented = [...markdown.matchAll(/^\| `(Slotgate\w+)`/gm)].map(([, name]) => name);
    t.same(
      documented,
      [...alerts].map(([, name]) => name),
    );
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

  t.test('the table of tiers has the numbers that callers get', async (t) => {
    const { free, build, scale, staked } = tiersOf(loadConfig({ cwd: '/', env: {} }).limits);
    const written = (count: number): string => count.toLocaleString('en');
    for (const { units, windowSeconds, streams, subscriptions } of [free, build, scale])
      t.match(
        markdown,
        `| ${written(units)} in ${windowSeconds} s | ${written(streams)} | ${written(subscriptions)} |`,
      );
    const [least, most] = [staked(1n), staked(1_000_000n)];
    const cell = (name: 'units' | 'streams' | 'subscriptions', unit = ''): string =>
      `${least[name]}${unit} with one, ${written(most[name])} at most`;
    t.match(markdown, `${cell('units', ' in 10 s')} | ${cell('streams')} | ${cell('subscriptions')} |`);
  });

  t.test('every link leads to a place that there is', async (t) => {
    const links = [...`${markdown}\n${llms}`.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const broken = links.filter((target) => {
      const [path = '', anchor] = target.split('#');
      if (/^https?:/.test(path)) return false;
      if (path !== '' && !DOCUMENT_PATHS.has(path) && !SITE_PATHS.has(path)) return true;
      return anchor !== undefined && !anchors.has(anchor);
    });
    t.ok(links.length > 50);
    t.same(broken, []);
    const source = readFileSync('src/pages/docs/chapters/operate.md', 'utf8');
    t.match(source, '](limits.md#several-processes)', 'which in the sources is a link to the file of a chapter');
  });

  t.test('llms.txt has the form that agents expect', async (t) => {
    t.match(llms, /^# slotgate\n\n> [^\n]+\n\n[^#]+\n\n## Reference\n\n- \[/);
    t.match(llms, '- [GET /api/v1/balance/{addr}](/docs/routes#getBalance): ');
  });
});

t.test('render', async (t) => {
  t.test('Markdown of chapters becomes HTML, and none of it is taken for markup', async (t) => {
    const markdown = [
      '## Two `a<b>` words',
      'Text with **strong `code`** and [a link](/docs#limits),\na <https://example.com/x>, `x|y` & <b>.',
      '| a | b |\n|---|---|\n| `1 \\| 2` | <i> |',
      '- one\n- two',
      '1. first\n2. second',
      '```ts\nif (a < b && `c`) {}\n\n## no heading\n```',
      '```sh\n# don\'t "quote"\ncurl "http://x/#1" # why\n```',
    ].join('\n\n');
    t.equal(
      chapterHtml('chapter', markdown),
      [
        '<h2 id="chapter-two-a-b-words">Two <code>a&lt;b></code> words</h2>',
        '<p>Text with <b>strong <code>code</code></b> and <a href="../docs/limits">a link</a>,\na <a href="https://example.com/x">https://example.com/x</a>, <code>x|y</code> &amp; &lt;b>.</p>',
        '<div class="wide"><table><thead><tr><th>a<th>b</thead><tbody><tr><td><code>1 | 2</code><td>&lt;i></tbody></table></div>',
        '<ul><li>one<li>two</ul>',
        '<ol><li>first<li>second</ol>',
        '<pre tabindex="0"><code>if (a &lt; b &amp;&amp; `c`) {}\n\n## no heading</code></pre>',
        '<pre tabindex="0"><code><i class="c"># don\'t "quote"</i>\ncurl <i class="s">"http://x/#1"</i> <i class="c"># why</i></code></pre>',
      ].join(''),
    );
    t.equal(escapeHtml('<a href="&">'), '&lt;a href="&amp;">');
  });

  t.test('every chapter has a page, and each link of it and of llms.txt leads to a place that there is', async (t) => {
    const site = await loadSite();
    const textOf = (path: string): string => site.get(SITE_PATHS.get(path) ?? '')?.identity.toString() ?? '';
    const idsOf = (path: string): ReadonlySet<string | undefined> =>
      new Set([...textOf(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const ids = new Map([...SITE_PATHS.keys()].map((path) => [path, idsOf(path)]));
    const errors = ids.get('/docs/errors');
    const undocumented = Object.keys(ERRORS).filter((code) => !errors?.has(`error-${code}`));
    t.same(undocumented, []);
    const served = new Set([...SITE_PATHS.keys(), ...DOCUMENT_PATHS.keys(), '/api/v1/network', '/api/v1/health']);
    const dead: string[] = [];
    let count = 0;
    for (const path of [...CHAPTER_IDS.map((id) => `/docs/${id}`), '/docs', '/llms.txt']) {
      const links =
        path === '/llms.txt'
          ? [...textOf(path).matchAll(/\]\(([^)]+)\)/g)]
          : [...textOf(path).matchAll(/<a [^>]*href="([^"]*)"/g)];
      for (const [, link = ''] of links) {
        const target = new URL(link, `http://gateway${path}`);
        if (target.host !== 'gateway') continue;
        count++;
        const anchor = target.hash.slice(1);
        const isThere = served.has(target.pathname) && (anchor === '' || ids.get(target.pathname)?.has(anchor));
        if (!isThere) dead.push(`${path}: ${link}`);
      }
    }
    t.ok(count > 1000, `${count} links`);
    t.same(dead, []);
    const { paths } = createOpenApiDocument(routes, '1.2.3') as ApiDocument;
    for (const [path, methods] of Object.entries(paths)) {
      for (const { description, externalDocs } of Object.values(methods)) {
        t.match(description, /\w/, path);
        const { pathname, hash } = new URL(externalDocs.url, 'http://gateway/api/v1/openapi.json');
        t.ok(hash === '' ? served.has(pathname) : ids.get(pathname)?.has(hash.slice(1)), externalDocs.url);
      }
    }
    t.equal(docsPath('limits-units'), 'docs/limits#limits-units');
    t.equal(docsPath('receipt-format-the-body'), 'docs/receipt-format#receipt-format-the-body');
  });

  t.test('beside each route that is read stands an answer of the form that it has', async (t) => {
    const html = (await loadSite()).get('docs-routes.html')?.identity.toString() ?? '';
    const document = createOpenApiDocument(routes, '1.2.3') as ApiDocument;
    const others = ['/stream', '/receipt-vectors.json']; // a document is its own example
    const exact = '"lamports": 9007199254740993,';
    t.match(html.replaceAll(/<[^>]+>/g, ''), exact, 'with each digit');
    t.match((await loadSite()).get('openapi.json')?.identity.toString(), exact.replace(' ', ''));
    const read = operationsOf(document).filter(({ method, path }) => method === 'get' && !others.includes(path));
    const assertDocumented = createChecker(JSON.stringify(document));
    const answerOf = (id: string) => Object(EXAMPLE_ANSWERS[id]?.answer);
    const trusted = { publicKeys: [answerOf('getPubkey').publicKey], cluster: answerOf('getHealth').result.cluster };
    for (const { path, details } of read) {
      const [, section = ''] = html.split(`<section class="route" id="${details.operationId}"`);
      t.match(section.split('</section>')[0], /<details class="example" open>.*<i class="n">/s, details.operationId);
      const { path: target = '', answer } = EXAMPLE_ANSWERS[details.operationId] ?? {};
      const text = toJson(answer);
      const json = JSON.parse(text);
      assertDocumented(t, path, { status: 200, json });
      if (json.receipt !== undefined)
        t.doesNotThrow(() => verifyReceipt(text, { ...trusted, request: `GET /api/v1${target}` }), `all of ${target}`);
    }
  });

  t.test('a request is written as curl, TypeScript and Python', async (t) => {
    const request = {
      base: 'https://host/prefix/',
      method: 'get',
      path: '/token/{mint}/holders',
      pathValues: { mint: 'M/1' },
      query: { page: '2', by: "o'wner" },
      headers: { 'X-Min-Slot': '7', 'X-Api-Key': 'sg_1' },
      types: { page: 'integer', by: 'string' },
      isSigned: true,
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
    const post = {
      ...request,
      method: 'post',
      path: '/rpc',
      pathValues: {},
      query: {},
      headers: {},
      body: '{"a":"\'"}',
      isSigned: false,
    };
    t.equal(
      snippetOf('curl', post),
      `curl -H 'content-type: application/json' -d '{"a":"'\\''"}' 'https://host/prefix/api/v1/rpc'`,
    );
    t.equal(
      snippetOf('TypeScript', post).split('\n').at(-1),
      `const { result } = await client.post("/rpc", {"a":"'"});`,
    );
    const typed = {
      ...request,
      path: '/block/{slot}',
      pathValues: { slot: '12' },
      query: { addresses: 'A,B', enhanced: '1', q: '445000000', agree: '2' },
      headers: { 'X-Agree': '3' },
      types: { slot: 'string', addresses: 'string[]', enhanced: '"1"', q: 'string', agree: 'integer' },
    };
    t.match(
      snippetOf('TypeScript', typed),
      'client.get("/block/:slot", { slot: 12, addresses: ["A","B"], enhanced: "1", q: "445000000", agree: 2 }, { agree: 3 }); // verified',
      'with the types that the SDK has',
    );
    t.same(languagesFor({ ...request, path: '/receipt-vectors.json' }), ['curl', 'Python'], 'no SDK reads it');
  });
});

t.test('figures', async (t) => {
  t.test('figures are written as their reader does', async (t) => {
    const [english, german] = [new Figures('en-US'), new Figures('de-DE')];
    t.equal(english.integer(348_000_123), '348,000,123');
    t.equal(german.integer(348_000_123), '348.000.123');
    t.equal(english.integer(9_007_199_254_740_993n), '9,007,199,254,740,993');
    t.equal(english.decimal('-9007199.254740993'), '−9,007,199.254740993');
    t.equal(german.decimal('9007199.254740993'), '9.007.199,254740993');
    for (const locale of ['ar-EG', 'fa-IR', 'mr-IN', 'bn-BD']) {
      t.notMatch(new Figures(locale).decimal('9007199.254740993'), /\d/, `${locale}: one script`);
    }
    t.same(
      ['inf', '1e-7', ''].map((text) => english.decimal(text)),
      ['inf', '1e-7', ''],
      'what is no decimal is no 0',
    );
    t.equal(english.percent(0.6243), '62.4%');
    const shown = [0, 0.0001, 0.0006].map((share) => english.percent(share));
    t.same(shown, ['0.0%', '<0.1%', '0.1%']);
    t.equal(
      formatSentence('sent 4597.635056 “T”, 0.025716591 SOL of 1000000000 SOL in 2026 to Ab12345', english),
      'sent 4,597.635056 “T”, 0.025716591 SOL of 1,000,000,000 SOL in 2026 to Ab12345',
    );
    t.equal(
      formatSentence('Sent 1.234 SOL and 12345.5 USDC for 999.123 “1.5 JUP” by version 1.2.3.', german),
      'Sent 1,234 SOL and 12.345,5 USDC for 999,123 “1.5 JUP” by version 1.2.3.',
      'one sign for decimals, whatever their length',
    );
    t.equal(wordsOf('SPL_TOKEN'), 'SPL token');
    t.equal(english.usd(1234.5), '$1,234.50');
    t.equal(english.usd(0.00001234), '$0.000012', 'what is less than a cent is not nothing');
    for (const tag of ['en-US@posix', '', undefined]) {
      const { language } = new Figures(tag);
      t.equal(language, undefined, `${tag} is no tag`);
    }
    t.equal(new Figures('en-US@posix').integer(1), '1');
  });

  t.test('what is not known is a dash', async (t) => {
    const figures = new Figures('en');
    t.same([figures.integer(null), figures.percent(null), figures.usd(null)], ['–', '–', '–']);
  });

  t.test('spans have two units, identifiers their ends', async (t) => {
    const spans = [0, 999, 7000, 61_000, 3_600_000, 65_520_000, 90_000_000, -5];
    t.same(spans.map(formatSpan), ['0 s', '0 s', '7 s', '1 m 1 s', '1 h', '18 h 12 m', '1 d 1 h', '0 s']);
    t.same([shorten('8TzxAAAAAAAApVA5'), shorten('short')], ['8Tzx…pVA5', 'short']);
  });
});

t.test('state', async (t) => {
  const frameOf = (slot: number, health: 'ok' | 'degraded' = 'ok', isPolled = false, stream = 'a'): LineEvent => ({
    type: 'frame',
    slot,
    stream,
    health,
    isPolled,
  });
  const otherFrame = (slot: number): LineEvent => frameOf(slot, 'ok', false, 'b');
  const frame = frameOf(100);
  const closed = (code: number): LineEvent => ({ type: 'closed', code });
  const answer = (slot: number, slotAgeMs: number): LineEvent => ({ type: 'answer', slot, slotAgeMs });

  type Events = readonly (readonly [atMs: number, event: LineEvent])[];

  /** Returns the line after events, each at its time. */
  const lineAfter = (events: Events, intervalMs = 0) =>
    events.reduce((line, [atMs, event]) => afterEvent(line, event, atMs), newLine(intervalMs));

  const stateAt = (nowMs: number, ...events: Events) => viewOf(lineAfter(events), nowMs).state;

  const wordsAt = (nowMs: number, ...events: Events) => describeView(viewOf(lineAfter(events), nowMs));

  t.test('the state of a line follows from the age of its slot, its closes and the clock', async (t) => {
    const cases: readonly (readonly [what: string, expected: string, nowMs: number, ...events: Events])[] = [
      ['before the first frame', 'connecting', 60_000],
      ['a frame', 'live', 0, [0, frame]],
      ['three seconds without a slot', 'live', 3000, [0, frame]],
      ['and a moment more', 'slow', 3001, [0, frame]],
      ['frames without a new slot', 'slow', 6001, [0, frame], [5000, frameOf(100, 'degraded')]],
      ['and frames of an earlier one', 'slow', 6001, [0, frame], [5000, otherFrame(99)], [5900, frame]],
      ['15 s without a slot', 'slow', 15_000, [0, frame], [14_900, frameOf(100, 'degraded')]],
      ['and a moment more', 'stalled', 15_001, [0, frame], [15_000, frameOf(100, 'degraded')]],
      ['a new slot', 'live', 15_001, [0, frame], [15_000, frameOf(101)]],
      ['a first one of another cluster', 'slow', 15_000, [0, frameOf(110)], [14_600, otherFrame(100)]],
      ['and a second', 'live', 15_001, [0, frameOf(110)], [14_600, otherFrame(100)], [15_000, otherFrame(101)]],
      ['a slot of a gateway with bad nodes', 'degraded', 3000, [0, frameOf(100, 'degraded')]],
      ['a gateway whose slot is old', 'stalled', 100, [0, answer(100, 90_000)], [50, frameOf(100, 'degraded')]],
      ['also if the frame came first', 'stalled', 100, [0, frameOf(100, 'degraded')], [50, answer(100, 90_000)]],
      ['a gateway without a slot', 'connecting', 100, [0, answer(0, 0)]],
      ['a slot of which no frame has come', 'connecting', 100, [0, answer(100, 0)]],
      ['an interval that was polled', 'live', 8000, [0, frameOf(100, 'ok', true)]],
      ['and a moment more', 'slow', 8001, [0, frameOf(100, 'ok', true)]],
      ['a line that broke just now', 'live', 1000, [0, frame], [900, closed(1006)]],
      ['a reconnect that failed', 'slow', 3500, [0, frame], [900, closed(1006)], [1500, closed(1006)]],
      ['two that failed', 'offline', 2000, [0, frame], [900, closed(1006)], [1500, closed(1006)], [1900, closed(1006)]],
      ['three without a frame', 'offline', 9, [1, closed(1006)], [2, closed(1006)], [3, closed(1006)]],
      [
        'an answer after them',
        'connecting',
        9,
        [1, closed(1006)],
        [2, closed(1006)],
        [3, closed(1006)],
        [4, answer(0, 0)],
      ],
      ['a shutdown', 'restarting', 1000, [0, frame], [900, closed(1001)]],
      [
        'and nobody there',
        'offline',
        5000,
        [0, frame],
        [900, closed(1001)],
        [2500, closed(1006)],
        [4000, closed(1006)],
      ],
      ['a frame after it', 'live', 6000, [0, frame], [900, closed(1001)], [2500, closed(1006)], [5900, frameOf(108)]],
      ['an answer after it', 'connecting', 5900, [900, closed(1001)], [2500, closed(1006)], [5900, answer(0, 0)]],
      ['a frame that is refused', 'refused', 9000, [0, frame], [900, closed(1001)], [8900, { type: 'refused' }]],
      [
        'and nobody there',
        'offline',
        9,
        [0, { type: 'refused' }],
        [1, closed(1006)],
        [2, closed(1006)],
        [3, closed(1006)],
      ],
      ['a proven one', 'live', 9000, [0, { type: 'refused' }], [8900, frame]],
      ['a limit', 'limited', 9999, [0, { type: 'limited', retryAfterMs: 10_000 }]],
      ['its end', 'connecting', 10_000, [0, { type: 'limited', retryAfterMs: 10_000 }]],
      ['a key that is not valid', 'offline', 1, [0, frame], [1, { type: 'ended' }]],
    ];
    for (const [what, expected, nowMs, ...events] of cases) t.equal(stateAt(nowMs, ...events), expected, what);
  });

  t.test('an interval above a second is waited for', async (t) => {
    const line = lineAfter([[0, frame]], 5000);
    t.equal(viewOf(line, 8000).state, 'live');
    t.equal(viewOf(line, 8001).state, 'slow');
    t.equal(viewOf(lineAfter([[0, frame]], 1000), 3001).state, 'slow');
  });

  t.test('a view names the moment of its next change, and its words count each second', async (t) => {
    const line = lineAfter([[0, frame]]);
    for (let nowMs = 0, words = 0; nowMs < 20_000; words++) {
      const { slotAgeMs, changesInMs = 0 } = viewOf(line, nowMs);
      t.ok(changesInMs > 0 && changesInMs <= 1001 && words < 30, `${slotAgeMs}`);
      nowMs += changesInMs;
    }
    t.equal(wordsAt(2900, [0, frame]), 'Live');
    t.equal(wordsAt(4300, [0, frame]), 'Slow: no new slot for 4 s');
    t.equal(wordsAt(100_000, [0, frame], [99_000, frameOf(100, 'degraded')]), 'Stalled: no new slot for 1 m 40 s');
    t.equal(wordsAt(0, [0, frameOf(100, 'ok', true)]), 'Live, each 5 s');
    const limited = lineAfter([[0, { type: 'limited', retryAfterMs: 9000 }]]);
    t.equal(describeView(viewOf(limited, 500)), 'Rate limited, next try in 9 s');
    t.equal(viewOf(limited, 500).changesInMs, 500);
  });

  t.test('a line that another tab sends counts on the clock of this one', async (t) => {
    const line = lineAfter([
      [5000, frame],
      [6000, { type: 'limited', retryAfterMs: 3000 }],
    ]);
    const received = movedBy(movedBy(line, -8000), 100);
    t.strictSame(viewOf(received, 100), viewOf(line, 8000));
    t.strictSame(viewOf(received, 4100), viewOf(line, 12_000));
  });

  t.test('values are old a quarter of a minute after the last slot', async (t) => {
    const line = lineAfter([[0, frame]]);
    t.notOk(isOld(viewOf(line, 15_000)));
    t.ok(isOld(viewOf(line, 15_001)));
    for (const event of [closed(1006), { type: 'ended' }] as const) {
      const slept = lineAfter([
        [0, frame],
        [70_000, { type: 'slept' }],
        [80_000, event],
      ]);
      t.ok(isOld(viewOf(slept, 80_000)), 'those from before a sleep, too');
    }
    const awake = lineAfter([
      [0, frame],
      [70_000, { type: 'slept' }],
      [80_000, frameOf(300)],
    ]);
    t.same(viewOf(awake, 80_000), viewOf(lineAfter([[80_000, frameOf(300)]]), 80_000));
  });

  t.test('one sentence says how the gateway is, and agrees with the state', async (t) => {
    const node = { id: 'a', operator: 'a', status: 'ok', slot: 100, behindSlots: 0, ws: 'up' } as const;
    const healthy: HealthReport = {
      cluster: 'c',
      slot: 100,
      slotAgeMs: 10,
      message: '',
      health: {
        cluster: 'c',
        slot: 100,
        slotAgeMs: 10,
        problems: [],
        geyser: null,
        upstreams: [node],
        operators: null,
        version: '1',
        uptimeSec: 1,
        embedded: null,
      },
    };
    const at = (nowMs: number, report: HealthReport | undefined, ...more: Events): string =>
      healthSentence(report, viewOf(lineAfter([[0, frame], ...more]), nowMs));
    t.equal(at(0, healthy), 'All nodes answer.');
    t.equal(at(20_000, healthy), 'No new slot for 20 s.', 'an answer from before says nothing else');
    const message = 'no new slot for 99 s; node-1: no answer within 2000 ms';
    const unhealthy = { ...healthy, health: undefined, message };
    t.equal(at(104_000, unhealthy), 'No new slot for 1 m 44 s; node-1: no answer within 2000 ms');
    t.equal(at(0, unhealthy), `Until now ${message}`);
    const behind = { ...node, id: 'b', status: 'behind', behindSlots: 9 } as const;
    const lie = 'b gave another value of an account at slot 9 than two operators';
    const health = { ...healthy.health, upstreams: [node, behind], problems: ['The disk is full.', lie] } as Health;
    t.equal(at(0, { ...healthy, health }), `1 of 2 nodes: b is behind. The disk is full. ${lie}.`);
    t.equal(agreementWords({ operators: null }), 'one operator, whose word is signed');
    t.equal(agreementWords({ operators: { count: 3, needed: 1 } }), '1 of 3 operators, whose word is signed');
    t.equal(agreementWords({ operators: { count: 3, needed: 2 } }), '2 of 3 operators');
    const lost: Events = [1, 2, 3].map((atMs) => [atMs, closed(1006)] as const);
    t.equal(at(9, healthy, ...lost), 'No answer from the gateway.');
    t.equal(at(0, undefined), 'The gateway has not yet named its health.');
  });

  t.test('changes of state are announced, at most one in five seconds', async (t) => {
    const announcer = new Announcer();
    t.equal(announcer.next('connecting', 0), undefined);
    t.equal(announcer.next('live', 100), 'Network status: Live');
    t.equal(announcer.next('slow', 3000), undefined);
    t.equal(announcer.next('live', 4000), undefined);
    t.equal(announcer.next('slow', 5100), 'Network status: Slow');
    t.equal(announcer.next('slow', 20_000), undefined);
  });

  t.test('texts are kept where the browser lets the page keep anything', async (t) => {
    const kept = new Map<string, string>();
    const getItem = (name: string) => kept.get(name) ?? null;
    const store = textStore(() => ({ getItem, setItem: (name, text) => void kept.set(name, text) }));
    store.write('a', 'key of a');
    t.equal(store.read('a'), 'key of a');
    t.equal(store.read('b'), undefined);
    const refusing = textStore(() => {
      throw new Error('SecurityError');
    });
    refusing.write('a', 'key');
    t.equal(refusing.read('a'), undefined);
  });
});

t.test('series', async (t) => {
  t.test('no step between two times is longer than a plot with room for two of them', async (t) => {
    const leaps = TIME_STEPS.filter((step, at) => at > 0 && step > 2 * (TIME_STEPS[at - 1] ?? 0));
    t.same([TIME_STEPS[0], leaps, TIME_STEPS.at(-1)], [1, [], 4 * 86_400]); // of seven days, a plot of 110 pixels has room for two
  });

  const levels = (medium: number) => ({ low: medium - 1, medium, high: BigInt(medium) + 1n });

  t.test('a series keeps its span, one point a second, and its gaps', async (t) => {
    const series = new TimeSeries(1, 10);
    for (let second = 0; second < 30; second++) series.set(second, [second]);
    series.set(29, [7]);
    series.set(3, [7]); // the clock was set back
    t.same(series.columns[0]?.length, 10);
    t.same([series.columns[0]?.at(-1), series.columns[1]?.at(-1)], [29, 7]);
    series.addGap();
    t.same([series.columns[0]?.at(-1), series.columns[1]?.at(-1)], [30, null]);
  });

  t.test('the pace is of the clock of the gateway, in bins of a second; a restart is a gap', async (t) => {
    const pace = new SlotPace();
    const frames = [0, 400, 800, 1300, 1700, 2100].map((ms, at) => ({ slot: 100 + at, stream: 'a', updatedAt: ms }));
    for (const frame of frames) pace.add(frame);
    pace.add({ slot: 105, stream: 'a', updatedAt: 2500 }); // no new slot
    t.same(pace.columns, [
      [1, 2],
      [450, 400],
    ]);
    pace.add({ slot: 1, stream: 'b', updatedAt: 9000 });
    pace.add({ slot: 2, stream: 'b', updatedAt: 9900 });
    pace.add({ slot: 3, stream: 'b', updatedAt: 10_300 });
    t.same(pace.columns, [
      [1, 2, 3, 10],
      [450, 400, null, 400],
    ]);
  });

  t.test('no line is drawn over a time without slots', async (t) => {
    const pace = new SlotPace();
    for (const [slot, updatedAt] of [
      [1, 900],
      [2, 1300],
      [3, 101_300],
    ] as const)
      pace.add({ slot, stream: 'a', updatedAt });
    t.same(pace.columns, [
      [1, 2],
      [400, null],
    ]);
  });

  t.test('the strip has each slot once, also those without a block, and those that nobody saw', async (t) => {
    const strip = new SlotStrip();
    const cells = (): unknown => strip.cells.map(({ slot, ms }) => [slot, ms]);
    for (const [slot, stream, seq, updatedAt] of [
      [10, 'a', 3, 0],
      [11, 'a', 4, 400],
      [11, 'a', 5, 900], // repeated
      [13, 'a', 6, 1200],
      [16, 'b', 0, 3000], // after a restart
      [17, 'b', 1, 3300],
    ] as const)
      strip.add({ slot, stream, seq, updatedAt });
    strip.prepend([
      { slot: 7, slots: 1, slotTimeMs: 390, endedAt: -900 },
      { slot: 9, slots: 1, slotTimeMs: 410, endedAt: -350 },
      { slot: 9, slots: 0, slotTimeMs: null, endedAt: 0 },
      { slot: 17, slots: 1, slotTimeMs: 300, endedAt: 3300 },
    ]);
    const seen = [
      [11, 400],
      [12, null],
      [13, 800],
    ];
    const unwatched = [14, 15, 16].map((slot) => [slot, undefined]);
    t.same(cells(), [[7, 390], [8, undefined], [9, 410], [10, 350], ...seen, ...unwatched, [17, 300]]);
    strip.add({ slot: 20, stream: 'b', seq: 9, updatedAt: 4500 });
    strip.add({ slot: 21, stream: 'b', seq: 10, updatedAt: 4900 });
    const missed = [18, 19, 20].map((slot) => [slot, undefined]);
    const lastCells = strip.cells.slice(-5).map(({ slot, ms }) => [slot, ms]);
    t.same(lastCells, [[17, 300], ...missed, [21, 400]], 'frames were missed');
    strip.add({ slot: 500, stream: 'b', seq: 11, updatedAt: 90_000 });
    t.equal(strip.cells.length, STRIP_SLOTS);
    strip.add({ slot: 3, stream: 'c', seq: 0, updatedAt: 91_000 });
    strip.add({ slot: 4, stream: 'c', seq: 1, updatedAt: 91_500 });
    t.same(cells(), [[4, 500]], 'another cluster has slots of its own');
  });

  t.test('what the gateway saw before stands in front of the frames', async (t) => {
    const pace = new SlotPace();
    const fees = new FeeLevels();
    for (const [slot, updatedAt] of [
      [8, 300_900],
      [9, 301_300],
    ] as const) {
      pace.add({ slot, stream: 'a', updatedAt });
      fees.add({ slot, stream: 'a', updatedAt, priorityFeeLevels: levels(6) });
    }
    const row = { slots: 1, slotTimeMs: 500, priorityFee: levels(5) };
    const rows = [
      { ...row, endedAt: 200_000 },
      { ...row, endedAt: 290_000, slotTimeMs: 90_000 },
      { ...row, endedAt: 295_000, slotTimeMs: null, priorityFee: null },
      { ...row, endedAt: 301_000 },
    ];
    pace.prepend(rows);
    fees.prepend(rows);
    t.same(pace.columns, [
      [200, 201, 301],
      [500, null, 400],
    ]);
    t.same(fees.columns[0], [200, 201, 290, 300]);
    t.same(fees.columns[2], [5, null, 5, 6]);
    fees.add({ slot: 9, stream: 'a', updatedAt: 320_000, priorityFeeLevels: levels(7) });
    t.equal(fees.columns[0]?.at(-1), 300, 'a frame without a new slot is no point');
    fees.add({ slot: 10, stream: 'a', updatedAt: 330_000, priorityFeeLevels: levels(7) });
    t.same(fees.columns[0]?.slice(-3), [300, 301, 330]);
    t.same(fees.columns[2]?.slice(-3), [6, null, 7], 'no line over the time without slots');
  });

  t.test('rates are signed rows laid out backwards; until the first one, counts of frames', async (t) => {
    const rates = new TransactionRates();
    const count = (updatedAt: number, transactionCount: bigint | null, stream = 'a') =>
      rates.addFrame({ updatedAt, transactionCount, stream });
    count(0, 9_007_199_254_740_993n);
    count(1000, null);
    count(2000, 9_007_199_254_741_093n);
    count(5000, 9_007_199_254_741_493n);
    t.same(rates.columns, [[5], [null], [100]]);
    rates.setRows([], 600);
    t.equal(rates.columns[0]?.length, 1);
    const row = { slot: 1, samplePeriodSecs: 60 };
    rates.setRows(
      [
        { ...row, tps: 30, nonVoteTps: 3 },
        { ...row, tps: 20, nonVoteTps: null },
      ],
      615,
    );
    count(99_000, 1n);
    t.same(rates.columns, [
      [540, 600],
      [null, 3],
      [20, 30],
    ]);
  });

  t.test('the time of which there are no values is that between two of them, and after the last', async (t) => {
    const columns = [
      [1, 2, 3, 4, 9, 10],
      [null, 5, null, null, 6, null],
      [null, null, null, null, 6, 7],
    ];
    t.same(spansWithout(columns, 12, 3), [[2, 9]]);
    t.same(spansWithout(columns, 13, 3), [
      [2, 9],
      [10, 13],
    ]);
    t.same(spansWithout([[], []], 13, 3), []);
  });

  t.test('a plot is described by a sentence and a table', async (t) => {
    const columns = [
      [1, 2, 3],
      [5, null, 4],
    ];
    t.same(extentOf(columns, 1), { lowest: 4, highest: 5, newest: 4 });
    t.equal(extentOf([[], []], 1), undefined);
    t.equal(
      summarize('Pace', columns, 1, (value) => `${value} ms`),
      'Pace: now 4 ms, between 4 ms and 5 ms',
    );
    t.equal(summarize('Pace', [[], []], 1, String), 'Pace: no values yet');
    t.same(tableRows(columns, 2), [
      [3, 4],
      [1, 5],
    ]);
  });
});

/** The rows of symbols as numbers in hexadecimal, made by the package qrcode 1.5.4: version 3, L, byte mode, mask 0. */
const QR_CODES: Readonly<Record<string, string>> = {
  [WRAPPED_SOL]:
    '1fc4337f 1048bb41 1752115d 1749335d 1749335d 1047bb41 1fd5557f 0012ee00 1df1ccc4 04abcc69 1e47447d 09bdee28 11d6cc69 0996cc69 026c447d 1812ee29 0dd1cc6a 0a3bcc6b 14cb447f 0f39ee29 14d2cdf9 001acd18 1fd0475f 105aef19 1755cdf8 174fcc9b 175fc59d 1055ad8a 1fdb4ddb',
  [VOTE_PROGRAM]:
    '1fc4337f 1048bb41 1752115d 1749335d 1749335d 1047bb41 1fd5557f 0012ee00 1df1ccc4 062bcc63 1ed7447f 083dee2a 0bf6cc6b 19becc69 0270447f 150eee29 10d1cc6a 0c13cc6b 105b447f 0899ee2b 135acdfb 0016cd18 1fdc475f 105aef19 1759cdf8 1743cc9b 175b459d 105ded8a 1fd34ddb',
  [SYSTEM_PROGRAM]:
    '1fc9937f 10477b41 175dd15d 174ee35d 1744435d 10488b41 1fd5557f 001dde00 1df66cc4 1e866c69 0648847d 08122e28 0e711c69 0233bc69 01df747d 192dde28 14fa7c69 0e1e6c69 15f0847d 0d8e2e28 17d10df9 001f8d19 1fd7475d 105def1a 17564df9 17464c9b 1750859d 105e2d8a 1fdd0ddb',
};

t.test('qr-code', async (t) => {
  const numberOf = (row: readonly boolean[]): string =>
    Number.parseInt(row.map(Number).join(''), 2).toString(16).padStart(8, '0');
  for (const [address, rows] of Object.entries(QR_CODES)) t.equal(qrCode(address).map(numberOf).join(' '), rows);
});

t.test('site', async (t) => {
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
    'explorer.html': 64 * 1024, // as of each page: it shows all kinds of things, and is one file
    'docs.html': 24 * 1024,
    'docs-routes.html': 40 * 1024,
    'docs-operate.html': 32 * 1024,
    'verify.html': 30 * 1024,
    'widget.js': 8000,
  } as const;

  t.test('every file of the site was built, within its limit', async (t) => {
    const missing = [...SITE_PATHS.values()].filter((name) => !site.has(name));
    t.same(missing, []);
    const sizes = Object.entries(LIMITS).map(([name, limit]) => ({ name, bytes: fileOf(name).gzip.length, limit }));
    t.comment(sizes.map(({ name, bytes }) => `${name} ${bytes}`).join(', '));
    const tooLarge = sizes.filter(({ bytes, limit }) => bytes > limit);
    t.same(tooLarge, []);
  });

  const withWidget = ['docs-widget', 'embed'];
  for (const name of [...PAGES.map((page) => page.name), ...withWidget]) {
    t.test(`the page ${name} is one file that loads no other, except for the widget that it shows`, async (t) => {
      const page = fileOf(`${name}.html`);
      const html = page.identity.toString();
      const policy = policyOf(page);
      t.match(html, /^<!doctype html>/);
      const markup = html
        .replace(/<(script type="module"|style)>[\s\S]*?<\/(?:script|style)>/g, '')
        .replace(/<pre[\s\S]*?<\/pre>/g, '');
      const widget = /<script src="(?:\.\.\/)?widget.js\?[\w%]+" integrity="(sha256-[^"]+)" async>/.exec(markup)?.[1];
      t.equal(widget, withWidget.includes(name) ? sha256Of(fileOf('widget.js').identity) : undefined);
      if (widget !== undefined) t.match(policy, ` '${widget}';`);
      t.notMatch(
        markup.replace(/<script src="(?:..\/)?widget.js|<img src="badge.svg/, ''),
        /\b(?:src|url)\s*=|\bstyle=|<link (?!rel="icon" href="data:|rel="search")|\son\w+=/i,
      );
      t.notMatch(html, /\bimport\s*\(|@import|url\((?!data:)/);
      for (const [tag, open] of [
        ['script', '<script type="module">'],
        ['style', '<style>'],
      ] as const) {
        const inside = html.split(open)[1]?.split(`</${tag}>`)[0] ?? '';
        t.ok(inside.length > 10);
        t.match(policy, `${tag}-src '${sha256Of(inside)}`);
      }
      t.match(
        policy,
        /^default-src 'none'; .*require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors/,
      );
      const [inPage, ancestors] = policy.split('; frame-ancestors ');
      t.equal(ancestors, name === 'embed' ? '*' : "'none'");
      const embedder = page.headers.find(([header]) => header === 'Cross-Origin-Embedder-Policy')?.[1];
      t.equal(embedder, name === 'embed' ? 'require-corp' : undefined, 'as some pages demand of what they frame');
      t.match(html, `content="${inPage}"`);
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
    const made = (script: string) => composePage({ name: 'verify', html, root: '', style: 'p{}', script });
    t.equal(made("'$&'").html, `<style>p{}</style><script type="module">'$&'</script>`);
    t.not(made("'$&'").contentSecurityPolicy, made("'$1'").contentSecurityPolicy);
  });
});

t.test('verification-report', async (t) => {
  const signer = newSigner();
  const request = 'GET /api/v1/balance/9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM?commitment=finalized';
  const result = '{"lamports":9007199254740993}';
  const answer = { request, slot: 42, commitment: 'finalized', claim: 'exact', nonce: null, result } as const;
  const [body = '', bound = ''] = sealAnswers(signer, [answer, { ...answer, nonce: 'A'.repeat(22) }]);
  const nothing: VerificationInput = { publicKey: '', cluster: '', request: '', nonce: '', minAgreed: '' };
  const all: VerificationInput = { ...nothing, publicKey: signer.publicKey, cluster: CLUSTER, request };
  const verify = (text: string, input: Partial<VerificationInput> = {}) =>
    verifyText(text, { ...all, ...input }, NOW_MS + 180_000);
  const lineOf = (report: VerificationReport, name: string) => report.lines.find((line) => line.name === name);

  t.test('a valid body is reported line by line, with its result', async (t) => {
    const report = verify(body);
    t.match(report, { verdict: 'proven', result });
    t.same(
      report.lines.map(({ name, status }) => `${name} ${status}`),
      [
        ...['format proven', 'key proven', 'cluster proven', 'request proven', 'status proven', 'slot signed'],
        ...['commitment signed', 'claim signed', 'digest proven', 'issued signed', 'nonce signed', 'signature proven'],
      ],
    );
    t.match(lineOf(report, 'cluster'), { value: CLUSTER, explanation: /mainnet-beta/ });
    t.match(lineOf(report, 'issued'), { explanation: /2024-06-20T16:13:20\.000Z, 3 minutes ago/ });
    t.match(lineOf(report, 'signature'), { explanation: /for 2 statements, of which this is number 1/ });
  });

  t.test('lines without an expected value are signed, but not compared', async (t) => {
    const report = verify(bound, { cluster: '', request: '' });
    t.equal(report.verdict, 'proven');
    for (const name of ['cluster', 'request', 'nonce']) t.match(lineOf(report, name), { status: 'signed' });
    const compared = verify(bound, { nonce: 'A'.repeat(22) });
    t.match(lineOf(compared, 'nonce'), { status: 'proven' });
  });

  t.test('without a key nothing is proven, and there is no result', async (t) => {
    const report = verifyText(body, nothing, NOW_MS);
    t.match(report, { verdict: 'open', result: null });
    for (const { name, status } of report.lines) t.equal(status, 'unproven', name);
  });

  t.test('an invalid body proves no line, and the wrong one is marked', async (t) => {
    const cases: readonly [string, Partial<VerificationInput>, string | undefined, string][] = [
      [body.replace('993', '992'), {}, undefined, FAULT_EXPLANATIONS.digest],
      [body.replace('"v":1', '"v":2'), {}, undefined, FAULT_EXPLANATIONS.malformed],
      ['{"result":1}', {}, undefined, FAULT_EXPLANATIONS.malformed],
      ['hello', {}, undefined, FAULT_EXPLANATIONS.envelope],
      [body.replace('exact/1', 'exact/2'), {}, 'signature', FAULT_EXPLANATIONS.signature],
      [body.replace('"size":2', '"size":1'), {}, 'signature', FAULT_EXPLANATIONS.path],
      [body, { publicKey: CLUSTER }, 'key', FAULT_EXPLANATIONS['unknown-key']],
      [body, { cluster: signer.publicKey }, 'cluster', FAULT_EXPLANATIONS.cluster],
      [body, { request: 'GET /api/v1/slot' }, 'request', FAULT_EXPLANATIONS.request],
      [body, { nonce: 'A'.repeat(22) }, 'nonce', FAULT_EXPLANATIONS.nonce],
    ];
    for (const [text, input, wrong, explanation] of cases) {
      const report = verify(text, input);
      t.match(report, { verdict: 'refused', explanation, result: null });
      const statuses = report.lines.map(({ name, status }) => (status === 'wrong' ? name : status));
      t.same(new Set(statuses), new Set(wrong === undefined ? [] : ['unproven', wrong]), explanation);
    }
  });

  t.test('a signed request that nobody can have made is refused', async (t) => {
    for (const request of ['GET /api/v1/a//b', 'POST /api/v1/rpc']) {
      const [body = ''] = sealAnswers(signer, [{ ...answer, request }]);
      const report = verify(body, { request: '' });
      t.match(report, { verdict: 'refused', result: null });
      t.match(lineOf(report, 'request'), { status: 'wrong' });
    }
  });

  t.test('a push frame and a body with blanks around it are verified too', async (t) => {
    t.equal(verify(`{"type":"balance","id":"\\"answer\\":","seq":1,"answer":${body}}`).verdict, 'proven');
    t.equal(verify(`\n  ${body}\n\n`).verdict, 'proven');
    t.equal(verify(`id: 7.0\nevent: balance\ndata: {"type":"balance","answer":${body}}\n\n`).verdict, 'proven');
    t.throws(() => verify(`${body}\ndata: ${bound}\n`), /These are 2 answers/, 'several are no forgery');
    t.equal(verify(`${'\n'.repeat(700_000)}${body}`).verdict, 'proven', 'blanks cost their length, not its square');
  });

  t.test('the published vectors are proven', async (t) => {
    for (const { body, cluster, canonicalRequest, nonce, resultHex, statement } of allVectors) {
      const known = {
        ...all,
        publicKey: testVectors.publicKey,
        cluster,
        request: canonicalRequest,
        nonce: nonce ?? '',
      };
      const { lines } = verifyText(body, known, NOW_MS);
      t.same(pluck(lines.slice(0, -1), 'value'), statement.trimEnd().split('\n'));
      t.match(verifyText(body, known, NOW_MS), { verdict: 'proven', result: Buffer.from(resultHex, 'hex').toString() });
    }
  });

  t.test('the operators that gave the result are explained, and compared with those demanded', async (t) => {
    const of = (name: string, minAgreed = '') => {
      const {
        body,
        cluster,
        canonicalRequest: request,
        nonce,
      } = allVectors.find((vector) => vector.name === name) ?? singleVector;
      return verifyText(
        body,
        { publicKey: testVectors.publicKey, cluster, request, nonce: nonce ?? '', minAgreed },
        NOW_MS,
      );
    };
    t.match(lineOf(of('v2-one-of-two'), 'agreed'), { value: '1/2', explanation: /one operator/, status: 'signed' });
    const confirmed = lineOf(of('v2-batch3-two-of-three', '2'), 'agreed');
    t.match(confirmed, { explanation: /Confirmed by 2 of 3 operators/, status: 'proven' });
    const few = of('v2-one-of-two', '2');
    t.match(few, { verdict: 'refused', result: null, explanation: FAULT_EXPLANATIONS.agreed });
    t.match(lineOf(few, 'agreed'), { status: 'wrong' });
  });

  t.test('invalid input of the user is reported apart from the body', async (t) => {
    t.throws(() => verify(body, { publicKey: 'nobody' }), TypeError);
    t.throws(() => verify(body, { request: 'the balance' }), TypeError);
    t.throws(() => verify(body, { request: 'GET /api/v1/search?q=%zz' }), { code: 'invalid_query' });
  });

  t.test('no time in a receipt stops the page', async (t) => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (issuedAt, nowMs) => {
        const [late = ''] = sealAnswers(signer, [answer], issuedAt);
        const { lines } = verifyText(late, nothing, nowMs);
        return lines.some(({ name, explanation }) => name === 'issued' && explanation.startsWith('Issued '));
      }),
      { numRuns: 50 },
    );
    const [beyond = ''] = sealAnswers(newSigner(), [answer], Number.MAX_SAFE_INTEGER);
    t.match(lineOf(verifyText(beyond, nothing, 0), 'issued'), {
      explanation: 'Issued at a time that no calendar has.',
    });
  });
});

t.test('fields', async (t) => {
  const numbers = new Intl.NumberFormat('en');
  /** What the fields show of a frame. */
  const snapshot = {
    slot: 348_000_123,
    blockHeight: 326_000_001,
    epoch: 805,
    epochProgress: 0.6249,
    slotIndex: 270_000,
    slotsInEpoch: 432_000,
    tps: 3911.2,
    nonVoteTps: null,
    slotTimeMs: 401.6,
    priorityFee: 5000,
    health: 'ok',
    seq: 1,
    stream: 'a',
  } as Snapshot;

  t.test('fields are those that are known, each once; without any, four', async (t) => {
    const unknown = ['constructor', 'nothing'];
    t.same(fieldNames('epoch, slot slot constructor nothing'), { known: ['epoch', 'slot'], unknown });
    for (const text of [null, '', 'toString']) t.same(fieldNames(text).known, ['slot', 'tps', 'slot-time', 'epoch']);
  });

  t.test('each field has its text, and a dash for what is not known', async (t) => {
    const names = ['slot', 'height', 'tps', 'total-tps', 'slot-time', 'fee', 'epoch', 'epoch-end', 'skip-rate'];
    const texts = names.map((name) => fieldText(name, snapshot, false, numbers));
    t.same(texts, ['348,000,123', '326,000,001', '–', '3,911', '402', '5,000', '805 · 62%', '18 h 4 m', '–']);
    t.same(
      names.map((name) => fieldText(name, snapshot, true, numbers)),
      ['348,000,123', '326,000,001', '–', '–', '402', '–', '805 · 62%', '18 h 4 m', '–'],
      'what moves fast is not shown when it is old',
    );
    t.equal(fieldText('slot', undefined, false, numbers), '–');
    t.equal(fieldText('skip-rate', { ...snapshot, skippedShare: 0.04267 }, false, numbers), '4.3%');
  });

  t.test('with a function `verify` the skip rate is of an answer for which it returns true', async (t) => {
    const { fetch } = globalThis;
    t.teardown(() => Object.assign(globalThis, { fetch }));
    const text = '{"result":{"rows":[]},"slot":5}';
    Object.assign(globalThis, { fetch: async () => new Response(text) });
    const checked: unknown[] = [];
    const base = 'http://gateway.test/';
    for (const isValid of [true, false]) {
      const rate = await readSkipRate(base, (...given) => {
        checked.push(given);
        return isValid;
      });
      t.equal(rate, isValid ? null : undefined);
    }
    t.same(checked, Array(2).fill([text, 'GET /api/v1/network/history?step=60&span=1h']));
    t.equal(await readSkipRate(base, undefined), null);
  });

  t.test('the first rate among the fields is the one to draw', async (t) => {
    t.equal(rateOf(['slot', 'total-tps', 'tps']), 'tps');
    t.equal(rateOf(['slot', 'tps']), 'nonVoteTps');
    t.equal(rateOf(['slot', 'epoch']), undefined);
  });
});

t.test('sparkline', async (t) => {
  const pathOf = (...values: readonly (number | null)[]): string => {
    const line = new Sparkline();
    for (const value of values) line.add(value);
    return line.path;
  };

  t.test('the line ends at the right, between its least and greatest value', async (t) => {
    t.equal(pathOf(), '');
    t.equal(pathOf(null), '');
    t.equal(pathOf(100, 300, 200), 'M57 15L58 1L59 8');
    t.equal(pathOf(7, 7), 'M58 8L59 8', 'values that are equal make a line in the middle');
  });

  t.test('a gap interrupts it, once', async (t) => {
    t.equal(pathOf(null, 0, 2, null, null, 1), 'M56 15L57 1M59 8');
  });

  t.test('it keeps sixty values', async (t) => {
    const path = pathOf(...Array.from({ length: 100 }, (_, at) => at));
    t.equal(path.match(/[ML]/g)?.length, 60);
    t.match(path, /^M0 15L1 .*L59 1$/);
  });
});
