import { create } from '../browser/elements.ts';
import { rawDetails } from './address-view.ts';
import { figures } from './figures.ts';
import { status } from './history-part.ts';
import { linkTo } from './links.ts';
import { Part, type ViewContext } from './part.ts';
import { facts, table } from './tables.ts';

/** What the page uses of a transaction as a node writes it. */
interface NodeRecord {
  readonly meta: {
    readonly err: unknown;
    readonly fee: number | bigint;
    readonly logMessages?: readonly string[] | null;
  } | null;
}

export function showTransaction({ client, add }: ViewContext, signature: string): void {
  const meaning = new Part('What it did');
  const record = new Part('Transaction', 'long');
  add(meaning);
  add(record);
  const get = () => client.get('/tx/:sig', { sig: signature, enhanced: '1' });
  let reading: ReturnType<typeof get> | undefined;
  const readOnce = () => {
    reading ??= get().catch((thrown) => {
      reading = undefined;
      throw thrown;
    });
    return reading;
  };
  meaning.loadAnswer(readOnce, ({ enhanced }) => {
    if (!enhanced) return [create('p', {}, 'Its record could not be read as a transaction.')];
    return [
      create('p', { class: 'sentence' }, enhanced.description),
      create('p', {}, create('span', { class: 'chip' }, enhanced.type)),
      enhanced.tokenTransfers.length > 0 &&
        table(
          ['From', 'To', 'Mint', { title: 'Amount', isNumber: true }],
          enhanced.tokenTransfers.map((transfer) => [
            transfer.fromUserAccount && linkTo(transfer.fromUserAccount),
            transfer.toUserAccount && linkTo(transfer.toUserAccount),
            linkTo(transfer.mint),
            figures.decimal(transfer.uiAmount),
          ]),
        ),
    ];
  });
  record.loadAnswer(readOnce, (result) => {
    const { meta } = result as unknown as NodeRecord; // a node wrote it, whose form the declaration leaves open
    return [
      facts([
        ['Status', status(meta?.err === null, result.confirmationStatus)],
        ['Time', figures.time(result.blockTime)],
        ['Slot', linkTo(String(result.slot), figures.integer(result.slot))],
        ['Fee', meta && `${figures.integer(meta.fee)} lamports`],
        ['Version', result.version === null ? null : String(result.version)],
      ]),
      rawDetails('Record', { transaction: result.transaction, meta: result.meta }),
      (meta?.logMessages?.length ?? 0) > 0 && rawDetails('Log', meta?.logMessages),
    ];
  });
}
