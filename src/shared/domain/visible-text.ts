/**
 * Escapes what a terminal would act on, and what no reader sees: control characters, also those of C1, and marks that turn the
 * direction of text, by which a name would show the figures beside it in another order. In JSON, where they stand in texts
 * alone, the escapes mean the same.
 */
export const visibleText = (text: string): string =>
  text.replace(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (mark) =>
    Array.from({ length: mark.length }, (_, at) => `\\u${mark.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
