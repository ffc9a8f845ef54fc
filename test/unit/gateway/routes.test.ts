import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import bs58 from 'bs58';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { newEntry } from '../../../src/gateway/cache/entry.ts';
import { listBlock } from '../../../src/gateway/routes/block/list-block.ts';
import { matchRoute, routes } from '../../../src/gateway/routes/index.ts';
import { readMintBalance } from '../../../src/gateway/routes/mint-balance.ts';
import { STAKE_TABLES } from '../../../src/gateway/routes/portfolio/stake-table.ts';
import { type BlockListingRead, createBlockListings } from '../../../src/gateway/routes/routing/block-listings.ts';
import { address, addresses, commitment, kid, type Param } from '../../../src/gateway/routes/routing/params.ts';
import { parseJsonBody } from '../../../src/gateway/routes/routing/parse-json-body.ts';
import { SeenBlocks } from '../../../src/gateway/routes/routing/seen-blocks.ts';
import { answerRpcBatch } from '../../../src/gateway/routes/rpc/answer-rpc-batch.ts';
import type { RpcUses } from '../../../src/gateway/routes/rpc/answer-rpc-call.ts';
import { parseRpcBody, type RpcCall } from '../../../src/gateway/routes/rpc/parse-rpc-call.ts';
import { HolderRows, packHolderRows } from '../../../src/gateway/routes/scans/holder-rows.ts';
import type { HolderTable } from '../../../src/gateway/routes/scans/holder-table.ts';
import { HOLDER_TABLES } from '../../../src/gateway/routes/scans/holder-table.ts';
import { OwnerRows, packOwnerRows } from '../../../src/gateway/routes/scans/owner-rows.ts';
import { ScanGate } from '../../../src/gateway/routes/scans/scan-gate.ts';
import { ScanTables } from '../../../src/gateway/routes/scans/scan-tables.ts';
import { searchTerm } from '../../../src/gateway/routes/search/search-term.ts';
import { minContextSlotNotReached } from '../../../src/gateway/upstream/rpc/error-normalizer.ts';
import { canonicalRequest } from '../../../src/shared/domain/canonical-request.ts';
import { type ErrorCode, GatewayError, nullIf } from '../../../src/shared/domain/gateway-error.ts';
import { isReadMethod, READ_METHODS } from '../../../src/shared/domain/rpc-methods.ts';
import { toJson } from '../../../src/shared/domain/to-json.ts';
import { RequestCost } from '../../../src/shared/domain/units.ts';
import { type Admit, FairSemaphore } from '../../../src/shared/runtime/fair-semaphore.ts';
import type { Waiter } from '../../../src/shared/runtime/waiter.ts';
import { encodeKey } from '../../../src/transactions/codec/base58-key.ts';
import { JITO_TIP_ACCOUNTS } from '../../../src/transactions/programs/tip-accounts.ts';
import { inExecutionOrder } from '../../../src/transactions/records/instruction.ts';
import { decodeVersionedTransaction } from '../../../src/transactions/records/versioned-transaction.ts';
import type { JsonAt } from '../../support/answer-json.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';
import { type RecordedTransaction, recordedTransactions } from '../../support/recorded-transactions.ts';

t.test('match-route', async (t) => {
  t.test('each route matches its own path, with its parameters undecoded', async (t) => {
    for (const route of routes) {
      const path = `/api/v1${route.path.replace(/:\w+/, 'a%20b')}`;
      const match = matchRoute(path);
      t.equal(match?.route, route, path);
      const [, name] = /:(\w+)/.exec(route.path) ?? [];
      t.same(match?.pathTexts, name === undefined ? {} : { [name]: 'a%20b' });
    }
  });

  t.test('no other path matches a route', async (t) => {
    const paths = [
      ...['', '/', '/api/v1', '/api/v1/', '/slot', '/api/v2/slot', '/x/api/v1/slot', '/api/v1slot', '//api/v1/slot'],
      ...['/api/v1/slot/', '/api/v1//slot', '/api/v1/slots', '/api/v1/SLOT', '/api/v1/balance', '/api/v1/balance/'],
      ...['/api/v1/balance/a/b', '/api/v1/:addr', '/api/v1/constructor', '/api/v1/stream', '/api/v1/openapi.json'],
    ];
    for (const path of paths) t.equal(matchRoute(path), undefined, path);
  });
});

