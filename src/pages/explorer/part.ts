import { type Client, ReceiptError, SlotgateError } from '../../client/index.ts';
import { FAULT_EXPLANATIONS, type Receipt } from '../../client/verify/index.ts';
import { type Child, create } from '../browser/elements.ts';
import { gatewayUrl } from '../browser/gateway-url.ts';
import { figures } from './figures.ts';
import { copyButton } from './links.ts';

/** A signed answer, as far as its evidence goes. */
export interface Evidence {
  readonly slot: number;
  readonly body: string;
  readonly receipt: Receipt;
}

/** Waits for an answer, unless it comes too late. */
export type Read = <A>(answer: Promise<A>) => Promise<A>;

const NEVER = new Promise<never>(() => {});

/** A part of a view that loads, and fails, alone. */
export class Part {
  readonly element: HTMLElement;
  /** Resolves when the part has loaded or failed for the first time. */
  readonly settled: Promise<void>;
  #settle = (): void => {};
  readonly #header: HTMLElement;
  readonly #body: HTMLElement;
  /** The number of the newest load: what an earlier one still receives is dropped. */
  #load = 0;
  #evidence: HTMLElement = create('div', { class: 'evidence' }, 'not verified yet');

  constructor(title: string, className = '') {
    const heading = create('h2', {}, title);
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#header = create('header', {}, heading, this.#evidence);
    this.#body = create('div', { 'aria-busy': 'true' }, create('p', { class: 'muted' }, 'Loading…'));
    this.element = create(
      'section',
      { class: `panel part ${className}`, 'aria-label': title },
      this.#header,
      this.#body,
    );
  }

  addToHeader(...children: readonly Child[]): void {
    for (const child of children) if (child) this.#evidence.before(child);
  }

  show(...children: readonly Child[]): void {
    this.#body.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
  }

  prove(answer: Evidence): void {
    const isOpen = this.#evidence instanceof HTMLDetailsElement && this.#evidence.open;
    if (isOpen) return; // what somebody reads stays as it is
    const evidence = evidenceOf(answer);
    this.#evidence.replaceWith(evidence);
    this.#evidence = evidence;
  }

  /** Loads one answer: shows what `render` makes of its result, and what proves it. */
  loadAnswer<A extends Evidence & { readonly result: unknown }>(
    request: () => Promise<A>,
    render: (result: A['result']) => readonly Child[],
  ): void {
    void this.load(async (read) => {
      const answer = await read(request());
      this.prove(answer);
      this.show(...render(answer.result));
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
        if (load !== this.#load) await NEVER;
        this.#body.setAttribute('aria-busy', 'false');
      }
    };
    try {
      await work(read);
    } catch (thrown) {
      const again = create('button', { type: 'button' }, 'Try again');
      again.addEventListener('click', () => void this.load(work));
      this.show(create('p', { class: 'failed' }, messageOf(thrown)), again);
    } finally {
      this.#settle();
    }
  }
}

/** Returns the message of the gateway, or the reason for which an answer was refused. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof ReceiptError)
    return `This answer was refused, and is not shown. ${FAULT_EXPLANATIONS[thrown.code]}`;
  if (thrown instanceof SlotgateError) return thrown.message || `The gateway answered ${thrown.code}.`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function evidenceOf({ slot, body, receipt }: Evidence): HTMLElement {
  const mark = create('span', { class: 'good', 'aria-hidden': 'true' }, '✓');
  const summary = create('summary', {}, mark, ` verified, slot ${figures.integer(slot)}, ${receipt.commitment}`);
  const content = create('div');
  const details = create('details', { class: 'evidence' }, summary, content);
  const fill = (): void => {
    if (details.open && content.childElementCount === 0) content.append(...evidenceContent(body, receipt));
  };
  details.addEventListener('toggle', fill);
  return details;
}

function evidenceContent(body: string, { request, kid }: Receipt): HTMLElement[] {
  const target = request.replace(/^\w+ \//, '');
  const curl = `curl '${new URL(target, gatewayUrl())}'`;
  const download = create('a', { class: 'button', download: 'answer.json' }, 'Download');
  download.href = URL.createObjectURL(new Blob([body], { type: 'application/json' }));
  const verify = create('a', { class: 'button' }, 'Verify line by line');
  verify.href = `verify#${new URLSearchParams({ body, request })}`;
  const about = `The key ${kid} signed this answer to ${request}: each byte below is as it was sent.`;
  return [
    create('p', {}, about),
    create('pre', { tabindex: '0' }, body),
    create('pre', { tabindex: '0' }, curl),
    create('div', { class: 'actions' }, copyButton(body, 'Copy body'), copyButton(curl, 'Copy curl'), download, verify),
  ];
}

export interface ViewContext {
  readonly client: Client;
  readonly add: (...parts: readonly Part[]) => void;
  readonly onLeave: (work: () => void) => void;
}
