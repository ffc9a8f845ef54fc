import { readFile } from 'node:fs/promises';
import { API_PREFIX } from '../domain/canonical-request.ts';

/** A file that the gateway serves to people, in every content coding. */
export interface SiteFile {
  readonly identity: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
  readonly contentType: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whether `{{base}}` stands in it for the way to the gateway, by which it differs from one request to the next. */
  readonly isTemplate?: true;
}

/** What the build writes down about a file of the site. */
export type SiteEntry = Pick<SiteFile, 'contentType' | 'headers' | 'etag' | 'isTemplate'>;

/** The chapters of the reference, in their order. `routes` and `errors` are made from the declarations, after words. */
export const CHAPTER_IDS = [
  'start',
  'embedded-cluster',
  'routes',
  'answers',
  'accounts',
  'transactions',
  'stream',
  'clients',
  'receipts',
  'receipt-format',
  'sdk',
  'library',
  'widget',
  'limits',
  'errors',
  'command-line',
  'operate',
  'glossary',
] as const;

export type ChapterId = (typeof CHAPTER_IDS)[number];

export const BADGE_PATH = '/badge.svg';

/** The name of each file of the site, by the path that it is served at. */
export const SITE_PATHS: ReadonlyMap<string, string> = new Map([
  ['/', 'status.html'],
  ['/explorer', 'explorer.html'],
  ['/docs', 'docs.html'],
  ...CHAPTER_IDS.map((id) => [`/docs/${id}`, `docs-${id}.html`] as const),
  ['/docs.md', 'docs.md'],
  ['/llms-full.txt', 'docs.md'],
  ['/llms.txt', 'llms.txt'],
  ['/verify', 'verify.html'],
  ['/embed', 'embed.html'],
  ['/widget.js', 'widget.js'],
  [BADGE_PATH, 'badge.svg'],
  ['/card.png', 'card.png'],
  ['/favicon.ico', 'favicon.ico'],
  ['/opensearch.xml', 'opensearch.xml'],
  ['/robots.txt', 'robots.txt'],
]);

/** The page in place of one that does not exist. */
export const MISSING_PAGE = 'missing.html';

export const OPENAPI_NAME = 'openapi.json';
export const VECTORS_NAME = 'receipt-vectors.json';

/** The name of each document for programs, by the path that it is served at, without pages too. */
export const DOCUMENT_PATHS: ReadonlyMap<string, string> = new Map(
  [OPENAPI_NAME, VECTORS_NAME].map((name) => [`${API_PREFIX}/${name}`, name]),
);

/** The folder that the build writes, and the list of its files. */
export const SITE_FOLDER = new URL('../../pages/site/', import.meta.url);
export const MANIFEST_NAME = 'manifest.json';

/** The files that the build has made, by name. */
export type Site = ReadonlyMap<string, SiteFile>;

export async function loadSite(): Promise<Site> {
  const manifest = await readFile(new URL(MANIFEST_NAME, SITE_FOLDER), 'utf8');
  const entries = Object.entries<SiteEntry>(JSON.parse(manifest)); // the build wrote it
  return new Map(await Promise.all(entries.map(async ([name, entry]) => [name, await loadFile(name, entry)] as const)));
}

async function loadFile(name: string, entry: SiteEntry): Promise<SiteFile> {
  const read = (suffix: string): Promise<Buffer> => readFile(new URL(name + suffix, SITE_FOLDER));
  const [identity, br, gzip] = await Promise.all([read(''), read('.br'), read('.gz')]);
  return { ...entry, identity, br, gzip };
}
