import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  CLOCK_SYSVAR,
  LOOKUP_TABLE_PROGRAM,
  RENT_SYSVAR,
  STAKE_CONFIG,
  STAKE_HISTORY_SYSVAR,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../src/shared/domain/well-known-addresses.ts';
import type { ForgedCall, Forgery } from './forged-transaction.ts';
import {
  ALL,
  ALONE,
  type Attacks,
  anchor,
  asset,
  BONK,
  BUBBLEGUM,
  bonk,
  CORE,
  decoy,
  emptied,
  JITO_TIPS,
  JUPITER,
  key,
  multisig,
  multisigUsdc,
  newAccount,
  nft,
  onlyIn,
  ownNft,
  pool,
  poolBonk,
  poolUsdc,
  program,
  RAYDIUM,
  SPL_STAKE_POOL,
  SQUADS,
  secondEmptied,
  sponsor,
  stake,
  stolenBonk,
  stolenNft,
  stolenSol,
  stolenUsdc,
  stolenUsdt,
  table,
  thief,
  traded,
  tradedBack,
  USDC,
  USDT,
  u32,
  unnamed,
  usdc,
  usdt,
  vault,
  victim,
  vote,
  wallet,
  wsol,
} from './forged-world.ts';
import { addressOf, u64Bytes } from './synthetic-transaction.ts';

export const ORCA = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
export const MAGIC_EDEN = 'M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K';
const [secondProgram, tree, second] = [addressOf(52), addressOf(57), addressOf(67)];

export const hashes = Array<number>(96).fill(7);

const mintLeaf = (f: Forgery): ForgedCall =>
  f.call(BUBBLEGUM, [tree, victim, victim, addressOf(58), victim, victim], [...anchor('mint_v1'), 0]);
const sendLeaf = (f: Forgery): ForgedCall =>
  f.call(
    BUBBLEGUM,
    [tree, victim, victim, thief, addressOf(58)],
    [...anchor('transfer'), ...hashes, ...u64Bytes(5n), ...u32(5)],
  );
const burnLeaf = (f: Forgery): ForgedCall =>
  f.call(BUBBLEGUM, [tree, victim, victim, addressOf(58)], [...anchor('burn'), ...hashes, ...u64Bytes(6n), ...u32(6)]);

const syncNative = (): ForgedCall => ({ programId: TOKEN_PROGRAM, accounts: [wsol], data: [17], inner: [] });
const batchOf = (calls: readonly ForgedCall[]): ForgedCall => ({
  programId: TOKEN_PROGRAM,
  accounts: calls.flatMap(({ accounts }) => accounts),
  data: [255, ...calls.flatMap(({ accounts, data }) => [accounts.length, data.length, ...data])],
  inner: [],
});
export const delegateOf = (f: Forgery, account: string, authority: string, validator = vote): ForgedCall =>
  f.call(STAKE_PROGRAM, [account, validator, CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, STAKE_CONFIG, authority], u32(2));
/** Makes a stake of the victim. */
const initializeOf = (
  f: Forgery,
  account: string,
  withdrawer: string,
  lockup: readonly number[] = Array<number>(48).fill(0),
): ForgedCall =>
  f.call(STAKE_PROGRAM, [account, RENT_SYSVAR], [...u32(0), ...key(victim), ...key(withdrawer), ...lockup]);

/** Makes a stake of the victim, and delegates it. */
export const stakeOf = (f: Forgery, account: string, lamports: bigint): readonly ForgedCall[] => [
  f.create(victim, account, lamports, STAKE_PROGRAM, 200n),
  initializeOf(f, account, victim),
  delegateOf(f, account, victim),
];

/** The most bytes of an account. */
const MOST_BYTES = 10_485_760n;
const allocate = (f: Forgery, account: string, bytes: bigint): ForgedCall =>
  f.call(SYSTEM_PROGRAM, [account], [...u32(8), ...u64Bytes(bytes)]);

const LIMIT_ORDER = 'jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu';
const MANIFEST = 'MNFSTqtC93rEfYHB6hF82sKdZpUDFWkViLByLd1k1Ms';
const [secondVote, order, orderBonk, poolUsdt] = [addressOf(60), addressOf(61), addressOf(62), addressOf(63)];
const [seller, escrow, otherTree] = [addressOf(64), addressOf(65), addressOf(66)];

