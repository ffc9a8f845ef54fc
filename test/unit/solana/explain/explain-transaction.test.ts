import t from 'tap';
import { enhanceTransaction } from '../../../../src/solana/explain/enhanced-transaction.ts';
import { explainTransaction } from '../../../../src/solana/explain/explain-transaction.ts';
import type { Transaction } from '../../../../src/solana/transactions/transaction.ts';
import { recordedTransactions } from '../../../support/recorded-transactions.ts';

const transactions = new Map(recordedTransactions('transactions').map(({ name, transaction }) => [name, transaction]));
const explainRecorded = (name: string, changes: Partial<Transaction> = {}): string => {
  const transaction = transactions.get(name);
  if (transaction === undefined) throw new Error(`no recording ${name}`);
  return explainTransaction(enhanceTransaction({ ...transaction, ...changes }));
};

const SENTENCES: Readonly<Record<string, string>> = {
  'tx/2kHbPUGzehen_jsonParsed': '4Y5Y…xmgy sent 0.024922118 SOL to 3eF3…h899. The fee was 0.000005 SOL.',
  'tx/4UoyrhPVWBCk_json': 'FLip…nwkR sent a total of 0.000000017 SOL to 17 accounts. The fee was 0.000005 SOL.',
  'tx/4zZKwjedLM5c_jsonParsed': '7zGp…GMyE sent 0.05 SOL to 6S1V…4uMs. CdmZ…jch9 paid the fee of 0.000005 SOL.',
  'tx/28f8jFzCX3D1_json':
    '54r6…u1EY sent 29.69787 USDC to Gabw…FUnK. The fee was 0.000015 SOL (priority fee 0.00001 SOL).',
  'tx/5ChR6nE7SssB_json':
    '9rJ4…U6Q2 sent the NFT HFQ4…4VzF to 54r6…u1EY. The fee was 0.000080001 SOL (priority fee 0.000075001 SOL).',
  'tx/2NPwsoX7Nyfa_json':
    '3hus…2vtB swapped 0.4 SOL for 3861519.639304 of the token 3p7e…pump on Jupiter. The fee was 0.000014915 SOL (priority fee 0.000009915 SOL).',
  'tx/3HdFhHNyf2uK_jsonParsed':
    'GAgn…o1bz swapped 182.560735 USDC for 0.000081057 of the token 9gr8…mcQz on Jupiter Limit Order. 71WD…xiJ6 paid the fee of 0.000015 SOL (priority fee 0.00001 SOL).',
  'tx/31ycbQtF5EEi_json':
    'Efbb…W4WE swapped 10 SOL for 998528.432013 of the token KMnD…pump on OKX. The fee was 0.000541958 SOL (priority fee 0.000536958 SOL).',
  'tx/33LHUzKfhBvU_jsonParsed':
    '2vr5…Vkef lost 0.000481605 SOL by arbitrage on Pump.fun and paid 0.000962563 SOL to JBfd…UA4i: 0.001476168 SOL less in all, with the fee. The fee was 0.000032 SOL (priority fee 0.000027 SOL).',
  'tx-rebuilt/NFT_SALE-MAGIC_EDEN-22NNXwisty':
    'qudo…oWmq bought the NFT 3EBx…SXN2 from Matr…PZsv for 0.1 SOL on Magic Eden. The fee was 0.00001 SOL.',
  'tx-rebuilt/BURN-SOLANA_PROGRAM_LIBRARY-zi7xmqu43f':
    'BGkp…PKCu burned 6.9 of the token idoL…Ni4j and 3 of the token 8phL…wPjs with Sol Incinerator, and also sent 0.00007856 SOL to burn…Qxgt. The fee was 0.000005 SOL.',
  'tx-rebuilt/COMPRESSED_NFT_MINT-BUBBLEGUM-3GUi8Encn6':
    '8hDX…n88Q minted the compressed NFT Amg9…AQ5X to FCHT…F4kX with Bubblegum. The fee was 0.0000062 SOL (priority fee 0.0000012 SOL).',
  'tx/2BhH7DcQJMPB_json':
    'HuUp…h2G3 staked 1.98528288 SOL with the validator EXhY…uhQw. The fee was 0.000017733 SOL (priority fee 0.000012733 SOL).',
  'tx/4j2wEyeo2gFr_json':
    'npN8…57a9 withdrew 92.204933944 SOL from the stake account fqR3…44VC. The fee was 0.00001 SOL.',
  'tx-rebuilt/UNSTAKE_SOL-STAKE_PROGRAM-5vubU14wtr':
    'FCHT…F4kX began to unstake the stake account D3di…zzqj. The fee was 0.000065 SOL (priority fee 0.00006 SOL).',
  'tx/3Nz9gnhcxgYS_json': 'CBG4…1jUF opened an account for 7T8c…hPxY that can hold USDC. The fee was 0.000005 SOL.',
  'tx/F47c3CizgWhK_json': 'JD25…FiMy closed 2 token accounts through Jupiter DCA. The fee was 0.000007 SOL.',
  'tx/5aVj7exPmdLL_jsonParsed': 'Hd3f…3bD5 wrote the memo “Payment for invoice #123”. The fee was 0.000005 SOL.',
  'tx/4zExa66hUSr2_json': 'The validator EsEt…zuxF voted for blocks. 5p8q…wUjd paid the fee of 0.000005 SOL.',
  'tx/5iBYjBYCphzj_json':
    'AKbG…Ak6L called the bridge ZetaChain (withdraw); balances of other accounts changed. The fee was 0.000005 SOL.',
  'tx/DC4yP5xEUhHu_jsonParsed': 'HUZu…gjWs updated an oracle of Pyth. The fee was 0.000005 SOL.',
  'tx/29ku1FzyNHgx_jsonParsed':
    'D32c…ezQr tried to vote for a block, but step 1 of 1 (Vote) failed: the vote was already recorded or not in the recent slots (error 0, VoteTooOld). Nothing moved, but the fee of 0.000005 SOL was paid.',
  'tx/2M5hpf4CNdfV_json':
    'BZRr…j6my tried to use a bridge, but step 3 of 3 (ZetaChain, in System) failed: the sender did not have enough SOL (error 1, ResultWithNegativeLamports). Nothing moved, but the fee of 0.000055 SOL (priority fee 0.00005 SOL) was paid.',
  'tx/4Ud63HtJxynB_json':
    'FLiP…YMFF tried to send something, but it failed: it would leave an account with less SOL than the minimum an account must hold. Nothing moved, but the fee of 0.000005 SOL was paid.',
  'tx/5nFUQgNSdqTd_json':
    'AKbG…Ak6L tried to use a bridge, but step 1 of 1 (ZetaChain) failed: NonceMismatch (error 6002). Nothing moved, but the fee of 0.000005 SOL was paid.',
  'validator/174 createNonce, jsonParsed': 'FVj2…1nUU opened the account DPbX…iPeQ. The fee was 0.00001 SOL.',
  'tx/2Cxrz8NWZvN7_json':
    '7T8c…hPxY deposited 500 USDC on Jupiter Lend and got 487.817578 of the token 9BEc…PA2D. The fee was 0.000005 SOL.',
  'tx/2D9xoA7oaXvS_json':
    'FPjx…pBvt deposited 10.000001 of the token 7GxA…otXk on Jupiter Lend. The fee was 0.000105 SOL (priority fee 0.0001 SOL).',
  'tx/2GfJEnDHUXQU_json':
    '5Y3z…bX5G borrowed 6.1264 EURC on Jupiter Lend. The fee was 0.000105 SOL (priority fee 0.0001 SOL).',
  'tx/3bYXWjjNkVZp_json':
    '4Ddr…9nNh swapped 592443959 of the token CnNV…pump for 37.062911064 SOL on Pump.fun, and also sent 0.01 SOL to HWEo…5yoY. The fee was 0.0000365 SOL (priority fee 0.0000315 SOL).',
  'tx/4Tnpv3ZgMcUT_json':
    '5P8Q…9iZT withdrew 2252307.824539 of the token 2u1t…jGWH on Jupiter Lend for 2166476.510395 of the token 9fvH…HAif. The fee was 0.000005 SOL.',
  'tx/4aBP4353YQuQ_jsonParsed':
    '4abv…t7xA opened an order with 2390 USDC on Jupiter Limit Order. The fee was 0.000053787 SOL (priority fee 0.000048787 SOL).',
  'tx/5EZNycMMgz8k_json':
    '3k2p…PLKJ cancelled an order on Jupiter DCA and got back 225000 of the token 6T44…pump. The fee was 0.000030715 SOL (priority fee 0.000025715 SOL).',
  'tx/5GqfwKpphZvY_json':
    '7AEC…WnZe swapped 90.871408 of the token SRMu…KWRt for 108.404808 RAY on Raydium. The fee was 0.000005 SOL.',
  'tx/5HzJs4E3KobY_json':
    '7T8c…hPxY took 0.007912976 SOL and 1.162659 TRUMP out of a pool on Raydium. The fee was 0.00002 SOL (priority fee 0.000015 SOL).',
  'tx/5P8xF7oLokSY_json':
    '7T8c…hPxY deposited 0.500000001 SOL on Jupiter Lend. The fee was 0.000105 SOL (priority fee 0.0001 SOL).',
  'tx/5qrv9rzi2Yph_jsonParsed':
    'HB7D…8bMk swapped 0.26865 SOL for 4.120254323 of the token BeRU…NNfL on Orca, then sent 4.120244803 of it through Hyperlane, and also sent 0.00135 SOL to BWbH…g7wh. The fee was 0.00005015 SOL (priority fee 0.00005 SOL).',
  'tx/63hssgYbn6Ky_json':
    'BxDj…v9Wz opened an order with 217363 of the token ED5n…PJBY on Jupiter DCA. The fee was 0.000030932 SOL (priority fee 0.000025932 SOL).',
  'tx/L6rJy9mocHed_jsonParsed':
    '4abv…t7xA opened an order with 178 jupSOL on Jupiter Limit Order. The fee was 0.000278779 SOL (priority fee 0.000273779 SOL).',
  'tx/duP4A5qSZKr6_json':
    '8TWY…QRVG withdrew 575000 of the token AvZZ…ZeUj on Jupiter Lend. The fee was 0.000105 SOL (priority fee 0.0001 SOL).',
  'tx/ei3hSQvysmeq_json': '4vYW…fuH7 opened an order with 500 USDC on Jupiter DCA. The fee was 0.000005 SOL.',
  'tx-cut/1NQ8LioHMiog_base64':
    'AeBz…sD7w swapped 1075467.445064332 of the token 9tb2…a777 for 2.439411246 SOL on Heaven, and also sent a total of 0.028212813 SOL to 3 accounts. The fee was 0.001005 SOL (priority fee 0.001 SOL).',
  'tx-cut/279LW4Agp7FR_base64':
    '8H1L…1y6U made 0.011853 USDC by arbitrage on 4 exchanges and paid 0.001011134 SOL to 3SpK…xm5K: 0.001016134 SOL less in all, with the fee. The fee was 0.000005 SOL.',
  'tx-cut/2CTZBoy15USz_base64':
    'Data…pM58 wrote new prices on Obric. The fee was 0.000005801 SOL (priority fee 0.000000801 SOL) and the tip 0.000005 SOL.',
  'tx-cut/2M3fo2c9xDxi_base64':
    '3ACp…aFdW placed or changed orders on Phoenix. The fee was 0.000023 SOL (priority fee 0.000018 SOL) and the tip 0.000018 SOL.',
  'tx-cut/3YLonwuu2Y6v_base64':
    'px1r…2HwH wrote new prices on SolFi. The fee was 0.000005 SOL and the tip 0.001073803 SOL.',
  'tx-cut/3iQz31LZXf2c_base64':
    'Fog2…cXGs updated an oracle of Lifinity. The fee was 0.000005 SOL and the tip 0.000005991 SOL.',
  'tx-cut/3sjpyYTATPqa_base64':
    'oUwU…v1ro made 0.000073193 SOL by arbitrage on 4 exchanges and paid 0.000915445 SOL to 9GB1…rZzA: 0.00084745 SOL less in all, with the fee. The fee was 0.000005198 SOL (priority fee 0.000000198 SOL).',
  'tx-cut/4erVw6NaHk64_base64':
    'BNFe…KQre withdrew 0.00002087 SOL from the stake account 4Ubv…r1Ls to Av9H…HMtG through Marinade. The fee was 0.000005 SOL.',
  'tx-cut/5ZhAdmw29qFW_base64':
    '2F84…UibU called the bridge Mayan (bid); nothing but a tip changed hands. The fee was 0.000008933 SOL (priority fee 0.000003933 SOL) and the tip 0.000525 SOL.',
  'tx-cut/66wE2iBT2ZxK_base64':
    'A19d…9zbQ received 0.001024 SOL through the program H8Qk…NLe4. The fee was 0.00001 SOL and the tip 0.001014 SOL.',
  'tx-cut/aLKjam64kpN8_base64':
    '454E…51UH moved 0.067368065 SOL from 42me…Zsyj to 34h9…8vpF. The fee was 0.0000475 SOL (priority fee 0.0000375 SOL).',
  'tx-rebuilt/UNKNOWN-UNKNOWN-2Zg4jTXoAa':
    'FCHT…F4kX claimed 1500 of the token SEND…pCxa on Streamflow. The fee was 0.000305 SOL.',
};

t.test('recorded transactions are explained in plain sentences', async (t) => {
  for (const [name, sentence] of Object.entries(SENTENCES)) t.equal(explainRecorded(name), sentence, name);
});

t.test('logs sent along decode a failure that the record alone does not', async (t) => {
  const logs = [
    'Program 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d invoke [1]',
    'Program log: Error: the market is closed.',
    'Program 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d failed: custom program error: 0x1',
  ];
  t.match(
    explainRecorded('tx/2M5hpf4CNdfV_json', { logs }),
    /failed: the market is closed \(error 1\)\. .* the fee of 0\.000055 SOL \(priority fee 0\.00005 SOL\) was paid\.$/,
  );
  t.match(
    explainRecorded('tx/2M5hpf4CNdfV_json', { logs: null }),
    /failed: the program gave its own error number 1\. /,
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
  t.ok(
    explainRecorded('tx/2M5hpf4CNdfV_json', {
      err,
      logs: [
        `Program 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d invoke [1]`,
        `Program log: Error: ${'y'.repeat(5000)}`,
        'Program 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d failed: x',
      ],
    }).length <= 280,
  );
});
