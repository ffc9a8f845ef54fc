const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?[1-9]\d{15,}$/;
/** Marks a long integer while it passes as text; text that a caller sent with it in is read the plain way. */
const MARK = '\0';

/** Reads JSON in which integers beyond a double stay exact, as `bigint`. Throws SyntaxError. */
export function parseExactJson(text: string): unknown {
  if (!/\d{16}/.test(text) || text.includes('\\u0000')) return JSON.parse(text);
  const marked = text.replace(TOKEN, (token) => (LONG_INTEGER.test(token) ? `"\\u0000${token}"` : token));
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}