t.test('params', async (t) => {
  /** Returns the code of the error with which a parameter refuses a text, or `accepted`. */
  function refusalOf(param: Param<unknown>, text: string | undefined, name: string): string {
    try {
      param.parse(text, name);
    } catch (thrown) {
      if (thrown instanceof GatewayError) return thrown.code;
      throw thrown;
    }
    return 'accepted';
  }

  t.test('an address is 32 bytes in base58, and is returned as it was written', async () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const text = bs58.encode(bytes);
        return address.parse(text, 'addr') === text;
      }),
    );
  });

  t.test('any other text is not an address', async (t) => {
    const bytes = fc.uint8Array({ maxLength: 80 }).filter(({ length }) => length !== 32);
    const other = fc.oneof(
      bytes.map((bytes) => bs58.encode(bytes)),
      fc.string().filter((text) => !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)),
    );
    fc.assert(fc.property(other, (text) => refusalOf(address, text, 'addr') === 'invalid_address'));
    t.equal(refusalOf(address, undefined, 'addr'), 'invalid_address');
    const { user } = process.cpuUsage();
    t.equal(refusalOf(address, 'z'.repeat(1_000_000), 'addr'), 'invalid_address');
    t.ok(process.cpuUsage().user - user < 50_000, 'a long text is not decoded');
  });

  t.test('a commitment has a default, and accepts only those that the route accepts', async (t) => {
    const param = commitment('confirmed', ['confirmed', 'finalized']);
    t.equal(param.parse(undefined, 'commitment'), 'confirmed');
    t.equal(param.parse('finalized', 'commitment'), 'finalized');
    for (const text of ['processed', '', 'Finalized', 'finalized '])
      t.equal(refusalOf(param, text, 'commitment'), 'invalid_query', text);
  });

  t.test('a key id is 16 lower-case hex digits', async (t) => {
    t.equal(kid.parse(undefined, 'kid'), undefined);
    t.equal(kid.parse('0123456789abcdef', 'kid'), '0123456789abcdef');
    for (const text of ['', '0123456789ABCDEF', '0123456789abcde', '0123456789abcdef0'])
      t.equal(refusalOf(kid, text, 'kid'), 'invalid_query', text);
  });

  const anyAddress = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bs58.encode(bytes));

  t.test('a list has as many addresses as the route accepts, all different, in the order given', async (t) => {
    const param = addresses(3);
    fc.assert(
      fc.property(fc.uniqueArray(anyAddress, { minLength: 1, maxLength: 3 }), (list) => {
        return param.parse(list.join(','), 'addresses').join() === list.join();
      }),
    );
    const [one, two, three, four] = [1, 2, 3, 4].map((byte) => bs58.encode(new Uint8Array(32).fill(byte)));
    const refused = (text: string | undefined) => {
      try {
        return String(param.parse(text, 'addresses'));
      } catch (thrown) {
        const { code, message } = GatewayError.from(thrown);
        return `${code}: ${message}`;
      }
    };
    const count = 'invalid_query: addresses must be 1 to 3 addresses, separated by commas';
    for (const text of [undefined, '', [one, two, three, four].join(), ','.repeat(2000)]) t.equal(refused(text), count);
    const malformed = 'must be an address: 32 bytes in base58';
    for (const bad of ['', ' ', 'x', `${two} `])
      t.equal(refused(`${one},${bad}`), `invalid_address: item 2 of addresses ${malformed}`);
    t.equal(refused(`${one},${two},${one}`), 'invalid_query: item 3 of addresses repeats item 1');
  });
});

t.test('block-listing-cache', async (t) => {
  const EMPTY = listBlock(Buffer.from('{"blockhash":"b","previousBlockhash":"p","parentSlot":1,"transactions":[]}'));

  interface ReadOptions {
    readonly ttlMs?: number;
    readonly bytes?: number;
    readonly minSlot?: number;
  }

  /** Opens a cache; `read` returns how many listings were read by then. */
  function open() {
    const clock = new ManualClock();
    const cache = createBlockListings(clock);
    let reads = 0;
    const readOf = (bytes: number) => async (): Promise<BlockListingRead> => {
      reads++;
      return { slot: reads, listing: { ...EMPTY, rows: new Uint8Array(bytes) } };
    };
    const read = async (key: string, { ttlMs = 0, bytes = 0, minSlot = 0 }: ReadOptions = {}): Promise<number> => {
      await cache.getOrRead(key, { ttlMs, minSlot }, readOf(bytes));
      return reads;
    };
    return { clock, cache, read };
  }

  t.test('after a lie, no listing is kept that was read before, or was being read', async (t) => {
    const { cache, read } = open();
    await read('1');
    const reading = read('2');
    cache.clear();
    await reading;
    t.same([await read('1'), await read('2')], [3, 4]);
  });

  t.test('a listing is read once for all pages; one that may change is read again after its time', async (t) => {
    const { clock, read } = open();
    await Promise.all([read('1'), read('1')]);
    t.equal(await read('1'), 1);
    t.equal(await read('2', { ttlMs: 10 }), 2);
    clock.advance(10);
    t.equal(await read('2', { ttlMs: 10 }), 2);
    clock.advance(1);
    t.equal(await read('2', { ttlMs: 10 }), 3);
    clock.advance(1e9);
    t.equal(await read('1'), 3);
  });

  t.test('a listing from before a slot that the caller has seen is read again', async (t) => {
    const { read } = open();
    t.equal(await read('1', { ttlMs: 10, minSlot: 1 }), 1);
    t.equal(await read('1', { ttlMs: 10, minSlot: 1 }), 1, 'it is of slot 1');
    t.equal(await read('1', { ttlMs: 10, minSlot: 2 }), 2);
  });

  t.test('a caller that has seen more than a read under way reads itself', async (t) => {
    const { cache } = open();
    let slot = 0;
    const read = async (minSlot: number): Promise<number> =>
      (await cache.getOrRead('1', { minSlot, ttlMs: 10 }, async () => ({ slot: ++slot, listing: EMPTY }))).slot;
    t.same(await Promise.all([read(0), read(2), read(2), read(0)]), [1, 2, 2, 1]);
  });

  t.test('listings occupy no more than 32 MiB; the least used goes first', async (t) => {
    const { read } = open();
    const bytes = 10 << 20;
    for (const key of ['1', '2', '3', '1', '4']) await read(key, { bytes });
    t.equal(await read('1', { bytes }), 4);
    t.equal(await read('2', { bytes }), 5, 'it had to go for the fourth');
    t.equal(await read('large', { bytes: 40 << 20 }), 6);
    t.equal(await read('large', { bytes: 40 << 20 }), 7, 'too large to be cached');
    t.equal(await read('2', { bytes }), 7, 'and nothing had to go for it');
  });
});

