import type { Result } from '../../client/index.ts';
import { create } from '../browser/elements.ts';
import { figures } from './figures.ts';
import { linkTo } from './links.ts';
import { strangersText } from './names.ts';
import { Part, type Read, type ViewContext } from './part.ts';
import { table } from './tables.ts';

type Row = Result<'/address/:addr/history'>['rows'][number];
type SignatureRow = Extract<Row, { readonly memo: unknown }>;
type NetRow = Extract<Row, { readonly type: 'net' }>;

const SIGNATURES_PER_PAGE = 25;
const TRANSFERS_PER_PAGE = 10;

/** The most characters of a memo that a row shows. */
const MAX_MEMO_CHARACTERS = 80;

export function addHistory({ client, add }: ViewContext, address: string): void {
  const part = new Part('History', 'long');
  add(part);
  const changes = create('button', { type: 'button' }, 'Changes');
  const signatures = create('button', { type: 'button' }, 'Signatures');
  part.addToHeader(create('div', { class: 'tabs', role: 'group', 'aria-label': 'Show' }, signatures, changes));
  const show = (withChanges: boolean): void => {
    changes.setAttribute('aria-pressed', String(withChanges));
    signatures.setAttribute('aria-pressed', String(!withChanges));
    const pages = create('div');
    void part.load((read) => loadPage(read, withChanges, pages));
  };
  changes.addEventListener('click', () => show(true));
  signatures.addEventListener('click', () => show(false));

  async function loadPage(read: Read, withChanges: boolean, pages: HTMLElement, before?: string): Promise<void> {
    const answer = await read(
      client.get('/address/:addr/history', {
        addr: address,
        limit: withChanges ? TRANSFERS_PER_PAGE : SIGNATURES_PER_PAGE,
        ...(withChanges && { type: 'transfers' as const }),
        ...(before !== undefined && { before }),
      }),
    );
    part.prove(answer);
    const { rows, nextBefore } = answer.result;
    pages.append(withChanges ? changeTable(rows) : signatureTable(rows));
    const more = create('button', { type: 'button', class: 'more' }, 'More');
    more.addEventListener('click', () => {
      more.disabled = true;
      void loadPage(read, withChanges, pages, nextBefore ?? '').catch(() => {
        more.disabled = false;
      });
    });
    const isEmpty = rows.length === 0 && before === undefined;
    part.show(isEmpty ? create('p', { class: 'muted' }, 'No transactions.') : pages, nextBefore !== null && more);
  }

  show(false);
}

const signatureTable = (rows: readonly Row[]): HTMLElement =>
  table(
    ['Transaction', 'Time', 'Slot', 'Status', 'Memo'],
    rows
      .filter((row): row is SignatureRow => 'memo' in row)
      .map((row) => [
        linkTo(row.signature),
        create('time', {}, figures.time(row.blockTime)),
        linkTo(String(row.slot), figures.integer(row.slot)),
        status(row.err === null, row.confirmationStatus),
        strangersText(row.memo, MAX_MEMO_CHARACTERS),
      ]),
  );

const changeTable = (rows: readonly Row[]): HTMLElement =>
  table(
    ['Transaction', 'Time', 'Status', { title: 'Change', isNumber: true }],
    rows
      .filter((row): row is NetRow => 'changes' in row)
      .map((row) => [
        linkTo(row.signature),
        create('time', {}, figures.time(row.blockTime)),
        status(row.status === 'success', row.confirmationStatus),
        create(
          'span',
          {},
          ...(row.changes.length === 0 ? ['none'] : []),
          ...row.changes.map(({ uiAmount, symbol, mint, asset }) =>
            create(
              'div',
              { class: uiAmount.startsWith('-') ? 'bad' : 'good' },
              `${uiAmount.startsWith('-') ? '' : '+'}${figures.decimal(uiAmount)} `,
              asset === 'SOL' || mint === null ? (symbol ?? 'SOL') : linkTo(mint, symbol ?? undefined),
            ),
          ),
        ),
      ]),
  );

export const success = (isSuccess: boolean): HTMLElement =>
  create('span', { class: isSuccess ? 'good' : 'bad' }, isSuccess ? '✓ success' : '✗ failed');

/** Shows whether a transaction succeeded, and how certain it is. */
export const status = (isSuccess: boolean, confirmation: string): HTMLElement =>
  create('span', {}, success(isSuccess), create('span', { class: 'muted' }, ` ${confirmation}`));
