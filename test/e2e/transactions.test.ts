import { deflateSync } from 'node:zlib';
import { address } from '@solana/web3.js';
import bs58 from 'bs58';
import t from 'tap';
import { COINS, DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { parseExactJson } from '../../src/shared/domain/parse-exact-json.ts';
import { toJson } from '../../src/shared/domain/to-json.ts';
import { TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { findProgramAddress } from '../../src/transactions/accounts/program-derived-address.ts';
import { parseSolDomain, resolveDomain } from '../../src/transactions/accounts/sol-domain.ts';
import { idlPlacesOf } from '../../src/transactions/index.ts';
import type { JsonAt } from '../support/answer-json.ts';
import { assertRefusedWithoutUpstream, createDocumentChecker } from '../support/assert-documented.ts';
import { type HttpAnswer, startStepped } from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { decodeBase64, solNames } from '../support/recorded-accounts.ts';
import { readRecordings, recordedByName } from '../support/recorded-transactions.ts';
import { addressesOf, type SyntheticCall, syntheticRecord, u64Bytes } from '../support/synthetic-transaction.ts';

t.test('block', async (t) => {
  const world = await startStepped(t, { perSlot: 2, skipEvery: 7 });
  const { get, cluster, step } = world;
  const { chain, control } = cluster;
  await step(60, 4);
  const fits = await createDocumentChecker(world);
  const calls = async (): Promise<number> => (await control.requestCounts())['getBlock'] ?? 0;

  /** A slot below the finalized one that has a block with transactions in it, or has none. */
  function below(distance: number, skipped = false): number {
    let slot = chain.slot('finalized') - distance;
    while (chain.isSkipped(slot) !== skipped || chain.block(slot)?.transactions.length === 0) slot--;
    return slot;
  }

  t.test('a block is a summary of its transactions', async (t) => {
    const slot = below(3);
    const block = chain.block(slot);
    const got = await get(`/block/${slot}`);
    fits(t, '/block/{slot}', got);
    const transactions = block?.transactions ?? [];
    const failed = transactions.filter(({ error }) => error !== null).length;
    const fees = transactions.reduce((sum, { fee }) => sum + fee, 0n);
    const signatures = transactions.reduce((sum, { transaction }) => sum + transaction.signatures.length, 0);
    t.ok(transactions.length > 0);
    const { result, slot: at, receipt } = got.json;
    t.same(result, {
      slot,
      blockhash: block?.hash,
      parentSlot: block?.parentSlot,
      previousBlockhash: block?.parentHash,
      blockHeight: block?.height,
      blockTime: block?.blockTime,
      commitment: 'finalized',
      transactions: {
        count: transactions.length,
        voteCount: 0,
        nonVoteCount: transactions.length,
        successCount: transactions.length - failed,
        failedCount: failed,
        feesLamports: Number(fees),
        priorityFeesLamports: Number(fees) - 5000 * signatures,
        tipsLamports: 0,
        computeUnitsConsumed: null,
        signatures: transactions.map(({ signature }) => signature),
      },
      rewardLamports: result.rewardLamports,
      leader: chain.identity,
      rewards: [{ kind: 'Fee', count: 1, lamports: result.rewardLamports }],
    });
    const burned = Number(fees) - result.rewardLamports;
    t.ok(burned >= transactions.length * 2500 && burned % 2500 === 0, 'half of 5,000 lamports a signature is burned');
    t.equal(at, chain.slot('confirmed'), 'the answer is about now, its block about then');
    t.match(receipt, { commitment: 'confirmed', claim: 'observed/2' });
  });

  t.test('all transactions of a block are listed from one read of it', async (t) => {
    const slot = below(12);
    const landed = chain.block(slot)?.transactions ?? [];
    const { result: plain } = (await get(`/block/${slot}`)).json;
    const before = await calls();
    const got = await get(`/block/${slot}?signatures=all&commitment=finalized`);
    fits(t, '/block/{slot}', got);
    const { listing, ...summary } = got.json.result;
    const { computeUnitsConsumed, ...counts } = summary.transactions;
    t.same({ ...summary, transactions: { ...counts, computeUnitsConsumed: null } }, plain, 'the summary is the same');
    t.equal(
      computeUnitsConsumed,
      landed.reduce((sum, { computeUnits }) => sum + Number(computeUnits), 0),
    );
    t.match(listing, { page: 1, pageSize: 100, total: landed.length, hasMore: false, otherPrograms: 0 });
    const statuses = listing.items.map(({ signature, status }) => [signature, status]);
    t.same(
      statuses,
      landed.map(({ signature, error }) => [signature, error === null ? 'success' : 'failed']),
    );
    t.match(got.json.receipt, { claim: 'exact/2' });
    const next = (await get(`/block/${slot}?signatures=all&page=2&commitment=finalized`)).json.result.listing;
    t.match(next, { page: 2, items: [], hasMore: false, total: landed.length });
    t.equal((await calls()) - before, 1);
    const { json } = await get(`/block/${slot}?page=2`);
    t.strictSame(json, { error: 'invalid_page', message: 'a block has pages with signatures=all only' });
  });

  t.test('a finalized block is read once and for all', async (t) => {
    const target = `/block/${below(6)}`;
    const first = await get(target);
    const before = await calls();
    await step(12, 4);
    const again = await get(target);
    t.equal(again.headers.get('x-cache'), 'HIT');
    t.equal(again.text, first.text);
    t.equal(await calls(), before);
  });

  t.test('a block that is only confirmed says so, and is read again when it is finalized', async (t) => {
    const slot = chain.newestBlock('confirmed')?.slot ?? 0;
    t.equal((await get(`/block/${slot}`)).json.result.commitment, 'confirmed');
    t.equal((await get(`/block/${slot}?commitment=finalized`)).json.error, 'block_not_available');
    await step(44, 4);
    t.equal((await get(`/block/${slot}`)).json.result.commitment, 'finalized');
    const { receipt } = (await get(`/block/${slot}?commitment=finalized`)).json;
    t.match(receipt, { commitment: 'finalized', claim: 'exact/2' });
  });

  t.test('the pages of a block that is not final are of one read, unless a caller saw a later slot', async (t) => {
    const slot = chain.newestBlock('confirmed')?.slot ?? 0;
    const target = `/block/${slot}?signatures=all`;
    const first = (await get(target)).json;
    await step(3, 4);
    t.equal((await get(`${target}&page=2`)).json.slot, first.slot);
    const minSlot = String(chain.slot('confirmed'));
    t.match((await get(`${target}&page=3`, { headers: { 'x-min-slot': minSlot } })).json, { slot: Number(minSlot) });
  });

  t.test('skipped, not yet and pruned are three different things', async (t) => {
    const refused = async (slot: number, status: number, error: string, message = /./): Promise<Headers> => {
      const got = await get(`/block/${slot}`);
      t.strictSame([got.status, got.json.error], [status, error], `${slot}`);
      t.match(got.json.message, message);
      fits(t, '/block/{slot}', got);
      return got.headers;
    };
    await refused(below(3, true), 404, 'slot_skipped');
    await refused(5, 410, 'block_pruned');
    const tip = chain.slot('processed');
    const aheadText = new RegExp(`^slot ${tip + 1000} is ahead of the newest processed one, ${tip}$`);
    const future = await refused(tip + 1000, 404, 'block_not_available', aheadText);
    t.equal(future.get('retry-after'), '60');
    const soon = await refused(
      tip + 10,
      404,
      'block_not_available',
      /^the block is not available yet; retry in a moment$/,
    );
    t.equal(soon.get('retry-after'), '1');
    t.equal(future.get('x-rpc-error-code'), null, "a node's own number is for /rpc alone");
    await control.withholdBlockStatus(8);
    const head = await refused(chain.slot('confirmed'), 404, 'block_not_available');
    t.equal(head.get('retry-after'), '1');
    await control.withholdBlockStatus(0);
    const next = chain.slot('processed') + 2;
    const got = get(`/block/${next}`, { headers: { 'x-min-slot': `${next}` } });
    let isAnswered = false;
    void got.finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) await step();
    const { error, slot } = (await got).json;
    t.not(error, 'block_not_available', 'one that the caller has seen is waited for');
    if (error === undefined) t.ok(slot >= next);
  });

  t.test('a missing block is not requested again immediately', async (t) => {
    const target = `/block/${chain.slot('processed') + 1}?commitment=finalized`;
    await control.withholdBlockStatus(1000);
    await step(2);
    const before = await calls();
    for (let i = 0; i < 5; i++) t.equal((await get(target)).status, 404);
    t.equal((await calls()) - before, 1);
    await step(3);
    t.equal((await get(target)).status, 404);
    t.equal((await calls()) - before, 2);
    await control.withholdBlockStatus(0);
  });

  t.test('a skipped slot below the finalized one is requested only once', async (t) => {
    const target = `/block/${below(9, true)}?commitment=finalized`; // requested nowhere else
    const before = await calls();
    for (let i = 0; i < 5; i++) {
      const { status, json } = await get(target);
      t.strictSame([status, json], [404, { error: 'slot_skipped', message: 'the slot has no block and never will' }]);
      await step(12, 4);
    }
    t.equal((await calls()) - before, 2, 'with the next block, whose parent is older');
  });

  t.test('above it nothing is taken for final', async (t) => {
    while (!chain.isSkipped(chain.slot('confirmed') - 1)) await step();
    const target = `/block/${chain.slot('confirmed') - 1}`;
    t.equal((await get(target)).status, 404);
    await step(44, 4);
    const before = await calls();
    t.equal((await get(target)).json.error, 'slot_skipped');
    t.equal((await calls()) - before, 2, 'with the next block');
  });

  t.test('a parameter at fault is refused before any request to the node', async (t) => {
    const slots = ['x', '-1', '1.5', '1e3', '0x10', '007', '%31', '9007199254740993', '1'.repeat(40)];
    const queries = ['commitment=processed', 'commitment=', 'x=1', 'commitment=confirmed&commitment=confirmed'];
    await assertRefusedWithoutUpstream(t, world, {
      invalid_slot: slots.map((slot) => `/block/${slot}`),
      invalid_query: queries.map((query) => `/block/1?${query}`),
    });
  });
});

t.test('explain', async (t) => {
  const world = await startStepped(t, { perSlot: 1 });
  const { get, cluster, step } = world;
  await step(40, 4);
  const fits = await createDocumentChecker(world);

  /** Returns a transaction of the newest finalized block that has one: how far the tip is depends on the gateway's start. */
  function finalizedSignature(): string {
    for (let slot = cluster.chain.slot('finalized'); ; slot--) {
      const block = cluster.chain.block(slot);
      if (block === undefined) throw new Error('no finalized block has a transaction');
      if (block.transactions[0] !== undefined) return block.transactions[0].signature;
    }
  }

  type Explained = HttpAnswer<JsonAt<'/explain'>>;
  const post = (body: string): Promise<Explained> =>
    get('/explain', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const explain = (tx: unknown, logs?: readonly string[]): Promise<Explained> => post(toJson({ tx, logs }));

  const sent = 'tx/2kHbPUGzehen_jsonParsed';
  const FAILED = 'tx/2M5hpf4CNdfV_json';
  const SWAP = 'tx/31ycbQtF5EEi_json';
  const recorded = recordedByName('transactions', [sent, FAILED, SWAP]);

  t.test('a record of getTransaction is explained, in either encoding', async (t) => {
    const got = await explain(recorded.get(sent)?.result);
    t.equal(got.text, '{"explanation":"4Y5Y…xmgy sent 0.024922118 SOL to 3eF3…h899. The fee was 0.000005 SOL."}');
    fits(t, '/explain', got, 'post');
    t.equal(got.headers.get('x-slot'), null, 'it is about no slot');
    t.equal(got.headers.get('cache-control'), 'no-store');
    t.match((await explain(recorded.get(SWAP)?.result)).json.explanation, /swapped 10 SOL .* on OKX/);
  });

  t.test('what /tx answers is explained alike, as it is or enhanced', async (t) => {
    const signature = finalizedSignature();
    const { text } = await get(`/tx/${signature}?enhanced=1`);
    const { result } = parseExactJson(text) as { result: { enhanced: unknown } }; // as the document says
    const whole = await explain(result);
    t.match(whole.json.explanation, /fee of|fee was/);
    t.equal((await explain(result.enhanced)).text, whole.text);
  });

  t.test('a transfer in a batch of the token program is explained, raw or decoded', async (t) => {
    const [wallet, shop, tokens, shopTokens] = addressesOf(1, 2, 11, 12);
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    const info = { source: tokens, destination: shopTokens, amount: '2500000', authority: wallet };
    const batch = { type: 'batch', info: { instructions: [{ type: 'transfer', info }] } };
    const calls: SyntheticCall[] = [
      {
        programId: TOKEN_PROGRAM,
        accounts: [tokens, shopTokens, wallet],
        data: [255, 3, 9, 3, ...u64Bytes(2_500_000n)],
      },
      { programId: TOKEN_PROGRAM, program: 'spl-token', parsed: batch },
    ];
    for (const call of calls) {
      const record = syntheticRecord({
        calls: [call],
        signers: [wallet],
        tokens: [
          { account: tokens, mint: usdc, owner: wallet, before: 9_000_000n, after: 6_500_000n },
          { account: shopTokens, mint: usdc, owner: shop, before: 0n, after: 2_500_000n },
        ],
      });
      t.match((await explain(record)).json.explanation, /sent 2\.5 USDC to 8qbH…VfeR/);
    }
  });

  t.test('an enhanced view of a version that listed fewer facts is still explained', async (t) => {
    const signature = finalizedSignature();
    const { text } = await get(`/tx/${signature}?enhanced=1`);
    const { result } = parseExactJson(text) as { result: { enhanced: Record<string, unknown> } }; // as the document says
    const { authorityChanges, confidentialTransfers, ...earlier } = result.enhanced;
    t.strictSame([authorityChanges, confidentialTransfers], [[], []]);
    t.equal((await explain(earlier)).text, (await explain(result)).text);
  });

  t.test('logs beside a record explain why it failed', async (t) => {
    const program = '94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d';
    const logs = [
      `Program ${program} invoke [1]`,
      'Program log: Error: the market is closed',
      `Program ${program} failed: custom program error: 0x1`,
    ];
    t.match(
      (await explain(recorded.get(FAILED)?.result, logs)).json.explanation,
      /failed: the program says: “the market is closed”/,
    );
  });

  t.test('it makes no request to the cluster', async (t) => {
    const before = await cluster.control.requestCounts();
    await explain(recorded.get(sent)?.result);
    t.strictSame(await cluster.control.requestCounts(), before);
  });

  t.test('what is no transaction is refused', async (t) => {
    const refused = async (body: string, status: number, code: string): Promise<void> => {
      const got = await post(body);
      t.strictSame([got.status, got.json.error], [status, code], body.slice(0, 60));
      fits(t, '/explain', got, 'post');
    };
    for (const body of ['', '{', '{"tx":{"__proto__":{}}}', '['.repeat(9000)]) await refused(body, 400, 'invalid_json');
    const wrong = [
      'null',
      '[]',
      '{}',
      '{"tx":null}',
      '{"tx":[]}',
      '{"tx":"5J…"}',
      '{"tx":{}}',
      '{"tx":{"transaction":{}}}',
    ];
    wrong.push('{"tx":{"description":"x","type":"SWAP"}}', `{"tx":{"transaction":["AAAA","base64"]}}`);
    wrong.push(
      toJson({ tx: recorded.get(sent)?.result, logs: 'all' }),
      toJson({ tx: recorded.get(sent)?.result, logs: [1] }),
    );
    for (const body of wrong) await refused(body, 400, 'invalid_request');
  });

  t.test('a refusal says what to post, and where a signature is explained', async (t) => {
    const messageFor = async (body: unknown): Promise<string> => (await post(toJson(body))).json.message;
    const signature = finalizedSignature();
    for (const body of [{ signature }, { tx: signature }, { signature: 'x', tx: 7 }]) {
      const message = await messageFor(body);
      t.match(message, 'GET /api/v1/tx/SIG?enhanced=1');
      t.match(message, '`enhanced.description`');
      t.match(message, 'post the `result` of GET /api/v1/tx/SIG');
    }
    const whole = (await get(`/tx/${signature}`)).json;
    for (const body of [{}, [], null, whole, whole.result, { tx: whole }, { tx: {} }]) {
      const message = await messageFor(body);
      t.match(message, 'post the `result` of GET /api/v1/tx/SIG');
      t.notMatch(message, 'enhanced=1');
    }
    t.match((await explain(whole.result)).json.explanation, /fee/, 'one way that it names');
    t.match((await get(`/tx/${signature}?enhanced=1`)).json.result.enhanced.description, /\w/, 'and the other');
  });

  t.test('a text that would take minutes to decode is refused immediately', async (t) => {
    const endless = 'z'.repeat(200_000);
    const message = {
      accountKeys: ['payer', 'program'],
      instructions: [{ programIdIndex: 1, accounts: [0], data: endless }],
    };
    for (const tx of [{ transaction: endless }, { transaction: { signatures: ['s'], message }, meta: null }]) {
      t.equal((await explain(tx)).json.error, 'invalid_request');
    }
    const logged = {
      transaction: { signatures: ['s'], message: { accountKeys: ['payer'] } },
      meta: { logMessages: [endless] },
    };
    t.equal((await explain(logged)).status, 200, 'logs are only read');
  });

  t.test('a body whose cost would grow without bound is refused, and names the bound', async (t) => {
    const accountKeys = Array.from({ length: 800 }, (_, i) => ({ pubkey: `signer${i}`, signer: true }));
    const record = { transaction: { signatures: ['s'], message: { accountKeys } }, meta: null };
    const refused = await explain(record);
    t.strictSame([refused.status, refused.json.error], [400, 'invalid_request']);
    t.match(refused.json.message, /at most 256 accounts/);

    const signature = finalizedSignature();
    const { text } = await get(`/tx/${signature}?enhanced=1`);
    const { result } = parseExactJson(text) as { result: { enhanced: { readonly accountData: readonly object[] } } }; // as the document says
    const { enhanced } = result;
    const [account = {}] = enhanced.accountData;
    const transfer = { fromUserAccount: 'a', toUserAccount: 'b', amount: '1' };
    for (const [members, reason] of [
      [{ signers: Array(20).fill('s') }, /19 signers/],
      [{ accountData: Array(257).fill(account) }, /256 accounts/],
      [{ nativeTransfers: Array(1025).fill(transfer) }, /1024 transfers/],
      [{ nativeTransfers: [{ ...transfer, amount: '9'.repeat(41) }] }, /40 digits/],
    ] as const) {
      const got = await explain({ ...enhanced, ...members });
      t.strictSame([got.status, got.json.error], [400, 'invalid_request']);
      t.match(got.json.message, reason);
    }
  });

  t.test('a body may have 256 KiB', async (t) => {
    const padded = (length: number): string => {
      const body = toJson({ tx: recorded.get(sent)?.result, pad: '' }); // outside of `tx`, so it is not decoded
      return body.replace(/""\}$/, `"${'x'.repeat(length - Buffer.byteLength(body))}"}`);
    };
    t.equal((await post(padded(256 * 1024))).status, 200);
    t.equal((await post(padded(256 * 1024 + 1))).json.error, 'payload_too_large');
  });

  t.test('a mint that claims more decimals than a byte holds gets no text of that length', async (t) => {
    const swap = toJson(recorded.get(SWAP)?.result);
    const hostile = swap.replace(/"decimals":\d+/g, '"decimals":400000000');
    t.not(hostile, swap);
    const got = await post(`{"tx":${hostile}}`);
    t.equal(got.status, 200);
    t.match(got.json.explanation, /the record lacks balances/);
    t.ok(got.json.explanation.length < 1000);
  });
});

t.test('history', async (t) => {
  const world = await startStepped(t, { perSlot: 6 });
  const { get, cluster, step } = world;
  const { chain, control } = cluster;
  await step(100, 4);
  const fits = await createDocumentChecker(world);

  const [{ address }] = WALLETS;
  const NOBODY = '4'.repeat(44);
  const UNKNOWN = `${'1'.repeat(63)}2`;
  const path = `/address/${address}/history` as const;
  const tokenAccountsOf = async (owner: string): Promise<readonly string[]> =>
    (await get(`/token-accounts/${owner}`)).json.result.map((row) => row.address);

  /** The token accounts of the address now: the demo opens and closes some. */
  let tokenAccounts = await tokenAccountsOf(address);

  /** Returns the transactions that name one of these at a commitment, as their history has them. */
  const knownOf = (addresses: readonly string[], commitment: 'confirmed' | 'finalized' = 'confirmed') =>
    [...new Set(addresses.flatMap((each) => chain.transactionsOf(each)))]
      .filter(({ slot }) => slot <= chain.slot(commitment))
      .sort((a, b) => b.slot - a.slot || (a.signature < b.signature ? -1 : 1));
  const known = (commitment: 'confirmed' | 'finalized' = 'confirmed') =>
    knownOf([address, ...tokenAccounts], commitment);

  type HistoryRow = JsonAt<typeof path>['result']['rows'][number];

  /** Walks from the newest to the end; `between` happens after each page. */
  async function walk(query: string, between = async (): Promise<void> => {}): Promise<HistoryRow[]> {
    const rows: HistoryRow[] = [];
    for (let before = ''; ; ) {
      const got = await get(`${path}?${query}${before}`);
      fits(t, '/address/{addr}/history', got);
      rows.push(...got.json.result.rows);
      if (got.json.result.nextBefore === null) return rows;
      before = `&before=${got.json.result.nextBefore}`;
      await between();
    }
  }

  t.test('a row is a signature as the node records it', async (t) => {
    const got = await get(`${path}?limit=3`);
    const { rows, nextBefore, scanned } = got.json.result;
    const expected = known().slice(0, 3);
    t.same(
      rows,
      expected.map(({ signature, slot, blockTime, error }, i) => ({
        signature,
        slot,
        blockTime: blockTime,
        confirmationStatus: slot <= chain.slot('finalized') ? 'finalized' : 'confirmed',
        err: error,
        memo: rows[i]?.memo,
      })),
    );
    t.equal(nextBefore, expected[2]?.signature);
    t.equal(scanned, 3);
    t.equal(got.json.slot, chain.slot('confirmed'));
    t.match(got.json.receipt, { commitment: 'confirmed', claim: 'observed/2' });
  });

  t.test('a history is walked to its end while the chain goes on', async (t) => {
    const expected = known().map(({ signature }) => signature);
    t.ok(expected.length > 30, `${expected.length} transactions`);
    for (const limit of [7, 100]) {
      const rows = await walk(`limit=${limit}`, () => step());
      const signatures = rows.map(({ signature }) => signature);
      t.same(signatures.slice(-expected.length), expected, `${limit} at a time`);
      t.equal(new Set(signatures).size, signatures.length);
    }
  });

  t.test('finalized rows are requested with their commitment', async (t) => {
    const expected = known('finalized').map(({ signature }) => signature);
    const rows = await walk('commitment=finalized');
    t.same(pluck(rows, 'signature'), expected);
    t.ok(rows.every(({ confirmationStatus }) => confirmationStatus === 'finalized'));
  });

  t.test('a full page below a finalized cursor is read again: token accounts may come and go', async (t) => {
    const pageOf = (account: string): string =>
      `/address/${account}/history?limit=1&before=${knownOf([account], 'finalized')[0]?.signature}`;
    const account = tokenAccounts.find((each) => knownOf([each], 'finalized').length > 2) ?? '';
    const below = `${path}?limit=10&before=${known('finalized')[0]?.signature}`;
    const targets = [pageOf(account), below, `${below}&type=transfers`, `${path}?limit=10`];
    const read = () => Promise.all(targets.map((target) => get(target)));
    const first = await read();
    t.same(pluck(first, 'status'), [200, 200, 200, 200]);
    await step(12, 4);
    const again = await read();
    const cached = again.map(({ headers }) => headers.get('x-cache'));
    t.same(cached, ['MISS', 'MISS', 'MISS', 'MISS']);
    t.same(again[0]?.json.result, first[0]?.json.result);
    t.ok(Number(again[1]?.json.slot) > Number(first[1]?.json.slot));
  });

  t.test('what only names a token account is in the history of its owner, once', async (t) => {
    const named = new Set(chain.transactionsOf(address).map(({ signature }) => signature));
    const rows = await walk('limit=100');
    const foreign = rows.filter(({ signature }) => !named.has(signature)).map(({ signature }) => signature);
    t.ok(foreign.length > 0, `${foreign.length} name only a token account`);
    const [account] = tokenAccounts;
    const own = (await get(`/address/${account}/history?type=transfers&limit=25`)).json.result;
    const expected = new Set(knownOf([String(account)]).map(({ signature }) => signature));
    t.ok(own.scanned > 0);
    t.ok(
      own.rows.every((row) => expected.has(row.signature)),
      'a token account has its own history',
    );
  });

  t.test('the first row of a transaction is what it changed, and their sum the change of balances', async (t) => {
    /** Returns what the address has, by mint; its own lamports under SOL. */
    const holdings = async () => {
      const [{ json: balance }, { json: tokens }] = [
        await get(`/balance/${address}`),
        await get(`/token-accounts/${address}`),
      ];
      const amounts = new Map([['SOL', BigInt(balance.result.lamports)]]);
      for (const { mint, tokenAmount } of tokens.result)
        amounts.set(mint, (amounts.get(mint) ?? 0n) + BigInt(tokenAmount.amount));
      return { slots: [balance.slot, tokens.slot], amounts };
    };
    const before = await holdings();
    await step(60, 4);
    const after = await holdings();
    t.same([...before.slots, ...after.slots].length, 4);
    t.equal(new Set(before.slots).size + new Set(after.slots).size, 2, 'each at one slot');
    const [since = 0, until = 0] = [before.slots[0], after.slots[0]];
    const rows = (await walk('type=transfers&limit=25')).filter(({ slot }) => slot > since && slot <= until);
    tokenAccounts = await tokenAccountsOf(address);
    const landed = known().filter(({ slot }) => slot > since && slot <= until);
    const nets = rows.filter(({ type }) => type === 'net');
    t.same(
      nets.map(({ signature, status }) => [signature, status]),
      landed.map(({ signature, error }) => [signature, error === null ? 'success' : 'failed']),
      'one for each',
    );
    const firsts = rows.filter(({ signature }, i) => rows[i - 1]?.signature !== signature);
    t.same(firsts, nets, 'and before its transfers');
    t.same(
      pluck(nets, 'fee'),
      landed.map(({ accountKeys, fee }) => (accountKeys[0] === address ? `${fee}` : null)),
    );
    const sums = new Map(before.amounts);
    for (const { asset, mint, amount } of nets.flatMap(({ changes }) => changes)) {
      const key = asset === 'SOL' ? 'SOL' : mint;
      sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount));
    }
    t.same(sums, after.amounts);
    t.ok(before.amounts.size > 2 && [...after.amounts].some(([mint, amount]) => before.amounts.get(mint) !== amount));
  });

  t.test('transfers are what moved in the same transactions, seen from the address', async (t) => {
    const rows = (await walk('type=transfers&limit=25')).filter(({ type }) => type !== 'net');
    t.ok(rows.length > 20, `${rows.length} rows`);
    t.ok(rows.every((row) => [row.fromUserAccount, row.toUserAccount].includes(address)));
    t.same(new Set(rows.map(({ direction }) => direction)).has('in'), true);
    const changes = new Map<string, bigint>();
    for (const { signature, accountKeys, preBalances, postBalances, fee, error } of known()) {
      const place = accountKeys.indexOf(address);
      const paid = place === 0 ? fee : 0n;
      if (error === null) changes.set(signature, (postBalances[place] ?? 0n) - (preBalances[place] ?? 0n) + paid);
    }
    for (const { signature, type, asset, direction, amount } of rows) {
      const isUnwrapped = type === 'unwrap'; // tokens of the address that it has as lamports now
      if (!isUnwrapped && (asset !== 'SOL' || direction === 'self')) continue;
      const sign = isUnwrapped || direction === 'in' ? 1n : -1n;
      changes.set(signature, (changes.get(signature) ?? 0n) - sign * BigInt(amount));
    }
    const unexplained = [...changes].filter(([, rest]) => rest !== 0n);
    t.same(unexplained, [], 'the balance moved by that and nothing else');
  });

  t.test('a page of transfers reads at most 25 transactions, failed ones too', async (t) => {
    const calls = async (): Promise<number> => (await control.requestCounts())['getTransaction'] ?? 0;
    const other = String(WALLETS[1].address);
    const listed = knownOf([other, ...(await tokenAccountsOf(other))]).slice(0, 25);
    const kept = new Set(known().map(({ signature }) => signature));
    const before = await calls();
    const { json } = await get(`/address/${other}/history?type=transfers&limit=100`);
    t.equal(json.result.scanned, 25);
    const signatures = json.result.rows.filter((row) => row.type === 'net').map((row) => row.signature);
    t.same(
      signatures,
      listed.map(({ signature }) => signature),
    );
    const shared = listed.filter(({ signature }) => kept.has(signature)).length;
    t.equal((await calls()) - before, 25 - shared, 'those of both addresses are kept');
    t.equal(json.result.nextBefore, listed[24]?.signature, 'the last that was scanned, moved or not');
  });

  t.test('a page costs a call for each list, in either mode, and the list of token accounts is shared', async (t) => {
    const counted = async (path: string): Promise<Record<string, number>> => {
      const before: Record<string, number> = await control.requestCounts();
      t.equal((await get(path)).status, 200);
      const after = Object.entries(await control.requestCounts());
      const made = after.map(([method, count]) => [method, Number(count) - (before[method] ?? 0)] as const);
      return Object.fromEntries(made.filter(([method, count]) => count > 0 && method.startsWith('get')));
    };
    const other = String(WALLETS[2]?.address);
    const path = `/address/${other}/history` as const;
    const lists = { getSignaturesForAddress: 1 + (await tokenAccountsOf(other)).length };
    t.strictSame(await counted(`${path}?limit=11`), lists, 'the list of its accounts was read for /token-accounts');
    const { nextBefore } = (await get(`${path}?limit=12`)).json.result;
    t.strictSame(await counted(`${path}?limit=13&before=${nextBefore}`), lists, 'where a page ends is remembered');
    await get(`${path}?limit=12&type=transfers`);
    t.strictSame(await counted(`${path}?limit=11&type=transfers`), lists, 'and so are transactions');
  });

  t.test('a transaction is read once: another page, another slot and /tx have it already', async (t) => {
    const calls = async (): Promise<number> => (await control.requestCounts())['getTransaction'] ?? 0;
    const succeeded = known()
      .filter(({ error }) => error === null)
      .map(({ signature }) => signature);
    await get(`${path}?type=transfers&limit=25`);
    const before = await calls();
    for (const limit of [1, 7, 24]) t.equal((await get(`${path}?type=transfers&limit=${limit}`)).status, 200);
    t.equal(await calls(), before);
    await step(8, 4);
    const added = known().findIndex(({ signature }) => signature === succeeded[0]);
    await get(`${path}?type=transfers&limit=25`);
    t.ok((await calls()) - before <= added, `at most the ${added} that are new`);
    const final = known('finalized').find(({ error }) => error === null)?.signature;
    await get(
      `${path}?type=transfers&limit=25&before=${known().find(({ slot }) => slot > chain.slot('finalized'))?.signature}`,
    );
    await get(`/tx/${final}`);
    const [read, { json }] = [await calls(), await get(`/tx/${final}?enhanced=1`)];
    t.strictSame([json.result.signature, json.result.confirmationStatus], [final, 'finalized']);
    t.equal(await calls(), read);
  });

  t.test('an address that nothing names has an empty history', async (t) => {
    for (const query of ['', '?type=transfers']) {
      const got = await get(`/address/${NOBODY}/history${query}`);
      t.same(got.json.result, { rows: [], nextBefore: null, scanned: 0 });
      t.equal(got.json.slot, chain.slot('confirmed'));
    }
  });

  t.test('an unknown cursor is refused as such', async (t) => {
    const got = await get(`${path}?before=${UNKNOWN}`);
    t.strictSame([got.status, got.json.error], [404, 'cursor_not_found']);
    fits(t, '/address/{addr}/history', got);
  });

  t.test('a cursor that is no transaction of the address is refused as such, the end of a history not', async (t) => {
    const own = new Set(known().map(({ signature }) => signature));
    const others = WALLETS.slice(1).flatMap(({ address }) => chain.transactionsOf(address));
    const [stranger] = others.filter(
      ({ signature, accountKeys }) => !own.has(signature) && !accountKeys.includes(address),
    );
    if (stranger === undefined) throw new Error('there is no other transaction');
    for (const query of ['', '&type=transfers', '&commitment=finalized']) {
      const got = await get(`/address/${NOBODY}/history?before=${stranger.signature}${query}`);
      t.strictSame([got.status, got.json.error], [404, 'cursor_not_found'], query);
    }
    const oldest = known().at(-1);
    const calls = async (): Promise<number> => (await control.requestCounts())['getTransaction'] ?? 0;
    const before = await calls();
    const { status, json } = await get(`${path}?before=${oldest?.signature}`);
    t.strictSame([status, json.result], [200, { rows: [], nextBefore: null, scanned: 0 }]);
    await get(`${path}?before=${known()[0]?.signature}`);
    t.ok((await calls()) - before <= 1, 'a transaction that is kept is not read again');
  });

  t.test('a parameter at fault is refused before any request to the node', async (t) => {
    const limits = ['0', '101', 'x', '', '1.5', '1&limit=1'].map((limit) => `limit=${limit}`);
    const queries = [...limits, 'type=swaps', 'type=', 'until=x', 'page=2', 'commitment=processed'];
    await assertRefusedWithoutUpstream(t, world, {
      invalid_address: ['x', UNKNOWN].map((addr) => `/address/${addr}/history`),
      invalid_cursor: ['', 'x', address, '0'.repeat(88)].map((cursor) => `${path}?before=${cursor}`),
      invalid_query: queries.map((query) => `${path}?${query}`),
    });
  });
});