t.test('list-block', async (t) => {
  /** A recorded transaction of a block, as `encoding: "json"` has it. */
  function asJson({ result, transaction }: RecordedTransaction) {
    const {
      meta,
      transaction: encoded,
      version,
    } = result as { meta: { err: unknown; fee: number }; transaction: [string]; version: unknown };
    const { signatures, accountKeys, instructions } = decodeVersionedTransaction(Buffer.from(encoded[0], 'base64'));
    const compiled = instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex,
      accounts,
      data: bs58.encode(data),
    }));
    const json = { meta, version, transaction: { signatures, message: { accountKeys, instructions: compiled } } };
    return { json, transaction };
  }

  const recorded = recordedTransactions('mainnet-block').map(asJson);
  const block = { blockhash: 'b', previousBlockhash: 'p', parentSlot: 1, rewards: [] };
  const list = (transactions: readonly unknown[]) => listBlock(Buffer.from(toJson({ ...block, transactions })));

  const listing = list(recorded.map(({ json }) => json));

  type BlockRow = JsonAt<'/block/1'>['result']['listing']['items'][number];

  /** Parses the rows of all pages. */
  function rowsOf({ rows, pageEnds }: ReturnType<typeof listBlock>): BlockRow[][] {
    const pages = pageEnds.map((end, i) => Buffer.from(rows.subarray(pageEnds[i - 1] ?? 0, end)).toString());
    return pages.map((page) => JSON.parse(`[${page}]`));
  }

  t.test('a recorded block is listed as its transactions say one by one', async (t) => {
    const pages = rowsOf(listing);
    const rows = pages.flat();
    t.equal(rows.length, recorded.length);
    t.ok(pages.slice(0, -1).every((page) => page.length === 100));
    const wrong: unknown[] = [];
    let [fees, priorityFees, tips] = [0n, 0n, 0n];
    for (const [i, { json, transaction }] of recorded.entries()) {
      const { signature, status, programs = [] } = rows[i] ?? {};
      const called = new Set(inExecutionOrder(transaction.instructions).map(({ programId }) => programId));
      const isRight =
        signature === json.transaction.signatures[0] &&
        status === (json.meta.err === null ? 'success' : 'failed') &&
        called.size === programs.length &&
        programs.every((program) => called.has(program));
      if (!isRight) wrong.push(rows[i]);
      fees += BigInt(json.meta.fee);
      priorityFees += BigInt(json.meta.fee) - 5000n * BigInt(json.transaction.signatures.length);
      for (const [place, { address }] of transaction.accounts.entries()) {
        const received = (transaction.postBalances[place] ?? 0n) - (transaction.preBalances[place] ?? 0n);
        if (JITO_TIP_ACCOUNTS.has(address) && received > 0n) tips += received;
      }
    }
    t.strictSame(wrong, []);
    t.ok(priorityFees > 0n && tips > 0n);
    t.match(listing.block.transactions, {
      count: recorded.length,
      voteCount: rows.filter(({ type }) => type === 'VOTE').length,
      feesLamports: fees,
      priorityFeesLamports: priorityFees,
      tipsLamports: tips,
    });
  });

  t.test('the programs of most transactions are counted, the others by number', async (t) => {
    const { programs, otherPrograms } = listing;
    const counts = new Map<string, number>();
    for (const row of rowsOf(listing).flat())
      for (const program of row.programs) counts.set(program, (counts.get(program) ?? 0) + 1);
    t.equal(programs.length, 20);
    t.equal(programs.length + otherPrograms, counts.size);
    t.same(pluck(programs, 'count'), [...counts.values()].sort((a, b) => b - a).slice(0, 20));
    t.match(programs[0], { programId: 'Vote111111111111111111111111111111111111111', name: 'Vote' });
  });

  t.test('the type is guessed from the programs', async (t) => {
    const typeOf = (...programs: string[]) => {
      const instructions = programs.map((_, programIdIndex) => ({ programIdIndex, accounts: [], data: '' }));
      const message = { accountKeys: programs, instructions };
      const transaction = { meta: { err: null, fee: 5000 }, transaction: { signatures: ['s'], message } };
      return rowsOf(list([transaction])).flat()[0]?.type;
    };
    const [system, token, vote] = [
      '11111111111111111111111111111111',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'Vote111111111111111111111111111111111111111',
    ];
    const budget = 'ComputeBudget111111111111111111111111111111';
    t.equal(typeOf(budget, system), 'TRANSFER');
    t.equal(typeOf(vote), 'VOTE');
    t.equal(typeOf('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc', token), 'SWAP');
    t.equal(typeOf('TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH'), 'QUOTE_UPDATE');
    t.equal(typeOf('TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH', token), 'SWAP');
    t.equal(typeOf('KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD', token), 'LEND');
    t.equal(typeOf('somebody', token), 'UNKNOWN');
    t.equal(typeOf(budget), 'UNKNOWN');
  });

  t.test('a record without its outcome is listed without status; what is no block is refused', async (t) => {
    const message = { accountKeys: ['a'], instructions: [{ programIdIndex: 0 }] };
    const bare = { meta: null, transaction: { signatures: ['s'], message } };
    t.strictSame(rowsOf(list([bare])), [[{ signature: 's', status: null, type: 'UNKNOWN', programs: ['a'] }]]);
    t.match(list([]), { pageEnds: [], programs: [], otherPrograms: 0, block: { transactions: { count: 0 } } });
    const outside = { ...bare, transaction: { signatures: ['s'], message: { ...message, accountKeys: [] } } };
    for (const transactions of [[outside], [{}], [1], ['s']])
      t.throws(() => list(transactions), { code: 'upstream_error' });
  });
});

