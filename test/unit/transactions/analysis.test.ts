import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { isWrappedSol, knownMintSymbol, WRAPPED_SOL } from '../../../src/shared/domain/known-mints.ts';
import { parseExactJson } from '../../../src/shared/domain/parse-exact-json.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  CLOCK_SYSVAR,
  COMPUTE_BUDGET_PROGRAM,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  METADATA_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../../src/shared/domain/well-known-addresses.ts';
import { findAddressWithSeed } from '../../../src/transactions/accounts/program-derived-address.ts';
import { effectsOf } from '../../../src/transactions/analysis/action.ts';
import type { AuthorityChange } from '../../../src/transactions/analysis/authority-changes.ts';
import { accountDataOf } from '../../../src/transactions/analysis/balance-changes.ts';
import { extractTransfers } from '../../../src/transactions/analysis/extract-transfers.ts';
import { heliusTransfersOf } from '../../../src/transactions/analysis/helius-transfers.ts';
import { sourceOf } from '../../../src/transactions/analysis/main-program.ts';
import { type NetRow, netRowOf } from '../../../src/transactions/analysis/net-row.ts';
import { parseTransaction } from '../../../src/transactions/analysis/parse-transaction.ts';
import { interpretTransaction } from '../../../src/transactions/analysis/rules/interpret-transaction.ts';
import type { Transfer } from '../../../src/transactions/analysis/transfer.ts';
import { transferRowsOf } from '../../../src/transactions/analysis/transfer-row.ts';
import { findOpenedAccounts } from '../../../src/transactions/analysis/wallet-changes.ts';
import { formatUnits } from '../../../src/transactions/codec/format-decimal.ts';
import { asArray, asBigInt, asObject, asString, type JsonObject } from '../../../src/transactions/codec/json-fields.ts';
import { enhanceTransaction } from '../../../src/transactions/explain/enhanced-transaction.ts';
import { explainTransaction } from '../../../src/transactions/explain/explain-transaction.ts';
import { describeFor } from '../../../src/transactions/explain/perspective.ts';
import { shortAddress } from '../../../src/transactions/explain/sentence-formats.ts';
import { isTradingProgram } from '../../../src/transactions/programs/known-programs.ts';
import { anchorDiscriminator } from '../../../src/transactions/programs/program-instruction.ts';
import { normalizeTransaction, type Transaction } from '../../../src/transactions/records/transaction.ts';
import { ATTACKS, forgeAttack, lackingIn, scenesOf } from '../../support/forged-attacks.ts';
import { FORMS, type ForgedCall, type ForgedRecord, type Forgery } from '../../support/forged-transaction.ts';
import {
  ALL,
  account,
  BONK,
  bonk,
  buffer,
  decoy,
  delegate,
  dust,
  freezer,
  GAME,
  JUPITER,
  key,
  multisig,
  multisigUsdc,
  newAccount,
  PYTH,
  pool,
  poolBonk,
  poolUsdc,
  prepare,
  program,
  RAYDIUM,
  routedSwapOf,
  SQUADS,
  sponsor,
  stake,
  stolenBonk,
  stolenSol,
  stolenUsdc,
  stolenUsdt,
  swapOf,
  table,
  thief,
  traded,
  USDC,
  USDT,
  usdc,
  usdt,
  victim,
  wallet,
  wsol,
} from '../../support/forged-world.ts';
import { pluck } from '../../support/pluck.ts';
import {
  enhancedOf,
  type RecordedTransaction,
  readRecordings,
  recordedTransactions,
} from '../../support/recorded-transactions.ts';
import {
  addressesOf,
  addressOf,
  bytesOf,
  type SyntheticBalance,
  type SyntheticCall,
  type SyntheticTransaction,
  syntheticTransaction as syntheticFromCalls,
  syntheticTransaction,
  u64Bytes,
} from '../../support/synthetic-transaction.ts';
import { expectListedDifferences } from './difference-table.ts';

const context = { confirmationStatus: 'finalized', symbolOf: knownMintSymbol } as const;

t.test('authority-changes', async (t) => {
  const [owner, heir, delegate, mint, account, base] = addressesOf(1, 2, 3, 4, 5, 6);
  const u32 = (value: number): number[] => [value, 0, 0, 0];
  const heirBytes = [...bytesOf(2)];
  const text = (value: string): number[] => [...u64Bytes(BigInt(value.length)), ...new TextEncoder().encode(value)];

  const tokens = [{ account, mint, owner, before: 900n, after: 900n }];

  const changesOf = (transaction: Partial<SyntheticTransaction>): readonly AuthorityChange[] =>
    parseTransaction(syntheticTransaction({ calls: [], signers: [owner], tokens, ...transaction })).authorityChanges;

  const changeBy = (
    programId: string,
    accounts: readonly string[],
    data: readonly number[],
    further: Partial<SyntheticTransaction> = {},
  ): AuthorityChange | undefined => changesOf({ calls: [{ programId, accounts, data }], ...further })[0];

  t.test('a change of the owner of tokens names what the account holds', async (t) => {
    for (const programId of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
      t.strictSame(changeBy(programId, [account, owner], [6, 2, 1, ...heirBytes]), {
        kind: 'setAuthority',
        authorityType: 'accountOwner',
        programId,
        account,
        mint,
        owner,
        from: owner,
        to: heir,
        authority: owner,
        amount: null,
        basisPoints: null,
        tokenBalance: '900',
        decimals: 6,
        lamports: null,
        lockup: null,
        effectiveTimestamp: null,
        instructionIdx: 0,
        innerInstructionIdx: null,
      });
    }
  });

  t.test('every authority type of the token programs has its name, holder and account', async (t) => {
    const types = Array.from({ length: 18 }, (_, type) => {
      const change = changeBy(TOKEN_2022_PROGRAM, [account, delegate], [6, type, 0]);
      return [change?.authorityType, change?.account, change?.from, change?.to];
    });
    t.strictSame(
      types,
      [
        ...['mintTokens', 'freezeAccount', 'accountOwner', 'closeAccount', 'transferFeeConfig', 'withheldWithdraw'],
        ...['closeMint', 'interestRate', 'permanentDelegate', 'confidentialTransferMint', 'transferHookProgramId'],
        ...['confidentialTransferFeeConfig', 'metadataPointer', 'groupPointer', 'groupMemberPointer', 'scaledUiAmount'],
        ...['pause', 'permissionedBurn'],
      ].map((name) => [name, account, name === 'accountOwner' ? owner : delegate, null]),
    );
  });

  t.test('approvals, freezes, pauses and rights of new mints', async (t) => {
    const most = 2n ** 64n - 1n;
    const token = (accounts: readonly string[], ...data: readonly number[]) =>
      changeBy(TOKEN_2022_PROGRAM, accounts, data);
    t.match(token([account, delegate, owner], 4, ...u64Bytes(most)), {
      kind: 'approve',
      ...{ account, mint, owner, to: delegate, amount: `${most}`, tokenBalance: '900', decimals: 6 },
    });
    t.match(token([account, mint, delegate, base, owner], 13, ...u64Bytes(5n), 2), {
      ...{ kind: 'approve', mint, owner, authority: base, amount: '5', decimals: 2 },
    });
    t.match(token([account, owner], 5), { kind: 'revoke', account, owner, to: null, tokenBalance: '900' });
    t.match(token([account, mint, heir], 10), { kind: 'freeze', account, mint, owner, authority: heir });
    t.match(token([account, mint, heir], 11), { kind: 'thaw', account, mint, owner, authority: heir });
    t.match(token([mint, heir], 44, 1), { kind: 'pause', account: mint, mint, authority: heir, lamports: null });
    t.match(token([mint, heir], 44, 2), { kind: 'resume', account: mint });
    t.match(token([mint, heir], 28, 1, 2), { kind: 'freezeNewAccounts', mint, authority: heir });
    t.match(token([mint, heir], 28, 1, 1), { kind: 'thawNewAccounts', mint });
    const given = { kind: 'initializeAuthority', mint, from: null, to: heir };
    t.match(token([mint], 35, ...heirBytes), { ...given, authorityType: 'permanentDelegate' });
    t.match(token([mint], 25, 1, ...heirBytes), { ...given, authorityType: 'closeMint' });
    const call = { programId: TOKEN_2022_PROGRAM, accounts: [mint, heir] };
    const scaled = syntheticTransaction({ calls: [{ ...call, data: [43, 1, ...u64Bytes(0n), ...u64Bytes(90n)] }] });
    for (const [blockTime, effectiveTimestamp] of [
      [null, '90'],
      [89, '90'],
      [90, null],
    ] as const)
      t.match(parseTransaction({ ...scaled, blockTime }).authorityChanges, [
        { authorityType: 'scale', effectiveTimestamp },
      ]);
  });

  t.test('rights over stake: with and without sysvars, checked, by a seed', async (t) => {
    const lamports = { before: [10n, 7_000n], after: [10n, 7_000n] };
    const stake = (accounts: readonly string[], ...data: readonly number[]) =>
      changeBy(STAKE_PROGRAM, accounts, data, { accounts: [owner, account], lamports, tokens: [] });
    const change = { kind: 'setAuthority', account, to: heir, lamports: '7000', mint: null, tokenBalance: null };
    const staker = { ...change, authorityType: 'staker', from: null, authority: owner };
    const withdrawer = { ...change, authorityType: 'withdrawer', from: owner, authority: owner };
    t.match(stake([account, CLOCK_SYSVAR, owner], ...u32(1), ...heirBytes, ...u32(0)), staker);
    t.match(stake([account, owner], ...u32(1), ...heirBytes, ...u32(1)), withdrawer);
    t.match(stake([account, CLOCK_SYSVAR, owner, heir], ...u32(10), ...u32(1)), withdrawer);
    t.match(stake([account, owner, heir], ...u32(10), ...u32(0)), staker);
    const seeded = { ...withdrawer, ...seededBy('a seed') };
    t.match(
      stake([account, base, CLOCK_SYSVAR], ...u32(8), ...heirBytes, ...u32(1), ...text('a seed'), ...bytesOf(9)),
      seeded,
    );
    t.match(stake([account, base, heir], ...u32(11), ...u32(1), ...text('a seed'), ...bytesOf(9)), seeded);
    const lockup = { kind: 'setLockup', account, authority: owner, lamports: '7000' };
    t.match(stake([account, owner], ...u32(6), 1, ...u64Bytes(99n), 0, 1, ...heirBytes), {
      ...lockup,
      ...{ to: heir, lockup: { unixTimestamp: '99', epoch: null } },
    });
    t.match(stake([account, owner, heir], ...u32(12), 0, 1, ...u64Bytes(3n)), {
      ...lockup,
      ...{ to: heir, lockup: { unixTimestamp: null, epoch: '3' } },
    });
  });

  const seededBy = (seed: string) => {
    return { authority: base, from: findAddressWithSeed(base, seed, addressOf(9)) };
  };

  t.test('rights over votes, nonces, programs and lookup tables', async (t) => {
    const vote = (accounts: readonly string[], ...data: readonly number[]) =>
      changeBy(VOTE_PROGRAM, [account, CLOCK_SYSVAR, ...accounts], data);
    const change = { kind: 'setAuthority', account, to: heir };
    t.match(vote([owner], ...u32(1), ...heirBytes, ...u32(0)), { ...change, authorityType: 'voter', from: null });
    t.match(vote([owner, heir], ...u32(7), ...u32(1)), { ...change, authorityType: 'withdrawer', from: owner });
    t.match(vote([owner, heir], ...u32(7), ...u32(2), ...Array<number>(144).fill(1)), { authorityType: 'voter' });
    t.match(vote([base], ...u32(10), ...u32(1), ...bytesOf(9), ...text('s'), ...heirBytes), {
      ...change,
      ...seededBy('s'),
    });
    t.match(vote([base, heir], ...u32(11), ...u32(1), ...bytesOf(9), ...text('s')), { ...change, ...seededBy('s') });
    t.match(changeBy(SYSTEM_PROGRAM, [account, owner], [...u32(7), ...heirBytes]), {
      ...{ ...change, authorityType: 'nonce', from: owner },
    });
    const upgrade = { ...change, authorityType: 'upgrade', from: owner, authority: owner };
    t.match(changeBy(UPGRADEABLE_LOADER, [account, owner, heir], u32(4)), upgrade);
    t.match(changeBy(UPGRADEABLE_LOADER, [account, owner], u32(4)), { ...upgrade, to: null });
    t.match(changeBy(UPGRADEABLE_LOADER, [account, owner, heir], u32(7)), upgrade);
    t.match(changeBy(LOADER_V4, [account, owner, heir], u32(5)), upgrade);
    t.match(changeBy(LOADER_V4, [account, owner], u32(6)), { ...upgrade, to: null });
    t.match(changeBy(UPGRADEABLE_LOADER, [base, account, heir, heir, heir, heir, owner], u32(3)), {
      ...{ kind: 'upgradeProgram', account, authority: owner, to: null },
    });
    t.match(changeBy(LOOKUP_TABLE_PROGRAM, [account, owner], u32(1)), {
      ...{ kind: 'setAuthority', authorityType: 'lookupTable', from: owner, to: null },
    });
  });

  t.test('an account that has something and is assigned to a program is given away; a new one is opened', async (t) => {
    const assign = (before: bigint, signers: readonly string[], space?: bigint) => {
      const allocated = space === undefined ? [] : [{ data: [...u32(8), ...u64Bytes(space)] }];
      const calls = [...allocated, { data: [...u32(1), ...heirBytes] }];
      const lamports = [before, before, before];
      return changesOf({
        calls: calls.map(({ data }) => ({ programId: SYSTEM_PROGRAM, accounts: [owner], data })),
        ...{
          signers: [base, ...signers],
          accounts: [owner],
          tokens: [],
          lamports: { before: lamports, after: lamports },
        },
      })[0];
    };
    t.match(assign(8n, [owner]), { kind: 'assign', account: owner, to: heir, lamports: '8' });
    t.equal(assign(0n, [owner]), undefined, 'it is opened');
    t.equal(assign(8n, [delegate]), undefined, 'a program opens its own account, which someone paid into before');
    const made = { kind: 'initializeAuthority', authorityType: 'program', account: owner, to: heir };
    t.match(assign(890_880n, [owner], 100n), { ...made, lamports: '890880' }, 'somebody paid the least into it');
    t.match(assign(890_881n, [owner], 100n), { kind: 'assign' }, 'it was a wallet');
  });

  t.test('inner calls change rights, too; a failed transaction changes none', async (t) => {
    const call = { programId: TOKEN_PROGRAM, accounts: [account, delegate, owner], data: [4, ...u64Bytes(1n)] };
    const outer = { programId: addressOf(77), accounts: [], data: [0] };
    t.match(changesOf({ calls: [outer], inner: [call] }), [{ instructionIdx: 0, innerInstructionIdx: 0 }]);
    t.strictSame(changesOf({ calls: [call], err: { InstructionError: [0, 'InvalidAccountData'] } }), []);
  });

  t.test('what is at stake is the balance at that time', async (t) => {
    const receive = { programId: TOKEN_PROGRAM, accounts: [base, account, heir], data: [3, ...u64Bytes(100n)] };
    const give = { programId: TOKEN_PROGRAM, accounts: [account, owner], data: [6, 2, 1, ...heirBytes] };
    const [first, second] = changesOf({
      calls: [give, receive, { ...give, accounts: [account, heir], data: [6, 2, 1, ...bytesOf(3)] }],
      tokens: [
        { account, mint, owner, before: 900n, after: 1_000n },
        { account: base, mint, owner: heir, before: 100n, after: 0n },
      ],
    });
    t.match(first, { from: owner, to: heir, tokenBalance: '900' });
    t.match(second, { from: heir, to: delegate, tokenBalance: '1000' });
  });
});

