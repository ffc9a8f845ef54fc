import fc from 'fast-check';
import t from 'tap';
import { STAKE_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { decodeMetadata } from '../../../../src/solana/accounts/metaplex-metadata-account.ts';
import { decodePriceUpdate, usablePrice } from '../../../../src/solana/accounts/pyth-price.ts';
import { parseSolDomain, resolveDomain, type SolDomain } from '../../../../src/solana/accounts/sol-domain.ts';
import { decodeStakeAccount } from '../../../../src/solana/accounts/stake-account.ts';
import { decodeExtensions } from '../../../../src/solana/accounts/token-extensions.ts';
import { nftOwnerOf } from '../../../../src/solana/accounts/token-identity.ts';
import { decodeTokenProgramAccount } from '../../../../src/solana/accounts/token-program-accounts.ts';
import { amountScaleOf, toTokenAmount } from '../../../../src/solana/accounts/ui-amount.ts';
import type { RawAccount } from '../../../../src/solana/codec/raw-account.ts';
import { decodeBase64, solNames, storedAccounts } from '../../../support/recorded-accounts.ts';

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
