import fc from 'fast-check';
import { Pool } from 'undici';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { expectNone, info } from '../../findings.ts';
import { countFor, expectAll, type WireRow } from '../wire-row.ts';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const VALID_ADDRESS = 'ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ';
const AT_ONCE = 32;

const addressWithOneWrongCharacter = fc.tuple(
  fc.nat(VALID_ADDRESS.length - 1),
  fc.constantFrom('0', 'O', 'I', 'l', '-', '_', '+', '%', ' '),
);
/** Invalid addresses: foreign characters, 31, 33 and 64 bytes, and more. */
const invalidAddress = fc.oneof(
  addressWithOneWrongCharacter.map(([at, char]) =>
    encodeURIComponent(VALID_ADDRESS.slice(0, at) + char + VALID_ADDRESS.slice(at + 1)),
  ),
  fc.constantFrom(
    '1'.repeat(31),
    '1'.repeat(33),
    '1'.repeat(64),
    'z'.repeat(44),
    `${'z'.repeat(43)}1`,
    `${VALID_ADDRESS}1`,
  ),
  fc.string({ unit: fc.constantFrom(...BASE58), minLength: 1, maxLength: 31 }),
  fc.string({ unit: fc.constantFrom(...BASE58), minLength: 45, maxLength: 1500 }),
);
const ROUTES = ['/balance/', '/account/', '/token-accounts/', '/token/', '/balances?addresses='];

export const invalidAddresses: WireRow = {
  id: '16',
  title: 'invalid addresses',
  async run({ url, node, gateway }, runLength) {
    const count = countFor(runLength, 1000, 10_000, 100_000);
    const sent = fc.sample(invalidAddress, { numRuns: count });
    const asked = new Set<unknown>();
    for (const method of ['getMultipleAccounts', 'getAccountInfo', 'getBalance', 'getTokenAccountsByOwner']) {
      node.overrides.set(method, (params) => {
        for (const address of params.flat()) asked.add(address);
        return undefined;
      });
    }
    const pool = new Pool(url, { connections: AT_ONCE });
    const before = await gateway.cpuSeconds();
    let refused = 0;
    await forEachConcurrent(sent, AT_ONCE, async (text, i) => {
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: `/api/v1${ROUTES[i % ROUTES.length]}${text}`,
      });
      if (statusCode === 400 && (await body.text()).includes('"invalid_address"')) refused++;
      else console.error(`   ${statusCode} ${ROUTES[i % ROUTES.length]}${text}`);
    });
    const after = await gateway.cpuSeconds();
    await pool.destroy();
    node.overrides.clear();
    return [
      expectAll('refused by 400', refused, count),
      expectNone(
        'that the node was asked for',
        sent.filter((text) => asked.has(text) || asked.has(decoded(text))).length,
      ),
      info('µs of CPU each, HTTP included', ((after - before) * 1e6) / count),
    ];
  },
};

const decoded = (text: string): string => decodeURIComponent(text);
