import bs58 from 'bs58';
import t from 'tap';
import {
  CLOCK_SYSVAR,
  MEMO_PROGRAM,
  STAKE_CONFIG,
  STAKE_HISTORY_SYSVAR,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../../../src/domain/well-known-addresses.ts';
import { decodeInstruction } from '../../../../src/solana/transactions/decode-instruction.ts';

/** Returns 32 bytes of the value `byte`. */
const filled = (byte: number): number[] => Array<number>(32).fill(byte);
const key = (byte: number): string => bs58.encode(Uint8Array.from(filled(byte)));
const f64 = (value: number): number[] => [...new Uint8Array(Float64Array.of(value).buffer)];
const u64 = (value: bigint): number[] => [...new Uint8Array(BigUint64Array.of(value).buffer)];

const read = (program: string, accounts: readonly string[], ...data: readonly number[]) =>
  decodeInstruction(program, accounts, Uint8Array.from(data));

t.test('a multiplier is written in plain digits, as in the decoded mint', async (t) => {
  for (const [multiplier, text] of [
    [1.5, '1.5'],
    [1e21, '1000000000000000000000'],
    [1.5e-7, '0.00000015'],
    [Number.POSITIVE_INFINITY, 'inf'],
  ] as const) {
    t.strictSame(read(TOKEN_2022_PROGRAM, ['mint'], 43, 0, ...filled(1), ...f64(multiplier)), {
      type: 'initializeScaledUiAmountConfig',
      info: { mint: 'mint', authority: key(1), multiplier: text },
    });
    t.strictSame(read(TOKEN_2022_PROGRAM, ['mint', 'owner'], 43, 1, ...f64(multiplier), ...u64(9n)), {
      type: 'updateMultiplier',
      info: { mint: 'mint', newMultiplier: text, newMultiplierTimestamp: 9n, authority: 'owner' },
    });
  }
});

t.test('an amount with more decimals than a node can divide by has no uiAmount', async (t) => {
  const info = (decimals: number) =>
    read(TOKEN_PROGRAM, ['source', 'mint', 'to', 'owner'], 12, ...u64(5n), decimals)?.info['tokenAmount'];
  t.strictSame(info(1), { amount: '5', decimals: 1, uiAmount: 0.5, uiAmountString: '0.5' });
  t.strictSame(info(20), { amount: '5', decimals: 20, uiAmount: null, uiAmountString: '0.00000000000000000005' });
});

t.test('instructions that their program would refuse are not decoded', async (t) => {
  const newOwner = (flag: number) => read(TOKEN_PROGRAM, ['account', 'owner'], 6, 2, flag, ...filled(1));
  t.strictSame(newOwner(1)?.info['newAuthority'], key(1));
  t.equal(newOwner(2), null, 'a flag is 0 or 1');
  t.strictSame(read(MEMO_PROGRAM, [], 0x68, 0x69), { type: 'memo', info: { memo: 'hi' } });
  t.equal(read(MEMO_PROGRAM, [], 0xff), null, 'a memo is UTF-8');
  t.equal(read(TOKEN_PROGRAM, ['mint'], 24, 0xff), null, 'an amount given as text is UTF-8');
});

t.test('the stake program’s accounts are named with and without the sysvars, as in nodes', async (t) => {
  const [CLOCK, HISTORY, CONFIG] = [CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, STAKE_CONFIG];
  const stake = (accounts: readonly string[], tag: number, ...data: readonly number[]) =>
    read(STAKE_PROGRAM, accounts, tag, 0, 0, 0, ...data)?.info;
  const short = { stakeAccount: 's', voteAccount: 'v', stakeAuthority: 'a' };
  const sysvars = { clockSysvar: CLOCK, stakeHistorySysvar: HISTORY };
  t.strictSame(stake(['s', 'v', 'a'], 2), short);
  t.strictSame(stake(['s', 'v', CLOCK, HISTORY, 'a'], 2), { ...short, ...sysvars });
  t.strictSame(stake(['s', 'v', CLOCK, HISTORY, CONFIG, 'a'], 2), { ...short, ...sysvars, stakeConfigAccount: CONFIG });
  const withdrawal = { stakeAccount: 's', destination: 'd', withdrawAuthority: 'a', lamports: 5n };
  t.strictSame(stake(['s', 'd', 'a'], 4, ...u64(5n)), withdrawal);
  t.strictSame(stake(['s', 'd', CLOCK, HISTORY, 'a', 'c'], 4, ...u64(5n)), {
    ...withdrawal,
    ...sysvars,
    custodian: 'c',
  });
  t.strictSame(stake(['d', 's', 'a'], 7), { destination: 'd', source: 's', stakeAuthority: 'a' });
  t.strictSame(stake(['s', 'a'], 5), { stakeAccount: 's', stakeAuthority: 'a' });
  t.equal(stake(['s', CLOCK, 'a'], 1, ...filled(1), 7, 0, 0, 0), undefined, 'there are two authority types');
});

t.test('instructions of votes with BLS keys and commissions in basis points', async (t) => {
  const vote = (accounts: readonly string[], tag: number, ...data: readonly number[]) =>
    read(VOTE_PROGRAM, ['v', ...accounts], tag, 0, 0, 0, ...data);
  const keys = [...filled(1), ...filled(2), ...Array<number>(144).fill(9), ...filled(3)];
  const state = {
    ...{ voteAccount: 'v', node: 'n', authorizedVoter: key(2), authorizedWithdrawer: key(3) },
    ...{ inflationRewardsCommissionBps: 513, blockRevenueCommissionBps: 1, inflationRewardsCollector: 'i' },
    blockRevenueCollector: 'b',
  };
  t.strictSame(vote(['n', 'i', 'b'], 16, ...keys, 1, 2, 1, 0), { type: 'initializeV2', info: state });
  t.match(vote(['n'], 16, ...keys, 1, 2, ...filled(4), 1, 0, ...filled(5)), {
    info: { inflationRewardsCollector: key(4), blockRevenueCollector: key(5) },
  });
  t.strictSame(vote(['c', 'w'], 17, 1, 0, 0, 0), {
    type: 'updateCommissionCollector',
    info: { voteAccount: 'v', newCollector: 'c', withdrawAuthority: 'w', commissionKind: 'BlockRevenue' },
  });
  t.strictSame(vote(['w'], 18, 1, 2, 0, 0, 0, 0), {
    type: 'updateCommissionBps',
    info: { voteAccount: 'v', withdrawAuthority: 'w', commissionBps: 513, commissionKind: 'InflationRewards' },
  });
  t.match(vote(['s'], 19, ...u64(6n)), { type: 'depositDelegatorRewards', info: { source: 's', deposit: 6n } });
});

t.test('unwrapped lamports, groups, permissioned burns and accounts created over lamports', async (t) => {
  const unwrap = { source: 'a', destination: 'd', authority: 'o' };
  t.strictSame(read(TOKEN_PROGRAM, ['a', 'd', 'o'], 45, 0), { type: 'unwrapLamports', info: unwrap });
  t.strictSame(read(TOKEN_2022_PROGRAM, ['a', 'd', 'o'], 45, 1, ...u64(3n))?.info, { ...unwrap, amount: '3' });
  t.equal(read(TOKEN_PROGRAM, ['a', 'd', 'o'], 45, 2), null, 'a flag is 0 or 1');
  const group = [121, 113, 108, 39, 54, 51, 0, 4];
  t.strictSame(read(TOKEN_2022_PROGRAM, ['g', 'm', 'o'], ...group, ...filled(1), ...u64(9n)), {
    type: 'initializeTokenGroup',
    info: { group: 'g', mint: 'm', mintAuthority: 'o', updateAuthority: key(1), maxSize: 9n },
  });
  t.strictSame(read(TOKEN_2022_PROGRAM, ['a', 'm', 'p', 'o'], 46, 1, ...u64(9n)), {
    type: 'permissionedBurn',
    info: { account: 'a', mint: 'm', permissionedBurnAuthority: 'p', authority: 'o', amount: '9' },
  });
  const created = { newAccount: 'n', space: 8n, owner: key(1) };
  const create = (accounts: readonly string[], lamports: bigint) =>
    read(SYSTEM_PROGRAM, accounts, 13, 0, 0, 0, ...u64(lamports), ...u64(8n), ...filled(1))?.info;
  t.strictSame(create(['n'], 0n), created);
  t.strictSame(create(['n', 's'], 5n), { ...created, source: 's', lamports: 5n });
  t.equal(create(['n'], 5n), undefined, 'lamports come from somewhere');
});

t.test('what an instruction leaves out is null or absent, as in nodes', async (t) => {
  const load = (accounts: readonly string[], tag: number, ...data: readonly number[]) =>
    read(UPGRADEABLE_LOADER, accounts, tag, 0, 0, 0, ...data)?.info;
  t.strictSame(load(['p', 'a'], 4), { account: 'p', authority: 'a', newAuthority: null });
  t.strictSame(load(['p', 'r', 'a'], 5), { account: 'p', recipient: 'r', authority: 'a', programAccount: null });
  const extension = { programDataAccount: 'd', programAccount: 'p', additionalBytes: 8 };
  t.strictSame(load(['d', 'p'], 6, 8, 0, 0, 0), { ...extension, systemProgram: null, payerAccount: null });
  const payers = { authority: 'a', systemProgram: 's', payerAccount: 'y' };
  t.strictSame(load(['d', 'p', 'a', 's', 'y'], 9, 8, 0, 0, 0), { ...extension, ...payers });
  const size = (...types: readonly number[]) => read(TOKEN_2022_PROGRAM, ['m'], 21, ...types)?.info;
  t.strictSame(size(), { mint: 'm' });
  t.strictSame(size(7, 0, 26, 0), { mint: 'm', extensionTypes: ['immutableOwner', 'pausable'] });
  t.equal(size(255, 0), undefined, 'there is no such extension');
});
