import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type EncodedDocument, encodeDocument } from './encoded-document.ts';

/** A page in one file, in every content coding. */
export interface StaticPage extends EncodedDocument {
  /** The Content-Security-Policy header: it allows the page's own script and style, its own gateway, nothing else. */
  readonly contentSecurityPolicy: string;
}

/** The source files of a page. */
export interface PageSources {
  /** HTML with the policy `default-src 'none'`, one stylesheet and one module, all of which are replaced. */
  readonly html: string;
  readonly style: string;
  readonly script: string;
}

/** Loads a page that the build has bundled into the folder of this file. */
export async function loadPage(name: 'verify'): Promise<StaticPage> {
  const read = (file: string): Promise<string> => readFile(new URL(`./${name}/${file}`, import.meta.url), 'utf8');
  const [html, style, script] = await Promise.all([read('page.html'), read('page.css'), read('main.js')]);
  return buildPage({ html, style, script });
}

/**
 * Builds a page in one file that loads nothing, so it works offline and after it was saved. The file contains its policy,
 * so a saved page can't make requests either; only `frame-ancestors` needs a header.
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
  // functions, since dollar signs in a replacement text have a meaning
  const page = html
    .replace("default-src 'none'", () => contentSecurityPolicy)
    .replace('<link rel="stylesheet" href="page.css">', () => `<style>${style}</style>`)
    .replace('<script type="module" src="main.ts"></script>', () => `<script type="module">${script}</script>`);
  return { ...(await encodeDocument(page)), contentSecurityPolicy: `${contentSecurityPolicy}; frame-ancestors 'none'` };
}

/** Formats the hash by which a policy allows a script or a style. */
const cspHash = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
