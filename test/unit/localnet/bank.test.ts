import { createNoopSigner } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import fc from 'fast-check';
import t from 'tap';
import type { Memcmp } from '../../../src/localnet/bank/account-index.ts';
import { TOKEN_MINT_OFFSET, TOKEN_OWNER_OFFSET } from '../../../src/localnet/bank/account-index.ts';
import { AccountVersions } from '../../../src/localnet/bank/account-versions.ts';
import { AccountsDb } from '../../../src/localnet/bank/accounts-db.ts';
import { Chain, type SlotEvent } from '../../../src/localnet/bank/chain.ts';
import { Ledger } from '../../../src/localnet/bank/ledger.ts';
import type { Block, LandedTransaction } from '../../../src/localnet/bank/produced-block.ts';
import { Svm } from '../../../src/localnet/bank/svm.ts';
import type { Account } from '../../../src/localnet/bank/svm-account.ts';
import { TransactionRefused } from '../../../src/localnet/bank/svm-transaction-error.ts';
import { decodeTransaction } from '../../../src/localnet/bank/wire-transaction.ts';
import { SlotTicker } from '../../../src/localnet/slot-ticker.ts';
import { buildTransaction } from '../../../src/localnet/traffic/build-transaction.ts';
import { deriveKeypair } from '../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../src/localnet/traffic/faucet.ts';
import {
  CLOCK_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../src/shared/domain/well-known-addresses.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';

t.test('account-versions', async (t) => {
  const account = (lamports: number): Account | undefined =>
    lamports === 0
      ? undefined
      : { lamports: BigInt(lamports), owner: 'somebody', executable: false, data: new Uint8Array(0) };

  const steps = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), who: fc.nat(2), lamports: fc.nat(3) }) },
      { weight: 4, arbitrary: fc.constant({ kind: 'slot' as const }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('prune' as const), depth: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollBack' as const), depth: fc.nat(3) }) },
    ),
    { maxLength: 60 },
  );

  t.test('from the root up, every slot has the state that a full copy would have', (t) => {
    fc.assert(
      fc.property(steps, (script) => {
        const versions = new AccountVersions();
        const copies = new Map<number, number[]>();
        let slot = 0;
        let root = 0;
        const state = [1, 0, 2];
        copies.set(-1, [...state]);
        for (const step of script) {
          if (step.kind === 'write') {
            const address = String(step.who);
            versions.record(address, slot, account(state[step.who] ?? 0), account(step.lamports));
            state[step.who] = step.lamports;
          }
          copies.set(slot, [...state]);
          if (step.kind === 'slot') copies.set(++slot, [...state]);
          if (step.kind === 'prune') {
            root = Math.max(root, slot - step.depth);
            versions.prune(root);
          }
          if (step.kind === 'rollBack') {
            const to = Math.max(root, slot - step.depth);
            const wanted = copies.get(to) ?? [];
            for (const [address, restored] of versions.rollBack(to)) {
              if (restored?.lamports !== account(wanted[Number(address)] ?? 0)?.lamports) return false;
              state[Number(address)] = Number(restored?.lamports ?? 0n);
            }
            if (String(state) !== String(wanted)) return false;
            for (let abandoned = to + 1; abandoned <= slot; abandoned++) copies.set(abandoned, [...wanted]);
            copies.set(++slot, [...wanted]);
          }
          for (let seen = root; seen <= slot; seen++) {
            const copy = copies.get(seen) ?? [];
            for (const who of [0, 1, 2]) {
              const version = versions.at(String(who), seen);
              const lamports = Number((version ? version.account : account(state[who] ?? 0))?.lamports ?? 0n);
              if (lamports !== copy[who]) return false;
            }
          }
        }
        return true;
      }),
      { numRuns: 500 },
    );
    t.end();
  });
});

