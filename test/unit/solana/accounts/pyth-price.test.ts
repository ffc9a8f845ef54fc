import t from 'tap';
import {
  decodePriceUpdate,
  findPriceFeedAddress,
  type PriceUpdate,
  usablePrice,
} from '../../../../src/solana/accounts/pyth-price.ts';
import { findRecordedAccount } from '../../../support/recorded-accounts.ts';

const SOL_USD = 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d';
const RECORDED = findRecordedAccount('pyth/marginfi-sol_pyth_price_feed.json');
const VERIFICATION = 40;

const update: PriceUpdate = {
  feedId: SOL_USD,
  price: 10_000_000_000n,
  confidence: 200_000_000n,
  exponent: -8,
  publishTime: 1000n,
  postedSlot: 7n,
};

t.test('the address of a mainnet feed is derived from its id', async (t) => {
  t.equal(findPriceFeedAddress(SOL_USD), RECORDED.address);
  t.equal(findPriceFeedAddress(`0x${SOL_USD}`), RECORDED.address);
  t.not(findPriceFeedAddress(SOL_USD, 1), RECORDED.address);
});

t.test('all fields of a recorded price are decoded', async (t) => {
  t.strictSame(decodePriceUpdate(RECORDED), {
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
  t.equal(decodePriceUpdate({ owner, data: data.with(VERIFICATION, 0) }), undefined);
  t.equal(decodePriceUpdate({ owner, data: data.with(VERIFICATION, 2) }), undefined);
});

t.test('data of another program, of another account type or cut short is not a price', async (t) => {
  const { owner, data } = RECORDED;
  t.equal(decodePriceUpdate({ owner: '11111111111111111111111111111111', data }), undefined);
  t.equal(decodePriceUpdate({ owner, data: data.with(0, 0) }), undefined);
  t.equal(decodePriceUpdate({ owner, data: data.subarray(0, 130) }), undefined);
  t.equal(
    decodePriceUpdate(findRecordedAccount('pyth/solnet-pyth-GetPriceDataAccountsMultipleAccountInfos.json')),
    undefined,
  );
});

t.test('a price is usable up to its maximum age', async (t) => {
  t.equal(usablePrice(update, 1120, 120), 100);
  t.equal(usablePrice(update, 1121, 120), null);
  t.equal(usablePrice(update, 990, 120), 100, 'a clock that is behind');
});

t.test('a price is usable while its uncertainty is at most two percent', async (t) => {
  t.equal(usablePrice({ ...update, confidence: 200_000_001n }, 1000, 120), null);
  t.equal(usablePrice({ ...update, price: 0n, confidence: 0n }, 1000, 120), null);
  t.equal(usablePrice({ ...update, price: -1n, confidence: 0n }, 1000, 120), null);
});

t.test('a price has twelve significant digits and no rounding error of a double', async (t) => {
  const price = (price: bigint, exponent: number) =>
    usablePrice({ ...update, price, exponent, confidence: 0n }, 1000, 120);
  t.equal(price(123_456_789_012_345n, -14), 1.23456789012);
  t.equal(price(3n, -1), 0.3);
  t.equal(price(5n, 2), 500);
  t.equal(price(1n, 400), null, 'above the largest double');
  t.equal(price(1n, -400), null, 'below the smallest double');
});
