import { tryOrUndefined } from './try-or-undefined.ts';

/** Decodes a part of a URL. One with a stray percent sign stands for itself. */
export const decodeUri = (part: string): string => tryOrUndefined(() => decodeURIComponent(part)) ?? part;
