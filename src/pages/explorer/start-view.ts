import { type Client, type Result, SlotgateError } from '../../client/index.ts';
import { DEMO_ADDRESSES } from '../../shared/domain/demo-addresses.ts';
import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { TOKEN_PROGRAM, VOTE_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { once } from '../../shared/runtime/once.ts';
import { create } from '../browser/elements.ts';
import { decimalOf, wordsOf } from '../format/amounts.ts';
import { figures } from './figures.ts';
import { statusChip } from './history-part.ts';
import { linkedText, linkTo } from './links.ts';
import { Part } from './part.ts';
import { each } from './showing.ts';
import { table } from './tables.ts';
import { chip } from './title.ts';
import type { ViewContext } from './view-context.ts';

type Block = Result<'/block/:slot'>;

/** The slots that are read for the newest blocks, and the transactions that are read for their sentences. */
const SLOTS = 8;
const SENTENCES = 5;

const feeNumbers = new Intl.NumberFormat(figures.language, { maximumSignificantDigits: 2 });

/** The slots after which the block of a slot can be read. */
const BLOCK_DELAY = 2;

/** The time between two reads of the newest block. */
const REFRESH_MS = 5000;

/** A list is replaced by the reason for which it stands still after this number of failures in a row. */
const FAILURES_SHOWN = 2;
/** The codes of a slot that has no block, or none yet. */
const NO_BLOCK = ['slot_skipped', 'block_not_available'];

/** Addresses that may exist, by the words for them. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'Wrapped SOL': WRAPPED_SOL,
  USDC: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  JUP: 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN',
  'Token program': TOKEN_PROGRAM,
  'Vote program': VOTE_PROGRAM,
  ...DEMO_ADDRESSES,
};

/** Shows what there is to see before anybody has searched: blocks, transactions, and examples, all of which exist. */
export function showStart(context: Pick<ViewContext, 'client' | 'title' | 'add' | 'whileShown'>): void {
  const { client, title, add, whileShown } = context;
  const blocks = new Part('Newest blocks', title.proofs);
  const transactions = new Part('Newest transactions', title.proofs);
  const examples = new Part('Try one of these', title.proofs);
  add(blocks, transactions, examples);
  const found: Block[] = [];
  let rowCount: number | undefined;
  const showBlocks = (): void => {
    rowCount ??= found.length;
    found.splice(rowCount); // what is below does not move when there are more
    const rows = found.map(({ slot, leader, transactions: { nonVoteCount, feesLamports } }) => [
      linkTo(String(slot), figures.integer(slot)),
      figures.integer(nonVoteCount),
      feeNumbers.format(Number(decimalOf(feesLamports, 9))),
      leader && linkTo(leader),
    ]);
    const columns = [
      'Slot',
      { title: 'Transactions', isNumber: true },
      { title: 'Fees, SOL', isNumber: true },
      'Leader',
    ] as const;
    const note = create('p', { class: 'muted' }, 'Each 5 s the newest is added. Those between are not shown.');
    blocks.show(table('Newest blocks', columns, rows), note);
  };
  const skipped: number[] = [];
  const readBlocks = once(async () => {
    const newest = (await client.get('/slot')).result - BLOCK_DELAY;
    const slots = Array.from({ length: SLOTS }, (_, at) => newest - at);
    const read = await Promise.allSettled(slots.map((slot) => client.get('/block/:slot', { slot })));
    for (const [at, block] of read.entries()) {
      if (block.status === 'fulfilled') found.push(block.value.result);
      else if (block.reason instanceof SlotgateError && block.reason.code === 'slot_skipped') skipped.push(newest - at);
    }
    const failure = read.find(({ status }) => status === 'rejected');
    if (found.length === 0 && failure?.status === 'rejected') throw failure.reason;
    return found;
  });
  const sentences = once(async () => readSentences(client, await readBlocks()));
  void blocks.load(async (read) => {
    await read(readBlocks());
    showBlocks();
    let failures = 0;
    const refresh = async (): Promise<void> => {
      await readNewest(client, found);
      failures = 0;
      showBlocks();
    };
    const refreshUnlessUsed = (): void => {
      if (blocks.element.matches(':hover')) return; // what somebody is about to open stays where it is
      refresh().catch((thrown: unknown) => {
        if (thrown instanceof SlotgateError && NO_BLOCK.includes(thrown.code)) return; // the next slot may have one
        failures++;
        if (failures === FAILURES_SHOWN) void blocks.load((read) => read(refresh())); // which says why
      });
    };
    whileShown(each(REFRESH_MS, refreshUnlessUsed));
  });
  void transactions.load(async (read) => {
    const rows = (await read(sentences())).map(({ signature, enhanced }) =>
      create(
        'li',
        {},
        create(
          'p',
          {},
          enhanced?.status === 'failed' && 'Failed: ',
          ...linkedText(enhanced?.description ?? 'A transaction that could not be read'),
        ),
        create(
          'p',
          { class: 'muted' },
          linkTo(signature),
          ' ',
          enhanced && chip(wordsOf(enhanced.type)),
          ' ',
          enhanced && statusChip(enhanced.status),
        ),
      ),
    );
    transactions.show(create('ul', { class: 'sentences' }, ...rows));
  });
  void examples.load(async (read) => {
    const addresses = Object.values(EXAMPLES);
    const answer = await read(client.get('/balances', { addresses }));
    examples.prove(answer);
    const held = new Set(answer.result.filter(({ lamports }) => lamports > 0).map(({ address }) => address));
    const list = create('ul', { class: 'examples', 'aria-label': 'Examples' });
    const addExample = (query: string, text: string): void => list.append(create('li', {}, linkTo(query, text)));
    for (const [text, address] of Object.entries(EXAMPLES)) if (held.has(address)) addExample(address, text);
    examples.show(list);
    await read(readBlocks().catch(() => {})); // another part says why
    const [block] = found.slice(-1);
    if (block !== undefined) addExample(String(block.slot), 'A recent block');
    if (skipped[0] !== undefined) addExample(String(skipped[0]), 'A skipped slot');
    const failed = (await read(sentences().catch(() => []))).find(({ enhanced }) => enhanced?.status === 'failed');
    if (failed !== undefined) addExample(failed.signature, 'A failed transaction');
  });
}

/** Reads the newest block, if there is a newer one and somebody sees the page. */
async function readNewest(client: Client, blocks: Block[]): Promise<void> {
  if (document.hidden) return;
  const slot = (await client.get('/slot')).result - BLOCK_DELAY;
  if (slot <= (blocks[0]?.slot ?? 0)) return;
  const block = (await client.get('/block/:slot', { slot })).result;
  if (slot > (blocks[0]?.slot ?? 0)) blocks.unshift(block); // an earlier read may have been slower
}

async function readSentences(client: Client, blocks: readonly Block[]) {
  const signatures = blocks.flatMap(({ transactions }) => transactions.signatures ?? []).slice(0, SENTENCES);
  const read = signatures.map((sig) => client.get('/tx/:sig', { sig, enhanced: '1' }));
  return (await Promise.allSettled(read)).flatMap((each) => (each.status === 'fulfilled' ? [each.value.result] : []));
}