t.test('search', async (t) => {
  const world = await startStepped(t, { perSlot: 1 });
  const { get, cluster, step } = world;
  const { chain } = cluster;
  const NOBODY = '4'.repeat(44);
  const SYSTEM = '1'.repeat(32);
  const wallet = WALLETS[0].address;
  const dollar = DOLLAR.mint.address;
  await step(20, 4);

  const search = async (q: string) => get(`/search?q=${encodeURIComponent(q)}`);
  const found = async (q: string) => (await search(q)).json.result;

  t.test('an address is an account, and a mint if it is one', async (t) => {
    t.same(await found(wallet), {
      query: wallet,
      type: 'address',
      id: wallet,
      path: `/api/v1/account/${wallet}`,
      exists: true,
      kind: 'system',
      domain: null,
      name: null,
      alternatives: [],
    });
    t.match(await found(dollar), {
      type: 'mint',
      path: `/api/v1/token/${dollar}`,
      exists: true,
      kind: 'spl-token:mint',
    });
    t.match(await found(NOBODY), { type: 'address', exists: false, kind: null });
    t.match(await found(SYSTEM), { type: 'address', id: SYSTEM, exists: true }, 'all digits, and yet no slot');
  });

  t.test('a signature is a transaction', async (t) => {
    const signature =
      chain.transactionsOf(wallet).findLast(({ slot }) => slot <= chain.slot('confirmed'))?.signature ?? '';
    t.match(await found(signature), {
      type: 'signature',
      id: signature,
      path: `/api/v1/tx/${signature}`,
      exists: true,
    });
    t.match(await found('5'.repeat(87)), { type: 'signature', exists: false });
  });

  t.test('digits are a slot', async (t) => {
    const slot = chain.slot('confirmed');
    t.match(await found(`${slot}`), { type: 'slot', id: `${slot}`, path: `/api/v1/block/${slot}`, exists: true });
    t.match(await found(`${slot + 1000}`), { type: 'slot', exists: false });
    const highest = `${Number.MAX_SAFE_INTEGER}`;
    t.match(await found(highest), { type: 'slot', id: highest, exists: false });
    const grouped = slot.toLocaleString('en');
    t.match(await found(`#${grouped}.`), { query: `#${grouped}.`, type: 'slot', id: `${slot}`, exists: true });
    t.match(await found('7'), { type: 'slot', exists: false });
  });

  t.test('an epoch leads to the current one, or to its first block', async (t) => {
    const { epoch, slotsInEpoch } = (await get('/epoch')).json.result;
    const current = await found(`https://explorer.solana.com/epoch/${epoch}`);
    t.match(current, { type: 'epoch', id: `${epoch}`, path: '/api/v1/epoch', exists: true, kind: 'current' });
    const next = await found(`epoch ${epoch + 2}`);
    const path = `/api/v1/block/${(epoch + 2) * slotsInEpoch}`;
    t.match(next, { type: 'epoch', path, exists: false, kind: 'future' });
  });

  t.test('a known name stands for an address, and lists the others', async (t) => {
    const result = await found('raydium');
    t.match(result, { query: 'raydium', type: 'address', name: 'Raydium', exists: false });
    t.ok(result.alternatives.length > 3);
    t.match(await found('$sol'), { name: 'SOL', type: 'mint', exists: true, alternatives: [] });
  });

  t.test('the hash of a block that was read here stands for its slot', async (t) => {
    const { slot = 0, hash = '' } = chain.newestBlock('confirmed') ?? {};
    t.match(await found(hash), { type: 'address', exists: false }, 'no node finds a block by its hash');
    await get(`/block/${slot}`);
    await step(20, 4);
    t.match(await found(hash), { type: 'slot', id: `${slot}`, path: `/api/v1/block/${slot}`, exists: true });
  });

  t.test("an explorer's URL stands for the subject of its page", async (t) => {
    for (const [url, type, id] of [
      [`https://explorer.solana.com/address/${wallet}?cluster=devnet`, 'address', wallet],
      [`https://solscan.io/token/${dollar}#holders`, 'mint', dollar],
      [`solscan.io/account/${wallet}`, 'address', wallet],
      [`https://solana.fm/block/12345/`, 'slot', '12345'],
      [`http://127.0.0.1:8787/api/v1/token/${dollar}`, 'mint', dollar],
      [`  ${wallet}\n`, 'address', wallet],
    ] as const) {
      t.match(await found(url), { query: url, type, id }, url);
    }
  });

  t.test('a .sol name resolves as the name service resolves it', async (t) => {
    const domain = parseSolDomain('vector.sol') ?? t.fail('a name');
    if (typeof domain === 'boolean') return;
    const named = solNames.resolutions.filter(({ holder }) => holder === null);
    t.ok(named.length > 3);
    for (const { name, accounts, result } of named) {
      domain.accounts.forEach((at, i) => {
        const stored = accounts[i];
        const account = stored ? decodeBase64(stored) : { owner: SYSTEM, data: new Uint8Array() };
        chain.setAccount(address(at), { ...account, lamports: stored ? 10_000_000n : 0n, executable: false });
      });
      await step(8, 4);
      const { status, json } = await search('Vector.SOL');
      if (result === null) {
        t.equal(status, 404, name);
        t.equal(json.error, 'not_found');
      } else {
        t.match(json.result, { type: 'domain', id: result, path: `/api/v1/account/${result}` }, name);
        t.match(json.result.domain, { name: 'vector.sol', nameAccount: domain.nameAccount });
      }
    }
  });

  t.test('a tokenized .sol name resolves to the holder of its token', async (t) => {
    const domain = parseSolDomain('vector.sol') ?? t.fail('a name');
    if (typeof domain === 'boolean') return;
    const put = (at: string, account: { readonly owner: string; readonly data: Uint8Array } | null) =>
      chain.setAccount(address(at), {
        ...(account ?? { owner: SYSTEM, data: new Uint8Array() }),
        lamports: account ? 10_000_000n : 0n,
        executable: false,
      });
    const mintData = Buffer.alloc(82);
    mintData.writeBigUInt64LE(1n, 36);
    mintData[45] = 1;
    const holding = address(findProgramAddress(TOKEN_PROGRAM, ['holding']));
    const wrapped = solNames.resolutions.filter(({ name }) => name.startsWith('wrapped'));
    t.equal(wrapped.length, 3);
    for (const { name, accounts, holder, result } of wrapped) {
      const stored = accounts.map((account) => account && decodeBase64(account));
      for (const [i, at] of domain.accounts.entries()) put(at, stored[i] ?? null);
      const found = resolveDomain(domain, stored);
      if (found.status === 'holder') put(found.mint, { owner: TOKEN_PROGRAM, data: mintData });
      put(holding, holder && decodeBase64(holder));
      await step(8, 4);
      const { status, json } = await search('vector.sol');
      if (result === null) t.strictSame([status, json.error], [404, 'not_found'], name);
      else {
        t.match(json.result, { type: 'domain', id: result, path: `/api/v1/account/${result}` }, name);
        t.equal(json.result.domain.method, 'nft');
        if (found.status === 'holder') put(found.mint, null);
        await step(8, 4);
        t.equal((await search('vector.sol')).json.error, 'not_found', 'without the mint there is no holder');
      }
    }
  });

  t.test('a meaningless term is refused before any request to the cluster', async (t) => {
    const terms = ['hello', '0x12', '-1', '1'.repeat(33), 'a.b.c.sol', '.sol', '9'.repeat(21), 'x'.repeat(1500)];
    await assertRefusedWithoutUpstream(t, world, {
      unclassifiable: [...terms, 'https://example.com/'].map((term) => `/search?q=${encodeURIComponent(term)}`),
      invalid_query: ['', '?q=', '?q=%20', '?q=1&q=2', '?q=1&limit=2'].map((query) => `/search${query}`),
    });
  });
});

