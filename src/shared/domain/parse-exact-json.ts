/**
 * Matches a string (with the colon after it, if it is a member's name) or a number. A string without an end matches to the
 * end of the text: else the search would begin again at each quote in it, in quadratic time.
 */
const JSON_STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*(?:"(\s*:)?|\\?$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
const LONG_INTEGER = /^-?[1-9]\d{15,}$/;
/** The prefix of a long integer while it is a string. A string that starts with it gets a second one, so none is mistaken. */
const BIGINT_MARK = '\0';
const ESCAPED_MARK = '\\u0000';

/** Parses JSON as `JSON.parse` does, but keeps integers beyond 2^53 exact, as `bigint`. Throws SyntaxError. */
export function parseExactJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(JSON_STRING_OR_NUMBER, (value, name: string | undefined) => {
    if (name !== undefined) return value;
    if (LONG_INTEGER.test(value)) return Number.isSafeInteger(Number(value)) ? value : `"${ESCAPED_MARK}${value}"`;
    return value.startsWith(`"${ESCAPED_MARK}`) ? `"${ESCAPED_MARK}${value.slice(1)}` : value;
  });
  if (marked === text) return JSON.parse(text);
  return JSON.parse(marked, (_, value) => {
    if (typeof value !== 'string' || !value.startsWith(BIGINT_MARK)) return value;
    return value.startsWith(BIGINT_MARK, 1) ? value.slice(1) : BigInt(value.slice(1));
  });
}
