import { elementById, setText } from './elements.ts';
import { browserTexts } from './store.ts';
import { THEME_STORE } from './theme-store.ts';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const SIGNS: Readonly<Record<Theme, string>> = { auto: '◐', light: '○', dark: '●' };

/** What follows the colours of the page by script: plots. */
const listeners: (() => void)[] = [];

/** Calls the listener when the colours of the page change. */
export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

const announce = (): void => {
  for (const listener of listeners) listener();
};

/** Lets the reader choose the theme, which this browser remembers. */
export function enableTheme(): void {
  const button = elementById('theme', HTMLButtonElement);
  const show = (theme: Theme): void => {
    document.documentElement.style.colorScheme = theme === 'auto' ? '' : theme;
    setText(button, SIGNS[theme]);
    button.setAttribute('aria-label', `Theme: ${theme}`);
    button.title = `Theme: ${theme}`;
    announce();
  };
  const chosen = browserTexts.read(THEME_STORE);
  let theme = THEMES.find((each) => each === chosen) ?? 'auto';
  show(theme);
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    show(theme);
    browserTexts.write(THEME_STORE, theme);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', announce);
  addEventListener('beforeprint', () => {
    document.documentElement.style.colorScheme = 'light'; // paper is white
    announce();
  });
  addEventListener('afterprint', () => show(theme));
}
