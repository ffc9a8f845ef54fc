import { create } from '../browser/elements.ts';
import type { ViewContext } from './context.ts';
import { figures } from './figures.ts';
import { linkTo } from './links.ts';
import { Part } from './part.ts';
import { facts, table } from './tables.ts';

/** Shows a mint and its holders. */
export function showToken(context: ViewContext, mint: string): void {
  const part = new Part('Token');
  context.add(part);
  void part.load(async () => {
    const answer = await context.client.get('/token/:mint', { mint });
    part.prove(answer);
    const { result } = answer;
    const { metadata } = result;
    part.show(
      facts([
        ['Name', metadata ? `${metadata.name} (${metadata.symbol})` : result.knownSymbol],
        ['Supply', figures.decimal(result.uiSupplyString)],
        ['Decimals', String(result.decimals)],
        ['Price', result.priceUsd === null ? null : `${figures.usd(result.priceUsd)} by ${result.priceSource}`],
        ['Program', create('span', { class: 'chip' }, result.program)],
        ['May mint more', result.mintAuthority === null ? 'nobody' : linkTo(result.mintAuthority)],
        ['May freeze', result.freezeAuthority === null ? 'nobody' : linkTo(result.freezeAuthority)],
        ['NFT of', result.owner && linkTo(result.owner)],
        ['Royalty', metadata?.sellerFeeBasisPoints ? `${metadata.sellerFeeBasisPoints / 100} %` : null],
        ['Metadata', metadata && `${metadata.source}, ${metadata.isMutable === false ? 'fixed' : 'can change'}`],
        ['More at', metadata?.uri && create('code', {}, metadata.uri)],
        ['Extensions', result.extensions && Object.keys(result.extensions).join(', ')],
      ]),
    );
  });
  addHolders(context, mint);
}

function addHolders({ client, add }: ViewContext, mint: string): void {
  const part = new Part('Holders', 'long');
  add(part);
  const showPage = (page: number): void => {
    void part.load(async () => {
      const answer = await client.get('/token/:mint/holders', { mint, page });
      part.prove(answer);
      const { items, hasMore, total } = answer.result;
      const back = pageButton('Back', page > 1, () => showPage(page - 1));
      const next = pageButton('Next', hasMore, () => showPage(page + 1));
      const position = total === null ? `page ${page}` : `page ${page}, ${figures.integer(total)} accounts`;
      part.show(
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
        create('div', { class: 'actions more' }, back, next, create('span', { class: 'muted' }, position)),
      );
    });
  };
  showPage(1);
}

export function pageButton(text: string, isEnabled: boolean, onClick: () => void): HTMLElement {
  const button = create('button', { type: 'button' }, text);
  button.disabled = !isEnabled;
  button.addEventListener('click', onClick);
  return button;
}
