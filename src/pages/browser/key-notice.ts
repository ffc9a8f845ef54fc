import { FAULT_EXPLANATIONS, type ReceiptFault } from '../../client/verify/index.ts';
import { create, setText } from './elements.ts';

export interface RefusedKey {
  /** The key that this browser has seen; undefined before one. */
  readonly publicKey: string | undefined;
  /** The key that the gateway signs with now; undefined if the fault is another one. */
  readonly unknownKey: string | undefined;
}

/** The bar of a page whose gateway signs with another key, or whose answers prove nothing. */
export class KeyNotice {
  readonly #element = create('p', { class: 'panel notice bad', id: 'key-notice', hidden: '', role: 'alert' });
  readonly #text = create('span', { id: 'key-text' });
  readonly #accept = create('button', { type: 'button', id: 'accept' }, 'Trust the new key');

  constructor(onAccept: () => void) {
    this.#accept.addEventListener('click', onAccept);
    this.#element.append(this.#text, ' ', this.#accept);
    document.body.append(this.#element);
  }

  /** Shows why answers are refused; undefined for no reason any more. */
  show(fault: ReceiptFault | undefined, { publicKey, unknownKey }: RefusedKey): void {
    this.#element.hidden = fault === undefined;
    this.#accept.hidden = unknownKey === undefined;
    if (fault === undefined) return;
    const keys = `This browser has seen the key ${publicKey}, and the gateway signs with ${unknownKey} now, for which the former has not signed. Compare it with one from the operator of the gateway before you trust it.`;
    setText(this.#text, unknownKey === undefined ? `An answer was refused. ${FAULT_EXPLANATIONS[fault]}` : keys);
  }
}
