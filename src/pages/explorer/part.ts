import { ReceiptError, SlotgateError } from '../../client/index.ts';
import { FAULT_EXPLANATIONS } from '../../client/verify/index.ts';
import { type Child, create, present } from '../browser/elements.ts';
import { isOfClock } from '../browser/trusted-client.ts';
import type { Evidence } from './proofs.ts';
import type { Title } from './title.ts';

/** Waits for an answer, unless it comes too late. */
export type Read = <A>(answer: Promise<A>) => Promise<A>;

/** A part of a view that loads, and fails, alone. */
export class Part {
  readonly element: HTMLElement;
  /** Resolves when the part has loaded or failed for the first time. */
  readonly settled: Promise<void>;
  #settle = (): void => {};
  readonly #title: string;
  readonly #proofs: Title['proofs'] | undefined;
  readonly #header: HTMLElement;
  readonly #body: HTMLElement;
  /** The number of the newest load: what an earlier one still receives is dropped. */
  #load = 0;

  constructor(title: string, proofs?: Title['proofs']) {
    this.#title = title;
    this.#proofs = proofs;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#header = create('header', {}, create('h2', {}, title));
    this.#body = create('div', { 'aria-busy': 'true' }, create('p', { class: 'muted' }, 'Loading…'));
    this.element = create('section', { class: 'panel part', 'aria-label': title }, this.#header, this.#body);
  }

  addToHeader(...children: readonly Child[]): void {
    this.#header.append(...present(children));
  }

  /** What has the focus keeps it, if there is still something of that name. */
  show(...children: readonly Child[]): void {
    const focused = nameOf(this.#body.querySelector(':focus'));
    this.#body.replaceChildren(...present(children));
    if (focused === undefined) return;
    const enabled = [...this.#body.querySelectorAll<HTMLElement>('a, :enabled, [tabindex]')];
    const same = enabled.find((each) => nameOf(each) === focused) ?? enabled.at(-1);
    same?.focus({ preventScroll: true });
  }

  /** Gives a part that still loads the height that it has, for good: what loads scrolls in it. */
  keepRoom(): void {
    if (this.#body.getAttribute('aria-busy') !== 'true' || this.element.classList.contains('late')) return;
    this.element.style.height = `${this.element.offsetHeight}px`;
    this.element.classList.add('late');
    this.#body.tabIndex = 0; // so that it scrolls by keyboard
  }

  prove(answer: Evidence): void {
    this.#proofs?.add(this.#title, answer);
  }

  /** Loads one answer: shows what `render` makes of its result, and what proves it. */
  loadAnswer<A extends Evidence & { readonly result: unknown }>(
    request: () => Promise<A>,
    render: (result: A['result']) => readonly Child[] | Promise<readonly Child[]>,
  ): void {
    void this.load(async (read) => {
      const answer = await read(request());
      const children = await read(Promise.resolve(render(answer.result)));
      this.prove(answer);
      this.show(...children);
    });
  }

  /** `read` never settles once a later load has begun. A failure shows the gateway's words, and a way to try again. */
  async load(work: (read: Read) => Promise<void>): Promise<void> {
    this.#load++;
    const load = this.#load;
    const read: Read = async (answer) => {
      this.#body.setAttribute('aria-busy', 'true');
      try {
        return await answer;
      } finally {
        if (load !== this.#load) await new Promise(() => {});
        this.#body.setAttribute('aria-busy', 'false');
      }
    };
    try {
      await work(read);
    } catch (thrown) {
      this.#fail(thrown, () => void this.load(work));
    } finally {
      if (load === this.#load) this.#body.setAttribute('aria-busy', 'false');
      this.#settle();
    }
  }

  #fail(thrown: unknown, retry: () => void): void {
    const fault = thrown instanceof ReceiptError ? thrown.code : undefined;
    const dispatch = (type: string): boolean => this.element.dispatchEvent(new CustomEvent(type, { bubbles: true }));
    const isOther = fault === 'cluster';
    const again = create('button', { type: 'button' }, isOther ? 'Show that cluster' : 'Try again');
    again.addEventListener('click', isOther || isOfClock(fault) ? () => dispatch(OTHER_CLIENT) : retry);
    this.show(create('p', { class: 'failed' }, failureWords(thrown)), again);
    if (fault === 'unknown-key') dispatch(UNKNOWN_KEY);
  }
}

const nameOf = (element: Element | null): string | undefined =>
  element?.getAttribute('title') ?? element?.ariaLabel ?? element?.textContent ?? undefined;

/** The event of a part whose answer another key has signed. */
export const UNKNOWN_KEY = 'unknown-key';

/** The event of a reader who wants to see the cluster that the gateway serves now, or at the time that it is now. */
export const OTHER_CLIENT = 'other-client';

/** Says why nothing can be shown: in the words of the gateway, or by the reason for which its answer was refused. */
export const failureWords = (thrown: unknown): string =>
  messageOf(thrown).replace(/^[a-z]/, (letter) => letter.toUpperCase());

function messageOf(thrown: unknown): string {
  if (thrown instanceof ReceiptError)
    return `This answer was refused, and is not shown. ${FAULT_EXPLANATIONS[thrown.code]}`;
  if (thrown instanceof SlotgateError) return thrown.message || `The gateway answered ${thrown.code}.`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
