import bs58 from 'bs58';
import t from 'tap';
import { TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { GOLD } from '../../src/localnet/traffic/demo-accounts.ts';
import { startStepped, waitFor } from '../support/harness.ts';
import { tokenAccountFixture } from '../support/token-account-fixtures.ts';

const { get, cluster, node, step } = await startStepped(t, { perSlot: 0 });
const MOST = 10_000;

/** Number of owners used, so that no request hits the cache. */
let owners = 0;
const owner = () => '23456789A'.charAt(owners++).repeat(44);

const numbered = (i: number): string => {
  const key = Buffer.alloc(32, 9);
  key.writeUInt32BE(i);
  return bs58.encode(key);
};

/** Returns token accounts of one owner as a node lists them; each has its number as amount. Default: all of one mint. */
function listed(owner: string, from: number, count: number, mintOf?: (i: number) => string): string[] {
  const { data } = tokenAccountFixture(owner, 0, GOLD.mint.address);
  return Array.from({ length: count }, (_, i) => {
    data.writeBigUInt64LE(BigInt(from + i), 64);
    if (mintOf !== undefined) data.set(bs58.decode(mintOf(from + i)));
    const account = `"data":["${data.toString('base64')}","base64"],"executable":false,"lamports":2039280`;
    const program = `"owner":"${GOLD.program}","rentEpoch":18446744073709551615,"space":165`;
    return `{"account":{${account},${program}},"pubkey":"${numbered(from + i)}"}`;
  });
}

/** Sets the node's lists of the classic token program and of Token-2022. */
function lists(classic: readonly string[], newer: readonly string[]): void {
  node.overrides.set('getTokenAccountsByOwner', ([, { programId, mint }]) => {
    const rows = programId === TOKEN_PROGRAM || mint !== undefined ? classic : newer;
    return { result: `{"context":{"slot":${cluster.chain.slot('confirmed')}},"value":[${rows}]}` };
  });
}

const tooLarge = async (target: string): Promise<void> => {
  const { status, json } = await get(target);
  t.strictSame([status, json.error], [413, 'result_too_large'], target.replace(/\d{44}/, 'owner'));
  t.same(Object.keys(json), ['error', 'message']);
};

t.test(
  'ten thousand accounts are listed in order and summed up, charged by the hundred and not read ahead',
  async (t) => {
    const holder = owner();
    lists(listed(holder, 0, MOST - 1), listed(holder, MOST - 1, 1));
    const { status, json, headers } = await get(`/token-accounts/${holder}`);
    t.equal(status, 200);
    const left = (from: Headers): number => Number(from.get('x-ratelimit-remaining'));
    const hit = await get(`/token-accounts/${holder}`);
    const bytesRead = 4; // MiB beyond the first
    const bytesSent = left(headers) - left(hit.headers); // 1 for the request, and its MiB
    const rows = MOST + 1; // its mint, too
    t.equal(
      Number(headers.get('x-ratelimit-limit')) - left(headers),
      bytesSent + Math.ceil(rows / 100) - 1 + 1 + bytesRead,
    );
    const reads = node.requestCounts.get('getTokenAccountsByOwner');
    await step(2);
    t.equal(node.requestCounts.get('getTokenAccountsByOwner'), reads, 'its next reader pays for it');
    t.same(
      json.result.map(({ address }: any) => address),
      Array.from({ length: MOST }, (_, i) => numbered(i)).sort(),
    );
    t.equal(json.result.find(({ address }: any) => address === numbered(77)).tokenAmount.amount, '77');
    const portfolio = (await get(`/address/${holder}/portfolio`)).json.result;
    t.match(portfolio.items, [{ mint: GOLD.mint.address, accounts: MOST - 1, amount: `${(MOST * (MOST - 1)) / 2}` }]);
  },
);

t.test("a portfolio and a list of one owner, read at once, share the node's lists", async (t) => {
  const holder = owner();
  lists(listed(holder, 0, 3), []);
  const before = node.requestCounts.get('getTokenAccountsByOwner') ?? 0;
  const targets = [`/token-accounts/${holder}`, `/address/${holder}/portfolio`];
  const answers = await Promise.all(targets.map((target) => get(target)));
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.equal(node.requestCounts.get('getTokenAccountsByOwner'), before + 2, 'one of each token program');
});

t.test(
  'a portfolio of a thousand tokens is valued; of one more it is refused, and the refusal remembered',
  async (t) => {
    const [fitting, refused] = [owner(), owner()];
    lists(listed(fitting, 0, 1001, numbered), []); // one of them empty
    const { status, json } = await get(`/address/${fitting}/portfolio`);
    t.strictSame([status, json.result.items.length], [200, 1000]);
    lists(listed(refused, 1, 1001, numbered), []);
    const ask = async (path: string, init?: RequestInit): Promise<unknown> => (await get(path, init)).json;
    const message =
      'the address holds more than 1,000 different tokens, the most that are valued: list them with /token-accounts/OWNER, or those of one mint with ?mint=MINT';
    const refusal = { error: 'result_too_large', message };
    t.same(await ask(`/address/${refused}/portfolio`), refusal);
    const before = new Map(node.requestCounts);
    const latest = { headers: { 'x-min-slot': String(cluster.chain.slot('confirmed')) } };
    t.same(await ask(`/address/${refused}/portfolio`), refusal);
    t.same(await ask(`/address/${refused}/portfolio`, latest), refusal);
    t.same(node.requestCounts, before, 'at no cost');
  },
);

t.test('one more is too many: of both programs together, of one, of one mint', async () => {
  for (const [classic, newer] of [
    [MOST + 1, 0],
    [MOST, 1],
  ] as const) {
    const holder = owner();
    lists(listed(holder, 0, classic), listed(holder, MOST + 1, newer));
    await tooLarge(`/token-accounts/${holder}`);
    await tooLarge(`/address/${holder}/portfolio`);
    if (newer === 0) await tooLarge(`/token-accounts/${holder}?mint=${GOLD.mint.address}`);
  }
});

t.test('an answer of a node above the size limit is refused unread', async () => {
  const small = await startStepped(t, { perSlot: 0, set: ['upstream.maxBytes=100000'] });
  const holder = owner();
  const rows = listed(holder, 0, 1000);
  small.node.overrides.set('getTokenAccountsByOwner', () => ({
    result: `{"context":{"slot":${small.cluster.chain.slot('confirmed')}},"value":[${rows}]}`,
  }));
  const { status, json } = await small.get(`/token-accounts/${holder}`);
  t.strictSame([status, json.error], [413, 'result_too_large']);
});

t.test('a block of five megabytes is read once, then it is a hit', async (t) => {
  const slot = cluster.chain.slot('finalized') - 1;
  const keys = Array.from({ length: 30 }, (_, i) => ({
    pubkey: numbered(i),
    signer: i === 0,
    writable: i < 20,
    source: 'transaction',
  }));
  const signature = (i: number): string =>
    bs58.encode(Buffer.concat([Buffer.alloc(60, 7), Buffer.from([9, 9, i >> 8, i])]));
  const meta = { err: null, fee: 5000, computeUnitsConsumed: 150, preBalances: [], postBalances: [] };
  const transactions = Array.from({ length: 1500 }, (_, i) => ({
    transaction: { signatures: [signature(i)], accountKeys: keys },
    meta: i % 10 === 0 ? { ...meta, err: 'AccountInUse' } : meta,
    version: 0,
  }));
  const block = {
    blockhash: numbered(1),
    previousBlockhash: numbered(2),
    parentSlot: slot - 1,
    blockHeight: 9,
    blockTime: 1_700_000_000,
    rewards: [{ pubkey: numbered(3), lamports: 3_750_000, postBalance: 1, rewardType: 'Fee', commission: null }],
    transactions,
  };
  const result = JSON.stringify(block);
  t.ok(result.length > 5_000_000, `${result.length} bytes`);
  node.overrides.set('getBlock', () => ({ result }));
  const first = await get(`/block/${slot}`);
  t.strictSame([first.status, first.headers.get('x-cache')], [200, 'MISS']);
  t.match(first.json.result.transactions, {
    count: 1500,
    failedCount: 150,
    feesLamports: 7_500_000,
    computeUnitsConsumed: 225_000,
  });
  t.equal(first.json.result.transactions.signatures.length, 50);
  const again = await get(`/block/${slot}`);
  t.strictSame([again.headers.get('x-cache'), again.text], ['HIT', first.text]);
  t.equal(node.requestCounts.get('getBlock'), 1);
});

t.test('what costs more than one unit is not read ahead: its next reader pays for it', async (t) => {
  const [dear, cheap] = [owner(), owner()];
  const reads = new Map<string, number>();
  node.overrides.set('getTokenAccountsByOwner', ([holder, { programId }]) => {
    reads.set(holder, (reads.get(holder) ?? 0) + 1);
    const rows = programId === TOKEN_PROGRAM ? listed(holder, 0, holder === dear ? 100 : 99) : []; // and their mint
    return { result: `{"context":{"slot":${cluster.chain.slot('confirmed')}},"value":[${rows}]}` };
  });
  for (const holder of [dear, cheap, dear, cheap]) await get(`/token-accounts/${holder}`);
  await step();
  await waitFor(() => (reads.get(cheap) ?? 0) > 2, 'the cheap one to be read ahead');
  t.equal(reads.get(dear), 2);
});
