import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import {
  CLOCK_SYSVAR,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  RENT_SYSVAR,
  STAKE_CONFIG,
  STAKE_HISTORY_SYSVAR,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../src/shared/domain/well-known-addresses.ts';
import { explainTransaction } from '../../src/transactions/explain/explain-transaction.ts';
import { shortAddress } from '../../src/transactions/explain/sentence-formats.ts';
import type { Transaction } from '../../src/transactions/records/transaction.ts';
import { THEFTS_BY_CLAIMS } from './forged-claims.ts';
import { THEFTS_BY_PARTIES } from './forged-parties.ts';
import { THEFTS_OF_RIGHTS } from './forged-rights.ts';
import { THEFTS_BY_SHAPES } from './forged-shapes.ts';
import { FORMS, type ForgedCall, type Forgery } from './forged-transaction.ts';
import { THEFTS_BEHIND_WORDS } from './forged-words.ts';
import {
  ALL,
  type Attack,
  type Attacks,
  asset,
  BUBBLEGUM,
  bonk,
  buffer,
  CORE,
  decoy,
  delegate,
  dust,
  emptied,
  freezer,
  GAME,
  JITO_TIPS,
  JUPITER,
  KAMINO,
  key,
  lookAlike,
  multisig,
  multisigUsdc,
  newAccount,
  nonce,
  PYTH,
  pool,
  poolBonk,
  poolUsdc,
  prepare,
  program,
  RAYDIUM,
  SPL_STAKE_POOL,
  SQUADS,
  secondDecoy,
  secondEmptied,
  shared,
  sponsor,
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
import { enhancedOf } from './recorded-transactions.ts';
import { addressOf, u64Bytes } from './synthetic-transaction.ts';

/** The scene in which somebody else than those that sign for a theft pays the fee. */
const SPONSORED = 'that a sponsor pays for';

/** What happens beside a theft: it must not hide it. */
export const SCENES: Readonly<
  Record<string, (forgery: Forgery, theft: readonly ForgedCall[]) => readonly ForgedCall[]>
> = {
  alone: (_, theft) => theft,
  [SPONSORED]: (_, theft) => theft,
  'beside a swap on Raydium': (forgery, theft) => [traded(forgery), ...theft],
  'before a swap on Raydium': (forgery, theft) => [...theft, traded(forgery)],
  'after a swap on Jupiter in the call of a program': (forgery, theft) => [
    forgery.program(JUPITER, [victim], traded(forgery)),
    forgery.program(program, [victim], ...theft),
  ],
  'in the call of a program that swaps': (forgery, theft) => [
    forgery.program(program, [victim], traded(forgery), ...theft),
  ],
  'beside a move in a game': (forgery, theft) => [forgery.program(GAME, [victim]), ...theft],
  'in the call of a multisig': (forgery, theft) => [forgery.program(SQUADS, [victim], ...theft)],
  'beside a deposit with a lender': (forgery, theft) => [
    forgery.program(KAMINO, [victim], forgery.send(bonk, poolBonk, victim, 700_000n)),
    ...theft,
  ],
  'in the call of a program that deposits with a lender': (forgery, theft) => [
    forgery.program(
      program,
      [victim],
      forgery.program(KAMINO, [victim], forgery.send(bonk, poolBonk, victim, 700_000n)),
      ...theft,
    ),
  ],
  'beside the launch of a token': (forgery, theft) => [
    forgery.program(
      '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
      [victim],
      forgery.create(victim, addressOf(71), 1_461_600n, TOKEN_PROGRAM, 82n),
      forgery.call(TOKEN_PROGRAM, [addressOf(71)], [20, 6, ...key(pool), 0]),
    ),
    ...theft,
  ],
  'beside a vote': (forgery, theft) => [forgery.call(VOTE_PROGRAM, [decoy, victim], [14, 0, 0, 0]), ...theft],
  'beside the deployment of a program': (forgery, theft) => [
    forgery.call(UPGRADEABLE_LOADER, [addressOf(44), victim], [1, 0, 0, 0, 0, 0, 0, 0]),
    ...theft,
  ],
  'beside a delegation of stake': (forgery, theft) => [
    forgery.call(
      STAKE_PROGRAM,
      [addressOf(45), addressOf(46), CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, STAKE_CONFIG, victim],
      [2, 0, 0, 0],
    ),
    ...theft,
  ],
  'beside the update of an oracle': (forgery, theft) => [
    forgery.call(PYTH, [victim], [2, 0, 0, 0, 7, 0, 0, 0]),
    ...theft,
  ],
  'beside a memo and a tip': (forgery, theft) => [
    forgery.note(MEMO_PROGRAM, 'gm'),
    forgery.sendSol(victim, JITO_TIPS, 10_000n),
    ...theft,
  ],
};

/** Thefts, with what a description must name. */
export const ATTACKS: Attacks = {
  ...THEFTS_OF_RIGHTS,
  ...THEFTS_BY_SHAPES,
  ...THEFTS_BY_CLAIMS,
  ...THEFTS_BEHIND_WORDS,
  ...THEFTS_BY_PARTIES,
  'tokens sent away': {
    make: (f) => [f.send(usdc, stolenUsdc, victim, 10_000_000_000n)],
    says: ['10000 USDC', thief],
    never: /11000 USDC|10000 USDC[^;]*(Kamino|Raydium)/,
  },
  'two mints': {
    make: (f) => [f.send(usdc, stolenUsdc, victim, 3_000_000n), f.send(usdt, stolenUsdt, victim, 4_000_000n)],
    says: ['3 USDC', '4 USDT', thief],
  },
  'what was bought sent away': {
    make: (f) => [f.send(bonk, stolenBonk, victim, 1_000_000n)],
    says: ['10 BONK', thief],
  },
  'SOL sent away': {
    make: (f) => [f.sendSol(victim, thief, 7_000_000_000n)],
    says: ['7 SOL', thief],
  },
  'SOL below what a deposit is': {
    make: (f) => [f.sendSol(victim, thief, 9_999_999n)],
    says: ['0.009999999 SOL', thief],
  },
  'wrapped SOL sent away': {
    make: (f) => [f.send(wsol, stolenSol, victim, 6_000_000_000n)],
    says: ['6 SOL', thief],
  },
  'SOL sent to what looks like a relay of tips': {
    make: (f) => [f.sendSol(victim, lookAlike(JITO_TIPS), 2_000_000_000n)],
    says: ['2 SOL', lookAlike(JITO_TIPS)],
  },
  'wrapped SOL opened for a thief': {
    make: (f) => [
      f.create(victim, newAccount, 5_002_039_280n, TOKEN_PROGRAM, 165n),
      f.open(newAccount, thief, WRAPPED_SOL, 9),
    ],
    says: ['5.00203928 SOL', thief],
  },
  'more than its rent for a new account': {
    make: (f) => [f.create(victim, wallet, 5_000_000_000n, program)],
    says: ['5 SOL', wallet],
    never: /5 SOL of rent/,
  },
  "a second signer's SOL": {
    signers: [sponsor, victim],
    make: (f) => [f.sendSol(victim, thief, 8_000_000_000n)],
    says: [victim, '8 SOL', thief],
  },
  "a second signer's tokens": {
    signers: [sponsor, victim],
    make: (f) => [f.send(usdc, stolenUsdc, victim, 20_000_000_000n)],
    says: [victim, '20000 USDC', thief],
  },
  "a second signer's allowance": {
    signers: [sponsor, victim],
    make: (f) => [f.approve(usdt, thief, victim, ALL)],
    says: [`${victim} `, 'allowed', thief],
  },
  'SOL of an address with a seed': {
    make: (f) => [
      f.call(
        SYSTEM_PROGRAM,
        [buffer, victim, thief],
        [...u32(11), ...u64Bytes(4_000_000_000n), 1, 0, 0, 0, 0, 0, 0, 0, 97, ...key(SYSTEM_PROGRAM)],
        { from: buffer, to: thief, lamports: 4_000_000_000n },
      ),
    ],
    says: ['4 SOL', buffer, thief],
  },
  'tokens of a multisig that the victim signs for': {
    make: (f) => {
      const sent = f.send(multisigUsdc, stolenUsdc, multisig, 600_000_000_000n);
      return [{ ...sent, accounts: [...sent.accounts, victim] }];
    },
    says: ['600000 USDC', multisig, thief],
  },
  'moved by a delegate': {
    signers: [delegate, victim],
    make: (f) => [f.send(usdc, stolenUsdc, delegate, 10_000_000_000n)],
    says: [`${delegate}, as delegate, moved 10000 USDC of ${victim} to ${thief}`],
  },
  'moved by a delegate that did not sign the transaction': {
    make: (f) => [f.send(usdt, stolenUsdt, delegate, 11_000_000n)],
    says: [`${delegate}, as delegate, moved 11 USDT of ${victim} to ${thief}`],
  },
  'moved by a permanent delegate with a fee': {
    make: (f) => [f.sendWithFee(usdt, stolenUsdt, delegate, 11_000_000n, 1_000_000n)],
    says: [`${delegate}, as delegate, moved 11 USDT of ${victim} to ${thief}`, '10 USDT arrived'],
  },
  'burned by a delegate': {
    signers: [delegate, victim],
    make: (f) => [f.burn(usdc, delegate, 10_000_000_000n)],
    says: [`${delegate}, as delegate, `, 'burned 10000 USDC', victim],
  },
  'burned, and minted to a thief': {
    make: (f) => [f.burn(usdc, victim, 10_000_000_000n), f.mint(stolenUsdc, 10_000_000_000n)],
    says: [victim, 'burned', '10000 USDC'],
  },
  'a wallet given to a program': {
    make: (f) => [f.assign(victim, program)],
    says: ['gave its wallet', 'away', program],
  },
  'an address with a seed given to a program': {
    make: (f) => [
      f.call(
        SYSTEM_PROGRAM,
        [buffer, victim],
        [...u32(10), ...key(victim), 1, 0, 0, 0, 0, 0, 0, 0, 97, ...key(program)],
      ),
    ],
    says: [buffer, 'away', program],
  },
  'an account given away': {
    make: (f) => [f.giveAway(usdt, victim, thief)],
    says: ['ownership', '50000 USDT', thief],
  },
  'wrapped SOL given away with its account': {
    make: (f) => [f.giveAway(wsol, victim, thief)],
    says: ['ownership', '50 SOL', thief],
  },
  'the right to close an account of wrapped SOL': {
    make: (f) => [f.pass(wsol, 3, victim, thief)],
    says: ['right to close', wsol, '50 SOL', thief],
  },
  'the right to close an account that is opened empty and filled afterwards': {
    make: (f) => [
      f.create(victim, newAccount, 2_039_280n, TOKEN_PROGRAM, 165n),
      f.open(newAccount, victim, WRAPPED_SOL, 9),
      f.pass(newAccount, 3, victim, thief),
      f.send(wsol, newAccount, victim, 7_000_000_000n),
    ],
    says: ['right to close', newAccount, thief],
  },
  'ownership of an account that is opened empty and filled afterwards': {
    make: (f) => [
      f.create(victim, newAccount, 2_039_280n, TOKEN_PROGRAM, 165n),
      f.open(newAccount, victim, USDC),
      f.giveAway(newAccount, victim, thief),
      f.send(usdc, newAccount, victim, 9_000_000n),
    ],
    says: ['9 USDC', thief],
  },
  'an account given away, emptied and given back': {
    signers: [victim, thief],
    make: (f) => [
      f.giveAway(usdt, victim, thief),
      f.send(usdt, stolenUsdt, thief, 50_000_000_000n),
      f.giveAway(usdt, thief, victim),
    ],
    says: ['ownership', usdt, '50000 USDT', victim, thief],
  },
  'a stake split from a pool for a thief': {
    make: (f) => [
      f.create(victim, newAccount, 2_282_880n, STAKE_PROGRAM, 200n),
      f.program(SPL_STAKE_POOL, [victim], f.authorizeStake(newAccount, pool, thief, 1)),
    ],
    says: ['right to withdraw', newAccount, thief],
  },
  'the right to mint': {
    make: (f) => [f.pass(USDT, 0, victim, thief)],
    says: ['right to mint', thief],
  },
  'an allowance': {
    make: (f) => [f.approve(usdt, thief, victim, 5_000_000n)],
    says: ['allowed', thief, '5 USDT'],
  },
  'an allowance without a limit': {
    make: (f) => [f.approve(usdt, thief, victim, ALL)],
    says: ['allowed', thief, 'all tokens', '50000 USDT'],
  },
  'an allowance beyond what is there': {
    make: (f) => [f.approve(usdt, thief, victim, ALL - 1n)],
    says: ['allowed', thief, '50000 USDT'],
  },
  'an allowance that is used up and given again': {
    make: (f) => [
      f.approve(usdt, thief, victim, 5_000_000n),
      f.send(usdt, stolenUsdt, thief, 5_000_000n),
      f.approve(usdt, thief, victim, 5_000_000n),
    ],
    says: ['allowed', thief, '5 USDT'],
  },
  'an allowance over an account that was closed and opened again': {
    make: (f) => [
      f.send(usdt, stolenUsdt, victim, 50_000_000_000n),
      f.close(usdt, victim, victim),
      f.create(victim, usdt, 2_039_280n, TOKEN_PROGRAM, 165n),
      f.open(usdt, victim, USDT),
      f.approve(usdt, thief, victim, 8_000_000n),
    ],
    says: ['allowed', thief, '8 USDT'],
  },
  'a decoy allowance before one over more': {
    make: (f) => [f.approve(usdt, decoy, victim, 1n), f.approve(usdc, thief, victim, ALL)],
    says: ['allowed', thief, usdc],
  },
  'an account frozen': {
    make: (f) => [f.call(TOKEN_PROGRAM, [usdt, USDT, freezer], [10])],
    says: ['froze', usdt, '50000 USDT'],
  },
  'the right to withdraw a stake': {
    make: (f) => [f.authorizeStake(stake, victim, thief, 0), f.authorizeStake(stake, victim, thief, 1)],
    says: ['right to withdraw', 'right to delegate', thief, '30 SOL'],
  },
  'a stake made for a thief': {
    make: (f) => [
      f.create(victim, newAccount, 9_000_000_000n, STAKE_PROGRAM, 200n),
      f.call(
        STAKE_PROGRAM,
        [newAccount, RENT_SYSVAR],
        [...u32(0), ...key(victim), ...key(thief), ...Array<number>(48).fill(0)],
      ),
      f.call(
        STAKE_PROGRAM,
        [newAccount, addressOf(46), CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, STAKE_CONFIG, victim],
        [2, 0, 0, 0],
      ),
    ],
    says: ['9 SOL', 'right to withdraw', newAccount, thief],
  },
  'a lock-up with a thief as its custodian': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, victim], [...u32(6), 1, ...u64Bytes(4_070_908_800n), 0, 1, ...key(thief)]),
    ],
    says: [stake, thief, '2099'],
  },
  'a stake withdrawn to a thief': {
    make: (f) => [f.withdrawStake(stake, thief, victim, 29_000_000_000n)],
    says: ['29 SOL', thief],
  },
  'a stake split and its part withdrawn': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, newAccount, victim], [...u32(3), ...u64Bytes(8_000_000_000n)], {
        from: stake,
        to: newAccount,
        lamports: 8_000_000_000n,
      }),
      f.withdrawStake(newAccount, thief, victim, 8_000_000_000n),
    ],
    says: ['8 SOL', thief],
  },
  'the lamports of a vote account': {
    make: (f) => [
      f.call(VOTE_PROGRAM, [vote, thief, victim], [...u32(3), ...u64Bytes(20_000_000_000n)], {
        lamports: 20_000_000_000n,
      }),
    ],
    says: ['20 SOL', thief],
  },
  'the right to withdraw from a vote account': {
    make: (f) => [f.call(VOTE_PROGRAM, [vote, sysvar, victim], [...u32(1), ...key(thief), ...u32(1)])],
    says: ['right to withdraw', vote, thief],
  },
  'the lamports of a nonce account': {
    make: (f) => [
      f.call(SYSTEM_PROGRAM, [nonce, thief, sysvar, sysvar, victim], [...u32(5), ...u64Bytes(20_000_000_000n)], {
        lamports: 20_000_000_000n,
      }),
    ],
    says: ['20 SOL', thief],
  },
  'the authority over a nonce account': {
    make: (f) => [f.call(SYSTEM_PROGRAM, [nonce, victim], [...u32(7), ...key(thief)])],
    says: [nonce, thief],
  },
  'the lamports of a lookup table': {
    make: (f) => [
      f.call(LOOKUP_TABLE_PROGRAM, [table, victim, thief], u32(4), {
        from: table,
        to: thief,
        lamports: 30_000_000_000n,
      }),
    ],
    says: ['30 SOL', thief],
  },
  'the lamports of a program': {
    make: (f) => [f.call(UPGRADEABLE_LOADER, [buffer, thief, victim], u32(5), { lamports: 30_000_000_000n })],
    says: ['30 SOL', thief],
  },
  'the right to upgrade a program': {
    make: (f) => [f.call(UPGRADEABLE_LOADER, [buffer, victim, thief], u32(4))],
    says: ['right to upgrade', buffer, thief],
  },
  'rent of a closed account': {
    make: (f) => [f.send(usdc, stolenUsdc, victim, 1n), f.close(usdt, thief, victim)],
    says: ['0.00203928 SOL', thief],
  },
  'an account of wrapped SOL closed for a thief': {
    make: (f) => [f.close(wsol, thief, victim)],
    says: ['50', thief],
  },
  'accounts closed for decoys and a thief': {
    make: (f) => [
      f.close(emptied, decoy, victim),
      f.close(secondEmptied, secondDecoy, victim),
      f.close(wsol, thief, victim),
    ],
    says: ['50.00203928 SOL', thief],
  },
  'an account closed by the holder of that right': {
    signers: [delegate, victim],
    make: (f) => [f.close(wsol, thief, delegate)],
    says: [`${delegate} `, 'closed ', victim, '50.00203928 SOL', thief],
  },
  'wrapped SOL unwrapped for a thief': {
    make: (f) => [f.call(TOKEN_PROGRAM, [usdc, thief, victim], [38], { from: usdc, to: thief, lamports: 1_000_000n })],
    says: ['0.001 SOL', thief],
  },
  'dust before a large payment': {
    make: (f) => [...dust.map((to) => f.sendSol(victim, to, 1n)), f.sendSol(victim, thief, 9_000_000_000n)],
    says: ['9 SOL', thief],
  },
  'much of a cheap token before SOL': {
    make: (f) => [
      f.send(bonk, stolenBonk, victim, 40_000_000n),
      ...dust.map((to) => f.sendSol(victim, to, 1n)),
      f.sendSol(victim, shared, 9_000_000_000n),
    ],
    says: ['9 SOL', shared, '400 BONK', thief],
    not: ['beside a deposit with a lender'],
  },
  'a fee of a token': {
    make: (f) => [f.sendWithFee(usdt, stolenUsdt, victim, 100_000_000n, 1_500_000n)],
    says: ['100 USDT', '98.5 USDT arrived', thief],
  },
  'a fee that takes all': {
    make: (f) => [f.sendWithFee(usdt, stolenUsdt, victim, 100_000_000n, 100_000_000n)],
    says: ['100 USDT', 'nothing arrived', thief],
  },
  'a fee that no instruction names': {
    make: (f) => [f.sendWithHiddenFee(usdt, stolenUsdt, victim, 100_000_000n, 90_000_000n)],
    says: ['100 USDT', '10 USDT arrived', thief],
  },
  'an NFT of Metaplex Core sent away': {
    make: (f) => [f.call(CORE, [asset, CORE, victim, victim, thief, SYSTEM_PROGRAM, CORE], [14, 0])],
    says: [asset, thief],
  },
  'a compressed NFT sent away': {
    make: (f) => [
      f.call(
        BUBBLEGUM,
        [sysvar, victim, victim, thief, table, sysvar, sysvar, SYSTEM_PROGRAM],
        [163, 52, 200, 231, 140, 3, 69, 186, ...Array<number>(96).fill(1), ...u64Bytes(5n), 5, 0, 0, 0],
      ),
    ],
    says: [' NFT', thief],
  },
  'an NFT of Metaplex Core burned': {
    make: (f) => [f.call(CORE, [asset, CORE, victim, victim, SYSTEM_PROGRAM, CORE], [12, 0])],
    says: [asset, 'burned'],
  },
  'bought for a thief': {
    make: (f) => [
      f.program(
        RAYDIUM,
        [pool],
        f.send(usdt, stolenUsdt, victim, 0n),
        f.send(usdc, poolUsdc, victim, 333_000_000n),
        f.send(poolBonk, stolenBonk, pool, 777_777n),
      ),
    ],
    says: ['333 USDC', '7.77777 BONK', thief],
  },
  'a deposit withdrawn for a thief': {
    make: (f) => [f.program(KAMINO, [victim], f.send(poolUsdc, stolenUsdc, pool, 444_000_000n))],
    says: ['444 USDC', thief],
  },
  'a note that speaks': {
    make: (f) => [
      f.note(MEMO_PROGRAM, 'Refund” of 900 USDC. You got 900 USDC'),
      f.sendSol(victim, thief, 2_000_000_000n),
    ],
    says: ['2 SOL', thief],
    never: /(?<!“[^”]*)You got/,
  },
  'a note with a link': {
    make: (f) => [
      f.note(MEMO_PROGRAM, 'claim at https://evil.com or evil。com or t.me/evil'),
      f.sendSol(victim, thief, 2_000_000_000n),
    ],
    says: ['2 SOL', thief],
    never: /https:|evil\.com|evil。com|t\.me/,
  },
  'tokens sent in the call of what looks like Jupiter': {
    make: (f) => [
      f.program(
        lookAlike(JUPITER),
        [victim],
        f.send(usdc, stolenUsdc, victim, 55_000_000n),
        f.send(stolenBonk, bonk, thief, 1n),
      ),
    ],
    says: ['55 USDC', thief],
    never: /55 USDC[^;]*Jupiter/,
  },
  'a round trip that loses': {
    make: (f) => [
      unnamed(f, f.send(usdt, stolenUsdt, victim, 100_000_000n), f.send(stolenUsdt, usdt, thief, 60_000_000n)),
    ],
    says: ['100 USDT', thief],
  },
  'a round trip through an exchange with a thief in between': {
    make: (f) => [
      unnamed(
        f,
        traded(f, 100_000_000n, 500_000n),
        f.program(RAYDIUM, [pool], f.send(bonk, poolBonk, victim, 500_000n), f.send(poolUsdc, usdc, pool, 99_000_000n)),
        f.send(usdc, stolenUsdc, victim, 4_000_000_000n),
      ),
    ],
    says: ['4000 USDC', thief],
  },
  'SOL that a program debits of a signer': {
    make: (f) => {
      const call = f.program(program, [victim, vault]);
      f.sendSol(victim, vault, 3_000_000_000n);
      return [call];
    },
    says: ['3 SOL', victim],
  },
};

