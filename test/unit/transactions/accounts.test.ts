import { ed25519 } from '@noble/curves/ed25519.js';
import { type Address, getAddressDecoder, getProgramDerivedAddress } from '@solana/web3.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { WRAPPED_SOL_MINTS } from '../../../src/shared/domain/known-mints.ts';
import { toJson } from '../../../src/shared/domain/to-json.ts';
import { STAKE_PROGRAM } from '../../../src/shared/domain/well-known-addresses.ts';
import { accountKindOf } from '../../../src/transactions/accounts/account-kind.ts';
import { addressBytes } from '../../../src/transactions/accounts/address-bytes.ts';
import { decodeMetadata, findMetadataAddress } from '../../../src/transactions/accounts/metaplex-metadata-account.ts';
import {
  findAssociatedTokenAddress,
  findProgramAddress,
  isAssociatedTokenAccount,
  isOnCurve,
} from '../../../src/transactions/accounts/program-derived-address.ts';
import {
  decodePriceUpdate,
  findPriceFeedAddress,
  type PriceUpdate,
  usablePrice,
} from '../../../src/transactions/accounts/pyth-price.ts';
import { parseSolDomain, resolveDomain, type SolDomain } from '../../../src/transactions/accounts/sol-domain.ts';
import { decodeStakeAccount, NEVER, stakeStateIn } from '../../../src/transactions/accounts/stake-account.ts';
import { decodeExtensions } from '../../../src/transactions/accounts/token-extensions.ts';
import { nftOwnerOf, tokenMetadataOf, withBoundedTexts } from '../../../src/transactions/accounts/token-identity.ts';
import {
  decodeTokenProgramAccount,
  type Mint,
  tokenProgramOf,
} from '../../../src/transactions/accounts/token-program-accounts.ts';
import {
  type AmountScale,
  amountScaleOf,
  dependsOnClock,
  toTokenAmount,
} from '../../../src/transactions/accounts/ui-amount.ts';
import { formatDouble, formatRoundedDouble, formatUnits } from '../../../src/transactions/codec/format-decimal.ts';
import type { RawAccount } from '../../../src/transactions/codec/raw-account.ts';
import {
  decodeBase64,
  findRecordedAccount,
  parsedAccountRecords,
  recordedAmounts,
  solNames,
  storedAccounts,
  thirdPartyDecodings,
} from '../../support/recorded-accounts.ts';
import { addressFromByte } from '../../support/token-account-fixtures.ts';

t.test('account-kind', async (t) => {
  const SYSTEM = '11111111111111111111111111111111';

  t.test('the owner determines the kind, unless the data is more specific', async (t) => {
    t.equal(accountKindOf(SYSTEM, null), 'system');
    t.equal(accountKindOf(SYSTEM, { program: 'nonce', type: 'initialized' }), 'nonce');
    t.equal(accountKindOf('Vote111111111111111111111111111111111111111', { program: 'vote', type: 'vote' }), 'vote');
    t.equal(accountKindOf('NativeLoader1111111111111111111111111111111', null), 'native-program');
  });

  t.test('token accounts are named by program and type, also those whose owner is another program', async (t) => {
    for (const program of ['spl-token', 'spl-token-2022']) {
      for (const type of ['mint', 'account', 'multisig'])
        t.equal(accountKindOf('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', { program, type }), `${program}:${type}`);
    }
  });

  t.test('a type that no token program has is no kind, whatever a node calls it', async (t) => {
    for (const type of ['mint ✓ known', 'm'.repeat(100_000), 'constructor'])
      t.equal(accountKindOf('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', { program: 'spl-token', type }), 'unknown');
  });

  t.test('an unknown program is unknown, also one named like a property of every object', async (t) => {
    for (const owner of ['9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o', 'constructor', '__proto__'])
      t.equal(accountKindOf(owner, null), 'unknown', owner);
  });
});

t.test('address-bytes', async (t) => {
  const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

  t.test('an address is 32 bytes', async (t) => {
    t.equal(addressBytes(WRAPPED_SOL).length, 32);
  });

  t.test('a text that is longer than any address is refused before it is decoded', async (t) => {
    const long = 'Er'.repeat(500_000); // decoding it would need minutes
    t.throws(() => addressBytes(long), RangeError);
    t.throws(() => addressBytes(`${WRAPPED_SOL}11`), RangeError);
    t.throws(() => findMetadataAddress(long), RangeError);
  });
});

t.test('hostile-accounts', async (t) => {
  /** Runs every decoder on an account of unknown origin. */
  function decodeAll(account: RawAccount): void {
    const token = decodeTokenProgramAccount(account);
    if (token?.type === 'mint') toTokenAmount(token.supply, amountScaleOf(token, 1_800_000_000n));
    decodeMetadata(account);
    const price = decodePriceUpdate(account, account.owner);
    if (price !== undefined) usablePrice(price);
    decodeStakeAccount({ ...account, owner: STAKE_PROGRAM });
    nftOwnerOf(account.owner, account);
  }

  const owners = [...new Set(storedAccounts.map(({ owner }) => owner))];
  const domain = parseSolDomain('vector.sol') as SolDomain; // a valid name

  t.test('no decoder throws, whatever the bytes', async () => {
    fc.assert(
      fc.property(fc.constantFrom(...owners), fc.uint8Array({ maxLength: 700, size: 'max' }), (owner, data) => {
        decodeAll({ owner, data });
      }),
      { numRuns: 2000 },
    );
  });

  t.test('no decoder throws for a recorded account that is cut anywhere or has any byte changed', async () => {
    const account = fc.constantFrom(...storedAccounts.filter(({ data }) => data.length > 0));
    fc.assert(
      fc.property(account, fc.nat(), fc.nat(), fc.nat(255), ({ owner, data }, cut, at, byte) => {
        decodeAll({ owner, data });
        decodeAll({ owner, data: data.subarray(0, cut % data.length) });
        decodeAll({ owner, data: data.with(at % data.length, byte) });
      }),
      { numRuns: 3000 },
    );
  });

  t.test('no list of extensions makes its decoder throw or run past its end', async () => {
    const entry = fc.tuple(fc.nat(30), fc.uint8Array({ maxLength: 130 })).map(([kind, value]) => {
      return [kind, 0, value.length, 0, ...value];
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), (entries) => {
        const read = decodeExtensions(Uint8Array.from(entries.flat()));
        const ends = entries.findIndex(([kind]) => kind === 0);
        return read.length === (ends < 0 ? entries.length : ends);
      }),
    );
  });

  t.test('resolving a name throws for no accounts', async () => {
    const known = solNames.resolutions.flatMap(({ accounts }) => accounts.map((each) => each && decodeBase64(each)));
    const account = fc
      .tuple(fc.constantFrom(...known), fc.nat(200), fc.nat(), fc.nat(255))
      .map(([each, length, at, byte]) => {
        const data = each?.data.subarray(0, length) ?? new Uint8Array();
        return each && { owner: each.owner, data: data.length === 0 ? data : data.with(at % data.length, byte) };
      });
    fc.assert(
      fc.property(fc.array(account, { maxLength: 4 }), (accounts) => {
        resolveDomain(domain, accounts);
      }),
      { numRuns: 500 },
    );
  });
});

