const OPENING = '{"type":"';
const ANSWER = ',"answer":';

/** An account push taken apart. It is not signed; the answer in it is. */
export interface Push {
  /** All that is said besides the answer: JSON. */
  readonly head: string;
  /** The body of the route's answer, byte for byte. */
  readonly answer: string;
}

/** A push: its type, what else is said as members of JSON, and the body of the route's answer. */
export const pushOf = (type: string, members: string, answer: { toString(): string }): string =>
  `${OPENING}${type}",${members}${ANSWER}${answer}}`;

/**
 * Takes a push apart, undefined for any other text. The answer is its last member; in what stands before, a quote inside
 * a text is escaped, so the first `"answer":` is the member.
 */
export function pushIn(message: string): Push | undefined {
  const at = message.startsWith(OPENING) ? message.indexOf(ANSWER) : -1;
  return at < 0 ? undefined : { head: `${message.slice(0, at)}}`, answer: message.slice(at + ANSWER.length, -1) };
}

/** The signed body in an account push, or the text itself when it is none. */
export const answerIn = (message: string): string => pushIn(message)?.answer ?? message;
