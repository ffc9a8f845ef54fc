import { SYMBOL_BY_MINT } from '../../shared/domain/known-mints.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import { create } from '../browser/elements.ts';
import { browserTexts } from '../browser/store.ts';
import { figures } from './figures.ts';
import { ADDRESS, SIGNATURE, SLOT } from './id-forms.ts';
import { NAMES } from './known-names.ts';

interface Suggestion {
  readonly query: string;
  readonly text: string;
}

const STORE = 'slotgate.visited';
const MAX_VISITED = 8;
const MAX_SHOWN = 8;

/** Remembers in this browser what was visited. */
export function remember(query: string, text: string): void {
  const others = visited().filter((each) => each.query !== query);
  browserTexts.write(STORE, JSON.stringify([{ query, text }, ...others].slice(0, MAX_VISITED)));
}

const visited = (): readonly Suggestion[] =>
  tryOrUndefined(() => {
    const stored: Suggestion[] = JSON.parse(browserTexts.read(STORE) ?? '[]'); // what is of another form is passed over
    return stored.map(({ query, text }) => ({ query: String(query), text: String(text) }));
  }) ?? [];

/** Returns what a text may mean: by its form, by the tokens and programs that begin with it, and by what was visited. */
export function suggestionsFor(text: string): readonly Suggestion[] {
  const typed = text.trim();
  const form = formOf(typed);
  const lower = typed.toLowerCase();
  const named = [...[...SYMBOL_BY_MINT].map(([mint, symbol]) => [mint, `${symbol} · token`]), ...Object.entries(NAMES)];
  const known = named.filter(([, words = '']) => lower !== '' && words.toLowerCase().startsWith(lower));
  return [
    ...(form === undefined ? [] : [{ query: typed, text: form }]),
    ...known.map(([query = '', text = '']) => ({ query, text })),
    ...visited().filter(({ query, text: words }) => `${query} ${words}`.toLowerCase().includes(lower)),
  ].slice(0, MAX_SHOWN);
}

function formOf(text: string): string | undefined {
  if (SLOT.test(text)) return `Slot ${figures.integer(Number(text))}`;
  if (ADDRESS.test(text)) return 'Address · 32 bytes';
  if (SIGNATURE.test(text)) return 'Transaction · 64 bytes';
  return /^[^\s.]+(\.[^\s.]+)?\.sol$/i.test(text) ? 'Name of an address' : undefined;
}

/** Makes the search a combobox. https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
export function enableSuggestions(input: HTMLInputElement, go: (query: string) => void): void {
  const list = create('ul', { id: 'suggestions', role: 'listbox', 'aria-label': 'Suggestions', hidden: '' });
  input.after(list);
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-controls': list.id,
    'aria-autocomplete': 'list',
  }))
    input.setAttribute(name, value);
  let shown: readonly Suggestion[] = [];
  let chosen = -1;
  const update = (isOpen: boolean): void => {
    shown = isOpen ? suggestionsFor(input.value) : [];
    chosen = -1;
    list.hidden = shown.length === 0;
    list.replaceChildren(
      ...shown.map(({ query, text }, at) => {
        const words = create('span', {}, text);
        return create(
          'li',
          { id: `suggestion-${at}`, role: 'option', 'aria-selected': 'false' },
          words,
          create('code', {}, query),
        );
      }),
    );
    mark();
  };
  const mark = (): void => {
    input.setAttribute('aria-expanded', String(!list.hidden));
    if (chosen < 0) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', `suggestion-${chosen}`);
    for (const [at, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(at === chosen));
  };
  const open = (at: number): void => {
    const suggestion = shown[at];
    update(false);
    if (suggestion !== undefined) go(suggestion.query);
  };
  update(false);
  input.addEventListener('input', () => update(true));
  input.addEventListener('focus', () => update(true));
  input.addEventListener('blur', () => update(false));
  list.addEventListener('pointerdown', (event) => {
    event.preventDefault(); // the input keeps the focus
    const option = event.target instanceof Element ? event.target.closest('li') : null;
    if (option !== null) open([...list.children].indexOf(option));
  });
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      chosen = (chosen + step + shown.length + (chosen < 0 && step < 0 ? 1 : 0)) % shown.length;
      mark();
    } else if (event.key === 'Enter') {
      if (chosen >= 0) {
        event.preventDefault();
        open(chosen);
      } else update(false);
    } else if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault();
      update(false);
    }
  });
}
