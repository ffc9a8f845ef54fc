import t from 'tap';
import { createKnownMints } from '../../../src/gateway/tokens/known-mint-names.ts';
import { SharedListings } from '../../../src/gateway/tokens/owner-listing.ts';
import { TokenLabelCache } from '../../../src/gateway/tokens/token-labels.ts';
import { readTokenList, type TokenList } from '../../../src/gateway/tokens/token-list.ts';
import type { EncodedAccount } from '../../../src/gateway/upstream/reads/encoded-accounts.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { SYMBOL_BY_MINT } from '../../../src/shared/domain/known-mints.ts';
import type { Slot } from '../../../src/shared/domain/slot.ts';
import { RequestCost } from '../../../src/shared/domain/units.ts';
import { decodeMetadata, findMetadataAddress } from '../../../src/transactions/accounts/metaplex-metadata-account.ts';
import { tokenLabelText } from '../../../src/transactions/accounts/token-label.ts';
import { addressOfNumber } from '../../support/address-of-number.ts';
import { HOSTILE_NAMES } from '../../support/hostile-names.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';
import { storedAccounts } from '../../support/recorded-accounts.ts';
import {
  addressFromByte,
  metadataFixture,
  mintFixture,
  rpcResultOf,
  tokenAccountFixture,
} from '../../support/token-account-fixtures.ts';
import { TokenListHarness } from '../../support/token-list-harness.ts';

t.test('known-mint-names', async (t) => {
  const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const known = createKnownMints(
    { wif: 'WIF', inf: 'INF', w: 'W', five: 'X25' },
    async (mints) => new Set(mints.filter((m) => m === 'v')),
  );
  const isSuspicious = (symbol: string): boolean => known.isSuspicious({ mint: 'x', symbol, name: 'Something' });

  t.test('a mint is verified by address: built in, configured, or on the list of a service', async (t) => {
    t.same([...(await known.findVerified([USDC, 'wif', 'v', 'x'], undefined))], [USDC, 'wif', 'v']);
    t.same([...(await createKnownMints({}).findVerified(['wif', 'v'], undefined))], []);
    t.same(['v', 'wif', USDC].map(known.symbolOf), [undefined, 'WIF', 'USDC']);
  });

  t.test('another mint with the symbol of a known one is suspicious, whatever its letters look like', async (t) => {
    const imitations = [
      'USDC',
      'usdc',
      ' USDC ',
      'USDC\u0000',
      'SO1',
      'SoI',
      'S\u0430O\u0301L'.replace('\u0430', ''),
      '$WIF',
      'lNF',
      'USDl',
      'X2S',
      'ᑌᔕᗪᑕ',
      'SOᒪ',
      'S〇L',
      'SӨL',
      'USDƆ',
      'ƲSDC',
      `USDC${'\u200b'.repeat(500)}`,
    ];
    const missed = imitations.filter((symbol) => !isSuspicious(symbol));
    t.same(missed, []);
    t.ok(known.isSuspicious({ mint: 'x', symbol: null, name: 'USDС' }), 'where only the name is shown');
    for (const symbol of ['', ' ', '.', '-', '$', '\u200b'])
      t.ok(known.isSuspicious({ mint: 'x', symbol, name: 'USDC' }), 'a symbol without letters shows nothing');
    const honest = [
      'USDCet',
      'USDC.e',
      'SOL-USDC',
      'USDX',
      'SOLX',
      'BONKERS',
      'JITO',
      'WEN',
      'WLF',
      '',
      '??',
      '狗',
      'SO',
      'שקל',
    ];
    t.same(honest.filter(isSuspicious), []);
    t.notOk(known.isSuspicious({ mint: 'x', symbol: 'SOLX', name: 'SOL' }), 'a name is none of a symbol');
    t.notOk(known.isSuspicious({ mint: 'x', symbol: null, name: null }));
  });

  t.test('a symbol that imitates a known one, or its mark, by any of nine means is suspicious', async (t) => {
    t.equal(HOSTILE_NAMES.length, 64);
    const missed = HOSTILE_NAMES.filter((name) => !isSuspicious(name));
    t.same(missed, []);
    const nameless = HOSTILE_NAMES.filter((name) => !known.isSuspicious({ mint: 'x', symbol: null, name }));
    t.same(nameless, [], 'nor is one as a name that stands for the symbol');
    t.ok(known.isSuspicious({ mint: 'x', symbol: 'FINE', name: 'USD Coin ✓ known' }), 'nor a mark beside a symbol');
  });

  t.test('no known mint is suspicious, and no token that clusters store', async (t) => {
    const builtIn = [...SYMBOL_BY_MINT].map(([mint, symbol]) => ({ mint, symbol, name: symbol }));
    const stored = storedAccounts.flatMap((account) => {
      const metadata = decodeMetadata(account);
      return metadata === undefined ? [] : [metadata];
    });
    t.ok(stored.length > 20, `${stored.length} are recorded`);
    t.same(
      [...builtIn, ...stored].filter(known.isSuspicious).map(({ mint, symbol, name }) => ({ mint, symbol, name })),
      [],
    );
  });
});

