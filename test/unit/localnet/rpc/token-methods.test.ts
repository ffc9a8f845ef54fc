import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { Chain } from '../../../../src/localnet/bank/chain.ts';
import { callMethod } from '../../../../src/localnet/rpc/call-method.ts';
import { noFaults } from '../../../../src/localnet/rpc/injected-faults.ts';
import type { NodeContext } from '../../../../src/localnet/rpc/method-handler.ts';
import { COINS, POOL, TREASURY, WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { deriveKeypair } from '../../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../../src/localnet/traffic/faucet.ts';
import { startTraffic } from '../../../../src/localnet/traffic/traffic-generator.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;
const OWNERS = [...WALLETS, TREASURY, POOL, deriveKeypair('an owner without accounts')].map(({ address }) => address);

interface Entry {
  readonly pubkey: string;
  readonly account: { readonly data: readonly [string, string]; readonly owner: string };
}

/** Starts a chain with traffic, and records which accounts it ever changed. */
async function startNode() {
  const clock = new ManualClock();
  const chain = await Chain.create({
    clock,
    genesisHash: deriveKeypair('token methods').address,
    originMs: clock.now() - 400_000,
    slotMs: 400,
    skipEvery: 7,
    slotsPerEpoch: 64,
  });
  const faucet = createFaucet(chain);
  await startTraffic(chain, { transactionsPerSlot: 8, seed: 3 });
  const changed = new Set<string>();
  chain.onSlot(({ processed }) => {
    for (const address of processed.changedAccounts) changed.add(address);
  });
  chain.produceBlock();
  const node: NodeContext = { chain, faucet, faults: noFaults(), clock, address: '127.0.0.1:1' };
  return { chain, node, changed };
}

t.test('over forks and at each commitment, lists of token accounts are those of a scan of all accounts', async (t) => {
  const { chain, node, changed } = await startNode();
  const dataOf = ({ account }: Entry): Buffer => Buffer.from(account.data[0], 'base64');
  const hasAt = (entry: Entry, offset: number, address: string): boolean =>
    dataOf(entry)
      .subarray(offset, offset + 32)
      .equals(bs58.decode(address));
  const ask = (method: string, ...params: unknown[]): unknown => callMethod(node, method, params);
  let compared = 0;
  const check = (): void => {
    for (const commitment of COMMITMENTS) {
      const options = { encoding: 'base64', commitment };
      for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
        const all = ask('getProgramAccounts', program, options) as Entry[];
        const scanned = [...changed].filter((address) => chain.account(address, commitment)?.owner === program);
        const listed = new Set(all.map(({ pubkey }) => pubkey));
        t.same(
          scanned.filter((address) => !listed.has(address)),
          [],
          'a scan has no other accounts',
        );
        t.same(
          all.map(({ pubkey }) => pubkey),
          [...listed].sort(),
        );
        const tokenAccounts = all.filter((entry) => dataOf(entry).length >= 165);
        for (const owner of OWNERS) {
          const { value } = ask('getTokenAccountsByOwner', owner, { programId: program }, options) as {
            value: Entry[];
          };
          const wanted = tokenAccounts.filter((entry) => hasAt(entry, 32, owner));
          compared += wanted.length;
          if (JSON.stringify(value, spellBigInt) !== JSON.stringify(wanted, spellBigInt)) {
            t.same(value, wanted, `${owner} at ${commitment}`);
          }
        }
        for (const { mint, program: coinProgram } of COINS) {
          if (coinProgram !== program) continue;
          const holders = tokenAccounts.filter((entry) => hasAt(entry, 0, mint.address));
          const memcmp = { offset: 0, bytes: mint.address };
          const found = ask('getProgramAccounts', program, { ...options, filters: [{ memcmp }] }) as Entry[];
          t.same(
            found.map(({ pubkey }) => pubkey),
            holders.map(({ pubkey }) => pubkey),
          );
          const { value: largest } = ask('getTokenLargestAccounts', mint.address, options) as {
            value: { readonly address: string; readonly amount: string }[];
          };
          const amounts = holders.map((entry) => dataOf(entry).readBigUInt64LE(64));
          t.same(
            largest.map(({ amount }) => amount),
            amounts
              .sort((a, b) => (a < b ? 1 : -1))
              .slice(0, 20)
              .map(String),
          );
        }
      }
    }
  };
  const script = fc.array(
    fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.constant('fork') }),
    {
      minLength: 3,
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(script, (steps) => {
      for (const step of steps) {
        if (step === 'fork') chain.fork();
        else for (let block = 0; block <= Number(step); block++) chain.produceBlock();
      }
      check();
    }),
    { numRuns: 6 },
  );
  t.ok(compared > 1000, `${compared} accounts were compared`);
});

const spellBigInt = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}` : value);
