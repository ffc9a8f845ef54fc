const OPENING = '{"type":"';
const ANSWER = '"answer":';

/**
 * The signed body in an account push, or the text itself when it is none. A push is not signed, the answer that is its
 * last member is; in what stands before, a quote inside a text is escaped, so the first `"answer":` is the member.
 */
export function answerIn(message: string): string {
  const at = message.startsWith(OPENING) ? message.indexOf(ANSWER) : -1;
  return at < 0 ? message : message.slice(at + ANSWER.length, -1);
}
