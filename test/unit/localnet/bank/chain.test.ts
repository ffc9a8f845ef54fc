import { createNoopSigner } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import t from 'tap';
import { CLOCK_SYSVAR } from '../../../../src/domain/well-known-addresses.ts';
import { Chain, type SlotEvent } from '../../../../src/localnet/bank/chain.ts';
import { TransactionRefused } from '../../../../src/localnet/bank/svm-transaction-error.ts';
import { decodeTransaction } from '../../../../src/localnet/bank/wire-transaction.ts';
import { SlotTicker } from '../../../../src/localnet/control/slot-ticker.ts';
import { buildTransaction } from '../../../../src/localnet/traffic/build-transaction.ts';
import { deriveKeypair } from '../../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../../src/localnet/traffic/faucet.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SLOT_MS = 400;
const SOL = 1_000_000_000n;
const alice = deriveKeypair('alice');
const bob = deriveKeypair('bob').address;

interface ChainSetup {
  readonly clock?: ManualClock;
  readonly skipEvery?: number;
}

/** Starts a chain whose first block gave Alice 100 SOL. */
async function startChain({ clock = new ManualClock(), skipEvery = 0 }: ChainSetup = {}) {
  const chain = await Chain.create({
    clock,
    genesisHash: deriveKeypair('a chain').address,
    originMs: clock.now() - 1000 * SLOT_MS,
    slotMs: SLOT_MS,
    skipEvery,
    slotsPerEpoch: 64,
  });
  const faucet = createFaucet(chain);
  faucet.airdrop(alice.address, 100n * SOL);
  chain.produceBlock();
  return { chain, pacer: new SlotTicker(clock, chain), clock };
}

const payment = (chain: Chain, amount: bigint, blockhash = chain.latestBlockhash('processed').hash): Uint8Array => {
  const transfer = getTransferSolInstruction({ source: alice, destination: bob, amount });
  return buildTransaction({ payer: alice, instructions: [transfer], blockhash });
};

/** Returns the error with which the cluster refuses a transaction. */
function refusalOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error instanceof TransactionRefused ? error.error : error;
  }
  return 'accepted';
}

const produceBlocks = (chain: Chain, blocks: number): void => {
  for (let i = 0; i < blocks; i++) chain.produceBlock();
};

t.test('the effects of the first block are final at once', async (t) => {
  const { chain } = await startChain();
  for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
    t.equal(chain.slot(commitment), 1000);
    t.equal(chain.account(alice.address, commitment)?.lamports, 100n * SOL);
  }
  t.equal(chain.firstAvailableSlot, 1000);
});

t.test('each commitment has a transfer once it reaches its slot', async (t) => {
  const { chain } = await startChain();
  const { slot } = chain.send(payment(chain, SOL));
  t.equal(chain.account(bob, 'processed'), undefined, 'not before its block is produced');
  const seenAfter = { processed: 0, confirmed: 0, finalized: 0 };
  for (let block = 1; block <= 40; block++) {
    chain.produceBlock();
    for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
      const seen = chain.account(bob, commitment)?.lamports === SOL;
      t.equal(seen, chain.slot(commitment) >= slot);
      if (seen) seenAfter[commitment] ||= block;
    }
  }
  t.equal(seenAfter.processed, 1);
  t.ok([2, 3].includes(seenAfter.confirmed));
  t.equal(seenAfter.finalized, 33);
});

t.test('no commitment ever moves back, and each block is reported once at each of them, in order', async (t) => {
  const { chain } = await startChain({ skipEvery: 5 });
  const reported: Record<'processed' | 'confirmed' | 'finalized', number[]> = {
    processed: [],
    confirmed: [],
    finalized: [],
  };
  chain.onSlot(({ processed, confirmed, finalized }) => {
    reported.processed.push(processed.slot);
    reported.confirmed.push(...confirmed.map(({ slot }) => slot));
    reported.finalized.push(...finalized.map(({ slot }) => slot));
  });
  produceBlocks(chain, 100);
  const produced = reported.processed;
  t.equal(produced.length, 100);
  t.same(
    produced,
    [...produced].sort((a, b) => a - b),
  );
  t.same(reported.confirmed, produced.slice(0, reported.confirmed.length));
  t.same(reported.finalized, produced.slice(0, reported.finalized.length));
  t.equal(reported.confirmed.at(-1), chain.slot('confirmed'));
  t.equal(reported.finalized.at(-1), chain.slot('finalized'));
});

