import fc from 'fast-check';
import t from 'tap';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { TOKEN_MINT_OFFSET, TOKEN_OWNER_OFFSET } from '../../../../src/localnet/bank/account-index.ts';
import { AccountsDb } from '../../../../src/localnet/bank/accounts-db.ts';
import type { Memcmp } from '../../../../src/localnet/bank/memcmp.ts';
import { Svm } from '../../../../src/localnet/bank/svm.ts';
import type { Account } from '../../../../src/localnet/bank/svm-account.ts';
import { deriveKeypair } from '../../../../src/localnet/traffic/demo-keypair.ts';

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
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const), program: fc.constantFrom(...PROGRAMS) }) },
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
            const isRestored = changed.has(address) || spellOne(state.get(address)) === spellOne(wanted?.get(address));
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
            if (spell(accounts.programAccounts(program, seen, filters)) !== scan(copy, program, filters)) return false;
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