t.test('metaplex-metadata-account', async (t) => {
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
});

t.test('program-derived-address', async (t) => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const address = bytes(32).map((key) => getAddressDecoder().decode(key));

  t.test('any program and seeds give the address that kit derives', async () => {
    const seed = fc.oneof(fc.uint8Array({ maxLength: 32 }), fc.string({ maxLength: 8 }));
    await fc.assert(
      fc.asyncProperty(address, fc.array(seed, { maxLength: 15 }), async (program: Address, seeds) => {
        const [expected] = await getProgramDerivedAddress({ programAddress: program, seeds });
        return findProgramAddress(program, seeds) === expected;
      }),
      { numRuns: 50 },
    );
  });

  t.test('the mint of SOL under Token-2022 is the account that this program derives', (t) => {
    t.equal(WRAPPED_SOL_MINTS[1], findProgramAddress('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', ['native-mint']));
    t.end();
  });

  t.test('recorded associated token accounts have the derived address, for both token programs', async (t) => {
    const alice = 'FVj2qVXVVvWLmRzkBwpzXpFrPojW12WeGozD5bdv1nUU';
    t.equal(
      findAssociatedTokenAddress(alice, '3QDsY6egPGk98vW7YXaC8rPSuk37MEn69RT9jyxrR4QJ', 'spl-token'),
      'F4Zp3zj7BAaJX6U4YekiJkLrtVwzkUr7jscyXCRtW28Z',
    );
    t.equal(
      findAssociatedTokenAddress(alice, 'A8XBHigPCgPXfwUY7EK6QRGYQ1QoEo9bXsnjCMHCf83p', 'spl-token-2022'),
      'EGCtKwGBDKWukKTcMSRDyN7bSa6iJmxQ9a8e47wcgqD5',
    );
  });

  t.test('an associated token account is recognized without deriving its address', async () => {
    const program = fc.constantFrom('spl-token', 'spl-token-2022');
    fc.assert(
      fc.property(address, address, program, (owner, mint, program) => {
        const associated = findAssociatedTokenAddress(owner, mint, program);
        const known = (where: string) => isAssociatedTokenAccount(where, owner, mint, program);
        return known(associated) && !known(owner) && !isAssociatedTokenAccount(associated, mint, owner, program);
      }),
      { numRuns: 200 },
    );
  });

  t.test('seeds that the runtime refuses are refused', async (t) => {
    t.throws(() => findProgramAddress('11111111111111111111111111111111', [new Uint8Array(33)]), RangeError);
    t.throws(() => findProgramAddress('11111111111111111111111111111111', Array(16).fill('')), RangeError);
  });

  t.test('points on and off the curve are distinguished, at any length', async (t) => {
    t.ok(isOnCurve(new Uint8Array(32)));
    t.notOk(isOnCurve(new Uint8Array(32).with(0, 2)));
    t.notOk(isOnCurve(new Uint8Array(31)));
    const isPoint = (key: Uint8Array): boolean => {
      try {
        return ed25519.Point.fromBytes(key) !== undefined;
      } catch {
        return false;
      }
    };
    const atTheEnds = [0, 1, 2, 0xec, 0xed, 0xee].flatMap((low) =>
      [0, 0x7f, 0x80, 0xff].map((high) =>
        new Uint8Array(32)
          .fill(high & 0x7f ? 0xff : 0)
          .with(0, low)
          .with(31, high),
      ),
    );
    t.same(atTheEnds.map(isOnCurve), atTheEnds.map(isPoint));
    fc.assert(fc.property(bytes(32), (key) => isOnCurve(key) === isPoint(key)));
  });
});

