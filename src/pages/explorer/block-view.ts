import { type Result, SlotgateError } from '../../client/index.ts';
import { create } from '../browser/elements.ts';
import { decimalOf, wordsOf } from '../format/amounts.ts';
import { formatSpan } from '../format/figures.ts';
import { countOf, figures } from './figures.ts';
import { statusChip } from './history-part.ts';
import { linkTo } from './links.ts';
import { Part, type Read, type ViewContext } from './part.ts';
import { facts, pager, table } from './tables.ts';
import { chip } from './title.ts';

export function showBlock(context: ViewContext, slot: string): void {
  const { client, title, add, options, setOption } = context;
  const block = new Part('Block', title.proofs);
  add(block);
  const readSlot = Number(slot);
  const neighbours = create(
    'nav',
    { class: 'actions', 'aria-label': 'Slots beside it' },
    linkTo(String(Math.max(0, readSlot - 1)), '← Slot before'),
    linkTo(String(readSlot + 1), 'Slot after →'),
  );
  followArrowKeys(neighbours, context);
  void block.load(async (read) => {
    const answer = await read(client.get('/block/:slot', { slot: readSlot })).catch((thrown: unknown) =>
      absenceOf(context, readSlot, thrown, read),
    );
    if (typeof answer === 'string') {
      block.show(create('p', {}, answer), neighbours);
      return;
    }
    const { result } = answer;
    title.show({
      chips: [
        chip('Block'),
        chip(wordsOf(result.commitment)),
        create('time', { class: 'muted' }, figures.time(result.blockTime)),
      ],
      heading: [`Slot ${figures.integer(readSlot)}`],
      below: [neighbours],
    });
    block.prove(answer);
    block.show(blockFacts(answer.result));
    const list = new Part('Transactions', title.proofs);
    const showPage = (page: number): void => {
      setOption('page', page === 1 ? '' : String(page));
      const request = () => client.get('/block/:slot', { slot: readSlot, signatures: 'all', page });
      list.loadAnswer(request, ({ listing }) => {
        if (listing === undefined || listing.total === 0) return [create('p', { class: 'muted' }, 'None.')];
        return [
          filteredTable(listing.items),
          pager(page, listing.hasMore, countOf(listing.total, 'transaction'), showPage),
        ];
      });
    };
    showPage(Number(options.get('page') ?? 1));
    add(list);
  });
}

type Item = NonNullable<Result<'/block/:slot'>['listing']>['items'][number];

/** Shows the transactions of a page of a block, or those of them that failed, or are of one type. */
function filteredTable(items: readonly Item[]): HTMLElement {
  const rows = create('div');
  const types = [...new Set(items.map(({ type }) => type))];
  const filters: readonly (readonly [words: string, isShown: (item: Item) => boolean])[] = [
    ['All', () => true],
    ...(items.some(isFailed) ? [['Failed', isFailed] as const] : []),
    ...(types.length > 1 ? types.map((type) => [wordsOf(type), (item: Item) => item.type === type] as const) : []),
  ];
  const buttons = filters.map(([words, isShown]) => {
    const shown = items.filter(isShown);
    const button = create('button', { type: 'button' }, `${words} ${shown.length}`);
    const show = (): void => {
      for (const each of buttons) each.setAttribute('aria-pressed', String(each === button));
      rows.replaceChildren(table('Transactions', ['Transaction', 'Status', 'Type', 'Programs'], shown.map(cellsOf)));
    };
    button.addEventListener('click', show);
    return button;
  });
  buttons[0]?.click();
  const group = create('div', { class: 'tabs', role: 'group', 'aria-label': 'Show of this page' }, ...buttons);
  return create('div', {}, buttons.length > 1 && group, rows);
}

const isFailed = ({ status }: Item): boolean => status !== null && status !== 'success';

const cellsOf = ({ signature, status, type, programs }: Item) => [
  linkTo(signature),
  statusChip(status),
  chip(wordsOf(type)),
  create('span', { class: 'list' }, ...programs.slice(0, 3).map((program) => linkTo(program))),
];

function blockFacts({ transactions, ...block }: Result<'/block/:slot'>): HTMLElement {
  const sol = (value: number | bigint): string => figures.decimal(decimalOf(value, 9));
  const { count, nonVoteCount, failedCount, computeUnitsConsumed: used } = transactions;
  return facts([
    ['Leader', block.leader && linkTo(block.leader)],
    [
      'Transactions',
      `${figures.integer(count)}: ${figures.integer(nonVoteCount)} without votes, ${figures.integer(failedCount)} failed`,
    ],
    [
      'Fees',
      `${sol(transactions.feesLamports)} SOL · of these ${sol(transactions.priorityFeesLamports)} for priority · tips ${sol(transactions.tipsLamports)}`,
    ],
    ['Compute units', used === null ? null : figures.integer(used)],
    ['Parent', linkTo(String(block.parentSlot), figures.integer(block.parentSlot))],
    ['Height', figures.integer(block.blockHeight)],
    ['Hash', create('code', {}, block.blockhash)],
  ]);
}

/** Says why a slot has no block to show. Throws what has another reason. */
async function absenceOf({ client }: ViewContext, slot: number, thrown: unknown, read: Read): Promise<string> {
  const code = thrown instanceof SlotgateError ? thrown.code : undefined;
  if (code === 'slot_skipped') return 'Its leader skipped this slot: it has no block, and never will.';
  if (code === 'block_pruned') return 'This block is older than what the nodes of this gateway keep.';
  if (code !== 'block_not_available') throw thrown;
  const { slot: newest, slotTimeMs } = (await read(client.get('/network'))).result;
  if (slot <= newest) return 'This slot is so new that no node has its block yet. Try again in a moment.';
  const inMs = (slot - newest) * (slotTimeMs ?? 400);
  return `This slot is still to come: in about ${formatSpan(inMs)}, ${figures.integer(slot - newest)} slots from now.`;
}

/** Opens the slot before or after by the arrow keys, unless somebody types. */
function followArrowKeys(links: HTMLElement, { whileShown }: ViewContext): void {
  const onKey = (event: KeyboardEvent): void => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    const at = ['ArrowLeft', 'ArrowRight'].indexOf(event.key);
    const isElsewhere =
      event.target instanceof Element && event.target.closest('input, select, textarea, .scroll, pre');
    if (isPlain && at >= 0 && !isElsewhere) links.querySelectorAll('a')[at]?.click();
  };
  whileShown(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}