t.test('confidential-transfers', async (t) => {
  const [wallet, shop, mint, walletTokens, shopTokens, proof, otherProof, lastProof] = Array.from(
    { length: 8 },
    (_, n) => addressOf(n + 1),
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
      {
        type: 'depositConfidential',
        amount: 40n,
        fromTokenAccount: walletTokens,
        toTokenAccount: null,
        feeAmount: null,
      },
    ]);
    const data = [27, 6, ...u64Bytes(30n), 6, ...BALANCE, 0, 0];
    const withdrawal = viewOf(token([walletTokens, mint, proof, otherProof, wallet], ...data), balances(100n, 130n));
    t.match(parseTransaction(withdrawal).confidentialTransfers, [{ type: 'withdraw', mint, amount: '30', ...owners }]);
    t.match(extractTransfers(withdrawal), [
      { type: 'withdrawConfidential', amount: 30n, toTokenAccount: walletTokens },
    ]);
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
});

t.test('extract-transfers', async (t) => {
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
        sum(accountDataOf(transaction).map(({ nativeBalanceChange }) => BigInt(nativeBalanceChange ?? 0))) !==
        -(transaction.fee ?? 0n),
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
      for (const { type, asset, fromTokenAccount, toTokenAccount, amount, feeAmount } of extractTransfers(
        transaction,
      )) {
        if (asset === 'SOL' || type === 'changeOwner') continue;
        add(fromTokenAccount, -amount);
        add(toTokenAccount, amount - (feeAmount ?? 0n));
      }
      for (const { account, tokenBalanceChanges } of accountDataOf(transaction))
        add(account, -sum(tokenBalanceChanges.map(({ rawTokenAmount }) => BigInt(rawTokenAmount.tokenAmount))));
      if ([...moved.values()].some((rest) => rest !== 0n)) broken.add(name);
    }
    t.strictSame(unrecorded, ['tx/29ku1FzyNHgx_jsonParsed']); // from 2020, before nodes recorded token balances
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
      for (const { mint, rawTokenAmount } of accountDataOf(transaction).flatMap((data) => data.tokenBalanceChanges))
        add(mint, BigInt(rawTokenAmount.tokenAmount));
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

  t.test('owners are the owners of the accounts, whichever account signed', async (t) => {
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
        [payer, null, 90_871_408n], // the vault's owner is unknown
        [pools, payer, 10_771_935_087n],
        [payer, null, 10_766_894_605n],
        [pools, payer, 108_404_808n],
      ],
    );
  });

  t.test('in an old record a delegate is no owner, and a new owner one only after the change', async (t) => {
    const [mint, account, owner, delegate, heir, other] = addressesOf(1, 2, 3, 4, 5, 6);
    const call = (accounts: readonly string[], ...data: readonly number[]): SyntheticCall => ({
      programId: TOKEN_PROGRAM,
      accounts,
      data,
    });
    const transaction = syntheticFromCalls({
      calls: [
        call([account, delegate, owner], 4, ...u64Bytes(5n)),
        call([account, other, delegate], 3, ...u64Bytes(5n)),
        call([account, owner], 6, 2, 1, ...bytesOf(5)),
      ],
      signers: [delegate],
      tokens: [
        { account, mint, owner: null, before: 7n, after: 2n },
        { account: other, mint, owner: null, before: 0n, after: 5n },
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
    const closing = rows.find(({ type }) => type === 'closeAccount');
    t.match(closing, { amount: 19_924n });
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
      { type: 'transfer', call: { innerIndex: null }, amount: 1_000_000n },
      { type: 'createAccount', call: { innerIndex: 1 }, amount: 1_148_400n },
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
          instructions: instructions.map((parsed) => ({ program: 'spl-token', programId: TOKEN_PROGRAM, parsed })),
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
    t.strictSame(pluck(rows, 'feeAmount'), [10n, 30n]);
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
    t.match(accountDataOf(changed)[0]?.tokenBalanceChanges, [
      { mint: 'other', rawTokenAmount: { tokenAmount: '-2' } },
      { mint: 'mint', rawTokenAmount: { tokenAmount: '3' } },
    ]);
  });

  const RENT = 2_039_280n;
  const [walletSol, otherSol, wallet, shop] = addressesOf(11, 12, 1, 2);

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
        native: heliusTransfersOf(rows).nativeTransfers.map(({ amount, toUserAccount }) => [amount, toUserAccount]),
      };
    };
    t.strictSame(transfersOf(unwrap(45, 1, ...u64Bytes(400n)), [RENT + 600n, 600n]), {
      rows: [['unwrap', 400n, shop]],
      native: [['400', shop]],
    });
    t.strictSame(transfersOf(unwrap(45, 0), [RENT, 0n]), {
      rows: [['unwrap', 1_000n, shop]],
      native: [['1000', shop]],
    });
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
      heliusTransfersOf(extractTransfers(transaction)).nativeTransfers.map(({ amount }) => amount),
      [`${RENT + 5n}`, `${RENT + 7n}`],
    );
  });

  t.test('lamports that leave mints, tables and buffers are transfers, though no instruction names them', async (t) => {
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
  });

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
    const [transfer] = heliusTransfersOf(extractTransfers(transaction)).tokenTransfers;
    t.match(transfer, { amount: '400000', feeAmount: '2000' });
  });

  t.test('an address gets the rows that involve it, from its side', async (t) => {
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
});

