import { elementById } from './elements.ts';

/** Makes the search of the header work: the policy of the page lets no form send anything by itself. */
export function enableHeader(onSearch = openExplorer): void {
  const input = elementById('q', HTMLInputElement);
  elementById('search', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text !== '') onSearch(text);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function openExplorer(text: string): void {
  const url = new URL('explorer', location.href);
  url.searchParams.set('q', text);
  location.assign(url);
}
