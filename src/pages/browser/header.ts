import { elementById } from './elements.ts';
import { gatewayUrl } from './gateway-url.ts';
import { enableTheme } from './theme.ts';

/** Makes the theme and the search of the header work: the policy of the page lets no form send anything by itself. */
export function enableHeader(onSearch = openExplorer, slash = elementById('q', HTMLInputElement)): void {
  enableTheme();
  const input = elementById('q', HTMLInputElement);
  elementById('search', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text !== '') onSearch(text);
  });
  document.addEventListener('keydown', (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isSlash = event.key === '/' && isPlain && !isTyping(event.target);
    const isCommand = event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (!isSlash && !isCommand) return;
    event.preventDefault();
    (isSlash ? slash : input).focus();
    (isSlash ? slash : input).select();
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function openExplorer(text: string): void {
  const url = new URL('explorer', gatewayUrl());
  url.searchParams.set('q', text);
  location.assign(url);
}
