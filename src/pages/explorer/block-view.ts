import { type Result, SlotgateError } from '../../client/index.ts';
import { type Child, create } from '../browser/elements.ts';
import { decimalOf, wordsOf } from '../format/amounts.ts';
import { formatSpan } from '../format/figures.ts';
import { countOf, figures } from './figures.ts';
import { statusChip } from './history-part.ts';
import { linkTo } from './links.ts';
import { failureWords, Part, type Read } from './part.ts';
import { each } from './showing.ts';
import { facts, mutedText, pager, shareBar, showPages, table } from './tables.ts';
import { chip, timeAgo } from './title.ts';
import type { ViewContext } from './view-context.ts';

export function showBlock(context: ViewContext, slot: string): void {
  const { client, now, title, add, options, setOption, whileShown } = context;
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
  let isAwaited = false;
  let leaders: HTMLElement | undefined; // they never change
  whileShown(each(LOOK_MS, () => isAwaited && !document.hidden && void block.load(show)));
  const show = async (read: Read): Promise<void> => {
    const answer = await read(client.get('/block/:slot', { slot: readSlot })).catch((thrown: unknown) =>
      absenceOf(context, readSlot, thrown, read),
    );
    const showHead = (...chips: readonly Child[]): void =>
      title.show({
        chips: [chip('Block'), ...chips],
        heading: [`Slot ${figures.integer(readSlot)}`],
        below: [neighbours],
      });
    isAwaited = 'isAwaited' in answer && answer.isAwaited;
    if ('isAwaited' in answer) {
      showHead(chip(answer.state));
      const words = create('p', {}, answer.words);
      block.show(words, leaders);
      if (leaders !== undefined) return;
      const turns = await read(client.get('/leaders/:slot', { slot: readSlot })).catch(ignoreRefusal);
      if (turns === undefined) return; // of most epochs no node has a schedule
      block.prove(turns);
      leaders = leaderFacts(turns.result, readSlot);
      block.show(words, leaders);
      return;
    }
    const { result } = answer;
    showHead(chip(wordsOf(result.commitment)), timeAgo(result.blockTime, now, whileShown));
    block.prove(answer);
    block.show(blockFacts(result));
    const list = new Part('Transactions', title.proofs);
    let filter = options.get('show') ?? '';
    const choose = (chosen: string): void => {
      filter = chosen;
      setOption('show', chosen);
    };
    showPages(context, (page, showPage) => {
      const request = () => client.get('/block/:slot', { slot: readSlot, signatures: 'all', page });
      list.loadAnswer(request, ({ listing }) => {
        if (listing === undefined || listing.total === 0) return [create('p', { class: 'muted' }, 'None.')];
        return [
          filteredTable(listing.items, filter, choose),
          pager(page, listing.hasMore, countOf(listing.total, 'transaction'), showPage),
        ];
      });
    });
    add(list);
  };
  void block.load(show);
}

type Item = NonNullable<Result<'/block/:slot'>['listing']>['items'][number];

