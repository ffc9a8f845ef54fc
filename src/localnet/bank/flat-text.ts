/**
 * Copies a text into one piece of memory. V8 keeps a text that was put together character by character, as bs58 does,
 * as a tree with a node of 32 bytes for each of them: of 10,000 signatures that are kept, 28 MB.
 */
export const flatten = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