const unstake = (f: Forgery, account: string): ForgedCall =>
  f.call(STAKE_PROGRAM, [account, CLOCK_SYSVAR, victim], u32(5));

/** A call of a program with what it calls, and with accounts at places of its table; the others are of nobody. */
export const namedCall = (
  programId: string,
  data: readonly number[],
  named: Readonly<Record<number, string>>,
  ...inner: readonly ForgedCall[]
): ForgedCall => ({
  programId,
  accounts: Array.from({ length: 16 }, (_, place) => named[place] ?? addressOf(150 + place)),
  data,
  inner,
});

/** An order of the victim for 10 BONK, which a thief fills for 2 USDC in one call or in two. */
const fill = (f: Forgery, calls: 1 | 2): readonly ForgedCall[] => {
  f.hold(orderBonk, order, BONK, 9_000_000_000n, 5);
  const [given, paid] = [f.send(orderBonk, stolenBonk, order, 1_000_000n), f.send(stolenUsdc, usdc, thief, 2_000_000n)];
  const filled = { 0: order, 2: victim, 3: thief };
  return calls === 1
    ? [namedCall(LIMIT_ORDER, anchor('fill_order'), filled, given, paid)]
    : [
        namedCall(LIMIT_ORDER, anchor('pre_flash_fill_order'), { 0: order, 2: thief, 3: thief }, given),
        namedCall(LIMIT_ORDER, anchor('flash_fill_order'), filled, paid),
      ];
};

/** A sale on Magic Eden, with what its call moves. */
export const saleOf = (to: string, mint: string, ...moved: readonly ForgedCall[]): ForgedCall =>
  namedCall(MAGIC_EDEN, anchor('execute_sale_v2'), { 0: to, 1: seller, 4: mint }, ...moved);

const sale = (from: string, f: Forgery): ForgedCall => saleOf(victim, nft, f.sendSol(from, seller, 1_000_000_000n));

const leafCall = (name: 'transfer' | 'burn', holder: string): ForgedCall => {
  const data = [...anchor(name), ...hashes, ...u64Bytes(5n), ...u32(5)];
  return namedCall(BUBBLEGUM, data, {
    1: victim,
    2: holder,
    ...(name === 'burn' ? { 3: otherTree } : { 3: thief, 4: otherTree }),
  });
};

const anywhere: Attacks = {
  'a stake withdrawn with a stranger in the place of the history': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, thief, CLOCK_SYSVAR, decoy, victim], [...u32(4), ...u64Bytes(29_000_000_000n)], {
        lamports: 29_000_000_000n,
      }),
    ],
    says: ['29 SOL', thief, stake],
  },
  'transfers that a program stops': {
    make: (f) => [unnamed(f, f.call(TOKEN_2022_PROGRAM, [USDT, victim], [44, 1]))],
    says: ['stopped all transfers of USDT'],
  },
  'new accounts that a program makes start frozen': {
    make: (f) => [unnamed(f, f.call(TOKEN_2022_PROGRAM, [USDT, victim], [28, 1, 2]))],
    says: ['made new accounts of USDT start frozen'],
  },
  'a wallet given away with more bytes than it has SOL for': {
    make: (f) => {
      f.fund(victim, 70_000_000_000n);
      return [allocate(f, victim, MOST_BYTES), f.assign(victim, program)];
    },
    says: ['gave its wallet', '70 SOL', 'away', program],
    only: ['that a sponsor pays for'],
  },
  'a stake that is deactivated beside another deed': {
    make: (f) => [delegateOf(f, newAccount, victim), unstake(f, stake)],
    says: [`began to unstake the stake account ${stake}`, `the validator ${vote}`],
    only: [...ALONE, 'beside a swap on Raydium', 'in the call of a program that swaps'],
  },
};

