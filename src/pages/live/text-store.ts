import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';

interface KeptTexts {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
}

/** Reads and writes what a browser keeps. Where its reader lets pages keep nothing there is nothing to read. */
export const textStore = (kept: () => KeptTexts) => ({
  read: (name: string): string | undefined => tryOrUndefined(() => kept().getItem(name)) ?? undefined,
  write: (name: string, text: string): void => tryOrUndefined(() => kept().setItem(name, text)),
});
