import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { WRAPPED_SOL } from '../../../src/shared/domain/known-mints.ts';
import { parseExactJson } from '../../../src/shared/domain/parse-exact-json.ts';
import { toJson } from '../../../src/shared/domain/to-json.ts';
import { METADATA_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../src/shared/domain/well-known-addresses.ts';
import { readTables } from '../../../src/shared/runtime/files/read-tables.ts';
import { formatUnits } from '../../../src/transactions/codec/format-decimal.ts';
import { decodeFailure, type FailedTransaction } from '../../../src/transactions/errors/decode-failure.ts';
import {
  type EnhancedTransaction,
  enhanceTransaction,
} from '../../../src/transactions/explain/enhanced-transaction.ts';
import { explainTransaction, MAX_EXPLANATION_LENGTH } from '../../../src/transactions/explain/explain-transaction.ts';
import {
  explainTransaction as explainTransactionOfIndex,
  parseTransaction,
  readTransaction,
} from '../../../src/transactions/index.ts';
import type { AccountKey } from '../../../src/transactions/records/account-keys.ts';
import type { Instruction } from '../../../src/transactions/records/instruction.ts';
import type { ParsedInfo } from '../../../src/transactions/records/instruction-layout.ts';
import type { Transaction } from '../../../src/transactions/records/transaction.ts';
import { addressOfNumber } from '../../support/address-of-number.ts';
import { isNumberAlone } from '../../support/number-alone.ts';
import { readTable } from '../../support/read-table.ts';
import { enhancedOf, readRecordings, recordedTransactions } from '../../support/recorded-transactions.ts';
import {
  addressesOf,
  addressOf,
  type SyntheticBalance,
  type SyntheticCall,
  type SyntheticTransaction,
  syntheticTransaction,
  u64Bytes,
} from '../../support/synthetic-transaction.ts';
import { expectListedDifferences } from './difference-table.ts';
import { expectedSwaps } from './expected-swaps.ts';

t.test('enhanced-transaction', async (t) => {
  const all = ['transactions', 'mainnet-block'].flatMap(recordedTransactions);
  const enhanced = new Map(all.map(({ name, transaction }) => [name, enhancedOf(transaction)]));
  const bySignature = new Map(all.map(({ name, transaction }) => [transaction.signatures[0], enhanced.get(name)]));

  t.test('the enhanced view throws for no recorded transaction', async (t) => {
    t.equal(enhanced.size, all.length);
    t.ok(all.length > 2000);
  });

  t.test('an explanation has at most two sentences and 280 characters, more for losses, and no guess', async (t) => {
    const unsound: string[] = [];
    for (const [name, view] of enhanced) {
      const text = explainTransaction(view);
      const isShort = text.length <= MAX_EXPLANATION_LENGTH || !/ also got | with the memo /.test(text);
      const isSound = isShort && /\.$/.test(text) && !/undefined|null|NaN| {2}|…\.…/.test(text);
      if (!isSound || text !== explainTransaction(view)) unsound.push(`${name}: ${text}`);
    }
    t.strictSame(unsound, []);
  });

  t.test('an enhanced view is explained alike before and after JSON', async (t) => {
    const changed = [...enhanced].filter(([, view]) => {
      const received = parseExactJson(toJson(view)) as EnhancedTransaction; // what toJson wrote, read back
      return explainTransaction(received) !== explainTransaction(view);
    });
    const changedNames = changed.map(([name]) => name);
    t.strictSame(changedNames, []);
  });

  t.test('a record with missing parts still has an enhanced view', async (t) => {
    const optional = [
      'logs',
      'preTokenBalances',
      'postTokenBalances',
      'computeUnitsConsumed',
      'fee',
      'blockTime',
    ] as const;
    const some = all.filter((_, i) => i % 40 === 0);
    const texts = some
      .flatMap(({ transaction }) => [
        ...optional.map((part) => ({ ...transaction, [part]: null })),
        { ...transaction, preBalances: [], postBalances: [] },
      ])
      .map((incomplete) => explainTransaction(enhanceTransaction(incomplete)));
    t.equal(texts.length, 7 * some.length);
    const unended = texts.filter((text) => !text.endsWith('.'));
    t.strictSame(unended, []);
  });

  t.test('only transactions that a person could not classify either are UNKNOWN', async (t) => {
    const classified = [...enhanced.values()].filter(({ status, type }) => status === 'success' && type !== 'UNKNOWN');
    const unclassified = [...enhanced.values()].filter(
      ({ status, type }) => status === 'success' && type === 'UNKNOWN',
    );
    const share = (unclassified.length / (classified.length + unclassified.length)) * 100;
    t.comment(
      `${unclassified.length} of ${classified.length + unclassified.length} successful transactions are UNKNOWN: ${share.toFixed(1)} %`,
    );
    expectListedDifferences(t, 'unknown-types.txt', [
      ...new Set(unclassified.map(({ source, description }) => `${source}\t${description.split('; ')[1] ?? ''}`)),
    ]);
  });

  t.test('types, sources and transfers equal those of Helius, except the listed differences', async (t) => {
    const differences: string[] = [];
    for (const { name, view, helius } of heliusOutputs()) {
      const compare = (what: string, ours: string, theirs: string): void => {
        if (ours !== theirs) differences.push(`${name}\t${what}: ${theirs} -> ${ours}`);
      };
      compare('type', view.type, String(helius['type']));
      compare('source', view.source, String(helius['source']));
      const native = (transfers: unknown): string =>
        listed(transfers, (row) => `${row['fromUserAccount']}>${row['toUserAccount']} ${row['amount']}`);
      const token = (transfers: unknown): string =>
        listed(
          transfers,
          (row) =>
            `${row['fromTokenAccount'] ?? ''}>${row['toTokenAccount'] ?? ''} ${Number(row['uiAmount'] ?? row['tokenAmount'])} ${row['mint']}`,
        );
      const changes = (data: unknown): string =>
        listed(data, (row) => `${row['account']} ${row['nativeBalanceChange']}`);
      compare(
        'native transfers',
        only(native(view.nativeTransfers), native(helius['nativeTransfers'])),
        only(native(helius['nativeTransfers']), native(view.nativeTransfers)),
      );
      compare(
        'token transfers',
        only(token(view.tokenTransfers), token(helius['tokenTransfers'])),
        only(token(helius['tokenTransfers']), token(view.tokenTransfers)),
      );
      compare('native balance changes', changes(view.accountData), changes(helius['accountData']));
    }
    expectListedDifferences(t, 'helius-differences.txt', differences);
  });

  t.test('swaps equal those that other parsers find, except the listed differences', async (t) => {
    const differences: string[] = [];
    let compared = 0;
    for (const { name, signature, text } of expectedSwaps()) {
      const view = bySignature.get(signature);
      if (view === undefined) continue;
      compared += 1;
      const ours = swapText(view);
      if (ours !== text) differences.push(`${name}\t${text} -> ${ours}`);
    }
    t.comment(`${compared - differences.length} of ${compared} swaps are equal`);
    expectListedDifferences(t, 'swap-differences.txt', differences);
  });

  type Row = Readonly<Record<string, unknown>>;

  /** Returns Helius' outputs, each with our view of the same transaction. */
  function heliusOutputs(): { readonly name: string; readonly view: EnhancedTransaction; readonly helius: Row }[] {
    return readRecordings('helius').flatMap((line) => {
      const { name, result } = parseExactJson(line) as { name: string; result: Row[] | Row }; // as it was packed
      const helius = Array.isArray(result) ? result[0] : (result as Row);
      const view = bySignature.get(String(helius?.['signature']));
      return helius === undefined || view === undefined ? [] : [{ name, view, helius }];
    });
  }

  const listed = (rows: unknown, text: (row: Row) => string): string =>
    (Array.isArray(rows) ? rows : []).map(text).sort().join(', ');

  /** Returns the items of the first list that the second lacks. */
  function only(list: string, other: string): string {
    const rest = other.split(', ');
    return list
      .split(', ')
      .filter((one) => {
        const at = rest.indexOf(one);
        if (at >= 0) rest.splice(at, 1);
        return at < 0;
      })
      .join(', ');
  }

  function swapText({ events: { swap } }: EnhancedTransaction): string {
    if (swap === undefined) return 'none';
    const { nativeInput, nativeOutput, tokenInputs, tokenOutputs } = swap;
    const tokens = (side: typeof tokenInputs): string[] =>
      side.map(
        ({ rawTokenAmount: { tokenAmount, decimals }, mint }) =>
          `${formatUnits(BigInt(tokenAmount), decimals)} ${mint}`,
      );
    const sol = (side: typeof nativeInput): string[] =>
      side === null ? [] : [`${formatUnits(BigInt(side.amount), 9)} ${WRAPPED_SOL}`];
    const wallet = nativeInput?.account ?? tokenInputs[0]?.userAccount;
    return `${wallet}: ${[...sol(nativeInput), ...tokens(tokenInputs)].join(' + ')} > ${[...sol(nativeOutput), ...tokens(tokenOutputs)].join(' + ')}`;
  }
});

t.test('explain-transaction', async (t) => {
  const transactions = new Map(
    recordedTransactions('transactions').map(({ name, transaction }) => [name, transaction]),
  );
  const explainRecorded = (name: string, changes: Partial<Transaction> = {}): string => {
    const transaction = transactions.get(name);
    if (transaction === undefined) throw new Error(`no recording ${name}`);
    return explainTransaction(enhanceTransaction({ ...transaction, ...changes }));
  };

  t.test('recorded transactions are explained in plain sentences', async (t) => {
    for (const [name = '', sentence] of readTable('unit/transactions/explained.txt'))
      t.equal(explainRecorded(name), sentence, name);
  });

  t.test('logs sent along decode a failure that the record alone does not', async (t) => {
    const logs = [
      'Program 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d invoke [1]',
      'Program log: Error: the market is closed.',
      'Program 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d failed: custom program error: 0x1',
    ];
    t.match(
      explainRecorded('tx/2M5hpf4CNdfV_json', { logs }),
      /failed: the program says: “the market is closed” \(error 1\)\. .* the fee of 0\.000055 SOL \(priority fee 0\.00005 SOL\) was paid\.$/,
    );
    t.match(
      explainRecorded('tx/2M5hpf4CNdfV_json', { logs: null }),
      /failed: the program, or one that it called, gave its own error number 1\. /,
    );
  });

  t.test('an explanation has at most 280 characters, whatever a program or memo wrote', async (t) => {
    const memo = { ...transactions.get('tx/5aVj7exPmdLL_jsonParsed') } as Transaction; // recorded, explained above
    const instructions = memo.instructions.map((call) => ({
      ...call,
      parsed: { type: 'memo', info: { memo: '“x” '.repeat(500) } },
    }));
    t.ok(explainRecorded('tx/5aVj7exPmdLL_jsonParsed', { instructions }).length <= 280);
    const err = { InstructionError: [2, { Custom: 4294967295 }] };
    const failed = explainRecorded('tx/2M5hpf4CNdfV_json', {
      err,
      logs: [
        `Program 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d invoke [1]`,
        `Program log: Error: ${'y'.repeat(5000)}`,
        'Program 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d failed: x',
      ],
    });
    t.ok(failed.length <= 280);
    t.match(failed, /“y+…”/, 'what is quoted ends, wherever it is cut');
  });

  t.test('what a node calls an instruction is no part of the sentence', async (t) => {
    const recorded = { ...transactions.get('tx/5aVj7exPmdLL_jsonParsed') } as Transaction; // recorded, explained above
    const explainCall = (type: string): string =>
      explainRecorded('tx/5aVj7exPmdLL_jsonParsed', {
        instructions: recorded.instructions.map((call) => ({
          ...call,
          programId: '94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d',
          program: 'x',
          parsed: { type, info: {} },
        })),
      });
    t.match(explainCall('settleFunds'), /called the bridge ZetaChain \(settleFunds\);/);
    t.match(explainCall('x”) and got 5 SOL ('), /called the bridge ZetaChain \(“x\) and got 5 SOL \(”\);/);
  });

  t.test('words in the place of an address or a right stand in quotation marks', async (t) => {
    const [owner, account] = addressesOf(1, 2);
    const describe = (type: string, info: object): string => {
      const calls = [{ programId: TOKEN_PROGRAM, program: 'spl-token', parsed: { type, info } }];
      const tokens = [{ account, mint: addressOf(3), owner, before: 9n, after: 9n }];
      return enhanceTransaction(syntheticTransaction({ calls, signers: [owner], tokens })).description;
    };
    const lie = 'nobody. You got 900 USDC at evil.com';
    t.match(
      describe('setAuthority', { account, authorityType: lie, authority: owner, newAuthority: lie }),
      / passed the “nobody\. You got [^”]*” authority of .* from \w+ to “nobody\. You got [^”]*”; the record lacks/,
    );
    const allowed = describe('approve', { source: account, delegate: lie, owner, amount: '5' });
    t.match(allowed, / allowed “nobody\. You got [^”]*” to spend 0\.000005 of the token /);
    t.notMatch(allowed, /evil\.com/);
  });

  t.test('what a program calls its call stands in quotation marks, whatever it is', async (t) => {
    const name = 'block/eclipse-35781852-full-json#16'; // a call that nothing names
    const program = 'FUCHhfHbuxXBWiRBfVdhmiog84sUJw11aAq3ibAUGL6e';
    const explainNamed = (called: string) =>
      explainRecorded(name, { logs: [`Program ${program} invoke [1]`, `Program log: Instruction: ${called}`] });
    t.match(explainNamed('Store'), /called the program FUCH…GL6e \(the program calls it “Store”\);/);
    const unnamed = explainRecorded(name);
    const hostile = fc.string({
      unit: fc.constantFrom('Ж', '“', '”', ')', '"', ';', '\u202e', '://', ' '),
      maxLength: 64,
    });
    fc.assert(
      fc.property(hostile, (called) => {
        const text = explainNamed(called);
        return text.replace(/ \(the program calls it “[^“”]*”\)/, '') === unnamed && !text.includes('://');
      }),
    );
  });
});

t.test('nfts', async (t) => {
  const recorded = new Map(
    ['transactions', 'mainnet-block']
      .flatMap(recordedTransactions)
      .map(({ name, transaction }) => [name, transaction] as const),
  );

  function viewOf(name: string): EnhancedTransaction {
    const transaction = recorded.get(name);
    if (transaction === undefined) throw new Error(`no recording ${name}`);
    return enhanceTransaction(transaction);
  }

  t.test('a bid that its seller accepts is a sale with the whole price, split by receiver', async (t) => {
    const view = viewOf('tx/3Mhp6cAfmzmz_json');
    t.equal(view.type, 'NFT_SALE');
    t.strictSame(view.events, {
      nft: {
        nfts: [{ mint: 'FkfMaBkeqt3GAQLoKJrMbQKWpynL51o3JgEbK1jHJ6Qg', tokenStandard: null }],
        seller: 'GhZFamsmV19g8JzPXjNW9sTjjY3oDw9U4EkMdUvMLH4L',
        buyer: 'C4Pxqsppptwq766W3nmfuWxvENQ9xmVwVkdYHqzUGKo9',
        amount: '2150000000',
        currencyMint: null,
        marketplace: 'MAGIC_EDEN',
        royalties: [
          { account: 'DaoSrx3wBdRM8oATwYwfD8BTkHwBibVVv2SLR8LMDnLP', amount: '53750000' },
          { account: '7NsngNMtXJNdHgeK4znQDZ5xVzT2nkGoGRGhMWApejCV', amount: '53750000' },
        ],
      },
    });
    t.equal(
      explainTransaction(view),
      'GhZF…LH4L sold the NFT FkfM…J6Qg to C4Px…GKo9 for 2.15 SOL on Magic Eden, of which the seller got 1.9995 SOL, creators 0.1075 SOL and the marketplace 0.043 SOL, and also paid 0.00203928 SOL of rent for C4Px…GKo9; 2 gains are left out. The fee was 0.000005 SOL.',
    );
  });

  t.test('sales, and the ids and owners of compressed NFTs, equal those of Helius', async (t) => {
    interface HeliusEvents {
      readonly nft?: {
        readonly amount: number;
        readonly buyer: string;
        readonly seller: string;
        readonly nfts: readonly { readonly mint: string }[];
      };
      readonly compressed?: readonly { readonly assetId: string; readonly newLeafOwner: string }[];
    }
    const [ours, theirs]: unknown[][] = [[], []];
    for (const line of readRecordings('helius')) {
      const { name, result } = parseExactJson(line) as { name: string; result: unknown }; // as it was packed
      if (!/NFT/.test(name)) continue;
      const [{ events }] = (Array.isArray(result) ? result : [result]) as [{ events: HeliusEvents }];
      const view = viewOf(`tx-rebuilt/${name.split('/').at(-1)}`);
      const { nfts = [], seller, buyer, amount } = view.events.nft ?? {};
      const mints = nfts.map(({ mint }) => mint);
      if (events.nft === undefined) {
        ours?.push([name, mints, buyer]);
        theirs?.push([name, events.compressed?.map(({ assetId }) => assetId), events.compressed?.[0]?.newLeafOwner]);
      } else {
        ours?.push([name, mints, buyer, seller, amount]);
        const { nft } = events;
        theirs?.push([name, nft.nfts.map(({ mint }) => mint), nft.buyer, nft.seller, `${nft.amount}`]);
      }
    }
    t.equal(ours?.length, 13);
    t.strictSame(ours, theirs);
  });

  t.test('a listing is one though nothing moves, with the price that it names', async (t) => {
    const view = viewOf('block/mainnet-361774429-full-base64#1247');
    t.equal(view.type, 'NFT_LISTING');
    t.match(view.events.nft, { amount: '1011227746', currencyMint: null, marketplace: 'MAGIC_EDEN', buyer: null });
  });

  t.test('NFTs that stand for positions are neither minted nor burned as NFTs', async (t) => {
    const names = ['2D9xoA7oaXvS', '5P8xF7oLokSY', '5HzJs4E3KobY'];
    t.strictSame(
      names.map((name) => viewOf(`tx/${name}_json`)).filter(({ type, events }) => /NFT/.test(type) || events.nft),
      [],
    );
  });

  const [buyer, seller, mint, vault, fees, creator, escrow, held] = addressesOf(1, 2, 3, 4, 5, 6, 7, 8);
  const got = addressOf(9);
  const M2 = 'M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K';
  const MMM = 'mmm3XBJg5gk8XJxEKBvdgptZz6SgK4tXvn36sodowMc';
  const TENSOR_SWAP = 'TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN';
  const TENSOR = 'TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp';
  const BUBBLEGUM = 'BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY';
  const CORE = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d';

  const discriminator = (name: string): number[] =>
    [...createHash('sha256').update(`global:${name}`).digest()].slice(0, 8);

  /** Returns accounts without meaning, with those that matter at their positions. */
  const placed = (positions: Readonly<Record<number, string>>, length = 30): string[] =>
    Array.from({ length }, (_, index) => positions[index] ?? addressOf(100 + index));

  const anchorCall = (
    programId: string,
    name: string,
    positions: Readonly<Record<number, string>>,
    data: readonly number[] = [],
    length?: number,
  ): SyntheticCall => ({ programId, accounts: placed(positions, length), data: [...discriminator(name), ...data] });

  const pay = (source: string, destination: string, lamports: bigint): SyntheticCall => ({
    programId: SYSTEM_PROGRAM,
    program: 'system',
    parsed: { type: 'transfer', info: { source, destination, lamports: Number(lamports) } },
  });
  const tokenCall = (type: string, info: object): SyntheticCall => ({
    programId: TOKEN_PROGRAM,
    program: 'spl-token',
    parsed: { type, info },
  });
  const move = (source: string, destination: string, amount = '1'): SyntheticCall =>
    tokenCall('transfer', { source, destination, amount, authority: seller });

  const nftBalance = (
    account: string,
    owner: string,
    before: bigint | null,
    after: bigint | null,
    of = mint,
  ): SyntheticBalance => ({
    account,
    mint: of,
    owner,
    before,
    after,
    decimals: 0,
  });
  const changesHands = [nftBalance(held, seller, 1n, 0n), nftBalance(got, buyer, 0n, 1n)];

  /** Enhances a transaction whose first signer pays the fee and nothing else, if no lamports are given. */
  const enhance = (transaction: SyntheticTransaction): EnhancedTransaction =>
    enhanceTransaction(syntheticTransaction({ lamports: { before: [9_000n], after: [4_000n] }, ...transaction }));

  t.test('a programmable NFT that a pool buys is a sale by its signer, paid from the escrow of the pool', async (t) => {
    const fulfil = anchorCall(MMM, 'sol_mip1_fulfill_buy', {
      0: seller,
      1: buyer,
      3: fees,
      4: addressOf(50),
      5: escrow,
      7: mint,
    });
    const transfer = {
      programId: METADATA_PROGRAM,
      accounts: placed({ 1: seller, 3: buyer, 4: mint, 7: addressOf(51) }),
      data: [0x31],
    };
    const { type, events, description } = enhance({
      calls: [fulfil],
      inner: [transfer, move(held, got), pay(escrow, seller, 900n), pay(escrow, creator, 70n), pay(escrow, fees, 30n)],
      signers: [seller],
      tokens: changesHands,
    });
    t.equal(type, 'NFT_SALE');
    t.match(events.nft, {
      nfts: [{ mint, tokenStandard: 'ProgrammableNonFungible' }],
      seller,
      buyer,
      amount: '1000',
      royalties: [{ account: creator, amount: '70' }],
    });
    t.match(description, `${seller} sold the NFT ${mint} to ${buyer} for 0.000001 SOL`);
  });

  t.test('a sale that a program pays by changing lamports is read off the balances, or has no price', async (t) => {
    const sell = anchorCall(TENSOR_SWAP, 'sell_nft_token_pool', {
      1: fees,
      6: mint,
      8: escrow,
      9: buyer,
      10: seller,
    });
    const eventsOf = (loser: bigint): EnhancedTransaction['events'] =>
      enhance({
        calls: [sell],
        inner: [move(held, got)],
        signers: [seller],
        accounts: [seller, escrow, fees, creator, vault],
        lamports: {
          before: [10_000n, 5_000n, 0n, 0n, 400n],
          after: [10_000n - 5_000n + 930n + loser, 4_000n, 20n, 50n, 400n - loser],
        },
        tokens: changesHands,
      }).events;
    t.match(eventsOf(0n).nft, { seller, buyer, amount: '1000', royalties: [{ account: creator, amount: '50' }] });
    t.match(eventsOf(300n).nft, { seller, buyer, amount: null, royalties: null }); // which part is rent isn't known
  });

  t.test('a sale in another currency has its mint, and several in one transaction have one sum', async (t) => {
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    const other = addressOf(60);
    const tokenAccounts = addressesOf(40, 41);
    const buy = (of: string): SyntheticCall =>
      anchorCall(TENSOR, 'buy_legacy_spl', { 0: fees, 2: buyer, 6: of, 8: seller });
    const view = enhance({
      calls: [buy(mint), buy(other)],
      inner: [
        move(held, got),
        tokenCall('transfer', {
          source: tokenAccounts[0],
          destination: tokenAccounts[1],
          amount: '2500000',
          authority: buyer,
        }),
      ],
      signers: [buyer],
      tokens: [
        ...changesHands,
        { account: tokenAccounts[0], mint: usdc, owner: buyer, before: 5_000_000n, after: 2_500_000n },
        { account: tokenAccounts[1], mint: usdc, owner: seller, before: 0n, after: 2_500_000n },
      ],
    });
    t.match(view.events.nft, { seller, buyer, amount: '2500000', currencyMint: usdc, royalties: [] });
    const mints = view.events.nft?.nfts.map((nft) => nft.mint);
    t.strictSame(mints, [mint, other]);
  });

  t.test('a listing that moves the NFT to an escrow is a listing, and bids name what they offer', async (t) => {
    const price = u64Bytes(1_500_000_000n);
    const listing = enhance({
      calls: [anchorCall(TENSOR_SWAP, 'list', { 2: mint, 5: seller }, [...price, 0, 0])],
      inner: [move(held, escrow)],
      signers: [seller],
      tokens: [nftBalance(held, seller, 1n, 0n), nftBalance(escrow, vault, 0n, 1n)],
    });
    t.match([listing.type, listing.events.nft?.amount], ['NFT_LISTING', '1500000000']);
    t.match(listing.description, `${seller} listed the NFT ${mint} for 1.5 SOL on Tensor`);
    const target = [...Array<number>(8 + 32 + 1 + 32 - 8).fill(7)];
    const bids = [
      anchorCall(TENSOR, 'bid', { 3: buyer }, [...target, 0, 0, ...price, 1, 0, 0, 0, 0, 0, 0, 0]),
      anchorCall(TENSOR, 'bid', { 3: buyer }, [
        ...target,
        1,
        0,
        1,
        ...Array<number>(32).fill(1),
        ...price,
        1,
        0,
        0,
        0,
        0,
        0,
      ]),
      anchorCall(M2, 'buy_v2', { 0: buyer, 2: mint }, [...price, 0]),
    ].map((call) => enhance({ calls: [call], signers: [buyer] }));
    const shown = bids.map(({ type, events }) => [type, events.nft?.buyer, events.nft?.seller, events.nft?.amount]);
    t.strictSame(
      shown,
      bids.map(() => ['NFT_BID', buyer, null, '1500000000']),
    );
    // a programmable NFT may be listed in another currency, which accounts behind the named ones show
    const unclear = enhance({
      calls: [anchorCall(M2, 'mip1_sell', { 0: seller, 4: mint }, [...price, 0], 23)],
      signers: [seller],
    });
    t.match([unclear.type, unclear.events.nft?.amount], ['NFT_LISTING', null]);
    const cancelled = enhance({ calls: [anchorCall(TENSOR, 'cancel_bid', { 1: buyer })], signers: [buyer] });
    t.match(cancelled, { type: 'NFT_BID_CANCELLED', description: `${buyer} took back a bid for an NFT on Tensor` });
  });

  t.test('marketplaces of the first years sell, list and bid as those of today do', async (t) => {
    const [AUCTION_HOUSE, MAGIC_EDEN_1, SOLANART, ALPHA_ART] = [
      'hausS13jsjafwWwGqZTUQRmWyvyxn9EQpqMwV1PBBmk',
      'MEisE1HzehtrDpAAT8PnLHjpSSkRYakotTuJRPjTpo8',
      'CJsLwbP1iu5DuUikHEJnLfANgKy6stB2uFgvBBHoyxwz',
      'HZaWndaNWHFDd9Dhk5pqUUtsmoBCqzb1MLu3NAh1VX6B',
    ];
    const price = u64Bytes(1_500_000_000n);
    const raw = (programId: string, positions: Readonly<Record<number, string>>, data: readonly number[]) => ({
      programId,
      accounts: placed(positions),
      data,
    });
    const offer = (call: SyntheticCall, signer: string): unknown[] => {
      const { type, events, source } = enhance({ calls: [call], signers: [signer] });
      return [type, events.nft?.amount, source];
    };
    t.strictSame(
      [
        offer(anchorCall(AUCTION_HOUSE, 'sell', { 0: seller }, [255, 254, 255, ...price, 1]), seller),
        offer(anchorCall(MAGIC_EDEN_1, 'initialize_escrow2', { 0: seller }, [...price, 255]), seller),
        offer(raw(SOLANART, { 0: seller, 4: mint }, [4, ...price]), seller),
        offer(anchorCall(AUCTION_HOUSE, 'public_buy', { 0: buyer, 3: WRAPPED_SOL }, [254, 255, ...price, 1]), buyer),
        offer(raw(SOLANART, { 0: buyer }, [0, ...price]), buyer),
      ],
      [
        ['NFT_LISTING', '1500000000', 'METAPLEX'],
        ['NFT_LISTING', '1500000000', 'MAGIC_EDEN'],
        ['NFT_LISTING', '1500000000', 'SOLANART'],
        ['NFT_BID', '1500000000', 'METAPLEX'],
        ['NFT_BID', '1500000000', 'SOLANART'],
      ],
    );
    const sale = (call: SyntheticCall): EnhancedTransaction =>
      enhance({
        calls: [call],
        inner: [pay(buyer, seller, 970n), pay(buyer, fees, 30n), move(held, got)],
        signers: [buyer],
        accounts: [buyer, seller, fees],
        lamports: { before: [9_000n, 0n, 0n], after: [3_000n, 970n, 30n] },
        tokens: changesHands,
      });
    t.match(sale(anchorCall(AUCTION_HOUSE, 'execute_sale', { 0: buyer, 1: seller, 3: mint, 12: fees })), {
      type: 'NFT_SALE',
      events: { nft: { buyer, seller, amount: '1000', royalties: [] } },
    });
    t.match(sale(anchorCall(MAGIC_EDEN_1, 'exchange2', { 0: buyer, 2: seller }, [...price])), {
      type: 'NFT_SALE',
      events: { nft: { nfts: [{ mint }], buyer, seller, amount: '1000' } },
    });
    t.equal(
      sale(raw(ALPHA_ART, { 0: buyer }, [2, 0])).description,
      `${buyer} bought the NFT ${mint} for 0.000001 SOL on Alpha Art`,
    );
  });

  t.test('assets of Core and compressed ones are interpreted though no token account changes', async (t) => {
    const sent = enhance({
      calls: [{ programId: CORE, accounts: [mint, CORE, seller, CORE, buyer], data: [0x0e, 0] }],
      signers: [seller],
    });
    t.match(sent, { type: 'NFT_TRANSFER', description: `${seller} sent the NFT ${mint} to ${buyer}` });
    t.strictSame(sent.events.nft?.nfts, [{ mint, tokenStandard: 'MplCoreAsset' }]);
    // tree, number and id of a leaf as Helius names them
    const tree = 'JBpDsEfjn6tqBfk65EVYsWaf2N2Ys6T4UumdcqdaX55j';
    const leaf = [...Array<number>(96).fill(0), ...u64Bytes(192_969n), 0, 0, 0, 0];
    const id = 'Amg9p8SdgyyPKEsjfXx3geBDBduG7Z6TtaXAEd4aAQ5X';
    const transfer = enhance({
      calls: [anchorCall(BUBBLEGUM, 'transfer', { 1: seller, 3: buyer, 4: tree }, leaf, 8)],
      signers: [seller],
    });
    t.match(transfer, { type: 'COMPRESSED_NFT_TRANSFER', events: { nft: { nfts: [{ mint: id }], seller, buyer } } });
    const flags = [
      ...Array<number>(96).fill(0),
      1,
      ...Array<number>(32).fill(0),
      1,
      5,
      ...u64Bytes(192_969n),
      0,
      0,
      0,
      0,
    ];
    const burn = enhance({
      calls: [anchorCall(BUBBLEGUM, 'burn_v2', { 3: seller, 5: tree }, flags, 12)],
      signers: [seller],
    });
    t.match(burn, {
      type: 'COMPRESSED_NFT_BURN',
      description: `${seller} burned the compressed NFT ${id} with Bubblegum`,
    });
    const many = Array.from({ length: 1000 }, () => anchorCall(BUBBLEGUM, 'burn', { 1: seller, 3: tree }, leaf, 7));
    const started = process.cpuUsage();
    enhance({ calls: many, signers: [seller] });
    t.ok(process.cpuUsage(started).user < 500_000, 'no more ids are derived than a transaction can have');
  });

  t.test('a burn names the whole rent that it gave back', async (t) => {
    const burn = {
      programId: METADATA_PROGRAM,
      accounts: placed({ 0: seller, 4: mint, 10: METADATA_PROGRAM }),
      data: [0x29],
    };
    const view = enhance({
      calls: [burn],
      inner: [
        tokenCall('burn', { account: held, mint, amount: '1', authority: seller }),
        tokenCall('closeAccount', { account: held, destination: seller, owner: seller }),
      ],
      signers: [seller],
      accounts: [seller, held, vault],
      lamports: { before: [1_000_000n, 2_039_280n, 5_616_720n], after: [1_000_000n - 5_000n + 7_656_000n, 0n, 0n] },
      tokens: [nftBalance(held, seller, 1n, null)],
    });
    t.match(view, { type: 'BURN_NFT', events: { nft: { nfts: [{ mint, tokenStandard: null }], seller } } });
    t.equal(view.description, `${seller} burned the NFT ${mint} and got back 0.007656 SOL of rent with Token Metadata`);
  });

  t.test('a sale by an instruction in no table is read off the balances, with what its side paid', async (t) => {
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    const [paying, paid] = addressesOf(40, 41);
    const sale = (signer: string): EnhancedTransaction =>
      enhance({
        calls: [{ programId: M2, accounts: [seller, buyer], data: [9, 9, 9] }],
        inner: [
          move(held, got),
          tokenCall('transfer', { source: paying, destination: paid, amount: '7000000', authority: buyer }),
        ],
        signers: [signer],
        tokens: [
          ...changesHands,
          { account: paying, mint: usdc, owner: buyer, before: 7_000_000n, after: 0n },
          { account: paid, mint: usdc, owner: seller, before: 0n, after: 7_000_000n },
        ],
      });
    const [bought, sold] = [sale(buyer), sale(seller)];
    t.match(bought.events.nft, { seller: null, buyer, amount: '7000000', currencyMint: usdc, royalties: null });
    t.equal(sold.description, `${seller} sold the NFT ${mint} on Magic Eden and received 7 USDC`);
  });

  t.test('an NFT that is left for a loan is not sold', async (t) => {
    const borrow = {
      programId: 'SHARKobtfF1bHhxD2eqftjHBdVSCbKo9JtgK71FhELP',
      accounts: [seller, vault],
      data: [1, 2, 3],
    };
    const { type, events } = enhance({
      calls: [borrow],
      inner: [move(held, escrow), pay(vault, seller, 5_000_000_000n)],
      signers: [seller],
      accounts: [seller, vault],
      lamports: { before: [9_000n, 6_000_000_000n], after: [5_000_004_000n, 1_000_000_000n] },
      tokens: [nftBalance(held, seller, 1n, 0n), nftBalance(escrow, vault, 0n, 1n)],
    });
    t.not(type, 'NFT_SALE');
    t.equal(events.nft?.amount ?? null, null);
  });

  t.test('the receiver of each of several NFTs is named', async (t) => {
    const other = addressOf(61);
    const [from, to, third] = [addressOf(62), addressOf(63), addressOf(64)];
    const view = enhance({
      calls: [move(held, got), move(from, to)],
      signers: [seller],
      tokens: [...changesHands, nftBalance(from, seller, 1n, 0n, other), nftBalance(to, third, 0n, 1n, other)],
    });
    t.equal(view.description, `${seller} sent the NFT ${mint} to ${buyer} and the NFT ${other} to ${third}`);
  });

  t.test('a failed attempt says what was tried', async (t) => {
    const view = enhance({
      calls: [anchorCall(M2, 'execute_sale_v2', { 0: buyer, 1: seller, 4: mint })],
      signers: [buyer],
      err: { InstructionError: [0, { Custom: 1 }] },
    });
    t.match(view, { type: 'NFT_SALE', events: {} });
    t.match(explainTransaction(view), /tried to trade an NFT, but/);
  });
});

t.test('decode-failure', async (t) => {
  const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
  const RAYDIUM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';
  const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
  const BUDGET = 'ComputeBudget111111111111111111111111111111';
  const UNKNOWN = 'King7ki4SKMBPb3iupnQwTyjsq294jaXsgLmJo8cb7T';

  const ADDRESS = addressOfNumber(1);
  const KEY: AccountKey = { address: ADDRESS, signer: false, writable: true, source: 'transaction' };

  const callOf = (programId: string, info: ParsedInfo = {}): Instruction => ({
    programId,
    program: null,
    accounts: [ADDRESS],
    data: null,
    parsed: { type: 'x', info },
    index: 0,
    innerIndex: null,
    stackHeight: 1,
    inner: [],
  });

  /** Fails a call of each program with one account; `facts` are of the record. */
  const fails = (
    err: unknown,
    programs: readonly string[],
    logs: readonly string[] | null = null,
    hasInnerCalls = false,
    { info = {}, ...facts }: Partial<FailedTransaction> & { readonly info?: ParsedInfo } = {},
  ) => {
    return decodeFailure({
      err: err as FailedTransaction['err'], // any JSON, as a node may send it
      logs,
      slot: 1,
      instructions: programs.map((programId, index) => ({
        ...callOf(programId, info),
        index,
        inner: hasInnerCalls ? [{ ...callOf(addressOfNumber(2)), index, innerIndex: 0, stackHeight: 2 }] : [],
      })),
      accounts: [KEY],
      preBalances: [1n],
      postBalances: [1n],
      preTokenBalances: [],
      ...facts,
    });
  };

  t.test('each error of a program has its number, a name and a reason, and no number twice', async (t) => {
    const codes = new Set<string>();
    const file = new URL('../../../src/transactions/errors/data/errors.tsv', import.meta.url);
    for (const { head, rows } of readTables(file, 'program')) {
      t.match(head.join('\t'), /^\w+( \w+)*(\tuntil \d+)?$/);
      for (const [code = '', name = '', message = '', about = '', ...rest] of rows) {
        if (/^(transaction|instruction)$/.test(head.join())) t.equal(code, name);
        else t.match(code, /^\d+$/);
        t.ok(/^(\w+|-)$/.test(name) && /^[a-z].*[^.]$/.test(message) && /^(\d+=the \w+)?$/.test(about), name);
        t.strictSame(rest, []);
        for (const program of (head[0] ?? '').split(' ')) {
          t.notOk(codes.has(`${program} ${code}`), `${program} ${code}`);
          codes.add(`${program} ${code}`);
        }
      }
    }
    t.ok(codes.size > 400);
  });

  t.test('an error number is looked up in the table of its program', async (t) => {
    t.strictSame(fails({ InstructionError: [1, { Custom: 6001 }] }, [BUDGET, JUPITER]), {
      instructionIndex: 1,
      programId: JUPITER,
      code: 6001,
      name: 'SlippageToleranceExceeded',
      message: 'the price moved further than the trader allowed',
    });
    t.equal(fails({ InstructionError: [0, { Custom: 1 }] }, [TOKEN]).name, 'InsufficientFunds');
    t.equal(fails({ InstructionError: [0, { Custom: 30 }] }, [RAYDIUM]).name, 'ExceededSlippage');
    const serum = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
    t.equal(fails({ InstructionError: [0, { Custom: 42 }] }, [serum]).name, 'TooManyOpenOrders');
  });

  t.test('the failed program is the innermost one in the logs', async (t) => {
    const logs = [
      `Program ${JUPITER} invoke [1]`,
      `Program ${RAYDIUM} invoke [2]`,
      `Program ${TOKEN} invoke [3]`,
      'Program log: Instruction: Transfer',
      'Program log: Error: insufficient funds',
      `Program ${TOKEN} consumed 4000 of 90000 compute units`,
      `Program ${TOKEN} failed: custom program error: 0x1`,
      `Program ${RAYDIUM} failed: custom program error: 0x1`,
      `Program ${JUPITER} failed: custom program error: 0x1`,
    ];
    const failure = fails({ InstructionError: [0, { Custom: 1 }] }, [JUPITER], logs, true);
    t.match(failure, { instructionIndex: 0, programId: TOKEN, code: 1, name: 'InsufficientFunds' });
  });

  t.test('without logs, an instruction that called others has a number without a name', async (t) => {
    const failure = fails({ InstructionError: [0, { Custom: 1 }] }, [RAYDIUM], null, true);
    t.match(failure, {
      programId: RAYDIUM,
      code: 1,
      name: null,
      message: 'the program, or one that it called, gave its own error number 1',
    });
  });

  t.test('an unpublished error number stays a number', async (t) => {
    const failure = fails({ InstructionError: [0, { Custom: 57005 }] }, [UNKNOWN]);
    t.match(failure, { code: 57005, name: null, message: 'the program gave its own error number 57005' });
  });

  t.test('Anchor’s log message names the error of any program', async (t) => {
    const thrown =
      'Program log: AnchorError thrown in programs/x/src/lib.rs:109. Error Code: NonceMismatch. Error Number: 6002. Error Message: Nonce mismatch.';
    const logs = [`Program ${UNKNOWN} invoke [1]`, thrown, `Program ${UNKNOWN} failed: custom program error: 0x1772`];
    const failure = fails({ InstructionError: [0, { Custom: 6002 }] }, [UNKNOWN], logs);
    t.match(failure, { code: 6002, name: 'NonceMismatch', message: 'the program says: “Nonce mismatch”' });
  });

  t.test('a name that no Anchor program has is passed over; of a long text only the beginning is read', async (t) => {
    const explain = (name: string, message: string) => {
      const thrown = `Program log: AnchorError x. Error Code: ${name}. Error Number: 6002. Error Message: ${message}.`;
      const logs = [`Program ${UNKNOWN} invoke [1]`, thrown, `Program ${UNKNOWN} failed: custom program error: 0x1772`];
      return fails({ InstructionError: [0, { Custom: 6002 }] }, [UNKNOWN], logs);
    };
    t.equal(explain('N'.repeat(64), 'too late').message, 'the program says: “too late”');
    t.equal(explain('slippage'.repeat(9), 'too late').name, null);
    t.equal(
      explain('Late', `${'late '.repeat(300)}slippage exceeded`).message,
      `the program says: “${'late '.repeat(24).trim()}…”`,
    );
  });

  t.test('logs of a program that succeeded do not count as the reason', async (t) => {
    const logs = [
      `Program ${UNKNOWN} invoke [1]`,
      `Program ${TOKEN} invoke [2]`,
      'Program log: Error: only a warning',
      `Program ${TOKEN} success`,
      `Program ${UNKNOWN} failed: custom program error: 0x7`,
    ];
    const failure = fails({ InstructionError: [0, { Custom: 7 }] }, [UNKNOWN], logs, true);
    t.equal(
      failure.message,
      "the program gave its own error number 7 after it had called none but Solana's own programs",
    );
  });

  t.test('a program’s text is cut to one short printable line', async (t) => {
    const logs = [
      `Program ${UNKNOWN} invoke [1]`,
      `Program log: Error: a\nb\u0000${'c'.repeat(9000)}`,
      `Program ${UNKNOWN} failed: custom program error: 0x7`,
    ];
    const { message } = fails({ InstructionError: [0, { Custom: 7 }] }, [UNKNOWN], logs);
    t.match(message, /^the program says: “a b\ufffdc+…”$/);
    t.equal(message.length, 'the program says: “”'.length + 120);
  });

  t.test('a program’s text is quoted, so that it is no part of our sentence', async (t) => {
    const text = 'fine” and the sender got 500 SOL back. “';
    const logs = [
      `Program ${UNKNOWN} invoke [1]`,
      `Program log: Error: ${text}`,
      `Program ${UNKNOWN} failed: custom program error: 0x7`,
    ];
    const { message } = fails({ InstructionError: [0, { Custom: 7 }] }, [UNKNOWN], logs);
    t.equal(message, 'the program says: “fine and the sender got 500 SOL back.”');
  });

  t.test('running out of compute units is distinguished from a crash', async (t) => {
    const err = { InstructionError: [0, 'ProgramFailedToComplete'] };
    const crashed = [`Program ${UNKNOWN} invoke [1]`, `Program ${UNKNOWN} failed: SBF program panicked`];
    const spent = [`Program ${UNKNOWN} invoke [1]`, `Program ${UNKNOWN} failed: exceeded CUs meter at BPF instruction`];
    t.equal(fails(err, [UNKNOWN], crashed).message, 'the program crashed');
    t.equal(fails(err, [UNKNOWN], spent).message, 'it ran out of its computing limit');
    // as a recorded crash has them: 7ynjNWxA4yAQ
    const seeds = 'Could not create program address with signer seeds: Provided seeds do not result in a valid address';
    const named = [`Program ${UNKNOWN} invoke [1]`, `Program ${UNKNOWN} failed: ${seeds}`];
    t.equal(fails(err, [UNKNOWN], named).message, `the program crashed: “${seeds}”`);
  });

  t.test('errors of the whole transaction have no instruction', async (t) => {
    const err = { InsufficientFundsForRent: { account_index: 2 } };
    t.match(fails(err, [UNKNOWN]), { instructionIndex: null, programId: null, name: 'InsufficientFundsForRent' });
    t.match(fails('InvalidRentPayingAccount', [UNKNOWN]), { code: 'InvalidRentPayingAccount', message: /SOL/ });
  });

  t.test('an error in an unknown form is reported as unknown', async (t) => {
    for (const err of [
      null,
      7,
      [],
      {},
      { InstructionError: 'x' },
      { InstructionError: [] },
      { InstructionError: [9, null] },
    ])
      t.type(fails(err, [UNKNOWN]).message, 'string');
    t.equal(fails('ErrorOfNextYear', []).message, '“ErrorOfNextYear”');
    t.equal(fails('constructor', []).message, '“constructor”');
    t.equal(fails({ InstructionError: [0, 'x” was paid back'] }, [UNKNOWN]).message, '“x was paid back”');
  });

  const ATA = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
  const SYSTEM = '11111111111111111111111111111111';
  const CLMM = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK';
  const logOf = (program: string, ...lines: readonly string[]): readonly string[] => [
    `Program ${program} invoke [1]`,
    ...lines,
    `Program ${program} failed: custom program error: 0x0`,
  ];
  const customOf = (code: number) => ({ InstructionError: [0, { Custom: code }] });

  t.test('the name in the log goes before the number in a table, which holds for one version', async (t) => {
    const anchorError = (name: string, code: number, account = '') =>
      `Program log: AnchorError ${account}. Error Code: ${name}. Error Number: ${code}. Error Message: Its words.`;
    const named = fails(customOf(6013), [CLMM], logOf(CLMM, anchorError('LiquiditySubValueErr', 6013)));
    t.match(named, { name: 'LiquiditySubValueErr', message: 'the liquidity to remove is invalid' });
    const unknown = fails(customOf(6013), [CLMM], logOf(CLMM, anchorError('NewError', 6013)));
    t.match(unknown, { name: 'NewError', message: 'the program says: “Its words”' });
    const at = (slot: number | null) => fails(customOf(6013), [CLMM], null, false, { slot }).name;
    t.strictSame([at(361_774_429), at(413_000_001), at(null)], ['SqrtPriceLimitOverflow', null, null]);
    const framework = fails(
      customOf(3007),
      [UNKNOWN],
      logOf(UNKNOWN, anchorError('AccountOwnedByWrongProgram', 3007, 'caused by account: pool')),
    );
    t.equal(framework.message, 'its account “pool” belongs to another program than expected');
  });

  t.test('what the record refutes is not said', async (t) => {
    const missing = { preBalances: [0n], postBalances: [0n] };
    const pool = { accounts: [ADDRESS, addressOfNumber(3)].map((address) => ({ ...KEY, address })) };
    const calls = [{ ...callOf(RAYDIUM), accounts: pool.accounts.map(({ address }) => address) }];
    const noPool = { ...pool, preBalances: [1n, 0n], postBalances: [1n, 0n], instructions: calls };
    t.equal(fails(customOf(27), [RAYDIUM], null, false, noPool).message, 'the pool does not exist');
    const aPool = { ...noPool, preBalances: [1n, 1n], postBalances: [1n, 1n] };
    t.equal(fails(customOf(27), [RAYDIUM], null, false, aPool).message, 'the pool belongs to another program');

    const illegal = { InstructionError: [0, 'IllegalOwner'] };
    const info = { account: ADDRESS };
    t.equal(fails(illegal, [ATA], null, false, { info }).message, 'the account exists already');
    t.equal(
      fails(illegal, [ATA], null, false, { info, ...missing }).message,
      'an earlier step had opened the account already',
    );
    t.equal(fails(illegal, [UNKNOWN]).message, 'the program says that the given owner is not allowed');
    t.equal(
      fails({ InstructionError: [0, 'InvalidAccountOwner'] }, [ATA], null, false, missing).message,
      'an account does not exist, or has another owner than expected',
    );

    t.equal(
      fails({ InstructionError: [0, 'InvalidAccountData'] }, [UNKNOWN], null, false, missing).message,
      'the program says that an account does not exist, or holds data that the program did not expect',
    );

    const lack = logOf(SYSTEM, 'Transfer: insufficient lamports 5, need 7000000000');
    t.equal(
      fails(customOf(1), [SYSTEM], lack).message,
      'the sender had 0.000000005 SOL of the 7 SOL that it was to pay',
    );
    const forged = logOf(SYSTEM, 'Program log: x\nTransfer: insufficient lamports 5, need 7000000000');
    t.equal(fails(customOf(1), [SYSTEM], forged).message, 'the sender did not have enough SOL');

    const preTokenBalances = [{ account: ADDRESS, mint: '', owner: null, programId: null, amount: 9n, decimals: 0 }];
    const sends = (amount: string) =>
      fails(customOf(1), [TOKEN], null, false, { preTokenBalances, info: { source: ADDRESS, amount } }).message;
    t.equal(sends('10'), 'the sender did not have enough of the token');
    t.equal(sends('9'), 'that much of the token could not be moved any more');
  });

  t.test('the last words of a program are quoted where nothing else explains its number', async (t) => {
    const says = (...lines: readonly string[]) =>
      fails(customOf(7), [UNKNOWN], logOf(UNKNOWN, ...lines.map((line) => `Program log: ${line}`))).message;
    t.equal(
      says('first', 'Instruction: Swap', 'paths checked: 6', 'Left: 1', '0x1, 0x2'),
      'the program says: “paths checked: 6”',
    );
    t.equal(says('panicked at src/lib.rs:22:9:\nNonce mismatch'), 'the program says: “Nonce mismatch”');
    t.equal(
      says(`ray_log: ${'A'.repeat(40)}=`),
      'the program gave its own error number 7 before it called another program',
    );
    t.equal(says('claim at https://evil.example/x'), 'the program says: “claim at https[:]//evil[.]example/x”');
    const after = (...programs: readonly string[]) => {
      const calls = programs.flatMap((id) => [`Program ${id} invoke [2]`, `Program ${id} success`]);
      return fails(customOf(7), [UNKNOWN], logOf(UNKNOWN, ...calls), true).message;
    };
    const number = 'the program gave its own error number 7';
    t.equal(after(RAYDIUM, TOKEN), `${number} after its calls of Raydium had succeeded`);
    t.equal(after(RAYDIUM, JUPITER, RAYDIUM), `${number} after its calls of Raydium and Jupiter had succeeded`);
    t.equal(after(BUDGET), `${number} after it had called none but Solana's own programs`);
    const event = [`Program ${UNKNOWN} invoke [2]`, `Program ${UNKNOWN} success`];
    const ofEvent = fails(customOf(7), [UNKNOWN], logOf(UNKNOWN, ...event)).message;
    t.equal(ofEvent, `${number} before it called another program`, 'an event, for which a program calls itself');
    const ownId = [{ ...callOf(RAYDIUM), accounts: [RAYDIUM], index: 0, inner: [] }];
    const ofExchange = fails(customOf(9_999), [RAYDIUM], logOf(RAYDIUM), false, { instructions: ownId }).message;
    t.equal(ofExchange, 'the program gave its own error number 9999 before it called another program');
    const PUMP_FUN = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
    const handed = (id: string) => {
      const instructions = [{ ...callOf(id), accounts: [JUPITER, PUMP_FUN], index: 0, inner: [] }];
      return fails(customOf(9_999), [id], logOf(id), false, { instructions }).message;
    };
    t.match(handed(UNKNOWN), / before it called any exchange that it was handed \(Jupiter, Pump\.fun\)$/);
    t.match(handed(RAYDIUM), / before it called another program$/, 'a router hands its whole route to each exchange');
    const truncated = logOf(UNKNOWN, `Program ${RAYDIUM} invoke [2]`).slice(1);
    t.equal(fails(customOf(7), [UNKNOWN], truncated).message, number, 'a log without the beginning of the call');
    const lacking = fails(customOf(7), [UNKNOWN], logOf(UNKNOWN), true).message;
    t.equal(lacking, number, 'a record with calls that the log lacks');
  });

  t.test('no text of a program stands outside quotation marks', async () => {
    // letters that no sentence of ours has, and what might end a quotation
    const text = fc.string({
      unit: fc.constantFrom('Ж', '“', '”', '"', '. ', '\n', '\u202e', '\u200b', '://', 'evil.co', ' ', 'Error: '),
      maxLength: 400,
    });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), text, fc.boolean(), (lines, message, isAnchor) => {
        const anchor = `AnchorError occurred. Error Code: Name. Error Number: 7. Error Message: ${message}`;
        const logs = logOf(UNKNOWN, ...[...lines, ...(isAnchor ? [anchor] : [])].map((line) => `Program log: ${line}`));
        const reason = fails(customOf(7), [UNKNOWN], logs).message;
        const ours = reason.replace(/“[^“”]*”/, '');
        return !/[Ж“”":\p{C}]/u.test(ours.replace('says:', '')) && !/:\/\/|evil\.co/.test(reason);
      }),
    );
  });
});

