import { CLOCK_SYSVAR, STAKE_PROGRAM, TOKEN_2022_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import type { ForgedCall, Forgery } from './forged-transaction.ts';
import { delegateOf, hashes, MAGIC_EDEN, ORCA, stakeOf } from './forged-words.ts';
import {
  ALONE,
  type Attacks,
  anchor,
  BONK,
  BUBBLEGUM,
  bonk,
  emptied,
  JITO_TIPS,
  JUPITER,
  multisig,
  multisigUsdc,
  newAccount,
  nft,
  onlyIn,
  pool,
  poolBonk,
  poolUsdc,
  program,
  RAYDIUM,
  SPL_STAKE_POOL,
  SQUADS,
  stake,
  stolenBonk,
  stolenUsdc,
  stolenUsdt,
  thief,
  traded,
  USDT,
  u32,
  unnamed,
  usdc,
  usdt,
  vault,
  victim,
  vote,
} from './forged-world.ts';
import { addressOf, u64Bytes } from './synthetic-transaction.ts';

const LIMIT_ORDER = 'jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu';
const MANIFEST = 'MNFSTqtC93rEfYHB6hF82sKdZpUDFWkViLByLd1k1Ms';
const [secondVote, order, orderBonk, poolUsdt] = [addressOf(60), addressOf(61), addressOf(62), addressOf(63)];
const [seller, escrow, tree] = [addressOf(64), addressOf(65), addressOf(66)];

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
    ...(name === 'burn' ? { 3: tree } : { 3: thief, 4: tree }),
  });
};

const anywhere: Attacks = {
  'a stake that is deactivated beside another deed': {
    make: (f) => [delegateOf(f, newAccount, victim), unstake(f, stake)],
    says: [`began to unstake the stake account ${stake}`, `the validator ${vote}`],
    only: [...ALONE, 'beside a swap on Raydium', 'in the call of a program that swaps'],
  },
};

const besideLittle = onlyIn(ALONE, {
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

/** Thefts of a sixth kind: each beside a deed that its sentence does not bound. */
export const THEFTS_BESIDE_DEEDS: Attacks = { ...anywhere, ...besideLittle, ...byThemselves };