t.test('pyth-price', async (t) => {
  const SOL_USD = 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d';
  const RECORDED = findRecordedAccount('pyth/marginfi-sol_pyth_price_feed.json');
  const VERIFICATION = 40;
  const PUSH_ORACLE = 'pythWSnswVUd12oZpeFP8e9CVaEqJg25g1Vtc2biRsT';
  const RECEIVER = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ';

  const update: PriceUpdate = {
    feedId: SOL_USD,
    price: 10_000_000_000n,
    confidence: 200_000_000n,
    exponent: -8,
    publishTime: 1000n,
    postedSlot: 7n,
  };

  t.test('the address of a mainnet feed is derived from its id', async (t) => {
    t.equal(findPriceFeedAddress(PUSH_ORACLE, SOL_USD), RECORDED.address);
    t.equal(findPriceFeedAddress(PUSH_ORACLE, `0x${SOL_USD}`), RECORDED.address);
    t.not(findPriceFeedAddress(PUSH_ORACLE, SOL_USD, 1), RECORDED.address);
    // BTC/USD under the programs of August 2026, as read from mainnet on 18 September
    const btc = 'e62df6c8b4a85fe1a67db44dc12de5db330f7ac66b72dc658afedf0f4a415b43';
    t.equal(
      findPriceFeedAddress('pyt2F414BA6dPttK6RddPZUdHfapoBN24GL5wbrPCou', btc),
      'APgzQGGdv2qCgBkX6aHVkrGePtBVDDg68GiqaM7rmtf5',
    );
  });

  t.test('all fields of a recorded price are decoded', async (t) => {
    t.strictSame(decodePriceUpdate(RECORDED, RECEIVER), {
      feedId: SOL_USD,
      price: 21_568_137_069n,
      confidence: 20_134_469n,
      exponent: -8,
      publishTime: 1_735_984_087n,
      postedSlot: 311_798_332n,
    });
  });

  t.test('a price counts only if a full quorum of guardians signed it', async (t) => {
    const { owner, data } = RECORDED;
    t.equal(decodePriceUpdate({ owner, data: data.with(VERIFICATION, 0) }, RECEIVER), undefined);
    t.equal(decodePriceUpdate({ owner, data: data.with(VERIFICATION, 2) }, RECEIVER), undefined);
  });

  t.test('data of another program, of another account type or cut short is not a price', async (t) => {
    const { owner, data } = RECORDED;
    t.equal(decodePriceUpdate({ owner: '11111111111111111111111111111111', data }, RECEIVER), undefined);
    t.equal(decodePriceUpdate({ owner, data: data.with(0, 0) }, RECEIVER), undefined);
    t.equal(decodePriceUpdate({ owner, data: data.subarray(0, 130) }, RECEIVER), undefined);
    t.equal(
      decodePriceUpdate(
        findRecordedAccount('pyth/solnet-pyth-GetPriceDataAccountsMultipleAccountInfos.json'),
        RECEIVER,
      ),
      undefined,
    );
  });

  t.test('a price is usable while its uncertainty is at most two percent', async (t) => {
    t.same(usablePrice(update), { units: 10_000_000_000n, scale: 8 });
    t.equal(usablePrice({ ...update, confidence: 200_000_001n }), undefined);
    t.equal(usablePrice({ ...update, price: 0n, confidence: 0n }), undefined);
    t.equal(usablePrice({ ...update, price: -1n, confidence: 0n }), undefined);
  });

  t.test('a price has twelve significant digits and no rounding error of a double', async (t) => {
    const price = (price: bigint, exponent: number) => {
      const usable = usablePrice({ ...update, price, exponent, confidence: 0n });
      return usable && formatUnits(usable.units, usable.scale);
    };
    t.equal(price(123_456_789_012_345n, -14), '1.23456789012');
    t.equal(price(999_999_999_999_500n, -14), '10');
    t.equal(price(3n, -1), '0.3');
    t.equal(price(5n, 2), '500');
    t.equal(price(1n, 400), undefined, 'more than a price can be');
    t.equal(price(1n, -2_147_483_648), undefined, 'less than a price can be');
  });
});

t.test('sol-domain', async (t) => {
  const domainOf = (name: string): SolDomain => {
    const domain = parseSolDomain(name);
    if (domain === undefined) throw new Error(`${name} is no name`);
    return domain;
  };

  const VECTOR = domainOf('vector.sol');
  const NAME_PROGRAM = 'namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX';

  /** Resolves a name in both steps, as callers do. */
  function resolve(accounts: readonly (RawAccount | null)[], largestAccount: RawAccount | null) {
    const resolution = resolveDomain(VECTOR, accounts);
    if (resolution.status === 'holder') return nftOwnerOf(resolution.mint, largestAccount) ?? null;
    return resolution.status === 'resolved' ? resolution.address : null;
  }

  function vector(name: string): readonly (RawAccount | null)[] {
    const found = solNames.resolutions.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no vector ${name}`);
    return found.accounts.map((account) => account && decodeBase64(account));
  }

  t.test("the four accounts of a name equal those of the name service's library", async (t) => {
    t.ok(solNames.derivations.length >= 7);
    for (const { name, accounts } of solNames.derivations) t.strictSame(domainOf(name).accounts, accounts, name);
  });

  for (const { name, accounts, holder, result } of solNames.resolutions) {
    t.test(`a name ${name} resolves as with the name service's library`, async (t) => {
      const stored = accounts.map((account) => account && decodeBase64(account));
      t.equal(resolve(stored, holder && decodeBase64(holder)), result);
    });
  }

  t.test('the method names the deciding account', async (t) => {
    t.match(resolveDomain(VECTOR, vector('v2 valid')), { method: 'record-v2' });
    t.match(resolveDomain(VECTOR, vector('v1 valid')), { method: 'record-v1' });
    t.match(resolveDomain(VECTOR, vector('registered by a person')), { method: 'owner' });
    const mint = (names: typeof solNames.derivations) => names.find(({ name }) => name === 'a')?.mint;
    const wrapped = resolveDomain(domainOf('a'), vector('wrapped'));
    t.strictSame(wrapped, { status: 'holder', mint: mint(solNames.derivations) });
  });

  t.test('case and suffix of a name do not matter', async (t) => {
    t.strictSame(parseSolDomain('Bonfida.SOL'), parseSolDomain('bonfida'));
    t.equal(domainOf('dex.bonfida').name, 'dex.bonfida.sol');
  });

  t.test('a text that cannot be a name has no accounts', async (t) => {
    for (const text of ['', '.sol', 'a..sol', '.a.sol', 'a.b.c.sol']) t.equal(parseSolDomain(text), undefined, text);
  });

  t.test('accounts owned by other programs are ignored', async (t) => {
    const foreign = (account: RawAccount | null) =>
      account && { ...account, owner: '11111111111111111111111111111111' };
    const [nft = null, v1 = null, v2 = null, registry = null] = vector('wrapped');
    t.match(resolveDomain(VECTOR, [nft, v1, v2, foreign(registry)]), { status: 'unresolved' });
    t.match(resolveDomain(VECTOR, [foreign(nft), v1, v2, registry]), { status: 'unresolved' }, 'of a program');
    const person = vector('registered by a person')[3] ?? null;
    t.match(resolveDomain(VECTOR, [foreign(nft), foreign(v1), foreign(v2), person]), { method: 'owner' });
  });

  t.test('a released name is unresolved, though zeros are a point on the curve', async (t) => {
    const released = { owner: NAME_PROGRAM, data: new Uint8Array(96) };
    t.match(resolveDomain(VECTOR, [null, null, null, released]), { status: 'unresolved' });
  });

  t.test('a token of another mint makes nobody the holder', async (t) => {
    const wrapped = solNames.resolutions.find(({ name }) => name === 'wrapped');
    const account = wrapped?.holder ? decodeBase64(wrapped.holder) : null;
    const resolution = resolveDomain(VECTOR, vector('wrapped'));
    t.ok(resolution.status === 'holder' && nftOwnerOf(resolution.mint, account));
    t.equal(nftOwnerOf(VECTOR.nameAccount, account), undefined);
    t.equal(nftOwnerOf(VECTOR.nameAccount, null), undefined);
  });
});

