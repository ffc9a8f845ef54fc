import { type Child, create, present } from '../browser/elements.ts';
import { Proofs } from './proofs.ts';

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

  show({ chips, heading, below = [] }: TitleText): void {
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
  }
}

export const chip = (text: Child, kind = ''): HTMLElement => create('span', { class: `chip ${kind}`.trim() }, text);