t.test('tx', async (t) => {
  const world = await startStepped(t, { perSlot: 4 });
  const { get, rpc, cluster, node, step } = world;
  const { chain } = cluster;
  await step(56, 4);
  const fits = await createDocumentChecker(world);

  const NOBODY = `${'1'.repeat(63)}2`;
  const landed = (slot: number) => chain.block(slot)?.transactions ?? [];
  /** Of the last slots that are finalized. */
  const old = Array.from({ length: 20 }, (_, i) => landed(chain.slot('finalized') - i)).flat();

  t.test("a transaction is the node's own record, members by name", async (t) => {
    const signature = old[0]?.signature ?? '';
    const got = await get(`/tx/${signature}`);
    fits(t, '/tx/{sig}', got);
    const config = { encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion: 1 };
    const { result } = (await rpc<object>({ method: 'getTransaction', params: [signature, config] })).json;
    t.same(got.json.result, { signature, confirmationStatus: 'finalized', ...result });
    const names = Object.keys(got.json.result);
    t.same(names.slice(0, 2), ['signature', 'confirmationStatus']);
    t.same(names.slice(2), [...names.slice(2)].sort());
    t.match(got.json.receipt, { commitment: 'confirmed', claim: 'observed/1' });
    t.ok(got.json.slot > got.json.result.slot, 'the answer is about now, its transaction about then');
  });

  t.test('tokens are called by the names in their metadata; without these, nothing is kept', async (t) => {
    const read = async (signature: string) => {
      const { json, headers } = await get(`/tx/${signature}?enhanced=1`);
      return { description: json.result.enhanced.description as string, cached: headers.get('x-cache') };
    };
    node.overrides.set('getMultipleAccounts', () => ({ error: '{"code":-32005,"message":"busy"}' }));
    const unnamed: string[] = [];
    for (const { signature } of old) {
      const { description } = await read(signature);
      if (/of the token \w{32}/.test(description)) unnamed.push(signature);
    }
    const [signature = ''] = unnamed;
    t.ok(unnamed.length > 1, 'swaps and transfers of tokens');
    t.equal((await read(signature)).cached, 'MISS', 'a text without the names is not kept');
    node.overrides.clear();
    const calls = () => node.requestCounts.get('getMultipleAccounts') ?? 0;
    const before = calls();
    const { description } = await read(signature);
    t.notMatch(description, /of the token \w{32}/);
    t.ok(
      COINS.some(({ symbol }) => description.includes(` “${symbol}”`)),
      description,
    );
    t.equal(calls() - before, 1, 'all names in one call');
    t.same(await read(signature), { description, cached: 'HIT' });
    const texts: string[] = [];
    for (const each of unnamed) texts.push((await read(each)).description);
    const nameless = texts.filter((text) => /of the token \w{32}/.test(text));
    t.same(nameless, []);
    t.ok(calls() - before < unnamed.length, 'names are remembered');
  });

  t.test('a call that nothing else names is named by the IDL on the chain, quoted and in one call', async (t) => {
    const program = 'FUCHhfHbuxXBWiRBfVdhmiog84sUJw11aAq3ibAUGL6e';
    const recorded =
      readRecordings('transactions').find((line) => line.includes('eclipse-35781852-full-json#16')) ?? '';
    const signature = /"signatures":\["(\w+)"/.exec(recorded)?.[1] ?? '';
    const record = recorded.replace(/^.*"result":/, '').replace(/"slot":\d+/, `"slot":${chain.slot('finalized')}`);
    node.overrides.set('getTransaction', () => ({ result: record.slice(0, -1) }));
    const data = bs58.decode('vaJro6ZLfqS8Tk6mcBehNesxGGBBDUfeYjo9XpzxmW6pTfUBhDh7eNT'); // of its first call
    const name = 'store” https://evil.example';
    const idl = deflateSync(JSON.stringify({ instructions: [{ name, discriminator: [...data.subarray(0, 8)] }] }));
    const header = Buffer.alloc(44);
    header.writeUInt32LE(idl.length, 40);
    const account = { lamports: 1, owner: program, executable: false, rentEpoch: 0, space: 44 + idl.length };
    const found = { ...account, data: [Buffer.concat([header, idl]).toString('base64'), 'base64'] };
    const context = { slot: chain.slot('confirmed') };
    const requested: unknown[] = [];
    node.overrides.set('getMultipleAccounts', (params) => {
      requested.push(params[0]);
      return { result: JSON.stringify({ context, value: [found, null] }) };
    });
    const { enhanced } = (await get(`/tx/${signature}?enhanced=1`)).json.result;
    node.overrides.clear();
    t.match(
      enhanced.description,
      `called the program ${program} (the program calls it “store https[:]//evil[.]example”)`,
    );
    t.same(requested, [idlPlacesOf(program).map(({ address }) => address)], 'two accounts are read');
    t.equal(enhanced.instructions[1].name, name);
  });

  t.test('?perspective= describes a transaction from the view of a party of it', async (t) => {
    const { signature, accountKeys } = old.find(({ error }) => error === null) ?? { signature: '', accountKeys: [] };
    const [payer = '', other = ''] = accountKeys;
    const read = (query: string) => get(`/tx/${signature}?enhanced=1${query}`);
    const got = await read(`&perspective=${payer}`);
    fits(t, '/tx/{sig}', got);
    const { perspective, ...rest } = got.json.result.enhanced;
    t.same(rest, (await read('')).json.result.enhanced, 'beside all that is said to everybody');
    t.match(perspective, { address: payer, description: /[yY]ou .*; you paid the fee of [\d.]+ SOL/ });
    t.equal((await read(`&perspective=${other}`)).json.result.enhanced.perspective.address, other);
    const { status, json } = await read(`&perspective=${NOBODY.slice(0, 31)}2`);
    t.same([status, json.error], [400, 'invalid_query']);
    t.match(json.message, /no party/);
    const rows = (await get(`/address/${payer}/history?type=transfers&limit=100`)).json.result.rows;
    const net = rows.find((row: { signature: string }) => row.signature === signature);
    t.notOk(
      rows.some((row: { type: string; description?: unknown }) => row.type === 'net' && row.description === null),
    );
    if (net !== undefined) t.match(net.description, /; you paid the fee of/);
    const body = (party: unknown) => toJson({ tx: got.json.result.enhanced, perspective: party });
    const explain = (party: unknown) =>
      get('/explain', { method: 'POST', headers: { 'content-type': 'application/json' }, body: body(party) });
    t.match((await explain(payer)).json.explanation, /\. (The fee was|You paid the fee of) [\d.]+ SOL/);
    t.match((await explain(`${NOBODY.slice(0, 31)}2`)).json, { error: 'invalid_query', message: /no party/ });
    t.match((await explain('me')).json, { error: 'invalid_request', message: /"perspective"/ });
  });

  t.test('enhanced describes what each did, and the document knows all of it', async (t) => {
    const kinds = new Set<string>();
    for (const { signature, error, fee } of old) {
      const got = await get(`/tx/${signature}?enhanced=1`);
      fits(t, '/tx/{sig}', got);
      const { enhanced } = got.json.result;
      t.match(enhanced, { signature, fee: Number(fee), status: error === null ? 'success' : 'failed' });
      t.equal(Object.keys(got.json.result).at(-1), 'enhanced');
      kinds.add(enhanced.type);
    }
    t.ok(kinds.size > 3, [...kinds].join());
    const { signature } = old[0] ?? { signature: '' };
    const [plain, enhanced] = [await get(`/tx/${signature}`), await get(`/tx/${signature}?enhanced=1`)];
    t.strictSame(
      [plain, enhanced].map(({ headers, json }) => [headers.get('cache-control'), json.receipt.claim]),
      [
        ['public, max-age=300', 'observed/1'],
        ['public, max-age=300', 'observed/4'],
      ],
      'a meaning may change',
    );
  });

  t.test('a finalized transaction is read once and for all, a confirmed one until it is finalized', async (t) => {
    while (landed(chain.slot('confirmed')).length === 0) await step();
    const recent = landed(chain.slot('confirmed'))[0]?.signature ?? '';
    t.equal((await get(`/tx/${recent}`)).json.result.confirmationStatus, 'confirmed');
    t.equal((await get(`/tx/${recent}?commitment=finalized`)).json.error, 'not_found');
    await step(40, 4);
    const first = await get(`/tx/${recent}`);
    t.equal(first.json.result.confirmationStatus, 'finalized');
    await step(12, 4);
    const again = await get(`/tx/${recent}`);
    t.equal(again.headers.get('x-cache'), 'HIT');
    t.equal(again.text, first.text);
  });

  t.test('a transaction that nobody knows is not found, and not requested again immediately', async (t) => {
    const calls = async (): Promise<number> => (await cluster.control.requestCounts())['getTransaction'] ?? 0;
    const before = await calls();
    for (let i = 0; i < 5; i++) {
      const got = await get(`/tx/${NOBODY}`);
      t.strictSame([got.status, got.json.error], [404, 'not_found']);
      fits(t, '/tx/{sig}', got);
    }
    t.equal((await calls()) - before, 1);
  });

  t.test('a transaction that is only processed is not there yet', async (t) => {
    while (landed(chain.slot('processed')).length === 0) await step();
    const { signature = '' } = landed(chain.slot('processed'))[0] ?? {};
    t.equal((await get(`/tx/${signature}`)).json.error, 'not_found');
    await step(4);
    t.equal((await get(`/tx/${signature}`)).json.result.confirmationStatus, 'confirmed');
  });

  t.test('a parameter at fault is refused before any request to the node', async (t) => {
    const wallet = WALLETS[0].address;
    const signatures = ['x', wallet, `1${NOBODY}`, '0'.repeat(88), '%31'.repeat(64), '1'.repeat(2000)];
    const queries = [
      'enhanced=0',
      'enhanced=true',
      'enhanced',
      'commitment=processed',
      'logs=1',
      'enhanced=1&enhanced=1',
      `perspective=${wallet}`,
    ];
    await assertRefusedWithoutUpstream(t, world, {
      invalid_address: [`/tx/${NOBODY}?enhanced=1&perspective=x`],
      invalid_signature: signatures.map((signature) => `/tx/${signature}`),
      invalid_query: queries.map((query) => `/tx/${NOBODY}?${query}`),
    });
  });
});
