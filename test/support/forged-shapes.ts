import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import {
  CLOCK_SYSVAR,
  LOADER_V4,
  RENT_SYSVAR,
  STAKE_HISTORY_SYSVAR,
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
  BUBBLEGUM,
  bonk,
  buffer,
  decoy,
  delegate,
  emptied,
  JITO_TIPS,
  KAMINO,
  key,
  multisig,
  multisigUsdc,
  newAccount,
  nft,
  nonce,
  pool,
  poolBonk,
  poolUsdc,
  program,
  RAYDIUM,
  SPL_STAKE_POOL,
  SQUADS,
  stake,
  stolenBonk,
  stolenSol,
  stolenUsdc,
  stolenUsdt,
  sysvar,
  table,
  thief,
  traded,
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

const [helper, inner, secondProgram, deposit] = [addressOf(50), addressOf(51), addressOf(52), addressOf(53)];

const upgrade = (f: Forgery, replaced: string, authority: string, spill = authority): ForgedCall =>
  f.call(
    UPGRADEABLE_LOADER,
    [addressOf(49), replaced, newAccount, spill, RENT_SYSVAR, CLOCK_SYSVAR, authority],
    u32(3),
  );

/** Scenes that are said before what was only paid for an account. */
const BEGIN_WITHOUT_DEPOSITS = [
  ...['beside a move in a game', 'beside a vote', 'beside the update of an oracle'],
  ...['beside the deployment of a program', 'beside a delegation of stake', 'beside the launch of a token'],
];

/** Thefts of a fourth kind: by the shapes of calls, by what seems used up or returned, and by who gets what is made. */
export const THEFTS_BY_SHAPES: Attacks = {
  'an allowance that a transfer to itself seems to use up': {
    make: (f) => [f.approve(usdt, thief, victim, 5_000_000n), f.send(usdt, usdt, thief, 5_000_000n)],
    says: ['allowed', thief, '5 USDT'],
  },
  'an allowance beside a transfer of as much by the owner': {
    make: (f) => [f.approve(usdt, thief, victim, 5_000_000n), f.send(usdt, stolenUsdt, victim, 5_000_000n)],
    says: ['allowed', thief, '5 USDT'],
  },
  'an allowance of which a part is used up': {
    make: (f) => [f.approve(usdt, thief, victim, 9_000_000n), f.send(usdt, stolenUsdt, thief, 2_000_000n)],
    says: ['allowed', thief, '9 USDT', '2 USDT'],
  },
  'an allowance that is used up in another account': {
    make: (f) => [f.approve(usdt, thief, victim, 5_000_000n), f.send(usdc, stolenUsdc, thief, 5_000_000n)],
    says: ['allowed', thief, '5 USDT', '5 USDC'],
  },
  'the rent of a closed account that pays for that of a thief': {
    make: (f) => [
      unnamed(
        f,
        f.create(victim, newAccount, 2_039_280n, TOKEN_PROGRAM, 165n),
        f.open(newAccount, thief, USDC),
        f.close(emptied, victim, victim),
      ),
    ],
    says: ['0.00203928 SOL', thief],
    not: BEGIN_WITHOUT_DEPOSITS,
  },
  'a deposit that is returned to somebody else': {
    make: (f) => [
      f.program(program, [victim, vault], f.create(victim, deposit, 890_880n, program, 0n)),
      f.sendSol(victim, thief, 890_880n),
    ],
    says: ['0.00089088 SOL', thief],
  },
  'SOL sent, and a lamport less sent back by a decoy': {
    signers: [victim, decoy],
    make: (f) => [f.sendSol(victim, thief, 3_000_000_000n), f.sendSol(decoy, victim, 2_999_999_999n)],
    says: ['3 SOL', thief],
  },
  'tokens sent, and as many of the same mint sent back by a decoy': {
    make: (f) => [f.send(usdc, stolenUsdc, victim, 30_000_000n), f.send(poolUsdc, usdc, pool, 30_000_000n)],
    says: ['30 USDC', thief],
  },
  'a program replaced in the call of a multisig': {
    make: (f) => [f.program(SQUADS, [multisig, victim], upgrade(f, program, multisig))],
    says: ['replaced the program', program],
  },
  'a second program replaced behind a first': {
    make: (f) => [upgrade(f, decoy, victim), upgrade(f, secondProgram, victim)],
    says: ['replaced the program', decoy, secondProgram],
  },
  'a program replaced in the call of a program, beside a payment': {
    make: (f) => [unnamed(f, upgrade(f, secondProgram, victim)), f.sendSol(victim, thief, 2_000_000_000n)],
    says: ['replaced the program', secondProgram, '2 SOL', thief],
  },
  'the lamports of a program of the newer loader that shrinks': {
    make: (f) => [
      f.call(LOADER_V4, [buffer, victim, thief], [...u32(2), 0, 0, 0, 0], {
        from: buffer,
        to: thief,
        lamports: 30_000_000_000n,
      }),
    ],
    says: ['30 SOL', thief],
  },
  'a stake made for a thief behind a batch that moves a pool of stakes to its place': {
    make: (f) => [
      f.call(TOKEN_PROGRAM, [wsol, wsol, wsol], [255, 1, 1, 17, 1, 1, 17, 1, 1, 17]),
      f.program(SPL_STAKE_POOL, [victim]),
      f.create(victim, newAccount, 9_000_000_000n, STAKE_PROGRAM, 200n),
      f.call(
        STAKE_PROGRAM,
        [newAccount, RENT_SYSVAR],
        [...u32(0), ...key(victim), ...key(thief), ...Array<number>(48).fill(0)],
      ),
    ],
    says: ['right to withdraw', newAccount, thief],
  },
  'an allowance that a batch gives again behind its use': {
    signers: [victim, thief],
    make: (f) => {
      f.send(usdt, stolenUsdt, thief, 5_000_000n);
      const [sent, given] = [
        [3, 9, 3, ...u64Bytes(5_000_000n)],
        [3, 9, 4, ...u64Bytes(5_000_000n)],
      ];
      const accounts = [usdt, stolenUsdt, thief, usdt, thief, victim];
      return [f.call(TOKEN_PROGRAM, accounts, [255, ...sent, ...given])];
    },
    says: ['allowed', thief, '5 USDT'],
  },
  'tokens sent four calls deep': {
    make: (f) => [
      unnamed(
        f,
        f.program(helper, [victim], f.program(inner, [victim], f.send(usdc, stolenUsdc, victim, 6_000_000_000n))),
      ),
    ],
    says: ['6000 USDC', thief],
  },
  'an allowance four calls deep': {
    make: (f) => [
      unnamed(f, f.program(helper, [victim], f.program(inner, [victim], f.approve(usdt, thief, victim, ALL)))),
    ],
    says: ['allowed', thief, '50000 USDT'],
  },
  'tokens sent between two swaps of one exchange': {
    make: (f) => [
      unnamed(
        f,
        traded(f, 7_000_000n, 70_000n),
        f.send(usdc, stolenUsdc, victim, 8_000_000_000n),
        traded(f, 9_000_000n, 90_000n),
      ),
    ],
    says: ['8000 USDC', thief],
  },
  'tokens sent by the program that a swap is handed, which returns dust': {
    make: (f) => [
      unnamed(
        f,
        f.program(
          RAYDIUM,
          [pool, stolenUsdc, stolenBonk],
          f.send(usdc, poolUsdc, victim, 4_000_000n),
          f.send(poolBonk, bonk, pool, 40_000n),
        ),
        f.send(usdc, stolenUsdc, victim, 12_000_000_000n),
        f.send(stolenBonk, bonk, thief, 1n),
      ),
    ],
    says: ['12000 USDC', thief],
    not: ['in the call of a program that swaps'],
  },
  'half of a theft in each of two programs': {
    make: (f) => [
      unnamed(f, f.send(usdc, stolenUsdc, victim, 5_000_000_000n)),
      f.program(secondProgram, [victim], f.send(usdt, stolenUsdt, victim, 6_000_000_000n)),
    ],
    says: ['5000 USDC', '6000 USDT', thief],
  },
  'an exchange that is paid a second time for nothing': {
    make: (f) => [
      traded(f, 5_000_000n, 50_000n),
      f.program(RAYDIUM, [pool], f.send(usdc, poolUsdc, victim, 7_000_000_000n)),
    ],
    says: ['7000 USDC'],
  },
  'shares of a stake pool that a thief gets': {
    make: (f) => [
      f.program(SPL_STAKE_POOL, [victim], f.sendSol(victim, vault, 5_000_000_000n), f.mint(stolenBonk, 4_000_000n)),
    ],
    says: ['5 SOL', '40 BONK', thief],
  },
  'shares of a program without a name that a thief gets': {
    make: (f) => [unnamed(f, f.send(usdc, poolUsdc, victim, 5_000_000_000n), f.mint(stolenBonk, 4_000_000n))],
    says: ['5000 USDC', '40 BONK', thief],
    not: ['in the call of a program that swaps'], // what one program gave and took
  },
  'a receipt of a lender that a thief gets': {
    make: (f) => [
      f.program(KAMINO, [victim], f.send(usdc, poolUsdc, victim, 5_000_000_000n), f.mint(stolenBonk, 4_000_000n)),
    ],
    says: ['5000 USDC', '40 BONK', thief],
    not: ['in the call of a program that swaps'],
  },
  'shares that are burned for a thief': {
    make: (f) => [
      f.program(KAMINO, [victim], f.burn(bonk, victim, 3_000_000n), f.send(poolUsdc, stolenUsdc, pool, 2_000_000_000n)),
    ],
    says: ['30 BONK', '2000 USDC', thief],
    not: ['beside a deposit with a lender', 'in the call of a program that deposits with a lender'],
  },
  'a stake withdrawn by a program': {
    make: (f) => [unnamed(f, f.withdrawStake(stake, thief, victim, 29_000_000_000n))],
    says: ['29 SOL', thief],
  },
  'the lamports of a vote account in the call of a program': {
    make: (f) => [
      unnamed(
        f,
        f.call(VOTE_PROGRAM, [vote, thief, victim], [...u32(3), ...u64Bytes(20_000_000_000n)], {
          lamports: 20_000_000_000n,
        }),
      ),
    ],
    says: ['20 SOL', thief],
  },
  'the authority over a nonce in the call of a program': {
    make: (f) => [unnamed(f, f.call(SYSTEM_PROGRAM, [nonce, victim], [...u32(7), ...key(thief)]))],
    says: [nonce, thief],
  },
  'a stake that is merged, then withdrawn': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, buffer, CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, victim], u32(7), {
        from: buffer,
        to: stake,
        lamports: 30_000_000_000n,
      }),
      f.withdrawStake(stake, thief, victim, 55_000_000_000n),
    ],
    says: ['55 SOL', thief],
  },
  'a wallet given away in the call of a program': {
    make: (f) => [unnamed(f, f.assign(victim, secondProgram))],
    says: ['gave its wallet', 'away', secondProgram],
  },
  'a mint that is closed for a thief': {
    make: (f) => [
      f.call(TOKEN_2022_PROGRAM, [buffer, thief, victim], [9], { from: buffer, to: thief, lamports: 30_000_000_000n }),
    ],
    says: ['30 SOL', thief],
    never: /token account/,
  },
  'a mint of a program that its call closes': {
    make: (f) => {
      const moves = { from: buffer, to: deposit, lamports: 30_000_000_000n };
      return [unnamed(f, f.call(TOKEN_2022_PROGRAM, [buffer, deposit, vault], [9], moves))];
    },
    says: [`${victim} closed an account through`],
    only: ['alone'],
  },
  'an account made in the steps that a funded address needs': {
    signers: [victim, newAccount],
    make: (f) => {
      f.fund(newAccount, 890_880n);
      return [
        f.sendSol(victim, newAccount, 696_000n),
        f.call(SYSTEM_PROGRAM, [newAccount], [...u32(8), ...u64Bytes(100n)]),
        f.assign(newAccount, program),
      ];
    },
    says: [`${newAccount} turned itself (which holds 0.00158688 SOL) into an account of the program ${program}`],
    never: / away /,
    only: ['alone'],
  },
  'accounts closed in two calls of one program': {
    make: (f) => [unnamed(f, f.close(emptied, decoy, victim)), unnamed(f, f.close(wsol, thief, victim))],
    says: ['50.00203928 SOL', thief],
  },
  'SOL to a thief behind a tip': {
    make: (f) => [f.sendSol(victim, JITO_TIPS, 1_000_000n), f.sendSol(victim, thief, 4_000_000_000n)],
    says: ['4 SOL', thief],
  },
  'what a victim sent, swapped by the thief': {
    signers: [victim, thief],
    make: (f) => [
      f.send(usdc, stolenUsdc, victim, 3_000_000_000n),
      f.program(
        RAYDIUM,
        [pool],
        f.send(stolenUsdc, poolUsdc, thief, 3_000_000_000n),
        f.send(poolBonk, stolenBonk, pool, 5_000_000n),
      ),
    ],
    says: ['3000 USDC', victim, thief],
  },
  'wrapped SOL of a victim, swapped by a delegate for a thief': {
    signers: [victim, delegate],
    make: (f) => [
      f.program(
        RAYDIUM,
        [pool],
        f.send(wsol, stolenSol, delegate, 3_000_000_000n),
        f.send(poolBonk, stolenBonk, pool, 5_000_000n),
      ),
    ],
    says: ['3 SOL', victim, thief],
  },
  'an account opened for a thief with what a swap paid': {
    make: (f) => [
      f.create(victim, newAccount, 2_039_280n, TOKEN_PROGRAM, 165n),
      f.open(newAccount, thief, USDT),
      f.send(usdt, newAccount, victim, 9_000_000_000n),
      f.send(newAccount, stolenUsdt, thief, 9_000_000_000n),
      f.close(newAccount, thief, thief),
    ],
    says: ['9000 USDT', thief],
  },
  'wrapped SOL that a new account gets and a thief closes': {
    make: (f) => [
      f.create(victim, newAccount, 2_039_280n, TOKEN_PROGRAM, 165n),
      f.open(newAccount, thief, WRAPPED_SOL, 9),
      f.send(wsol, newAccount, victim, 9_000_000_000n),
      f.close(newAccount, wallet, thief),
    ],
    says: ['9 SOL', thief],
  },
  'what was bought, kept but for dust': {
    make: (f) => [unnamed(f, traded(f, 2_000_000_000n, 6_000_000n, stolenBonk), f.send(stolenBonk, bonk, thief, 1n))],
    says: ['2000 USDC', '0.00001 BONK'],
    not: ['in the call of a program that swaps'],
  },
  'an account of Token-2022 whose owner a program changes': {
    make: (f) => [unnamed(f, { ...f.giveAway(usdt, victim, thief), programId: TOKEN_2022_PROGRAM })],
    says: ['ownership', '50000 USDT', thief],
  },
  'the right to freeze a mint, in the call of a program': {
    make: (f) => [unnamed(f, f.pass(USDT, 1, victim, thief))],
    says: ['right to freeze', thief],
  },
  'an account lent to the victim, filled and returned': {
    signers: [victim, thief],
    make: (f) => [
      f.giveAway(stolenUsdt, thief, victim),
      f.send(usdt, stolenUsdt, victim, 40_000_000_000n),
      f.giveAway(stolenUsdt, victim, thief),
    ],
    says: ['which holds 90000 USDT', 'which holds 50000 USDT', 'ownership', thief],
  },
  'what is bought, in an account that a program lends to the victim': {
    make: (f) => [
      f.program(program, [victim, thief], f.giveAway(stolenBonk, thief, victim)),
      traded(f, 400_000_000n, 9_000_000n, stolenBonk),
      f.program(program, [victim, thief], f.giveAway(stolenBonk, victim, thief)),
    ],
    says: ['which holds 500090 BONK', 'which holds 500000 BONK', 'ownership', thief],
  },
  'an account passed on twice, and emptied in between': {
    signers: [victim, thief],
    make: (f) => [
      f.giveAway(usdt, victim, thief),
      f.send(usdt, stolenUsdt, thief, 50_000_000_000n),
      f.giveAway(usdt, thief, delegate),
    ],
    says: ['which holds 50000 USDT', `from ${victim} to ${thief}`, delegate],
  },
  'an account given away again after it came back empty': {
    signers: [victim, thief],
    make: (f) => [
      f.giveAway(usdt, victim, thief),
      f.send(usdt, stolenUsdt, thief, 50_000_000_000n),
      f.giveAway(usdt, thief, victim),
      f.giveAway(usdt, victim, thief),
    ],
    says: ['which holds 50000 USDT', `from ${victim} to ${thief}`],
  },
  'SOL in a token account that is given away': {
    make: (f) => [f.sendSol(victim, emptied, 4_000_000_000n), f.giveAway(emptied, victim, thief)],
    says: ['4 SOL', 'ownership', thief],
  },
  'wrapped SOL in an account that its new owner closes': {
    signers: [victim, thief],
    make: (f) => [f.giveAway(wsol, victim, thief), f.close(wsol, delegate, thief)],
    says: ['which holds 50 SOL', '50.00203928 SOL', delegate],
    never: /closed a token account of/,
  },
  'SOL sent to the address of an account that was closed': {
    make: (f) => [f.close(emptied, victim, victim), f.sendSol(victim, emptied, 4_000_000_000n)],
    says: ['4 SOL', emptied],
  },
  'a wallet filled, emptied and made a token account of the victim': {
    signers: [victim, wallet],
    make: (f) => [
      f.sendSol(victim, wallet, 4_000_000_000n),
      f.sendSol(wallet, thief, 103_000_000_000n),
      f.assign(wallet, TOKEN_PROGRAM),
      f.open(wallet, victim, USDC),
    ],
    says: [`4 SOL to ${wallet}`, `${wallet} `, '103 SOL', thief],
  },
  'a stake whose withdrawer is passed on, used and returned': {
    signers: [victim, thief],
    make: (f) => [
      f.authorizeStake(stake, victim, thief, 1),
      f.withdrawStake(stake, thief, thief, 20_000_000_000n),
      f.authorizeStake(stake, thief, victim, 1),
    ],
    says: ['right to withdraw', 'which holds 30 SOL', `from ${victim} to ${thief}`],
  },
  'a stake whose withdrawer is passed on twice': {
    signers: [victim, thief],
    make: (f) => [f.authorizeStake(stake, victim, thief, 1), f.authorizeStake(stake, thief, delegate, 1)],
    says: ['right to withdraw', `from ${victim} to ${thief}`, delegate],
  },
  'a member added to a multisig before another one': {
    make: (f) =>
      [thief, delegate].map((member) =>
        f.call(SQUADS, [multisig, victim], [...anchor('multisig_add_member'), ...key(member), 7, 0]),
      ),
    says: [victim, thief, delegate, multisig],
  },
  'dust to the victim beside what a multisig pays a thief': {
    make: (f) => [
      f.program(
        SQUADS,
        [multisig, victim],
        f.send(multisigUsdc, usdc, multisig, 1n),
        f.send(multisigUsdc, stolenUsdc, multisig, 600_000_000_000n),
      ),
    ],
    says: [multisig, '600000 USDC', thief],
    not: ['in the call of a program that swaps'],
  },
  'dust of a thief that a multisig pays': {
    make: (f) => [
      f.program(secondProgram, [thief], f.send(stolenUsdc, poolUsdc, thief, 1n)),
      f.program(SQUADS, [multisig, victim], f.send(multisigUsdc, stolenUsdc, multisig, 600_000_000_000n)),
    ],
    says: [multisig, '600000 USDC', thief],
    not: ['in the call of a program that swaps'],
  },
  'lamports to the victim beside what a program pays a thief': {
    make: (f) => {
      f.sendSol(vault, thief, 20_000_000_000n);
      f.sendSol(vault, victim, 2n);
      return [f.program(program, [victim, vault, thief])];
    },
    says: [vault, '20 SOL', thief],
    only: ['alone'],
  },
  'a compressed NFT burned before a forged event of another one': {
    make: (f) => [
      unnamed(
        f,
        f.call(
          BUBBLEGUM,
          [sysvar, victim, victim, table, sysvar, sysvar, SYSTEM_PROGRAM],
          [...anchor('burn'), ...Array<number>(96).fill(7), ...u64Bytes(5n), ...u32(5)],
        ),
        f.call(
          'noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV',
          [],
          [1, 0, ...u32(0), 1, 0, 0, ...key(nft), ...Array<number>(32).fill(1)],
        ),
      ),
    ],
    says: ['burned', ' NFT'],
    never: new RegExp(nft),
  },
};
