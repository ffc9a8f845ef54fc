import { type Child, create } from '../browser/elements.ts';

export type Column = string | { readonly title: string; readonly isNumber: true };

const titleOf = (column: Column): string => (typeof column === 'string' ? column : column.title);

export function table(columns: readonly Column[], rows: readonly (readonly Child[])[]): HTMLElement {
  const classOf = (at: number): Readonly<Record<string, string>> =>
    typeof columns[at] === 'object' ? { class: 'number' } : {};
  const head = create(
    'tr',
    {},
    ...columns.map((column, at) => create('th', { scope: 'col', ...classOf(at) }, titleOf(column))),
  );
  const body = create('tbody', {}, ...rows.map((cells) => row(cells, classOf)));
  return create(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Table' },
    create('table', {}, create('thead', {}, head), body),
  );
}

const row = (cells: readonly Child[], classOf: (at: number) => Readonly<Record<string, string>>): HTMLElement =>
  create('tr', {}, ...cells.map((cell, at) => create('td', classOf(at), cell)));

export function pager(page: number, hasMore: boolean, total: string, showPage: (page: number) => void): HTMLElement {
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
    create('span', { class: 'muted' }, `page ${page}${total}`),
  );
}

export const facts = (entries: readonly (readonly [name: string, value: Child])[]): HTMLElement =>
  create(
    'dl',
    { class: 'facts' },
    ...entries
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .flatMap(([name, value]) => [create('dt', {}, name), create('dd', {}, value)]),
  );