t.test('holder-tables', async (t) => {
  const TABLE: HolderTable = {
    slot: 1,
    supply: 0n,
    scale: { decimals: 0 },
    total: 0,
    bytes: 0,
    rows: () => [],
    owners: () => Promise.resolve({ total: 0, rows: () => [] }),
  };
  const settle = (): Promise<void> => new Promise(setImmediate);

  /** Opens a cache whose scans begin in `begun` and end when a test calls `end`. */
  function open() {
    const clock = new ManualClock();
    const cache = new ScanTables({ clock, gate: new ScanGate(clock), ...HOLDER_TABLES });
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const outcomes: string[] = [];
    const read = (caller: string, mint: string): void => {
      const scan = (): Promise<HolderTable> => {
        begun.push(mint);
        return new Promise((resolve) => ends.set(mint, () => resolve(TABLE)));
      };
      cache.getOrScan(mint, 0, scan, new RequestCost(caller, false)).then(
        () => outcomes.push(`${mint} done`),
        ({ code }) => outcomes.push(`${mint} ${code}`),
      );
    };
    const end = async (mint: string): Promise<void> => {
      ends.get(mint)?.();
      await settle();
    };
    return { clock, cache, begun, outcomes, read, end };
  }

  t.test('after a lie, no table is kept that was read before, or was being read', async (t) => {
    const { cache, begun, read, end } = open();
    read('a', 'a1');
    read('b', 'b1');
    await settle();
    await end('a1');
    cache.clear();
    await end('b1');
    read('a', 'a1');
    read('b', 'b1');
    await settle();
    t.same(begun, ['a1', 'b1', 'a1', 'b1']);
    await end('a1');
    await end('b1');
  });

  t.test('one scan at a time for a caller, and two in all; others wait for their turn', async (t) => {
    const { begun, outcomes, read, end } = open();
    read('a', 'a1');
    read('a', 'a2');
    read('b', 'b1');
    read('c', 'c1');
    await settle();
    t.same(begun, ['a1', 'b1']);
    await end('b1');
    t.same(begun, ['a1', 'b1', 'c1'], 'a caller with a scan under way is passed over');
    await end('a1');
    t.same(begun, ['a1', 'b1', 'c1', 'a2']);
    read('d', 'a2');
    await end('a2');
    await end('c1');
    t.same(outcomes, ['b1 done', 'a1 done', 'a2 done', 'a2 done', 'c1 done'], 'equal scans are one');
  });

  t.test('a read that would wait too long is refused', async (t) => {
    const { clock, begun, outcomes, read } = open();
    for (let i = 1; i <= 4; i++) read('a', `a${i}`);
    await settle();
    t.same([begun, outcomes], [['a1'], ['a4 overloaded']]);
    read('b', 'a2'); // joins the scan that waits behind another one of its caller
    clock.advance(10_000);
    await settle();
    t.same(outcomes.slice(1), ['a2 overloaded', 'a3 overloaded']);
    t.same(begun, ['a1', 'a2'], 'and no other caller for that');
  });

  t.test('where the scans of others leave no room, all that join a scan are refused with it', async (t) => {
    const { clock, begun, outcomes, read, end } = open();
    read('a', 'a1');
    read('b', 'b1');
    for (const caller of ['c', 'd', 'e', 'f', 'g']) read(caller, 'm');
    await settle();
    clock.advance(10_000);
    await settle();
    t.same(outcomes, Array(5).fill('m overloaded'));
    await end('a1');
    t.same(begun, ['a1', 'b1']);
  });

  t.test('a table that is older than a caller has seen is read again', async (t) => {
    const { cache } = open();
    let slot = 0;
    const read = async (minSlot: number): Promise<number> => {
      const scan = async (): Promise<HolderTable> => ({ ...TABLE, slot: ++slot });
      return (await cache.getOrScan('m', minSlot, scan)).slot;
    };
    t.same([await read(0), await read(1), await read(2), await read(1)], [1, 1, 2, 2]);
    t.same([cache.get('m')?.slot, cache.get('m', 3)], [2, undefined]);
    t.same(await Promise.all([read(3), read(4), read(3)]), [3, 4, 3], 'nor is one joined that is too old');
    const behind = (): Promise<HolderTable> => Promise.reject(minContextSlotNotReached());
    const [ahead, joined] = [cache.getOrScan('n', 99, behind), cache.getOrScan('n', 0, async () => TABLE)];
    await t.rejects(ahead);
    t.equal(await joined, TABLE, 'nor does a slot that no node has reached fail others');
  });

  t.test('a refusal is remembered for minutes; a failure that may pass is not', async (t) => {
    const { clock, cache } = open();
    let reads = 0;
    const failing = (error: GatewayError) => (): Promise<HolderTable> => {
      reads++;
      return Promise.reject(error);
    };
    const tooLarge = failing(new GatewayError('result_too_large', 'too large'));
    for (let i = 0; i < 3; i++) await t.rejects(cache.getOrScan('m', 0, tooLarge), { code: 'result_too_large' });
    t.equal(reads, 1);
    clock.advance(5 * 60_000 + 1);
    await t.rejects(cache.getOrScan('m', 0, tooLarge));
    t.equal(reads, 2);
    const late = failing(new GatewayError('upstream_timeout', 'late'));
    const internal = failing(new GatewayError('rpc_error', 'Internal error', { rpcCode: -32603 }));
    for (const read of [late, late, internal, internal]) await t.rejects(cache.getOrScan('n', 0, read));
    t.equal(reads, 6);
    const refused = failing(new GatewayError('rpc_error', 'no index', { rpcCode: -32010 }));
    for (let i = 0; i < 2; i++) await t.rejects(cache.getOrScan('n', 0, refused));
    t.equal(reads, 7);
    const doubted = cache.getOrScan('o', 0, refused);
    cache.clear();
    await t.rejects(doubted);
    t.equal(await cache.getOrScan('o', 0, async () => TABLE), TABLE, 'after a lie none is kept');
  });

  t.test('tables have no more than 64 MiB; the least used goes first', async (t) => {
    const { cache } = open();
    const kept = new Map<string, HolderTable>();
    const store = async (mint: string): Promise<void> => {
      const table = { ...TABLE, bytes: 20 << 20 };
      kept.set(mint, table);
      await cache.getOrScan(mint, 0, async () => table);
    };
    const known = (): string[] => [...kept.keys()].filter((mint) => cache.get(mint) === kept.get(mint));
    for (const mint of ['a', 'b', 'c']) await store(mint);
    t.same(known(), ['a', 'b', 'c']);
    cache.get('a');
    await store('d');
    t.same(known(), ['a', 'c', 'd']);
  });
});

