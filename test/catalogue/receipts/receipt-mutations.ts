import fc from 'fast-check';

/** One harm done to a body. It may leave the body as it was. */
export type Mutation = (body: string) => string;

/** Where each member of a receipt has its value. */
const VALUES =
  /"(?:v|kid|cluster|request|status|slot|commitment|claim|digest|issuedAt|nonce|size|index|path|sig)":(\[[^\]]*\]|"[^"]*"|\w+)/g;

interface Value {
  readonly at: number;
  readonly text: string;
}

const valuesIn = (body: string): Value[] =>
  [...body.matchAll(VALUES)].map(({ index, 0: whole, 1: text = '' }) => ({
    at: index + whole.length - text.length,
    text,
  }));

const splice = (body: string, at: number, length: number, by: string): string =>
  body.slice(0, at) + by + body.slice(at + length);

/** Puts another value in the place of one, if both are there. */
const exchange = (body: string, value: Value | undefined, by: string | undefined): string =>
  value === undefined || by === undefined ? body : splice(body, value.at, value.text.length, by);

const place = fc.nat(4000);

const flipBit = fc.tuple(place, fc.nat(6)).map(
  ([at, bit]): Mutation =>
    (body) => {
      const index = at % body.length;
      return splice(body, index, 1, String.fromCharCode(body.charCodeAt(index) ^ (1 << bit)));
    },
);

const typeOver = fc.tuple(place, fc.nat(2), fc.constantFrom(...'0123456789abcdefABC {}[]",:.e-\\\n')).map(
  ([at, length, by]): Mutation =>
    (body) =>
      splice(body, at % body.length, length, by),
);

const changeDigit = fc.tuple(place, fc.nat(15)).map(
  ([at, to]): Mutation =>
    (body) => {
      const digits = [...body.matchAll(/[0-9a-f]/g)];
      return splice(body, digits[at % digits.length]?.index ?? 0, 1, to.toString(16));
    },
);

const cutOut = fc.tuple(place, fc.nat(80)).map(
  ([at, length]): Mutation =>
    (body) =>
      splice(body, at % body.length, length, ''),
);

const countOn = fc.tuple(place, fc.integer({ min: -3, max: 3 })).map(
  ([at, by]): Mutation =>
    (body) => {
      const numbers = valuesIn(body).filter(({ text }) => /^\d+$/.test(text));
      const number = numbers[at % numbers.length];
      return exchange(body, number, String(Number(number?.text) + by));
    },
);

const moveValue = fc.tuple(place, place).map(
  ([from, to]): Mutation =>
    (body) => {
      const values = valuesIn(body);
      return exchange(body, values[to % values.length], values[from % values.length]?.text);
    },
);

const takeValue = (donors: fc.Arbitrary<string>) =>
  fc.tuple(place, donors).map(
    ([at, donor]): Mutation =>
      (body) => {
        const values = valuesIn(body);
        return exchange(body, values[at % values.length], valuesIn(donor)[at % values.length]?.text);
      },
  );

const takeEnd = (donors: fc.Arbitrary<string>) =>
  fc.tuple(place, donors).map(
    ([at, donor]): Mutation =>
      (body) =>
        body.slice(0, at % body.length) + donor.slice(at % body.length),
  );

const takeReceipt = (donors: fc.Arbitrary<string>) =>
  donors.map(
    (donor): Mutation =>
      (body) =>
        body.slice(0, body.lastIndexOf('{')) + donor.slice(donor.lastIndexOf('{')),
  );

/** Any harm; some of it is done with parts of other bodies. */
export const mutations = (donors: fc.Arbitrary<string>): fc.Arbitrary<Mutation> =>
  fc.oneof(
    flipBit,
    typeOver,
    changeDigit,
    cutOut,
    countOn,
    moveValue,
    takeValue(donors),
    takeEnd(donors),
    takeReceipt(donors),
  );
