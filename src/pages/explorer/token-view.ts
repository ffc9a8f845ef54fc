import { MAX_NAME_CHARACTERS, MAX_URI_CHARACTERS } from '../../shared/domain/quoted-name.ts';
import { type Child, create } from '../browser/elements.ts';
import { wordsOf } from '../format/amounts.ts';
import { shorten } from '../format/figures.ts';
import { figures } from './figures.ts';
import { identicon } from './identicon.ts';
import { identifier, linkTo } from './links.ts';
import { knownBadge, strangersText } from './names.ts';
import { Part } from './part.ts';
import { facts, pager, shareBar, showPages, table } from './tables.ts';
import { chip } from './title.ts';
import type { ViewContext } from './view-context.ts';

export function showToken(context: ViewContext, mint: string): void {
  const { client, title, add } = context;
  const part = new Part('Token', title.proofs);
  add(part);
  const request = () => client.get('/token/:mint', { mint });
  part.loadAnswer(request, ({ metadata, ...result }) => {
    const { knownSymbol } = result;
    const symbol = knownSymbol ?? strangersText(metadata?.symbol);
    const name = strangersText(metadata?.name, MAX_NAME_CHARACTERS);
    title.show({
      chips: [
        chip(result.isNft ? 'NFT' : 'Token'),
        chip(result.program === 'spl-token' ? 'Token program' : 'Token-2022 program'),
        knownSymbol && knownBadge(),
      ],
      heading: [identicon(mint), ' ', symbol ?? shorten(mint), name && ' ', name],
      below: [identifier(mint, 'address')],
    });
    return [
      result.priceUsd !== null && create('p', { class: 'hero' }, figures.usd(result.priceUsd)),
      facts([
        ['Supply', supplyOf(result.uiSupplyString)],
        ['Decimals', String(result.decimals)],
        ['Price by', result.priceUsd === null ? null : wordsOf(result.priceSource ?? '')],
        ['Mint authority', authority(result.mintAuthority, 'can make more of it')],
        ['Freeze authority', authority(result.freezeAuthority, 'can freeze what anybody holds')],
        ['Owner', result.owner && linkTo(result.owner)],
        ['Royalty', metadata?.sellerFeeBasisPoints ? `${metadata.sellerFeeBasisPoints / 100}%` : null],
        [
          'Metadata',
          metadata && `${wordsOf(metadata.source)}, ${metadata.isMutable === false ? 'fixed' : 'can change'}`,
        ],
        ['Metadata at', strangersText(metadata?.uri, MAX_URI_CHARACTERS)],
        ['Extensions', result.extensions?.map(({ extension }) => extension).join(', ')],
      ]),
    ];
  });
  addHolders(context, mint);
}

const short = new Intl.NumberFormat(figures.language, { notation: 'compact', maximumSignificantDigits: 3 });

/** Shows a supply with all its digits, and a long one in short before them. */
const supplyOf = (text: string): string =>
  Number(text) < 100_000 ? figures.decimal(text) : `${short.format(Number(text))} · ${figures.decimal(text)}`;

const authority = (address: string | null, right: string): Child =>
  address === null
    ? 'nobody'
    : create('span', {}, linkTo(address), ' ', create('span', { class: 'warn' }, `▲ ${right}`));

/** The number of holders whose common share is shown. */
const TOP = 10;

function topShare(items: readonly { readonly percentage: number | null }[]): string {
  const share = items.slice(0, TOP).reduce((sum, { percentage }) => sum + (percentage ?? 0) / 100, 0);
  return `The ${TOP} largest hold ${figures.percent(share)}.`;
}

function addHolders(context: ViewContext, mint: string): void {
  const { client, title, add } = context;
  const part = new Part('Holders', title.proofs);
  add(part);
  showPages(context, (page, showPage) => {
    const request = () => client.get('/token/:mint/holders', { mint, page });
    part.loadAnswer(request, ({ items, hasMore, total }) => [
      page === 1 &&
        items.length > TOP &&
        items[0]?.percentage !== null &&
        create('p', { class: 'muted' }, topShare(items)),
      table(
        'Holders',
        ['Rank', 'Owner', 'Account', { title: 'Amount', isNumber: true }, { title: 'Share', isNumber: true }],
        items.map((item) => [
          String(item.rank),
          create('span', {}, item.owner && linkTo(item.owner), item.label && chip(item.label)),
          'address' in item && linkTo(item.address),
          figures.decimal(item.uiAmountString),
          item.percentage !== null && shareBar(item.percentage / 100),
        ]),
      ),
      pager(page, hasMore, total === null ? '' : `${figures.integer(total)} accounts`, showPage),
    ]);
  });
}