t.test('slots follow the clock, and a skipped one has no block', async (t) => {
  const { chain, pacer, clock } = await startChain({ skipEvery: 5 });
  pacer.start();
  clock.advance(50 * SLOT_MS);
  const newest = chain.slot('processed');
  t.ok([1048, 1049].includes(newest), `${newest} is the slot before the one that is being produced`);
  let skipped = 0;
  for (let slot = chain.firstAvailableSlot; slot <= newest; slot++) {
    const block = chain.block(slot);
    t.equal(chain.isSkipped(slot), block === undefined);
    if (block === undefined) skipped++;
    else if (slot > chain.firstAvailableSlot) t.equal(block.parentHash, chain.block(block.parentSlot)?.hash);
  }
  t.ok(skipped >= 9 && skipped <= 11, `${skipped} of 50 skipped`);
  pacer.stop();
  clock.advance(10 * SLOT_MS);
  t.equal(chain.slot('processed'), newest);
});

t.test('after a long sleep the chain jumps instead of producing every missed slot', async (t) => {
  const { chain, pacer, clock } = await startChain();
  const blocks: number[] = [];
  chain.onSlot(({ processed }) => blocks.push(processed.slot));
  pacer.start();
  clock.advance(SLOT_MS);
  pacer.stop();
  clock.advance(100_000 * SLOT_MS);
  pacer.start();
  clock.advance(2 * SLOT_MS);
  t.ok(blocks.length < 10);
  t.ok(chain.slot('processed') >= 101_000);
});

t.test('a paused chain stops and continues without a jump; a lagging one catches up', async (t) => {
  const { chain, pacer, clock } = await startChain();
  pacer.start();
  clock.advance(10 * SLOT_MS);
  pacer.pause();
  const paused = chain.slot('processed');
  clock.advance(25 * SLOT_MS);
  t.equal(chain.slot('processed'), paused);
  pacer.resume();
  clock.advance(2 * SLOT_MS);
  t.equal(chain.slot('processed'), paused + 2);
  pacer.lagBehind(20);
  clock.advance(20 * SLOT_MS);
  t.equal(chain.slot('processed'), paused + 2, 'waits until the others are ahead');
  clock.advance(3 * SLOT_MS);
  t.equal(chain.slot('processed'), paused + 5, 'follows with a lag');
  pacer.lagBehind(0);
  t.equal(chain.slot('processed'), paused + 25, 'at once');
});

t.test('a blockhash is valid for 150 blocks', async (t) => {
  const { chain } = await startChain();
  const { hash, lastValidHeight } = chain.latestBlockhash('processed');
  produceBlocks(chain, 149);
  t.equal(chain.send(payment(chain, SOL, hash)).error, null);
  t.equal(chain.newestBlock('processed')?.height, lastValidHeight - 1);
  chain.produceBlock();
  t.equal(
    refusalOf(() => chain.send(payment(chain, 2n * SOL, hash))),
    'BlockhashNotFound',
  );
  t.equal(chain.feeForMessage(decodeTransaction(payment(chain, SOL, hash)).message), undefined);
  t.equal(chain.feeForMessage(decodeTransaction(payment(chain, SOL)).message), 5000n);
});

t.test('a transaction lands once', async (t) => {
  const { chain } = await startChain();
  const bytes = payment(chain, SOL);
  chain.send(bytes);
  t.equal(
    refusalOf(() => chain.send(bytes)),
    'AlreadyProcessed',
    'in the same block',
  );
  chain.produceBlock();
  t.equal(
    refusalOf(() => chain.send(bytes)),
    'AlreadyProcessed',
    'in a later one',
  );
});

t.test('a transaction that fails lands and pays its fee', async (t) => {
  const { chain } = await startChain();
  const landed = chain.send(payment(chain, 1000n * SOL));
  t.same(landed.error, { InstructionError: [0, { Custom: 1 }] });
  t.equal(landed.fee, 5000n);
  t.match(landed.logs.join('\n'), /insufficient lamports/);
  chain.produceBlock();
  t.equal(chain.transaction(landed.signature), landed);
  t.same(chain.transactionsOf(bob), [landed]);
  t.equal(chain.account(alice.address, 'processed')?.lamports, 100n * SOL - 5000n);
  t.equal(chain.account(bob, 'processed'), undefined);
});

