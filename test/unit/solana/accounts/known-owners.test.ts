import t from 'tap';
import { KNOWN_OWNERS, ownerLabelsOf } from '../../../../src/solana/accounts/known-owners.ts';
import { findProgramAddress } from '../../../../src/solana/accounts/program-derived-address.ts';

t.test('each label of a vault is proved by the program and the seed that its address derives from', async (t) => {
  const derived = KNOWN_OWNERS.flatMap(({ address, derivation }) =>
    derivation === null ? [] : [{ address, derived: findProgramAddress(derivation.program, derivation.seeds) }],
  );
  t.ok(derived.length > 8);
  t.strictSame(
    derived.filter(({ address, derived }) => address !== derived),
    [],
  );
});

t.test("a mint's own bonding curve is labelled, another mint's is not", async (t) => {
  // as a recorded trade on the curve has them: tx/33LHUzKfhBvU
  const mint = 'HfJVjBdkhAD2ynVM8PdTSii4ECZdsxNTCx5wpEqUpump';
  const curve = '6fogeBTRjgm9Kb9dVtqpjDf6bGvjGgdScmTu5nCVPJPn';
  t.equal(ownerLabelsOf(mint)(curve), 'Pump.fun bonding curve');
  t.equal(ownerLabelsOf(curve)(curve), null);
  t.equal(ownerLabelsOf(mint)('1nc1nerator11111111111111111111111111111111'), 'Incinerator (burned)');
});
