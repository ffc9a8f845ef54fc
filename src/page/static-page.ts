import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** A page of one file, ready to be sent. */
export interface StaticPage {
  readonly identity: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
  /** Names the page's content: hex digits. */
  readonly etag: string;
  /** For the Content-Security-Policy header: its own script and style, its own gateway, and nothing else. */
  readonly contentSecurityPolicy: string;
}

/** What a page is made of. */
export interface PageSources {
  /** Has a policy of `default-src 'none'`, one stylesheet and one module to be put in place. */
  readonly html: string;
  readonly style: string;
  readonly script: string;
}

const ETAG_DIGITS = 16;

/** Reads a page that the build has bundled beside this file. */
export async function loadPage(name: 'verify'): Promise<StaticPage> {
  const read = (file: string): Promise<string> => readFile(new URL(`./${name}/${file}`, import.meta.url), 'utf8');
  const [html, style, script] = await Promise.all([read('page.html'), read('page.css'), read('main.js')]);
  return buildPage({ html, style, script });
}

/**
 * Makes a page of one file that loads nothing: it works when it was saved, and offline. Its policy is in it too, so a
 * saved page can't reach out either; only what frames it must be said by a header.
 */
export async function buildPage({ html, style, script }: PageSources): Promise<StaticPage> {
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src '${cspHash(script)}'`,
    `style-src '${cspHash(style)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // functions, as a replacement text would have its dollar signs read
  const page = html
    .replace("default-src 'none'", () => contentSecurityPolicy)
    .replace('<link rel="stylesheet" href="page.css">', () => `<style>${style}</style>`)
    .replace('<script type="module" src="main.ts"></script>', () => `<script type="module">${script}</script>`);
  const identity = Buffer.from(page);
  const [br, gz] = await Promise.all([promisify(brotliCompress)(identity), promisify(gzip)(identity)]);
  const etag = createHash('sha256').update(identity).digest('hex').slice(0, ETAG_DIGITS);
  return { identity, br, gzip: gz, etag, contentSecurityPolicy: `${contentSecurityPolicy}; frame-ancestors 'none'` };
}

/** As a policy names what it admits. */
const cspHash = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
