import { create } from '../browser/elements.ts';
import type { ViewContext } from './context.ts';
import { figures } from './figures.ts';
import { linkTo } from './links.ts';
import { Part } from './part.ts';
import { facts, table } from './tables.ts';
import { pageButton } from './token-view.ts';

/** Shows a block, and its transactions by page. */
export function showBlock({ client, add }: ViewContext, slot: string): void {
  const block = new Part('Block');
  const list = new Part('Transactions', 'long');
  add(block);
  add(list);
  const readSlot = Number(slot);
  void block.load(async () => {
    const answer = await client.get('/block/:slot', { slot: readSlot });
    block.prove(answer);
    const { result } = answer;
    const { transactions } = result;
    const lamports = (value: number | bigint): string => `${figures.integer(value)} lamports`;
    block.show(
      facts([
        ['Time', figures.time(result.blockTime)],
        ['Parent', linkTo(String(result.parentSlot), figures.integer(result.parentSlot))],
        ['Next', linkTo(String(readSlot + 1), figures.integer(readSlot + 1))],
        ['Height', figures.integer(result.blockHeight)],
        ['Hash', create('code', {}, result.blockhash)],
        ['Leader', result.leader && linkTo(result.leader)],
        [
          'Transactions',
          `${figures.integer(transactions.count)}: ${figures.integer(transactions.nonVoteCount)} without votes, ${figures.integer(transactions.failedCount)} failed`,
        ],
        ['Fees', lamports(transactions.feesLamports)],
        ['Priority fees', lamports(transactions.priorityFeesLamports)],
        ['Tips', lamports(transactions.tipsLamports)],
        [
          'Compute units',
          transactions.computeUnitsConsumed === null ? null : figures.integer(transactions.computeUnitsConsumed),
        ],
      ]),
    );
  });
  const showPage = (page: number): void => {
    void list.load(async () => {
      const answer = await client.get('/block/:slot', { slot: readSlot, signatures: 'all', page });
      list.prove(answer);
      const { listing } = answer.result;
      if (listing === undefined) return list.show(create('p', {}, 'No transactions.'));
      const { items, hasMore, total } = listing;
      list.show(
        table(
          ['Transaction', 'Status', 'Seems to be'],
          items.map((item) => [
            linkTo(item.signature),
            item.status === null
              ? 'unknown'
              : create(
                  'span',
                  { class: item.status === 'success' ? 'good' : 'bad' },
                  item.status === 'success' ? '✓ success' : '✗ failed',
                ),
            create('span', { class: 'chip' }, item.type),
          ]),
        ),
        create(
          'div',
          { class: 'actions more' },
          pageButton('Back', page > 1, () => showPage(page - 1)),
          pageButton('Next', hasMore, () => showPage(page + 1)),
          create('span', { class: 'muted' }, `page ${page}, ${figures.integer(total)} transactions`),
        ),
      );
    });
  };
  showPage(1);
}
