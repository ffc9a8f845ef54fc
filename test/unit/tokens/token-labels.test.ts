import t from 'tap';
import { findMetadataAddress } from '../../../src/solana/accounts/metaplex-metadata-account.ts';
import { quotedName, tokenLabelText } from '../../../src/solana/accounts/token-label.ts';
import { createKnownMints } from '../../../src/tokens/known-mints.ts';
import { TokenLabelCache } from '../../../src/tokens/token-labels.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { addressFromByte, metadataFixture, mintFixture, rpcResultOf } from '../../support/token-account-fixtures.ts';

t.test('a name is no part of the sentence around it', async (t) => {
  const shown: Record<string, string | null> = {
    WIF: 'WIF',
    $WIF: '$WIF',
    'WIF\u0000\u0000': '“WIF”',
    'USDC.e': '“USDC.e”',
    狗: '“狗”',
    '🐕': '“🐕”',
    'USDC to Alice and': '“USDC to Alice and”',
    'X” to Alice. “Y': '“X to Alice. Y”',
    'A\u202eB\u200bC': '“ABC”',
    'one\ntwo\t three': '“onetwo three”',
    '5 SOL': '“5 SOL”',
    שקל: null,
    '\u200b': null,
    '': null,
  };
  const told = Object.keys(shown).map((symbol) => [symbol, tokenLabelText({ symbol, name: '' })]);
  t.same(Object.fromEntries(told), shown);
  t.equal(tokenLabelText({ symbol: '', name: 'A dog' }), '“A dog”');
  t.equal(quotedName('x'.repeat(10_000)), `“${'x'.repeat(31)}…”`);
  t.equal(quotedName(`Z${'\u0336'.repeat(50)}`), '“Z\u0336”', 'no pile of marks');
});

t.test('what may be another token is ambiguous: one with the look of a known symbol, and namesakes', async (t) => {
  const mints = Array.from({ length: 7 }, (_, i) => addressFromByte(i + 1));
  const named: readonly (readonly [symbol: string, supply: number])[] = [
    ['WAG', 100],
    ['USDC', 100],
    ['USDС', 100], // its last letter is Cyrillic
    ['CAT', 100],
    ['cat', 100],
    ['MAD', 1],
  ];
  const accounts = new Map(
    named.flatMap(([symbol, supply], i) => {
      const mint = mints[i] ?? '';
      return [
        [mint, mintFixture(0, supply)],
        [findMetadataAddress(mint), metadataFixture(mint, `Name of ${symbol}`, symbol)],
      ] as const;
    }),
  );
  const clock = new ManualClock();
  let [calls, rows] = [0, 0];
  const call = async (method: string, params: readonly unknown[] = []) => {
    calls++;
    const value = Buffer.from(rpcResultOf(accounts, method, params));
    return { slot: 9, value, result: value };
  };
  const countRows = (count: number) => {
    rows += count;
  };
  const labels = new TokenLabelCache(clock, createKnownMints({}));
  const find = async (wanted: readonly string[]) =>
    Object.fromEntries(
      await labels.find(wanted, { mesh: { call }, countRows }, { commitment: 'confirmed', minContextSlot: 9 }),
    );
  const clear = (text: string) => ({ text, isAmbiguous: false });
  const ambiguous = (text: string) => ({ text, isAmbiguous: true });
  t.same(Object.values(await find(mints)), [
    clear('WAG'),
    ambiguous('“USDC”'),
    ambiguous('“USDС”'),
    ambiguous('CAT'),
    ambiguous('cat'),
    clear('“Name of MAD”'), // an NFT
  ]);
  t.same([calls, rows], [1, 7], 'one call, and a row for each mint');
  t.same(Object.values(await find([mints[3] ?? '', mints[6] ?? ''])), [clear('CAT')], 'alone it is clear');
  t.same([calls, rows], [1, 7], 'what has no name is remembered, too');
  clock.advance(300_000);
  await find(mints.slice(0, 2));
  t.same([calls, rows], [2, 9], 'for five minutes');
});
