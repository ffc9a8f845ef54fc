import { squares } from './squares.ts';

/** Draws a mark of five by five squares from an address: the same for the same one, and symmetric, so that it is remembered. */
export function identicon(address: string): SVGElement {
  let hash = 2166136261; // FNV-1a
  for (const letter of address) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619) >>> 0;
  const rows = [0, 1, 2, 3, 4].map((y) => [0, 1, 2, 1, 0].map((x) => ((hash >>> (x * 5 + y)) & 1) === 1));
  const picture = squares(rows, 0);
  picture.setAttribute('class', 'identicon');
  picture.setAttribute('aria-hidden', 'true');
  picture.style.color = `hsl(${hash % 360} 45% 50%)`;
  return picture;
}
