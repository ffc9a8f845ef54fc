import { create, elementById, setText } from '../browser/elements.ts';
import type { Figures } from '../format/figures.ts';
import { STRIP_SLOTS, type StripCell } from '../plot/slot-strip.ts';

/** A cell is full at this time of a slot, in milliseconds. */
const FULL_MS = 800;

/** Draws the newest slots as cells: as high as they took long, hatched where no block of them was seen. */
export class StripView {
  readonly #cells = Array.from({ length: STRIP_SLOTS }, () => create('a', { tabindex: '-1' }));
  readonly #drawn: (StripCell | undefined)[] = [];
  readonly #figures: Figures;

  constructor(figures: Figures) {
    this.#figures = figures;
    elementById('cells', HTMLElement).append(...this.#cells);
  }

  show(cells: readonly StripCell[]): void {
    const empty = STRIP_SLOTS - cells.length;
    for (const [at, element] of this.#cells.entries()) {
      const cell = cells[at - empty];
      if (cell === undefined || cell === this.#drawn[at]) continue;
      this.#drawn[at] = cell;
      element.className = cell.ms === null ? 'unseen' : '';
      element.style.setProperty('--height', `${Math.min(1, (cell.ms ?? FULL_MS) / FULL_MS) * 100}%`);
      element.href = `explorer?q=${cell.slot}`;
      const words = cell.ms === null ? 'no block seen' : `${Math.round(cell.ms)} ms after the one before`;
      element.title = `Slot ${this.#figures.integer(cell.slot)}: ${words}`;
    }
    const [first] = cells;
    const last = cells.at(-1);
    if (first === undefined || last === undefined) return;
    const unseen = cells.filter(({ ms }) => ms === null).length;
    const share = unseen === 0 ? 'all with a block' : `${unseen} without a block seen`;
    setText(elementById('strip-text', HTMLElement), `The last ${cells.length} slots: height is time, ${share}`);
    setText(
      elementById('strip-range', HTMLElement),
      `${this.#figures.integer(first.slot)} → ${this.#figures.integer(last.slot)}`,
    );
  }
}
