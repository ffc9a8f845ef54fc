import { type Child, create } from '../browser/elements.ts';
import { formatSentence, shorten } from '../format/figures.ts';
import { figures } from './figures.ts';
import { knownName } from './known-names.ts';
import { qrCode } from './qr-code.ts';
import { squares } from './squares.ts';

/** Returns the URL of the explorer for a search text. */
export const explorerHref = (query: string): string => `explorer?q=${encodeURIComponent(query)}`;

export const linkTo = (query: string, text: Child = knownName(query) ?? shorten(query)): HTMLAnchorElement =>
  create('a', { href: explorerHref(query), title: query }, text);

/** Shows an identifier with a button that copies its raw text. */
export const identifier = (id: string, what: string): HTMLElement =>
  create('span', { class: 'id' }, create('code', {}, id), ' ', copyButton(id, 'Copy', `Copy ${what}`));

/** The margin by which readers find a code, in its squares. */
const QR_MARGIN = 4;

/** Offers an address as a QR code, which a wallet on a phone reads. */
export function qrDetails(address: string): HTMLElement {
  const details = create('details', { class: 'qr' }, create('summary', {}, 'QR code'));
  details.addEventListener(
    'toggle',
    () => {
      const picture = squares(qrCode(address), QR_MARGIN);
      picture.setAttribute('role', 'img');
      picture.setAttribute('aria-label', 'QR code of this address');
      details.append(picture);
    },
    { once: true },
  );
  return details;
}

export function copyButton(text: string, label = 'Copy', name = label): HTMLElement {
  return create('button', { type: 'button', class: 'copy', 'data-copy': text, 'aria-label': name }, label);
}

/** A stranger's text in quotation marks, or an address. */
const QUOTED_OR_ADDRESS = /(“[^”]*”|\b[1-9A-HJ-NP-Za-km-z]{32,44}\b)/;

/** Links each address in a sentence, and groups the digits of its numbers, but for those in a stranger's text. */
export const linkedText = (text: string): readonly Child[] =>
  text.split(QUOTED_OR_ADDRESS).map((part, at) => {
    if (at % 2 === 0) return formatSentence(part, figures);
    return part.startsWith('“') ? part : linkTo(part);
  });
