import type { Result } from '../../client/index.ts';
import { create } from '../browser/elements.ts';
import { shorten } from '../format/figures.ts';
import { factEntries } from './account-facts.ts';
import { deploymentFacts } from './deployment.ts';
import { countOf, figures } from './figures.ts';
import { addHistory } from './history-part.ts';
import { identicon } from './identicon.ts';
import { copyButton, linkTo } from './links.ts';
import { knownBadge, TokenLabels, tokenName } from './names.ts';
import { Part, type ViewContext } from './part.ts';
import type { Evidence } from './proofs.ts';
import { facts, filledColumns, rawDetails, shareBar, table } from './tables.ts';

const MANY = 50;

/** The kind of account by which its owner keeps money: of others the fields are of more interest than the balance. */
const WALLET = 'system';

export function showAddress(context: ViewContext, address: string, kind: string | null): void {
  if (kind === null) {
    showUnused(context, address);
    return;
  }
  if (kind === WALLET) {
    context.add(balancePart(context, address), accountPart(context, address));
    addPortfolio(context, address);
  } else context.add(accountPart(context, address));
  addHistory(context, address);
  if (kind === WALLET) addTokenAccounts(context, address);
}

/** Shows an address without an account: tokens and a history need none. */
function showUnused(context: ViewContext, address: string): void {
  const { client, title, add } = context;
  const part = new Part('Account', title.proofs);
  add(part);
  void part.load(async (read) => {
    const [portfolio, history] = await read(
      Promise.all([
        client.get('/address/:addr/portfolio', { addr: address }),
        client.get('/address/:addr/history', { addr: address, limit: 1 }),
      ]),
    );
    part.prove(portfolio);
    const isUsed = portfolio.result.items.length > 0 || history.result.rows.length > 0;
    const rest = isUsed ? '.' : ', no tokens, and no transaction names it.';
    part.show(create('p', {}, `Nothing is stored at this address: it holds no SOL${rest}`));
    if (!isUsed) return;
    addPortfolio(context, address);
    addHistory(context, address);
  });
}

function balancePart({ client, title, whileShown }: ViewContext, address: string): Part {
  const balance = new Part('Balance', title.proofs);
  let shownSlot = 0;
  const showBalance = (answer: Evidence & { readonly result: Result<'/balance/:addr'> }, note: string): void => {
    if (answer.slot < shownSlot) return;
    shownSlot = answer.slot;
    const { sol, lamports } = answer.result;
    balance.show(
      create('div', { class: 'balance' }, `${figures.decimal(sol)} SOL `, copyButton(sol, 'Copy', 'Copy the balance')),
      create('p', { class: 'muted' }, `${countOf(lamports, 'lamport')}${note}`),
    );
    balance.prove(answer);
  };
  void balance.load(async (read) => {
    showBalance(await read(client.get('/balance/:addr', { addr: address })), '');
    whileShown(() => {
      const stream = client.stream(); // it may get no place: then the balance stays the one that was read
      stream.subscribe('balance', address, { onUpdate: (update) => showBalance(update, ', live') });
      return () => stream.close();
    });
  });
  return balance;
}

/** What a parser has made of an account's data. */
interface ParsedData {
  readonly parsed?: { readonly info?: { readonly programData?: unknown } };
}

function accountPart({ client, title }: ViewContext, address: string): Part {
  const account = new Part('Account', title.proofs);
  const request = () => client.get('/account/:addr', { addr: address });
  account.loadAnswer(request, async (shown) => {
    if (shown === null) return [create('p', {}, 'There is no account at this address.')];
    const { info } = (shown.data as ParsedData | null)?.parsed ?? {}; // its form depends on the program
    const programData = info?.programData;
    return [
      facts([
        ...(info === undefined ? [] : factEntries(info)),
        ...(typeof programData === 'string' ? await deploymentFacts(client, programData) : []),
        ['Balance', shown.kind === WALLET ? null : `${figures.decimal(shown.sol)} SOL`],
        ['Owner', linkTo(shown.owner)],
        ['Executable', shown.executable ? 'yes' : 'no'],
        ['Size', countOf(shown.space, 'byte')],
      ]),
      rawDetails('Data', shown.data),
    ];
  });
  return account;
}

type Portfolio = Result<'/address/:addr/portfolio'>;

function addPortfolio({ client, title, add }: ViewContext, address: string): void {
  const part = new Part('Portfolio', title.proofs);
  add(part);
  const request = () => client.get('/address/:addr/portfolio', { addr: address });
  part.loadAnswer(request, ({ items, totalUsd, pricedCount, unpricedCount }) => {
    if (items.length === 0) return [create('p', {}, 'This address holds nothing.')];
    const count = `${pricedCount} ${pricedCount === 1 ? 'asset' : 'assets'}`;
    const unpriced = unpricedCount === 0 ? '' : `, and ${unpricedCount} more of which no price is known`;
    return [
      pricedCount > 0 && create('p', { class: 'hero' }, figures.usd(totalUsd)),
      create('p', { class: 'muted' }, pricedCount === 0 ? 'No price of these is known.' : `${count}${unpriced}`),
      portfolioTable(items),
    ];
  });
}

const portfolioTable = (items: Portfolio['items']): HTMLElement => {
  const columns = filledColumns(
    [
      'Asset',
      { title: 'Amount', isNumber: true },
      { title: 'Price', isNumber: true },
      { title: 'Value', isNumber: true },
      { title: 'Share', isNumber: true },
    ],
    items.map((item) => [
      create(
        'span',
        { class: 'asset' },
        identicon(item.asset === 'SOL' ? '' : item.mint),
        item.asset === 'SOL' ? 'SOL' : linkTo(item.mint, tokenName(item.mint, item) ?? shorten(item.mint)),
        item.asset !== 'SOL' && item.symbol === 'SOL' && item.verified && ' wrapped',
        item.verified && knownBadge(),
        item.suspicious && create('span', { class: 'bad' }, ' its name may mislead: compare the address'),
      ),
      figures.decimal(item.uiAmountString),
      item.priceUsd === null ? '' : figures.usd(item.priceUsd),
      item.valueUsd === null ? '' : figures.usd(item.valueUsd),
      item.share === null ? '' : shareBar(item.share),
    ]),
  );
  return table('Portfolio', ...columns);
};

function addTokenAccounts({ client, title, add }: ViewContext, address: string): void {
  const part = new Part('Token accounts', title.proofs);
  add(part);
  const request = () => client.get('/token-accounts/:owner', { owner: address });
  part.loadAnswer(request, async (rows) => {
    const tokens = new TokenLabels(client);
    await tokens.read(rows.map(({ mint }) => mint));
    if (rows.length === 0) return [create('p', { class: 'muted' }, 'None.')];
    const cells = rows
      .slice(0, MANY)
      .map((row) => [
        linkTo(row.address),
        tokens.of(row.mint),
        figures.decimal(row.tokenAmount.uiAmountString),
        row.state === 'initialized' ? '' : row.state,
      ]);
    return [
      table(
        'Token accounts',
        ...filledColumns(['Account', 'Token', { title: 'Amount', isNumber: true }, 'State'], cells),
      ),
      rows.length > MANY && create('p', { class: 'muted' }, `${rows.length - MANY} more are in the answer.`),
    ];
  });
}