t.test('holder-rows', async (t) => {
  const list = (amount: bigint, space: string): Buffer => {
    const data = Buffer.alloc(40);
    data.writeBigUInt64LE(amount, 32);
    const account = `{"data":["${data.toString('base64')}","base64"]${space}}`;
    return Buffer.from(`[{"pubkey":"${encodeKey(Buffer.alloc(32, 7))}","account":${account}}]`);
  };

  t.test('an account that grows between two scans is listed once, as it was first', async (t) => {
    const rows = new HolderRows(packHolderRows([list(5n, ',"space":165'), list(6n, ',"space":170')]));
    t.strictSame([rows.total, rows.amountAt(0)], [1, 5n]);
  });

  t.test('an account of unknown length may be a multisig: it is refused', async (t) => {
    const none = Buffer.from('[]');
    t.throws(() => packHolderRows([none, list(5n, '')]), { code: 'upstream_error' });
    t.equal(new HolderRows(packHolderRows([list(5n, '')])).total, 1, 'but for a scan of one length');
    t.equal(new HolderRows(packHolderRows([none, list(5n, ',"space":355')])).total, 0);
  });
});

t.test('owner-rows', async (t) => {
  /** An owner of which only some bytes differ, those at the start and at the end. */
  const ownerOf = (start: number, end: number): Buffer => {
    const key = Buffer.alloc(32, 7);
    key[0] = start;
    key[31] = end;
    return key;
  };

  function ownersOf(rows: readonly (readonly [Buffer, bigint])[]): OwnerRows {
    const holders = {
      total: rows.length,
      ownerAt: (row: number) => rows[row]?.[0] ?? Buffer.alloc(32),
      amountAt: (row: number) => rows[row]?.[1] ?? 0n,
    };
    return new OwnerRows(packOwnerRows(holders), holders);
  }

  t.test('owners are added up and ordered', async () => {
    const row = fc.tuple(
      fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 })).map(([start, end]) => ownerOf(start, end)),
      fc.bigInt({ min: 1n, max: 4n }),
    );
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), (rows) => {
        const sums = new Map<string, [sum: bigint, accounts: number]>();
        for (const [owner, amount] of rows) {
          const [sum, accounts] = sums.get(owner.toString('hex')) ?? [0n, 0];
          sums.set(owner.toString('hex'), [sum + amount, accounts + 1]);
        }
        const expected = [...sums]
          .sort(([a, [x]], [b, [y]]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))
          .map(([hex, [amount, accounts]]) => ({ owner: encodeKey(Buffer.from(hex, 'hex')), amount, accounts }));
        const owners = ownersOf(rows);
        const listed = Array.from({ length: owners.total }, (_, i) => owners.holdingAt(i));
        return isDeepStrictEqual(listed, expected);
      }),
      { numRuns: 50 },
    );
  });

  t.test('a node whose accounts hold more than any supply is not believed', async (t) => {
    const most = 2n ** 64n - 1n;
    t.equal(ownersOf([[ownerOf(1, 1), most]]).holdingAt(0).amount, most);
    const twice = [most, 1n].map((amount) => [ownerOf(1, 1), amount] as const);
    t.throws(() => ownersOf(twice), { code: 'upstream_error' });
  });
});

t.test('stake-tables', async (t) => {
  const ACCOUNT = { address: 'a', lamports: 1n, delegation: null };

  /** Opens a cache whose scans find a table at the next slot, or fail with the code of `state`. */
  function open() {
    const clock = new ManualClock();
    const cache = new ScanTables({ clock, gate: { run: (_, scan) => scan() }, ...STAKE_TABLES });
    const state: { scans: number; fails: ErrorCode | undefined; floors: (number | undefined)[]; rows: number } = {
      scans: 0,
      fails: undefined,
      floors: [],
      rows: 0,
    };
    const read = (withdrawer: string, oldestSlot = 0) =>
      cache
        .getOrScan(withdrawer, oldestSlot, async (minSlot) => {
          state.scans++;
          state.floors.push(minSlot);
          if (state.fails !== undefined) throw new GatewayError(state.fails, 'no');
          return { slot: state.scans, accounts: Array(state.rows).fill(ACCOUNT) };
        })
        .catch(nullIf(STAKE_TABLES.isRefused));
    return { clock, cache, state, read };
  }

  t.test('after a lie, no table is kept that was read before, or was being read; no later scan is older', async (t) => {
    const { cache, state, read } = open();
    await read('a');
    const reading = read('b');
    cache.clear();
    await reading;
    t.match([await read('a'), await read('b')], [{ slot: 3 }, { slot: 4 }]);
    t.same(state.floors.slice(2), [1, 1]);
  });

  t.test('a table is kept until it is too old, and concurrent readers share a scan', async (t) => {
    const { state, read } = open();
    t.match(await Promise.all([read('a'), read('a'), read('b')]), [{ slot: 1 }, { slot: 1 }, { slot: 2 }]);
    t.match(await read('a', 1), { slot: 1 });
    t.match(await read('a', 2), { slot: 3 });
    t.equal(state.scans, 3);
  });

  t.test('no scan is older than a table before it, even one that had to go', async (t) => {
    const { state, read } = open();
    await read('a');
    await read('a', 2);
    t.same(state.floors, [undefined, 1]);
    state.rows = 49_999;
    await read('large');
    await read('a');
    t.same(state.floors.slice(2), [1, 2], 'the second of a was there until the large one came');
  });

  t.test('a refusal is null and remembered for five minutes, a timeout too; any other failure is thrown', async (t) => {
    const { clock, cache, state, read } = open();
    for (const code of ['overloaded', 'rpc_error'] as const) {
      state.fails = code;
      await t.rejects(read('a'), { code });
    }
    const scanners: string[] = [];
    const noRoom = new GatewayError('upstream_timeout', 'no', { cause: 'no free connection within 5 ms' });
    const crowded = cache.getOrScan('c', 0, () => Promise.reject(noRoom));
    const joined = cache.getOrScan('c', 0, async () => ({ slot: 1, accounts: [] }));
    await t.rejects(crowded, noRoom);
    t.match(await joined, { slot: 1 }, 'a caller without room refuses nothing to others');
    const all = ['d', 'e', 'f', 'g', 'h'].map((caller) =>
      cache.getOrScan('d', 0, () => {
        scanners.push(caller);
        return Promise.reject(noRoom);
      }),
    );
    t.match(await Promise.allSettled(all), Array(5).fill({ status: 'rejected', reason: noRoom }));
    t.same(scanners, ['d', 'e', 'f', 'g', 'h'], 'each that has no room is refused for its own share alone');
    for (const code of ['result_too_large', 'upstream_timeout'] as const) {
      state.fails = code;
      t.equal(await read('a'), null);
      state.fails = undefined;
      t.equal(await read('a'), null);
      clock.advance(300_001);
    }
    t.match(await read('a'), { slot: 5 });
    state.fails = 'result_too_large';
    const doubted = read('b');
    cache.clear();
    t.equal(await doubted, null);
    state.fails = undefined;
    t.match(await read('b'), { slot: 7 }, 'after a lie none is kept');
  });
});

