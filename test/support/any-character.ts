import fc from 'fast-check';

/**
 * Any character of Unicode, as `unit` of `fc.string`. fast-check's own `binary` is the same set, but first builds a table of
 * all million characters, in most of a second.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ max: 0xd7ff, min: 0 }), fc.integer({ max: 0x10ffff, min: 0xe000 }))
  .map((codePoint) => String.fromCodePoint(codePoint));
