import type { Receipt } from '../../client/verify/index.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';
import { create } from '../browser/elements.ts';
import { gatewayUrl } from '../browser/gateway-url.ts';
import { figures } from './figures.ts';
import { copyButton } from './links.ts';

/** A signed answer, as far as its evidence goes. */
export interface Evidence {
  readonly slot: number;
  readonly body: string;
  readonly receipt: Receipt;
}

/** What proves the answers of a view: one mark, which opens to the bytes of each. */
export class Proofs {
  readonly element = create('details', { class: 'proof' });
  readonly #summary = create('summary');
  readonly #list = create('div');
  readonly #answers = new Map<string, Evidence>();
  #slot = 0;

  constructor() {
    this.element.append(this.#summary, this.#list);
    this.element.style.visibility = 'hidden'; // until there is a proof, for which it keeps the place
    this.element.addEventListener('toggle', () => this.element.open && this.#showAnswers());
  }

  /** Adds an answer, in place of an earlier one of the same name. */
  add(name: string, answer: Evidence): void {
    this.#answers.set(name, answer);
    this.#slot = Math.max(this.#slot, answer.slot);
    this.element.style.visibility = '';
    const mark = create('span', { class: 'good', 'aria-hidden': 'true' }, '✓');
    const place = create('span', { class: 'wide' }, ' in your browser');
    this.#summary.replaceChildren(mark, ' verified', place, ` · slot ${figures.integer(this.#slot)}`);
  }

  /** Shows the answers of now: what somebody reads stays as it is. */
  #showAnswers(): void {
    const how = create('a', { href: 'docs/receipts' }, 'How');
    const words = 'The gateway signed each answer below. This page checked it before it showed it. ';
    this.#list.replaceChildren(
      create('p', {}, words, how),
      ...[...this.#answers].map(([name, answer]) => evidenceOf(name, answer)),
    );
  }
}

function evidenceOf(name: string, { slot, body, receipt }: Evidence): HTMLElement {
  const content = create('div');
  const summary = `${name}: as of slot ${figures.integer(slot)}, ${receipt.commitment}`;
  const details = create('details', { class: 'evidence' }, create('summary', {}, summary), content);
  details.addEventListener('toggle', () => {
    if (details.open && content.childElementCount === 0) content.append(...evidenceContent(body, receipt));
  });
  return details;
}

function evidenceContent(body: string, { request, kid, slot, agreed }: Receipt): HTMLElement[] {
  const target = request.replace(/^\w+ \//, '');
  const curl = `curl '${new URL(target, gatewayUrl())}'`;
  const download = create('a', { class: 'button', download: 'answer.json' }, 'Download');
  download.href = URL.createObjectURL(new Blob([body], { type: 'application/json' }));
  const verify = create('a', { class: 'button' }, 'Verify line by line');
  verify.href = `verify#${new URLSearchParams({ body, request })}`;
  const lines = [
    `Signed by the key ${kid}.`,
    `Requested: ${request}`,
    `It holds at slot ${figures.integer(slot)}.${agreed === undefined ? '' : ` Operators that agree: ${agreed}.`}`,
  ];
  return [
    create('ul', {}, ...lines.map((line) => create('li', {}, line))),
    create('pre', { tabindex: '0' }, visibleText(body)),
    create('pre', { tabindex: '0' }, curl),
    create('div', { class: 'actions' }, copyButton(body, 'Copy body'), copyButton(curl, 'Copy curl'), download, verify),
  ];
}
