import t from 'tap';
import { WRAPPED_SOL } from '../../../../src/solana/accounts/known-mints.ts';
import { balanceChangesOf } from '../../../../src/solana/analysis/balance-changes.ts';
import { extractTransfers } from '../../../../src/solana/analysis/extract-transfers.ts';
import type { Transfer } from '../../../../src/solana/analysis/transfer.ts';
import { transferRowsOf } from '../../../../src/solana/analysis/transfer-row.ts';
import { normalizeTransaction, type Transaction } from '../../../../src/solana/transactions/transaction.ts';
import { parseRecording, readRecordings } from '../../../support/recorded-transactions.ts';

const recorded = readRecordings('transactions').map(parseRecording);
const everything = [...recorded, ...readRecordings('mainnet-block').map(parseRecording)];

const findTransaction = (name: string): Transaction => {
  const found = recorded.find((other) => other.name.startsWith(name));
  if (found === undefined) throw new Error(`no recording ${name}`);
  return found.transaction;
};

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);

t.test('the sum of lamports changes by the fee only', async (t) => {
  const broken = everything.filter(
    ({ transaction }) =>
      sum(balanceChangesOf(transaction).map(({ lamports }) => lamports)) !== -(transaction.fee ?? 0n),
  );
  t.strictSame(
    broken.map(({ name }) => name),
    ['tx/2Pp2vWG88Bse_jsonParsed'], // its recorder left the payer's balances unchanged
  );
});

t.test('the tokens of each account change by the sum of its transfers', async (t) => {
  const unrecorded: string[] = [];
  const broken = new Set<string>();
  for (const { name, transaction } of everything) {
    if (transaction.preTokenBalances === null || transaction.postTokenBalances === null) {
      unrecorded.push(name);
      continue;
    }
    const moved = new Map<string, bigint>();
    const add = (account: string | null, amount: bigint): void => {
      if (account !== null) moved.set(account, (moved.get(account) ?? 0n) + amount);
    };
    for (const { type, asset, fromTokenAccount, toTokenAccount, amount, feeAmount } of extractTransfers(transaction)) {
      if (asset === 'SOL' || type === 'changeOwner') continue;
      add(fromTokenAccount, -amount);
      add(toTokenAccount, amount - (feeAmount ?? 0n));
    }
    for (const { account, tokens } of balanceChangesOf(transaction))
      add(account, -sum(tokens.map((token) => token.amount)));
    if ([...moved.values()].some((rest) => rest !== 0n)) broken.add(name);
  }
  t.strictSame(unrecorded, ['tx/29ku1FzyNHgx_jsonParsed']); // from 2020, before nodes kept token balances
  t.strictSame([...broken], ['tx/2cQ1xf4meFvQ_jsonParsed']); // its recorder exchanged source and destination
});

/** Returns the tokens of a mint that a transfer creates (positive) or destroys (negative). */
function createdAmount({ type, amount, feeAmount }: Transfer): bigint {
  if (type === 'mint' || type === 'wrap' || type === 'withdrawWithheldFee') return amount;
  if (type === 'burn' || type === 'unwrap') return -amount;
  return -(feeAmount ?? 0n);
}

t.test('the tokens of a mint change only by minting, burning, wrapping, unwrapping and transfer fees', async (t) => {
  const broken = new Set<string>();
  for (const { name, transaction } of everything) {
    if (transaction.preTokenBalances === null) continue;
    const left = new Map<string, bigint>();
    const add = (mint: string, amount: bigint): unknown => left.set(mint, (left.get(mint) ?? 0n) + amount);
    for (const { tokens } of balanceChangesOf(transaction)) for (const { mint, amount } of tokens) add(mint, amount);
    for (const row of extractTransfers(transaction)) if (row.mint !== null) add(row.mint, -createdAmount(row));
    for (const [mint, rest] of left) if (rest !== 0n) broken.add(`${name}: ${rest} of ${mint} from nowhere`);
  }
  t.strictSame([...broken], []);
});

t.test('a failed transaction has no transfers', async (t) => {
  const failed = everything.filter(({ transaction }) => transaction.err !== null);
  t.ok(failed.length > 100);
  t.ok(failed.every(({ transaction }) => extractTransfers(transaction).length === 0));
});

t.test('every token transfer names its mint, decimals and an account', async (t) => {
  const nameless = new Set<string>();
  for (const { name, transaction } of everything) {
    if (transaction.preTokenBalances === null) continue;
    for (const row of extractTransfers(transaction).filter(({ asset }) => asset === 'token')) {
      if (row.mint === null || (row.fromTokenAccount ?? row.toTokenAccount) === null)
        nameless.add(`${name}: ${row.type}`);
    }
  }
  t.strictSame([...nameless], []);
});

t.test('owners are the owners of the accounts, whoever signed', async (t) => {
  const rows = extractTransfers(findTransaction('tx/5qrv9rzi2Yph'));
  const [burn] = rows.filter(({ type }) => type === 'burn');
  t.match(burn, { fromUserAccount: 'HB7Dv9XLM1bD5p8kyGnyMnH9Gk67Rv3CjzheJfTL8bMk', toUserAccount: null });
});

t.test('an owner missing in old records is not inferred from the signers', async (t) => {
  const owners = extractTransfers(findTransaction('tx/5GqfwKpphZvY')).map(({ fromUserAccount }) => fromUserAccount);
  t.strictSame(owners, [null, null, null, null]);
});

