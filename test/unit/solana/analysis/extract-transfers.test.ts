import t from 'tap';
import {
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../../../src/domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../../../../src/solana/accounts/known-mints.ts';
import { balanceChangesOf } from '../../../../src/solana/analysis/balance-changes.ts';
import { extractTransfers } from '../../../../src/solana/analysis/extract-transfers.ts';
import { heliusTransfersOf } from '../../../../src/solana/analysis/helius-transfers.ts';
import type { Transfer } from '../../../../src/solana/analysis/transfer.ts';
import { transferRowsOf } from '../../../../src/solana/analysis/transfer-row.ts';
import { normalizeTransaction, type Transaction } from '../../../../src/solana/transactions/transaction.ts';
import { recordedTransactions } from '../../../support/recorded-transactions.ts';
import {
  addressOf,
  bytesOf,
  type SyntheticCall,
  syntheticTransaction as syntheticFromCalls,
  u64Bytes,
} from '../../../support/synthetic-transaction.ts';

const recorded = recordedTransactions('transactions');
const everything = [...recorded, ...recordedTransactions('mainnet-block')];

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

t.test('an owner missing in old records follows from the transfers, or from the associated account', async (t) => {
  const [payer, pools] = [
    '7AECg1KFC1k8oMAhWZQrLo67hQEWMd8KwMDf6LTaWnZe',
    '5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1',
  ];
  const rows = extractTransfers(findTransaction('tx/5GqfwKpphZvY'));
  t.strictSame(
    rows.map(({ fromUserAccount, toUserAccount, amount }) => [fromUserAccount, toUserAccount, amount]),
    [
      [payer, null, 90_871_408n], // of the vault nothing tells
      [pools, payer, 10_771_935_087n],
      [payer, null, 10_766_894_605n],
      [pools, payer, 108_404_808n],
    ],
  );
});

t.test('in an old record a delegate is not taken for the owner, and a new owner only after the change', async (t) => {
  const [mint, account, owner, delegate, heir] = [1, 2, 3, 4, 5].map(addressOf);
  const call = (accounts: readonly unknown[], ...data: readonly number[]): SyntheticCall => ({
    programId: TOKEN_PROGRAM,
    accounts: accounts.map(String),
    data,
  });
  const other = addressOf(6);
  const transaction = syntheticFromCalls({
    calls: [
      call([account, delegate, owner], 4, ...u64Bytes(5n)),
      call([account, other, delegate], 3, ...u64Bytes(5n)),
      call([account, owner], 6, 2, 1, ...bytesOf(5)),
    ],
    signers: [String(delegate)],
    tokens: [
      { account: String(account), mint: String(mint), owner: null, before: 7n, after: 2n },
      { account: other, mint: String(mint), owner: null, before: 0n, after: 5n },
    ],
  });
  const ownersOf = (balances: Transaction['preTokenBalances']) => balances?.map((balance) => balance.owner);
  t.strictSame(ownersOf(transaction.preTokenBalances), [owner, null]);
  t.strictSame(ownersOf(transaction.postTokenBalances), [heir, null]);
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

const RENT = 2_039_280n;
const [walletSol, otherSol, wallet, shop] = [11, 12, 1, 2].map(addressOf) as [string, string, string, string];

t.test('unwrapped lamports leave a wrapped SOL account, alone or in a batch before it closes', async (t) => {
  const unwrap = (...data: readonly number[]): SyntheticCall => ({
    programId: TOKEN_PROGRAM,
    accounts: [walletSol, shop, wallet],
    data,
  });
  const transfersOf = (call: SyntheticCall, after: readonly [bigint, bigint | null]) => {
    const transaction = syntheticFromCalls({
      calls: [call],
      signers: [wallet],
      accounts: [wallet, walletSol, shop],
      lamports: { before: [9n, RENT + 1_000n, 0n], after: [9n, after[0], RENT + 1_000n - after[0]] },
      tokens: [{ account: walletSol, mint: WRAPPED_SOL, owner: wallet, before: 1_000n, after: after[1] }],
    });
    const rows = extractTransfers(transaction);
    return {
      rows: rows.map(({ type, amount, toUserAccount }) => [type, amount, toUserAccount]),
      native: heliusTransfersOf(transaction, rows).nativeTransfers.map(({ amount, toUserAccount }) => [
        amount,
        toUserAccount,
      ]),
    };
  };
  t.strictSame(transfersOf(unwrap(45, 1, ...u64Bytes(400n)), [RENT + 600n, 600n]), {
    rows: [['unwrap', 400n, shop]],
    native: [['400', shop]],
  });
  t.strictSame(transfersOf(unwrap(45, 0), [RENT, 0n]), { rows: [['unwrap', 1_000n, shop]], native: [['1000', shop]] });
  const batch: SyntheticCall = {
    programId: TOKEN_PROGRAM,
    accounts: [walletSol, shop, wallet, walletSol, shop, wallet],
    data: [255, 3, 10, 45, 1, ...u64Bytes(400n), 3, 1, 9],
  };
  t.strictSame(transfersOf(batch, [0n, null]), {
    rows: [
      ['unwrap', 400n, shop],
      ['unwrap', 600n, shop],
      ['closeAccount', RENT, shop],
    ],
    native: [
      ['400', shop],
      [`${RENT + 600n}`, shop],
    ],
  });
});

t.test('accounts that one batch closes are paid out apart', async (t) => {
  const transaction = syntheticFromCalls({
    calls: [
      {
        programId: TOKEN_PROGRAM,
        accounts: [walletSol, wallet, wallet, otherSol, wallet, wallet],
        data: [255, 3, 1, 9, 3, 1, 9],
      },
    ],
    signers: [wallet],
    accounts: [wallet, walletSol, otherSol],
    lamports: { before: [1n, RENT + 5n, RENT + 7n], after: [2n * RENT + 13n, 0n, 0n] },
    tokens: [
      { account: walletSol, mint: WRAPPED_SOL, owner: wallet, before: 5n, after: null },
      { account: otherSol, mint: WRAPPED_SOL, owner: wallet, before: 7n, after: null },
    ],
  });
  t.strictSame(
    heliusTransfersOf(transaction, extractTransfers(transaction)).nativeTransfers.map(({ amount }) => amount),
    [`${RENT + 5n}`, `${RENT + 7n}`],
  );
});

t.test(
  'lamports that leave mints, tables and buffers are transfers, though their instructions name no amount',
  async (t) => {
    const moved = (programId: string, data: readonly number[], left: bigint) =>
      extractTransfers(
        syntheticFromCalls({
          calls: [{ programId, accounts: [walletSol, shop, wallet], data }],
          signers: [wallet],
          accounts: [wallet, walletSol, shop],
          lamports: { before: [1n, 900n, 10n], after: [1n, left, 910n - left] },
        }),
      ).map(({ asset, amount, fromUserAccount, toUserAccount }) => [asset, amount, fromUserAccount, toUserAccount]);
    t.strictSame(moved(TOKEN_2022_PROGRAM, [38], 300n), [['SOL', 600n, walletSol, shop]]);
    t.strictSame(moved(TOKEN_PROGRAM, [38], 300n), [['SOL', 600n, walletSol, shop]]);
    t.strictSame(moved(UPGRADEABLE_LOADER, [5, 0, 0, 0], 0n), [['SOL', 900n, walletSol, shop]]);
    t.strictSame(moved(LOOKUP_TABLE_PROGRAM, [4, 0, 0, 0], 0n), [['SOL', 900n, walletSol, wallet]]);
  },
);

t.test('an account may be created where lamports are already', async (t) => {
  const transaction = syntheticFromCalls({
    calls: [
      {
        programId: SYSTEM_PROGRAM,
        accounts: [otherSol, wallet],
        data: [13, 0, 0, 0, ...u64Bytes(50n), ...u64Bytes(8n), ...bytesOf(3)],
      },
    ],
    signers: [wallet],
  });
  t.match(extractTransfers(transaction), [
    { type: 'createAccount', amount: 50n, fromUserAccount: wallet, toUserAccount: otherSol },
  ]);
});

t.test('the fee of a token transfer stands in the enhanced view', async (t) => {
  const transaction = findTransaction('validator/173 fee22');
  const [transfer] = heliusTransfersOf(transaction, extractTransfers(transaction)).tokenTransfers;
  t.match(transfer, { amount: '400000', feeAmount: '2000' });
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
