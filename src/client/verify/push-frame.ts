import type { StateBefore } from './event-chain.ts';

const OPENING = '{"type":"';
const ANSWER_MEMBER = ',"answer":';

/** A parsed account push. The frame is not signed; the answer in it is. */
export interface PushFrame {
  readonly metadata: string;
  /** The body of the route's answer, byte for byte. */
  readonly answer: string;
}

/** Formats a push from its type, its other members as JSON, and the body of the route's answer. */
export const formatPushFrame = (type: string, members: string, answer: { toString(): string }): string =>
  `${OPENING}${type}",${members}${ANSWER_MEMBER}${answer}}`;

/** Undefined for any other text. Quotes in earlier strings are escaped, so the first `"answer":` is the last member. */
export function parsePushFrame(message: string): PushFrame | undefined {
  const at = message.startsWith(OPENING) ? message.indexOf(ANSWER_MEMBER) : -1;
  return at < 0
    ? undefined
    : { metadata: `${message.slice(0, at)}}`, answer: message.slice(at + ANSWER_MEMBER.length, -1) };
}

/** Returns the signed body in an account push, or the text itself if it is none. */
export const answerInFrame = (message: string): string => parsePushFrame(message)?.answer ?? message;

const BEFORE = /,"before":\{"slot":(\d{1,16}),"result":/;

/** Returns the state before an event, the last member before its answer; undefined in a frame without one. */
export function stateBeforeIn(metadata: string): StateBefore | undefined {
  const found = BEFORE.exec(metadata);
  if (found === null) return undefined;
  return { slot: Number(found[1]), result: metadata.slice(found.index + found[0].length, -2) };
}
