import fc from 'fast-check';

/** A mutation of a body. It may leave the body unchanged. */
export type Mutation = (body: string) => string;

/** Matches the value of each member of a receipt. */
const VALUES =
  /"(?:v|kid|cluster|request|status|slot|commitment|claim|digest|issuedAt|nonce|size|index|path|sig)":(\[[^\]]*\]|"[^"]*"|\w+)/g;

interface MemberValue {
  readonly at: number;
  readonly text: string;
}

const findValues = (body: string): MemberValue[] =>
  [...body.matchAll(VALUES)].map(({ index, 0: whole, 1: text = '' }) => ({
    at: index + whole.length - text.length,
    text,
  }));

const splice = (body: string, at: number, length: number, by: string): string =>
  body.slice(0, at) + by + body.slice(at + length);

/** Replaces a value by another, if both exist. */
const replaceValue = (body: string, value: MemberValue | undefined, by: string | undefined): string =>
  value === undefined || by === undefined ? body : splice(body, value.at, value.text.length, by);

const position = fc.nat(4000);

const flipBit = fc.tuple(position, fc.nat(6)).map(
  ([at, bit]): Mutation =>
    (body) => {
      const index = at % body.length;
      return splice(body, index, 1, String.fromCharCode(body.charCodeAt(index) ^ (1 << bit)));
    },
);

const overwrite = fc.tuple(position, fc.nat(2), fc.constantFrom(...'0123456789abcdefABC {}[]",:.e-\\\n')).map(
  ([at, length, by]): Mutation =>
    (body) =>
      splice(body, at % body.length, length, by),
);

const changeDigit = fc.tuple(position, fc.nat(15)).map(
  ([at, to]): Mutation =>
    (body) => {
      const digits = [...body.matchAll(/[0-9a-f]/g)];
      return splice(body, digits[at % digits.length]?.index ?? 0, 1, to.toString(16));
    },
);

const deleteRange = fc.tuple(position, fc.nat(80)).map(
  ([at, length]): Mutation =>
    (body) =>
      splice(body, at % body.length, length, ''),
);

const addToNumber = fc.tuple(position, fc.integer({ min: -3, max: 3 })).map(
  ([at, by]): Mutation =>
    (body) => {
      const numbers = findValues(body).filter(({ text }) => /^\d+$/.test(text));
      const number = numbers[at % numbers.length];
      return replaceValue(body, number, String(Number(number?.text) + by));
    },
);

const swapValues = fc.tuple(position, position).map(
  ([from, to]): Mutation =>
    (body) => {
      const values = findValues(body);
      return replaceValue(body, values[to % values.length], values[from % values.length]?.text);
    },
);

const insertDonorValue = (donors: fc.Arbitrary<string>) =>
  fc.tuple(position, donors).map(
    ([at, donor]): Mutation =>
      (body) => {
        const values = findValues(body);
        return replaceValue(body, values[at % values.length], findValues(donor)[at % values.length]?.text);
      },
  );

const insertDonorEnd = (donors: fc.Arbitrary<string>) =>
  fc.tuple(position, donors).map(
    ([at, donor]): Mutation =>
      (body) =>
        body.slice(0, at % body.length) + donor.slice(at % body.length),
  );

const insertDonorReceipt = (donors: fc.Arbitrary<string>) =>
  donors.map(
    (donor): Mutation =>
      (body) =>
        body.slice(0, body.lastIndexOf('{')) + donor.slice(donor.lastIndexOf('{')),
  );

/** Generates any mutation; some use parts of other bodies. */
export const mutations = (donors: fc.Arbitrary<string>): fc.Arbitrary<Mutation> =>
  fc.oneof(
    flipBit,
    overwrite,
    changeDigit,
    deleteRange,
    addToNumber,
    swapValues,
    insertDonorValue(donors),
    insertDonorEnd(donors),
    insertDonorReceipt(donors),
  );
