import { type Child, create } from '../browser/elements.ts';
import { shorten } from '../format/figures.ts';

/** Returns the URL of the explorer for a search text. */
export const explorerHref = (query: string): string => `explorer?q=${encodeURIComponent(query)}`;

export const linkTo = (query: string, text: Child = shorten(query)): HTMLAnchorElement =>
  create('a', { href: explorerHref(query), title: query }, text);

/** Shows an identifier with a button that copies its raw text. */
export const identifier = (id: string): HTMLElement =>
  create('span', { class: 'id' }, create('code', {}, id), ' ', copyButton(id));

export const copyButton = (text: string, label = 'Copy'): HTMLElement =>
  create('button', { type: 'button', 'data-copy': text }, label);
