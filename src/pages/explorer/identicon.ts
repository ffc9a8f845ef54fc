const SVG = 'http://www.w3.org/2000/svg';
const SIZE = 5;

/** Draws a mark of five by five fields from an address: the same for the same one, and symmetric, so that it is remembered. */
export function identicon(address: string): SVGElement {
  const picture = document.createElementNS(SVG, 'svg');
  picture.setAttribute('viewBox', `0 0 ${SIZE} ${SIZE}`);
  picture.setAttribute('class', 'identicon');
  picture.setAttribute('aria-hidden', 'true');
  let hash = 2166136261; // FNV-1a
  for (const letter of address) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619) >>> 0;
  let path = '';
  for (let x = 0; x < 3; x++)
    for (let y = 0; y < SIZE; y++)
      if ((hash >>> (x * SIZE + y)) & 1)
        for (const column of new Set([x, SIZE - 1 - x])) path += `M${column} ${y}h1v1h-1z`;
  const fields = document.createElementNS(SVG, 'path');
  fields.setAttribute('d', path);
  picture.style.color = `hsl(${hash % 360} 45% 50%)`;
  picture.append(fields);
  return picture;
}
