import { visibleText } from '../../shared/domain/visible-text.ts';
import { type Child, create } from '../browser/elements.ts';
import { decimalOf } from '../format/amounts.ts';
import { shorten } from '../format/figures.ts';
import { figures } from './figures.ts';
import { copyButton } from './links.ts';
import type { ViewContext } from './view-context.ts';

export type Column = string | { readonly title: string; readonly isNumber: true };

/** The least length of what a row can be copied by: an address, a signature. */
const ADDRESS_CHARACTERS = 32;

const titleOf = (column: Column): string => (typeof column === 'string' ? column : column.title);

/** Shows rows; on a narrow screen each is a card, on which the cells have the titles of their columns. */
export function table(name: string, columns: readonly Column[], rows: readonly (readonly Child[])[]): HTMLElement {
  const attributesOf = (at: number): Readonly<Record<string, string>> =>
    typeof columns[at] === 'object' ? { class: 'number' } : {};
  const head = create(
    'tr',
    {},
    ...columns.map((column, at) => create('th', { scope: 'col', ...attributesOf(at) }, titleOf(column))),
  );
  const subject = Math.max(0, columns.indexOf('Transaction'));
  const cellOf = (cell: Child, at: number): HTMLElement =>
    create(
      'td',
      { ...attributesOf(at), 'data-title': titleOf(columns[at] ?? '') },
      at === subject && cell instanceof HTMLAnchorElement && cell.title.length >= ADDRESS_CHARACTERS
        ? create('span', {}, cell, copyButton(cell.title, '', `Copy ${shorten(cell.title)}`))
        : cell,
    );
  const body = create('tbody', {}, ...rows.map((cells) => create('tr', {}, ...cells.map(cellOf))));
  return create(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': name },
    create('table', { 'aria-label': name }, create('thead', {}, head), body),
  );
}

/** Leaves out the columns in which no row has anything. */
export function filledColumns(
  columns: readonly Column[],
  rows: readonly (readonly Child[])[],
): readonly [columns: readonly Column[], rows: readonly (readonly Child[])[]] {
  const isFilled = columns.map((_, at) => rows.some((cells) => Boolean(cells[at])));
  return [columns.filter((_, at) => isFilled[at]), rows.map((cells) => cells.filter((_, at) => isFilled[at]))];
}

/** Leads from page to page; of an only page it shows just how many there are. */
export function pager(page: number, hasMore: boolean, total: string, showPage: (page: number) => void): HTMLElement {
  if (page === 1 && !hasMore) return create('p', { class: 'muted' }, total);
  const pageButton = (text: string, isEnabled: boolean, to: number): HTMLElement => {
    const button = create('button', { type: 'button' }, text);
    button.disabled = !isEnabled;
    button.addEventListener('click', () => showPage(to));
    return button;
  };
  const [back, next] = [pageButton('Back', page > 1, page - 1), pageButton('Next', hasMore, page + 1)];
  return create(
    'div',
    { class: 'actions more' },
    back,
    next,
    create('span', { class: 'muted' }, [`page ${page}`, total].filter(Boolean).join(', ')),
  );
}

/** Loads the page of a list that the URL names, and from then on writes there which one is shown. */
export function showPages(
  { options, setOption }: Pick<ViewContext, 'options' | 'setOption'>,
  load: (page: number, showPage: (page: number) => void) => void,
): void {
  const showPage = (page: number): void => {
    setOption('page', page === 1 ? '' : String(page));
    load(page, showPage);
  };
  showPage(Math.max(1, Math.floor(Number(options.get('page'))) || 1));
}

export type Fact = readonly [name: string, value: Child];

export const facts = (entries: readonly Fact[]): HTMLElement =>
  create(
    'dl',
    { class: 'facts' },
    ...entries
      .filter(([, value]) => Boolean(value))
      .flatMap(([name, value]) => [create('dt', {}, name), create('dd', {}, value)]),
  );

/** Shows a signed amount of smallest units in its colour, and what it is worth. */
export function amountOf(amount: string | bigint, decimals: number, token: Child, worth = ''): HTMLElement {
  const isGiven = BigInt(amount) < 0n;
  const written = `${isGiven ? '' : '+'}${figures.decimal(decimalOf(amount, decimals))} `;
  return create('span', { class: `amount ${isGiven ? 'bad' : 'good'}` }, written, token, mutedText(worth));
}

export const mutedText = (text: string): Child => text !== '' && create('span', { class: 'muted' }, text);

/** Draws a share from 0 to 1, with its figure or other words for it. */
export function shareBar(share: number, words = figures.percent(share)): HTMLElement {
  const bar = create('span', { class: 'share' }, words);
  bar.style.setProperty('--share', `${Math.min(1, share) * 100}%`);
  return bar;
}

export function rawDetails(title: string, value: unknown): HTMLElement {
  const pre = create('pre', { tabindex: '0' });
  const details = create('details', { class: 'raw' }, create('summary', {}, title), pre);
  details.addEventListener('toggle', () => {
    if (pre.textContent === '') pre.textContent = toText(value);
  });
  return details;
}

const toText = (value: unknown): string =>
  visibleText(JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}` : member), 2));
