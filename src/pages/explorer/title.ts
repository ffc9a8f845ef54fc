import { type Child, create, present, setText } from '../browser/elements.ts';
import { formatSpan } from '../format/figures.ts';
import { timeOf } from './figures.ts';
import { Proofs } from './proofs.ts';
import { each, type Showing } from './showing.ts';

export interface TitleText {
  /** Short facts above the heading. */
  readonly chips: readonly Child[];
  readonly heading: readonly Child[];
  /** What identifies the subject, below the heading. */
  readonly below?: readonly Child[];
}

/** The head of a view: what it is about, and what proves it. */
export class Title {
  readonly proofs = new Proofs();
  readonly element = create('div', { class: 'title' });
  readonly #chips = create('div', { class: 'chips' });
  #heading = create('h1');
  #below = create('div', { class: 'below' });

  constructor(text: TitleText) {
    this.element.append(this.proofs.element, this.#chips, this.#heading, this.#below);
    this.show(text);
  }

  /** Names the tab of the browser after the heading. */
  nameTab(): void {
    document.title = `${this.#heading.textContent?.trim()} · slotgate`;
  }

  /** What has the focus keeps it, if it is still there. */
  show({ chips, heading, below = [] }: TitleText): void {
    const { activeElement: focused } = document;
    this.#chips.replaceChildren(...present(chips));
    const next = create('h1', {}, ...heading);
    this.#heading.replaceWith(next);
    this.#heading = next;
    if (this.element.isConnected) this.nameTab();
    const nextBelow = create('div', { class: 'below' }, ...below);
    this.#below.replaceWith(nextBelow);
    this.#below = nextBelow;
    // what still loads below begins at its new place, and does not move there
    const siblings = [...(this.element.parentElement?.children ?? [])];
    this.element.after(...siblings.slice(siblings.indexOf(this.element) + 1));
    if (focused !== document.activeElement && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}

export const chip = (text: Child, kind = ''): HTMLElement => create('span', { class: `chip ${kind}`.trim() }, text);

/** Shows a time in Unix seconds, and how long ago it was. */
export const timeAgo = (seconds: number | null, now: () => number, whileShown: Showing['add']): HTMLElement =>
  create(
    'time',
    { class: 'muted' },
    `${timeOf(seconds)} `,
    seconds !== null && ticking(() => `· ${formatSpan(now() - seconds * 1000)} ago`, whileShown),
  );

/** Shows words that change with the time, for as long as their view is shown. */
export function ticking(words: () => string, whileShown: Showing['add']): HTMLElement {
  const shown = create('span');
  whileShown(() => {
    const update = (): void => setText(shown, words());
    update();
    return each(1000, update)();
  });
  return shown;
}
