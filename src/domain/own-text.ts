/**
 * Returns a text of one-byte characters in memory of its own. V8 keeps a part of a longer text as a reference into that, and
 * so keeps the whole request alive of which an address is a part.
 */
export const ownText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
