import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { toJson } from '../../shared/domain/to-json.ts';
import {
  MANIFEST_NAME,
  MISSING_PAGE,
  OPENAPI_NAME,
  SITE_FOLDER,
  type SiteEntry,
  VECTORS_NAME,
} from '../../shared/site/site.ts';
import { type ApiDocument, operationsOf } from '../docs/api-document.ts';
import { readChapters, readVectors } from '../docs/chapters.ts';
import { docsMarkdown, llmsText } from '../docs/docs-markdown.ts';
import { EXAMPLE_ANSWERS } from '../docs/example-answers.ts';
import { renderDocs } from '../docs/render.ts';
import { composePage, PAGES, type PageName } from './compose-page.ts';

// Run by the build after the bundler: composes the files of the site from the bundles and the OpenAPI document in the folder
// that is named.

const bundles = pathToFileURL(`${process.argv[2]}/`);
const manifest: Record<string, SiteEntry> = {};

const read = (file: string): string => readFileSync(new URL(file, bundles), 'utf8');

const widget = read('widget/main.js');

const ETAG_DIGITS = 16;

function writeSiteFile(
  name: string,
  content: string | Buffer,
  contentType: string,
  headers: SiteEntry['headers'],
  isTemplate = false,
): void {
  const identity = Buffer.from(content);
  const br = brotliCompressSync(identity, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: identity.length } });
  // Short blocks, each with codes of its own, are smaller: a page mixes text, styles and code.
  const gzip = gzipSync(identity, { level: constants.Z_BEST_COMPRESSION, memLevel: 6 });
  for (const [suffix, bytes] of Object.entries({ '': identity, '.br': br, '.gz': gzip }))
    writeFileSync(new URL(name + suffix, SITE_FOLDER), bytes);
  const etag = createHash('sha256').update(identity).digest('hex').slice(0, ETAG_DIGITS);
  manifest[name] = { contentType, headers, etag, ...(isTemplate && { isTemplate }) };
}

/** What no page of this site uses. Pages copy text, and open no window. */
const PAGE_HEADERS = [
  ['Permissions-Policy', 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const;

/** Of the page that any page may frame: also one that requires of what it loads that it allows that. */
const FRAMED_HEADERS = [
  ['Cross-Origin-Embedder-Policy', 'require-corp'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
] as const;

function writePage(name: PageName, file: string, html: string): void {
  const isBelow = file !== `${name}.html`; // a chapter is one level below the other pages
  const isMissing = name === 'missing';
  const parts = {
    name,
    html,
    root: isMissing ? '{{base}}' : isBelow ? '../' : '',
    style: read(`${name}/page.css`),
    script: isMissing ? undefined : read(`${name}/main.js`),
  };
  const page = composePage({
    ...parts,
    widget: ['docs-widget.html', 'embed.html'].includes(file) ? widget : undefined,
  });
  writeSiteFile(file, page.html, 'text/html; charset=utf-8', [
    ['Cache-Control', 'no-cache'],
    ['Content-Security-Policy', page.contentSecurityPolicy],
    ['X-Content-Type-Options', 'nosniff'],
    ...(name === 'embed' ? FRAMED_HEADERS : PAGE_HEADERS),
  ]);
}

/** The widget changes with a release: it is fresh for five minutes, and for a day it is refreshed in the background. */
const WIDGET_HEADERS = [
  ['Cache-Control', 'public, max-age=300, stale-while-revalidate=86400'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['X-Content-Type-Options', 'nosniff'],
] as const;

const TEXT_HEADERS = [
  ['Cache-Control', 'no-cache'],
  ['X-Content-Type-Options', 'nosniff'],
] as const;

/** A picture that pages of any origin may show. */
const pictureHeaders = (maxAge: number): SiteEntry['headers'] => [
  ['Cache-Control', `public, max-age=${maxAge}`],
  ['Content-Security-Policy', "default-src 'none'"],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['X-Content-Type-Options', 'nosniff'],
];

const DAY_SEC = 86_400;

/** How a browser searches here from its address bar. https://github.com/dewitt/opensearch */
const OPENSEARCH = `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>slotgate</ShortName><Description>Addresses, transactions and blocks of a Solana cluster</Description><Image width="32" height="32" type="image/x-icon">{{base}}favicon.ico</Image><Url type="text/html" template="{{base}}explorer?q={searchTerms}"/></OpenSearchDescription>
`;

/** Pages may be found. What they read costs the cluster work. */
const ROBOTS = 'User-agent: *\nDisallow: /api/\n';

/** Makes the links of a chapter those of `/docs`, which shows the first one and is one level above. */
const besides = (html: string): string =>
  html.replace(/href="(?!https?:|#)(?:\.\.\/)?([^"]*)"/g, (link, target: string) =>
    link.includes('"../') ? `href="${target}"` : `href="docs/${target}"`,
  );

mkdirSync(SITE_FOLDER, { recursive: true });
const document: ApiDocument = JSON.parse(read(OPENAPI_NAME));
for (const { details } of operationsOf(document)) {
  const { result } = Object(EXAMPLE_ANSWERS[details.operationId]?.answer);
  const schema = document.components.schemas[details.operationId.replace(/^get/, '')];
  if (result !== undefined && schema !== undefined) Object.assign(schema, { examples: [result] });
}
const chapters = readChapters();
for (const [name, text] of [
  [OPENAPI_NAME, toJson(document)],
  [VECTORS_NAME, JSON.stringify(readVectors())],
] as const)
  writeSiteFile(name, text, 'application/json; charset=utf-8', [['Cache-Control', 'public, max-age=300']]);
writeSiteFile('widget.js', widget, 'text/javascript; charset=utf-8', WIDGET_HEADERS);
writeSiteFile('docs.md', docsMarkdown(chapters, document), 'text/markdown; charset=utf-8', TEXT_HEADERS);
writeSiteFile('llms.txt', llmsText(chapters, document), 'text/plain; charset=utf-8', TEXT_HEADERS);
writeSiteFile('badge.svg', '', 'image/svg+xml', pictureHeaders(5)); // drawn at each request
for (const [name, contentType] of [
  ['card.png', 'image/png'],
  ['favicon.ico', 'image/x-icon'],
] as const)
  writeSiteFile(name, readFileSync(new URL(`data/${name}`, import.meta.url)), contentType, pictureHeaders(DAY_SEC));
writeSiteFile('opensearch.xml', OPENSEARCH, 'application/opensearchdescription+xml', TEXT_HEADERS, true);
writeSiteFile('robots.txt', ROBOTS, 'text/plain; charset=utf-8', TEXT_HEADERS);
writePage('missing', MISSING_PAGE, read('missing/page.html'));
writePage('embed', 'embed.html', read('embed/page.html'));
for (const { name } of PAGES) {
  const html = read(`${name}/page.html`);
  if (name !== 'docs') writePage(name, `${name}.html`, html);
  else {
    for (const chapter of chapters)
      writePage(name, `docs-${chapter.id}.html`, renderDocs(html, chapter, chapters, document));
    const [start] = chapters;
    if (start !== undefined) writePage(name, 'docs.html', besides(renderDocs(html, start, chapters, document)));
  }
}
writeFileSync(new URL(MANIFEST_NAME, SITE_FOLDER), JSON.stringify(manifest));
