import t from 'tap';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../../../../src/solana/accounts/known-mints.ts';
import { extractTransfers } from '../../../../src/solana/analysis/extract-transfers.ts';
import { parseTransaction } from '../../../../src/solana/analysis/parse-transaction.ts';
import { decodeInstruction } from '../../../../src/solana/transactions/decode-instruction.ts';
import { inExecutionOrder } from '../../../../src/solana/transactions/instruction.ts';
import {
  addressOf,
  bytesOf,
  type SyntheticBalance,
  type SyntheticCall,
  syntheticTransaction,
  u64Bytes,
} from '../../../support/synthetic-transaction.ts';

const [wallet, shop, thief, mint] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)];
const [walletTokens, shopTokens, walletSol] = [addressOf(11), addressOf(12), addressOf(13)];

/** The data of a batch: counts of accounts and bytes before each instruction. */
const batchData = (...instructions: readonly (readonly [accounts: number, data: readonly number[]])[]): number[] => [
  255,
  ...instructions.flatMap(([accounts, data]) => [accounts, data.length, ...data]),
];

const transferChecked = [12, ...u64Bytes(250n), 6];
const burn = [8, ...u64Bytes(7n)];
const giveAway = [6, 2, 1, ...bytesOf(3)]; // setAuthority: the owner
const close = [9];

const accounts = [
  ...[walletTokens, mint, shopTokens, wallet],
  ...[walletTokens, mint, wallet],
  ...[walletTokens, wallet],
  ...[walletSol, wallet, wallet],
];
const data = batchData([4, transferChecked], [3, burn], [2, giveAway], [3, close]);

const tokens: readonly SyntheticBalance[] = [
  { account: walletTokens, mint, owner: wallet, before: 1_000n, after: 743n, ownerAfter: thief },
  { account: shopTokens, mint, owner: shop, before: 0n, after: 250n },
  { account: walletSol, mint: WRAPPED_SOL, owner: wallet, before: 50n, after: null },
];

for (const programId of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
  const raw: SyntheticCall = { programId, accounts, data };
  const parsed: SyntheticCall = {
    programId,
    program: 'spl-token',
    parsed: decodeInstruction(programId, accounts, Uint8Array.from(data)) ?? {},
  };
  const program = programId === TOKEN_PROGRAM ? 'the token program' : 'Token-2022';

  t.test(`a batch of ${program} is what is in it, raw and decoded`, async (t) => {
    t.match(parsed.parsed, { type: 'batch', info: { instructions: [{ type: 'transferChecked' }, {}, {}, {}] } });
    for (const call of [raw, parsed]) {
      const transaction = syntheticTransaction({ calls: [call], signers: [wallet], tokens });
      t.strictSame(
        transaction.instructions.map(({ parsed, index, innerIndex }) => [parsed?.type, index, innerIndex]),
        ['transferChecked', 'burn', 'setAuthority', 'closeAccount'].map((type) => [type, 0, null]),
      );
      const view = parseTransaction(transaction);
      t.match(view.tokenTransfers, [
        { fromUserAccount: wallet, toUserAccount: shop, amount: '250', mint },
        { fromUserAccount: wallet, toUserAccount: null, amount: '7' },
      ]);
      t.match(view.authorityChanges, [
        { kind: 'setAuthority', authorityType: 'accountOwner', from: wallet, to: thief, tokenBalance: '743' },
      ]);
    }
  });

  t.test(`a batch that a program calls ${program} for has the place of that call`, async (t) => {
    const own: SyntheticCall = { programId: addressOf(99), accounts: [], data: [1] };
    for (const call of [raw, parsed]) {
      const transaction = syntheticTransaction({ calls: [own, own], inner: [own, call], signers: [wallet], tokens });
      t.strictSame(
        extractTransfers(transaction).map((row) => [row.type, row.instructionIdx, row.innerInstructionIdx]),
        ['transfer', 'burn', 'changeOwner', 'unwrap', 'closeAccount'].map((type) => [type, 0, 1]),
      );
    }
  });
}

t.test('an instruction of a batch that is not known hides none of the others', async (t) => {
  const call = { programId: TOKEN_PROGRAM, accounts, data: batchData([1, [99]], [4, transferChecked]) };
  const others = [walletTokens, ...accounts];
  t.equal(decodeInstruction(TOKEN_PROGRAM, others, Uint8Array.from(call.data)), null, 'as in nodes');
  const { instructions } = syntheticTransaction({ calls: [{ ...call, accounts: others }], tokens });
  t.match(instructions, [{ parsed: null }, { parsed: { type: 'transferChecked', info: { source: walletTokens } } }]);
});

t.test('a batch that the program refuses stays whole', async (t) => {
  const refused: readonly (readonly number[])[] = [
    [255],
    [255, 1],
    batchData([4, transferChecked]).slice(0, -1),
    batchData([200, transferChecked]),
    batchData([4, []]),
    batchData([4, transferChecked], [3, batchData([3, burn])]),
  ];
  for (const data of refused) {
    const { instructions } = syntheticTransaction({ calls: [{ programId: TOKEN_PROGRAM, accounts, data }], tokens });
    t.match(instructions, [{ parsed: null, accounts }]);
  }
  const nested = { type: 'batch', info: { instructions: [{ type: 'batch', info: { instructions: [] } }] } };
  const { instructions } = syntheticTransaction({
    calls: [{ programId: TOKEN_PROGRAM, program: 'spl-token', parsed: nested }],
    tokens,
  });
  t.match(instructions, [{ parsed: { type: 'batch' } }]);
});

t.test('batches turn into no more instructions than a transaction can have', async (t) => {
  const sync = Array.from({ length: 600 }, (): [number, number[]] => [0, [17]]);
  const call = { programId: TOKEN_PROGRAM, accounts: [], data: batchData(...sync) };
  const { instructions } = syntheticTransaction({ calls: [call, call, call], signers: [wallet] });
  t.equal(inExecutionOrder(instructions).length, 602, 'the first is read, the others stay whole');
});

t.test('a failure in a batch is one of its instruction', async (t) => {
  const err = { InstructionError: [1, { Custom: 1 }] };
  const call = { programId: TOKEN_PROGRAM, accounts, data };
  const failed = syntheticTransaction({ calls: [call, { ...call, programId: addressOf(9) }], signers: [wallet], err });
  t.match(parseTransaction(failed).transactionError, { instructionIndex: 1, programId: addressOf(9) });
});