t.test('stake-account', async (t) => {
  const RECORDED = findRecordedAccount('program-accounts/getProgramAccounts-Stake111-2.json');
  const WITHDRAWER = 'Ho2Tst4ReVypbqBscy2zUeFyrrwvjtQeEbhoE7P1MHna'; // the filter of the recorded scan
  const LAMPORTS = 5_339_085_328_049n;

  t.test('a recorded stake account is decoded: its withdrawer, reserve and stake within its lamports', async (t) => {
    const stake = decodeStakeAccount(RECORDED);
    t.match(stake, {
      rentExemptReserve: 2_282_880n,
      staker: WITHDRAWER,
      withdrawer: WITHDRAWER,
      delegation: { activationEpoch: 889n, deactivationEpoch: NEVER },
    });
    t.equal((stake?.delegation?.stake ?? 0n) + 2_282_880n <= LAMPORTS, true);
    t.equal(LAMPORTS - (stake?.delegation?.stake ?? 0n) < LAMPORTS / 100n, true);
  });

  t.test('other accounts are none', async (t) => {
    t.equal(decodeStakeAccount({ ...RECORDED, data: RECORDED.data.with(0, 0) }), undefined, 'not initialized');
    t.equal(decodeStakeAccount({ ...RECORDED, data: RECORDED.data.with(0, 3) }), undefined, 'a rewards pool');
    t.equal(decodeStakeAccount({ ...RECORDED, data: RECORDED.data.subarray(0, 150) }), undefined);
    t.same(decodeStakeAccount({ ...RECORDED, data: RECORDED.data.with(0, 1) })?.delegation, null, 'never delegated');
    const others = storedAccounts.filter(({ owner }) => !owner.startsWith('Stake1'));
    const stakes = others.filter((account) => decodeStakeAccount(account) !== undefined);
    t.same(stakes, []);
  });

  t.test('the state follows from the epochs', async (t) => {
    const stateOf = (epoch: bigint, activationEpoch: bigint, deactivationEpoch = NEVER) =>
      stakeStateIn(epoch, { voter: 'v', stake: 1n, activationEpoch, deactivationEpoch });
    t.same(
      [stateOf(10n, 10n), stateOf(11n, 10n), stateOf(11n, 10n, 12n), stateOf(12n, 10n, 12n), stateOf(13n, 10n, 12n)],
      ['activating', 'active', 'active', 'deactivating', 'inactive'],
    );
    t.equal(stateOf(10n, 10n, 10n), 'inactive', 'deactivated in its first epoch');
    t.equal(stateOf(0n, NEVER), 'active', 'since genesis');
    t.equal(stakeStateIn(5n, null), 'inactive');
  });
});

