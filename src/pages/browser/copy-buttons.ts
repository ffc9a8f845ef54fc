import { create, setText } from './elements.ts';

const SHOWN_MS = 1500;

/** Copies a text; on plain HTTP browsers have no clipboard to write to, but they still copy a selection. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = create('textarea', { class: 'hidden', readonly: '' }, text);
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  }
}

/** Copies for each button with `data-copy`: that text, or the text of the element with the id that follows a `#`. */
export function enableCopyButtons(): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-copy]') : null;
    const wanted = button?.dataset['copy'];
    if (!button || wanted === undefined) return;
    const text = wanted.startsWith('#') ? (document.getElementById(wanted.slice(1))?.textContent ?? '') : wanted;
    button.dataset['label'] ??= button.textContent ?? ''; // a second click finds another text
    const { label = '' } = button.dataset;
    void copyText(text).then((isCopied) => {
      if (label !== '') setText(button, isCopied ? 'Copied' : 'Not copied');
      button.classList.toggle('copied', isCopied);
      button.style.minWidth = `${button.offsetWidth}px`; // what is beside it does not move back
      setTimeout(() => {
        setText(button, label);
        button.classList.remove('copied');
      }, SHOWN_MS);
    });
  });
}