t.test('seen-blocks', (t) => {
  const blocks = new SeenBlocks();
  const rememberLie = blocks.beginRead();
  blocks.clear();
  rememberLie('lie', 1);
  blocks.beginRead()('truth', 2);
  t.same([blocks.slotOf('lie'), blocks.slotOf('truth')], [undefined, 2], 'none of a read during which a lie was found');
  t.end();
});

t.test('mint-balance', async (t) => {
  t.test('the amounts are added up exactly, those of a long list in several turns of the event loop', async (t) => {
    const rows = Array.from({ length: 1000 }, () => ({ tokenAmount: { amount: `${2n ** 60n + 1n}` } }));
    const result = Buffer.from(JSON.stringify(rows));
    const meta = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
    const entry = newEntry(result, { key: 'k', slot: 1, policy: { slots: 2 }, meta, tipAtFetch: 1, validatedMs: 0 });
    let turns = 0;
    const count = (): void => {
      turns++;
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    const sum = await readMintBalance({ begin: () => ({ entry, cacheStatus: 'HIT' }) }, 'w', 'm');
    clearImmediate(turn);
    t.equal(sum, 1000n * (2n ** 60n + 1n));
    t.ok(turns > 2);
  });
});

t.test('parse-rpc-call', async (t) => {
  /** Returns the code of the error for a body, or `accepted`. */
  function refusalOf(body: string | Uint8Array): string {
    try {
      parseRpcBody(Buffer.from(body), 'strict');
    } catch (thrown) {
      if (thrown instanceof GatewayError) return thrown.code;
      throw thrown;
    }
    return 'accepted';
  }

  t.test('each of the 21 methods is accepted, with params or without', async (t) => {
    t.equal(READ_METHODS.length, 21);
    for (const method of READ_METHODS) {
      const plain = parseRpcBody(Buffer.from(JSON.stringify({ method, id: 1 })), 'strict');
      t.same(plain, { method, params: [], jsonRpcId: undefined });
      const params = ['x', { commitment: 'confirmed' }, [1, null, true]];
      const jsonRpc = parseRpcBody(Buffer.from(JSON.stringify({ id: 1, jsonrpc: '2.0', method, params })), 'strict');
      t.same(jsonRpc, { method, params, jsonRpcId: '1' });
    }
  });

  t.test('any bytes give one of the 21 methods or a documented error', async () => {
    const refusals = ['invalid_json', 'invalid_request', 'invalid_params', 'rpc_method_not_allowed'];
    const method = fc.oneof(fc.constantFrom<unknown>(...READ_METHODS, 'sendTransaction', '__proto__'), fc.jsonValue());
    const body = fc.oneof(
      fc.record({ method, params: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()) }).map((o) => JSON.stringify(o)),
      fc.uint8Array(),
      fc.string(),
    );
    fc.assert(
      fc.property(body, (body) => {
        try {
          const request = parseRpcBody(Buffer.from(body), 'strict');
          return 'method' in request ? isReadMethod(request.method, 'strict') : request.calls.length > 0;
        } catch (thrown) {
          return thrown instanceof GatewayError && refusals.includes(thrown.code);
        }
      }),
      { numRuns: 2000 },
    );
  });

  t.test('a number that would be rounded is refused, however deep; the largest exact one is accepted', async (t) => {
    const call = (number: string) => `{"method":"getBlock","params":[[{"x":${number}}]]}`;
    for (const number of ['9007199254740992', '-9007199254740992', '1e16', '1e999', '18446744073709551615'])
      t.equal(refusalOf(call(number)), 'invalid_params', number);
    for (const number of ['9007199254740991', '-9007199254740991', '0.5', '-0'])
      t.equal(refusalOf(call(number)), 'accepted');
  });

  t.test('a body has at most 2,000 values, counted outside of strings', async (t) => {
    const body = (values: number): string =>
      JSON.stringify({ method: 'getSlot', params: [Array(values).fill(1), ',[{'] });
    t.equal(refusalOf(body(1995)), 'accepted');
    t.equal(refusalOf(body(1996)), 'invalid_request');
  });

  t.test('nesting is counted outside of strings, before the body is parsed', async (t) => {
    const nested = (levels: number, inside = '') => `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`;
    t.ok(Array.isArray(parseJsonBody(Buffer.from(nested(64)))));
    t.throws(() => parseJsonBody(Buffer.from(nested(65))), { code: 'invalid_json' });
    const brackets = JSON.stringify(`${'['.repeat(500)}"${'{'.repeat(500)}\\`);
    t.same(parseJsonBody(Buffer.from(`[${brackets}]`)), [JSON.parse(brackets)]);
    t.throws(() => parseJsonBody(Buffer.from('['.repeat(65_536))), { code: 'invalid_json' });
  });

  t.test('a body that would change a prototype is refused as JSON', async (t) => {
    for (const body of [
      '{"__proto__":{}}',
      '{"a":[{"__proto__":1}]}',
      '{"constructor":{"prototype":{}}}',
      '{"\\u005f_proto__":{}}',
    ])
      t.equal(refusalOf(body), 'invalid_json', body);
    t.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });
});

