import type { Result } from '../../client/index.ts';
import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { type Child, create, setText } from '../browser/elements.ts';
import { figures, timeOf } from './figures.ts';
import { linkedText, linkTo } from './links.ts';
import { strangersText, TokenLabels } from './names.ts';
import { failureWords, Part, type Read } from './part.ts';
import { each } from './showing.ts';
import { mutedText, table } from './tables.ts';
import { chip } from './title.ts';
import type { ViewContext } from './view-context.ts';

type Row = Result<'/address/:addr/history'>['rows'][number];
type SignatureRow = Extract<Row, { readonly memo: unknown }>;
type NetRow = Extract<Row, { readonly type: 'net' }>;

const SIGNATURES_PER_PAGE = 25;
const TRANSFERS_PER_PAGE = 10;

/** The most characters of a memo that a row shows. */
const MAX_MEMO_CHARACTERS = 80;

/** What a node writes before each memo: `[5] hello; [3] abc`. */
const MEMO_LENGTHS = /(^|; )\[\d+\] /g;

/** The time between two looks for what is new. */
const LOOK_MS = 10_000;

export function addHistory(context: ViewContext, address: string): void {
  const { client, title, add, options, setOption, whileShown } = context;
  const part = new Part('History', title.proofs);
  add(part);
  const changes = create('button', { type: 'button' }, 'Changes');
  const signatures = create('button', { type: 'button' }, 'Signatures');
  const fresh = create('button', { type: 'button', class: 'fresh', hidden: '' });
  part.addToHeader(create('div', { class: 'tabs', role: 'group', 'aria-label': 'Show' }, fresh, signatures, changes));
  /** The newest transaction that is shown, empty for none; undefined before the first answer. */
  let newest: string | undefined;
  const tokens = new TokenLabels(client);
  const isChanges = (): boolean => changes.getAttribute('aria-pressed') === 'true';
  const show = (withChanges: boolean): void => {
    fresh.hidden = true;
    changes.setAttribute('aria-pressed', String(withChanges));
    signatures.setAttribute('aria-pressed', String(!withChanges));
    const pages = create('div');
    if (newest === undefined)
      part.show(create('p', { class: 'muted' }, `Loading ${withChanges ? 'changes' : 'signatures'}…`));
    void part.load((read) => loadPage(read, withChanges, pages));
  };
  const choose = (withChanges: boolean): void => {
    setOption('view', withChanges ? 'changes' : '');
    show(withChanges);
  };
  const look = async (): Promise<void> => {
    if (document.hidden || newest === undefined) return;
    const known = newest;
    const request = { addr: address, limit: SIGNATURES_PER_PAGE };
    const { rows, nextBefore } = (await client.get('/address/:addr/history', request)).result;
    const at = rows.findIndex(({ signature }) => signature === known);
    if (known !== newest || at === 0 || rows.length === 0) return;
    setText(fresh, `${at < 0 ? rows.length : at}${at < 0 && nextBefore !== null ? '+' : ''} new`);
    fresh.hidden = false;
  };
  whileShown(each(LOOK_MS, () => void look().catch(() => {}))); // the next look tries again
  fresh.addEventListener('click', () => show(isChanges()));
  changes.addEventListener('click', () => choose(true));
  signatures.addEventListener('click', () => choose(false));

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
    if (before === undefined) newest = rows[0]?.signature ?? '';
    const netRows = rows.filter((row): row is NetRow => 'changes' in row);
    const unnamed = netRows.flatMap(({ changes }) => changes).filter(({ symbol }) => symbol === null);
    if (unnamed.length > 0) await read(tokens.read(unnamed.map(({ mint }) => mint ?? WRAPPED_SOL)));
    const added = withChanges ? changeTable(netRows, tokens) : signatureTable(rows);
    const isAtMore = document.activeElement?.classList.contains('more') === true;
    pages.append(added);
    const more = create('button', { type: 'button', class: 'more' }, 'More');
    const failure = create('p', { class: 'failed', role: 'alert' });
    more.addEventListener('click', () => {
      if (more.ariaDisabled === 'true') return;
      more.ariaDisabled = 'true'; // one that is disabled would lose the focus
      failure.remove();
      loadPage(read, withChanges, pages, nextBefore ?? '').catch((thrown) => {
        more.ariaDisabled = null;
        setText(more, 'Try again');
        setText(failure, failureWords(thrown));
        more.before(failure);
      });
    });
    const isEmpty = rows.length === 0 && before === undefined;
    part.show(isEmpty ? create('p', { class: 'muted' }, 'No transactions.') : pages, nextBefore !== null && more);
    if (isAtMore) (nextBefore === null ? added : more).focus();
  }

  show(options.get('view') === 'changes');
}

const signatureTable = (rows: readonly Row[]): HTMLElement =>
  table(
    'Signatures',
    ['Transaction', 'Status', 'Time', 'Slot', 'Memo'],
    rows
      .filter((row): row is SignatureRow => 'memo' in row)
      .map((row) => [
        linkTo(row.signature),
        statusOf(row.err === null ? 'success' : 'failed', row.confirmationStatus),
        create('time', {}, timeOf(row.blockTime)),
        linkTo(String(row.slot), figures.integer(row.slot)),
        memoOf(row),
      ]),
  );

/** What a node writes of bytes that are no text; as a memo it would have 12. */
const NO_TEXT = /(^|; )\[(?!12\])\d+\] \(unparsable\)(?=; \[|$)/g;

function memoOf({ memo }: SignatureRow): Child {
  const texts = memo?.replace(NO_TEXT, '').replace(/^; /, '');
  const words = strangersText(texts?.replace(MEMO_LENGTHS, '$1'), MAX_MEMO_CHARACTERS);
  return texts === '' || words?.textContent.includes('\ufffd') ? mutedText('not text') : words;
}

const changeTable = (rows: readonly NetRow[], tokens: TokenLabels): HTMLElement =>
  table(
    'Changes',
    ['What', { title: 'Change', isNumber: true }, 'Status', 'Time', 'Transaction'],
    rows.map((row) => [
      row.description === null ? mutedText('–') : create('div', { class: 'words' }, ...linkedText(row.description)),
      create(
        'span',
        {},
        ...(row.changes.length === 0 ? ['none'] : []),
        ...row.changes.map(({ uiAmount, symbol, mint, asset }) =>
          create(
            'div',
            { class: uiAmount.startsWith('-') ? 'bad' : 'good' },
            `${uiAmount.startsWith('-') ? '' : '+'}${figures.decimal(uiAmount)} `,
            asset === 'SOL' || mint === null
              ? (symbol ?? 'SOL')
              : symbol === null
                ? tokens.of(mint)
                : linkTo(mint, symbol),
          ),
        ),
      ),
      statusOf(row.status, row.confirmationStatus),
      create('time', {}, timeOf(row.blockTime)),
      linkTo(row.signature),
    ]),
  );

type Status = 'success' | 'failed' | null;

/** Shows whether a transaction succeeded, as far as its record says so. */
export function statusChip(status: Status): HTMLElement {
  if (status === null) return chip('Outcome unknown');
  return status === 'success' ? chip('✓ Success', 'good') : chip('✗ Failed', 'bad');
}

/** Shows whether a transaction succeeded, and how certain it is. */
const statusOf = (status: Status, confirmation: string): HTMLElement =>
  create('span', {}, statusChip(status), create('span', { class: 'muted' }, ` ${confirmation}`));
