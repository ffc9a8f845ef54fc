/** The values that a sparkline keeps: those of a minute, where one comes each second. */
const KEPT = 60;

/** The height of the drawing, in units of the distance between two values. */
const HEIGHT = 16;

/** The distance of the line from the upper and the lower edge: room for half of its width. */
const MARGIN = 1;

export const SPARKLINE_VIEW = `0 0 ${KEPT - 1} ${HEIGHT}`;

export class Sparkline {
  readonly #values: (number | null)[] = [];

  /** Appends a value; null for a gap, of which several in a row are one. */
  add(value: number | null): void {
    if (value === null && (this.#values.at(-1) ?? null) === null) return;
    this.#values.push(value);
    if (this.#values.length > KEPT) this.#values.shift();
  }

  /** Returns the path of the line, between its own least and greatest value, with the newest at the right edge. */
  get path(): string {
    const known = this.#values.filter((value) => value !== null);
    const least = Math.min(...known);
    const span = Math.max(...known) - least;
    const first = KEPT - this.#values.length;
    let path = '';
    let command = 'M';
    for (const [at, value] of this.#values.entries()) {
      const share = value === null || span === 0 ? 0.5 : (value - least) / span;
      const y = HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN);
      if (value !== null) path += `${command}${first + at} ${+y.toFixed(1)}`;
      command = value === null ? 'M' : 'L';
    }
    return path;
  }
}
