import t from 'tap';
import { decodeStakeAccount, NEVER, stakeStateIn } from '../../../../src/solana/accounts/stake-account.ts';
import { findRecordedAccount, storedAccounts } from '../../../support/recorded-accounts.ts';

const RECORDED = findRecordedAccount('program-accounts/getProgramAccounts-Stake111-2.json');
const WITHDRAWER = 'Ho2Tst4ReVypbqBscy2zUeFyrrwvjtQeEbhoE7P1MHna'; // the filter of the recorded scan
const LAMPORTS = 5_339_085_328_049n;

t.test(
  'a recorded stake account is decoded: the withdrawer of its scan, reserve and stake within its lamports',
  async (t) => {
    const stake = decodeStakeAccount(RECORDED);
    t.match(stake, {
      rentExemptReserve: 2_282_880n,
      staker: WITHDRAWER,
      withdrawer: WITHDRAWER,
      delegation: { activationEpoch: 889n, deactivationEpoch: NEVER },
    });
    t.equal((stake?.delegation?.stake ?? 0n) + 2_282_880n <= LAMPORTS, true);
    t.equal(LAMPORTS - (stake?.delegation?.stake ?? 0n) < LAMPORTS / 100n, true);
  },
);

t.test('other accounts are none', async (t) => {
  t.equal(decodeStakeAccount({ ...RECORDED, data: RECORDED.data.with(0, 0) }), undefined, 'not initialized');
  t.equal(decodeStakeAccount({ ...RECORDED, data: RECORDED.data.with(0, 3) }), undefined, 'a rewards pool');
  t.equal(decodeStakeAccount({ ...RECORDED, data: RECORDED.data.subarray(0, 150) }), undefined);
  t.same(decodeStakeAccount({ ...RECORDED, data: RECORDED.data.with(0, 1) })?.delegation, null, 'never delegated');
  const others = storedAccounts.filter(({ owner }) => !owner.startsWith('Stake1'));
  t.same(
    others.filter((account) => decodeStakeAccount(account) !== undefined),
    [],
  );
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