t.test('forged-transactions', async (t) => {
  const describe = (transaction: Transaction): string => enhanceTransaction(transaction).description;

  t.test('a theft is described, whatever stands beside it', async (t) => {
    const found: string[] = [];
    for (const [at, [name, attack]] of Object.entries(ATTACKS).entries()) {
      // in all scenes and forms: `npm run check -- transactions`
      const scenes = scenesOf(attack);
      const scene = scenes[at % scenes.length] ?? '';
      const form = (['whole', 'withoutDepths', 'withTables'] as const)[at % 3];
      const transaction = forgeAttack(scene, name, form);
      if (transaction === null) continue;
      const faults = [...lackingIn(transaction, attack), ...openChanges(transaction), ...wrongFor(thief, transaction)];
      found.push(...faults.map((text) => `${name}, ${scene}, ${form}: ${text}`));
    }
    t.strictSame(found, []);
  });

  t.test('a buyer learns who else has rights over a token that a seller makes', async (t) => {
    const forgery = prepare([thief, victim]);
    forgery.hold(newAccount, victim, account, 0n);
    const made = forgery.call(TOKEN_PROGRAM, [account], [20, 6, ...key(thief), 0]);
    const record = forgery.record([made, forgery.send(usdc, stolenUsdc, victim, 5n), forgery.mint(newAccount, 9n)]);
    t.match(describeFor(victim, record), `${thief} got the right to mint of ${account}; you sent 0.000005 USDC to`);
  });

  t.test('each of many proposals is read in the same time', async (t) => {
    const data = [
      ...Buffer.from(anchorDiscriminator('config_transaction_create'), 'hex'),
      1,
      0,
      0,
      0,
      0,
      ...key(thief),
      7,
    ];
    const forgery = prepare();
    const record = forgery.record(
      Array.from({ length: 1000 }, () => forgery.call(SQUADS, [multisig, account, victim], data)),
    );
    const started = process.cpuUsage();
    t.equal(parseTransaction(record).authorityChanges.length, 1000);
    t.ok(process.cpuUsage(started).user < 1_500_000);
  });

  t.test('decimals that a record lacks on one side are no loss', async (t) => {
    const forgery = prepare();
    const without = (record: ForgedRecord): object => ({
      ...record,
      meta: {
        ...record.meta,
        preTokenBalances: record.meta.preTokenBalances.map((balance) => ({
          ...balance,
          uiTokenAmount: { amount: asObject(asObject(balance)['uiTokenAmount'])['amount'] },
        })),
      },
    });
    const transaction = forgery.record([forgery.sendSol(victim, thief, 5_000_000_000n)], without);
    t.equal(describe(transaction), `${victim} sent 5 SOL to ${thief}`);
  });

  t.test('a tip is named beside what another sentence says', async (t) => {
    const transaction = forgeAttack('alone', 'a tip beside a hidden amount', 'whole');
    t.match(transaction && explainTransaction(parseTransaction(transaction)), 'the tip 5 SOL');
  });

  t.test('who is given an account that was made of a wallet has lost nothing', async (t) => {
    const transaction = forgeAttack(
      'alone',
      'a wallet that is turned into a token account of another, which passes it on',
    );
    const view = transaction && enhanceTransaction(transaction, { perspective: thief }).perspective;
    t.match(view?.description, /99\.99796072 SOL to you/);
    t.notMatch(view?.description, / left you/);
    const changes = transaction === null ? [] : parseTransaction(transaction).authorityChanges;
    t.match(
      changes.find(({ from }) => from === newAccount),
      { authorityType: 'accountOwner', mint: USDC, decimals: 6, tokenBalance: null, lamports: '100000000000' },
    );
  });

  t.test('an exchange that is in no table is a leg of the trade in which a known one calls it', async (t) => {
    const forgery = prepare([victim]);
    const first = forgery.program(
      program,
      [],
      forgery.send(usdc, stolenUsdc, victim, 50_000_000n),
      forgery.send(stolenUsdt, usdt, thief, 49_000_000n),
    );
    const second = forgery.program(
      RAYDIUM,
      [],
      forgery.send(usdt, stolenUsdt, victim, 49_000_000n),
      forgery.send(poolBonk, bonk, pool, 300_000n),
    );
    const text = describe(forgery.record([forgery.program(JUPITER, [], first, second)]));
    t.equal(text, `${victim} swapped 50 USDC for 3 BONK on Jupiter`);
  });

  t.test('a program in no table that trades through a vault makes a swap, less its fee', async (t) => {
    const [traded, paid] = [50_000_000n, 300_000n];
    const eventOf = (passedOn: bigint, fee = 0n) => {
      const forgery = prepare([victim]);
      forgery.hold(newAccount, decoy, USDC, 0n);
      const charged = fee === 0n ? [] : [forgery.send(usdc, newAccount, victim, fee)];
      const trade = routedSwapOf(forgery, { sent: traded, traded, paid, passedOn });
      const { type, description, events } = enhanceTransaction(
        forgery.record([forgery.program(program, [victim], ...charged, ...trade)]),
      );
      return { type, description, outputs: events.swap?.tokenOutputs.map(({ rawTokenAmount }) => rawTokenAmount) };
    };
    const swapped = (amount: string): string =>
      `${victim} swapped 50 USDC for ${amount} BONK through the program ${program}`;
    t.match(eventOf(paid), { type: 'SWAP', description: swapped('3'), outputs: [{ tokenAmount: '300000' }] });
    t.match(eventOf(297_000n), { type: 'SWAP', description: swapped('2.97'), outputs: [{ tokenAmount: '297000' }] });
    t.match(eventOf(paid, 500_000n), {
      type: 'SWAP',
      description: `${swapped('3')}, and also sent 0.5 USDC to ${decoy}`,
    });
  });

  t.test('of gains for which there is no room, rent of closed accounts is left out first', async (t) => {
    const forgery = prepare([victim]);
    forgery.hold(newAccount, pool, USDC, 0n);
    const sent = [forgery.send(usdc, stolenUsdc, victim, 1n), forgery.send(poolUsdc, stolenUsdc, pool, 5n)];
    const record = forgery.record([
      forgery.program(program, [], ...sent, forgery.close(newAccount, victim, pool)),
      forgery.call(program, [stake, victim], [7], { lamports: 4_000_000_000n }),
    ]);
    const text = explainTransaction(parseTransaction(record));
    t.match(text, 'got 4 SOL from');
    t.match(text, 'one gain is left out');
  });

  t.test('an account that a former transaction made is no wallet that passes its ownership', async (t) => {
    const forgery = prepare([victim, newAccount]);
    forgery.fund(newAccount, 2_039_280n);
    const text = describe(forgery.record([forgery.open(newAccount, victim, USDC)]));
    t.equal(
      text,
      `${victim} called the Token program (initializeAccount3); the record shows no SOL or token that changed hands`,
    );
  });

  /** Returns what the view of a wallet says that its balances do not. */
  function wrongFor(wallet: string, transaction: Transaction): readonly string[] {
    const { changes = [], description = '' } =
      enhanceTransaction(transaction, { perspective: wallet }).perspective ?? {};
    const hasLost = changes.some(({ amount }) => amount.startsWith('-'));
    return /you gave you|to itself/i.test(description) || (!hasLost && / left you/.test(description))
      ? [description]
      : [];
  }

  t.test('who did something is named, to the wallet that it was done to as well', async (t) => {
    const viewOf = (wallet: string, make: (forgery: Forgery) => readonly ForgedCall[], signers = [wallet]) => {
      const forgery = prepare(signers);
      return enhanceTransaction(forgery.record(make(forgery)), { perspective: wallet }).perspective?.description;
    };
    const given = (f: Forgery): readonly ForgedCall[] => [f.giveAway(usdt, victim, thief)];
    t.equal(
      viewOf(thief, given, [victim]),
      `${victim} passed the ownership of ${usdt} (which holds 50000 USDT) from ${victim} to you`,
    );
    t.match(
      viewOf(delegate, (f) => [f.burn(usdt, delegate, 3_000_000n)]),
      `You, as delegate, burned 3 USDT of ${victim}; you paid the fee`,
    );
    t.equal(
      viewOf(delegate, (f) => [f.send(usdt, stolenUsdt, delegate, 3_000_000n)], [sponsor]),
      `You, as delegate, moved 3 USDT of ${victim} to ${thief}`,
    );
    t.match(
      viewOf(victim, (f) => [f.call(TOKEN_PROGRAM, [usdt, USDT, freezer], [10])], [freezer]),
      `${freezer} froze the account ${usdt} of yours (which holds 50000 USDT)`,
    );
    const nested =
      (...kinds: readonly number[]) =>
      (f: Forgery) => [
        f.program(thief, [victim], ...kinds.map((kind) => f.call(TOKEN_PROGRAM, [usdt, USDT, freezer], [kind]))),
      ];
    t.match(viewOf(victim, nested(10)), `${freezer} froze the account ${usdt} of yours`);
    // frozen before and after, as tokens are that only their program moves
    t.notMatch(viewOf(victim, nested(11, 10)), 'froze');
    t.match(
      viewOf(victim, (f) => [f.call(TOKEN_PROGRAM, [usdt, victim], [5])]),
      `You ended what others were allowed to spend of the account ${usdt}`,
    );
    t.equal(
      viewOf(thief, (f) => [f.sendSol(victim, stolenUsdc, 5_000_000_000n), f.note(MEMO_PROGRAM, 'order 7')], [victim]),
      `${victim} sent 5 SOL to you with the memo “order 7”`,
    );
    t.notMatch(
      viewOf(
        victim,
        (f) => {
          f.mint(stolenBonk, 9_000_000n);
          const mint = f.call(TOKEN_PROGRAM, [BONK, stolenBonk, thief], [7, ...u64Bytes(9_000_000n)]);
          return [f.sendSol(victim, decoy, 1n), mint];
        },
        [victim, thief],
      ),
      /[Yy]ou minted/,
    );
    const note = (f: Forgery): readonly ForgedCall[] => [{ ...f.note(MEMO_PROGRAM, 'I owe 5'), accounts: [thief] }];
    t.match(viewOf(thief, note, [victim, thief]), 'You wrote the memo “I owe 5”');
    const create = (f: Forgery): readonly ForgedCall[] => [
      f.call(ASSOCIATED_TOKEN_PROGRAM, [victim, stolenUsdc, thief, USDC, SYSTEM_PROGRAM, TOKEN_PROGRAM], [1]),
    ];
    t.notMatch(viewOf(victim, create), /opened/);
    t.match(
      viewOf(
        victim,
        (f) => [
          f.giveAway(stolenUsdc, thief, victim),
          f.giveAway(usdt, victim, thief),
          f.giveAway(usdt, thief, delegate),
        ],
        [victim, thief],
      ),
      `passed the ownership of ${usdt} (which holds 50000 USDT) from you to ${thief}`,
    );
    t.equal(
      viewOf(
        stake,
        (f) => [f.call(STAKE_PROGRAM, [stake, victim], [6, 0, 0, 0, 1, ...u64Bytes(4_070_908_800n), 0, 0])],
        [victim],
      ),
      `${victim} changed the lock-up of your account (which holds 30 SOL) until 2099-01-01`,
    );
    const ofWrapped = prepare();
    const passed = ofWrapped.record([ofWrapped.giveAway(wsol, victim, thief)]);
    for (const [owner, amount] of [
      [victim, '-50002044280'],
      [thief, '50002039280'],
    ] as const)
      t.match(enhanceTransaction(passed, { perspective: owner }).perspective?.changes, [{ mint: WRAPPED_SOL, amount }]);
    const yours = bs58.encode(bs58.decode(`you${'K'.repeat(40)}`)); // begins as what the view calls its wallet
    t.match(
      viewOf(victim, (f) => [traded(f), f.send(usdc, stolenUsdc, yours, 5_000_000n), f.burn(usdc, victim, 3_000_000n)]),
      `${yours}, as delegate, moved 5 USDC of yours to ${thief}; you also burned 3 USDC`,
    );
    const paid = prepare([sponsor, victim]);
    const sold = paid.record([traded(paid)]);
    const ofSponsor = enhanceTransaction(sold, { perspective: sponsor }).perspective?.description;
    t.equal(ofSponsor, 'Nothing of yours changed but the cost; you paid the fee of 0.000005 SOL');
    const forgery = prepare([victim, decoy]);
    const made = forgery.record([forgery.create(victim, newAccount, 5_000_000_000n, decoy, 0n)]);
    t.match(enhanceTransaction(made).actions, [{ kind: 'fee' }, { actor: victim, role: 'owner', authority: null }]);
    t.match(
      viewOf(victim, (f) => [f.assign(victim, SYSTEM_PROGRAM)]),
      /^You called the System program/,
    );
  });

  t.test('the signer that a call names acted, not the sponsor that pays for it', async (t) => {
    const textOf = (make: (forgery: Forgery) => ForgedCall): string => {
      const forgery = prepare([sponsor, victim]);
      return explainTransaction(parseTransaction(forgery.record([make(forgery)])));
    };
    const says = (expected: string, make: (forgery: Forgery) => ForgedCall) => t.match(textOf(make), expected);
    const [who, payer] = [victim, sponsor].map(shortAddress);
    t.match(
      textOf((f) =>
        f.program(RAYDIUM, [victim], f.send(usdc, poolUsdc, victim, 5n), f.send(bonk, poolBonk, victim, 7n)),
      ),
      `${who} put 0.00007 BONK and 0.000005 USDC into a pool on Raydium. ${payer} paid the fee`,
    );
    says(`${who} called the game Star Atlas`, (f) => f.program(GAME, [victim]));
    says(`${who} withdrew 0.000000005 SOL from`, (f) => f.withdrawStake(stake, victim, victim, 5n));
    says(`${who} closed a token account and got`, (f) => f.close(usdt, victim, victim));
  });

  t.test('what is ordinary is described as what it is', async (t) => {
    type Make = (f: Forgery) => readonly ForgedCall[];
    const says = (expected: string, signers: readonly string[], make: Make, dusted = 0n): void => {
      const forgery = prepare(signers);
      if (signers.includes(newAccount)) forgery.fund(newAccount, dusted);
      t.equal(describe(forgery.record(make(forgery))), expected);
    };
    const allocate = (f: Forgery, address: string): ForgedCall =>
      f.call(SYSTEM_PROGRAM, [address], [8, 0, 0, 0, ...u64Bytes(165n)]);
    const opened = (f: Forgery): readonly ForgedCall[] => [
      f.sendSol(victim, newAccount, 2_038_280n),
      allocate(f, newAccount),
      f.assign(newAccount, TOKEN_PROGRAM),
      f.open(newAccount, victim, USDC),
    ];
    const dusted = `${newAccount} turned itself (which holds 0.00203928 SOL) into an account of the program ${TOKEN_PROGRAM}; ${victim} opened the account ${newAccount}`;
    says(dusted, [victim, newAccount], opened, 1_000n);
    says(dusted, [victim, newAccount], (f) => [f.program(program, [victim], ...opened(f))], 1_000n);

    const stop = (f: Forgery): ForgedCall => f.call(STAKE_PROGRAM, [stake, CLOCK_SYSVAR, victim], [5, 0, 0, 0]);
    says(`${victim} withdrew 30 SOL from the stake account ${stake}`, [victim], (f) => [
      stop(f),
      f.withdrawStake(stake, victim, victim, 30_000_000_000n),
    ]);

    const assigned = (f: Forgery): readonly ForgedCall[] => [
      f.assign(newAccount, program),
      f.sendSol(victim, newAccount, 890_880n),
    ];
    says(`${victim} sent 0.00089088 SOL to ${newAccount}`, [victim, newAccount], assigned);

    const PHOENIX = 'PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY';
    const phoenix = (f: Forgery, type: number, ...inner: readonly ForgedCall[]): ForgedCall => ({
      ...f.program(PHOENIX, [PHOENIX, dust[0] ?? '', dust[1] ?? '', victim, usdc, bonk, poolUsdc, poolBonk], ...inner),
      data: [type, 1],
    });
    const paidBack = (f: Forgery): ForgedCall => f.send(poolUsdc, usdc, pool, 5_000_000n);
    const cancelled = `${victim} cancelled an order on Phoenix and got back 5 USDC`;
    says(cancelled, [victim], (f) => [phoenix(f, 7), phoenix(f, 12, paidBack(f))]);
    says(cancelled, [victim], (f) => [phoenix(f, 6, paidBack(f)), phoenix(f, 0xf0)]);
  });

  t.test('a record that lacks its effects has no description of them', async (t) => {
    const forgery = prepare();
    const whole = forgery.record([forgery.program(JUPITER, [victim], ...swapOf(forgery))]);
    const without = (members: Partial<Transaction>): string =>
      explainTransaction(parseTransaction({ ...whole, ...members }));
    const noTokens = { preTokenBalances: null, postTokenBalances: null };
    t.match(
      without(noTokens),
      / called the Jupiter program; the record does not name the tokens of 2 transfers; the record lacks/,
    );
    const noCalls = whole.instructions.map((call) => ({ ...call, inner: [] }));
    t.match(without({ instructions: noCalls }), /1000 USDC left .*; \S+ got 12\.34567 BONK/);
    t.notMatch(without({ instructions: noCalls }), /let a program swap/);
    t.match(without({ instructions: [] }), /1000 USDC left .* sent a transaction whose record shows no call/);
    const nothing = { ...noTokens, instructions: noCalls, fee: null, preBalances: [], postBalances: [] };
    t.match(without(nothing), / called the Jupiter program; the record lacks balances .*\. The record shows no fee\.$/);
    t.match(without({ err: {} }), 'it failed: the node did not name the error');
    t.match(without({ err: 'Paid at evil.com' }), 'it failed: “Paid at evil[.]com”');
  });

  t.test('nothing is said to have happened where no record says whether the transaction succeeded', async (t) => {
    const unknown = 'but the record does not say whether it succeeded';
    const forgery = prepare();
    const sent = forgery.record([forgery.sendSol(victim, thief, 5_000_000_000n)], FORMS.withoutMeta);
    const view = enhanceTransaction(sent, { perspective: victim });
    t.match(view, {
      status: null,
      type: 'TRANSFER',
      description: `${victim} tried to send something, ${unknown}`,
      ...{ actions: [], nativeTransfers: [], accountData: [], unaccounted: [], transactionError: null, events: {} },
      perspective: { changes: [], description: `A transaction was sent, ${unknown}` },
    });
    const [who, explained] = [shortAddress(victim), explainTransaction(view)];
    t.equal(explained, `${who} tried to send something, ${unknown}. The record shows no fee.`);
    t.equal(explainTransaction(view, victim), explained.replace(who, 'You'));
    t.match(netRowOf(victim, sent, context), { status: null, fee: null, changes: [] });
    t.same(transferRowsOf(victim, sent, context), []);
    const wrong: string[] = [];
    for (const name of Object.keys(ATTACKS)) {
      const { description, actions, authorityChanges, confidentialTransfers, tokenTransfers } = enhanceTransaction(
        forgeAttack('alone', name, 'withoutMeta') ?? sent,
      );
      const facts = [actions, authorityChanges, confidentialTransfers, tokenTransfers].flat();
      if (!description.endsWith(unknown) || facts.length > 0) wrong.push(`${name}: ${description}`);
    }
    t.strictSame(wrong, []);
  });

  t.test('a record whose balances were cut is said to lack them, and shows no gain by that', async (t) => {
    const lacks = '; the record lacks balances or calls that would show what moved';
    const textOf = (make: (f: Forgery) => readonly ForgedCall[], cut: Partial<Record<string, unknown>>): string => {
      const forgery = prepare();
      const inForm = (record: ForgedRecord): object => ({ ...record, meta: { ...record.meta, ...cut } });
      return describe(forgery.record(make(forgery), inForm));
    };
    const sol = (f: Forgery): readonly ForgedCall[] => [f.sendSol(victim, thief, 5_000_000_000n)];
    const sentence = `${victim} sent 5 SOL to ${thief}${lacks}`;
    t.equal(textOf(sol, { preBalances: [], postBalances: [] }), sentence);
    t.equal(textOf(sol, { preBalances: [7n], postBalances: [1n] }), sentence);
    t.match(
      textOf((f) => [f.close(wsol, thief, victim)], { preBalances: [], postBalances: [] }),
      lacks,
    );
    t.match(
      textOf((f) => [f.assign(victim, program)], { preBalances: [], postBalances: [] }),
      /gave its wallet/,
    );
    const tokens = (f: Forgery): readonly ForgedCall[] => [f.send(usdc, stolenUsdc, victim, 10_000_000n)];
    for (const cut of [{ preTokenBalances: [] }, { postTokenBalances: [] }])
      t.equal(textOf(tokens, cut), `${victim} sent 10 USDC to ${thief}`);
  });

  t.test('a token balance that a recorded transaction lacks follows from its calls', async (t) => {
    const wrong: string[] = [];
    for (const { name, result, transaction } of recordedTransactions('transactions')) {
      const meta = asObject(asObject(result)['meta']);
      const [before, after] = [meta['preTokenBalances'], meta['postTokenBalances']].map((list) =>
        asArray(list).map(asObject),
      );
      const whole = enhancedOf(transaction);
      const isOnBoth = ({ accountIndex }: JsonObject): boolean =>
        before?.some((other) => other['accountIndex'] === accountIndex) === true;
      if (whole.unaccounted.length > 0 || !Array.isArray(meta['innerInstructions'])) continue;
      for (const isSol of [false, true]) {
        const cut = after?.find((balance) => isOnBoth(balance) && isWrappedSol(asString(balance['mint'])) === isSol);
        const lacking = { ...meta, postTokenBalances: after?.filter((balance) => balance !== cut) };
        const { description } = enhanceTransaction(normalizeTransaction({ ...asObject(result), meta: lacking }));
        if (cut !== undefined && description !== whole.description) wrong.push(`${name} ${description}`);
      }
    }
    t.strictSame(wrong, []);
  });

  t.test('a theft is named where the record lacks what two accounts have after it', async (t) => {
    const lacking = Object.entries(ATTACKS).flatMap(([name, attack]) => {
      const transaction = forgeAttack('alone', name, 'withoutTwoBalances');
      return transaction === null ? [] : lackingIn(transaction, attack).map((text) => `${name}: ${text}`);
    });
    t.strictSame(lacking, []);
  });

  t.test('what a record lacks, doubles or disguises hides nothing', async (t) => {
    const textOf = (make: (f: Forgery) => ForgedCall, inForm: (record: ForgedRecord) => object): string => {
      const forgery = prepare();
      return describe(forgery.record([make(forgery)], inForm));
    };
    const withMeta = (members: object) => (record: ForgedRecord) => ({
      ...record,
      meta: { ...record.meta, ...members },
    });
    const withMessage =
      (change: (message: ForgedRecord['transaction']['message']) => object) => (record: ForgedRecord) => ({
        ...record,
        transaction: { ...record.transaction, message: change(record.transaction.message) },
      });
    const approved = (f: Forgery): ForgedCall => f.program(program, [victim], f.approve(usdt, thief, victim, ALL));
    const sent = (f: Forgery): ForgedCall => f.program(GAME, [victim], f.sendSol(victim, thief, 5_000_000_000n));
    const unsigned = withMessage(({ accountKeys, instructions }) => ({
      instructions,
      accountKeys: accountKeys.map(({ pubkey }) => ({ pubkey, signer: false })),
    }));
    t.match(textOf(sent, unsigned), `${victim} called the game Star Atlas and gave 5 SOL`, 'the first account signs');
    const undecoded = withMessage(({ accountKeys, instructions }) => ({
      accountKeys,
      instructions: instructions.map((call) => ({ ...call, parsed: null })),
    }));
    t.match(
      textOf((f) => f.approve(usdt, thief, victim, ALL), undecoded),
      `${victim} allowed ${thief} to spend all tokens`,
    );
    const info = { source: stolenUsdc, destination: usdc, authority: thief, amount: '900000000' };
    const disguised = withMessage(({ accountKeys }) => ({
      accountKeys,
      instructions: [{ programId: program, program: 'spl-token', parsed: { type: 'transfer', info } }],
    }));
    t.notMatch(textOf(approved, disguised), '900', 'a program is what its address says');
    const split = (record: ForgedRecord): object => {
      const [made = { index: 0, instructions: [] }] = record.meta.innerInstructions;
      return withMeta({ innerInstructions: [made, { index: 0, instructions: [] }] })(record);
    };
    t.match(textOf(approved, split), `${victim} allowed ${thief} to spend all tokens`);
    const misplaced = ({ meta, ...record }: ForgedRecord): object => {
      const innerInstructions = meta.innerInstructions.map((made) => ({ ...made, index: 7 }));
      return { ...record, meta: { ...meta, innerInstructions } };
    };
    t.match(textOf(approved, misplaced), `${victim} allowed ${thief} to spend all tokens`);
    const unplaced = withMessage(({ accountKeys }) => ({ accountKeys, instructions: [{ programIdIndex: 99 }] }));
    t.match(textOf(sent, unplaced), ' through a program; the record lacks');
    const doubled = ({ meta, ...record }: ForgedRecord): object => {
      const twice = [...meta.postTokenBalances, ...meta.postTokenBalances];
      return { ...record, meta: { ...meta, postTokenBalances: twice } };
    };
    const swapped = (f: Forgery): ForgedCall => traded(f);
    t.equal(textOf(swapped, doubled), textOf(swapped, FORMS.whole));
    const unscaled = ({ meta, ...record }: ForgedRecord): object => {
      const text = JSON.stringify([meta.preTokenBalances, meta.postTokenBalances]).replaceAll(/,"decimals":\d+/g, '');
      const [preTokenBalances, postTokenBalances] = JSON.parse(text) as readonly [object[], object[]];
      return { ...record, meta: { ...meta, preTokenBalances, postTokenBalances } };
    };
    t.match(
      textOf(swapped, unscaled),
      'does not name the tokens of 2 transfers',
      'no amount of tokens is in another unit',
    );
    const lacks = '; the record lacks balances or calls that would show what moved';
    const withoutTables = (record: ForgedRecord): object => ({
      ...FORMS.withTables(record),
      meta: { ...record.meta, loadedAddresses: null, innerInstructions: [] },
    });
    t.match(textOf(sent, withoutTables), lacks);
    const old = { preTokenBalances: null, postTokenBalances: null, innerInstructions: null };
    t.match(textOf(approved, withMeta(old)), lacks);
    t.match(textOf(approved, withMeta({ innerInstructions: null })), lacks);
    t.notMatch(
      textOf((f) => f.sendSol(victim, thief, 5n), withMeta(old)),
      lacks,
      'Solana’s own programs name what they move',
    );
    const cut = enhanceTransaction(prepare().record([], withMeta({ preBalances: [], postBalances: [] })));
    t.same(cut.accountData, []);
    const free = explainTransaction(parseTransaction(prepare().record([], withMeta({ fee: 0 }))));
    t.match(free, /The record shows no fee\.$/);
  });

  t.test('what changed for an account is null where the record lacks its lamports', async (t) => {
    const forgery = prepare();
    const calls = [forgery.send(usdc, stolenUsdc, victim, 7n)];
    const transaction = forgery.record(calls, ({ meta, ...record }) => ({
      ...record,
      meta: { ...meta, preBalances: [], postBalances: [] },
    }));
    const { accountData, isIncomplete } = enhanceTransaction(transaction);
    t.strictSame([...new Set(accountData.map(({ nativeBalanceChange }) => nativeBalanceChange))], [null]);
    t.ok(isIncomplete);
  });

  t.test('an address that looks in short as another one is shown whole', async (t) => {
    const forgery = prepare();
    const twin = `${victim.slice(0, 6)}${'9'.repeat(victim.length - 12)}${victim.slice(-6)}`;
    const parsed = parseTransaction(forgery.record([forgery.sendSol(victim, twin, 5_000_000_000n)]));
    t.match(explainTransaction(parsed), `${shortAddress(victim)} sent 5 SOL to ${twin}. The fee`);
    t.match(explainTransaction(parsed, victim), `You sent 5 SOL to ${twin}. The fee`);
  });

  t.test('a failed transaction whose balances changed is not said to have moved nothing', async (t) => {
    const forgery = prepare();
    const failed = forgery.record([forgery.sendSol(victim, thief, 5n)], ({ meta, ...record }) => ({
      ...record,
      meta: { ...meta, err: 'AccountInUse' },
    }));
    const text = explainTransaction(parseTransaction(failed));
    t.match(text, /\. The record has changes of balances all the same, and the fee of 0\.000005 SOL was paid\.$/);
    const { err: _, ...unstated } = failed;
    t.match(explainTransaction(parseTransaction({ ...unstated, err: null, fee: null })), /The record shows no fee\.$/);
  });

  t.test('a lookup table whose deactivation failed is not said to be an account that was to be closed', async (t) => {
    const forgery = prepare();
    const record = forgery.record([forgery.call(LOOKUP_TABLE_PROGRAM, [table, victim], [3, 0, 0, 0])]);
    const failed = { ...record, err: { InstructionError: [0, { Custom: 1 }] } };
    t.notMatch(explainTransaction(parseTransaction(failed)), /close/);
  });

  t.test('a right or a loss goes before a prepared account and the unknown call of an oracle', async (t) => {
    const forgery = prepare();
    const harmless = [
      forgery.call(UPGRADEABLE_LOADER, [buffer, victim], [0, 0, 0, 0]),
      forgery.program(PYTH, [victim]),
    ];
    const text = describe(forgery.record([...harmless, forgery.sendSol(victim, thief, 5_000_000_000n)]));
    t.match(text, new RegExp(`^${victim} sent 5 SOL to ${thief}`));
  });

  t.test('without depths a transfer is credited to no call that need not have made it', async (t) => {
    const stolen = (f: Forgery) => f.send(usdc, stolenUsdc, victim, 10_000_000_000n);
    const textOf = (make: (f: Forgery) => ForgedCall): string => {
      const forgery = prepare();
      return describe(forgery.record([make(forgery)], FORMS.withoutDepths));
    };
    const says = (expected: string | RegExp, make: (f: Forgery) => ForgedCall) => t.match(textOf(make), expected);
    const handed = (f: Forgery, ...after: readonly ForgedCall[]): ForgedCall => {
      const exchange = f.program(RAYDIUM, [pool, stolenUsdc], ...swapOf(f));
      return f.program(program, [victim], exchange, ...after);
    };
    says(`sent 10000 USDC to ${thief} through the program ${program}`, (f) => handed(f, stolen(f)));
    says(`swapped 1000 USDC for 12.34567 BONK through the program ${program}`, (f) => handed(f, stolen(f)));
    says(/swapped 1000 USDC for 12\.34567 BONK on Raydium$/, (f) => traded(f));
    says(`sent 10000 USDC to ${thief} through Jupiter`, (f) => f.program(JUPITER, [victim], handed(f), stolen(f)));
  });

  t.test(
    'a transfer at the depth of the calls of an exchange is none of them if the exchange was not handed its accounts',
    async (t) => {
      const lie = ({ meta, ...record }: ForgedRecord): object => ({
        ...record,
        meta: {
          ...meta,
          innerInstructions: meta.innerInstructions.map(({ index, instructions: [exchange, ...below] }) => ({
            index,
            instructions: [exchange, ...below.map((call) => ({ ...call, stackHeight: 3 }))],
          })),
        },
      });
      const forgery = prepare();
      const stolen = forgery.send(usdt, stolenUsdt, victim, 8_000_000n);
      const calls = [forgery.program(program, [victim], traded(forgery), stolen)];
      const text = describe(forgery.record(calls, lie));
      t.match(text, `sent 8 USDT to ${thief} through`);
      t.match(text, 'swapped 1000 USDC for 12.34567 BONK on Raydium');
    },
  );

  t.test('a right or a loss goes before what is harmless, and before a trade of less', async (t) => {
    const begins = (expected: RegExp, make: (f: Forgery) => readonly ForgedCall[], signers = [victim]): void => {
      const forgery = prepare(signers);
      t.match(describe(forgery.record(make(forgery))).split('; ')[0], expected);
    };
    begins(new RegExp(`^${victim} sent 10000 USDC to ${thief}$`), (f) => [
      traded(f),
      f.send(usdc, stolenUsdc, victim, 10_000_000_000n),
    ]);
    begins(/swapped 1000 USDC/, (f) => [traded(f), f.send(usdc, stolenUsdc, victim, 5_000_000n)]);
    begins(/allowed/, (f) => [f.program(GAME, [victim], f.approve(usdt, thief, victim, 5n))]);
    begins(/sent 5 SOL/, (f) => [f.approve(bonk, thief, victim, 0n), f.sendSol(victim, thief, 5_000_000_000n)]);
    begins(
      new RegExp(`^${victim} burned 7 USDC`),
      (f) => [f.program(GAME, [sponsor]), f.burn(usdc, victim, 7_000_000n)],
      [sponsor, victim],
    );
  });

  t.test('an exchange that is called for nothing is not credited', async (t) => {
    const forgery = prepare();
    const stolen = forgery.program(
      program,
      [victim],
      forgery.send(usdc, stolenUsdc, victim, 10_000_000_000n),
      forgery.send(stolenBonk, bonk, thief, 1n),
    );
    const text = describe(forgery.record([forgery.program(JUPITER, [victim]), stolen]));
    t.notMatch(text, /Jupiter/);
    t.match(text, /10000 USDC/);
  });

  t.test('a user that trades on one pool through a program without a name swaps', async (t) => {
    const forgery = prepare();
    const view = enhanceTransaction(forgery.record([forgery.program(program, [victim], traded(forgery))]));
    t.equal(view.type, 'SWAP');
    t.match(view.description, / swapped 1000 USDC for 12\.34567 BONK on Raydium$/);
    t.strictSame(
      view.actions
        .filter(({ kind }) => kind === 'swap')
        .map(({ actor, program, instruction }) => ({ actor, program, instruction })),
      [{ actor: victim, program: RAYDIUM, instruction: [0, 0] }],
    );
  });

  t.test('a trade that failed was in a circle where it ended with the account or mint it began with', async (t) => {
    const typeOf = (...legs: readonly (readonly [from: string, to: string, signer: string])[]): string => {
      const forgery = prepare();
      const trade = legs.map(([from, to, signer]) => forgery.send(from, to, signer, 1_000n));
      const calls = [forgery.program(JUPITER, [victim], forgery.program(RAYDIUM, [pool], ...trade))];
      return enhanceTransaction({ ...forgery.record(calls), err: { InstructionError: [0, { Custom: 6001 }] } }).type;
    };
    t.equal(typeOf([usdc, poolUsdc, victim], [poolBonk, bonk, pool]), 'SWAP');
    t.equal(typeOf([usdc, poolUsdc, victim], [poolBonk, bonk, pool], [usdc, stolenUsdc, victim]), 'SWAP', 'a fee');
    const circle = [
      [usdc, poolUsdc, victim],
      [poolBonk, bonk, pool],
      [bonk, poolBonk, victim],
      [poolUsdc, usdc, pool],
    ] as const;
    t.equal(typeOf(...circle), 'ARBITRAGE');
  });

  t.test('an order book that a program is handed beside an exchange is no second exchange', async (t) => {
    const OPENBOOK = 'srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX';
    const ORCA = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
    const typeOf = (...handed: readonly string[]) =>
      enhanceTransaction(prepare().record([prepare().program(program, handed)])).type;
    t.not(typeOf(RAYDIUM, OPENBOOK), 'ARBITRAGE');
    t.equal(typeOf(RAYDIUM, ORCA), 'ARBITRAGE');
  });

  t.test('of two signers that exchange by a quote, the taker gave what the call exchanges', async (t) => {
    const RFQ = '61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH';
    const fillOf = (signers: readonly string[]) => {
      const forgery = prepare(signers);
      const fill = forgery.program(
        RFQ,
        [victim, thief, usdc, stolenUsdc, bonk, stolenBonk, USDC, TOKEN_PROGRAM, BONK],
        forgery.send(usdc, stolenUsdc, victim, 5_000_000n),
        forgery.send(stolenBonk, bonk, thief, 700_000n),
      );
      const data = [...Buffer.from(anchorDiscriminator('fill'), 'hex')];
      return enhanceTransaction(forgery.record([{ ...fill, data }]));
    };
    for (const signers of [
      [victim, thief],
      [thief, victim],
    ] as const) {
      const { type, description, source } = fillOf(signers);
      t.match([type, source], ['SWAP', 'JUPITER']);
      t.match(description, new RegExp(`^${victim} swapped 5 USDC for 7 BONK on JupiterZ`), signers[0]);
    }
  });

  t.test('what a program swapped and passed on is the trade of its user, not of the pool', async (t) => {
    const ORCA = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
    const forgery = prepare();
    forgery.hold(account, delegate, BONK, 0n, 5);
    const swap = forgery.program(
      ORCA,
      [TOKEN_PROGRAM, thief, pool],
      forgery.send(stolenUsdc, poolUsdc, thief, 5_000_000n),
      forgery.send(poolBonk, stolenBonk, pool, 700_000n),
    );
    const made = forgery.program(
      program,
      [victim],
      forgery.send(multisigUsdc, stolenUsdc, multisig, 5_000_000n),
      { ...swap, data: [...Buffer.from(anchorDiscriminator('swap'), 'hex')] },
      forgery.send(stolenBonk, account, thief, 700_000n),
    );
    t.match(describe(forgery.record([made])), 'let a program swap 5 USDC for 7 BONK on Orca');
  });

  t.test('a bridge, a lender and a claim are typed by the name in the log of a program that is known', async (t) => {
    const typeOf = (id: string, name: string): string => {
      const logs = [`Program ${id} invoke [1]`, `Program log: Instruction: ${name}`];
      return enhanceTransaction({ ...prepare().record([prepare().program(id, [victim])]), logs }).type;
    };
    const [MAYAN, CITRUS] = [
      'BLZRi6frs4X4DNLw56V4EXai1b6QVESN1BhHBTYM9VcY',
      'JCFRaPv7852ESRwJJGRy2mysUMydXZgVVhrMLmExvmVp',
    ];
    t.equal(typeOf(MAYAN, 'Fulfill'), 'BRIDGE_FULFILMENT');
    t.equal(typeOf(MAYAN, 'InitOrder'), 'BRIDGE_DEPOSIT');
    t.equal(typeOf(CITRUS, 'BorrowLoan'), 'BORROW');
    t.equal(typeOf(CITRUS, 'LiquidateLoan'), 'LIQUIDATE');
    t.equal(typeOf(program, 'Liquidate'), 'UNKNOWN', 'a stranger may call anything so');
  });

  t.test('an allowance that is used up belongs to what used it', async (t) => {
    const forgery = prepare([victim, delegate]);
    const calls = [
      forgery.approve(usdc, delegate, victim, 5_000_000n),
      forgery.send(usdc, stolenUsdc, delegate, 5_000_000n),
    ];
    t.notMatch(describe(forgery.record(calls)), /allowed/);
  });

  t.test('what recorded transactions changed is accounted for, or the description says so', async (t) => {
    const open: string[] = [];
    for (const pack of ['transactions', 'mainnet-block'])
      for (const { name, transaction } of recordedTransactions(pack))
        if (!name.startsWith('tx-rebuilt/')) open.push(...openChanges(transaction).map((text) => `${name} ${text}`));
    t.strictSame(open, []);
  });

  const arbitraryStep = fc.record({
    kind: fc.nat(7),
    amount: fc.bigInt(2n, 1_000_000_000n),
    nested: fc.constantFrom('top', 'unknown', 'raydium', 'jupiter', 'game'),
  });

  t.test('what random transactions change is accounted for, and each loss is named', async (t) => {
    fc.assert(
      fc.property(fc.array(arbitraryStep, { minLength: 1, maxLength: 6 }), fc.boolean(), (steps, isSponsored) => {
        const forgery = prepare(isSponsored ? [sponsor, victim] : [victim]);
        const losses: [mint: string, amount: bigint][] = [];
        const calls = steps.map(({ kind, amount, nested }) => {
          const made = makeStep(forgery, kind, amount, losses);
          return nested === 'top'
            ? made
            : nested === 'jupiter'
              ? forgery.program(JUPITER, [victim], forgery.program(RAYDIUM, [pool], made))
              : forgery.program({ unknown: program, raydium: RAYDIUM, game: GAME }[nested], [victim], made);
        });
        const transaction = forgery.record(calls);
        const text = describe(transaction);
        const explanation = explainTransaction(parseTransaction(transaction));
        const open = openChanges(transaction);
        if (open.length > 0) throw new Error(open.join('; '));
        for (const [mint, amount] of losses) {
          const same = losses.filter(([other]) => other === mint);
          const sum = same.reduce((total, [, part]) => total + part, 0n);
          const isNetted = steps.some(
            ({ kind, nested }) => kind === (mint === USDC ? 5 : mint === BONK ? 6 : -1) && nested !== 'top',
          );
          // what one program took and gave back of a mint is one figure
          if (
            same.length === 1 &&
            !isNetted &&
            [text, explanation].some(
              (said) => !said.includes(formatUnits(sum, mint === WRAPPED_SOL ? 9 : mint === BONK ? 5 : 6)),
            )
          )
            throw new Error(`${amount} of ${mint} is missing: ${text}`);
        }
      }),
      { seed: 1, numRuns: 100 },
    );
    t.pass('100 transactions');
  });

  t.test('an explanation leaves out what came back where room is short, never a loss or a right', async (t) => {
    const forgery = prepare();
    const steps = Array.from({ length: 12 }, (_, i) => [
      forgery.sendSol(victim, dust[i % dust.length] ?? '', BigInt(i + 1) * 1_000_000_007n),
      forgery.program(program, [victim], forgery.mint(bonk, BigInt(i + 1) * 700_001n)),
    ]).flat();
    const memo = forgery.note('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'note'.repeat(30));
    const calls = [
      ...steps,
      forgery.send(usdc, stolenUsdc, delegate, 9_876_543n),
      forgery.assign(victim, program),
      memo,
    ];
    const text = explainTransaction(parseTransaction(forgery.record(calls)));
    t.match(text, /as delegate, moved 9\.876543 USDC of/);
    t.match(text, /gave its wallet \w+…\w+ .*away to the program/);
    t.notMatch(text, /also got|notenote/);
    t.match(text, /; (one gain is|\d+ gains are) left out\. /);
    const kinds = prepare();
    const mints = Array.from({ length: 9 }, (_, i) => addressOf(100 + i));
    for (const [i, mint] of mints.entries()) {
      kinds.hold(addressOf(120 + i), victim, mint, 5_000_000n);
      kinds.hold(addressOf(140 + i), thief, mint, 0n);
    }
    const holdings = mints.map((_, i) =>
      kinds.send(addressOf(120 + i), addressOf(140 + i), victim, BigInt(1_000_001 + i)),
    );
    const all = explainTransaction(parseTransaction(kinds.record(holdings)));
    const missing = mints.filter((_, i) => !all.includes(` 1.00000${i + 1} of the token`));
    t.same(missing, [], 'each of nine kinds of tokens');
  });

  t.test('a transaction is described from the view of each party, with what changed for it', async (t) => {
    const forgery = prepare([sponsor, victim]);
    const transaction = forgery.record([
      traded(forgery),
      forgery.send(usdc, stolenUsdc, victim, 3_000_000n),
      forgery.send(usdt, stolenUsdt, delegate, 4_000_000n),
      forgery.sendSol(victim, thief, 1_000n),
      forgery.assign(victim, program),
    ]);
    const viewOf = (perspective: string) => enhanceTransaction(transaction, { perspective }).perspective;
    const amountsOf = (address: string) =>
      Object.fromEntries(viewOf(address)?.changes.map(({ mint, amount }) => [mint, amount]) ?? []);
    t.match(viewOf(victim), {
      address: victim,
      description: new RegExp(
        [
          `^You gave your wallet \\(which holds [\\d.]+ SOL\\) away to the program ${program}; `,
          `${delegate}, as delegate, moved 4 USDT of yours to ${thief}; `,
          `you also sent 3 USDC and 0\\.000001 SOL to ${thief}, and also swapped 1000 USDC for 12.34567 BONK on Raydium`,
        ].join(''),
      ),
    });
    t.same(amountsOf(victim), { [WRAPPED_SOL]: '-1000', [USDC]: '-1003000000', [BONK]: '1234567', [USDT]: '-4000000' });
    t.match(viewOf(thief)?.description, `${victim} sent 3 USDC and 0.000001 SOL to you`);
    t.same(amountsOf(thief), { [WRAPPED_SOL]: '1000', [USDC]: '3000000', [USDT]: '4000000' });
    t.match(viewOf(pool), { description: '12.34567 BONK left you; you got 1000 USDC' });
    t.match(viewOf(sponsor), { changes: [{ mint: WRAPPED_SOL, amount: '-5000' }], description: /you paid the fee of/ });
    t.equal(viewOf(wallet), undefined, 'no party');
    t.match(explainTransaction(parseTransaction(transaction), victim), /moved 4 USDT of yours to .* SOL\.$/);
    const own = prepare();
    const toItself = own.record([own.sendSol(victim, thief, 5n), own.send(usdc, usdc, victim, 7_000_000n)]);
    t.match(
      enhanceTransaction(toItself, { perspective: victim }).perspective?.description,
      /^You sent 7 USDC to yourself and 0\.000000005 SOL to \w+; you paid the fee of 0\.000005 SOL$/,
    );
    const failed = enhanceTransaction({ ...toItself, err: 'AccountInUse' }, { perspective: victim });
    t.equal(failed.perspective?.description, 'The transaction failed; you paid the fee of 0.000005 SOL');
  });

  t.test('what changed for each owner of a recorded transaction is what its balances say', async (t) => {
    let parties = 0;
    for (const { transaction } of recordedTransactions('transactions')) {
      const { preTokenBalances, postTokenBalances, err } = transaction;
      if (err !== null || preTokenBalances === null || postTokenBalances === null) continue;
      const opened = findOpenedAccounts(parseTransaction(transaction));
      for (const owner of new Set(postTokenBalances.flatMap(({ owner: each }) => each ?? []))) {
        const perspective = enhanceTransaction(transaction, { perspective: owner }).perspective;
        const sums = new Map<string, bigint>();
        for (const [balances, sign] of [
          [preTokenBalances, -1n],
          [postTokenBalances, 1n],
        ] as const)
          for (const { owner: each, mint, amount } of balances)
            if (each === owner && mint !== WRAPPED_SOL) sums.set(mint, (sums.get(mint) ?? 0n) + sign * amount);
        const tokens = perspective?.changes.filter(({ mint }) => mint !== WRAPPED_SOL) ?? [];
        const expected = [...sums].filter(([, amount]) => amount !== 0n).map(([mint, amount]) => `${mint} ${amount}`);
        if (perspective === undefined)
          t.ok(expected.length === 0 || opened.has(owner), `nothing changed for a stranger: ${owner}`);
        else t.same(tokens.map(({ mint, amount }) => `${mint} ${amount}`).sort(), expected.sort(), owner);
        parties += 1;
      }
    }
    t.ok(parties > 200);
  });

  /** Makes a call that costs the victim something, or that gives it something. */
  function makeStep(
    forgery: Forgery,
    kind: number,
    amount: bigint,
    losses: [mint: string, amount: bigint][],
  ): ForgedCall {
    const lose = (mint: string): void => void losses.push([mint, amount]);
    switch (kind) {
      case 0:
        lose(WRAPPED_SOL);
        return forgery.sendSol(victim, thief, amount);
      case 1:
        lose(USDC);
        return forgery.send(usdc, stolenUsdc, victim, amount);
      case 2:
        lose(WRAPPED_SOL);
        return forgery.send(wsol, stolenSol, victim, amount);
      case 3:
        lose(USDT);
        return forgery.send(usdt, stolenUsdt, delegate, amount);
      case 4:
        lose(BONK);
        return forgery.burn(bonk, victim, amount);
      case 5:
        return forgery.send(poolUsdc, usdc, pool, 2n * amount);
      case 6:
        return forgery.mint(bonk, 3n * amount);
      default:
        return forgery.assign(account, program);
    }
  }

  /** Returns what actions and `unaccounted` leave open of the changes of the wallets that signed. Computed from raw balances. */
  function openChanges(transaction: Transaction): readonly string[] {
    const { accounts, preBalances, postBalances, preTokenBalances, postTokenBalances, err } = transaction;
    const { actions, unaccounted, description } = enhancedOf(transaction);
    const signers = new Set(accounts.filter(({ signer }) => signer).map(({ address }) => address));
    const tokens = [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])];
    const owners = new Map(tokens.toReversed().map(({ account, owner }) => [account, owner ?? account]));
    const closed = transaction.instructions
      .flatMap((call) => [call, ...call.inner])
      .flatMap(({ parsed }) => (parsed?.type === 'closeAccount' ? [parsed.info['account']] : []));
    const ownersBefore = new Map(preTokenBalances?.map(({ account, owner }) => [account, owner ?? account]));
    const ownersAfter = new Map(postTokenBalances?.map(({ account, owner }) => [account, owner ?? account]));
    const sums = new Map<string, bigint>();
    const add = (wallet: string, mint: string, amount: bigint): void => {
      if (signers.has(wallet)) sums.set(`${wallet} ${mint}`, (sums.get(`${wallet} ${mint}`) ?? 0n) + amount);
    };
    if (postBalances.length > 0)
      for (const [place, { address }] of accounts.entries())
        for (const [list, lamports] of [
          [signers.has(address) ? ownersBefore : owners, -(preBalances[place] ?? 0n)], // a new account has nothing before
          [ownersAfter.has(address) || closed.includes(address) ? ownersAfter : owners, postBalances[place] ?? 0n],
        ] as const)
          add(list.get(address) ?? address, WRAPPED_SOL, lamports);
    if (preTokenBalances !== null && postTokenBalances !== null)
      for (const [balances, sign] of [
        [preTokenBalances, -1n],
        [postTokenBalances, 1n],
      ] as const)
        for (const { account, owner, mint, amount } of balances)
          if (!isWrappedSol(mint)) add(owner ?? account, mint, sign * amount);
    const hidden = unaccounted.filter(
      ({ amount, decimals }) => !description.includes(formatUnits(BigInt(amount.replace('-', '')), decimals)),
    );
    if (postBalances.length === 0 || preTokenBalances === null || err !== null) return [];
    const moved = actions.filter(({ kind }) => kind !== 'asset'); // which no balance shows
    for (const [wallet, { mint, amount }] of moved.flatMap(effectsOf)) add(wallet, mint, -amount);
    for (const { userAccount, mint, amount } of unaccounted) add(userAccount, mint, -BigInt(amount));
    return [
      ...[...sums].filter(([, amount]) => amount !== 0n).map(([key, amount]) => `${key} ${amount}`),
      ...hidden.map(({ userAccount, mint, amount }) => `not in the description: ${userAccount} ${mint} ${amount}`),
    ];
  }
});

