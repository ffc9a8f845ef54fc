import t from 'tap';
import { accountKindOf } from '../../../../src/solana/accounts/account-kind.ts';

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

t.test('an unknown program is unknown, also one named like a property of every object', async (t) => {
  for (const owner of ['9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o', 'constructor', '__proto__'])
    t.equal(accountKindOf(owner, null), 'unknown', owner);
});
