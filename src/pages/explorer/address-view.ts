import type { Result } from '../../client/index.ts';
import { type Child, create } from '../browser/elements.ts';
import { shorten } from '../format/figures.ts';
import { factEntries } from './account-facts.ts';
import { deploymentFacts } from './deployment.ts';
import { countOf, figures } from './figures.ts';
import { addHistory } from './history-part.ts';
import { identicon } from './identicon.ts';
import { WALLET } from './known-names.ts';
import { copyButton, linkTo } from './links.ts';
import { knownBadge, strangersText, TokenLabels, tokenName } from './names.ts';
import { Part } from './part.ts';
import type { Evidence } from './proofs.ts';
import { facts, filledColumns, rawDetails, shareBar, table } from './tables.ts';
import type { ViewContext } from './view-context.ts';

const MANY = 50;

export function showAddress(context: ViewContext, address: string, kind: string | null): void {
  if (kind === null) {
    showUnused(context, address);
    return;
  }
  if (kind === WALLET) {
    let compare = (_balance: BalanceAnswer): void => {};
    context.add(
      balancePart(context, address, (balance) => compare(balance)),
      accountPart(context, address),
    );
    compare = addPortfolio(context, address);
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

type BalanceAnswer = Evidence & { readonly result: Result<'/balance/:addr'> };

function balancePart(
  { client, title, whileShown }: ViewContext,
  address: string,
  onBalance: (balance: BalanceAnswer) => void,
): Part {
  const balance = new Part('Balance', title.proofs);
  let shown: BalanceAnswer | undefined;
  const showBalance = (answer: BalanceAnswer, note: string): void => {
    if (answer.slot < (shown?.slot ?? 0)) return;
    shown = answer;
    const { sol, lamports } = answer.result;
    balance.show(
      create('div', { class: 'balance' }, `${figures.decimal(sol)} SOL `, copyButton(sol, 'Copy', 'Copy the balance')),
      create('p', { class: 'muted' }, `${countOf(lamports, 'lamport')}${note}`),
    );
    balance.prove(answer);
    onBalance(answer);
  };
  void balance.load(async (read) => {
    showBalance(await read(client.get('/balance/:addr', { addr: address })), '');
    whileShown(() => {
      // it may get no place: then the balance stays the one that was read
      const showOld = (): void => {
        if (shown !== undefined) showBalance(shown, '');
      };
      const stream = client.stream({
        interval: 10_000, // of frames, which nothing shows
        onState(state) {
          if (state === 'waiting' || state === 'ended') showOld();
        },
      });
      stream.subscribe('balance', address, {
        onUpdate: (update) => showBalance(update, ', live'),
        onError: showOld,
      });
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

/** Shows all that an address holds. What it returns compares the balance in it with a newer one, and offers to read all again. */
function addPortfolio({ client, title, add }: ViewContext, address: string): (balance: BalanceAnswer) => void {
  const part = new Part('Portfolio', title.proofs);
  add(part);
  const again = create('button', { type: 'button', class: 'fresh', hidden: '' }, 'Changed: read again');
  part.addToHeader(create('div', { class: 'tabs' }, again));
  let shown: string | undefined;
  let newest: BalanceAnswer | undefined;
  const compare = (balance: BalanceAnswer | undefined): void => {
    newest = balance;
    again.hidden = shown === undefined || balance === undefined || shown === balance.result.sol;
  };
  const request = () => client.get('/address/:addr/portfolio', { addr: address }, { minSlot: newest?.slot ?? 0 });
  const render = ({ items, totalUsd, pricedCount, unpricedCount }: Portfolio): readonly Child[] => {
    shown = items.find(({ asset }) => asset === 'SOL')?.uiAmountString;
    compare(newest);
    if (items.length === 0) return [create('p', {}, 'This address holds nothing.')];
    const count = `${pricedCount} ${pricedCount === 1 ? 'asset' : 'assets'}`;
    const unpriced = unpricedCount === 0 ? '' : `, and ${unpricedCount} more of which no price is known`;
    return [
      pricedCount > 0 && create('p', { class: 'hero' }, figures.usd(totalUsd)),
      create('p', { class: 'muted' }, pricedCount === 0 ? 'No price of these is known.' : `${count}${unpriced}`),
      portfolioTable(items),
    ];
  };
  const load = (): void => part.loadAnswer(request, render);
  again.addEventListener('click', load);
  load();
  return compare;
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
        item.asset !== 'SOL' && item.symbol && create('span', { class: 'muted' }, strangersText(item.name)),
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
        create('span', { class: 'asset' }, identicon(row.mint), tokens.of(row.mint)),
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