t.test('token-extensions', async (t) => {
  /** Returns `length` bytes of the value `byte`. */
  const filled = (byte: number, length = 32): number[] => Array<number>(length).fill(byte);
  const key = (byte: number): string => bs58.encode(Uint8Array.from(filled(byte)));
  const base64 = (byte: number, length: number): string => Buffer.from(filled(byte, length)).toString('base64');
  const text = (value: string): number[] => [Buffer.byteLength(value), 0, 0, 0, ...Buffer.from(value)];
  const u64 = (value: bigint): number[] => [...new Uint8Array(BigUint64Array.of(value).buffer)];
  const f64 = (value: number): number[] => [...new Uint8Array(Float64Array.of(value).buffer)];

  const entry = (kind: number, value: readonly number[]): number[] => [
    ...[kind, 0, value.length & 0xff, value.length >> 8],
    ...value,
  ];
  const read = (...entries: readonly number[][]) => decodeExtensions(Uint8Array.from(entries.flat()));

  const MAX = 2n ** 64n - 1n;

  const EXTENSIONS: readonly (readonly [kind: number, value: readonly number[], extension: string, state?: object])[] =
    [
      [
        1,
        [...filled(1), ...filled(0), ...u64(MAX), ...u64(3n), ...u64(MAX), 0x10, 0x27, ...u64(4n), ...u64(5n), 1, 0],
        'transferFeeConfig',
        {
          transferFeeConfigAuthority: key(1),
          withdrawWithheldAuthority: null,
          withheldAmount: MAX,
          olderTransferFee: { epoch: 3n, maximumFee: MAX, transferFeeBasisPoints: 10_000 },
          newerTransferFee: { epoch: 4n, maximumFee: 5n, transferFeeBasisPoints: 1 },
        },
      ],
      [2, u64(7n), 'transferFeeAmount', { withheldAmount: 7n }],
      [3, filled(1), 'mintCloseAuthority', { closeAuthority: key(1) }],
      [3, filled(0), 'mintCloseAuthority', { closeAuthority: null }],
      [
        4,
        [...filled(1), 1, ...filled(2)],
        'confidentialTransferMint',
        { authority: key(1), autoApproveNewAccounts: true, auditorElgamalPubkey: base64(2, 32) },
      ],
      [
        5,
        [
          ...[1, ...filled(1), ...filled(2, 64), ...filled(3, 64), ...filled(4, 64), ...filled(5, 36), 1, 0],
          ...[...u64(6n), ...u64(65_536n), ...u64(8n), ...u64(9n)],
        ],
        'confidentialTransferAccount',
        {
          approved: true,
          elgamalPubkey: base64(1, 32),
          pendingBalanceLo: base64(2, 64),
          pendingBalanceHi: base64(3, 64),
          availableBalance: base64(4, 64),
          decryptableAvailableBalance: base64(5, 36),
          allowConfidentialCredits: true,
          allowNonConfidentialCredits: false,
          pendingBalanceCreditCounter: 6n,
          maximumPendingBalanceCreditCounter: 65_536n,
          expectedPendingBalanceCreditCounter: 8n,
          actualPendingBalanceCreditCounter: 9n,
        },
      ],
      [6, [2], 'defaultAccountState', { accountState: 'frozen' }],
      [6, [9], 'defaultAccountState', { accountState: 'uninitialized' }],
      [7, [], 'immutableOwner'],
      [8, [1], 'memoTransfer', { requireIncomingTransferMemos: true }],
      [9, [], 'nonTransferable'],
      [
        10,
        [...filled(1), ...u64(10n), 0xf4, 0x01, ...u64(MAX), 0xff, 0xff],
        'interestBearingConfig',
        {
          rateAuthority: key(1),
          initializationTimestamp: 10n,
          preUpdateAverageRate: 500,
          lastUpdateTimestamp: -1n,
          currentRate: -1,
        },
      ],
      [11, [0], 'cpiGuard', { lockCpi: false }],
      [12, filled(1), 'permanentDelegate', { delegate: key(1) }],
      [13, [], 'nonTransferableAccount'],
      [14, [...filled(1), ...filled(2)], 'transferHook', { authority: key(1), programId: key(2) }],
      [15, [1], 'transferHookAccount', { transferring: true }],
      [
        16,
        [...filled(0), ...filled(2), 1, ...filled(3, 64)],
        'confidentialTransferFeeConfig',
        {
          authority: null,
          withdrawWithheldAuthorityElgamalPubkey: base64(2, 32),
          harvestToMintEnabled: true,
          withheldAmount: base64(3, 64),
        },
      ],
      [17, filled(1, 64), 'confidentialTransferFeeAmount', { withheldAmount: base64(1, 64) }],
      [18, [...filled(1), ...filled(2)], 'metadataPointer', { authority: key(1), metadataAddress: key(2) }],
      [
        19,
        [
          ...filled(0),
          ...filled(2),
          ...[...text('Ünï'), ...text('U'), ...text('')],
          ...[1, 0, 0, 0, ...text('colour'), ...text('red')],
        ],
        'tokenMetadata',
        {
          updateAuthority: null,
          mint: key(2),
          name: 'Ünï',
          symbol: 'U',
          uri: '',
          additionalMetadata: [['colour', 'red']],
        },
      ],
      [20, [...filled(1), ...filled(2)], 'groupPointer', { authority: key(1), groupAddress: key(2) }],
      [
        21,
        [...filled(1), ...filled(2), ...u64(3n), ...u64(MAX)],
        'tokenGroup',
        { updateAuthority: key(1), mint: key(2), size: 3n, maxSize: MAX },
      ],
      [22, [...filled(1), ...filled(2)], 'groupMemberPointer', { authority: key(1), memberAddress: key(2) }],
      [
        23,
        [...filled(1), ...filled(2), ...u64(3n)],
        'tokenGroupMember',
        { mint: key(1), group: key(2), memberNumber: 3n },
      ],
      [
        24,
        [...filled(1, 64), ...filled(2, 36), ...filled(3), ...filled(4, 64)],
        'confidentialMintBurn',
        {
          confidentialSupply: base64(1, 64),
          decryptableSupply: base64(2, 36),
          supplyElgamalPubkey: base64(3, 32),
          pendingBurn: base64(4, 64),
        },
      ],
      [
        25,
        [...filled(1), ...f64(1.5), ...u64(9n), ...f64(1e21)],
        'scaledUiAmountConfig',
        {
          authority: key(1),
          multiplier: '1.5',
          newMultiplierEffectiveTimestamp: 9n,
          newMultiplier: '1000000000000000000000',
        },
      ],
      [26, [...filled(1), 1], 'pausableConfig', { authority: key(1), paused: true }],
      [27, [], 'pausableAccount'],
      [28, filled(1), 'permissionedBurnConfig', { authority: key(1) }],
    ];

  for (const [kind, value, extension, state] of EXTENSIONS) {
    t.test(`extension ${kind} is decoded as ${extension}`, async (t) => {
      t.strictSame(read(entry(kind, value)), [{ extension, ...(state && { state }) }]);
    });
  }

  t.test('every extension type up to the last has an example', async (t) => {
    const known = [...new Set(EXTENSIONS.map(([kind]) => kind))];
    t.strictSame(
      known,
      Array.from({ length: 28 }, (_, i) => i + 1),
    );
  });

  t.test('extensions keep their stored order', async (t) => {
    t.strictSame(
      read(entry(7, []), entry(2, u64(1n)), entry(27, [])).map(({ extension }) => extension),
      ['immutableOwner', 'transferFeeAmount', 'pausableAccount'],
    );
  });

  t.test('an unknown or malformed extension is unparseable, and the next one is decoded', async (t) => {
    const unparseable = { extension: 'unparseableExtension' };
    t.strictSame(read(entry(999 & 0xff, [1, 2, 3]), entry(7, [])), [unparseable, { extension: 'immutableOwner' }]);
    t.strictSame(read(entry(3, filled(1, 31))), [unparseable], 'a byte short');
    t.strictSame(read(entry(3, filled(1, 33))), [unparseable], 'a byte long');
    t.strictSame(read(entry(19, [...filled(0, 64), 0xff, 0xff, 0xff, 0xff])), [unparseable], 'of four gigabytes');
    t.strictSame(read(entry(19, [...filled(0, 64), 1, 0, 0, 0, 0xff, ...filled(0, 12)])), [unparseable], 'not UTF-8');
  });

  t.test('the list ends at a zero type, at the end of data, and where it is cut off', async (t) => {
    t.strictSame(read(entry(7, []), [0, 0, 0, 0], entry(9, [])), [{ extension: 'immutableOwner' }]);
    t.strictSame(read(entry(7, []), [9, 0]), [{ extension: 'immutableOwner' }]);
    t.strictSame(read(entry(7, []), [2, 0, 200, 0, 1]), [{ extension: 'immutableOwner' }]);
    t.strictSame(read(), []);
  });
});

