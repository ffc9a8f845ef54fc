import { create } from '../browser/elements.ts';
import { figures } from './figures.ts';
import { success } from './history-part.ts';
import { linkTo } from './links.ts';
import { Part, type ViewContext } from './part.ts';
import { facts, pager, table } from './tables.ts';

export function showBlock({ client, add }: ViewContext, slot: string): void {
  const block = new Part('Block');
  const list = new Part('Transactions', 'long');
  add(block);
  add(list);
  const readSlot = Number(slot);
  const lamports = (value: number | bigint): string => `${figures.integer(value)} lamports`;
  const request = () => client.get('/block/:slot', { slot: readSlot });
  block.loadAnswer(request, ({ transactions, ...result }) => [
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
  ]);
  const showPage = (page: number): void => {
    const requestPage = () => client.get('/block/:slot', { slot: readSlot, signatures: 'all', page });
    list.loadAnswer(requestPage, ({ listing }) => {
      if (listing === undefined) return [create('p', {}, 'No transactions.')];
      const { items, hasMore, total } = listing;
      return [
        table(
          ['Transaction', 'Status', 'Seems to be'],
          items.map((item) => [
            linkTo(item.signature),
            item.status === null ? 'unknown' : success(item.status === 'success'),
            create('span', { class: 'chip' }, item.type),
          ]),
        ),
        pager(page, hasMore, `, ${figures.integer(total)} transactions`, showPage),
      ];
    });
  };
  showPage(1);
}
