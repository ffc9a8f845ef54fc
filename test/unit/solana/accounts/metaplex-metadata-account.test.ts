import t from 'tap';
import { decodeMetadata, findMetadataAddress } from '../../../../src/solana/accounts/metaplex-metadata-account.ts';
import { findRecordedAccount, storedAccounts, thirdPartyDecodings } from '../../../support/recorded-accounts.ts';

const PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';
const STANDARDS = ['NonFungible', 'FungibleAsset', 'Fungible', 'NonFungibleEdition', 'ProgrammableNonFungible'];

const trimmed = (text: string): string => text.replace(/\0+$/, '');

t.test('every recorded metadata account is decoded and has the address derived from its mint', async (t) => {
  const owned = storedAccounts.filter(({ owner }) => owner === PROGRAM);
  t.ok(owned.length >= 23);
  for (const account of owned) {
    const metadata = decodeMetadata(account);
    if (metadata === undefined) t.fail(`${account.recording} is not decoded`);
    else if (account.address !== null) t.equal(findMetadataAddress(metadata.mint), account.address);
  }
});

t.test("Metaplex' library decodes the same", async (t) => {
  const results = thirdPartyDecodings.filter(({ parser }) => parser.includes('mpl-token-metadata'));
  t.equal(results.length, 18);
  for (const { recording, address, decoded } of results) {
    const { updateAuthority, mint, data, primarySaleHappened, isMutable, tokenStandard, collection } = decoded;
    t.strictSame(decodeMetadata(findRecordedAccount(recording, address)), {
      updateAuthority,
      mint,
      name: trimmed(data.name),
      symbol: trimmed(data.symbol),
      uri: trimmed(data.uri),
      sellerFeeBasisPoints: data.sellerFeeBasisPoints,
      creators: data.creators,
      primarySaleHappened,
      isMutable,
      tokenStandard: tokenStandard === null ? null : STANDARDS[tokenStandard],
      collection,
    });
  }
});

t.test('DAS returns the same metadata of a mint', async (t) => {
  const results = thirdPartyDecodings.filter(
    ({ parser, recording }) => parser === 'das' && recording.startsWith('metaplex/'),
  );
  t.equal(results.length, 4);
  for (const { recording, address, decoded } of results) {
    const { name, symbol, json_uri: uri, basis_points: sellerFeeBasisPoints, mutable: isMutable, creators } = decoded;
    const metadata = decodeMetadata(findRecordedAccount(recording));
    t.match(metadata, { mint: address, name, symbol, uri, sellerFeeBasisPoints, isMutable });
    const addresses = (all: readonly { address: string }[]) => all.map((creator) => creator.address).sort();
    t.strictSame(addresses(metadata?.creators ?? []), addresses(creators));
  }
});

t.test('leftovers after the first part cost only the fields stored there', async (t) => {
  const account = findRecordedAccount('metaplex/getAccountInfo-TokenMetadata-2V5z3afW.json');
  const whole = decodeMetadata(account);
  t.equal(whole?.tokenStandard, 'Fungible');
  const standardAt = account.data.lastIndexOf(2);
  const odd = decodeMetadata({ owner: PROGRAM, data: account.data.with(standardAt, 200) });
  t.strictSame(odd, { ...whole, tokenStandard: null, collection: null });
});

t.test('data of another program or account type is not metadata', async (t) => {
  const { data } = findRecordedAccount('metaplex/getAccountInfo-TokenMetadata-2V5z3afW.json');
  t.equal(decodeMetadata({ owner: '11111111111111111111111111111111', data }), undefined);
  t.equal(decodeMetadata({ owner: PROGRAM, data: data.with(0, 6) }), undefined);
  t.equal(decodeMetadata({ owner: PROGRAM, data: data.subarray(0, 100) }), undefined);
});