const besideLittle = onlyIn(ALONE, {
  'tokens and SOL beside an NFT that was sent': {
    make: (f) => [
      unnamed(f, f.send(ownNft, stolenNft, victim, 1n), f.send(usdc, stolenUsdc, victim, 10_000_000_000n)),
      f.program(secondProgram, [victim], f.send(stolenSol, wsol, thief, 100_000_000n)),
      f.sendSol(victim, thief, 40_000_000_000n),
    ],
    says: ['10000 USDC', '40 SOL', `the NFT ${nft}`, thief],
  },
  'wrapped SOL closed for a thief beside an NFT that was burned': {
    make: (f) => [f.burn(ownNft, victim, 1n), f.close(ownNft, victim, victim), f.close(wsol, thief, victim)],
    says: ['50.00203928 SOL', thief, 'got back 0.00203928 SOL'],
  },
  'wrapped SOL sent beside an NFT that was burned': {
    make: (f) => [f.burn(ownNft, victim, 1n), f.send(wsol, stolenSol, victim, 6_000_000_000n)],
    says: ['6 SOL', thief],
    never: /got back 6/,
  },
  'an NFT that a delegate burned': {
    make: (f) => [f.burn(ownNft, thief, 1n)],
    says: [thief, 'burned', nft, victim],
    never: new RegExp(`^${victim} burned`),
  },
  'a compressed NFT sent beside one that was made in the same step': {
    make: (f) => [unnamed(f, mintLeaf(f), sendLeaf(f))],
    says: ['sent the NFT', thief],
  },
  'a compressed NFT burned beside one that was sent in the same step': {
    make: (f) => [unnamed(f, sendLeaf(f), burnLeaf(f))],
    says: ['burned the NFT', 'sent the compressed NFT', thief],
  },
  'an asset burned beside one that was made in the same step': {
    make: (f) => [
      unnamed(
        f,
        f.call(CORE, [addressOf(59), tree, victim, victim, victim], [0, 0]),
        f.call(CORE, [asset, tree, victim, victim], [12]),
      ),
    ],
    says: [`burned the NFT ${asset}`],
  },
  'SOL sent beside a compressed NFT that was made': {
    make: (f) => [mintLeaf(f), f.sendSol(victim, thief, 5_000_000_000n)],
    says: ['5 SOL', thief],
    never: /for 5 SOL/,
  },
  'a sale in two currencies': {
    make: (f) => [
      {
        ...f.program(
          MAGIC_EDEN,
          [],
          f.send(usdc, stolenUsdc, victim, 5_000_000_000n),
          f.sendSol(victim, thief, 3_000_000_000n),
          f.send(stolenNft, ownNft, thief, 0n),
        ),
        accounts: [victim, thief, addressOf(58), addressOf(59), nft],
        data: anchor('execute_sale_v2'),
      },
    ],
    says: ['5000 USDC', '3 SOL', thief],
  },
  'tokens sent to a thief that gives a unit back, between two trades': {
    make: (f) => [
      traded(f),
      unnamed(f, f.send(usdc, stolenUsdc, victim, 10_000_000_000n), f.send(stolenUsdc, usdc, thief, 1n)),
      tradedBack(f),
    ],
    says: ['10000 USDC', thief],
    never: /lost 10/,
  },
  'tokens that a thief gave less than a unit for, between two trades of one call': {
    make: (f) => [
      unnamed(
        f,
        traded(f),
        f.send(usdc, stolenUsdc, victim, 10_000_000_000n),
        f.send(stolenUsdt, usdt, thief, 1n),
        tradedBack(f),
      ),
    ],
    says: ['10000 USDC', thief],
    never: /lost 1000|made 0\.000001/,
  },
  'a circle without an exchange': {
    make: (f) => [
      unnamed(f, f.send(usdc, stolenUsdc, victim, 9_000_000n), f.send(stolenUsdt, usdt, thief, 1n)),
      f.program(secondProgram, [victim], f.send(usdt, stolenUsdt, victim, 2n), f.send(stolenUsdc, usdc, thief, 1n)),
    ],
    says: ['9 USDC', thief],
    never: /arbitrage/,
  },
  'lamports of another program for what an exchange got': {
    make: (f) => {
      const calls = [
        f.program(RAYDIUM, [pool], f.send(usdc, poolUsdc, victim, 7_000_000_000n)),
        f.program(program, [victim, vault]),
      ];
      f.call(SYSTEM_PROGRAM, [vault, victim], [], { lamports: 2_000_000n });
      return calls;
    },
    says: ['7000 USDC', '0.002 SOL'],
    never: /for 0\.002 SOL/,
  },
  'a trade with a thief in the call of another exchange': {
    make: (f) => [
      traded(f),
      f.program(
        ORCA,
        [pool],
        f.send(usdt, stolenUsdt, victim, 9_000_000_000n),
        f.send(stolenBonk, bonk, thief, 1_000_000n),
      ),
    ],
    says: ['9000 USDT for 10 BONK on Orca', '1000 USDC for 12.34567 BONK on Raydium'],
  },
  'an allowance in a batch behind more instructions than a transaction can have': {
    make: (f) => [
      unnamed(
        f,
        ...Array.from({ length: 4 }, () => batchOf(Array.from({ length: 254 }, syncNative))),
        batchOf([...Array.from({ length: 12 }, syncNative), f.approve(usdt, thief, victim, ALL)]),
      ),
    ],
    says: ['the record lacks balances or calls'],
  },
  'SOL staked in an account of a thief that signs': {
    signers: [thief, victim],
    make: (f) => [f.sendSol(victim, newAccount, 9_000_000_000n), delegateOf(f, newAccount, thief)],
    says: ['9 SOL', newAccount, victim],
    never: /staked 9 SOL/,
  },
  'SOL staked in an account that a thief delegates': {
    signers: [victim, thief],
    make: (f) => [f.sendSol(victim, newAccount, 9_000_000_000n), delegateOf(f, newAccount, thief)],
    says: ['9 SOL', newAccount, victim],
    never: /staked 9 SOL/,
  },
  'a stake that a thief may withdraw that signs': {
    signers: [victim, thief],
    make: (f) => [
      f.create(victim, newAccount, 9_000_000_000n, STAKE_PROGRAM, 200n),
      initializeOf(f, newAccount, thief),
      delegateOf(f, newAccount, victim),
    ],
    says: ['right to withdraw', newAccount, thief],
  },
  'a stake whose withdrawer a program changes to a thief that signs': {
    signers: [victim, thief],
    make: (f) => [
      unnamed(
        f,
        f.create(victim, newAccount, 9_000_000_000n, STAKE_PROGRAM, 200n),
        initializeOf(f, newAccount, victim),
        f.authorizeStake(newAccount, victim, thief, 1),
      ),
      delegateOf(f, newAccount, victim),
    ],
    says: ['right to withdraw', newAccount, thief],
  },
  'a stake made with a lock-up whose custodian is a thief': {
    make: (f) => [
      f.create(victim, newAccount, 9_000_000_000n, STAKE_PROGRAM, 200n),
      initializeOf(f, newAccount, victim, [...u64Bytes(4_070_908_800n), ...u64Bytes(0n), ...key(thief)]),
      delegateOf(f, newAccount, victim),
    ],
    says: ['lock-up', newAccount, 'until 2099-01-01 with', thief],
  },
  'the right to close an account that a thief owned for a while': {
    signers: [victim, thief],
    make: (f) => [
      traded(f),
      f.giveAway(usdt, victim, thief),
      f.pass(usdt, 3, thief, thief),
      f.giveAway(usdt, thief, victim),
    ],
    says: ['right to close', usdt, thief],
  },
  'a thief and a helper that are paid beside a circle': {
    make: (f) => [
      traded(f),
      f.send(usdc, stolenUsdc, victim, 10_000_000_000n),
      f.sendSol(victim, wallet, 1_000n),
      tradedBack(f),
    ],
    says: [`10000 USDC to ${thief}`],
  },
  'a lock-up beyond the years that a date has': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, victim], [...u32(6), 1, ...u64Bytes(300_000_000_000n), 0, 1, ...key(thief)]),
    ],
    says: ['until 300000000000 s with', thief],
  },
  'a swap that a delegate makes': {
    signers: [decoy],
    make: (f) => [f.program(RAYDIUM, [pool], f.send(usdc, poolUsdc, decoy, 5n), f.send(poolBonk, bonk, pool, 7n))],
    says: [`${decoy}, as delegate, swapped 0.000005 USDC of ${victim} for 0.00007 BONK`],
  },
  'a delegate that buys for a thief': {
    signers: [decoy],
    make: (f) => [
      f.program(RAYDIUM, [pool], f.send(usdc, poolUsdc, decoy, 5n), f.send(poolBonk, stolenBonk, pool, 7n)),
    ],
    says: [`${decoy}, as delegate, moved 0.000005 USDC of ${victim} to ${pool}`, thief],
    never: /let a program/,
  },
  'a trade of a program, whose accounts come behind those of the pool': {
    signers: [decoy],
    make: (f) => {
      f.hold(newAccount, multisig, BONK, 0n, 5);
      const legs = [f.send(multisigUsdc, poolUsdc, multisig, 5n), f.send(poolBonk, newAccount, pool, 7n)];
      return [f.program(program, [decoy], f.program(RAYDIUM, [pool, multisig], ...legs))];
    },
    says: ['0.000005 USDC', '0.00007 BONK'],
    never: /swap 0\.00007 BONK/,
  },
  'tokens that a delegate moves within a wallet': {
    signers: [decoy],
    make: (f) => [f.send(usdt, emptied, decoy, 5_000_000n)],
    says: [`${decoy}, as delegate, moved 5 USDT of ${victim} to ${victim}`],
  },
  'accounts closed beside one whose rent a sponsor gets': {
    signers: [sponsor, victim],
    make: (f) => [f.close(emptied, sponsor, victim), f.close(secondEmptied, victim, victim)],
    says: [`${victim} closed a token account and got 0.00203928 SOL back`, `went to ${sponsor}`],
    never: /2 token accounts/,
  },
  'a program replaced by a signer that pays for nothing': {
    signers: [victim, thief],
    make: (f) => [
      f.call(
        UPGRADEABLE_LOADER,
        [addressOf(49), program, newAccount, victim, RENT_SYSVAR, CLOCK_SYSVAR, thief],
        u32(3),
      ),
    ],
    says: [`${thief} replaced the program ${program}`],
  },
  'an account that is made behind the nonce of another signer': {
    signers: [victim, thief],
    make: (f) => [
      f.call(SYSTEM_PROGRAM, [vault, addressOf(59), victim], u32(4)),
      f.create(thief, newAccount, 2_000_000n, program),
    ],
    says: [`${thief} opened the account ${newAccount}`],
  },
  'SOL of a signer that a program hands to a thief': {
    make: (f) => {
      f.sendSol(victim, thief, 3_000_000_000n);
      return [f.program(program, [victim, thief])];
    },
    says: [`${victim} sent 3 SOL to ${thief} through`],
    never: /more left/,
  },
  'SOL of a signer and of a vault that a program hands to a thief': {
    make: (f) => {
      f.sendSol(victim, thief, 3_000_000_000n);
      f.sendSol(vault, thief, 2_000_000_000n);
      return [f.program(program, [victim, vault, thief])];
    },
    says: [`3 SOL left ${victim}`],
    never: /5 SOL/,
  },
  'wrapped SOL closed, and opened again for a thief': {
    make: (f) => {
      const made = [f.close(wsol, victim, victim), f.create(victim, wsol, 5_002_039_280n, TOKEN_PROGRAM, 165n)];
      return [...made, f.open(wsol, thief, WRAPPED_SOL, 9)];
    },
    says: ['5.00203928 SOL', thief],
    never: /45 SOL/,
  },
  'an account that is thawed, then frozen': {
    signers: [thief],
    make: (f) => [11, 10].map((kind) => f.call(TOKEN_PROGRAM, [usdc, USDC, thief], [kind])),
    says: [`${thief} froze the account ${usdc}`],
    never: /released/,
  },
  'a nonce that comes back to its holder': {
    signers: [victim, thief],
    make: (f) => [
      f.call(SYSTEM_PROGRAM, [vault, victim], [...u32(7), ...key(thief)]),
      f.call(SYSTEM_PROGRAM, [vault, thief], [...u32(7), ...key(victim)]),
    ],
    says: [`from ${thief} to ${victim}`],
    never: new RegExp(`to ${thief}`),
  },
  'a lock-up that is changed twice': {
    make: (f) =>
      [4_070_908_800n, 4_102_444_800n].map((end) =>
        f.call(STAKE_PROGRAM, [stake, victim], [...u32(6), 1, ...u64Bytes(end), 0, 0]),
      ),
    says: [`of the stake account ${stake}`, 'until 2100-01-01'],
    never: /2099/,
  },
  'a stake that is delegated, then deactivated': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, vote, CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, STAKE_CONFIG, victim], u32(2)),
      f.call(STAKE_PROGRAM, [stake, CLOCK_SYSVAR, victim], u32(5)),
    ],
    says: [`${victim} began to unstake the stake account ${stake}`],
  },
  'a lookup table that is to be closed later': {
    make: (f) => [f.call(LOOKUP_TABLE_PROGRAM, [table, victim], u32(3))],
    says: [`${victim} deactivated the lookup table ${table}`],
  },
  'tokens sent to the address of a stake that is made': {
    make: (f) => {
      f.hold(secondProgram, newAccount, USDC, 0n);
      f.hold(second, newAccount, WRAPPED_SOL, 0n, 9);
      const sent = [f.send(usdc, secondProgram, victim, 5_000_000_000n), f.send(wsol, second, victim, 6_000_000_000n)];
      return [...sent, ...stakeOf(f, newAccount, 1_000_000_000n)];
    },
    says: ['5000 USDC', '6 SOL', newAccount, `${victim} staked 1 SOL`],
  },
  'SOL sent to a stake that is delegated already': {
    make: (f) => [...stakeOf(f, newAccount, 10_000_000n), f.sendSol(victim, newAccount, 20_000_000_000n)],
    says: [`${victim} sent 20 SOL to ${newAccount}`, `${victim} staked 0.01 SOL`],
  },
  'an account opened for somebody beside one that a thief makes': {
    signers: [victim, thief],
    make: (f) => {
      const inner = [f.create(victim, second, 2_039_280n, TOKEN_PROGRAM, 165n), f.open(second, wallet, USDC)];
      const accounts = [victim, second, wallet, USDC, SYSTEM_PROGRAM, TOKEN_PROGRAM];
      const opened = f.call(ASSOCIATED_TOKEN_PROGRAM, accounts, [0]);
      return [{ ...opened, inner }, f.create(thief, newAccount, 2_000_000n, program)];
    },
    says: [`${victim} opened an account for ${wallet} that can hold USDC`],
  },
  'a lookup table extended beside an account that a thief makes': {
    signers: [victim, thief],
    make: (f) => [
      f.call(LOOKUP_TABLE_PROGRAM, [table, victim, victim, SYSTEM_PROGRAM], [...u32(2), ...u64Bytes(1n), ...key(vote)]),
      f.create(thief, newAccount, 2_000_000n, program),
    ],
    says: [`${victim} added addresses to the lookup table ${table}`],
  },
  'a swap that a signer of a multisig makes': {
    make: (f) => {
      f.hold(newAccount, multisig, BONK, 0n, 5);
      const given = f.send(multisigUsdc, poolUsdc, multisig, 5n);
      const signed = { ...given, accounts: [...given.accounts, victim] };
      return [f.program(RAYDIUM, [pool], signed, f.send(poolBonk, newAccount, pool, 7n))];
    },
    says: [`${victim} swapped 0.000005 USDC of ${multisig} for 0.00007 BONK`],
  },
  'tokens that a delegate moves within a wallet behind some that it moves itself': {
    signers: [victim, decoy],
    make: (f) => [f.send(usdt, emptied, victim, 1n), f.send(usdt, emptied, decoy, 5_000_000n)],
    says: [`${decoy}, as delegate, moved 5 USDT of ${victim} to ${victim}`],
  },
  'accounts closed beside one of somebody else': {
    make: (f) => {
      f.hold(second, decoy, USDT, 0n);
      return [second, emptied, secondEmptied].map((account) => f.close(account, victim, victim));
    },
    says: [`closed a token account of ${decoy}`, `${victim} closed 2 token accounts and got 0.00407856 SOL back`],
  },
  'a stake that is delegated a second time, in the call of a program': {
    make: (f) => [delegateOf(f, stake, victim), unnamed(f, delegateOf(f, stake, victim, secondVote))],
    says: [`${victim} staked the stake account ${stake} with the validator ${secondVote}`],
    never: new RegExp(vote),
  },
  'a stake of which most is withdrawn before its delegation': {
    make: (f) => {
      const [made, initialized, delegated] = stakeOf(f, newAccount, 10_000_000_000n);
      return [made, initialized, f.withdrawStake(newAccount, victim, victim, 9_000_000_000n), delegated].flatMap(
        (call) => call ?? [],
      );
    },
    says: [`staked the stake account ${newAccount}`, 'put 10 SOL into', '9 SOL'],
    never: /staked 10 SOL/,
  },
  'a deposit with an order book': {
    make: (f) => [namedCall(MANIFEST, [2], { 0: victim, 1: pool }, f.send(usdc, poolUsdc, victim, 100_000_000n))],
    says: [`${victim} deposited 100 USDC on Manifest`],
  },
  'a seat in an order book': {
    make: () => [namedCall(MANIFEST, [1], { 0: victim, 1: pool })],
    says: [`${victim} called the Manifest program (claim_seat)`],
  },
  'SOL sent by what calls a marketplace': {
    make: (f) => [unnamed(f, sale(victim, f), f.sendSol(victim, thief, 40_000_000_000n))],
    says: [`the NFT ${nft} from ${seller}`, `40 SOL to ${thief}`],
    never: /41 SOL/,
  },
  'SOL put into an escrow beyond the price of a sale': {
    make: (f) => [
      namedCall(MAGIC_EDEN, anchor('deposit'), { 0: victim, 1: escrow }, f.sendSol(victim, escrow, 50_000_000_000n)),
      sale(escrow, f),
    ],
    says: [`the NFT ${nft} from ${seller} for 1 SOL on Magic Eden`, `50 SOL to ${escrow}`],
  },
});

