import t from 'tap';
import { TOKEN_2022_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { extractTransfers } from '../../../../src/solana/analysis/extract-transfers.ts';
import { parseTransaction } from '../../../../src/solana/analysis/parse-transaction.ts';
import {
  addressOf,
  type SyntheticBalance,
  type SyntheticCall,
  syntheticTransaction,
  u64Bytes,
} from '../../../support/synthetic-transaction.ts';

const [wallet, shop, mint, walletTokens, shopTokens, proof, otherProof, lastProof] = Array.from({ length: 8 }, (_, n) =>
  addressOf(n + 1),
) as [string, string, string, string, string, string, string, string];

const BALANCE = Array<number>(36).fill(7);
const AMOUNT = Array<number>(128).fill(8);

const token = (accounts: readonly string[], ...data: readonly number[]): SyntheticCall => ({
  programId: TOKEN_2022_PROGRAM,
  accounts,
  data,
});

const balances = (before: bigint, after: bigint): SyntheticBalance[] => [
  { account: walletTokens, mint, owner: wallet, before, after },
  { account: shopTokens, mint, owner: shop, before: 0n, after: 0n },
];

const viewOf = (call: SyntheticCall, tokens = balances(100n, 100n)) =>
  syntheticTransaction({ calls: [call], signers: [wallet], tokens });

t.test('a hidden amount that moves is a fact, with owners, mint and accounts', async (t) => {
  const proofs = [proof, otherProof, lastProof];
  const call = token([walletTokens, mint, shopTokens, ...proofs, wallet], 27, 7, ...BALANCE, ...AMOUNT, 0, 0, 0);
  const transaction = viewOf(call);
  t.strictSame(parseTransaction(transaction).confidentialTransfers, [
    {
      type: 'transfer',
      mint,
      fromUserAccount: wallet,
      toUserAccount: shop,
      fromTokenAccount: walletTokens,
      toTokenAccount: shopTokens,
      amount: null,
      instructionIdx: 0,
      innerInstructionIdx: null,
    },
  ]);
  t.match(transaction.instructions[0]?.parsed, {
    type: 'confidentialTransfer',
    info: {
      equalityProofAccount: proof,
      ciphertextValidityProofAccount: otherProof,
      rangeProofAccount: lastProof,
      owner: wallet,
    },
  });
});

t.test('proofs may be instructions instead, which the sysvar shows', async (t) => {
  const call = token([walletTokens, mint, shopTokens, proof, wallet], 27, 13, ...BALANCE, ...AMOUNT, 1, 2, 3, 4, 255);
  const transaction = viewOf(call);
  t.match(parseTransaction(transaction).confidentialTransfers, [{ type: 'transfer', fromUserAccount: wallet }]);
  t.match(transaction.instructions[0]?.parsed, {
    type: 'confidentialTransferWithFee',
    info: {
      instructionsSysvar: proof,
      owner: wallet,
      equalityProofInstructionOffset: 1,
      rangeProofInstructionOffset: -1,
    },
  });
});

t.test('deposits and withdrawals are transfers, too, so that balances are explained', async (t) => {
  const deposit = viewOf(token([walletTokens, mint, wallet], 27, 5, ...u64Bytes(40n), 6), balances(100n, 60n));
  const owners = { fromUserAccount: wallet, toUserAccount: wallet };
  t.match(parseTransaction(deposit).confidentialTransfers, [{ type: 'deposit', mint, amount: '40', ...owners }]);
  t.match(extractTransfers(deposit), [
    { type: 'depositConfidential', amount: 40n, fromTokenAccount: walletTokens, toTokenAccount: null, feeAmount: null },
  ]);
  const data = [27, 6, ...u64Bytes(30n), 6, ...BALANCE, 0, 0];
  const withdrawal = viewOf(token([walletTokens, mint, proof, otherProof, wallet], ...data), balances(100n, 130n));
  t.match(parseTransaction(withdrawal).confidentialTransfers, [{ type: 'withdraw', mint, amount: '30', ...owners }]);
  t.match(extractTransfers(withdrawal), [{ type: 'withdrawConfidential', amount: 30n, toTokenAccount: walletTokens }]);
});

t.test('nodes name the accounts of a deposit source and destination', async (t) => {
  const info = { source: walletTokens, destination: mint, mint: wallet, amount: 40, decimals: 6 };
  const parsed = { type: 'depositConfidentialTransfer', info };
  const deposit = viewOf({ programId: TOKEN_2022_PROGRAM, program: 'spl-token', parsed }, balances(100n, 60n));
  t.match(parseTransaction(deposit).confidentialTransfers, [{ fromTokenAccount: walletTokens, mint, amount: '40' }]);
});

t.test('minted, burned and withheld amounts may be hidden', async (t) => {
  const hidden = (accounts: readonly string[], ...data: readonly number[]) =>
    parseTransaction(viewOf(token(accounts, ...data))).confidentialTransfers[0];
  const amounts = [...BALANCE, ...AMOUNT, 0, 0, 0];
  const minted = { type: 'mint', fromTokenAccount: null, toUserAccount: shop, mint };
  t.match(hidden([shopTokens, mint, wallet], 42, 3, ...amounts), minted);
  const burned = { type: 'burn', fromUserAccount: wallet, toTokenAccount: null, mint };
  t.match(hidden([walletTokens, mint, wallet], 42, 4, ...amounts), burned);
  t.match(hidden([walletTokens, mint, proof, otherProof, lastProof, shop, wallet], 46, 3, ...amounts), burned);
  const withheld = { type: 'withdrawWithheldFee', toUserAccount: shop, mint };
  t.match(hidden([mint, shopTokens, proof, wallet], 37, 1, 0, ...BALANCE), withheld);
  t.match(hidden([mint, shopTokens, proof, wallet, walletTokens], 37, 2, 1, 0, ...BALANCE), withheld);
});

t.test('applying a pending balance is a movement within the account', async (t) => {
  const transaction = viewOf(token([walletTokens, wallet], 27, 8, ...u64Bytes(1n), ...BALANCE));
  t.match(parseTransaction(transaction).confidentialTransfers, [
    { type: 'apply', mint, fromUserAccount: wallet, toUserAccount: wallet, amount: null },
  ]);
  t.strictSame(extractTransfers(transaction), []);
});
