import { type Child, create } from '../browser/elements.ts';
import { decimalOf } from '../format/amounts.ts';
import { figures } from './figures.ts';
import { netOf, type Party, partiesOf, type Transfer } from './flow.ts';
import { linkTo } from './links.ts';
import type { TokenLabels } from './names.ts';
import { amountOf, mutedText } from './tables.ts';

/** Heights of the picture, in CSS pixels: a box has one line for its party, and one for each token. */
const LINE = 24;
const PADDING = 10;
const GAP = 12;
const WIDTH = 160;
const [THINNEST, THICKEST] = [3, 14];

/** Draws who gave what to whom: ribbons between boxes, or a list where that would be no picture. */
export function showFlow(transfers: readonly Transfer[], tokens: TokenLabels): HTMLElement {
  const parties = partiesOf(transfers);
  const rows = create(
    'ul',
    { class: 'sentences' },
    ...transfers.map(({ from, to, mint, amount, decimals }) =>
      create(
        'li',
        {},
        linkTo(from),
        ' → ',
        linkTo(to),
        ' ',
        amountText(amount, decimals, tokens.of(mint), tokens.worthOf(mint, amount, decimals)),
      ),
    ),
  );
  return parties === undefined
    ? rows
    : create('div', {}, pictureOf(parties, transfers, tokens), create('div', { class: 'narrow' }, rows));
}

const amountText = (amount: bigint, decimals: number, token: Child, worth: string): HTMLElement =>
  create('span', {}, `${figures.decimal(decimalOf(amount, decimals))} `, token, mutedText(worth));

interface Box {
  readonly party: Party;
  readonly element: HTMLElement;
  readonly top: number;
  readonly height: number;
}

function pictureOf(parties: readonly Party[], transfers: readonly Transfer[], tokens: TokenLabels): HTMLElement {
  const columns = (['left', 'right'] as const).map((side) =>
    parties.filter((party) => party.side === side).map((party) => ({ party, nets: netOf(party.address, transfers) })),
  );
  const heightOf = (nets: readonly unknown[]): number => (1 + Math.max(1, nets.length)) * LINE + 2 * PADDING;
  const heights = columns.map((column) => column.reduce((sum, { nets }) => sum + heightOf(nets) + GAP, -GAP));
  const height = Math.max(...heights);
  const boxes: Box[] = [];
  const elements = columns.map((column, at) => {
    let top = (height - (heights[at] ?? 0)) / 2;
    const placed = column.map(({ party, nets }): Box => {
      const lines = nets.map(({ amount, decimals, mint }) =>
        amountOf(amount, decimals, tokens.of(mint), tokens.worthOf(mint, amount, decimals)),
      );
      const even = create('span', { class: 'muted' }, 'as much as it gave');
      const element = create('div', { class: 'party' }, linkTo(party.address), ...(lines.length > 0 ? lines : [even]));
      element.style.height = `${heightOf(nets)}px`;
      const box = { party, element, top, height: heightOf(nets) };
      top += box.height + GAP;
      return box;
    });
    boxes.push(...placed);
    return create('div', { class: 'parties' }, ...placed.map(({ element }) => element));
  });
  const [left, right] = elements;
  return create('div', { class: 'flow' }, left, ribbonsOf(boxes, transfers, height), right);
}

const SVG = 'http://www.w3.org/2000/svg';

/** Draws a ribbon for each transfer, as wide as its share of the most that was moved of its token. */
function ribbonsOf(boxes: readonly Box[], transfers: readonly Transfer[], height: number): Node {
  const picture = document.createElementNS(SVG, 'svg');
  picture.setAttribute('viewBox', `0 0 ${WIDTH} ${height}`);
  picture.setAttribute('aria-hidden', 'true'); // the boxes say the same
  picture.style.height = `${height}px`;
  const mints = [...new Set(transfers.map(({ mint }) => mint))];
  const ends = new Map<string, number>();
  const yOf = (address: string): number => {
    const box = boxes.find(({ party }) => party.address === address);
    const all = transfers.filter(({ from, to }) => from === address || to === address).length;
    const at = ends.get(address) ?? 0;
    ends.set(address, at + 1);
    return box === undefined ? 0 : box.top + (box.height * (at + 1)) / (all + 1);
  };
  for (const { from, to, mint, amount } of transfers) {
    const alike = transfers.filter((other) => other.mint === mint).map((other) => Number(other.amount));
    const share = Number(amount) / Math.max(...alike);
    const isLeftToRight = boxes.find(({ party }) => party.address === from)?.party.side === 'left';
    const [startX, endX] = isLeftToRight ? [0, WIDTH - 8] : [WIDTH, 8];
    const [startY, endY] = [yOf(from), yOf(to)];
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', `M${startX} ${startY}C${WIDTH / 2} ${startY} ${WIDTH / 2} ${endY} ${endX} ${endY}`);
    path.setAttribute('class', `ribbon token-${mints.indexOf(mint) % 3}`);
    path.style.strokeWidth = `${THINNEST + (THICKEST - THINNEST) * Math.sqrt(share)}px`;
    const head = document.createElementNS(SVG, 'path');
    const back = isLeftToRight ? -8 : 8;
    head.setAttribute('d', `M${endX + (isLeftToRight ? 8 : -8)} ${endY}l${back} -7v14z`);
    head.setAttribute('class', `head token-${mints.indexOf(mint) % 3}`);
    picture.append(path, head);
  }
  return picture;
}
