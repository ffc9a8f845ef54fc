const OPENING = '{"type":"';
const ANSWER_MEMBER = ',"answer":';

/** An account push taken apart. It is not signed; the answer in it is. */
export interface PushFrame {
  /** All that is said besides the answer: JSON. */
  readonly metadata: string;
  /** The body of the route's answer, byte for byte. */
  readonly answer: string;
}

/** A push: its type, what else is said as members of JSON, and the body of the route's answer. */
export const formatPushFrame = (type: string, members: string, answer: { toString(): string }): string =>
  `${OPENING}${type}",${members}${ANSWER_MEMBER}${answer}}`;

/**
 * Takes a push apart, undefined for any other text. The answer is its last member; in what stands before, a quote inside
 * a text is escaped, so the first `"answer":` is the member.
 */
export function parsePushFrame(message: string): PushFrame | undefined {
  const at = message.startsWith(OPENING) ? message.indexOf(ANSWER_MEMBER) : -1;
  return at < 0
    ? undefined
    : { metadata: `${message.slice(0, at)}}`, answer: message.slice(at + ANSWER_MEMBER.length, -1) };
}

/** The signed body in an account push, or the text itself when it is none. */
export const answerInFrame = (message: string): string => parsePushFrame(message)?.answer ?? message;