t.test('net-row', async (t) => {
  const recordings = ['transactions', 'mainnet-block'].flatMap(recordedTransactions);

  /** Returns a row's amounts by mint; those of SOL under SOL. */
  const amountsOf = ({ changes }: NetRow): Record<string, string> =>
    Object.fromEntries(changes.map(({ asset, mint, amount }) => [asset === 'SOL' ? 'SOL' : mint, amount]));

  /** The members of a node's record that hold balances. */
  interface RawRecord {
    readonly meta: {
      readonly fee: number | bigint;
      readonly err: unknown;
      readonly preBalances: readonly (number | bigint)[];
      readonly postBalances: readonly (number | bigint)[];
      readonly preTokenBalances?: readonly RawTokenBalance[] | null;
      readonly postTokenBalances?: readonly RawTokenBalance[] | null;
    } | null;
  }

  interface RawTokenBalance {
    readonly mint: string;
    readonly owner?: string;
    readonly uiTokenAmount: { readonly amount: string };
  }

  /** Returns the fee payer's balance changes as the raw record has them. */
  function rawChanges({ result, transaction }: RecordedTransaction): Record<string, string> | undefined {
    const { meta } = result as RawRecord; // as nodes return it
    if (meta === null || [meta.preTokenBalances, meta.postTokenBalances].some(lacksOwners)) return undefined;
    const sums = new Map([['SOL', BigInt(meta.postBalances[0] ?? 0) - BigInt(meta.preBalances[0] ?? 0)]]);
    for (const [sign, balances] of [[-1n, meta.preTokenBalances] as const, [1n, meta.postTokenBalances] as const])
      for (const { mint, owner, uiTokenAmount } of balances ?? [])
        if (owner === transaction.feePayer)
          sums.set(mint, (sums.get(mint) ?? 0n) + sign * BigInt(uiTokenAmount.amount));
    return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n).map(([mint, sum]) => [mint, `${sum}`]));
  }

  const lacksOwners = (balances: readonly RawTokenBalance[] | null | undefined): boolean =>
    balances?.some(({ owner }) => owner === undefined) ?? true;

  const sorted = (object: object): object =>
    Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

  t.test('for every recorded fee payer the net row is the change of the balances, and names the fee', (t) => {
    const wrong: unknown[] = [];
    let checked = 0;
    for (const recording of recordings) {
      const expected = rawChanges(recording);
      if (expected === undefined) continue;
      checked++;
      const { transaction, result, name } = recording;
      const row = netRowOf(transaction.feePayer, transaction, context);
      const { meta } = result as RawRecord; // there is one
      const facts = { ...amountsOf(row), fee: row.fee, status: row.status };
      const status = meta?.err === null ? 'success' : 'failed';
      const wanted = { ...expected, fee: `${meta?.fee}`, status };
      if (JSON.stringify(sorted(facts)) !== JSON.stringify(sorted(wanted))) wrong.push({ name, facts, wanted });
    }
    t.same(wrong, []);
    t.ok(checked > 900, `${checked} fee payers`);
    t.end();
  });

  t.test('nothing is gained or lost: net rows sum to the fee, and each token to what was minted', (t) => {
    const wrong = recordings.flatMap(({ name, transaction, result }) => {
      const { meta } = result as RawRecord; // as nodes return it
      if (meta === null || name.startsWith('tx-rebuilt/')) return [];
      const lamports = transaction.accounts.map(({ address }) => {
        const sol = netRowOf(address, transaction, context).changes.find(({ asset }) => asset === 'SOL');
        return BigInt(sol?.amount ?? 0);
      });
      const sum = lamports.reduce((total, change) => total + change, 0n);
      const expected = transaction.preBalances.reduce((total, before, i) => {
        return total + (transaction.postBalances[i] ?? 0n) - before;
      }, 0n);
      return sum === expected ? [] : [name];
    });
    t.same(wrong, []);
    t.end();
  });

  t.test('lamports that a program moved by itself are in the net row', (t) => {
    const found = recordings.find(({ transaction }) => transaction.signatures[0]?.startsWith('3bYXWjjN'));
    const row = found && netRowOf(found.transaction.feePayer, found.transaction, context);
    t.match(row?.changes[0], { asset: 'SOL', mint: null, amount: /^3705\d{7}$/, uiAmount: /^37\.05/ });
    t.end();
  });

  const [OWNER, OTHER, ACCOUNT, MINT] = ['1', '2', '3', '4'].map((digit) => digit.repeat(44)) as [
    string,
    string,
    string,
    string,
  ];

  /** Makes a record of one token account before and after. */
  function record(before: object | null, after: object | null, more: object = {}): unknown {
    const balances = (balance: object | null): object[] =>
      balance === null ? [] : [{ accountIndex: 1, mint: MINT, programId: 'Tokenkeg', ...balance }];
    return {
      slot: 7,
      blockTime: 9,
      transaction: { signatures: ['s'], message: { accountKeys: [OTHER, ACCOUNT], instructions: [] } },
      meta: {
        err: null,
        fee: 5000,
        preBalances: [10_000, 20],
        postBalances: [5000, 20],
        preTokenBalances: balances(before),
        postTokenBalances: balances(after),
        ...more,
      },
    };
  }

  const amount = (units: number): object => ({ uiTokenAmount: { amount: `${units}`, decimals: 1 } });
  const changesOf = (address: string, value: unknown): Record<string, string> =>
    amountsOf(netRowOf(address, normalizeTransaction(value), context));

  t.test('an account whose owner changes is lost by one and gained by the other', (t) => {
    const passedOn = record({ owner: OWNER, ...amount(70) }, { owner: OTHER, ...amount(70) });
    t.same(changesOf(OWNER, passedOn), { [MINT]: '-70' });
    t.same(changesOf(OTHER, passedOn), { SOL: '-5000', [MINT]: '70' });
    t.same(changesOf(ACCOUNT, passedOn), {}, 'for itself nothing has changed');
    t.end();
  });

  t.test('an account that opens or closes, or counts for itself', (t) => {
    t.same(changesOf(OWNER, record(null, { owner: OWNER, ...amount(5) })), { [MINT]: '5' });
    t.same(changesOf(OWNER, record({ owner: OWNER, ...amount(5) }, null)), { [MINT]: '-5' });
    const paid = record({ owner: OWNER, ...amount(5) }, { owner: OWNER, ...amount(25) });
    t.same(changesOf(ACCOUNT, paid), { [MINT]: '20' });
    t.match(netRowOf(OWNER, normalizeTransaction(paid), context).changes, [
      { uiAmount: '2', decimals: 1, symbol: null },
    ]);
    t.same(changesOf(MINT, paid), {});
    t.end();
  });

  t.test('of a record without balances nothing is known to have changed', (t) => {
    const bare = { slot: 7, transaction: { signatures: ['s'], message: { accountKeys: [OTHER] } }, meta: null };
    const row = netRowOf(OTHER, normalizeTransaction(bare), context);
    t.match(row, { type: 'net', fee: null, changes: [], blockTime: null });
    const half = record({ owner: OWNER, ...amount(5) }, null, { postTokenBalances: null });
    t.same(changesOf(OWNER, half), {});
    t.end();
  });
});

