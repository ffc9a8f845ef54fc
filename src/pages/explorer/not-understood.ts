import { create } from '../browser/elements.ts';
import { explorerHref } from './links.ts';

/** Shows what to do about a search that the gateway can't read. */
export const notUnderstood = (query: string) => [
  create(
    'p',
    {},
    'We can’t read that as an address, transaction, slot, epoch or .sol name, and it is no ticker that we know.',
  ),
  create('p', { class: 'muted' }, mistakeIn(query)),
  create('a', { class: 'button', href: explorerHref('') }, 'See what is on the cluster'),
];

/** Says what may be wrong with a text that was to be an address or a transaction. */
function mistakeIn(text: string): string {
  const sizes = 'An address has 32 to 44 letters and digits, a transaction 86 to 88';
  if (!/^[0-9A-Za-z]{20,}$/.test(text)) return `${sizes}.`;
  const [foreign] = /[0OIl]/.exec(text) ?? [];
  return foreign === undefined ? `${sizes}: this has ${text.length}.` : `None of them has a ${foreign}, as this has.`;
}
