import { tabTexts } from '../browser/store.ts';
import type { Showing } from './showing.ts';

/** A view that was left: Back shows it as it was, and what it did while it was shown begins again. */
interface LeftView {
  readonly showing: Showing;
  readonly title: string;
  readonly nodes: readonly Node[];
  readonly focused: Element | null;
  readonly scrollY: number;
  readonly leftMs: number;
}

const MAX_LEFT_VIEWS = 10;

/** The time for which a view that was left is shown again as it was. */
const KEPT_MS = 60_000;

const TOP_STORE = 'slotgate.top.';

/** The views that were left in this tab, by their entry of the browser's history. */
export class LeftViews {
  readonly #view: HTMLElement;
  readonly #views = new Map<string, LeftView>();
  /** The entry of the history that is shown. */
  #entry = entryOf();

  constructor(view: HTMLElement) {
    this.#view = view;
  }

  /** Makes the newest entry of the history the one that is shown. Returns its view, if it was left not long ago. */
  enter(): LeftView | undefined {
    this.#entry = entryOf();
    const left = this.#views.get(this.#entry);
    return left === undefined || performance.now() - left.leftMs > KEPT_MS ? undefined : left;
  }

  /** Keeps the view that is left, unless some of it still loads: the rest of such a one is never added. */
  keep(showing: Showing): void {
    this.keepTop();
    this.#views.delete(this.#entry);
    if (this.#view.querySelector('[aria-busy=true]') !== null || this.#view.childElementCount < 2) return;
    const { title, activeElement: focused } = document;
    const nodes = [...this.#view.childNodes];
    this.#views.set(this.#entry, { showing, title, nodes, focused, scrollY, leftMs: performance.now() });
    for (const oldest of [...this.#views.keys()].slice(0, -MAX_LEFT_VIEWS)) this.#views.delete(oldest);
  }

  /** Keeps where the entry that is left was scrolled to: also for a reader who comes back from another page. */
  keepTop(): void {
    tabTexts.write(TOP_STORE + this.#entry, String(scrollY));
  }

  get keptTop(): number {
    return Number(tabTexts.read(TOP_STORE + this.#entry) ?? 0);
  }

  clear(): void {
    this.#views.clear();
  }
}

function entryOf(): string {
  const { entry: known } = (history.state ?? {}) as { readonly entry?: string };
  const id = known ?? crypto.getRandomValues(new Uint32Array(2)).join('-');
  if (known === undefined) history.replaceState({ entry: id }, '');
  return id;
}