t.test('owner-listing', async (t) => {
  const OWNER = addressFromByte(1);
  const CALLS_PER_LISTING = 2;

  /** Listings over a node at a slot, which a test moves; it refuses what it has not reached. */
  function open() {
    const node = { slot: 100, tip: 100, calls: 0, isDown: false, rowBytes: 0 };
    const call = async (_method: string, params: readonly unknown[] = []) => {
      const { minContextSlot = 0 } = params.at(-1) as { minContextSlot?: Slot };
      node.calls++;
      const value = Buffer.from(node.rowBytes === 0 ? '[]' : `["${'x'.repeat(node.rowBytes)}"]`);
      await new Promise(setImmediate);
      if (node.isDown) throw new GatewayError('upstream_unavailable', 'down');
      if (minContextSlot > node.slot) throw new GatewayError('rpc_error', 'behind', { status: 503, rpcCode: -32016 });
      return { slot: node.slot, value, result: value };
    };
    const listings = new SharedListings({ tip: () => node.tip });
    const list = (minContextSlot?: Slot, owner = OWNER) =>
      listings.list({ call }, owner, { commitment: 'confirmed', minContextSlot }).then(({ slots }) => slots);
    return { node, listings, list };
  }

  t.test('reads that begin at one tip share a listing, until the tip moves', async (t) => {
    const { node, list } = open();
    t.same(await Promise.all([list(), list(90), list(100)]), Array(3).fill([100, 100]));
    t.same(await list(), [100, 100], 'also when it is complete');
    t.equal(node.calls, CALLS_PER_LISTING);
    node.slot = node.tip = 101;
    t.same(await list(), [101, 101]);
    t.equal(node.calls, 2 * CALLS_PER_LISTING);
  });

  t.test('listings are shared up to 16 MiB of rows, and the least used goes first', async (t) => {
    const { node, list } = open();
    node.rowBytes = 1 << 20; // for each of the two token programs
    for (let i = 0; i < 9; i++) await list(undefined, `owner ${i}`);
    t.equal(node.calls, 9 * CALLS_PER_LISTING);
    await list(undefined, 'owner 8');
    t.equal(node.calls, 9 * CALLS_PER_LISTING);
    await list(undefined, 'owner 0');
    t.equal(node.calls, 10 * CALLS_PER_LISTING, 'it had to go');
  });

  t.test('a listing that is older than the slot of a reader is read again', async (t) => {
    const { node, list } = open();
    node.slot = 99;
    await list();
    node.slot = 100;
    t.same(await list(100), [100, 100]);
    t.same(await list(), [100, 100], 'the newer one is shared from then on');
    t.equal(node.calls, 2 * CALLS_PER_LISTING);
  });

  t.test('the slot that one caller wants fails nobody else', async (t) => {
    const { node, list } = open();
    node.slot = 99;
    for (const wanted of [100, 105]) {
      const results = await Promise.allSettled([list(wanted), list()]);
      t.same(pluck(results, 'status'), ['rejected', 'fulfilled']);
    }
  });

  t.test('a caller that had no turn at the node fails alone', async (t) => {
    const { listings, list } = open();
    const noTurn = new GatewayError('upstream_timeout', 'busy', { cause: 'no free connection within 5 ms' });
    const crowded = { call: () => Promise.reject(noTurn) };
    const listCrowded = () => listings.list(crowded, OWNER, { commitment: 'confirmed', minContextSlot: undefined });
    const refused = [listCrowded(), listCrowded(), listCrowded()];
    const others = [list(), list()];
    for (const each of refused) await t.rejects(each, noTurn);
    t.same(await Promise.all(others), Array(2).fill([100, 100]));
  });

  t.test('a failure is shared, and not remembered', async (t) => {
    const { node, list } = open();
    node.isDown = true;
    const results = await Promise.allSettled([list(), list(50)]);
    t.same(pluck(results, 'status'), ['rejected', 'rejected']);
    t.equal(node.calls, CALLS_PER_LISTING);
    node.isDown = false;
    t.same(await list(), [100, 100]);
  });
});