t.test('the amount wrapped at opening follows from the rent, also on clusters with another rent', async (t) => {
  const rows = extractTransfers(findTransaction('tx/5qrv9rzi2Yph')); // Eclipse: 19,924 lamports
  const wrapped = rows.filter(({ mint }) => mint === WRAPPED_SOL).map(({ type, amount }) => [type, amount]);
  t.strictSame(wrapped, [
    ['wrap', 268_650_000n],
    ['transfer', 268_650_000n],
  ]);
  t.match(
    rows.find(({ type }) => type === 'closeAccount'),
    { amount: 19_924n },
  );
});

t.test('a transfer fee comes from the instruction, or else from the balances', async (t) => {
  const fees = (name: string): unknown =>
    extractTransfers(findTransaction(name)).flatMap(({ amount, feeAmount }) =>
      feeAmount === null ? [] : [[amount, feeAmount]],
    );
  t.strictSame(fees('validator/173 fee22'), [[400_000n, 2_000n]]);
  t.strictSame(fees('tx/3oR9ryME5VTS'), [[384_000_000n, 15_360_000n]]);
});

t.test('the associated-token program’s payment for an account is rent', async (t) => {
  const rows = extractTransfers(findTransaction('tx/4HobvUWLuUJB'));
  t.match(rows, [
    { type: 'transfer', innerInstructionIdx: null, amount: 1_000_000n },
    { type: 'createAccount', innerInstructionIdx: 1, amount: 1_148_400n },
  ]);
});

/** Returns a transaction of decoded token instructions; accounts without a balance are empty. */
function syntheticTransaction(instructions: readonly object[], before: object, after: object): Transaction {
  const accounts = [...new Set(['payer', ...Object.keys(before), ...Object.keys(after)])];
  const balances = (amounts: object): object[] =>
    Object.entries(amounts).map(([account, amount]) => ({
      accountIndex: accounts.indexOf(account),
      mint: 'mint',
      owner: `owner of ${account}`,
      uiTokenAmount: { amount, decimals: 2 },
    }));
  return normalizeTransaction({
    transaction: {
      signatures: ['signature'],
      message: {
        accountKeys: accounts.map((pubkey) => ({ pubkey, signer: pubkey === 'payer', writable: true })),
        instructions: instructions.map((parsed) => ({ program: 'spl-token', programId: 'token', parsed })),
      },
    },
    meta: { err: null, fee: 0, preTokenBalances: balances(before), postTokenBalances: balances(after) },
  });
}

const send = (source: string, destination: string, amount: string): object => ({
  type: 'transfer',
  info: { source, destination, amount, authority: 'a delegate' },
});

t.test('withdrawals of withheld fees come from the balances', async (t) => {
  const withdraw = { type: 'withdrawWithheldTokensFromMint', info: { mint: 'mint', feeRecipient: 'a' } };
  const rows = extractTransfers(
    syntheticTransaction([withdraw, send('a', 'b', '5')], { a: '10', b: '0' }, { a: '12', b: '5' }),
  );
  t.match(rows, [
    { type: 'withdrawWithheldFee', amount: 7n, fromTokenAccount: null, toUserAccount: 'owner of a' },
    { type: 'transfer', amount: 5n, fromUserAccount: 'owner of a', toUserAccount: 'owner of b', feeAmount: null },
  ]);
});

t.test('a fee of several transfers to one account is allocated by their amounts', async (t) => {
  const sent = [send('a', 'b', '1000'), send('a', 'b', '3000')];
  const rows = extractTransfers(syntheticTransaction(sent, { a: '4000', b: '0' }, { a: '0', b: '3960' }));
  t.strictSame(
    rows.map(({ feeAmount }) => feeAmount),
    [10n, 30n],
  );
});

t.test('a change of owner includes the tokens in the account', async (t) => {
  const info = { account: 'a', authorityType: 'accountOwner', newAuthority: 'heir', authority: 'owner of a' };
  const rows = extractTransfers(
    syntheticTransaction(
      [send('b', 'a', '5'), { type: 'setAuthority', info }, send('a', 'b', '1')],
      { a: '2', b: '5' },
      { a: '6', b: '1' },
    ),
  );
  t.match(rows, [
    { type: 'transfer', toUserAccount: 'owner of a' },
    { type: 'changeOwner', fromUserAccount: 'owner of a', toUserAccount: 'heir', amount: 7n },
    { type: 'transfer', fromUserAccount: 'heir' },
  ]);
});

t.test('an account may end under another mint than before', async (t) => {
  const transaction = syntheticTransaction([], { a: '2' }, { a: '3' });
  const [before] = transaction.preTokenBalances ?? [];
  const changed = { ...transaction, preTokenBalances: before === undefined ? [] : [{ ...before, mint: 'other' }] };
  t.match(balanceChangesOf(changed)[1]?.tokens, [
    { mint: 'other', amount: -2n },
    { mint: 'mint', amount: 3n },
  ]);
});

t.test('an address gets the rows it takes part in, from its side', async (t) => {
  const transaction = findTransaction('validator/173 fee22');
  const rows = (address: string): unknown =>
    transferRowsOf(address, transaction, { confirmationStatus: 'confirmed', symbolOf: () => 'EXC' });
  const [transfer] = extractTransfers(transaction);
  const { fromUserAccount, toUserAccount, toTokenAccount } = transfer ?? {};
  const row = { symbol: 'EXC', amount: '400000', uiAmount: '0.0004', feeAmount: '2000', decimals: 9 };
  t.match(rows(fromUserAccount ?? ''), [{ ...row, direction: 'out', counterparty: toUserAccount }]);
  t.match(rows(toUserAccount ?? ''), [{ ...row, direction: 'in', counterparty: fromUserAccount }]);
  t.match(rows(toTokenAccount ?? ''), [{ ...row, direction: 'in' }]);
  t.strictSame(rows('nobody'), []);
});
