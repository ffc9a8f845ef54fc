import t from 'tap';
import { tokenMetadataOf } from '../../../../src/solana/accounts/token-identity.ts';
import type { Mint } from '../../../../src/solana/accounts/token-program-accounts.ts';
import { addressFromByte } from '../../../support/token-account-fixtures.ts';

const [mint, group, one, two] = [1, 2, 3, 4].map(addressFromByte) as [string, string, string, string];

/** A Token-2022 mint with metadata in itself that has these fields besides. */
const mintWith = (additionalMetadata: readonly (readonly [string, string])[], memberMint = mint): Mint => ({
  type: 'mint',
  program: 'spl-token-2022',
  mintAuthority: null,
  supply: 1n,
  decimals: 0,
  isInitialized: true,
  freezeAuthority: null,
  extensions: [
    {
      extension: 'tokenMetadata',
      state: {
        updateAuthority: null,
        mint,
        name: 'n',
        symbol: 's',
        uri: 'u',
        additionalMetadata: [...additionalMetadata],
      },
    },
    { extension: 'tokenGroupMember', state: { mint: memberMint, group, memberNumber: 1n } },
  ],
});

const read = (account: Mint) => tokenMetadataOf(mint, account, () => undefined);

t.test('a Token-2022 mint tells its royalties and its group where its fields have them', async (t) => {
  const fields = [
    ['royalty_basis_points', '500'],
    [one, '60'],
    ['trait', '40'],
    [two, '40'],
  ] as const;
  t.match(read(mintWith(fields)), {
    sellerFeeBasisPoints: 500,
    creators: [
      { address: one, share: 60, verified: null },
      { address: two, share: 40, verified: null },
    ],
    collection: { key: group, verified: true },
    tokenStandard: null,
    primarySaleHappened: null,
    isMutable: false,
  });
});

t.test('what is no royalty, no share and no group of this mint is not told as one', async (t) => {
  const untold = { sellerFeeBasisPoints: null, creators: null };
  t.match(read(mintWith([[one, '60']])), untold, 'an address without royalties is any field');
  for (const text of ['10001', '5%', '-1', '', '1e3'])
    t.match(read(mintWith([['royalty_basis_points', text]])), untold, text);
  const shares = [
    ['royalty_basis_points', '10000'],
    [one, '101'],
    [two, 'all'],
  ] as const;
  t.match(read(mintWith(shares)), { sellerFeeBasisPoints: 10_000, creators: [] });
  t.equal(read(mintWith([], one))?.collection, null);
});
