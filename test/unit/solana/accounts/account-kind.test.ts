import t from 'tap';
import { accountKind } from '../../../../src/solana/accounts/account-kind.ts';

const SYSTEM = '11111111111111111111111111111111';

t.test('the owner names the kind, unless the data says more', async (t) => {
  t.equal(accountKind(SYSTEM, null), 'system');
  t.equal(accountKind(SYSTEM, { program: 'nonce', type: 'initialized' }), 'nonce');
  t.equal(accountKind('Vote111111111111111111111111111111111111111', { program: 'vote', type: 'vote' }), 'vote');
  t.equal(accountKind('NativeLoader1111111111111111111111111111111', null), 'native-program');
});

t.test('token accounts are named by program and type, also those whose program is not theirs by name', async (t) => {
  for (const program of ['spl-token', 'spl-token-2022']) {
    for (const type of ['mint', 'account', 'multisig'])
      t.equal(accountKind('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', { program, type }), `${program}:${type}`);
  }
});

t.test('a program that nobody knows is unknown, and so is one named like a member of every object', async (t) => {
  for (const owner of ['9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o', 'constructor', '__proto__'])
    t.equal(accountKind(owner, null), 'unknown', owner);
});