t.test('opened-accounts', async (t) => {
  t.test('a lookup table is opened when it is created or extended, not when it ends', async (t) => {
    const accounts = addressesOf(1, 2, 3, 4);
    const opened = (...data: readonly number[]) => [
      ...findOpenedAccounts(
        parseTransaction(syntheticTransaction({ calls: [{ programId: LOOKUP_TABLE_PROGRAM, accounts, data }] })),
      ),
    ];
    t.strictSame(opened(0, 0, 0, 0, ...u64Bytes(9n), 255), [accounts[0]]);
    t.strictSame(opened(2, 0, 0, 0, ...u64Bytes(0n)), [accounts[0]]);
    t.strictSame(opened(3, 0, 0, 0), [], 'deactivated');
    t.strictSame(opened(4, 0, 0, 0), [], 'closed');
  });
});

t.test('other-parsers', async (t) => {
  const transactions = new Map(
    recordedTransactions('transactions')
      .filter(({ name }) => name.startsWith('tx'))
      .map(({ transaction }) => [transaction.signatures[0], transaction]),
  );

  /** The result of another project's parser for a transaction that is recorded here. */
  interface ParserResult {
    readonly name: string;
    readonly transaction: Transaction;
    readonly expected: Readonly<Record<string, unknown>>;
  }

  const parserResults = (parser: string): ParserResult[] =>
    readRecordings('expected').flatMap((line) => {
      const { name, result } = asObject(parseExactJson(line));
      const { signature, expected } = asObject(result);
      const transaction = transactions.get(asString(signature) ?? '');
      if (!String(name).startsWith(parser) || transaction === undefined) return [];
      return { name: String(name), transaction, expected: asObject(expected) };
    });

  const amountOf = (value: unknown): unknown => {
    const { amount } = asObject(value);
    return amount;
  };

  const inSol = (lamports: bigint | null): string => formatUnits(lamports ?? 0n, 9);

  /** Returns the lamports of an amount of SOL as text. */
  const lamports = (sol: unknown): bigint => {
    const [units = '0', fraction = ''] = String(sol).split('.');
    return BigInt(units + fraction.padEnd(9, '0'));
  };

  t.test('fees equal those of four other parsers', async (t) => {
    const compared = [
      ...parserResults('dexparser').map((opinion) => {
        const { fee } = opinion.expected;
        return { ...opinion, theirs: inSol(asBigInt(amountOf(fee))) };
      }),
      ...parserResults('crosschain').map((opinion) => {
        const { Fee } = opinion.expected;
        return { ...opinion, theirs: inSol(asBigInt(Fee)) };
      }),
      ...parserResults('rotki').map((opinion) => {
        const { events } = opinion.expected;
        const [fee] = asArray(events)
          .map(asObject)
          .filter(({ notes }) => /transaction fee$/.test(String(notes)));
        return { ...opinion, theirs: String(amountOf(fee)) };
      }),
      ...parserResults('metamask').flatMap((opinion) => {
        const { fees } = opinion.expected;
        const paid = asArray(fees).map((fee) => {
          const { asset } = asObject(fee);
          return amountOf(asset);
        });
        if (paid.length === 0) return []; // from the view of an account that paid none
        return { ...opinion, theirs: inSol(paid.map(lamports).reduce((a, b) => a + b)) };
      }),
    ];
    t.ok(compared.length > 100, `${compared.length} fees`);
    const differing = compared.filter(({ transaction, theirs }) => inSol(transaction.fee) !== theirs);
    t.strictSame(pluck(differing, 'name'), []);
  });

  const at = ({ call: { index, innerIndex } }: Transfer): string =>
    innerIndex === null ? `${index}` : `${index}-${innerIndex}`;

  t.test('transfers equal those of two other parsers, except the listed differences', async (t) => {
    expectListedDifferences(t, 'transfer-differences.txt', [...dexParserDifferences(t), ...crosschainDifferences()]);
  });

  function dexParserDifferences(t: Test): string[] {
    const differences: string[] = [];
    let compared = 0;
    for (const { name, transaction, expected } of parserResults('dexparser')) {
      const ours = new Set(
        extractTransfers(transaction).map((row) => {
          const [from, to] =
            row.asset === 'SOL' ? [row.fromUserAccount, row.toUserAccount] : [row.fromTokenAccount, row.toTokenAccount];
          return `${at(row)} ${from ?? ''}>${to ?? ''} ${row.amount} ${row.mint ?? WRAPPED_SOL}`;
        }),
      );
      const { transfers } = expected;
      if (transaction.err !== null && asArray(transfers).length > 0) {
        differences.push(`${name}\t${asArray(transfers).length} transfers of a failed transaction`);
        continue;
      }
      for (const { type, idx, info } of asArray(transfers).map(asObject)) {
        const { source, destination, mint, tokenAmount } = asObject(info);
        const amount = amountOf(tokenAmount);
        compared++;
        if (!ours.has(`${idx} ${source ?? ''}>${destination ?? ''} ${amount} ${mint}`)) {
          differences.push(`${name}\t${type} at ${idx}: ${amount} of ${mint}`);
        }
      }
    }
    t.ok(compared > 100, `${compared} transfers`);
    return differences;
  }

  /** Returns the differences to crosschain, which lists only the transfers that it counts as the payment. */
  function crosschainDifferences(): string[] {
    return parserResults('crosschain').flatMap(({ name, transaction, expected }) => {
      const ours = new Set(
        extractTransfers(transaction).map(
          ({ mint, amount, fromUserAccount, toUserAccount }) =>
            `${fromUserAccount}>${toUserAccount} ${amount} ${mint ?? ''}`,
        ),
      );
      const { Sources, Destinations } = expected;
      return asArray(Sources).flatMap((source, index) => {
        const { Address: from, Amount, ContractAddress } = asObject(source);
        const { Address: to } = asObject(asArray(Destinations)[index]);
        return ours.has(`${from}>${to} ${Amount} ${ContractAddress ?? ''}`) ? [] : `${name}\t${from}>${to} ${Amount}`;
      });
    });
  }

  t.test('the number of SOL transfers equals the explorer’s', async (t) => {
    for (const { name, transaction, expected } of parserResults('explorer-count')) {
      const { solTransfers } = expected;
      if (solTransfers === undefined) continue; // its note is tested in extract-transfers.test.ts
      const own = extractTransfers(transaction).filter(
        ({ type, asset, call }) => type === 'transfer' && asset === 'SOL' && call.innerIndex === null,
      );
      t.equal(own.length, solTransfers, name);
    }
  });
});

