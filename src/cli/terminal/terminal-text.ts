/**
 * Escapes what a terminal would act on or not show: control characters, also those of C1, and marks that turn the
 * direction of text. In JSON, where they stand in texts alone, the escapes mean the same.
 */
export const terminalText = (text: string): string =>
  text.replace(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (mark) =>
    Array.from({ length: mark.length }, (_, at) => `\\u${mark.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );

/** Shortens a key or a genesis hash for people, who compare its ends. */
export const shortKey = (key: string): string => (key.length <= 12 ? key : `${key.slice(0, 4)}..${key.slice(-4)}`);
