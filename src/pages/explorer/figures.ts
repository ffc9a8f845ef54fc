import { Figures, UNKNOWN } from '../format/figures.ts';

/** The formats of the explorer, in the language of its reader. */
export const figures = new Figures(navigator.language);

/** Counts in words: `1 lamport`, `1,234 lamports`. */
export const countOf = (count: number | bigint, what: string): string =>
  `${figures.integer(count)} ${what}${BigInt(count) === 1n ? '' : 's'}`;

const times = new Intl.DateTimeFormat(figures.language, { dateStyle: 'medium', timeStyle: 'medium' });

export const timeOf = (seconds: number | null): string => (seconds === null ? UNKNOWN : times.format(seconds * 1000));
