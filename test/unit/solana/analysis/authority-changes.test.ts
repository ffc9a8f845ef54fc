import t from 'tap';
import {
  CLOCK_SYSVAR,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../../../src/domain/well-known-addresses.ts';
import { findAddressWithSeed } from '../../../../src/solana/accounts/program-derived-address.ts';
import type { AuthorityChange } from '../../../../src/solana/analysis/authority-changes.ts';
import { parseTransaction } from '../../../../src/solana/analysis/parse-transaction.ts';
import {
  addressOf,
  bytesOf,
  type SyntheticTransaction,
  syntheticTransaction,
  u64Bytes,
} from '../../../support/synthetic-transaction.ts';

const [owner, heir, delegate, mint, account, base] = [1, 2, 3, 4, 5, 6].map(addressOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
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

t.test('an owner of tokens who changes is told with what they hold', async (t) => {
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
      tokenBalance: '900',
      decimals: 6,
      lamports: null,
      lockup: null,
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
  const authority = findAddressWithSeed(base, seed, addressOf(9));
  return { authority, from: authority };
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

t.test('an account that held something and is assigned to a program is given away; a new one is opened', async (t) => {
  const assign = (before: bigint, signers: readonly string[]) =>
    changeBy(SYSTEM_PROGRAM, [owner], [...u32(1), ...heirBytes], {
      ...{ signers, accounts: [owner], tokens: [], lamports: { before: [before], after: [before] } },
    });
  t.match(assign(8n, [owner]), { kind: 'assign', account: owner, to: heir, lamports: '8' });
  t.equal(assign(0n, [owner]), undefined, 'it is opened');
  t.equal(assign(8n, [delegate]), undefined, 'a program opens its own account, which someone paid into before');
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