/** A theft in a scene, as a record in a form; null where it makes no sense. */
export function forgeAttack(scene: string, name: string, form: keyof typeof FORMS = 'whole'): Transaction | null {
  const [arrange, attack] = [SCENES[scene], ATTACKS[name]];
  if (arrange === undefined || attack === undefined || !scenesOf(attack).includes(scene)) return null;
  const signers = attack.signers ?? [victim];
  const forgery = prepare(scene === SPONSORED && !signers.includes(sponsor) ? [sponsor, ...signers] : signers);
  for (const held of attack.holds ?? []) forgery.hold(...held);
  return forgery.record(arrange(forgery, attack.make(forgery)), FORMS[form]);
}

/** Returns the scenes in which an attack makes sense. */
export const scenesOf = ({ not = [], only }: Attack): readonly string[] =>
  only ?? Object.keys(SCENES).filter((scene) => !not.includes(scene));

/** Deeds that cost nobody anything. */
const HARMLESS = new RegExp(
  `^(The validator|\\w+ (called the (game|Pyth)|updated an oracle|uploaded a part|made (room|the account)|staked the stake account ${addressOf(45)}|wrote|advanced|opened|added addresses))`,
);

/** Returns what the texts on a theft lack of what they must name, and what they must not say. */
export function lackingIn(transaction: Transaction, { says, never, signers = [] }: Attack): readonly string[] {
  const enhanced = enhancedOf(transaction);
  const { description } = enhanced;
  const explanation = explainTransaction(enhanced);
  const short = (text: string): string => text.replace(/\w{32,44}/g, shortAddress);
  return [
    ...says.filter((part) => !description.includes(part)).map((part) => `${part}: ${description}`),
    ...says.filter((part) => !explanation.includes(short(part))).map((part) => `${part}: ${explanation}`),
    ...(never?.test(description) === true ? [`${never}: ${description}`] : []),
    ...(description.startsWith(sponsor) && !signers.includes(sponsor) ? [`who acted: ${description}`] : []),
    ...(HARMLESS.test(description) && !says.some((part) => description.startsWith(part))
      ? [`begins with what is harmless: ${description}`]
      : []),
  ];
}

/** Forges each theft in each scene and form, with its description and what that lacks. */
export const forgeAll = () =>
  Object.entries(ATTACKS).flatMap(([name, attack]) =>
    Object.keys(SCENES).flatMap((scene) =>
      (['whole', 'withoutDepths', 'withTables'] as const).flatMap((form) => {
        const transaction = forgeAttack(scene, name, form);
        if (transaction === null) return [];
        const { description } = enhancedOf(transaction);
        return [{ name, scene, form, description, lacking: lackingIn(transaction, attack) }];
      }),
    ),
  );
