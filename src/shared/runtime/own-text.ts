/**
 * Returns a text of one-byte characters in one piece of memory of its own. V8 keeps a part of a longer text as a reference
 * into that, and so keeps the whole request alive of which an address is a part; a text that was put together character by
 * character, as by bs58, as a tree with a node of 32 bytes for each of them: of 10,000 signatures in memory, 28 MB.
 */
export const ownText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
