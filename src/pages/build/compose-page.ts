import { createHash } from 'node:crypto';
import { THEME_STORE } from '../browser/theme-store.ts';

/** The pages that the header links to, in its order. */
export const PAGES = [
  { name: 'status', title: 'Status', href: './' },
  { name: 'explorer', title: 'Explorer', href: 'explorer' },
  { name: 'docs', title: 'Docs', href: 'docs' },
  { name: 'verify', title: 'Verify', href: 'verify' },
] as const;

/** The page that any page may frame. */
const FRAMED = 'embed';

export type PageName = (typeof PAGES)[number]['name'] | 'missing' | typeof FRAMED;

export interface PageParts {
  readonly name: PageName;
  /** HTML with the comments `head`, `header`, `style` and `script`, all of which are replaced. */
  readonly html: string;
  readonly style: string;
  /** Undefined for a page without one, whose search sends its form by itself. */
  readonly script: string | undefined;
  /** The way from the page to the root of the gateway: empty, `../`, or `{{base}}` where that is known at a request only. */
  readonly root: string;
  /** The widget, which a page with the comment `widget` loads besides; undefined for a page that loads nothing. */
  readonly widget?: string | undefined;
}

/** A page in one file, and its Content-Security-Policy header. */
export interface ComposedPage {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** A gate of three bars, in a colour that both themes show. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230d8f7d' d='M2 3h3v10H2zM6.5 5h3v8h-3zM11 3h3v10h-3z'/%3E%3C/svg%3E";

/** Sets the theme that the reader has chosen before anything is painted. */
const THEME_SCRIPT = `try{document.documentElement.style.colorScheme=localStorage['${THEME_STORE}'].replace('auto','')}catch{}`;

/**
 * Composes a page in one file that loads nothing, so it works offline and after it was saved. The file contains its policy,
 * so a saved page can't make requests either; only `frame-ancestors` needs a header. The policy allows the page's own
 * script and style and its own gateway, nothing else, and no script may write HTML.
 */
export function composePage({ name, html, root, style, script, widget }: PageParts): ComposedPage {
  const hasTheme = script !== undefined && name !== FRAMED;
  const scripts = [script, hasTheme ? THEME_SCRIPT : undefined, widget].filter((each) => each !== undefined);
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src '${scripts.map(cspHash).join("' '") || 'none'}'`,
    `style-src '${cspHash(style)}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    `form-action '${script === undefined ? 'self' : 'none'}'`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const replacements: Readonly<Record<string, string>> = {
    head: `${headOf(contentSecurityPolicy, root)}${hasTheme ? `\n<script>${THEME_SCRIPT}</script>` : ''}`,
    header: headerOf(name, root, hasTheme),
    preview: previewOf(html, root),
    style: `<style>${style}</style>`,
    script: `<script type="module">${script}</script>`,
    widget: widget === undefined ? '' : widgetTag(cspHash(widget), root),
  };
  const composed = html.replace(
    /<!-- (head|header|preview|style|script|widget) -->/g,
    (_, part: string) => replacements[part] ?? '',
  );
  const ancestors = name === FRAMED ? '*' : "'none'";
  return { html: composed, contentSecurityPolicy: `${contentSecurityPolicy}; frame-ancestors ${ancestors}` };
}

/** Loads the widget of this build: its hash is in the policy, and in the URL for caches. */
const widgetTag = (hash: string, root: string): string =>
  `<script src="${root}widget.js?${encodeURIComponent(hash.slice(7, 23))}" integrity="${hash}" async></script>`;

const cspHash = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

const headOf = (policy: string, root: string): string => `<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<meta name="root" content="${root}">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0f1216">
<link rel="icon" href="${ICON}">
<link rel="search" type="application/opensearchdescription+xml" title="slotgate" href="${root}opensearch.xml">`;

/** What programs show of a page that somebody has linked to: its title, its description and a picture. */
function previewOf(html: string, root: string): string {
  const [, title = ''] = /<title>([^<]*)/.exec(html) ?? [];
  const [, description = ''] = /name="description" content="([^"]*)"/.exec(html) ?? [];
  const property = (name: string, content: string): string => `<meta property="og:${name}" content="${content}">`;
  return `${property('title', title)}
${property('description', description)}
${property('image', `${root}card.png`)}
<meta name="twitter:card" content="summary_large_image">`;
}

/** Returns the header that all pages share. Links are relative, so that a proxy may serve the gateway below a prefix. */
function headerOf(current: PageName, root: string, hasTheme: boolean): string {
  const links = PAGES.map(({ name, title, href }) => {
    const isCurrent = name === current ? ' aria-current="page"' : '';
    return `<a href="${root}${href}"${isCurrent}>${title}</a>`;
  });
  return `<a class="skip" href="#content">Skip to content</a>
<header class="site"><div>
<a class="brand" href="${root || './'}"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 3h3v10H2zM6.5 5h3v8h-3zM11 3h3v10h-3z"/></svg>slotgate</a>
<nav aria-label="Pages">${links.join('')}</nav>
<form id="search"${hasTheme ? ' class="beside-theme"' : ''} role="search" action="${root}explorer"><label class="hidden" for="q">Search the cluster</label>
<input id="q" name="q" type="search" maxlength="512" spellcheck="false" autocomplete="off" autocapitalize="off" placeholder="Address, transaction, block, .sol" aria-keyshortcuts="/"><kbd aria-hidden="true">/</kbd></form>
${hasTheme ? '<button id="theme" type="button" aria-label="Theme: auto">◐</button>\n' : ''}</div></header>`;
}