/** Shows the transactions of a page of a block, or those of them that failed, or are of one type: those that `chosen` names. */
function filteredTable(items: readonly Item[], chosen: string, choose: (filter: string) => void): HTMLElement {
  const rows = create('div');
  const types = [...new Set(items.map(({ type }) => type))];
  const filters: readonly (readonly [name: string, words: string, isShown: (item: Item) => boolean])[] = [
    ['', 'All', () => true],
    ...(items.some(isFailed) ? [['failed', 'Failed', isFailed] as const] : []),
    ...(types.length > 1
      ? types.map((type) => [type, wordsOf(type), (item: Item) => item.type === type] as const)
      : []),
  ];
  const buttons = filters.map(([, words, isShown], at) => {
    const button = create('button', { type: 'button' }, `${words} ${items.filter(isShown).length}`);
    button.addEventListener('click', () => {
      choose(filters[at]?.[0] ?? '');
      show(at);
    });
    return button;
  });
  const show = (shown: number): void => {
    for (const [at, button] of buttons.entries()) button.setAttribute('aria-pressed', String(at === shown));
    const cells = items.filter(filters[shown]?.[2] ?? (() => true)).map(cellsOf);
    rows.replaceChildren(table('Transactions', ['Transaction', 'Status', 'Type', 'Programs'], cells));
  };
  const known = filters.findIndex(([name]) => name === chosen);
  show(Math.max(0, known)); // a page without what was chosen shows all
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
  const {
    count,
    nonVoteCount,
    failedCount,
    feesLamports,
    priorityFeesLamports,
    computeUnitsConsumed: used,
  } = transactions;
  const [fees, priority] = [Number(feesLamports), Number(priorityFeesLamports)]; // for shares alone
  const earned = block.rewardLamports === null ? '' : ` earned ${sol(block.rewardLamports)} SOL`;
  return facts([
    ['Leader', block.leader && create('span', {}, linkTo(block.leader), mutedText(earned))],
    [
      'Transactions',
      `${figures.integer(count)}: ${figures.integer(nonVoteCount)} without votes, ${figures.integer(failedCount)} failed`,
    ],
    [
      'Fees',
      create(
        'span',
        { class: 'list' },
        `${sol(feesLamports)} SOL `,
        fees > 0 && shareBar(1 - priority / fees, `base ${sol(BigInt(feesLamports) - BigInt(priorityFeesLamports))}`),
        fees > 0 && shareBar(priority / fees, `priority ${sol(priorityFeesLamports)}`),
      ),
    ],
    ['Tips', BigInt(transactions.tipsLamports) > 0n && `${sol(transactions.tipsLamports)} SOL`],
    ['Compute units', used === null ? null : figures.integer(used)],
    ['Parent', linkTo(String(block.parentSlot), figures.integer(block.parentSlot))],
    ['Height', figures.integer(block.blockHeight)],
    ['Hash', create('code', {}, block.blockhash)],
  ]);
}

/** Names who leads a slot, and who comes next. */
function leaderFacts(turns: Result<'/leaders/:slot'>, slot: number): HTMLElement {
  const [own, ...next] = turns;
  const turnOf = (turn: typeof own): Child =>
    turn && create('span', {}, linkTo(turn.leader), mutedText(` ${countOf(turn.slot - slot, 'slot')} later`));
  return facts([
    ['Leader', own && linkTo(own.leader)],
    ['Leaders after it', next.length > 0 && create('span', { class: 'list' }, ...next.map(turnOf))],
  ]);
}

function ignoreRefusal(thrown: unknown): undefined {
  if (!(thrown instanceof SlotgateError)) throw thrown;
}

/** The time between two looks for a block that is still to come. */
const LOOK_MS = 10_000;

/** Why a slot has no block to show, and whether it may get one. */
interface Absence {
  readonly state: string;
  readonly words: string;
  readonly isAwaited: boolean;
}

/** What has the gateway's own words: it says how much of the reason it knows. */
const ABSENT_FOR_GOOD: Readonly<Record<string, string>> = { slot_skipped: 'No block', block_pruned: 'Not kept' };

/** Says why a slot has no block. Throws what has another reason. */
async function absenceOf({ client }: ViewContext, slot: number, thrown: unknown, read: Read): Promise<Absence> {
  const code = thrown instanceof SlotgateError ? thrown.code : '';
  const forGood = ABSENT_FOR_GOOD[code];
  if (forGood !== undefined) return { state: forGood, words: `${failureWords(thrown)}.`, isAwaited: false };
  if (code !== 'block_not_available') throw thrown;
  const { slot: newest, slotTimeMs } = (await read(client.get('/network'))).result;
  if (slot <= newest)
    return { state: 'New', words: 'This slot is so new that no node has its block yet.', isAwaited: true };
  const span = formatSpan((slot - newest) * (slotTimeMs ?? 400));
  const words = `This slot is still to come: in about ${span}, ${figures.integer(slot - newest)} slots from now.`;
  return { state: 'To come', words, isAwaited: true };
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