t.test('token-identity', async (t) => {
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

  t.test('the royalties and the group of a Token-2022 mint are read from its fields', async (t) => {
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

  t.test('what is no royalty, no share and no group of this mint is not read as one', async (t) => {
    const unknown = { sellerFeeBasisPoints: null, creators: null };
    t.match(read(mintWith([[one, '60']])), unknown, 'an address without royalties is any field');
    for (const text of ['10001', '5%', '-1', '', '1e3'])
      t.match(read(mintWith([['royalty_basis_points', text]])), unknown, text);
    const shares = [
      ['royalty_basis_points', '10000'],
      [one, '101'],
      [two, 'all'],
    ] as const;
    t.match(read(mintWith(shares)), { sellerFeeBasisPoints: 10_000, creators: [] });
    t.equal(read(mintWith([], one))?.collection, null);
  });

  t.test('the texts of an extension are cut to 4 KiB each, and its other members are as they were', async (t) => {
    const long = 'x'.repeat(5000);
    const [metadata, member] = mintWith([
      ['short', long],
      [long, 'short'],
    ]).extensions.map(withBoundedTexts);
    const cut = `${'x'.repeat(4093)}…`;
    t.match(metadata, {
      extension: 'tokenMetadata',
      state: {
        mint,
        name: 'n',
        additionalMetadata: [
          ['short', cut],
          [cut, 'short'],
        ],
      },
    });
    t.match(member, { extension: 'tokenGroupMember', state: { mint, group } });
  });
});

t.test('token-program-accounts', async (t) => {
  const MINT_SIZE = 82;

  type Decoded = NonNullable<ReturnType<typeof decodeTokenProgramAccount>>;

  /** Sorts members by name, as in the recordings. */
  function byName(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(byName);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [name, byName(member)]),
    );
  }

  /** Returns the jsonParsed form of a decoded account: nodes leave out absent members. */
  function toJsonParsed(decoded: Decoded, scale: AmountScale): unknown {
    const { type, program: _, ...fields } = decoded;
    if (type === 'multisig') return { type, info: fields };
    const { extensions, ...base } = fields as Omit<Exclude<Decoded, { type: 'multisig' }>, 'type' | 'program'>;
    const listed = extensions.length === 0 ? {} : { extensions };
    if (decoded.type === 'mint') return { type, info: { ...base, supply: `${decoded.supply}`, ...listed } };
    if (decoded.type !== 'account') throw new Error('neither mint nor account');
    const { mint, owner, state, amount, delegate, delegatedAmount, rentExemptReserve, closeAuthority } = decoded;
    const info = {
      mint,
      owner,
      state,
      isNative: rentExemptReserve !== null,
      tokenAmount: toTokenAmount(amount, scale),
      ...(delegate === null ? {} : { delegate, delegatedAmount: toTokenAmount(delegatedAmount, scale) }),
      ...(rentExemptReserve === null ? {} : { rentExemptReserve: toTokenAmount(rentExemptReserve, scale) }),
      ...(closeAuthority === null ? {} : { closeAuthority }),
      ...listed,
    };
    return { type, info };
  }

  /** Returns the scale of an account's mint if that is recorded too, else the decimals that the node names. */
  function scaleFor(decoded: Decoded, parsed: string, clock: number | null): AmountScale {
    const mint = decoded.type === 'account' ? mintOf(decoded.mint) : undefined;
    if (mint !== undefined && clock !== null) return amountScaleOf(mint, BigInt(clock));
    return { decimals: Number(/"decimals":(\d+)/.exec(parsed)?.[1] ?? 0) };
  }

  function mintOf(address: string): Mint | undefined {
    const account = storedAccounts.find((each) => each.address === address);
    const decoded = account && decodeTokenProgramAccount(account);
    return decoded?.type === 'mint' ? decoded : undefined;
  }

  t.test('the decoded account equals the node’s jsonParsed of the same bytes, text for text', async (t) => {
    t.ok(parsedAccountRecords.length >= 12);
    for (const twin of parsedAccountRecords) {
      const decoded = decodeTokenProgramAccount(twin);
      if (decoded === undefined) t.fail(`${twin.address} is not decoded`);
      else t.equal(toJson(byName(toJsonParsed(decoded, scaleFor(decoded, twin.parsed, twin.clock)))), twin.parsed);
    }
  });

  t.test('every recorded account of a token program is decoded, and no other account', async (t) => {
    const owned = storedAccounts.filter(({ owner }) => tokenProgramOf(owner) !== undefined);
    t.ok(owned.length > 60);
    for (const account of storedAccounts) {
      t.equal(
        decodeTokenProgramAccount(account) !== undefined,
        owned.includes(account),
        `${account.recording} ${account.address}`,
      );
    }
  });

  /** Differences of @solana/spl-token in the same bytes. */
  const DIFFERENCES: Readonly<Record<string, string>> = {
    '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo transferHook.programId 11111111111111111111111111111111 null':
      'an address of zeros is no program: nodes show null, the library the zeros',
    '7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1 transferFeeConfig.transferFeeConfigAuthority 11111111111111111111111111111111 null':
      'an address of zeros is no authority: nodes show null, the library the zeros',
    '7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1 transferFeeConfig.withdrawWithheldAuthority 11111111111111111111111111111111 null':
      'an address of zeros is no authority: nodes show null, the library the zeros',
    'znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh transferFeeConfig.transferFeeConfigAuthority 11111111111111111111111111111111 null':
      'an address of zeros is no authority: nodes show null, the library the zeros',
    'znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh tokenMetadata.updateAuthority undefined null':
      'the library leaves out what is not set, nodes show null',
  };

  t.test('@solana/spl-token decodes the same, except the listed differences', async (t) => {
    const found: string[] = [];
    for (const { parser, recording, address, decoded: theirs } of thirdPartyDecodings) {
      if (!parser.startsWith('@solana/spl-token')) continue;
      const ours = decodeTokenProgramAccount(findRecordedAccount(recording, address));
      if (ours === undefined || ours.type === 'multisig') t.fail(`${address} is not decoded`);
      else
        found.push(...differences(flatten(theirs), flatten(toLibraryFields(ours))).map((line) => `${address} ${line}`));
    }
    t.strictSame(found.sort(), Object.keys(DIFFERENCES).sort());
  });

  /** Returns a decoded account in the shape of @solana/spl-token. */
  function toLibraryFields(decoded: Exclude<Decoded, { type: 'multisig' }>): Record<string, unknown> {
    const { program: _, extensions, ...fields } = decoded;
    const ext = Object.fromEntries(
      extensions.flatMap((each) => ('state' in each ? [[each.extension, each.state] as const] : [])),
    );
    if (fields.type === 'mint') return { ...fields, ext };
    const { state, ...account } = fields;
    return {
      ...account,
      ext,
      isInitialized: state !== 'uninitialized',
      isFrozen: state === 'frozen',
      isNative: account.rentExemptReserve !== null,
    };
  }

  function flatten(value: unknown, path = ''): Map<string, string> {
    if (typeof value !== 'object' || value === null) return new Map([[path, String(value)]]);
    const inside = path === '' || path === 'ext' ? '' : `${path}.`;
    return new Map(Object.entries(value).flatMap(([name, member]) => [...flatten(member, `${inside}${name}`)]));
  }

  /** Returns the members that both name, and ours in extensions that both have; extension names come with their states. */
  function differences(theirs: Map<string, string>, ours: Map<string, string>): string[] {
    const extensions = new Set(
      [...theirs.keys()].filter((path) => path.includes('.')).map((path) => path.split('.')[0]),
    );
    const paths = [...ours.keys()].filter((path) => theirs.has(path) || extensions.has(path.split('.')[0]));
    return paths
      .filter((path) => theirs.get(path) !== ours.get(path))
      .map((path) => `${path} ${theirs.get(path)} ${ours.get(path)}`);
  }

  t.test('DAS returns the same token account', async (t) => {
    const results = thirdPartyDecodings.filter(({ parser, decoded }) => parser === 'das' && 'frozen' in decoded);
    t.equal(results.length, 2);
    for (const { recording, address, decoded } of results) {
      const { mint, owner, amount, delegate, frozen, close_authority: closeAuthority } = decoded;
      const state = frozen ? 'frozen' : 'initialized';
      t.match(decodeTokenProgramAccount(findRecordedAccount(recording, address)), {
        mint,
        owner,
        amount: BigInt(amount),
        delegate,
        state,
        closeAuthority,
      });
    }
  });

  t.test('a wrapped SOL account has its rent-exempt reserve', async (t) => {
    const data = new Uint8Array(165);
    data.set([1, 0, 0, 0, 0xf0, 0x1d, 0x1f], 109);
    data[108] = 1;
    t.match(decodeTokenProgramAccount({ owner: TOKEN, data }), {
      type: 'account',
      state: 'initialized',
      rentExemptReserve: 2_039_280n,
    });
  });

  t.test('data that a token program would refuse is not decoded', async (t) => {
    const mint = new Uint8Array(MINT_SIZE);
    const refused = (why: string, account: Parameters<typeof decodeTokenProgramAccount>[0]) =>
      t.equal(decodeTokenProgramAccount(account), undefined, why);
    t.equal(decodeTokenProgramAccount({ owner: TOKEN, data: mint })?.type, 'mint', 'as long as a mint');
    refused('of another program', { owner: '11111111111111111111111111111111', data: mint });
    refused('an option that is neither there nor not', { owner: TOKEN, data: mint.with(0, 2) });
    refused('neither initialized nor not', { owner: TOKEN, data: mint.with(45, 2) });
    refused('no such state', { owner: TOKEN, data: new Uint8Array(165).with(108, 3) });
    refused('extensions without Token-2022', { owner: TOKEN, data: new Uint8Array(170).with(165, 1) });
    const extended = new Uint8Array(170).with(165, 1);
    t.equal(decodeTokenProgramAccount({ owner: TOKEN_2022, data: extended })?.type, 'mint');
    refused('something where nothing may be', { owner: TOKEN_2022, data: extended.with(120, 1) });
    t.equal(decodeTokenProgramAccount({ owner: TOKEN_2022, data: extended.with(165, 2) })?.type, 'account');
    refused('neither mint nor account', { owner: TOKEN_2022, data: extended.with(165, 3) });
    t.equal(decodeTokenProgramAccount({ owner: TOKEN_2022, data: new Uint8Array(355).with(165, 1) })?.type, 'multisig');
  });

  const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
  const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
});