const byThemselves = onlyIn(['alone'], {
  'an account behind the signer of a transfer, for a hook': {
    signers: [victim, sponsor],
    make: (f) => {
      const sent = f.send(usdc, stolenUsdc, victim, 10_000_000n);
      return [{ ...sent, accounts: [...sent.accounts, sponsor] }];
    },
    says: [`${victim} sent 10 USDC to ${thief}`],
  },
  'a wallet that gets SOL and is given to a program': {
    signers: [victim, second],
    make: (f) => {
      f.fund(second, 0n);
      return [f.sendSol(victim, second, 50_000_000_000n), allocate(f, second, 100n), f.assign(second, program)];
    },
    says: ['gave its wallet', '50 SOL', 'away', program],
  },
  'tips of two signers': {
    signers: [victim, sponsor],
    make: (f) => [f.sendSol(victim, JITO_TIPS, 1_000_000_000n), f.sendSol(sponsor, JITO_TIPS, 2_000_000_000n)],
    says: [`${victim} paid a tip of 1 SOL`, `${sponsor} paid a tip of 2 SOL`],
  },
  'tokens minted to a wallet itself and to a thief': {
    make: (f) => [f.mint(usdc, 1_000_000n), f.mint(stolenUsdc, 900_000_000_000n)],
    says: [`900000 USDC to ${thief}`, '1 USDC to itself'],
  },
  'tokens that the owner of an order pays on an exchange beside its fill': {
    signers: [victim, thief],
    make: (f) => [...fill(f, 2), traded(f, 5_000_000_000n, 70_000n)],
    says: ['swapped 10 BONK for 2 USDC on Jupiter Limit Order', 'swapped 5000 USDC for 0.7 BONK on Raydium'],
  },
  'tokens of another wallet that a keeper moves as delegate in the call that fills an order': {
    signers: [thief],
    make: (f) =>
      fill(f, 2).map((call, at) =>
        at === 0 ? call : { ...call, inner: [...call.inner, f.send(multisigUsdc, stolenUsdc, thief, 5_000_000_000n)] },
      ),
    says: [`${thief}, as delegate, moved 5000 USDC of ${multisig}`],
  },
  'tokens that a keeper moves as delegate of the owner of an order that it fills': {
    signers: [thief],
    make: (f) => [...fill(f, 2), f.program(RAYDIUM, [pool], f.send(usdt, stolenUsdt, thief, 5_000_000_000n))],
    says: [`${thief}, as delegate, moved 5000 USDT of ${victim}`],
  },
  'tokens that the owner of an order pays in the call that fills it': {
    signers: [victim, thief],
    make: (f) => {
      const [filled] = fill(f, 1);
      return filled === undefined
        ? []
        : [{ ...filled, inner: [...filled.inner, f.send(usdt, stolenUsdt, victim, 9_000_000_000n)] }];
    },
    says: ['swapped 10 BONK for 2 USDC on Jupiter Limit Order', `9000 USDT more left ${victim}`],
    never: /cancelled/,
  },
  'two trades whose outputs somebody else gets': {
    make: (f) => {
      f.hold(poolUsdt, pool, USDT, 0n);
      const swapTo = (...moved: readonly ForgedCall[]) =>
        namedCall(ORCA, anchor('swap'), { 1: victim, 2: pool }, ...moved);
      return [
        swapTo(f.send(usdc, poolUsdc, victim, 5_000_000_000n), f.send(poolBonk, stolenBonk, pool, 70_000n)),
        swapTo(f.send(usdt, poolUsdt, victim, 3_000_000_000n), f.send(poolBonk, stolenBonk, pool, 70_000n)),
      ];
    },
    says: ['5000 USDC', '3000 USDT', '1.4 BONK', thief],
    never: /into a pool/,
  },
  'fees that an operator withdraws from a program of orders': {
    make: (f) => [
      namedCall(LIMIT_ORDER, anchor('withdraw_fee'), { 0: victim }, f.send(poolUsdc, usdc, pool, 5_000_000n)),
    ],
    says: ['5 USDC'],
    never: /cancelled/,
  },
  'a stake that an unknown program withdraws beside a stake pool': {
    make: (f) => [
      f.program(SPL_STAKE_POOL, [victim]),
      unnamed(f, f.withdrawStake(stake, thief, victim, 20_000_000_000n)),
    ],
    says: ['20 SOL', `${thief} through the program ${program}`],
  },
  'tokens burned beside a call of an exchange': {
    make: (f) => [f.program(SPL_STAKE_POOL, [victim]), f.burn(bonk, victim, 3_000_000n)],
    says: [`${victim} burned 30 BONK`],
    never: / with /,
  },
  'tokens minted beside a call of a stake pool': {
    make: (f) => [f.program(SPL_STAKE_POOL, [victim]), f.mint(bonk, 3_000_000n)],
    says: [`${victim} minted 30 BONK`],
    never: / with /,
  },
  'an account closed beside a call of a multisig': {
    make: (f) => [f.program(SQUADS, [victim]), f.close(emptied, victim, victim)],
    says: [`${victim} closed a token account and got 0.00203928 SOL back`],
    never: /Squads/,
  },
  'a compressed NFT sent beside a call of an exchange': {
    make: (f) => [leafCall('transfer', victim), f.program(JUPITER, [victim])],
    says: [`to ${thief} with Bubblegum`],
  },
  'SOL of a program that is called behind another one': {
    make: (f) => [f.program(program, [victim]), f.call(secondVote, [vault, victim], [1], { lamports: 3_000_000_000n })],
    says: [`${victim} received 3 SOL through the program ${secondVote}`],
  },
  'a tip beside a hidden amount': {
    make: (f) => [
      f.call(
        TOKEN_2022_PROGRAM,
        [usdt, USDT, stolenUsdt, addressOf(81), addressOf(82), addressOf(83), victim],
        [27, 7, ...Array<number>(36).fill(1), ...Array<number>(128).fill(2), 0, 0, 0],
      ),
      f.sendSol(victim, JITO_TIPS, 5_000_000_000n),
    ],
    says: ['a hidden amount'],
  },
  'a compressed NFT that its delegate sends': {
    signers: [thief],
    make: () => [leafCall('transfer', thief)],
    says: [`${thief}, as delegate, sent the compressed NFT`, `of ${victim} to ${thief}`],
  },
  'a compressed NFT that its delegate burns': {
    signers: [thief],
    make: () => [leafCall('burn', thief)],
    says: [`${thief}, as delegate, burned the compressed NFT`, `of ${victim}`],
  },
  'an empty wallet that is given away before it gets SOL': {
    signers: [victim, newAccount],
    make: (f) => {
      f.fund(newAccount, 0n);
      return [f.assign(newAccount, program), f.sendSol(victim, newAccount, 50_000_000_000n)];
    },
    says: [`gave its wallet ${newAccount} (which holds 50 SOL) away`, program],
  },
  'lamports of another signer beside what an exchange got': {
    signers: [victim, newAccount],
    make: (f) => [
      f.program(RAYDIUM, [pool], f.send(usdc, poolUsdc, victim, 1_000_000_000n)),
      f.call(program, [newAccount, victim], [1], { lamports: 5_000_000_000n }),
    ],
    says: [`5 SOL left ${newAccount}`, `${victim} sent 1000 USDC to ${pool}`],
    never: /swapped/,
  },
});

/** Thefts beside a deed whose sentence seemed to say them. */
export const THEFTS_BEHIND_WORDS: Attacks = { ...anywhere, ...besideLittle, ...byThemselves };
