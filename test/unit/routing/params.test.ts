import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { GatewayError } from '../../../src/domain/gateway-error.ts';
import { address, addresses, commitment, kid } from '../../../src/routing/params.ts';

/** Returns the code of the error that `work` throws, or `accepted`. */
function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.code;
    throw thrown;
  }
  return 'accepted';
}

t.test('an address is 32 bytes in base58, and is returned as it was written', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const text = bs58.encode(bytes);
      return address.parse(text, 'addr') === text;
    }),
  );
});

t.test('any other text is not an address', async (t) => {
  const bytes = fc.uint8Array({ maxLength: 80 }).filter(({ length }) => length !== 32);
  const other = fc.oneof(
    bytes.map((bytes) => bs58.encode(bytes)),
    fc.string().filter((text) => !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)),
  );
  fc.assert(fc.property(other, (text) => refusalOf(() => address.parse(text, 'addr')) === 'invalid_address'));
  t.equal(
    refusalOf(() => address.parse(undefined, 'addr')),
    'invalid_address',
  );
  const start = performance.now();
  t.equal(
    refusalOf(() => address.parse('z'.repeat(1_000_000), 'addr')),
    'invalid_address',
  );
  t.ok(performance.now() - start < 50, 'a long text is not decoded');
});

t.test('a commitment has a default, and accepts only those that the route accepts', async (t) => {
  const param = commitment('confirmed', ['confirmed', 'finalized']);
  t.equal(param.parse(undefined, 'commitment'), 'confirmed');
  t.equal(param.parse('finalized', 'commitment'), 'finalized');
  for (const text of ['processed', '', 'Finalized', 'finalized '])
    t.equal(
      refusalOf(() => param.parse(text, 'commitment')),
      'invalid_query',
      text,
    );
});

t.test('a key id is 16 lower-case hex digits', async (t) => {
  t.equal(kid.parse(undefined, 'kid'), undefined);
  t.equal(kid.parse('0123456789abcdef', 'kid'), '0123456789abcdef');
  for (const text of ['', '0123456789ABCDEF', '0123456789abcde', '0123456789abcdef0'])
    t.equal(
      refusalOf(() => kid.parse(text, 'kid')),
      'invalid_query',
      text,
    );
});

const anyAddress = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bs58.encode(bytes));

t.test('a list has as many addresses as the route accepts, all different, in the order given', async (t) => {
  const param = addresses(3);
  fc.assert(
    fc.property(fc.uniqueArray(anyAddress, { minLength: 1, maxLength: 3 }), (list) => {
      return param.parse(list.join(','), 'addresses').join() === list.join();
    }),
  );
  const [one, two, three, four] = [1, 2, 3, 4].map((byte) => bs58.encode(new Uint8Array(32).fill(byte)));
  const refused = (text: string | undefined) => {
    try {
      return String(param.parse(text, 'addresses'));
    } catch (thrown) {
      const { code, message } = GatewayError.from(thrown);
      return `${code}: ${message}`;
    }
  };
  const count = 'invalid_query: addresses must be 1 to 3 addresses, separated by commas';
  for (const text of [undefined, '', [one, two, three, four].join(), ','.repeat(2000)]) t.equal(refused(text), count);
  const malformed = 'must be an address: 32 bytes in base58';
  for (const bad of ['', ' ', 'x', `${two} `])
    t.equal(refused(`${one},${bad}`), `invalid_address: item 2 of addresses ${malformed}`);
  t.equal(refused(`${one},${two},${one}`), 'invalid_query: item 3 of addresses repeats item 1');
});
