import type { Heard } from '../../../support/raw.ts';

export type Level = 'MUST' | 'SHOULD' | 'MAY';

/** A message, and what the specifications say of what comes back. */
export interface Case {
  readonly level: Level;
  /** Where it is said: RFC and section. */
  readonly rule: string;
  readonly what: string;
  /** Each packet is sent after the gateway has read the one before. */
  readonly packets: readonly (string | Buffer)[];
  /** So many answers are waited for. */
  readonly answers: number;
  readonly holds: Verdict;
}

export type Verdict = (heard: Heard) => boolean;

export interface Expected {
  readonly holds: Verdict;
  readonly answers: number;
}

/** The cases of one section. */
export const section =
  (rule: string) =>
  (level: Level, what: string, packets: string | Buffer | readonly string[], expected: Expected): Case => ({
    level,
    rule,
    what,
    packets: Array.isArray(packets) ? packets : [packets as string | Buffer], // an array or not
    ...expected,
  });

export const statuses = ({ text }: Heard): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/** Answered so, one after the other, and with nothing else. */
export const answered = (...expected: readonly (number | readonly number[])[]): Expected => ({
  answers: expected.length,
  holds: (heard) => {
    const got = statuses(heard);
    return got.length === expected.length && got.every((status, i) => [expected[i]].flat().includes(status));
  },
});

/** The same, and then the end of the connection. */
export const answeredLast = (...expected: readonly (number | readonly number[])[]): Expected => {
  const { answers, holds } = answered(...expected);
  return { answers, holds: (heard) => heard.closed && holds(heard) };
};

const isRefusal = (status: number): boolean => status >= 400;

/** Refused or cut off, and nothing behind it is read. */
export const refused: Expected = {
  answers: 1,
  holds: (heard) => {
    const got = statuses(heard);
    return heard.closed && got.length <= 1 && got.every(isRefusal);
  },
};

/** Closed behind one answer at most. */
export const cutOff: Expected = { answers: 1, holds: (heard) => heard.closed && statuses(heard).length <= 1 };

/** Not taken for a good request, whether the connection lives on or not. */
export const unserved: Expected = { answers: 1, holds: (heard) => statuses(heard).every(isRefusal) };

/** One answer of which the text has this. */
export const telling = (status: number, pattern: RegExp): Expected => ({
  answers: 1,
  holds: (heard) => statuses(heard).join() === String(status) && pattern.test(heard.text),
});