t.test('ui-amount', async (t) => {
  const YEAR = BigInt(6 * 6 * 24 * 36524);
  const MAX = 2n ** 64n - 1n;

  const mint = (decimals: number, extensions: Mint['extensions'] = []): Mint => ({
    type: 'mint',
    program: 'spl-token-2022',
    mintAuthority: null,
    freezeAuthority: null,
    supply: 0n,
    isInitialized: true,
    decimals,
    extensions,
  });

  const interest = (rate: number, started: bigint, updated: bigint): Mint['extensions'] => [
    {
      extension: 'interestBearingConfig',
      state: {
        rateAuthority: null,
        initializationTimestamp: started,
        preUpdateAverageRate: rate,
        lastUpdateTimestamp: updated,
        currentRate: rate,
      },
    },
  ];

  const scaled = (multiplier: string, newMultiplier: string, from: bigint): Mint['extensions'] => [
    {
      extension: 'scaledUiAmountConfig',
      state: { authority: null, multiplier, newMultiplierEffectiveTimestamp: from, newMultiplier },
    },
  ];

  t.test('recorded amounts are formatted as the nodes did', async (t) => {
    t.ok(recordedAmounts.length > 100);
    for (const recorded of recordedAmounts) {
      t.strictSame(toTokenAmount(BigInt(recorded.amount), { decimals: recorded.decimals }), recorded);
    }
  });

  t.test('an amount keeps every digit and every significant zero', async (t) => {
    t.equal(toTokenAmount(9_007_199_254_740_993n, { decimals: 0 }).uiAmountString, '9007199254740993');
    t.equal(toTokenAmount(10n, { decimals: 0 }).uiAmountString, '10');
    t.equal(toTokenAmount(0n, { decimals: 9 }).uiAmountString, '0');
    t.equal(toTokenAmount(MAX, { decimals: 19 }).uiAmountString, '1.8446744073709551615');
    t.strictSame(toTokenAmount(1_234_567_890n, { decimals: 20 }), {
      amount: '1234567890',
      decimals: 20,
      uiAmount: null,
      uiAmountString: '0.0000000000123456789',
    });
  });

  t.test('any amount can be parsed back from its text', async () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX }), fc.integer({ min: 0, max: 255 }), (amount, decimals) => {
        const [whole = '', fraction = ''] = formatUnits(amount, decimals).split('.');
        return BigInt(whole + fraction.padEnd(decimals, '0')) === amount && !fraction.endsWith('0');
      }),
    );
  });

  t.test('interest grows as in a node', async (t) => {
    const node = mint(9, interest(300, 1_795_234_145n, 1_795_234_145n));
    const after = amountScaleOf(node, 1_795_234_166n); // of a real node, 21 seconds after the mint was made
    t.equal(toTokenAmount(1_000_000_000_000n, after).uiAmountString, '1000.000019964');
    t.equal(toTokenAmount(999_999_600_000n, after).uiAmountString, '999.999619964');

    const fivePercent = mint(18, interest(500, 0n, YEAR));
    const year = amountScaleOf(fivePercent, YEAR);
    t.equal(toTokenAmount(10n ** 18n, year).uiAmountString, '1.051271096376024117');
    t.equal(toTokenAmount(10n ** 19n, year).uiAmountString, '10.512710963760241611');
    t.equal(toTokenAmount(10n ** 18n, year).uiAmount, 1.0512710963760241);
  });

  t.test('interest above the largest double is `inf`, without a uiAmount', async (t) => {
    const huge = amountScaleOf(mint(0, interest(32_767, 0n, 0n)), YEAR * 1000n);
    t.strictSame(toTokenAmount(MAX, huge), { amount: `${MAX}`, decimals: 0, uiAmount: null, uiAmountString: 'inf' });
  });

  t.test('a new multiplier applies from its effective time on, and rounds down to the smallest unit', async (t) => {
    const doubling = mint(18, scaled('1', '2', 100n));
    t.equal(toTokenAmount(10n ** 18n, amountScaleOf(doubling, 99n)).uiAmountString, '1');
    t.equal(toTokenAmount(10n ** 18n, amountScaleOf(doubling, 100n)).uiAmountString, '2');
    t.equal(toTokenAmount(10n ** 19n, amountScaleOf(doubling, 100n)).uiAmountString, '20');
    t.equal(toTokenAmount(99n, amountScaleOf(mint(2, scaled('1.999', '1', 1n)), 0n)).uiAmountString, '1.97');
    t.equal(toTokenAmount(MAX, amountScaleOf(mint(0, scaled('1', 'inf', 0n)), 0n)).uiAmountString, 'inf');
  });

  t.test('only amounts with interest or a multiplier depend on the clock', async (t) => {
    t.ok(dependsOnClock(mint(0, interest(1, 0n, 0n))));
    t.ok(dependsOnClock(mint(0, scaled('1', '1', 0n))));
    t.notOk(dependsOnClock(mint(0, [{ extension: 'nonTransferable' }])));
    t.strictSame(amountScaleOf(mint(6), 0n), { decimals: 6 });
  });

  t.test('a double is rounded exactly at any size, a tie to the even digit', async (t) => {
    t.equal(formatRoundedDouble(0.125, 2), '0.12');
    t.equal(formatRoundedDouble(0.375, 2), '0.38');
    t.equal(formatRoundedDouble(2.5, 0), '2');
    t.equal(formatRoundedDouble(1e21, 2), '1000000000000000000000');
    t.equal(formatRoundedDouble(Number.MAX_VALUE, 0).length, 309);
    t.equal(formatRoundedDouble(5e-324, 9), '0');
    t.equal(formatRoundedDouble(-1.25, 1), '-1.2');
    t.equal(formatRoundedDouble(Number.NaN, 3), 'NaN');
    t.equal(formatRoundedDouble(Number.NEGATIVE_INFINITY, 3), '-inf');
    const trimmed = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e20, noNaN: true }),
        fc.integer({ min: 20, max: 60 }),
        (value, decimals) => {
          fc.pre(!/^50*$/.test(value.toFixed(100).split('.')[1]?.slice(decimals) ?? '')); // toFixed rounds a tie up
          return formatRoundedDouble(value, decimals) === trimmed(value.toFixed(decimals));
        },
      ),
      {
        examples: [
          [0.1, 20],
          [1e20, 20],
          [0, 20],
        ],
      },
    );
  });

  t.test('a double in plain digits parses to the same double', async (t) => {
    for (const [value, text] of [
      [1e21, '1000000000000000000000'],
      [1.5e-7, '0.00000015'],
      [-0, '-0'],
      [1.25e22, '12500000000000000000000'],
    ] as const) {
      t.equal(formatDouble(value), text);
    }
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = formatDouble(value);
        return Object.is(Number(text), value) && !text.includes('e');
      }),
    );
  });
});
