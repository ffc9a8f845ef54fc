import type { RawExchange } from '../../../support/raw-http.ts';

export type RequirementLevel = 'MUST' | 'SHOULD' | 'MAY';

/** A message, and what the specifications say of what comes back. */
export interface HttpCase {
  readonly level: RequirementLevel;
  /** Where it is said: RFC and section. */
  readonly rule: string;
  readonly title: string;
  /** Each packet is sent after the gateway has read the one before. */
  readonly packets: readonly (string | Buffer)[];
  /** So many answers are waited for. */
  readonly responses: number;
  readonly holds: ExchangePredicate;
}

export type ExchangePredicate = (heard: RawExchange) => boolean;

export interface ExpectedExchange {
  readonly holds: ExchangePredicate;
  readonly responses: number;
}

/** The cases of one section. */
export const section =
  (rule: string) =>
  (
    level: RequirementLevel,
    title: string,
    packets: string | Buffer | readonly string[],
    expected: ExpectedExchange,
  ): HttpCase => ({
    level,
    rule,
    title,
    packets: Array.isArray(packets) ? packets : [packets as string | Buffer], // an array or not
    ...expected,
  });

export const statuses = ({ text }: RawExchange): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/** Answered so, one after the other, and with nothing else. */
export const expectStatuses = (...expected: readonly (number | readonly number[])[]): ExpectedExchange => ({
  responses: expected.length,
  holds: (heard) => {
    const got = statuses(heard);
    return got.length === expected.length && got.every((status, i) => [expected[i]].flat().includes(status));
  },
});

/** The same, and then the end of the connection. */
export const expectStatusesThenClose = (...expected: readonly (number | readonly number[])[]): ExpectedExchange => {
  const { responses, holds } = expectStatuses(...expected);
  return { responses, holds: (heard) => heard.closed && holds(heard) };
};

const isRefusal = (status: number): boolean => status >= 400;

/** Refused or cut off, and nothing behind it is read. */
export const expectRefusal: ExpectedExchange = {
  responses: 1,
  holds: (heard) => {
    const got = statuses(heard);
    return heard.closed && got.length <= 1 && got.every(isRefusal);
  },
};

/** Closed behind one answer at most. */
export const expectClosedAfterOne: ExpectedExchange = {
  responses: 1,
  holds: (heard) => heard.closed && statuses(heard).length <= 1,
};

/** Not taken for a good request, whether the connection lives on or not. */
export const expectNoSuccess: ExpectedExchange = { responses: 1, holds: (heard) => statuses(heard).every(isRefusal) };

/** One answer of which the text has this. */
export const expectMatch = (status: number, pattern: RegExp): ExpectedExchange => ({
  responses: 1,
  holds: (heard) => statuses(heard).join() === String(status) && pattern.test(heard.text),
});