t.test('a transaction that can not pay, is unsigned or malformed is refused without effects', async (t) => {
  const { chain } = await startChain();
  const beggar = deriveKeypair('beggar');
  const transfer = getTransferSolInstruction({ source: beggar, destination: bob, amount: 1n });
  const { hash: blockhash } = chain.latestBlockhash('processed');
  t.equal(
    refusalOf(() => chain.send(buildTransaction({ payer: beggar, instructions: [transfer], blockhash }))),
    'AccountNotFound',
  );
  const forged = payment(chain, SOL);
  forged[5] = (forged[5] ?? 0) ^ 1;
  t.equal(
    refusalOf(() => chain.send(forged)),
    'SignatureFailure',
  );
  const stranger = createNoopSigner(deriveKeypair('stranger').address);
  const theft = getTransferSolInstruction({ source: stranger, destination: bob, amount: 1n });
  t.equal(
    refusalOf(() => chain.send(buildTransaction({ payer: alice, instructions: [theft], blockhash }))),
    'SignatureFailure',
  );
  t.equal(
    refusalOf(() => chain.send(Uint8Array.of(1, 2, 3))),
    'SanitizeFailure',
  );
  chain.produceBlock();
  t.equal(chain.newestBlock('processed')?.transactions.length, 0);
  t.equal(chain.account(alice.address, 'processed')?.lamports, 100n * SOL);
});

t.test('a simulation returns the result without effects', async (t) => {
  const { chain } = await startChain();
  const good = chain.simulate(payment(chain, SOL));
  t.equal(good.error, null);
  t.ok(good.computeUnits > 0n);
  t.same(chain.simulate(payment(chain, 1000n * SOL)).error, { InstructionError: [0, { Custom: 1 }] });
  chain.produceBlock();
  t.equal(chain.account(alice.address, 'finalized')?.lamports, 100n * SOL);
});

t.test('a fork reverts what was processed and not confirmed', async (t) => {
  const { chain } = await startChain();
  produceBlocks(chain, 5);
  const bytes = payment(chain, SOL);
  const { slot, signature } = chain.send(bytes);
  chain.produceBlock();
  t.equal(chain.account(bob, 'processed')?.lamports, SOL);
  const confirmed = chain.slot('confirmed');
  const abandoned = chain.fork();
  t.ok(abandoned.includes(slot));
  t.equal(chain.account(bob, 'processed'), undefined);
  t.equal(chain.transaction(signature), undefined);

  const events: SlotEvent[] = [];
  chain.onSlot((event) => events.push(event));
  chain.produceBlock();
  const [event] = events;
  t.equal(event?.processed.parentSlot, confirmed);
  t.ok(Number(event?.processed.slot) > slot, 'the other fork has other slots');
  t.ok(event?.revertedAccounts.has(bob));
  t.notOk(event?.processed.changedAccounts.has(bob));
  t.ok(chain.isSkipped(slot));

  t.equal(chain.send(bytes).error, null, 'the transaction may land on the other fork');
  produceBlocks(chain, 40);
  t.equal(chain.account(bob, 'finalized')?.lamports, SOL);
});

t.test('the Clock sysvar changes in every block and has its slot, epoch and time', async (t) => {
  const { chain } = await startChain({ skipEvery: 7 });
  produceBlocks(chain, 100);
  for (let block = chain.newestBlock('processed'); block && block.slot > chain.slot('finalized'); ) {
    t.ok(block.changedAccounts.has(CLOCK_SYSVAR));
    const { data } = chain.accountAt(CLOCK_SYSVAR, block.slot) ?? {};
    const clock = Buffer.from(data ?? []);
    t.equal(Number(clock.readBigUInt64LE(0)), block.slot);
    t.equal(Number(clock.readBigUInt64LE(16)), chain.epochOf(block.slot).epoch);
    t.equal(Number(clock.readBigInt64LE(32)), block.blockTime);
    block = chain.block(block.parentSlot);
  }
});