t.test('answer-rpc-batch', async (t) => {
  /** A gateway with one place for work at the nodes, which answer calls of these methods when the test lets them. */
  function open(methods: readonly RpcCall['method'][], result: string | Buffer) {
    const places = new FairSemaphore({
      maxRunning: 1,
      maxWaiting: 10,
      clock: new ManualClock(),
      overloaded: (message) => new GatewayError('overloaded', message),
    });
    const answers: (() => void)[] = [];
    const context = {
      mesh: {},
      cache: { peek: () => undefined, peekCurrent: () => undefined, floor: () => 0 },
      rpcReadThrough: {
        begin({ key }: { readonly key: string }, waiter: Waiter<unknown>, admit: Admit): undefined {
          if (key.includes('getEpochSchedule')) throw new Error('a defect');
          admit({
            start: (leave) =>
              answers.push(() => {
                leave();
                waiter.resolve({ entry: { kind: 'answer', slot: 5, result }, cacheStatus: 'MISS' });
              }),
            refuse: (reason) => waiter.reject(reason),
          });
        },
      },
    } as unknown as RpcUses; // no other member is used here
    const batch = { calls: methods.map((method) => ({ method, params: [], jsonRpcId: '1' })) };
    const admit: Admit = (work) => places.enter({ shares: [] }, work);
    let end = 'under way';
    const answered = answerRpcBatch(batch, context, admit, { cost: undefined, minSlot: 0 });
    answered.catch((thrown: unknown) => {
      end = GatewayError.from(thrown).code;
    });
    return { places, answers, answered, endOf: () => end };
  }

  t.test('it has its place at the nodes until its last call has ended, also if one fails', async (t) => {
    const { places, answers, endOf } = open(['getVersion', 'getEpochSchedule'], '1');
    await nextTurn();
    t.same([places.running, endOf()], [1, 'under way']);
    for (const answer of answers) answer();
    await nextTurn();
    t.same([places.running, endOf()], [0, 'internal_error']);
  });

  t.test("a node's bytes are passed on, not copied", async (t) => {
    const result = Buffer.from('{"long":true}');
    const { answers, answered } = open(['getVersion', 'getVersion'], result);
    await nextTurn();
    for (const answer of answers) answer();
    const { batch = [] } = await answered;
    t.equal(batch.filter((part) => part === result).length, 2);
    const one = { jsonrpc: '2.0', result: { long: true }, id: 1 };
    t.strictSame(JSON.parse(Buffer.concat(batch).toString()), [one, one]);
  });
});