t.test('accounts-db', async (t) => {
  const ADDRESSES = ['a', 'b', 'c', 'd'].map((name) => deriveKeypair(`accounts-db ${name}`).address);
  const PROGRAMS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM, SYSTEM_PROGRAM, deriveKeypair('accounts-db program').address];
  const NAMES = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));

  /** Spells where an account has which 32 bytes, or that there is none. */
  const anyState = fc.option(
    fc.record({
      lamports: fc.bigInt(1n, 3n),
      program: fc.constantFrom(...PROGRAMS),
      mint: fc.constantFrom(...NAMES),
      owner: fc.constantFrom(...NAMES),
      size: fc.constantFrom(165, 165, 165, 182, 82, 40, 8),
    }),
    { nil: undefined, freq: 4 },
  );
  type State = typeof anyState extends fc.Arbitrary<infer S> ? S : never;

  function toAccount(state: State): Account | undefined {
    if (state === undefined) return undefined;
    const data = new Uint8Array(182);
    data.set(state.mint, TOKEN_MINT_OFFSET);
    data.set(state.owner, TOKEN_OWNER_OFFSET);
    const { lamports, program, size } = state;
    return { lamports, owner: program, executable: false, data: data.slice(0, size) };
  }

  const filterSets: readonly (readonly Memcmp[])[] = [
    [],
    ...NAMES.flatMap((bytes) => [
      [{ offset: TOKEN_OWNER_OFFSET, bytes }],
      [{ offset: TOKEN_MINT_OFFSET, bytes }],
      [{ offset: TOKEN_MINT_OFFSET, bytes: bytes.subarray(0, 8) }],
      [{ offset: 1, bytes: bytes.subarray(0, 31) }],
      ...NAMES.map((other) => [
        { offset: TOKEN_MINT_OFFSET, bytes },
        { offset: TOKEN_OWNER_OFFSET, bytes: other },
      ]),
    ]),
    [{ offset: TOKEN_OWNER_OFFSET, bytes: new Uint8Array(48) }],
  ];

  const steps = fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('set', 'run'), who: fc.nat(3), state: anyState }) },
      { weight: 4, arbitrary: fc.constant({ kind: 'slot' as const }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('prune' as const), depth: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollBack' as const), depth: fc.nat(3) }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('read' as const), program: fc.constantFrom(...PROGRAMS) }),
      },
    ),
    { maxLength: 40 },
  );

  /** Spells the accounts of a program that match, from a full copy of the state. */
  function scan(copy: ReadonlyMap<string, Account>, program: string, filters: readonly Memcmp[]): string {
    const found = [...copy].filter(
      ([, { owner, data }]) =>
        owner === program &&
        filters.every(({ offset, bytes }) => bytes.every((byte, index) => data[offset + index] === byte)),
    );
    return spell(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  const spell = (accounts: readonly (readonly [string, Account])[]): string =>
    accounts
      .map(([address, { lamports, data }]) => `${address} ${lamports} ${Buffer.from(data).toString('hex')}`)
      .join('\n');

  t.test('from the root up, an answer of the index is the answer of a scan of all accounts', async () => {
    const svm = await Svm.load(64);
    const others = PROGRAMS.flatMap((program) => svm.programAddresses(program)).map((address) => {
      const account = svm.account(address);
      if (account === undefined) throw new Error(`${address} is listed and does not exist`);
      return [address, account] as const;
    });
    fc.assert(
      fc.property(fc.array(anyState, { minLength: 4, maxLength: 4 }), steps, (first, script) => {
        const state = new Map<string, Account>(others);
        const write = (address: string, account: Account | undefined): void => {
          if (account === undefined) state.delete(address);
          else state.set(address, account);
        };
        // What LiteSVM has from its start is found although nothing has changed it.
        ADDRESSES.forEach((address, index) => {
          svm.setAccount(address, toAccount(first[index]));
          write(address, toAccount(first[index]));
        });
        const accounts = new AccountsDb(svm);
        const copies = new Map<number, ReadonlyMap<string, Account>>();
        let slot = 0;
        let root = 0;
        for (const step of script) {
          if (step.kind === 'set' || step.kind === 'run') {
            const address = ADDRESSES[step.who] ?? '';
            const account = toAccount(step.state);
            if (step.kind === 'set') accounts.set(address, slot, account);
            else {
              const before = accounts.newest(address);
              svm.setAccount(address, account); // as a transaction would
              accounts.reload(address, slot, before);
            }
            write(address, account);
          }
          if (step.kind === 'slot') copies.set(slot++, new Map(state));
          if (step.kind === 'prune') {
            root = Math.max(root, slot - step.depth);
            accounts.prune(root);
          }
          if (step.kind === 'read') accounts.programAccounts(step.program, slot, []);
          if (step.kind === 'rollBack') {
            const to = Math.max(root, slot - step.depth);
            const wanted = to === slot ? new Map(state) : copies.get(to);
            const changed = new Set(accounts.rollBack(to));
            for (const address of ADDRESSES) {
              const isRestored =
                changed.has(address) || spellOne(state.get(address)) === spellOne(wanted?.get(address));
              if (!isRestored) return false;
              write(address, wanted?.get(address));
            }
            for (let abandoned = to + 1; abandoned < slot; abandoned++) copies.set(abandoned, new Map(state));
            copies.set(slot++, new Map(state));
          }
          copies.set(slot, new Map(state));
        }
        for (let seen = root; seen <= slot; seen++) {
          const copy = copies.get(seen) ?? state;
          for (const program of PROGRAMS)
            for (const filters of filterSets)
              if (spell(accounts.programAccounts(program, seen, filters)) !== scan(copy, program, filters))
                return false;
        }
        return true;
      }),
      { numRuns: 150 },
    );
  });

  const spellOne = (account: Account | undefined): string => (account === undefined ? '' : spell([['', account]]));

  t.test('an account keeps its object while it does not change', async (t) => {
    const svm = await Svm.load(64);
    const accounts = new AccountsDb(svm);
    const [address = ''] = ADDRESSES;
    accounts.set(address, 1, { lamports: 7n, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(3) });
    const before = accounts.newest(address);
    t.equal(before?.lamports, 7n);
    t.equal(accounts.newest(address), before, 'no copy is made for a read');
    t.equal(accounts.reload(address, 2, before), before, 'nor for a transaction that leaves it as it is');
    t.equal(accounts.at(address, 2), before);
  });
});

