import t from 'tap';
import { Chain, type SlotEvent } from '../../../../src/localnet/bank/chain.ts';
import type { Block } from '../../../../src/localnet/bank/produced-block.ts';
import { GOLD, WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { deriveKeypair } from '../../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../../src/localnet/traffic/faucet.ts';
import { loadOrSetUpTraffic, type SetupStore } from '../../../../src/localnet/traffic/stored-setup.ts';
import { startTraffic } from '../../../../src/localnet/traffic/traffic-generator.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** A store in memory that counts how often it is used. */
class MemoryStore implements SetupStore {
  readonly setups = new Map<string, Uint8Array>();
  hits = 0;

  read(key: string): Uint8Array | undefined {
    const setup = this.setups.get(key);
    if (setup !== undefined) this.hits++;
    return setup;
  }

  write(key: string, setup: Uint8Array): void {
    this.setups.set(key, setup);
  }
}

function createChain({ name = 'stored setup', slotsPerEpoch = 8192, ageMs = 400_000 } = {}): Promise<Chain> {
  const clock = new ManualClock();
  const genesisHash = deriveKeypair(name).address;
  const originMs = clock.now() - ageMs;
  return Chain.create({ clock, genesisHash, originMs, slotMs: 400, skipEvery: 23, slotsPerEpoch });
}

/** Lets traffic run for some slots; returns all that can be read of the chain. */
async function runTraffic(setupStore: SetupStore | undefined, slots = 30) {
  const chain = await createChain();
  createFaucet(chain);
  const setup = await startTraffic(chain, { transactionsPerSlot: 6, seed: 1, setupStore });
  const blocks: Block[] = [];
  const events: Omit<SlotEvent, 'processed' | 'confirmed' | 'finalized'>[] = [];
  const states: unknown[] = [];
  chain.onSlot(({ processed, confirmed, finalized, ...event }) => {
    blocks.push(processed);
    events.push(event);
    states.push([...processed.changedAccounts].map((address) => chain.accountAt(address, processed.slot)));
  });
  for (let slot = 0; slot < slots; slot++) {
    chain.produceBlock();
    if (slot === 20) chain.fork();
  }
  const [wallet] = WALLETS;
  const tokenPrograms = [...new Set(blocks.flatMap(({ transactions }) => transactions.flatMap(programsOf)))];
  return {
    blocks,
    events,
    states,
    owned: tokenPrograms.map((program) => chain.programAccounts(program, 'processed')),
    history: chain.transactionsOf(wallet.address),
    lookupTable: setup.lookupTable,
    tokenAccount: setup.tokenAccountOf(GOLD, wallet),
  };
}

const programsOf = ({ preTokenBalances }: Block['transactions'][number]): string[] =>
  preTokenBalances.map(({ program }) => program);

/** Spells a value in full; equal bytes are equal whether they are a Buffer or not. */
const spelled = (value: unknown): string =>
  JSON.stringify(value, (_, member) => {
    if (typeof member === 'bigint') return `${member}n`;
    if (member instanceof Set) return [...member];
    if (member?.type === 'Buffer') return Buffer.from(member.data).toString('hex'); // a Buffer has its own toJSON
    if (member instanceof Uint8Array) return Buffer.from(member).toString('hex');
    return member === undefined ? 'undefined' : member;
  });

t.test('a chain with a stored setup is the chain that runs the setup', async (t) => {
  const store = new MemoryStore();
  const played = await runTraffic(undefined);
  const storing = await runTraffic(store);
  t.equal(store.hits, 0);
  t.equal(store.setups.size, 1);
  const restored = await runTraffic(store);
  t.equal(store.hits, 1);
  t.ok(played.blocks.length === 30 && played.history.length > 5);
  for (const part of Object.keys(played) as (keyof typeof played)[]) {
    const expected = spelled(played[part]);
    t.ok(spelled(storing[part]) === expected, `${part} of the chain that stored`);
    t.ok(spelled(restored[part]) === expected, `${part} of the chain that was restored`);
  }
});

t.test('a setup is stored for chains that are equal before it', async (t) => {
  const store = new MemoryStore();
  const others = [{}, { name: 'another genesis' }, { ageMs: 800_000 }, { slotsPerEpoch: 64 }];
  for (const other of others) await loadOrSetUpTraffic(await createChain(other), store);
  const funded = await createChain();
  createFaucet(funded);
  await loadOrSetUpTraffic(funded, store);
  t.equal(store.setups.size, others.length + 1);
  t.equal(store.hits, 0);
  await loadOrSetUpTraffic(await createChain(), store);
  t.equal(store.hits, 1);
});

t.test('only a chain without a block can be given a setup', async (t) => {
  const chain = await createChain();
  const { accounts, transactions } = chain.initialState;
  chain.produceBlock();
  t.throws(() => chain.initialState, { message: 'the chain has produced its first block already' });
  t.throws(() => chain.applyInitialEffects({ accounts, transactions }), { message: /first block already/ });
});