t.test('token-labels', async (t) => {
  t.test('a sentence quotes what a token calls itself', async (t) => {
    t.equal(tokenLabelText({ symbol: 'WIF', name: 'dogwifhat' }), '“WIF”');
    t.equal(tokenLabelText({ symbol: '', name: 'A dog' }), '“A dog”');
    t.equal(tokenLabelText({ symbol: '\u200b', name: 'שקל' }), null);
  });

  t.test('what may be another token is ambiguous: one with the look of a known symbol, and namesakes', async (t) => {
    const mints = Array.from({ length: 7 }, (_, i) => addressFromByte(i + 1));
    const named: readonly (readonly [symbol: string, supply: number])[] = [
      ['WAG', 100],
      ['USDC', 100],
      ['USDС', 100], // its last letter is Cyrillic
      ['CAT', 100],
      ['cat', 100],
      ['MAD', 1],
    ];
    const accounts = new Map(
      named.flatMap(([symbol, supply], i) => {
        const mint = mints[i] ?? '';
        return [
          [mint, mintFixture(0, supply)],
          [findMetadataAddress(mint), metadataFixture(mint, `Name of ${symbol}`, symbol)],
        ] as const;
      }),
    );
    const clock = new ManualClock();
    let calls = 0;
    const call = async (method: string, params: readonly unknown[] = []) => {
      calls++;
      const value = Buffer.from(rpcResultOf(accounts, method, params));
      return { slot: 9, value, result: value };
    };
    const cost = new RequestCost('me', false);
    const labels = new TokenLabelCache(clock, createKnownMints({}));
    const find = async (wanted: readonly string[]) =>
      Object.fromEntries(
        await labels.find(wanted, { rpc: { call }, cost }, { commitment: 'confirmed', minContextSlot: 9 }),
      );
    const clear = (text: string) => ({ text, isAmbiguous: false });
    const ambiguous = (text: string) => ({ text, isAmbiguous: true });
    t.same(Object.values(await find(mints)), [
      clear('“WAG”'),
      ambiguous('“USDC”'),
      ambiguous('“USDС”'),
      ambiguous('“CAT”'),
      ambiguous('“cat”'),
      clear('“Name of MAD”'), // an NFT
    ]);
    t.same([calls, cost.rows], [1, 7], 'one call, and a row for each mint');
    t.same(Object.values(await find([mints[3] ?? '', mints[6] ?? ''])), [clear('“CAT”')], 'alone it is clear');
    t.same([calls, cost.rows], [1, 7], 'what has no name is remembered, too');
    clock.advance(300_001);
    await find(mints.slice(0, 2));
    t.same([calls, cost.rows], [2, 9], 'for five minutes');
    const finding = find(mints.slice(2, 4));
    labels.clear();
    await finding;
    await find(mints.slice(2, 4));
    t.equal(calls, 4, 'after a lie none is kept that was being read');
  });
});

t.test('token-list', async (t) => {
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

  t.test('the names of many mints are read in several turns of the event loop', async (t) => {
    const rows = Array.from({ length: 640 }, (_, i) => ({
      mint: addressOfNumber(i),
      account: addressOfNumber(1000 + i),
    }));
    const accounts = Object.fromEntries(
      rows.flatMap(({ mint, account }) => [
        [mint, mintFixture(0, 1)],
        [account, tokenAccountFixture(OWNER, 1, mint)],
      ]),
    );
    const node = nodeOf(accounts, accounts);
    const turnsOf = async (withIdentities: boolean): Promise<number> => {
      let turns = 0;
      const count = (): void => {
        turns++;
        turn = setImmediate(count);
      };
      let turn = setImmediate(count);
      const query = { owner: OWNER, commitment: 'finalized', minContextSlot: undefined, withIdentities } as const;
      const { list } = await readTokenList(node, query);
      t.equal(list.identities?.size, withIdentities ? rows.length : undefined);
      clearImmediate(turn);
      return turns;
    };
    const [plain, named] = [await turnsOf(false), await turnsOf(true)];
    t.ok(named - plain > 50, 'of which the addresses of their metadata need 40');
  });

  t.test('accounts of a list that was being read when a lie was found are not read for the next one', async (t) => {
    for (const isLie of [false, true]) {
      const harness = new TokenListHarness();
      harness.setAmounts({ [FIRST]: 10, [SECOND]: 5 });
      const reading = harness.read();
      if (isLie) harness.source.clear();
      await reading;
      harness.addSlot({ [SECOND]: undefined });
      const { accounts } = harness;
      const named = new Set<string>();
      const get = accounts.get.bind(accounts);
      accounts.get = (address) => {
        named.add(address);
        return get(address);
      };
      await harness.read();
      t.same([named.has(FIRST), named.has(SECOND)], [true, !isLie]);
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
});