t.test('chain', async (t) => {
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

  /** Returns the error with which a chain refuses a transaction. */
  function refusalOf(chain: Chain, bytes: Uint8Array): unknown {
    try {
      chain.send(bytes);
    } catch (error) {
      return error instanceof TransactionRefused ? error.error : error;
    }
    return 'accepted';
  }

  const produceBlocks = (chain: Chain, blocks: number): void => {
    for (let i = 0; i < blocks; i++) chain.produceBlock();
  };

  t.test('the effects of the first block are final immediately', async (t) => {
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
    t.equal(chain.slot('processed'), paused + 25, 'immediately');
  });

  t.test('a blockhash is valid for 150 blocks', async (t) => {
    const { chain } = await startChain();
    const { hash, lastValidHeight } = chain.latestBlockhash('processed');
    produceBlocks(chain, 149);
    t.equal(chain.send(payment(chain, SOL, hash)).error, null);
    t.equal(chain.newestBlock('processed')?.height, lastValidHeight - 1);
    chain.produceBlock();
    t.equal(refusalOf(chain, payment(chain, 2n * SOL, hash)), 'BlockhashNotFound');
    t.equal(refusalOf(chain, payment(chain, SOL, hash)), 'BlockhashNotFound', 'one that has landed is too old as well');
    const feeNow = () => chain.feeForMessage(decodeTransaction(payment(chain, SOL, hash)).message);
    produceBlocks(chain, 149);
    t.equal(feeNow(), 5000n, 'the fee is known for twice as long');
    chain.produceBlock();
    t.equal(feeNow(), undefined);
  });

  t.test('a transaction lands once', async (t) => {
    const { chain } = await startChain();
    const bytes = payment(chain, SOL);
    chain.send(bytes);
    t.equal(refusalOf(chain, bytes), 'AlreadyProcessed', 'in the same block');
    chain.produceBlock();
    t.equal(refusalOf(chain, bytes), 'AlreadyProcessed', 'in a later one');
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

  t.test('a transaction that cannot pay, is unsigned or malformed is refused without effects', async (t) => {
    const { chain } = await startChain();
    const beggar = deriveKeypair('beggar');
    const transfer = getTransferSolInstruction({ source: beggar, destination: bob, amount: 1n });
    const { hash: blockhash } = chain.latestBlockhash('processed');
    t.equal(
      refusalOf(chain, buildTransaction({ payer: beggar, instructions: [transfer], blockhash })),
      'AccountNotFound',
    );
    const forged = payment(chain, SOL);
    forged[5] = (forged[5] ?? 0) ^ 1;
    t.equal(refusalOf(chain, forged), 'SignatureFailure');
    const stranger = createNoopSigner(deriveKeypair('stranger').address);
    const theft = getTransferSolInstruction({ source: stranger, destination: bob, amount: 1n });
    t.equal(refusalOf(chain, buildTransaction({ payer: alice, instructions: [theft], blockhash })), 'SignatureFailure');
    t.equal(refusalOf(chain, Uint8Array.of(1, 2, 3)), 'SanitizeFailure');
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
});

t.test('ledger', async (t) => {
  const block = (slot: number, transactions: readonly (readonly string[])[]): Block => ({
    slot,
    parentSlot: slot - 1,
    hash: `hash ${slot}`,
    parentHash: `hash ${slot - 1}`,
    height: slot,
    blockTime: slot,
    // The ledger reads no other members of a transaction.
    transactions: transactions.map(
      (accountKeys, index) => ({ slot, index, signature: `${slot}.${index}`, accountKeys }) as LandedTransaction,
    ),
    transactionCount: 0,
    changedAccounts: new Set(),
  });

  const LIMITS = { maxBlocks: 5, maxTransactions: 8 };
  const ADDRESSES = ['a', 'b', 'c'];
  const keys = fc.subarray(ADDRESSES, { minLength: 1 });
  const steps = fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ gap: fc.integer({ min: 1, max: 3 }), transactions: fc.array(keys, { maxLength: 4 }) }),
      },
      { weight: 1, arbitrary: fc.record({ depth: fc.nat(3) }) },
    ),
    { maxLength: 40 },
  );

  t.test('a ledger finds the blocks it keeps, and none that was dropped at either end', async () => {
    fc.assert(
      fc.property(steps, (script) => {
        const ledger = new Ledger(LIMITS);
        let model: Block[] = [];
        let next = 1;
        for (const step of script) {
          if ('gap' in step) {
            next += step.gap;
            const added = block(next, step.transactions);
            ledger.add(added);
            model.push(added);
            ledger.trim(next);
            const count = () => model.reduce((sum, { transactions }) => sum + transactions.length, 0);
            while (model.length > 1 && (model.length > LIMITS.maxBlocks || count() > LIMITS.maxTransactions))
              model.shift();
          } else {
            const top = model.at(-1 - step.depth)?.slot ?? next;
            const dropped = model.filter(({ slot }) => slot > top);
            const removed = String(ledger.truncate(top).map(({ slot }) => slot));
            if (removed !== String(dropped.map(({ slot }) => slot).reverse())) return false;
            model = model.filter(({ slot }) => slot <= top);
          }
          const kept = model.flatMap(({ transactions }) => transactions);
          const found = ADDRESSES.map((address) => ledger.transactionsOf(address));
          const wanted = ADDRESSES.map((address) => kept.filter(({ accountKeys }) => accountKeys.includes(address)));
          if (JSON.stringify(found) !== JSON.stringify(wanted)) return false;
          for (let slot = 0; slot <= next; slot++) {
            const expected = model.find((block) => block.slot === slot);
            if (ledger.block(slot) !== expected) return false;
            for (let index = 0; index < 4; index++) {
              if (ledger.transaction(`${slot}.${index}`) !== expected?.transactions[index]) return false;
            }
          }
          if (ledger.oldestBlock !== model[0] || ledger.newestBlock !== model.at(-1)) return false;
        }
        return true;
      }),
      { numRuns: 300 },
    );
  });

  t.test('blocks that a fork may still abandon are kept beyond the limits', async (t) => {
    const ledger = new Ledger(LIMITS);
    for (let slot = 1; slot <= 20; slot++) ledger.add(block(slot, []));
    ledger.trim(10);
    t.equal(ledger.oldestBlock?.slot, 10);
    t.same(pluck(ledger.blocksBetween(11, 14), 'slot'), [12, 13, 14]);
  });
});
