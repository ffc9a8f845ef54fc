import bs58 from 'bs58';
import t from 'tap';
import { toJson } from '../../../../src/domain/to-json.ts';
import { listBlock } from '../../../../src/routes/block/list-block.ts';
import { isTipAccount } from '../../../../src/solana/programs/tip-accounts.ts';
import { inExecutionOrder } from '../../../../src/solana/transactions/instruction.ts';
import { decodeVersionedTransaction } from '../../../../src/solana/transactions/versioned-transaction.ts';
import { type RecordedTransaction, recordedTransactions } from '../../../support/recorded-transactions.ts';

/** A recorded transaction of a block, as `encoding: "json"` has it. */
function asJson({ result, transaction }: RecordedTransaction) {
  const { meta, transaction: encoded, version } = result as { meta: any; transaction: [string]; version: unknown };
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

/** Parses the rows of all pages. */
function rowsOf({ rows, pageEnds }: ReturnType<typeof listBlock>): any[][] {
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
    const { signature, status, programs } = rows[i];
    const called = new Set(inExecutionOrder(transaction.instructions).map(({ programId }) => programId));
    const isRight =
      signature === json.transaction.signatures[0] &&
      status === (json.meta.err === null ? 'success' : 'failed') &&
      called.size === programs.length &&
      programs.every((program: string) => called.has(program));
    if (!isRight) wrong.push(rows[i]);
    fees += BigInt(json.meta.fee);
    priorityFees += BigInt(json.meta.fee) - 5000n * BigInt(json.transaction.signatures.length);
    for (const [place, { address }] of transaction.accounts.entries()) {
      const received = (transaction.postBalances[place] ?? 0n) - (transaction.preBalances[place] ?? 0n);
      if (isTipAccount(address) && received > 0n) tips += received;
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
  t.same(
    programs.map(({ count }) => count),
    [...counts.values()].sort((a, b) => b - a).slice(0, 20),
  );
  t.match(programs[0], { programId: 'Vote111111111111111111111111111111111111111', name: 'Vote' });
});

t.test('the type is guessed from the programs', async (t) => {
  const typeOf = (...programs: string[]): string => {
    const instructions = programs.map((_, programIdIndex) => ({ programIdIndex, accounts: [], data: '' }));
    const message = { accountKeys: programs, instructions };
    const transaction = { meta: { err: null, fee: 5000 }, transaction: { signatures: ['s'], message } };
    return rowsOf(list([transaction])).flat()[0].type;
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
