import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import {
  CLOCK_SYSVAR,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  METADATA_PROGRAM,
  RENT_SYSVAR,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../src/shared/domain/well-known-addresses.ts';
import type { ForgedCall, Forgery } from './forged-transaction.ts';
import {
  ALL,
  type Attacks,
  anchor,
  asset,
  BONK,
  bonk,
  buffer,
  CORE,
  decoy,
  delegate,
  freezer,
  instead,
  interfaceTag,
  key,
  multisig,
  multisigUsdc,
  newAccount,
  nonce,
  poolBonk,
  program,
  SQUADS,
  stake,
  stolenBonk,
  stolenSol,
  stolenUsdc,
  stolenUsdt,
  sysvar,
  table,
  thief,
  token,
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
  zeros,
} from './forged-world.ts';
import { addressOf, u64Bytes } from './synthetic-transaction.ts';

const advance = (f: Forgery): ForgedCall => f.call(SYSTEM_PROGRAM, [nonce, sysvar, victim], u32(4));
const checked = (f: Forgery, from: string, mint: string, to: string, authority: string, amount: bigint): ForgedCall => {
  const sent = f.send(from, to, authority, amount);
  const decimals = mint === WRAPPED_SOL ? 9 : mint === BONK ? 5 : 6;
  return { ...sent, accounts: [from, mint, to, authority], data: [12, ...u64Bytes(amount), decimals] };
};
const SEALED = 'that a sponsor pays for';
const SWAPPING = 'in the call of a program that swaps';
const IN_A_MULTISIG = 'in the call of a multisig';
const AFTER_JUPITER = 'after a swap on Jupiter in the call of a program';
const IN_A_DEPOSIT = 'in the call of a program that deposits with a lender';
/** Scenes in which programs do to accounts what is no theft at the top level. */
const IN_CALLS = [SWAPPING, IN_A_MULTISIG, IN_A_DEPOSIT, AFTER_JUPITER];

/** Thefts of a third kind: nonces, accounts that come back, extensions of Token-2022, stakes, votes, loaders, multisigs. */
export const THEFTS_BY_EXTENSIONS: Attacks = {
  'tokens behind the advance of a nonce': {
    make: (f) => [advance(f), f.send(usdc, stolenUsdc, victim, 10_000_000_000n)],
    says: ['10000 USDC', thief],
  },
  'a stake withdrawn behind the advance of a nonce': {
    make: (f) => [advance(f), f.withdrawStake(stake, thief, victim, 29_000_000_000n)],
    says: ['29 SOL', thief],
  },
  'the authority over the nonce behind its advance': {
    make: (f) => [advance(f), f.call(SYSTEM_PROGRAM, [nonce, victim], [...u32(7), ...key(thief)])],
    says: [nonce, thief, '30 SOL'],
  },
  'the lamports of the nonce behind its advance': {
    make: (f) => [
      advance(f),
      f.call(SYSTEM_PROGRAM, [nonce, thief, sysvar, sysvar, victim], [...u32(5), ...u64Bytes(29_000_000_000n)], {
        lamports: 29_000_000_000n,
      }),
    ],
    says: ['29 SOL', thief],
  },
  'a wallet given away behind the advance of a nonce': {
    make: (f) => [advance(f), f.assign(victim, program)],
    says: ['gave its wallet', program],
  },
  'wrapped SOL closed and opened again for a thief': {
    make: (f) => [
      f.close(wsol, victim, victim),
      f.create(victim, wsol, 50_002_039_280n, TOKEN_PROGRAM, 165n),
      f.open(wsol, thief, WRAPPED_SOL, 9),
    ],
    says: ['50.00203928 SOL', thief],
  },
  'an account emptied, closed and opened again': {
    make: (f) => [
      f.send(usdt, stolenUsdt, victim, 50_000_000_000n),
      f.close(usdt, victim, victim),
      f.create(victim, usdt, 2_039_280n, TOKEN_PROGRAM, 165n),
      f.open(usdt, victim, USDT),
    ],
    says: ['50000 USDT', thief],
  },
  'an account that comes back as that of another mint': {
    make: (f) => [
      f.send(usdt, stolenUsdt, victim, 50_000_000_000n),
      f.close(usdt, thief, victim),
      f.create(victim, usdt, 2_039_280n, TOKEN_PROGRAM, 165n),
      f.open(usdt, victim, BONK, 5),
    ],
    says: ['50000 USDT', '0.00203928 SOL', thief],
  },
  'an account that is opened, filled, given away and closed': {
    signers: [victim, thief],
    make: (f) => [
      f.create(victim, newAccount, 2_039_280n, TOKEN_PROGRAM, 165n),
      f.open(newAccount, victim, USDC),
      f.send(usdc, newAccount, victim, 9_000_000_000n),
      f.giveAway(newAccount, victim, thief),
      f.send(newAccount, stolenUsdc, thief, 9_000_000_000n),
      f.close(newAccount, thief, thief),
    ],
    says: ['9000 USDC', thief],
  },
  'wrapped SOL that is opened, filled and closed for a thief': {
    make: (f) => [
      f.create(victim, newAccount, 7_002_039_280n, TOKEN_PROGRAM, 165n),
      f.open(newAccount, victim, WRAPPED_SOL, 9),
      f.close(newAccount, thief, victim),
    ],
    says: ['7.00203928 SOL', thief],
  },
  'a wallet drained into an account that is closed for a thief': {
    make: (f) => [
      f.send(wsol, stolenSol, victim, 0n),
      f.sendSol(victim, wsol, 4_000_000_000n),
      f.close(wsol, thief, victim),
    ],
    says: ['54.00203928 SOL', thief],
  },
  'wrapped SOL sent as that of a checked amount': {
    make: (f) => [checked(f, wsol, WRAPPED_SOL, stolenSol, victim, 6_000_000_000n)],
    says: ['6 SOL', thief],
  },
  'wrapped SOL given away and closed by the thief': {
    signers: [victim, thief],
    make: (f) => [f.giveAway(wsol, victim, thief), f.close(wsol, thief, thief)],
    says: ['50', 'SOL', thief],
  },
  'the right to close wrapped SOL, used by the thief': {
    signers: [victim, thief],
    make: (f) => [f.pass(wsol, 3, victim, thief), f.close(wsol, thief, thief)],
    says: ['50.00203928 SOL', thief],
  },
  'an account of Token-2022 given away': {
    make: (f) => [{ ...f.giveAway(usdt, victim, thief), programId: TOKEN_2022_PROGRAM }],
    says: ['ownership', '50000 USDT', thief],
  },
  'an account given to a program': {
    make: (f) => [f.giveAway(usdc, victim, program)],
    says: ['ownership', ' USDC)', program],
  },
  'two accounts given away': {
    make: (f) => [f.giveAway(usdc, victim, thief), f.giveAway(usdt, victim, thief)],
    says: [' USDC)', '50000 USDT', thief],
  },
  'an account given to a decoy that gives it to a thief': {
    signers: [victim, decoy],
    make: (f) => [f.giveAway(usdt, victim, decoy), f.giveAway(usdt, decoy, thief)],
    says: ['50000 USDT', thief],
  },
  'an account given away behind an allowance of nothing': {
    make: (f) => [f.approve(usdc, decoy, victim, 0n), f.giveAway(usdt, victim, thief)],
    says: ['ownership', '50000 USDT', thief],
  },
  'a checked allowance': {
    make: (f) => [f.call(TOKEN_2022_PROGRAM, [usdt, USDT, thief, victim], [13, ...u64Bytes(9_000_000n), 6])],
    says: ['allowed', thief, '9 USDT'],
  },
  'an allowance of a multisig': {
    make: (f) => [f.call(TOKEN_PROGRAM, [multisigUsdc, thief, multisig, victim], [4, ...u64Bytes(ALL)])],
    says: ['allowed', thief, '700000 USDC'],
  },
  'tokens sent beside an allowance of one unit': {
    make: (f) => [f.approve(usdt, decoy, victim, 1n), f.send(usdc, stolenUsdc, victim, 40_000_000_000n)],
    says: ['40000 USDC', thief],
  },
  'moved by a permanent delegate in a checked amount': {
    signers: [delegate, victim],
    make: (f) => [{ ...checked(f, usdt, USDT, stolenUsdt, delegate, 12_000_000n), programId: TOKEN_2022_PROGRAM }],
    says: [`${delegate}, as delegate, moved 12 USDT of ${victim} to ${thief}`],
  },
  'burned by a permanent delegate': {
    signers: [delegate, victim],
    make: (f) => [{ ...f.burn(usdt, delegate, 12_000_000n), programId: TOKEN_2022_PROGRAM }],
    says: [`${delegate}, as delegate, `, 'burned 12 USDT', victim],
  },
  'a permanent delegate that another mint gets as well': {
    make: (f) => [token(f, [asset], 35, ...key(thief)), f.send(usdt, stolenUsdt, victim, 3_000_000n)],
    says: [thief, "everybody's tokens", '3 USDT'],
    not: [SEALED],
  },
  'the program of each transfer taken away': {
    make: (f) => [token(f, [USDT, victim], 36, 1, ...key(program)), f.send(usdt, stolenUsdt, victim, 5_000_000n)],
    says: [program, '5 USDT', thief],
  },
  'tokens that the program of a transfer moves': {
    make: (f) => {
      const sent = f.send(usdt, stolenUsdt, victim, 1_000_000n);
      return [
        {
          ...sent,
          programId: TOKEN_2022_PROGRAM,
          inner: [unnamed(f, f.send(usdc, stolenUsdc, victim, 8_000_000_000n))],
        },
      ];
    },
    says: ['8000 USDC', thief],
  },
  'a hidden amount sent with a fee': {
    make: (f) => [
      token(
        f,
        [usdt, USDT, stolenUsdt, sysvar, sysvar, sysvar, sysvar, sysvar, victim],
        27,
        13,
        ...zeros(36 + 128),
        ...zeros(5),
      ),
    ],
    says: ['hidden amount', thief],
  },
  'a hidden amount burned': {
    make: (f) => [token(f, [usdt, USDT, sysvar, sysvar, sysvar, victim], 42, 4, ...zeros(36 + 128), 0, 0, 0)],
    says: ['burned', 'hidden amount', victim],
  },
  'hidden fees withdrawn to a thief': {
    make: (f) => [token(f, [USDT, stolenUsdt, sysvar, victim], 37, 1, 0, ...zeros(36))],
    says: ['hidden amount', thief],
  },
  'the rules for hidden amounts': {
    make: (f) => [f.pass(USDT, 9, victim, thief)],
    says: ['hidden amounts', thief],
  },
  'a guard against programs taken off in the call of one': {
    make: (f) => [unnamed(f, token(f, [usdt, victim], 34, 1), f.approve(usdt, thief, victim, ALL))],
    says: ['guard', 'allowed', thief, '50000 USDT'],
  },
  'all transfers stopped': {
    make: (f) => [token(f, [USDT, victim], 44, 1), f.send(usdc, stolenUsdc, victim, 2_000_000n)],
    says: ['stopped all transfers of USDT', '2 USDC', thief],
    not: IN_CALLS,
  },
  'transfers stopped by a thief that pays': {
    signers: [thief],
    make: (f) => [token(f, [USDT, thief], 44, 1)],
    says: [`${thief} `, 'stopped all transfers of USDT'],
    not: IN_CALLS,
  },
  'new accounts that start frozen': {
    make: (f) => [token(f, [USDT, victim], 28, 1, 2), f.send(usdc, stolenUsdc, victim, 2_000_000n)],
    says: ['start frozen', '2 USDC', thief],
    not: IN_CALLS,
  },
  'the scale in which amounts are shown': {
    make: (f) => [
      token(f, [USDT, victim], 43, 1, ...zeros(6), 0xf0, 0x3f, ...u64Bytes(4_070_908_800n)),
      f.send(usdt, stolenUsdt, victim, 6_000_000n),
    ],
    says: ['scale', 'of USDT from 2099-01-01 on', '6 USDT', thief],
  },
  'the right to scale amounts': {
    make: (f) => [f.pass(USDT, 15, victim, thief)],
    says: ['scale the amounts', thief],
  },
  'the interest that is shown': {
    make: (f) => [token(f, [USDT, victim], 33, 1, 0xd4, 0xfe), f.send(usdt, stolenUsdt, victim, 6_000_000n)],
    says: ['interest', '-3 %', '6 USDT', thief],
  },
  'the right to the interest': {
    make: (f) => [f.pass(USDT, 7, victim, thief)],
    says: ['interest', thief],
  },
  'a fee that a mint raises for a little': {
    make: (f) => [token(f, [USDT, victim], 26, 5, 1, 0, ...u64Bytes(5_000_000n))],
    says: ['fee of each transfer of USDT to 0.01 %, at most 5 USDT'],
  },
  'withheld fees that a multisig withdraws to a thief': {
    make: (f) => [
      instead(f.mint(stolenUsdt, 5_000_000n), token(f, [USDT, stolenUsdt, multisig, victim, usdt], 26, 3, 1)),
    ],
    says: ['5 USDT', 'withheld fees', thief],
  },
  'the update authority of the metadata of a mint': {
    make: (f) => [
      token(f, [USDT, victim], ...interfaceTag('spl_token_metadata_interface:update_the_authority'), ...key(thief)),
    ],
    says: ['metadata', USDT, thief],
  },
  'the authority over a group': {
    make: (f) => [
      token(f, [asset, victim], ...interfaceTag('spl_token_group_interface:update_authority'), ...key(thief)),
    ],
    says: ['group', asset, thief],
  },
  'who may use an NFT': {
    make: (f) => [
      f.call(METADATA_PROGRAM, [sysvar, victim, victim, thief, usdt, sysvar, asset], [20, ...u64Bytes(1n)]),
    ],
    says: [thief, asset],
  },
  'who may add to a collection': {
    make: (f) => [f.call(METADATA_PROGRAM, [sysvar, thief, victim, victim, sysvar, asset], [23])],
    says: [thief, asset],
  },
  'the update authority of a collection of Metaplex Core': {
    make: (f) => [f.call(CORE, [asset, victim, victim, thief, SYSTEM_PROGRAM, CORE], [16, 0, 0])],
    says: [thief, asset],
  },
  'a programmable NFT sent in the call of Token Metadata': {
    make: (f) => [
      {
        ...f.call(
          METADATA_PROGRAM,
          [usdt, victim, stolenUsdt, thief, USDT, sysvar, sysvar, sysvar, sysvar, victim],
          [49, 0, ...u64Bytes(1n), 0],
        ),
        inner: [checked(f, usdt, USDT, stolenUsdt, victim, 1_000_000n)],
      },
    ],
    says: ['1 USDT', thief],
  },
  'a stake that a thief gets the right to delegate': {
    make: (f) => [f.authorizeStake(stake, victim, thief, 0)],
    says: ['right to delegate', '30 SOL', thief],
  },
  'a stake with a custodian, given away': {
    make: (f) => [f.call(STAKE_PROGRAM, [stake, CLOCK_SYSVAR, victim, decoy], [...u32(1), ...key(thief), ...u32(1)])],
    says: ['right to withdraw', '30 SOL', thief],
  },
  'a stake without sysvars, given away': {
    make: (f) => [f.call(STAKE_PROGRAM, [stake, victim], [...u32(1), ...key(thief), ...u32(1)])],
    says: ['right to withdraw', '30 SOL', thief],
  },
  'a stake split, and the part withdrawn to a thief': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, newAccount, victim], [...u32(3), ...u64Bytes(6_000_000_000n)], {
        lamports: 6_000_000_000n,
      }),
      f.withdrawStake(newAccount, thief, victim, 6_000_000_000n),
    ],
    says: ['6 SOL', thief],
  },
  'a stake withdrawn through a decoy': {
    make: (f) => [f.withdrawStake(stake, decoy, victim, 1n), f.withdrawStake(stake, thief, victim, 20_000_000_000n)],
    says: ['20 SOL', thief],
  },
  'a stake given away behind its deactivation': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, CLOCK_SYSVAR, victim], u32(5)),
      f.authorizeStake(stake, victim, thief, 1),
    ],
    says: ['right to withdraw', '30 SOL', thief],
  },
  'a stake made for a thief that signs for it': {
    signers: [victim, thief],
    make: (f) => [
      f.create(victim, newAccount, 9_000_000_000n, STAKE_PROGRAM, 200n),
      f.call(STAKE_PROGRAM, [newAccount, RENT_SYSVAR, thief, thief], u32(9)),
    ],
    says: ['9', 'SOL', newAccount],
  },
  'the commission of a validator': {
    make: (f) => [f.call(VOTE_PROGRAM, [vote, victim], [...u32(5), 100])],
    says: ['commission', vote, 'to 100 %'],
  },
  'the commission of a validator in basis points': {
    make: (f) => [f.call(VOTE_PROGRAM, [vote, victim], [...u32(18), 0x10, 0x27, ...u32(1)])],
    says: ['commission', vote, 'to 100 %'],
  },
  'the right to vote of a validator': {
    make: (f) => [f.call(VOTE_PROGRAM, [vote, CLOCK_SYSVAR, victim], [...u32(1), ...key(thief), ...u32(0)])],
    says: ['right to vote', vote, thief],
  },
  'the right to withdraw from a vote account, signed by both': {
    signers: [victim, thief],
    make: (f) => [f.call(VOTE_PROGRAM, [vote, CLOCK_SYSVAR, victim, thief], [...u32(7), ...u32(1)])],
    says: ['right to withdraw', vote, thief],
  },
  'the lamports of a vote account beside its commission': {
    make: (f) => [
      f.call(VOTE_PROGRAM, [vote, victim], [...u32(5), 7]),
      f.call(VOTE_PROGRAM, [vote, thief, victim], [...u32(3), ...u64Bytes(20_000_000_000n)], {
        lamports: 20_000_000_000n,
      }),
    ],
    says: ['to 7 %', '20 SOL', thief],
  },
  'the authority over program data in the call of a program': {
    make: (f) => [unnamed(f, f.call(UPGRADEABLE_LOADER, [buffer, victim, thief], u32(4)))],
    says: ['right to upgrade', buffer, thief],
  },
  'the authority over a program behind its extension': {
    make: (f) => [
      f.call(UPGRADEABLE_LOADER, [buffer, program], [...u32(6), ...u32(9)]),
      f.call(UPGRADEABLE_LOADER, [buffer, victim, thief], u32(4)),
    ],
    says: ['right to upgrade', buffer, thief],
  },
  'a program of the newer loader, made final': {
    make: (f) => [f.call(LOADER_V4, [buffer, victim, SYSTEM_PROGRAM], u32(6))],
    says: ['right to upgrade', buffer, 'for good'],
  },
  'the lamports of a buffer behind an upgrade': {
    make: (f) => [
      f.call(
        UPGRADEABLE_LOADER,
        [addressOf(49), program, newAccount, victim, RENT_SYSVAR, CLOCK_SYSVAR, victim],
        u32(3),
      ),
      f.call(UPGRADEABLE_LOADER, [buffer, thief, victim], u32(5), { lamports: 30_000_000_000n }),
    ],
    says: ['30 SOL', thief],
  },
  'a lookup table extended beside a payment': {
    make: (f) => [
      f.call(
        LOOKUP_TABLE_PROGRAM,
        [table, victim, victim, SYSTEM_PROGRAM],
        [...u32(2), ...u64Bytes(1n), ...key(thief)],
      ),
      f.sendSol(victim, thief, 2_000_000_000n),
    ],
    says: ['2 SOL', thief],
  },
  'a lookup table closed for a thief behind its deactivation': {
    make: (f) => [
      f.call(LOOKUP_TABLE_PROGRAM, [table, victim], u32(3)),
      f.call(LOOKUP_TABLE_PROGRAM, [table, victim, thief], u32(4), {
        from: table,
        to: thief,
        lamports: 30_000_000_000n,
      }),
    ],
    says: ['30 SOL', thief],
  },
  'SOL of a multisig that a member sends': {
    make: (f) => [f.program(SQUADS, [multisig, victim], f.sendSol(vault, thief, 25_000_000_000n))],
    says: ['25 SOL', vault, thief],
    not: [SWAPPING, IN_A_DEPOSIT, AFTER_JUPITER],
  },
  'tokens of a multisig that a member sends': {
    make: (f) => [f.program(SQUADS, [multisig, victim], f.send(multisigUsdc, stolenUsdc, multisig, 650_000_000_000n))],
    says: ['650000 USDC', multisig, thief],
    not: [SWAPPING, IN_A_DEPOSIT, AFTER_JUPITER],
  },
  'an allowance of a multisig that a member gives': {
    make: (f) => [f.program(SQUADS, [multisig, victim], f.approve(multisigUsdc, thief, multisig, ALL))],
    says: ['allowed', thief, '700000 USDC'],
  },
  'an account of a multisig that a member gives away': {
    make: (f) => [f.program(SQUADS, [multisig, victim], f.giveAway(multisigUsdc, multisig, thief))],
    says: ['ownership', '700000 USDC', thief],
  },
  'a limit that somebody may spend of a multisig': {
    make: (f) => [
      f.call(
        SQUADS,
        [multisig, victim, sysvar, victim],
        [...anchor('multisig_add_spending_limit'), ...zeros(74), ...u32(1), ...key(thief)],
      ),
    ],
    says: [victim, thief, multisig, 'Squads'],
  },
  'a limit that a thief may spend of a multisig, behind the victim': {
    make: (f) => [
      f.call(
        SQUADS,
        [multisig, victim, vault, victim],
        [...anchor('multisig_add_spending_limit'), ...zeros(74), ...u32(2), ...key(victim), ...key(thief)],
      ),
    ],
    says: [victim, `gave ${vault} a right over`, multisig, 'Squads'],
  },
  'a limit that a thief may spend of a multisig, behind nobody': {
    make: (f) => [
      f.call(
        SQUADS,
        [multisig, victim, vault, victim],
        [...anchor('multisig_add_spending_limit'), ...zeros(74), ...u32(2), ...key(SYSTEM_PROGRAM), ...key(thief)],
      ),
    ],
    says: [victim, `gave ${vault} a right over`, multisig, 'Squads'],
  },
  'a delegate of a trader that nobody is': {
    make: (f) => [
      f.call(
        'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH',
        [vault, victim],
        [...anchor('update_user_delegate'), 0, 0, ...key(SYSTEM_PROGRAM)],
      ),
    ],
    says: [victim],
    never: /for good/,
  },
  'a multisig that frees a stake for a thief': {
    make: (f) => [f.program(SQUADS, [multisig, victim], f.authorizeStake(stake, multisig, thief, 1))],
    says: ['right to withdraw', '30 SOL', thief],
  },
  'an account frozen and thawed for another': {
    make: (f) => [
      f.call(TOKEN_PROGRAM, [bonk, BONK, freezer], [10]),
      f.call(TOKEN_PROGRAM, [bonk, BONK, freezer], [11]),
      f.send(bonk, stolenBonk, victim, 3_000_000_000n),
    ],
    says: ['30000 BONK', thief],
  },
  'tokens sent to two of the same name': {
    make: (f) => [f.send(bonk, poolBonk, victim, 1_000n), f.send(bonk, stolenBonk, victim, 20_000_000_000n)],
    says: ['200000 BONK', thief],
    not: [IN_A_DEPOSIT],
  },
  'SOL for a new account of a program behind its rent': {
    make: (f) => [f.create(victim, wallet, 3_000_000_000n, program, 0n), f.sendSol(victim, wallet, 1_000_000_000n)],
    says: ['SOL', wallet],
  },
};
