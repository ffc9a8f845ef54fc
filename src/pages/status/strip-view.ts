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
      element.style.setProperty('--height', `${Math.min(1, (cell.ms ?? 0) / FULL_MS) * 100}%`);
      element.href = `explorer?q=${cell.slot}`;
      element.title = `Slot ${this.#figures.integer(cell.slot)}: ${wordsFor(cell)}`;
    }
    const [first] = cells;
    const last = cells.at(-1);
    if (first === undefined || last === undefined) return;
    const countOf = (wanted: null | undefined): number => cells.filter(({ ms }) => ms === wanted).length;
    const counts = [[countOf(null), 'without a block seen'] as const, [countOf(undefined), 'not known'] as const];
    const shown = counts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
    const share = shown.length === 0 ? 'all with a block' : shown.join(', ');
    setText(elementById('strip-text', HTMLElement), `The last ${cells.length} slots: height is time, ${share}`);
    setText(
      elementById('strip-range', HTMLElement),
      `${this.#figures.integer(first.slot)} → ${this.#figures.integer(last.slot)}`,
    );
  }
}

function wordsFor({ ms }: StripCell): string {
  if (ms === undefined) return 'not known';
  return ms === null ? 'no block seen' : `${Math.round(ms)} ms after the one before`;
}
