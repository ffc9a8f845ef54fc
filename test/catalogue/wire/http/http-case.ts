import type { RawExchange } from '../../../support/raw-http.ts';

export type RequirementLevel = 'MUST' | 'SHOULD' | 'MAY';

export interface HttpCase {
  readonly level: RequirementLevel;
  /** Source: RFC and section. */
  readonly rule: string;
  readonly title: string;
  /** Packets; each is sent after the gateway has read the previous one. */
  readonly packets: readonly (string | Buffer)[];
  readonly responses: number;
  readonly holds: ExchangePredicate;
}

export type ExchangePredicate = (exchanged: RawExchange) => boolean;

export interface ExpectedExchange {
  readonly holds: ExchangePredicate;
  readonly responses: number;
}

/** Returns a function that builds the cases of one section. */
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

/** Expects exactly these statuses in order. */
export const answers = (...expected: readonly (number | readonly number[])[]): ExpectedExchange => ({
  responses: expected.length,
  holds: (exchanged) => {
    const got = statuses(exchanged);
    return got.length === expected.length && got.every((status, i) => [expected[i]].flat().includes(status));
  },
});

/** Expects exactly these statuses and then the end of the connection. */
export const endsAfter = (...expected: readonly (number | readonly number[])[]): ExpectedExchange => {
  const { responses, holds } = answers(...expected);
  return { responses, holds: (exchanged) => exchanged.closed && holds(exchanged) };
};

const isRefusal = (status: number): boolean => status >= 400;

/** Expects a refusal or a closed connection, and no answer to what follows. */
export const refusal: ExpectedExchange = {
  responses: 1,
  holds: (exchanged) => {
    const got = statuses(exchanged);
    return exchanged.closed && got.length <= 1 && got.every(isRefusal);
  },
};

/** Expects a closed connection after at most one answer. */
export const endsAfterOne: ExpectedExchange = {
  responses: 1,
  holds: (exchanged) => exchanged.closed && statuses(exchanged).length <= 1,
};

/** Expects no success; the connection may stay open. */
export const noSuccess: ExpectedExchange = {
  responses: 1,
  holds: (exchanged) => statuses(exchanged).every(isRefusal),
};

/** Expects one answer whose text matches. */
export const matching = (status: number, pattern: RegExp): ExpectedExchange => ({
  responses: 1,
  holds: (exchanged) => statuses(exchanged).join() === String(status) && pattern.test(exchanged.text),
});
