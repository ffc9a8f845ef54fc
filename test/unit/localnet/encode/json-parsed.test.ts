import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { toJson } from '../../../../src/domain/to-json.ts';
import type { Account } from '../../../../src/localnet/bank/svm-account.ts';
import { amountScaleOf } from '../../../../src/localnet/bank/token-state.ts';
import { parseAccountData } from '../../../../src/localnet/encode/parse-account-data.ts';
import { sortKeys } from '../../../../src/localnet/encode/sort-keys.ts';
import { encodeParsedInstruction } from '../../../../src/localnet/encode/ui-instruction.ts';
import { toUiTokenAmount } from '../../../../src/localnet/encode/ui-token-amount.ts';
import type { AmountScale } from '../../../../src/solana/accounts/ui-amount.ts';
import { RECORDED_ANSWERS, RECORDED_NAMES } from '../recorded-conversation.ts';

/** Times at which the node answered and at which it made the newest final block, in Unix seconds. */
const NOW = 1_795_234_176;
const FINAL = 1_795_234_166;

const recordedResponse = (note: string): string =>
  RECORDED_ANSWERS.find((answer) => answer.note === note)?.response ?? '';

function recordedAccount(note: string): Account {
  const { data, owner, executable } = JSON.parse(recordedResponse(`${note}, base64`)).result.value;
  return { lamports: 1n, owner, executable, data: Buffer.from(data[0], 'base64') };
}

const { mint = '', mint22 = '' } = RECORDED_NAMES;
const mints = new Map([
  [mint, recordedAccount('mint')],
  [mint22, recordedAccount('token-2022 mint with extensions')],
]);
const scale = (mint: string): AmountScale | undefined => {
  const account = mints.get(mint);
  return account && amountScaleOf(account, NOW);
};

t.test('an account is encoded exactly as the node encoded the same bytes', async (t) => {
  const notes = [
    'mint',
    'token-2022 mint with extensions',
    'token account with delegate',
    'token account',
    'token-2022 account',
    'nonce account',
    'stake account',
    'lookup table',
  ];
  for (const note of notes) {
    const encoded = /"data":(.*),"executable"/.exec(recordedResponse(`${note}, jsonParsed`))?.[1];
    t.equal(toJson(sortKeys(parseAccountData('', recordedAccount(note), scale))), encoded, note);
  }
});

t.test('an interest-bearing amount is scaled to the time of the bank', async (t) => {
  const account = recordedAccount('token-2022 mint with extensions');
  const supply = toUiTokenAmount(1_000_000_000_000n, amountScaleOf(account, FINAL) ?? { decimals: 0 });
  t.ok(recordedResponse('mint22').length > 0);
  t.equal(supply.uiAmountString, '1000.000019964', 'as getTokenSupply said');
});

t.test('an amount is exact as text, and only its float is rounded', async (t) => {
  t.equal(
    toJson(sortKeys(toUiTokenAmount(9_007_199_254_740_993n, { decimals: 6 }))),
    '{"amount":"9007199254740993","decimals":6,"uiAmount":9007199254.740992,"uiAmountString":"9007199254.740993"}',
  );
  const amounts = fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.integer({ min: 0, max: 18 }));
  fc.assert(
    fc.property(amounts, ([amount, decimals]) => {
      const [whole = '', fraction = ''] = toUiTokenAmount(amount, { decimals }).uiAmountString.split('.');
      return BigInt(whole + fraction.padEnd(decimals, '0')) === amount && !fraction.endsWith('0');
    }),
  );
});

t.test('an instruction is encoded as the node encoded the same bytes', async (t) => {
  const [raw, encoded] = ['full json', 'full jsonParsed'].map(
    (note) => JSON.parse(recordedResponse(note)).result.transactions.at(-1), // the first transaction is a vote
  );
  const { accountKeys, instructions } = raw.transaction.message;
  const inner = (transaction: any): any[] =>
    transaction.meta.innerInstructions.flatMap((list: any) => list.instructions);
  const parse = ({ programIdIndex, accounts, data, stackHeight }: any): unknown =>
    encodeParsedInstruction({
      programId: accountKeys[programIdIndex],
      accounts: accounts.map((index: number) => accountKeys[index]),
      data: bs58.decode(data),
      stackHeight,
    });
  const expected = [...encoded.transaction.message.instructions, ...inner(encoded)];
  t.ok(expected.length > 4);
  const parsed = [...instructions, ...inner(raw)].map(parse);
  t.strictSame(JSON.parse(toJson(parsed)), expected);
});

t.test('an account or instruction of any bytes is encoded without an error', async (t) => {
  const owners = [
    '11111111111111111111111111111111',
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
    'AddressLookupTab1e1111111111111111111111111',
    'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
    'Stake11111111111111111111111111111111111111',
    'BPFLoaderUpgradeab1e11111111111111111111111',
    'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  ];
  const whole = recordedAccount('token-2022 mint with extensions').data;
  const damaged = fc.tuple(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length)).map(([at, byte, end]) =>
    Uint8Array.from(whole)
      .fill(byte, at, at + 1)
      .subarray(0, end),
  );
  const data = fc.oneof(fc.uint8Array({ maxLength: 400 }), damaged);
  fc.assert(
    fc.property(fc.constantFrom(...owners), data, fc.array(fc.constantFrom(...owners)), (owner, data, accounts) => {
      toJson(parseAccountData('', { lamports: 1n, owner, executable: false, data }, scale));
      toJson(encodeParsedInstruction({ programId: owner, accounts, data, stackHeight: 1 }));
    }),
    { numRuns: 2000 },
  );
  t.pass('nothing was thrown');
});
