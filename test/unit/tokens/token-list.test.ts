import t from 'tap';
import { readTokenList, type TokenList } from '../../../src/tokens/token-list.ts';
import type { EncodedAccount } from '../../../src/upstream/reads/encoded-accounts.ts';
import {
  addressFromByte,
  mintFixture,
  rpcResultOf,
  tokenAccountFixture,
} from '../../support/token-account-fixtures.ts';

const [OWNER, OTHER, MINT] = [addressFromByte(1), addressFromByte(2), addressFromByte(3)];
const [FIRST, SECOND] = [addressFromByte(11), addressFromByte(12)];
const SLOT = 7;

type Accounts = Readonly<Record<string, EncodedAccount>>;

/** A node whose lists are newer than the slot that it reports: it builds them from its newest root. */
function nodeOf(atSlot: Accounts, atRoot: Accounts) {
  const mint = [MINT, mintFixture(0, 1000)] as const;
  const [now, ahead] = [atSlot, atRoot].map((accounts) => new Map([mint, ...Object.entries(accounts)]));
  return {
    call: async (method: string, params: readonly unknown[]) => {
      const filter = (params[1] as { mint?: string }).mint;
      const program = filter === undefined ? params : [params[0], { programId: mint[1].owner }];
      const accounts = (method === 'getTokenAccountsByOwner' ? ahead : now) ?? new Map();
      const value = Buffer.from(rpcResultOf(accounts, method, program));
      return { slot: SLOT, result: value, value };
    },
  };
}

/** Amounts by address. */
const amountsIn = ({ accounts }: TokenList): Record<string, number> =>
  Object.fromEntries(accounts.map(({ address, token }) => [address, Number(token.amount)]));

async function read(atSlot: Accounts, atRoot: Accounts, known?: TokenList) {
  const query = { owner: OWNER, commitment: 'finalized', minContextSlot: undefined, known } as const;
  const all = await readTokenList(nodeOf(atSlot, atRoot), query);
  const ofMint = await readTokenList(nodeOf(atSlot, atRoot), { ...query, mint: MINT });
  return {
    slots: [all.slot, ofMint.slot],
    all: all.list,
    amounts: amountsIn(all.list),
    ofMint: amountsIn(ofMint.list),
  };
}

const one = { [FIRST]: tokenAccountFixture(OWNER, 10, MINT) };

t.test('a list holds at its slot, although the node built it from a later one', async (t) => {
  for (const [what, atRoot] of Object.entries({
    'nothing has changed since': one,
    'an amount has changed since': { [FIRST]: tokenAccountFixture(OWNER, 20, MINT) },
    'an account has come since': { ...one, [SECOND]: tokenAccountFixture(OWNER, 5, MINT) },
  })) {
    const { slots, amounts, ofMint } = await read(one, atRoot);
    t.same(slots, [SLOT, SLOT], what);
    t.same(amounts, { [FIRST]: 10 }, what);
    t.same(ofMint, { [FIRST]: 10 }, `${what}, of one mint`);
  }
});

t.test('an account that was known is not left out before the slot at which it leaves the list', async (t) => {
  const two = { ...one, [SECOND]: tokenAccountFixture(OWNER, 5, MINT) };
  const { all: known } = await read(two, two);
  for (const [what, atRoot] of Object.entries({
    'it is closed then': one,
    'it is given away then': { ...one, [SECOND]: tokenAccountFixture(OTHER, 5, MINT) },
  })) {
    const { amounts, ofMint } = await read(two, atRoot, known);
    t.same(amounts, { [FIRST]: 10, [SECOND]: 5 }, what);
    t.same(ofMint, { [FIRST]: 10, [SECOND]: 5 }, what);
    const then = await read(atRoot, atRoot, known);
    t.same(then.amounts, { [FIRST]: 10 }, `${what}, and is gone now`);
    t.same(then.ofMint, { [FIRST]: 10 }, `${what}, and is gone now`);
  }
});
