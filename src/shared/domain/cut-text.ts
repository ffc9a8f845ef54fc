/** Cuts a text to a number of characters (code points); the last one is an ellipsis where something is missing. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const characters = [...text.slice(0, 2 * maxCharacters + 2)]; // no character has more than two UTF-16 units
  return characters.length <= maxCharacters ? text : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

const utf8 = new TextEncoder();

/** Cuts a text to a number of bytes in UTF-8, between characters; it ends with an ellipsis where something is missing. */
export function cutToBytes(text: string, maxBytes: number): string {
  const lengthIn = (bytes: number): number => utf8.encodeInto(text, new Uint8Array(bytes)).read;
  return lengthIn(maxBytes) === text.length ? text : `${text.slice(0, lengthIn(maxBytes - 3))}…`;
}
