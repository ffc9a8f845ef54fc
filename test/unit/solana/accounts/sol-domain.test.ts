import t from 'tap';
import { parseSolDomain, resolveDomain, type SolDomain } from '../../../../src/solana/accounts/sol-domain.ts';
import { nftOwnerOf } from '../../../../src/solana/accounts/token-identity.ts';
import type { RawAccount } from '../../../../src/solana/codec/raw-account.ts';
import { decodeBase64, solNames } from '../../../support/recorded-accounts.ts';

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

t.test('a text that can not be a name has no accounts', async (t) => {
  for (const text of ['', '.sol', 'a..sol', '.a.sol', 'a.b.c.sol']) t.equal(parseSolDomain(text), undefined, text);
});

t.test('accounts owned by other programs are ignored', async (t) => {
  const foreign = (account: RawAccount | null) => account && { ...account, owner: '11111111111111111111111111111111' };
  const [nft = null, v1 = null, v2 = null, registry = null] = vector('wrapped');
  t.match(resolveDomain(VECTOR, [nft, v1, v2, foreign(registry)]), { status: 'unresolved' });
  t.match(resolveDomain(VECTOR, [foreign(nft), v1, v2, registry]), { status: 'unresolved' }, 'its owner is a program');
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
