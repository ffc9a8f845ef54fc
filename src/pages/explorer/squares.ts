const SVG = 'http://www.w3.org/2000/svg';

/** Draws rows of squares, of which those that are true have the colour of the picture; its margin has the width of `margin` squares. */
export function squares(rows: readonly (readonly boolean[])[], margin: number): SVGElement {
  const picture = document.createElementNS(SVG, 'svg');
  const size = rows.length + 2 * margin;
  picture.setAttribute('viewBox', `${-margin} ${-margin} ${size} ${size}`);
  const path = document.createElementNS(SVG, 'path');
  const drawn = rows.flatMap((row, y) => row.map((isFilled, x) => (isFilled ? `M${x} ${y}h1v1h-1z` : '')));
  path.setAttribute('d', drawn.join(''));
  picture.append(path);
  return picture;
}
