import t from 'tap';
import { createKnownMints } from '../../../src/tokens/known-mints.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const known = createKnownMints(
  { wif: 'WIF', inf: 'INF', w: 'W' },
  async (mints) => new Set(mints.filter((m) => m === 'v')),
);

t.test('a mint is verified by address: built in, configured, or on the list of a service', async (t) => {
  t.same([...(await known.findVerified([USDC, 'wif', 'v', 'x']))], [USDC, 'wif', 'v']);
  t.same([...(await createKnownMints({}).findVerified(['wif', 'v']))], []);
});

t.test('another mint with the symbol of a known one is an imitation, whatever its letters look like', async (t) => {
  const imitations = [
    'USDC',
    'usdc',
    ' USDC ',
    'U\u200bSDC',
    'USDC\u0000',
    '$USDC',
    'U$DC',
    'USDС', // Cyrillic
    'ＵＳＤＣ', // full-width
    '𝐔𝐒𝐃𝐂', // mathematical
    'ÚSDĆ',
    'ꓴꓢꓓꓚ', // Lisu
    'ΒΟΝΚ', // Greek
    'B0NK',
    'S0L',
    'SO1',
    'S\u0430O\u0301L'.replace('\u0430', ''),
    'rnSOL',
    '$WIF',
    'lNF',
    `USDC${'\u200b'.repeat(500)}`,
  ];
  const missed = imitations.filter((symbol) => !known.isImitation({ mint: 'x', symbol, name: 'Something' }));
  t.same(missed, []);
  t.ok(known.isImitation({ mint: 'x', symbol: null, name: 'USDС' }), 'where only the name is shown');
  const honest = ['USDCet', 'USDX', 'SOLX', 'BONKERS', 'JITO', 'WEN', '', '??', '狗', 'SO'];
  t.same(
    honest.filter((symbol) => known.isImitation({ mint: 'x', symbol, name: 'A coin' })),
    [],
  );
  t.notOk(known.isImitation({ mint: 'x', symbol: 'SOLX', name: 'SOL' }), 'a name is none of a symbol');
  t.notOk(known.isImitation({ mint: USDC, symbol: 'USDC', name: 'USD Coin' }), 'the known one itself');
  t.notOk(known.isImitation({ mint: 'x', symbol: null, name: null }));
});
