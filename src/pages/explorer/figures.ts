import { Figures } from '../format/figures.ts';

/** The formats of the explorer, in the language of its reader. */
export const figures = new Figures(navigator.language);
