import t from 'tap';
import { isSameAccount } from '../../../../src/live/accounts/account-json.ts';

t.test('accounts without a canonical form are compared byte for byte', async (t) => {
  const account = '{"lamports":1,"data":["","base64"]}';
  const notUtf8 = '{"lamports":1,"owner":"\u00ff"}';
  t.ok(isSameAccount(notUtf8, notUtf8));
  t.notOk(isSameAccount(notUtf8, account));
  t.notOk(isSameAccount(notUtf8, `${notUtf8} `));
  t.notOk(isSameAccount(notUtf8, null));
  t.notOk(isSameAccount('{"lamports":1,"data":{"parsed":5}}', account));
});
