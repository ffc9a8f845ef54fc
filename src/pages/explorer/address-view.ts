import type { Result } from '../../client/index.ts';
import { create } from '../browser/elements.ts';
import { shorten } from '../format/figures.ts';
import { figures } from './figures.ts';
import { addHistory } from './history-part.ts';
import { copyButton, linkTo } from './links.ts';
import { knownBadge, tokenName } from './names.ts';
import { type Evidence, Part, type ViewContext } from './part.ts';
import { facts, table } from './tables.ts';

const MANY = 50;

export function showAddress(context: ViewContext, address: string): void {
  addBalance(context, address);
  addPortfolio(context, address);
  addHistory(context, address);
  addTokenAccounts(context, address);
}

function addBalance({ client, add, onLeave }: ViewContext, address: string): void {
  const balance = new Part('Balance');
  const account = new Part('Account');
  add(balance, account);
  let isLeft = false;
  onLeave(() => {
    isLeft = true;
  });
  let shownSlot = 0;
  const showBalance = (answer: Evidence & { readonly result: Result<'/balance/:addr'> }, note: string): void => {
    if (answer.slot < shownSlot) return;
    shownSlot = answer.slot;
    const { sol, lamports } = answer.result;
    balance.show(
      create('div', { class: 'balance' }, `${figures.decimal(sol)} SOL `, copyButton(sol)),
      create('p', { class: 'muted' }, `${figures.integer(lamports)} lamports${note}`),
    );
    balance.prove(answer);
  };
  void balance.load(async (read) => {
    showBalance(await read(client.get('/balance/:addr', { addr: address })), '');
    if (isLeft) return;
    const stream = client.stream(); // it may get no place: then the balance stays the one that was read
    onLeave(() => stream.close());
    stream.subscribe('balance', address, { onUpdate: (update) => showBalance(update, ', live') });
  });
  account.loadAnswer(
    () => client.get('/account/:addr', { addr: address }),
    (shown) =>
      shown === null
        ? [create('p', {}, 'There is no account at this address.')]
        : [
            facts([
              ['Kind', create('span', { class: 'chip' }, shown.kind)],
              ['Owner', linkTo(shown.owner)],
              ['Executable', shown.executable ? 'yes' : 'no'],
              ['Size', `${figures.integer(shown.space)} bytes`],
            ]),
            rawDetails('Data', shown.data),
          ],
  );
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
  JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}` : member), 2);

type Portfolio = Result<'/address/:addr/portfolio'>;

function addPortfolio({ client, add }: ViewContext, address: string): void {
  const part = new Part('Portfolio', 'long');
  add(part);
  const request = () => client.get('/address/:addr/portfolio', { addr: address });
  part.loadAnswer(request, ({ items, totalUsd, pricedCount, unpricedCount }) => {
    const total =
      pricedCount === 0
        ? 'No price is known for what this address holds.'
        : `${figures.usd(totalUsd)} in ${pricedCount} priced assets; ${unpricedCount} without a price.`;
    return [create('p', {}, total), items.length > 0 && portfolioTable(items)];
  });
}

const portfolioTable = (items: Portfolio['items']): HTMLElement =>
  table(
    [
      'Asset',
      { title: 'Amount', isNumber: true },
      { title: 'Price', isNumber: true },
      { title: 'Value', isNumber: true },
    ],
    items.map((item) => [
      create(
        'span',
        {},
        item.asset === 'SOL' ? 'SOL' : linkTo(item.mint, tokenName(item.mint, item) ?? shorten(item.mint)),
        item.verified && knownBadge(),
        item.suspicious && create('span', { class: 'bad' }, ' its name may mislead: compare the address'),
      ),
      figures.decimal(item.uiAmountString),
      figures.usd(item.priceUsd),
      figures.usd(item.valueUsd),
    ]),
  );

function addTokenAccounts({ client, add }: ViewContext, address: string): void {
  const part = new Part('Token accounts');
  add(part);
  const request = () => client.get('/token-accounts/:owner', { owner: address });
  part.loadAnswer(request, (rows) => {
    if (rows.length === 0) return [create('p', { class: 'muted' }, 'None.')];
    const cells = rows
      .slice(0, MANY)
      .map((row) => [
        linkTo(row.address),
        linkTo(row.mint),
        row.state,
        figures.decimal(row.tokenAmount.uiAmountString),
      ]);
    return [
      table(['Account', 'Mint', 'State', { title: 'Amount', isNumber: true }], cells),
      rows.length > MANY && create('p', { class: 'muted' }, `${rows.length - MANY} more are in the answer.`),
    ];
  });
}
