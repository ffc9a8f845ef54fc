import t from 'tap';
import {
  decodePriceUpdate,
  findPriceFeedAddress,
  type PriceUpdate,
  usablePrice,
} from '../../../../src/solana/accounts/pyth-price.ts';
import { formatDecimal } from '../../../../src/solana/codec/decimal.ts';
import { findRecordedAccount } from '../../../support/recorded-accounts.ts';

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
    decodePriceUpdate(findRecordedAccount('pyth/solnet-pyth-GetPriceDataAccountsMultipleAccountInfos.json'), RECEIVER),
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
    return usable && formatDecimal(usable);
  };
  t.equal(price(123_456_789_012_345n, -14), '1.23456789012');
  t.equal(price(999_999_999_999_500n, -14), '10');
  t.equal(price(3n, -1), '0.3');
  t.equal(price(5n, 2), '500');
  t.equal(price(1n, 400), undefined, 'more than a price can be');
  t.equal(price(1n, -2_147_483_648), undefined, 'less than a price can be');
});