t.test('interpret-transaction', async (t) => {
  const [user, other, pool, account, poolAccount, account2, poolAccount2, mint, mint2, lpMint, lpAccount, unknown] =
    addressesOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);

  const RAYDIUM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';
  const ORCA = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
  const HUMIDIFI = '9H6tua7jkLhdm3w8BvgpTn5LZNU7g4ZynDmCiNN3q6Rp';
  const PUMP_FUN = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
  const DISTRIBUTOR = 'MErKy6nZVoVAkryxAejJz2juifQ4ArgLgHmaJCQkU7N';
  const GAME = 'SAGE2HAwep459SNq61LHvjxPk4pLPEJLoMETef7f7EE';
  const KAMINO_LEND = 'KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD';
  const PHOENIX = 'PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY';
  const TIP_ACCOUNT = '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5';

  const all = ['transactions', 'mainnet-block'].flatMap(recordedTransactions);

  const call = (programId: string, accounts: readonly string[] = [], data: readonly number[] = []): SyntheticCall => ({
    programId,
    accounts,
    data,
  });
  const sendTokens = (from: string, to: string, authority: string, amount: bigint): SyntheticCall =>
    call(TOKEN_PROGRAM, [from, to, authority], [3, ...u64Bytes(amount)]);
  const mintTokens = (from: string, to: string, amount: bigint): SyntheticCall =>
    call(TOKEN_PROGRAM, [from, to, other], [7, ...u64Bytes(amount)]);
  const sendSol = (from: string, to: string, lamports: bigint): SyntheticCall =>
    call(SYSTEM_PROGRAM, [from, to], [2, 0, 0, 0, ...u64Bytes(lamports)]);
  const balance = (of: string, owner: string, mint: string, before: bigint, after: bigint) => ({
    account: of,
    owner,
    mint,
    before,
    after,
  });

  const typeOf = (transaction: Partial<SyntheticTransaction>): string => interpretTransaction(parse(transaction)).type;
  const textOf = (transaction: Partial<SyntheticTransaction>): string => explainTransaction(parse(transaction));
  const parse = (transaction: Partial<SyntheticTransaction>) =>
    parseTransaction(syntheticTransaction({ calls: [], signers: [user], ...transaction }));

  t.test('a swap has an exchange as its main program, and its actor is a party that acted', async (t) => {
    const wrong: string[] = [];
    for (const { name, transaction } of all) {
      const view = enhancedOf(transaction);
      const interpreted = interpretTransaction(view);
      if (view.events.swap !== undefined && !isTradingProgram(interpreted.program))
        wrong.push(`${name}: ${interpreted.program}`);
      const acts =
        view.signers.includes(interpreted.actor) ||
        ['FILL_ORDER', 'SET_AUTHORITY', 'APPROVE'].includes(interpreted.type);
      if (!acts) wrong.push(`${name}: ${interpreted.type} by ${interpreted.actor}`);
    }
    t.strictSame(wrong, []);
  });

  t.test('the source is the first program that is called for more than limits', async (t) => {
    const calls = [COMPUTE_BUDGET_PROGRAM, COMPUTE_BUDGET_PROGRAM, other].map((programId) => call(programId));
    t.equal(sourceOf(null, parse({ calls })), other);
    t.equal(sourceOf(null, parse({ calls: calls.slice(1, 2) })), 'COMPUTE_BUDGET_PROGRAM');
  });

  t.test('an explanation interprets no other type than the enhanced view has', async (t) => {
    const other = all.filter(({ transaction }) => {
      const view = enhancedOf(transaction);
      return interpretTransaction(view).type !== view.type;
    });
    t.equal(other.length, 0);
  });

  t.test('a program that is passed exchanges tried to trade only where nothing moved', async (t) => {
    const err = { InstructionError: [0, { Custom: 1 }] };
    const passed = call(unknown, [user, RAYDIUM, pool, ORCA, TOKEN_PROGRAM]);
    t.equal(typeOf({ calls: [passed], err }), 'ARBITRAGE');
    t.match(
      textOf({ calls: [passed] }),
      / tried to trade on Raydium and Orca through the program .*, but nothing was traded/,
    );
    const tokens = [balance(account, user, mint, 100n, 60n), balance(account2, other, mint, 0n, 40n)];
    t.equal(typeOf({ calls: [passed], inner: [sendTokens(account, account2, user, 40n)], tokens }), 'TRANSFER');
    t.equal(typeOf({ calls: [call(unknown, [user, RAYDIUM, pool])], err }), 'UNKNOWN', 'one may be for anything');
    t.equal(typeOf({ calls: [passed, call(RAYDIUM, [TOKEN_PROGRAM])], err }), 'SWAP', 'the exchange itself was called');
  });

  t.test('an exchange that is called without a token program writes a quote; with one it was to trade', async (t) => {
    const err = { InstructionError: [0, { Custom: 57005 }] };
    t.equal(typeOf({ calls: [call(HUMIDIFI, [user, pool])] }), 'QUOTE_UPDATE');
    t.equal(typeOf({ calls: [call(HUMIDIFI, [user, pool])], err }), 'QUOTE_UPDATE');
    t.equal(typeOf({ calls: [call(HUMIDIFI, [user, pool, TOKEN_PROGRAM])], err }), 'SWAP');
    t.equal(typeOf({ calls: [call(ORCA, [user, pool])] }), 'UNKNOWN', 'a pool that anybody fills has no maker');
    const lamports = { before: [100_000n, 0n, 10n], after: [85_000n, 10_000n, 10n] };
    const accounts = [user, TIP_ACCOUNT, pool];
    const tipped = { calls: [call(HUMIDIFI, [user, pool]), sendSol(user, TIP_ACCOUNT, 10_000n)], accounts, lamports };
    t.match(textOf(tipped), / wrote new prices on HumidiFi\. The fee was 0\.000005 SOL and the tip 0\.00001 SOL\.$/);
  });

  t.test('a tip beside a program without a name is no transfer; alone it is one, described as a tip', async (t) => {
    const lamports = { before: [100_000n, 0n], after: [85_000n, 10_000n] };
    const accounts = [user, TIP_ACCOUNT];
    const tip = sendSol(user, TIP_ACCOUNT, 10_000n);
    t.equal(typeOf({ calls: [call(unknown, [user]), tip], accounts, lamports }), 'UNKNOWN');
    t.match(textOf({ calls: [tip], accounts, lamports }), / paid a tip of 0\.00001 SOL to Jito and did nothing else\./);
    const charge = { before: [100_000n, 0n], after: [94_999n, 1n] };
    t.equal(
      typeOf({
        calls: [call(unknown, [user])],
        inner: [sendSol(user, other, 1n)],
        accounts: [user, other],
        lamports: charge,
      }),
      'UNKNOWN',
      'a lamport that a program charges is no payment',
    );
  });

  t.test('two assets that go into a pool for a receipt are liquidity, and the other way round', async (t) => {
    const added = {
      calls: [call(RAYDIUM, [user])],
      inner: [
        sendTokens(account, poolAccount, user, 40n),
        sendTokens(account2, poolAccount2, user, 50n),
        mintTokens(lpMint, lpAccount, 7n),
      ],
      tokens: [
        balance(account, user, mint, 100n, 60n),
        balance(poolAccount, pool, mint, 0n, 40n),
        balance(account2, user, mint2, 100n, 50n),
        balance(poolAccount2, pool, mint2, 0n, 50n),
        balance(lpAccount, user, lpMint, 0n, 7n),
      ],
    };
    t.equal(typeOf(added), 'ADD_TO_POOL');
    t.match(textOf(added), / put .* into a pool on Raydium and got 0\.000007 of the token /);
    const removed = {
      calls: [call(RAYDIUM, [user])],
      inner: [
        call(TOKEN_PROGRAM, [lpAccount, lpMint, user], [8, ...u64Bytes(7n)]),
        sendTokens(poolAccount, account, pool, 40n),
        sendTokens(poolAccount2, account2, pool, 50n),
      ],
      tokens: [
        balance(account, user, mint, 60n, 100n),
        balance(poolAccount, pool, mint, 40n, 0n),
        balance(account2, user, mint2, 50n, 100n),
        balance(poolAccount2, pool, mint2, 50n, 0n),
        balance(lpAccount, user, lpMint, 7n, 0n),
      ],
    };
    t.equal(typeOf(removed), 'REMOVE_FROM_POOL');
  });

  t.test('the launch of a token names it, and what was bought of it at its whole price', async (t) => {
    const name = (text: string): number[] => [text.length, 0, 0, 0, ...new TextEncoder().encode(text)];
    const createAccount = call(
      SYSTEM_PROGRAM,
      [user, pool],
      [0, 0, 0, 0, ...u64Bytes(1_000_000n), ...u64Bytes(9n), ...bytesOf(3)],
    );
    const launched = {
      calls: [call(PUMP_FUN, [user, pool], [1, 2, 3, 4, 5, 6, 7, 8, ...name('Moon Cat'), ...name('MCAT')])],
      inner: [
        createAccount,
        call(TOKEN_PROGRAM, [mint], [20, 6, ...bytesOf(2), 0]),
        sendSol(user, pool, 50_000_000n),
        sendTokens(poolAccount, account, pool, 40n),
      ],
      accounts: [user, pool],
      lamports: { before: [100_000_000n, 0n], after: [48_995_000n, 51_000_000n] },
      tokens: [balance(account, user, mint, 0n, 40n), balance(poolAccount, pool, mint, 40n, 0n)],
    };
    t.equal(typeOf(launched), 'CREATE');
    t.match(
      textOf(launched),
      / launched the token “Moon Cat” \(“MCAT”\) .* on Pump\.fun and bought 0\.00004 of it for 0\.05 SOL, and also put 0\.001 SOL into the new account /,
      'the deposit of the pool is no part of the price',
    );
    const migrate = [...createHash('sha256').update('global:migrate').digest()].slice(0, 8);
    t.not(typeOf({ ...launched, calls: [call(PUMP_FUN, [user, pool], migrate)] }), 'CREATE');
  });

  t.test('a launch goes before its deposits, and a right that nobody can have is given up', async (t) => {
    const giveUp = call(METADATA_PROGRAM, [account, other], [15, 0, 1, ...bytesOf(0)]);
    const launched = {
      calls: [call(PUMP_FUN, [user, pool], [1, 2, 3, 4, 5, 6, 7, 8])],
      inner: [
        call(SYSTEM_PROGRAM, [user, pool], [0, 0, 0, 0, ...u64Bytes(1_000_000n), ...u64Bytes(9n), ...bytesOf(3)]),
        call(TOKEN_PROGRAM, [mint], [20, 6, ...bytesOf(2), 0]),
        giveUp,
      ],
      accounts: [user, pool],
      lamports: { before: [100_000_000n, 0n], after: [98_995_000n, 1_000_000n] },
    };
    t.match(
      textOf(launched),
      /^\S+ launched the token \S+ on Pump\.fun; \S+ also gave up the right to change the metadata of \S+ for good; \S+ also put 0\.001 SOL /,
    );
    t.match(textOf({ ...launched, inner: [giveUp] }), /gave up the right to change the metadata of \S+ for good/);
  });

  t.test('a sale paid without an instruction is beside the fee of a bot, in a record without depths', async (t) => {
    const event = [0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d];
    const sold = {
      calls: [call('MaestroAAe9ge5HTc64VbBQZ6fP77pwvrhM8i1XWSAx', [user, other]), call(PUMP_FUN, [pool, user])],
      inner: [sendSol(user, other, 5_000_000n)],
      innerOfSecond: [
        call('pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ', [pool]),
        sendTokens(account, poolAccount, user, 40n),
        call(PUMP_FUN, [pool], event),
      ],
      accounts: [user, pool, other],
      lamports: { before: [100_000_000n, 900_000_000n, 0n], after: [594_995_000n, 400_000_000n, 5_000_000n] },
      tokens: [balance(account, user, mint, 40n, 0n), balance(poolAccount, pool, mint, 0n, 40n)],
    };
    t.match(
      textOf(sold),
      /^\S+ swapped 0\.00004 of the token \S+ for 0\.5 SOL on Pump\.fun, and also sent 0\.005 SOL to \S+ through Maestro\./,
    );
  });

  t.test('shares that are burned where they were minted are no minted tokens', async (t) => {
    const migrated = {
      calls: [call(PUMP_FUN, [user])],
      inner: [
        mintTokens(lpMint, lpAccount, 7n),
        call(TOKEN_PROGRAM, [lpAccount, lpMint, pool], [8, ...u64Bytes(7n)]),
        sendTokens(account, poolAccount, other, 40n),
      ],
      tokens: [
        balance(lpAccount, pool, lpMint, 0n, 0n),
        balance(account, other, mint, 40n, 0n),
        balance(poolAccount, pool, mint, 0n, 40n),
      ],
    };
    t.equal(typeOf(migrated), 'TRANSFER');
  });

  t.test('a bridge that pays many names those that got most', async (t) => {
    const paid = addressesOf(31, 32, 33, 34, 35, 36, 37, 38);
    const fulfilled = {
      calls: [call('wormDTUJ6AWPNvk59vGQbDvGJmqbDTdgWgAqcLBCgUb', [user], [2])],
      inner: paid.map((to, at) => sendSol(pool, to, BigInt(9 - at) * 1_000_000n)),
      accounts: [user, pool, ...paid],
      lamports: {
        before: [5000n, 900_000_000n],
        after: [0n, 856_000_000n, ...paid.map((_, at) => BigInt(9 - at) * 1_000_000n)],
      },
    };
    t.match(textOf(fulfilled), / 0\.009 SOL to \S+ and a total of 0\.035 SOL to 7 more accounts /);
  });

  t.test('an airdrop that is claimed for a fee is no swap', async (t) => {
    const claimed = {
      calls: [call(DISTRIBUTOR, [user])],
      inner: [sendSol(user, other, 20_000_000n), sendTokens(poolAccount, account, pool, 40n)],
      tokens: [balance(account, user, mint, 0n, 40n), balance(poolAccount, pool, mint, 40n, 0n)],
      accounts: [user, other],
      lamports: { before: [50_000_000n, 0n], after: [29_995_000n, 20_000_000n] },
    };
    t.equal(typeOf(claimed), 'CLAIM');
    t.match(textOf(claimed), / claimed 0\.00004 of the token .* on .* and paid 0\.02 SOL\./);
  });

  t.test('a new right to move tokens is described, with what is at stake', async (t) => {
    const tokens = [balance(account, user, mint, 900n, 900n)];
    const approve = (amount: bigint) => call(TOKEN_PROGRAM, [account, other, user], [4, ...u64Bytes(amount)]);
    const stolen = call(TOKEN_PROGRAM, [account, user], [6, 2, 1, ...bytesOf(2)]);
    t.match(
      textOf({ calls: [stolen], tokens }),
      / passed the ownership of .* \(which holds 0\.0009 of the token .*\) from .* to /,
    );
    t.equal(typeOf({ calls: [stolen], tokens }), 'SET_AUTHORITY');
    t.match(textOf({ calls: [approve(2n ** 64n - 1n)], tokens }), / allowed .* to spend all tokens of the account /);
    t.match(textOf({ calls: [approve(5n)], tokens }), / to spend 0\.000005 of the token /);
    const revoke = call(TOKEN_PROGRAM, [account, user], [5]);
    t.equal(typeOf({ calls: [revoke], tokens }), 'REVOKE');
    t.equal(typeOf({ calls: [approve(5n), revoke], tokens }), 'REVOKE', 'what is revoked in the same transaction');
    t.equal(typeOf({ calls: [revoke, approve(5n)], tokens }), 'APPROVE', 'what is given after the end of another');
    const sent = {
      calls: [stolen, sendSol(user, other, 10n)],
      tokens,
      accounts: [user, other],
      lamports: { before: [10_000n, 0n], after: [4_990n, 10n] },
    };
    t.equal(typeOf(sent), 'SET_AUTHORITY', 'a payment beside it hides nothing');
    t.equal(typeOf({ calls: [stolen], tokens, err: { InstructionError: [0, { Custom: 4 }] } }), 'SET_AUTHORITY');
    t.equal(typeOf({ calls: [call(COMPUTE_BUDGET_PROGRAM)] }), 'UNKNOWN');
  });

  /** A swap of 40 of `mint` for 50 of `mint2`. */
  const swap = {
    calls: [call(RAYDIUM, [user, TOKEN_PROGRAM])],
    inner: [sendTokens(account, poolAccount, user, 40n), sendTokens(poolAccount2, account2, pool, 50n)],
    tokens: [
      balance(account, user, mint, 100n, 60n),
      balance(poolAccount, pool, mint, 0n, 40n),
      balance(account2, user, mint2, 0n, 50n),
      balance(poolAccount2, pool, mint2, 50n, 0n),
    ],
  };

  t.test('whatever stands before it, what was sent or given away beside it is described', async (t) => {
    const before: Readonly<Record<string, Partial<SyntheticTransaction>>> = {
      'a move in a game': { calls: [call(GAME, [user])] },
      'a swap': swap,
      'new prices': { calls: [call(HUMIDIFI, [user, pool])] },
      'a search for a trade': { calls: [call(unknown, [user, RAYDIUM, ORCA])] },
      'a loan': { calls: [call(KAMINO_LEND, [user])] },
      'the end of a stake': { calls: [call(STAKE_PROGRAM, [pool, other, user], [5, 0, 0, 0])] },
      'a vote': {
        calls: [{ programId: VOTE_PROGRAM, program: 'vote', parsed: { type: 'vote', info: { voteAccount: pool } } }],
      },
    };
    const lamports = { before: [10_000n, 0n, 0n], after: [4_990n, 10n, 0n] };
    const paid = { accounts: [user, other], lamports };
    const target = [balance(lpAccount, user, lpMint, 900n, 900n)];
    const approval = call(TOKEN_PROGRAM, [lpAccount, other, user], [4, ...u64Bytes(5n)]);
    const theft = call(TOKEN_PROGRAM, [lpAccount, user], [6, 2, 1, ...bytesOf(2)]);
    const undescribed = Object.entries(before).flatMap(([name, { calls = [], tokens = [], ...rest }]) => {
      const sent = textOf({ ...rest, calls: [...calls, sendSol(user, other, 10n)], tokens, ...paid });
      const allowed = textOf({ ...rest, calls: [...calls, approval], tokens: [...tokens, ...target] });
      const given = textOf({ ...rest, calls: [...calls, theft], tokens: [...tokens, ...target] });
      return [
        / sent 0\.00000001 SOL to /.test(sent) ? null : `${name}: ${sent}`,
        / allowed .* to spend 0\.000005 of the token /.test(allowed) ? null : `${name}: ${allowed}`,
        / passed the ownership of .* from .* to /.test(given) ? null : `${name}: ${given}`,
        /hands/.test(sent + allowed + given) ? `${name}: nothing changed hands` : null,
      ].filter((text) => text !== null);
    });
    t.strictSame(undescribed, []);
    const within = { calls: [call(GAME, [user])], inner: [theft], tokens: target };
    t.match(textOf(within), / passed the ownership of .*Star Atlas/, 'given away by a program');
  });

  t.test('what an order book pays out was received by the wallet that changed the orders', async (t) => {
    const paidOut = {
      calls: [call(PHOENIX, [user, TOKEN_PROGRAM])],
      inner: [sendTokens(poolAccount, account, pool, 40n)],
      tokens: [balance(poolAccount, pool, mint, 40n, 0n), balance(account, user, mint, 0n, 40n)],
    };
    t.match(textOf(paidOut), / changed orders on Phoenix and got 0\.00004 of the token \S+; /);
  });

  t.test('a token that the transaction sent to somebody beside a swap was not swapped', async (t) => {
    const thiefAccount = addressOf(20);
    const tokens = [
      ...swap.tokens,
      balance(lpAccount, user, lpMint, 700n, 0n),
      balance(thiefAccount, other, lpMint, 0n, 700n),
    ];
    const text = textOf({ ...swap, calls: [...swap.calls, sendTokens(lpAccount, thiefAccount, user, 700n)], tokens });
    t.match(text, / swapped 0\.00004 of the token .{9} for 0\.00005 of the token .{9} on Raydium\b/);
    t.match(text, / sent 0\.0007 of the token /);
  });

  t.test('a hidden amount is a transfer, not nothing', async (t) => {
    const info = { source: account, destination: account2, mint, owner: user };
    const hidden = {
      calls: [{ programId: TOKEN_2022_PROGRAM, program: 'spl-token', parsed: { type: 'confidentialTransfer', info } }],
      tokens: [balance(account, user, mint, 5n, 5n), balance(account2, other, mint, 0n, 0n)],
    };
    t.equal(typeOf(hidden), 'TRANSFER');
    t.match(
      textOf(hidden),
      /^4vJ9…\S+ sent a hidden amount of the token \S+ to \S+; the record lacks balances or calls that would show what moved\. The fee was 0\.000005 SOL\.$/,
    );
  });

  t.test('a call of a pool that anybody may fill is no quote, whatever it is passed', async (t) => {
    t.equal(typeOf({ calls: [call(ORCA, [user, pool])] }), 'UNKNOWN');
    const err = { InstructionError: [1, { Custom: 1 }] };
    t.equal(typeOf({ calls: [call(HUMIDIFI, [user, pool]), call(ORCA, [user, pool])], err }), 'SWAP');
  });

  t.test("rent goes to the wallet that got it, and another's text stays within its quotation marks", async (t) => {
    const burned = textOf({
      calls: [
        call(TOKEN_PROGRAM, [account, mint, user], [8, ...u64Bytes(900n)]),
        call(TOKEN_PROGRAM, [account, other, user], [9]),
      ],
      signers: [other, user],
      accounts: [other, user, account],
      lamports: { before: [10_000n, 0n, 2_039_280n], after: [2_044_280n, 0n, 0n] },
      tokens: [{ account, owner: user, mint, before: 900n, after: null }],
    });
    t.match(burned, /^4vJ9\S+ closed a token account, whose 0\.00203928 SOL went to 8qbH.* burned /);
    const text = [...Buffer.from('hi” on the chain. You got 5 SOL')];
    t.match(textOf({ calls: [call(MEMO_PROGRAM, [], text)] }), / the memo “[^”]*5 SOL”; /);
  });
});