t.test('refuted-reasons', async (t) => {
  // Compares the reasons of recorded failures with the records themselves. What a record shows is read here from its JSON
  // and its log lines alone: no code of `src` has a part in it.

  interface RecordedFailure {
    readonly err: { readonly InstructionError?: readonly [number, { readonly Custom?: number }] };
    readonly logMessages: readonly string[] | null;
    readonly preBalances: readonly number[];
    readonly postBalances: readonly number[];
  }

  interface Recording {
    readonly name: string;
    readonly result: { readonly meta: RecordedFailure | null };
  }

  const readFailures = (pack: string): readonly Recording[] =>
    gunzipSync(readFileSync(new URL(`../../../../test/support/recorded/${pack}.ndjson.gz`, import.meta.url)))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Recording) // the form of the packs
      .filter(({ result }) => (result.meta?.err ?? null) !== null);

  /** Words for the errors that the logs of these records name, as a person reads them; other names are to be quoted. */
  const MEANINGS: Readonly<Record<string, RegExp>> = {
    SqrtPriceLimitOverflow: /price limit .* out of range/,
    ExceededSlippage: /price moved further than the trader allowed/,
    ExceededAmountSlippageTolerance: /price moved further than the trader allowed/,
    InvalidSqrtPriceLimitDirection: /price had already passed the limit/,
  };

  /** Returns what of a record refutes a reason; null if nothing does. */
  function refutation(reason: string, name: string | null, { err, logMessages, ...balances }: RecordedFailure) {
    const logs = logMessages ?? [];
    const end = logs.findIndex((line) => /^Program \w+ failed: /.test(line));
    const failed = /^Program (\w+) failed/.exec(logs[end] ?? '')?.[1] ?? '';
    const before = logs.slice(0, Math.max(end, 0));
    const code = err.InstructionError?.[1].Custom;
    const anchor = before.findLast((line) => line.includes(`Error Number: ${code}.`));
    const [, named, words = ''] = /Error Code: (\w+)\. .*Error Message: (.*?)\.*$/.exec(anchor ?? '') ?? [];
    if (named !== undefined && name !== named) return `the log names ${named}`;
    if (named !== undefined && !(MEANINGS[named]?.test(reason) ?? reason.includes(`“${words}”`)))
      return `it is ${words}`;
    const quoted = /“(.*?)…?”/.exec(reason)?.[1];
    if (quoted !== undefined && !before.some((line) => line.startsWith('Program log: ') && line.includes(quoted)))
      return 'no such words in the log';
    const [, had, needed] = /had ([\d.]+) SOL of the ([\d.]+) SOL/.exec(reason) ?? [];
    const lamports = (sol: string) => Number(sol) * 1e9;
    const isLack = (line: string) => /insufficient lamports (\d+), need (\d+)/.exec(line)?.slice(1).map(Number).join();
    if (had !== undefined && !before.some((line) => isLack(line) === `${lamports(had)},${lamports(needed ?? '')}`))
      return 'no such amounts in the log';
    if (/computing limit/.test(reason) && !/CUs|budget exceeded/i.test(logs[end] ?? '')) return 'no limit was reached';
    if (
      /does not exist/.test(reason) &&
      !balances.preBalances.some((held, i) => held + (balances.postBalances[i] ?? 1) === 0)
    )
      return 'all accounts exist';
    if (/exists already/.test(reason) && balances.preBalances.every((held) => held === 0)) return 'no account exists';
    const own = before.slice(before.findLastIndex((line) => line.startsWith(`Program ${failed} invoke`)));
    const called = own.filter((line) => / invoke \[/.test(line)).length - 1;
    if (/before it called/.test(reason) && called > 0) return 'it called others';
    if (/none but Solana's/.test(reason) && called === 0) return 'it called nobody';
    if (/calls of .* had succeeded/.test(reason) && called === 0) return 'it called nobody';
    const logged = own.filter((line) => /^Program log: (?!Instruction|Custom program error|ray_log)/.test(line));
    if (/own error number/.test(reason) && called === 0 && logged.length > 0) return 'the program said why';
    return null;
  }

  /** Most failures, in percent, of which nothing but the program's number is known. */
  const MOST_BARE = 6.5;

  t.test('no record refutes the reason that is given for a failure', async (t) => {
    for (const pack of ['mainnet-block', 'transactions']) {
      const failures = readFailures(pack);
      t.ok(failures.length > 40);
      let bare = 0;
      for (const { name, result } of failures) {
        const parsed = parseTransaction(readTransaction(JSON.stringify(result)));
        const { message = '', name: error = null } = parsed.transactionError ?? {};
        const { meta } = result;
        if (meta !== null) t.equal(refutation(message, error, meta), null, `${name}: ${message}`);
        t.ok(explainTransactionOfIndex(parsed).includes(message.slice(0, 60)), name);
        if (isNumberAlone(message)) bare++;
      }
      const percent = (100 * bare) / failures.length;
      t.comment(`${pack}: ${bare} of ${failures.length} reasons are a number alone (${percent.toFixed(1)} %)`);
      if (pack === 'mainnet-block') t.ok(percent <= MOST_BARE);
    }
  });
});