t.test('search-term', async (t) => {
  const A = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';
  const B = '9KkDpvUQRqXjiuyMFcy1CwqrxLwDcGGUR2Cap2Qt7bU7';
  const S = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQkjKhoTjF3ETpzxuMiANC5cKd6dnVoQtn';
  const BASE64_A = Buffer.from(A).toString('base64');

  /** Returns what a text refers to: type and id, or the reason why it refers to nothing. */
  function subjectOf(text: string): string {
    try {
      const term = searchTerm.parse(text, 'q');
      if (term.type === 'name') return `name ${term.known.name} ${term.known.addresses[0]}`;
      return `${term.type} ${term.type === 'domain' ? term.domain.name : term.id}`;
    } catch (thrown) {
      return String((thrown as Error).message);
    }
  }

  function check(t: Test, expected: Readonly<Record<string, string>>): void {
    t.strictSame(Object.fromEntries(Object.keys(expected).map((text) => [text, subjectOf(text)])), expected);
  }

  t.test('a URL of an explorer, a market or a wallet stands for the subject of its page', async (t) => {
    check(t, {
      [`https://explorer.solana.com/address/${A}/tokens?cluster=devnet`]: `address ${A}`,
      [`https://explorer.solana.com/tx/${S}/inspect`]: `signature ${S}`,
      [`https://explorer.solana.com/tx/inspector?squadsTx=${A}`]: `address ${A}`,
      'https://explorer.solana.com/epoch/580?cluster=testnet': 'epoch 580',
      'https://explorer.solana.com/block/361774429': 'slot 361774429',
      [`https://explorer.solana.com/?cluster=custom&customUrl=http%3A%2F%2F${B}&q=${A}`]: `address ${A}`,
      [`https://solscan.io/account/${A}?cluster=devnet#transfers`]: `address ${A}`,
      [`https://solscan.io/token/${A}#holders`]: `address ${A}`,
      [`https://solana.fm/address/${A}/transactions?cluster=mainnet-alpha`]: `address ${A}`,
      [`https://solanabeach.io/transaction/${S}`]: `signature ${S}`,
      [`https://xray.helius.xyz/account/${A}?network=mainnet`]: `address ${A}`,
      [`https://web3.okx.com/explorer/solana/tx/${S}`]: `signature ${S}`,
      [`https://www.oklink.com/sol/block/445000000`]: 'slot 445000000',
      [`https://dexscreener.com/solana/${B}?maker=${A}`]: `address ${B}`,
      [`https://www.geckoterminal.com/solana/pools/${B}?utm_source=x`]: `address ${B}`,
      [`https://birdeye.so/token/${A}?chain=solana`]: `address ${A}`,
      [`https://www.dextools.io/app/en/solana/pair-explorer/${B}?t=1`]: `address ${B}`,
      [`https://jup.ag/swap/SOL-${A}`]: `address ${A}`,
      [`https://jup.ag/swap?sell=So11111111111111111111111111111111111111112&buy=${A}`]: `address ${A}`,
      [`https://jup.ag/tokens/${A}`]: `address ${A}`,
      [`https://raydium.io/swap/?inputMint=sol&outputMint=${A}`]: `address ${A}`,
      [`https://pump.fun/${A}`]: `address ${A}`,
      [`https://pump.fun/coin/${A}`]: `address ${A}`,
      [`https://magiceden.io/item-details/${A}?name=x`]: `address ${A}`,
      [`https://magiceden.io/u/${A}`]: `address ${A}`,
      [`https://www.tensor.trade/item/${A}`]: `address ${A}`,
      [`https://www.tensor.trade/portfolio?wallet=${A}&portSlug=x`]: `address ${A}`,
      [`https://phantom.com/tokens/solana/${A}?referralId=${B}`]: `address ${A}`,
      [`https://phantom.app/ul/browse/${encodeURIComponent(`https://jup.ag/tokens/${A}`)}?ref=x`]: `address ${A}`,
      [`https://app.squads.so/squads/${A}/home`]: `address ${A}`,
      [`https://app.squads.so/squads/${A}/transactions/${B}`]: `address ${B}`,
      [`https://v3.squads.so/dashboard/${BASE64_A}`]: `address ${A}`,
      [`https://gmgn.ai/sol/token/HBlBl7CI_${A}`]: `address ${A}`,
      [`https://axiom.trade/t/${A}/@x`]: `address ${A}`,
      [`https://t.me/bot?start=ca_${A}`]: `address ${A}`,
      [`https://example.com/#/tx/${S}`]: `signature ${S}`,
      [`http://127.0.0.1:8787/api/v1/address/${A}/history?before=${S}`]: `address ${A}`,
      [`localhost:8787/api/v1/block/7`]: 'slot 7',
      [`/api/v1/token/${A}/holders?page=2`]: `address ${A}`,
      'https://www.sns.id/domain/vector.sol': 'domain vector.sol',
      'Jito.sol': 'domain jito.sol', // no JitoSOL
    });
  });

  t.test('a payment request stands for its recipient', async (t) => {
    check(t, {
      [`solana:${A}`]: `address ${A}`,
      [`solana:${A}?amount=0.01&spl-token=${B}&reference=${B}&label=x`]: `address ${A}`,
      [`SOLANA:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${A}`]: `address ${A}`,
    });
  });

  t.test('what encloses a text, follows it or labels it is no part of it', async (t) => {
    check(t, {
      [`"${A}"`]: `address ${A}`,
      [`(${A}).`]: `address ${A}`,
      [`“${A}”,`]: `address ${A}`,
      [`[${S}]`]: `signature ${S}`,
      [`<https://solscan.io/tx/${S}>.`]: `signature ${S}`,
      [`[tx](https://solscan.io/tx/${S})`]: `signature ${S}`,
      [`owner: ${A}`]: `address ${A}`,
      [`CA:${A}`]: `address ${A}`,
      [`please look at ${S}, it failed`]: `signature ${S}`,
      'send it to vector.sol, thanks': 'domain vector.sol',
    });
  });

  t.test('a number is a slot in any spelling, and an epoch if it says so', async (t) => {
    check(t, {
      '445,000,000': 'slot 445000000',
      '#445,000,000.': 'slot 445000000',
      '#445000000': 'slot 445000000',
      '445 000 000': 'slot 445000000',
      "445'000'000": 'slot 445000000',
      '445.000.000': 'slot 445000000',
      'Slot: 445_000_000': 'slot 445000000',
      'block #445,000,000': 'slot 445000000',
      'epoch 580': 'epoch 580',
      '9007199254740991': 'slot 9007199254740991',
      '9007199254740992': '9007199254740992 is above 2^53 - 1, so it is no slot',
    });
  });

  t.test('tickers and programs are found by the names that are known', async (t) => {
    check(t, {
      usdc: 'name USDC EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      $BONK: `name BONK ${A}`,
      jupiter: 'name Jupiter JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4',
      'magic eden': 'name Magic Eden M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K',
      'pump.fun': 'name Pump.fun 6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
      'System Program': 'name System 11111111111111111111111111111111',
    });
  });

  t.test('a text that refers to nothing gets the reason', async (t) => {
    const sites =
      'this site writes addresses in lower case, which does not identify them: copy the address from its page';
    const several = 'the text names several addresses or signatures: search for one';
    const unknown =
      'q must be an address, a signature, a slot, an epoch, a .sol name, a solana: request, a known ticker or program, the hash of a block read here, or the URL of an explorer, market or wallet';
    check(t, {
      'toly.bonk': 'names that end in .bonk are not resolved: only .sol names are',
      'Example.Backpack': 'names that end in .backpack are not resolved: only .sol names are',
      [`https://dexscreener.com/solana/${B.toLowerCase()}`]: sites,
      [`${A} and ${B}`]: several,
      'https://example.com/': unknown,
      'https://etherscan.io/address/0xC336F8408557272646D192628DC3F554b654B21A': unknown,
      'https://example.com/page/580': unknown,
      'block height 580': unknown,
      '12.5': unknown,
      '-1': unknown,
      '""': unknown,
      'x y z': unknown,
      USDCе: unknown, // with a Cyrillic letter
    });
  });

  t.test('the longest texts are classified in no time, whatever they are made of', async (t) => {
    const parts = [
      '1',
      ' ',
      '1 ',
      ',000',
      '.a',
      '(',
      '/',
      '/1',
      '%',
      '?a=1&',
      `${A} `,
      `${A}/`,
      '$',
      '.sol',
      'a.sol ',
      "'",
    ];
    const tooSlow: string[] = [];
    for (const part of parts) {
      for (const start of ['', '1', 'https://x/', 'solana:', 'slot ']) {
        const text = (start + part.repeat(2024)).slice(0, 2024);
        const before = process.cpuUsage();
        subjectOf(text);
        const { user, system } = process.cpuUsage(before);
        if (user + system > 50_000) tooSlow.push(`${start}${part}: ${user + system} µs`);
      }
    }
    t.strictSame(tooSlow, []);
    const target = `/api/v1/search?q=${'1'.repeat(2024)}`;
    t.equal(canonicalRequest('GET', target).length, 2045, 'the longest that can be requested');
    t.equal(subjectOf('1'.repeat(2025)), 'q must have at most 2024 characters');
  });
});
