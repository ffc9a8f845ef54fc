/** A string that is no name of a member, or a number. */
const JSON_STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?[1-9]\d{15,}$/;
/** Opens a long integer while it passes as text. Text that opens with it gets a second one, so nothing is mistaken. */
const BIGINT_MARK = '\0';
const ESCAPED_MARK = '\\u0000';

/** Reads JSON in which integers beyond 2^53 stay exact, as `bigint`; all else as `JSON.parse`. Throws SyntaxError. */
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
