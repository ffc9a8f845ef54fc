import bs58 from 'bs58';
import t from 'tap';
import { Chain } from '../../../../src/localnet/bank/chain.ts';
import type { Block, LandedTransaction } from '../../../../src/localnet/bank/produced-block.ts';
import { feeOf } from '../../../../src/localnet/bank/wire-transaction.ts';
import {
  COINS,
  DOLLAR,
  GOLD,
  POINTS,
  POOL,
  TOLL,
  WALLETS,
  WHALE,
} from '../../../../src/localnet/traffic/demo-accounts.ts';
import { deriveKeypair } from '../../../../src/localnet/traffic/demo-keypair.ts';
import { findMetadataAddress } from '../../../../src/localnet/traffic/demo-token-metadata.ts';
import { startTraffic } from '../../../../src/localnet/traffic/traffic-generator.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SLOTS = 250;

/** Starts a chain with a hundred seconds of traffic; keeps every block of it. */
async function playTraffic(seed = 1, slots = SLOTS) {
  const clock = new ManualClock();
  const chain = await Chain.create({
    clock,
    genesisHash: deriveKeypair('economy').address,
    originMs: clock.now() - 400_000,
    slotMs: 400,
    skipEvery: 23,
    slotsPerEpoch: 8192,
  });
  const stage = await startTraffic(chain, { transactionsPerSlot: 5, seed });
  const blocks: Block[] = [];
  chain.onSlot(({ processed }) => blocks.push(processed));
  for (let slot = 0; slot < slots; slot++) chain.produceBlock();
  return { chain, stage, blocks, played: blocks.slice(1).flatMap(({ transactions }) => transactions) };
}

const traffic = await playTraffic();

/**
 * Lists the instructions of a transaction: the program's first letters, and the number that identifies the instruction
 * there.
 */
const instructionsOf = ({ accountKeys, transaction }: LandedTransaction): string[] =>
  transaction.message.instructions.map(
    ({ programIndex, data }) => `${accountKeys[programIndex]?.slice(0, 7)} ${data[0]}`,
  );

t.test('about five transactions land in a slot, and some fail', async (t) => {
  const { played } = traffic;
  const perSlot = played.length / SLOTS;
  t.ok(perSlot > 4 && perSlot < 6, `${perSlot} per slot`);
  const failed = played.filter(({ error }) => error !== null);
  const share = failed.length / played.length;
  t.ok(share > 0.04 && share < 0.16, `${share} fail`);
  t.ok(new Set(failed.map(({ error }) => JSON.stringify(error))).size >= 3, 'for several reasons');
});

t.test('every kind of transaction occurs', async (t) => {
  const { played } = traffic;
  const done = new Set(played.filter(({ error }) => error === null).flatMap(instructionsOf));
  for (const [step, what] of Object.entries({
    'Tokenke 12': 'a transfer of a classic coin',
    'TokenzQ 12': 'a transfer of a Token-2022 coin',
    'Tokenke 13': 'an approval',
    'Tokenke 14': 'minting',
    'Tokenke 15': 'burning',
    'TokenzQ 14': 'minting with Token-2022',
    'TokenzQ 15': 'burning with Token-2022',
    'Tokenke 17': 'wrapping SOL',
    'Tokenke 9': 'closing a token account',
    'Tokenke 18': 'opening one',
    'ATokenG 1': 'opening an associated one',
    '1111111 2': 'a transfer of SOL',
    '1111111 4': 'the advance of a nonce',
    'MemoSq4 105': 'a memo',
    'Compute 3': 'a bid for priority',
  })) {
    t.ok(done.has(step), what);
  }
  t.ok(
    played.some(
      ({ transaction: { message }, loadedAddresses }) => message.version === 0 && loadedAddresses.writable.length > 0,
    ),
    'version 0 through the lookup table',
  );
  t.ok(
    played.some(
      (landed) => landed.error === null && instructionsOf(landed).filter((step) => step === 'Tokenke 12').length === 2,
    ),
    'a swap',
  );
  t.ok(
    played.some(({ innerInstructions }) => innerInstructions.some((calls) => calls.length > 0)),
    'programs that call programs',
  );
  const gone = played.some(({ preBalances, postBalances }) =>
    preBalances.some((before, index) => before > 0n && postBalances[index] === 0n),
  );
  t.ok(gone, 'accounts that are closed');
});

t.test('the balances in a transaction fall by exactly its fee', async (t) => {
  const wrong = traffic.played.filter(({ fee, transaction }) => fee !== feeOf(transaction.message));
  t.same(wrong, []);
});

t.test('a block lists exactly the accounts that it changed', async (t) => {
  const { chain, blocks } = traffic;
  const addresses = new Set(
    blocks.flatMap(({ transactions }) => transactions.flatMap(({ accountKeys }) => accountKeys)),
  );
  const recent = blocks.filter(({ parentSlot }) => parentSlot >= chain.slot('finalized'));
  t.ok(recent.length >= 30);
  const text = (address: string, slot: number): string => {
    const account = chain.accountAt(address, slot);
    return account ? `${account.lamports} ${account.owner} ${Buffer.from(account.data).toString('hex')}` : 'none';
  };
  let changes = 0;
  for (const { slot, parentSlot, changedAccounts } of recent) {
    for (const address of addresses) {
      if (address.startsWith('Sysvar')) continue; // a bank writes those whether or not their bytes differ
      const differs = text(address, slot) !== text(address, parentSlot);
      // An account may be changed and restored within a block; it is listed too.
      if (differs && !changedAccounts.has(address)) t.fail(`${address} changed unnoticed in ${slot}`);
      if (differs) changes++;
    }
  }
  t.ok(changes > 100);
});

