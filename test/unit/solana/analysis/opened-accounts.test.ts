import t from 'tap';
import { LOOKUP_TABLE_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { parseTransaction } from '../../../../src/solana/analysis/parse-transaction.ts';
import { findOpenedAccounts } from '../../../../src/solana/analysis/wallet-changes.ts';
import { addressOf, syntheticTransaction, u64Bytes } from '../../../support/synthetic-transaction.ts';

t.test('a lookup table is opened when it is created or extended, not when it ends', async (t) => {
  const accounts = [1, 2, 3, 4].map(addressOf);
  const opened = (...data: readonly number[]) => [
    ...findOpenedAccounts(
      parseTransaction(syntheticTransaction({ calls: [{ programId: LOOKUP_TABLE_PROGRAM, accounts, data }] })),
    ),
  ];
  t.strictSame(opened(0, 0, 0, 0, ...u64Bytes(9n), 255), [accounts[0]]);
  t.strictSame(opened(2, 0, 0, 0, ...u64Bytes(0n)), [accounts[0]]);
  t.strictSame(opened(3, 0, 0, 0), [], 'deactivated');
  t.strictSame(opened(4, 0, 0, 0), [], 'closed');
});
