import type { Result } from '../../client/client.ts';
import { create } from '../browser/elements.ts';
import { shorten } from '../format/figures.ts';
import type { ViewContext } from './context.ts';
import { figures } from './figures.ts';
import { addHistory } from './history-part.ts';
import { copyButton, linkTo } from './links.ts';
import { Part } from './part.ts';
import { facts, table } from './tables.ts';

/** The rows of a list that are shown at first. */
const MANY = 50;

/** Shows an address: its balance as it changes, its account, what it holds, and its history. */
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
  const stream = client.stream();
  onLeave(() => stream.close());
  void balance.load(
    () =>
      new Promise((resolve, reject) => {
        const stop = stream.subscribe('balance', address, {
          onUpdate(update) {
            const { sol, lamports } = update.result;
            balance.show(
              create('div', { class: 'balance' }, `${figures.decimal(sol)} SOL `, copyButton(sol)),
              create('p', { class: 'muted' }, `${figures.integer(lamports)} lamports, live`),
            );
            balance.prove(update);
            resolve();
          },
          onError(error) {
            stop();
            reject(error);
          },
        });
      }),
  );
  void account.load(async () => {
    const answer = await client.get('/account/:addr', { addr: address });
    account.prove(answer);
    const shown = answer.result;
    if (shown === null) return account.show(create('p', {}, 'There is no account at this address.'));
    account.show(
      facts([
        ['Kind', create('span', { class: 'chip' }, shown.kind)],
        ['Owner', linkTo(shown.owner)],
        ['Executable', shown.executable ? 'yes' : 'no'],
        ['Size', `${figures.integer(shown.space)} bytes`],
      ]),
      rawDetails('Data', shown.data),
    );
  });
}

/** Shows JSON behind a summary. */
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
  void part.load(async () => {
    const answer = await client.get('/address/:addr/portfolio', { addr: address });
    part.prove(answer);
    const { items, totalUsd, pricedCount, unpricedCount } = answer.result;
    const total =
      pricedCount === 0
        ? 'No price is known for what this address holds.'
        : `${figures.usd(totalUsd)} in ${pricedCount} priced assets; ${unpricedCount} without a price.`;
    part.show(create('p', {}, total), items.length > 0 && portfolioTable(items));
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
        item.asset === 'SOL' ? 'SOL' : linkTo(item.mint, item.symbol ?? item.name ?? shorten(item.mint)),
        item.verified && create('span', { class: 'good', title: 'on a list of known tokens' }, ' ✓ known'),
        item.suspicious && create('span', { class: 'bad' }, ' looks like a known token, and is another'),
      ),
      figures.decimal(item.uiAmountString),
      figures.usd(item.priceUsd),
      figures.usd(item.valueUsd),
    ]),
  );

function addTokenAccounts({ client, add }: ViewContext, address: string): void {
  const part = new Part('Token accounts');
  add(part);
  void part.load(async () => {
    const answer = await client.get('/token-accounts/:owner', { owner: address });
    part.prove(answer);
    const rows = answer.result;
    if (rows.length === 0) return part.show(create('p', { class: 'muted' }, 'None.'));
    const shown = rows.slice(0, MANY);
    part.show(
      table(
        ['Account', 'Mint', 'State', { title: 'Amount', isNumber: true }],
        shown.map((row) => [
          linkTo(row.address),
          linkTo(row.mint),
          row.state,
          figures.decimal(row.tokenAmount.uiAmountString),
        ]),
      ),
      rows.length > MANY && create('p', { class: 'muted' }, `${rows.length - MANY} more are in the answer.`),
    );
  });
}