t.test('the balances before a transaction are those after the one before it', async (t) => {
  const last = new Map<string, bigint>();
  let checked = 0;
  for (const { accountKeys, preBalances, postBalances, signature } of traffic.blocks.flatMap((b) => b.transactions)) {
    accountKeys.forEach((key, index) => {
      if (key.startsWith('Sysvar')) return;
      const before = last.get(key);
      if (before !== undefined && before !== preBalances[index]) t.fail(`${key} jumped before ${signature}`);
      last.set(key, postBalances[index] ?? 0n);
      checked++;
    });
  }
  t.ok(checked > 5000);
});

t.test('token balances add up: the sum over the accounts of a mint is its supply', async (t) => {
  const { chain } = traffic;
  for (const { mint, program, symbol } of COINS) {
    const supply = Buffer.from(chain.account(mint.address, 'processed')?.data ?? []).readBigUInt64LE(36);
    let total = 0n;
    for (const [, { data }] of chain.programAccounts(program, 'processed')) {
      const bytes = Buffer.from(data);
      const isAccount = bytes.length === 165 || bytes[165] === 2;
      if (!isAccount || !bytes.subarray(0, 32).equals(addressBytes(mint.address))) continue;
      total += bytes.readBigUInt64LE(64);
      // The fee of a transfer is withheld in the receiver's account, in its TransferFeeAmount extension.
      if (mint === TOLL.mint) total += withheld(bytes);
    }
    t.equal(total, supply, symbol);
  }
});

t.test('each coin has its metadata where wallets read it', async (t) => {
  const { chain } = traffic;
  for (const { mint, name, symbol } of [DOLLAR, GOLD]) {
    const account = chain.account(await findMetadataAddress(mint.address), 'finalized');
    t.equal(account?.owner, 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');
    t.match(Buffer.from(account?.data ?? []).toString('latin1'), new RegExp(`${name}.*${symbol}`, 's'));
  }
  for (const { mint, name, symbol } of [POINTS, TOLL]) {
    const account = chain.account(mint.address, 'finalized');
    t.match(Buffer.from(account?.data ?? []).toString('latin1'), new RegExp(`${name}.*${symbol}`, 's'));
  }
});

t.test('one account has more lamports than a double can represent, and never changes', async (t) => {
  const { chain } = traffic;
  t.equal(chain.account(WHALE.address, 'finalized')?.lamports, 9_007_199_254_740_993n);
  t.same(chain.transactionsOf(WHALE.address), []);
});

t.test('priority fees are the prices that were paid, and higher for a contended account', async (t) => {
  const { chain, stage } = traffic;
  const fees = chain.prioritizationFees([]);
  t.equal(fees.length, 150);
  t.equal(fees.at(-1)?.slot, chain.slot('confirmed'));
  t.ok(fees.some(({ fee }) => fee > 0n) && fees.some(({ fee }) => fee === 0n));
  const vault = chain.prioritizationFees([stage.tokenAccountOf(DOLLAR, POOL)]);
  t.ok(vault.every(({ fee }, index) => fee >= (fees[index]?.fee ?? 0n)));
  t.ok(vault.some(({ fee }, index) => fee > (fees[index]?.fee ?? 0n)));
});

t.test('performance samples count slots and transactions', async (t) => {
  const [newest, ...older] = traffic.chain.performanceSamples(720);
  t.ok(newest && older.length > 0);
  const counted = [newest, ...older].reduce((sum, sample) => sum + (sample?.transactions ?? 0), 0);
  const made = traffic.blocks.filter(({ slot }) => slot <= (newest?.slot ?? 0));
  t.equal(
    counted,
    made.reduce((sum, { transactions }) => sum + transactions.length, 0),
  );
  t.equal(newest?.seconds, 60);
});

t.test('the same seed gives the same traffic, another seed another', async (t) => {
  const signaturesOf = ({ played }: typeof traffic) => played.map(({ signature }) => signature);
  const first = await playTraffic(7, 20);
  t.same(signaturesOf(await playTraffic(7, 20)), signaturesOf(first));
  t.notSame(signaturesOf(await playTraffic(8, 20)), signaturesOf(first));
});

t.test('traffic continues after a fork', async (t) => {
  const { chain, blocks } = await playTraffic(3, 10);
  for (let i = 0; i < 20; i++) {
    chain.fork();
    chain.produceBlock();
    chain.produceBlock();
  }
  const branch = blocks.slice(-20).flatMap(({ transactions }) => transactions);
  t.ok(branch.length > 40);
  t.ok(branch.filter(({ error }) => error === null).length > branch.length / 2);
  t.ok(WALLETS.every(({ address }) => (chain.account(address, 'processed')?.lamports ?? 0n) > 0n));
});

function addressBytes(address: string): Buffer {
  return Buffer.from(bs58.decode(address));
}

/** Walks the extensions of a Token-2022 account to TransferFeeAmount (2). */
function withheld(account: Buffer): bigint {
  for (let at = 166; at + 4 <= account.length; at += 4 + account.readUInt16LE(at + 2)) {
    if (account.readUInt16LE(at) === 2) return account.readBigUInt64LE(at + 4);
  }
  return 0n;
}
