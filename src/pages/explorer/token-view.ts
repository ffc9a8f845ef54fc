import { MAX_NAME_CHARACTERS, MAX_URI_CHARACTERS } from '../../shared/domain/quoted-name.ts';
import { create } from '../browser/elements.ts';
import { figures } from './figures.ts';
import { linkTo } from './links.ts';
import { knownBadge, strangersText } from './names.ts';
import { Part, type ViewContext } from './part.ts';
import { facts, pager, table } from './tables.ts';

export function showToken(context: ViewContext, mint: string): void {
  const part = new Part('Token');
  context.add(part);
  const request = () => context.client.get('/token/:mint', { mint });
  part.loadAnswer(request, ({ metadata, ...result }) => [
    facts([
      [
        'Symbol',
        result.knownSymbol ? create('span', {}, result.knownSymbol, knownBadge()) : strangersText(metadata?.symbol),
      ],
      ['Name', strangersText(metadata?.name, MAX_NAME_CHARACTERS)],
      ['Supply', figures.decimal(result.uiSupplyString)],
      ['Decimals', String(result.decimals)],
      ['Price', result.priceUsd === null ? null : `${figures.usd(result.priceUsd)} by ${result.priceSource}`],
      ['Program', create('span', { class: 'chip' }, result.program)],
      ['May mint more', result.mintAuthority === null ? 'nobody' : linkTo(result.mintAuthority)],
      ['May freeze', result.freezeAuthority === null ? 'nobody' : linkTo(result.freezeAuthority)],
      ['NFT of', result.owner && linkTo(result.owner)],
      ['Royalty', metadata?.sellerFeeBasisPoints ? `${metadata.sellerFeeBasisPoints / 100} %` : null],
      ['Metadata', metadata && `${metadata.source}, ${metadata.isMutable === false ? 'fixed' : 'can change'}`],
      ['More at', strangersText(metadata?.uri, MAX_URI_CHARACTERS)],
      ['Extensions', result.extensions?.map(({ extension }) => extension).join(', ')],
    ]),
  ]);
  addHolders(context, mint);
}

function addHolders({ client, add }: ViewContext, mint: string): void {
  const part = new Part('Holders', 'long');
  add(part);
  const showPage = (page: number): void => {
    const request = () => client.get('/token/:mint/holders', { mint, page });
    part.loadAnswer(request, ({ items, hasMore, total }) => [
      table(
        ['Rank', 'Owner', 'Account', { title: 'Amount', isNumber: true }, { title: 'Share', isNumber: true }],
        items.map((item) => [
          String(item.rank),
          create(
            'span',
            {},
            item.owner && linkTo(item.owner),
            item.label && create('span', { class: 'chip' }, item.label),
          ),
          'address' in item && linkTo(item.address),
          figures.decimal(item.uiAmountString),
          figures.percent(item.percentage / 100),
        ]),
      ),
      pager(page, hasMore, total === null ? '' : `, ${figures.integer(total)} accounts`, showPage),
    ]);
  };
  showPage(1);
}
