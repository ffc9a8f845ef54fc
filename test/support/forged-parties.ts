import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOADER_V4,
  METADATA_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../src/shared/domain/well-known-addresses.ts';
import type { ForgedCall, Forgery } from './forged-transaction.ts';
import { MAGIC_EDEN, namedCall, ORCA, saleOf } from './forged-words.ts';
import {
  ALL,
  ALONE,
  type Attack,
  type Attacks,
  anchor,
  BONK,
  BUBBLEGUM,
  bonk,
  buffer,
  decoy,
  delegate,
  JUPITER,
  KAMINO,
  key,
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
  sponsor,
  stake,
  stolenBonk,
  stolenUsdc,
  stolenUsdt,
  swapOf,
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
} from './forged-world.ts';
import { addressesOf, addressOf, u64Bytes } from './synthetic-transaction.ts';

const DCA = 'DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M';
const LIMIT_ORDER_2 = 'j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X';
const LIMIT_ORDER = 'jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu';
const CANDY = 'CndyV3LdqHUfDLmE5naZjVN8rBZz4tqhdefbAnjHG3JR';
const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
const DISTRIBUTOR = 'MErKy6nZVoVAkryxAejJz2juifQ4ArgLgHmaJCQkU7N';
const poolNew = addressOf(79);
const [seller, escrow, tree, escrowNft, secondUsdc] = addressesOf(64, 65, 66, 70, 71);

const extendBy = (f: Forgery, payer: string, extended: string): ForgedCall =>
  f.call(UPGRADEABLE_LOADER, [addressOf(72), extended, SYSTEM_PROGRAM, payer], [...u32(6), 0, 40, 0, 0], {
    from: payer,
    to: addressOf(72),
    lamports: 70_000_000n,
  });

const deployBy = (authority: string, deployed: string): ForgedCall =>
  namedCall(UPGRADEABLE_LOADER, [...u32(2), ...u64Bytes(5_000n)], {
    0: authority,
    2: deployed,
    3: buffer,
    7: authority,
  });

const upgradeBy = (f: Forgery, authority: string, upgraded: string): ForgedCall =>
  f.call(
    UPGRADEABLE_LOADER,
    [addressOf(72), upgraded, addressOf(73), authority, addressOf(74), addressOf(75), authority],
    u32(3),
  );

/** An order of USDC for BONK on Jupiter DCA, which `payer` opens with the victim's tokens. */
const openOrder = (f: Forgery, owner: string, payer: string, amount: bigint): ForgedCall => {
  const named = { 0: escrow, 1: owner, 2: payer, 3: USDC, 4: BONK };
  return namedCall(DCA, anchor('open_dca_v2'), named, f.send(usdc, secondUsdc, victim, amount));
};

/** The victim's stake, deposited with a pool for shares. */
const depositStake = (f: Forgery, ...shares: readonly ForgedCall[]): readonly ForgedCall[] => [
  ...([0, 1] as const).map((right) => f.authorizeStake(stake, victim, pool, right)),
  { programId: SPL_STAKE_POOL, accounts: [pool, stake, victim], data: [9], inner: shares },
];

/** Accounts for an NFT: that of the seller, which has it, and one of the victim. */
const NFT_ON_SALE: Attack['holds'] = [
  [ownNft, seller, nft, 1n, 0],
  [secondUsdc, victim, nft, 0n, 0],
];

const setAuthorityOf = (account: string, right: number, owner: string, to: string): ForgedCall => ({
  programId: TOKEN_PROGRAM,
  accounts: [account, owner],
  data: [6, right, 1, ...key(to)],
  inner: [],
});

const anywhere: Attacks = {
  'tokens moved to a second account that is given away': {
    holds: [[secondUsdc, victim, USDC, 0n]],
    make: (f) => [f.send(usdc, secondUsdc, victim, 9_000_000n), f.giveAway(secondUsdc, victim, thief)],
    says: ['9 USDC', thief],
  },
  'an account given away that a later deposit fills': {
    holds: [[secondUsdc, victim, USDC, 0n]],
    make: (f) => [f.giveAway(secondUsdc, victim, thief), f.send(usdc, secondUsdc, victim, 9_000_000n)],
    says: ['9 USDC', thief],
  },
};

const besideLittle = onlyIn(ALONE, {
  'programs that two signers deploy': {
    signers: [victim, thief],
    make: () => [deployBy(victim, program), deployBy(thief, newAccount)],
    says: [newAccount, thief],
  },
  'programs that two signers replace': {
    signers: [victim, thief],
    make: (f) => [upgradeBy(f, victim, program), upgradeBy(f, thief, newAccount)],
    says: [newAccount, thief],
  },
  'a program that a second signer deploys beside a replaced one': {
    signers: [victim, thief],
    make: (f) => [upgradeBy(f, victim, program), deployBy(thief, newAccount)],
    says: [newAccount, thief],
  },
  'a program of the newer loader that is taken off': {
    make: (f) => [f.call(LOADER_V4, [program, victim], u32(4))],
    says: [program],
  },
  'a program that moves to the newer loader': {
    make: (f) => [f.call(UPGRADEABLE_LOADER, [addressOf(72), program, victim], u32(8))],
    says: [program],
  },
  'an NFT that passes through an escrow': {
    holds: [
      [ownNft, seller, nft, 1n, 0],
      [escrowNft, escrow, nft, 0n, 0],
      [secondUsdc, victim, nft, 0n, 0],
    ],
    make: (f) => [
      saleOf(
        victim,
        nft,
        f.sendSol(victim, seller, 1_000_000_000n),
        f.send(ownNft, escrowNft, seller, 1n),
        f.send(escrowNft, secondUsdc, escrow, 1n),
      ),
    ],
    says: ['1 SOL'],
  },
  'an NFT paid through an escrow': {
    holds: NFT_ON_SALE,
    make: (f) => [
      namedCall(MAGIC_EDEN, anchor('deposit'), { 0: victim, 1: escrow }, f.sendSol(victim, escrow, 1_000_000_000n)),
      saleOf(victim, nft, f.sendSol(escrow, seller, 1_000_000_000n), f.send(ownNft, secondUsdc, seller, 1n)),
    ],
    says: ['1 SOL'],
  },
  'a burn and a mint around a theft': {
    make: (f) => [unnamed(f, f.mint(usdt, 60_000_000n), f.send(usdt, stolenUsdt, victim, 100_000_000n))],
    says: ['100 USDT', thief],
  },
  'a mint that covers a theft': {
    make: (f) => [unnamed(f, f.mint(usdt, 100_000_000n), f.send(usdt, stolenUsdt, victim, 100_000_000n))],
    says: ['100 USDT', thief],
  },
  'tokens burned in the call that gives some back': {
    make: (f) => [unnamed(f, f.burn(usdt, victim, 100_000_000n), f.send(stolenUsdt, usdt, thief, 99_000_000n))],
    says: ['burned 100 USDT'],
  },
  'a theft of as much as was minted, in two calls of one program': {
    make: (f) => [unnamed(f, f.send(usdt, stolenUsdt, victim, 100_000_000n)), unnamed(f, f.mint(usdt, 100_000_000n))],
    says: ['100 USDT', thief],
  },
  'a mint by a known program beside a theft of it': {
    make: (f) => [
      f.program(SPL_STAKE_POOL, [victim], f.mint(bonk, 5_000_000n), f.send(bonk, stolenBonk, victim, 5_000_000n)),
    ],
    says: ['50 BONK', thief],
  },
  'an order opened for a thief': {
    holds: [[secondUsdc, escrow, USDC, 0n]],
    make: (f) => [openOrder(f, thief, victim, 1_000_000_000n)],
    says: [`${victim} opened an order with 1000 USDC for ${thief} on Jupiter DCA`],
  },
  'a limit order for a thief': {
    holds: [[secondUsdc, escrow, USDC, 0n]],
    make: (f) => [
      namedCall(
        LIMIT_ORDER_2,
        anchor('initialize_order'),
        { 0: victim, 1: thief, 2: escrow, 7: USDC, 8: BONK },
        f.send(usdc, secondUsdc, victim, 1_000_000_000n),
      ),
    ],
    says: [`${victim} opened an order with 1000 USDC for ${thief} on Jupiter Limit Order`],
  },
  'an order opened for a thief beside an own one': {
    holds: [[secondUsdc, escrow, USDC, 0n]],
    make: (f) => [openOrder(f, victim, victim, 1_000_000n), openOrder(f, thief, victim, 1_000_000_000n)],
    says: [`${victim} opened an order with 1001 USDC for itself and ${thief} on Jupiter DCA`],
  },
  'a loan that a thief gets': {
    make: (f) => [
      namedCall(
        KAMINO,
        anchor('borrow_obligation_liquidity'),
        { 0: victim },
        f.send(poolUsdc, stolenUsdc, pool, 400_000_000n),
      ),
    ],
    says: ['400 USDC', thief],
  },
  'a loan of which a thief gets most': {
    make: (f) => [
      namedCall(
        KAMINO,
        anchor('borrow_obligation_liquidity'),
        { 0: victim },
        f.send(poolUsdc, usdc, pool, 1_000_000n),
        f.send(poolUsdc, stolenUsdc, pool, 400_000_000n),
      ),
    ],
    says: ['400 USDC', thief],
  },
  'an allowance that is lowered': {
    make: (f) => [f.approve(usdt, thief, victim, ALL), f.approve(usdt, thief, victim, 5_000_000n)],
    says: ['5 USDT', thief],
    never: /all tokens/,
  },
  'the right over a tree of compressed NFTs': {
    make: () => [namedCall(BUBBLEGUM, anchor('set_tree_delegate'), { 1: victim, 2: thief, 3: tree })],
    says: [thief, tree],
  },
  'rewards of delegators paid into a vote account': {
    make: (f) => [
      f.call(VOTE_PROGRAM, [vote, victim], [...u32(19), ...u64Bytes(7_000_000_000n)], {
        from: victim,
        to: vote,
        lamports: 7_000_000_000n,
      }),
    ],
    says: ['7 SOL', vote],
  },
  'a permissioned burn': {
    signers: [victim, thief],
    make: (f) => [{ ...f.burn(usdt, victim, 3_000_000n), programId: TOKEN_2022_PROGRAM }],
    says: ['3 USDT'],
  },
  'a nested account that is recovered': {
    holds: [[secondUsdc, usdc, USDC, 5_000_000n]],
    make: (f) => [
      {
        programId: ASSOCIATED_TOKEN_PROGRAM,
        accounts: [secondUsdc, USDC, usdc, usdc, USDC, victim, TOKEN_PROGRAM],
        data: [2],
        inner: [f.send(secondUsdc, usdc, usdc, 5_000_000n), f.close(secondUsdc, victim, usdc)],
      },
    ],
    says: ['5 USDC'],
  },
  'a listing whose NFT a thief gets': {
    make: (f) => [
      unnamed(
        f,
        namedCall(MAGIC_EDEN, anchor('sell'), { 0: victim, 4: nft }),
        f.send(ownNft, addressOf(56), victim, 1n),
      ),
    ],
    says: [nft, thief],
  },
  'liquidity of which a thief gets most': {
    make: (f) => [
      namedCall(
        ORCA,
        anchor('decrease_liquidity'),
        { 2: victim },
        f.send(poolUsdc, stolenUsdc, pool, 500_000_000n),
        f.send(poolBonk, bonk, pool, 100n),
      ),
    ],
    says: [`${victim} took 0.001 BONK out of a pool`, '500 USDC', thief],
  },
  'liquidity that a thief gets': {
    make: (f) => [
      namedCall(
        ORCA,
        anchor('decrease_liquidity'),
        { 2: victim },
        f.send(poolUsdc, stolenUsdc, pool, 500_000_000n),
        f.send(poolBonk, stolenBonk, pool, 100n),
      ),
    ],
    says: ['500 USDC', '0.001 BONK', thief],
  },
  'fees of two senders into one account': {
    signers: [victim, decoy],
    holds: [[secondUsdc, decoy, USDT, 5_000_000_000n]],
    make: (f) => [
      f.sendWithHiddenFee(usdt, stolenUsdt, victim, 1_000_000_000n, 5_000_000n),
      f.sendWithHiddenFee(secondUsdc, stolenUsdt, decoy, 100_000_000n, 1_000_000n),
    ],
    says: ['1000 USDT', '100 USDT'],
  },
  'a wallet emptied into an account that a swap opens': {
    make: (f) => [
      f.program(
        RAYDIUM,
        [pool],
        ...swapOf(f),
        f.create(victim, newAccount, 40_000_000_000n, TOKEN_PROGRAM, 165n),
        f.open(newAccount, thief, WRAPPED_SOL, 9),
      ),
    ],
    says: ['40', thief],
  },
  'tokens sent by a multisig in the call of Jupiter': {
    make: (f) => [
      f.program(
        JUPITER,
        [victim],
        traded(f),
        f.program(SQUADS, [victim], f.send(usdt, stolenUsdt, victim, 44_000_000n)),
      ),
    ],
    says: ['44 USDT', thief],
  },
  'a right to freeze given up beside one to mint that passes': {
    make: () => [
      { programId: TOKEN_PROGRAM, accounts: [USDT, victim], data: [6, 1, 0, ...Array<number>(32).fill(0)], inner: [] },
      setAuthorityOf(USDT, 0, victim, thief),
    ],
    says: ['right to mint', thief, 'gave up'],
  },
  'wrapped SOL bought and left to a thief by closing': {
    holds: [
      [secondUsdc, victim, WRAPPED_SOL, 0n, 9],
      [addressOf(78), pool, WRAPPED_SOL, 900_000_000_000n, 9],
    ],
    make: (f) => [
      f.program(
        RAYDIUM,
        [pool],
        f.send(usdc, poolUsdc, victim, 1_000_000_000n),
        f.send(addressOf(78), secondUsdc, pool, 6_000_000_000n),
      ),
      f.close(secondUsdc, thief, victim),
    ],
    says: ['6.00203928 SOL', thief],
  },
  'more of a token than was burned comes back': {
    make: (f) => [unnamed(f, f.burn(usdt, victim, 50_000_000n), f.send(stolenUsdt, usdt, thief, 99_000_000n))],
    says: ['burned 50 USDT', '99 USDT'],
  },
  'a position whose NFT a thief gets': {
    holds: [[escrowNft, thief, addressOf(76), 0n, 0]],
    make: (f) => [
      namedCall(ORCA, anchor('open_position'), { 0: victim, 1: thief }, f.mint(escrowNft, 1n)),
      namedCall(
        ORCA,
        anchor('increase_liquidity'),
        { 2: victim },
        f.send(usdc, poolUsdc, victim, 500_000_000n),
        f.send(bonk, poolBonk, victim, 3_000_000n),
      ),
    ],
    says: ['500 USDC', '30 BONK', thief],
  },
  'an NFT that a thief gets for what the victim pays': {
    holds: [[escrowNft, thief, addressOf(76), 0n, 0]],
    make: (f) => [
      f.program(
        CANDY,
        [victim],
        f.sendSol(victim, escrow, 2_000_000_000n),
        namedCall(METADATA_PROGRAM, [33], { 2: addressOf(76) }),
        f.mint(escrowNft, 1n),
      ),
    ],
    says: ['2 SOL', thief],
  },
  'a claim that a thief gets': {
    make: (f) => [
      namedCall(DISTRIBUTOR, anchor('claim_locked'), { 3: victim }, f.send(poolUsdc, stolenUsdc, pool, 77_000_000n)),
    ],
    says: ['77 USDC', thief],
  },
});

const byThemselves = onlyIn(['alone'], {
  'a right over a program that passes beside two deployments': {
    signers: [victim, thief],
    make: (f) => [
      deployBy(victim, program),
      deployBy(victim, newAccount),
      f.call(UPGRADEABLE_LOADER, [newAccount, victim, thief], u32(4)),
    ],
    says: [`${victim} passed the right to upgrade of ${newAccount}`, thief, program],
    never: /^\w+ put the program/,
  },
  'a theft beside a program that moves to the newer loader': {
    make: (f) => [
      f.call(UPGRADEABLE_LOADER, [addressOf(72), program, victim], u32(8)),
      traded(f),
      f.send(usdt, stolenUsdt, victim, 9_000_000_000n),
    ],
    says: ['9000 USDT', thief, program],
    never: /^\w+ moved the program/,
  },
  'an extension that another signer pays': {
    signers: [sponsor, victim],
    make: (f) => [extendBy(f, victim, program)],
    says: [victim],
  },
  'a nested sale': {
    holds: NFT_ON_SALE,
    make: (f) => {
      f.fund(escrow, 5_000_000_000n);
      f.sendSol(escrow, seller, 1_000_000_000n);
      return [
        unnamed(
          f,
          namedCall(
            MAGIC_EDEN,
            anchor('execute_sale_v2'),
            { 0: victim, 1: seller, 4: nft, 9: escrow },
            f.send(ownNft, secondUsdc, seller, 1n),
          ),
        ),
      ];
    },
    says: [`${victim} bought the NFT ${nft} from ${seller} for 1 SOL on Magic Eden`],
    never: /also/,
  },
  'a nested sale whose NFT goes back': {
    holds: NFT_ON_SALE,
    make: (f) => [
      unnamed(
        f,
        saleOf(victim, nft, f.sendSol(victim, seller, 1_000_000_000n), f.send(ownNft, secondUsdc, seller, 1n)),
        f.send(secondUsdc, ownNft, victim, 1n),
      ),
    ],
    says: [`${victim} bought the NFT ${nft}`, `the NFT ${nft} to ${seller}`],
  },
  'a nested sale whose caller takes more': {
    holds: NFT_ON_SALE,
    make: (f) => {
      f.sendSol(victim, thief, 4_000_000_000n);
      return [
        unnamed(
          f,
          saleOf(victim, nft, f.sendSol(victim, seller, 1_000_000_000n), f.send(ownNft, secondUsdc, seller, 1n)),
        ),
      ];
    },
    says: ['1 SOL', '4 SOL', thief],
  },
  'a nested sale whose caller pays a thief out of an escrow': {
    holds: NFT_ON_SALE,
    make: (f) => {
      f.fund(escrow, 5_000_000_000n);
      const paid = f.program(program, [victim, escrow], f.sendSol(victim, escrow, 4_000_000_000n));
      f.sendSol(escrow, seller, 1_000_000_000n);
      f.sendSol(escrow, thief, 3_000_000_000n);
      return [
        paid,
        f.program(
          program,
          [victim, escrow],
          namedCall(
            MAGIC_EDEN,
            anchor('execute_sale_v2'),
            { 0: victim, 1: seller, 4: nft, 9: escrow },
            f.send(ownNft, secondUsdc, seller, 1n),
          ),
        ),
      ];
    },
    says: ['for 1 SOL on Magic Eden', `sent 4 SOL to ${escrow}`, `sent 3 SOL to ${thief}`],
    never: /creators/,
  },
  'a stake deposited with a pool whose shares a thief gets': {
    holds: [[secondUsdc, thief, addressOf(76), 0n, 9]],
    make: (f) => [...depositStake(f, f.mint(secondUsdc, 29_000_000_000n))],
    says: [stake, '30 SOL', pool, thief],
  },
  'a stake deposited with a pool of whose shares a thief gets most': {
    holds: [
      [secondUsdc, thief, addressOf(76), 0n, 9],
      [escrowNft, victim, addressOf(76), 0n, 9],
    ],
    make: (f) => [...depositStake(f, f.mint(secondUsdc, 29_000_000_000n), f.mint(escrowNft, 1n))],
    says: [stake, '30 SOL', pool, `${thief} also got 29`],
  },
  'two delegates that each move a part': {
    signers: [delegate, decoy],
    make: (f) => [f.send(usdt, stolenUsdt, delegate, 3_000_000n), f.send(usdc, stolenUsdc, decoy, 4_000_000n)],
    says: [`${delegate}, as delegate, moved 3 USDT of ${victim}`, `${decoy}, as delegate, moved 4 USDC of ${victim}`],
  },
  'SOL that a program takes from two signers': {
    signers: [victim, decoy],
    make: (f) => {
      const c = f.program(program, [victim, decoy, vault]);
      f.sendSol(victim, vault, 3_000_000_000n);
      f.sendSol(decoy, vault, 2_000_000_000n);
      return [c];
    },
    says: ['3 SOL', '2 SOL', decoy],
  },
  'a transfer with a seed by a second signer': {
    signers: [victim, decoy],
    make: (f) => [
      f.call(
        SYSTEM_PROGRAM,
        [buffer, decoy, thief],
        [...u32(11), ...u64Bytes(4_000_000_000n), 1, 0, 0, 0, 0, 0, 0, 0, 97, ...key(SYSTEM_PROGRAM)],
        { from: buffer, to: thief, lamports: 4_000_000_000n },
      ),
    ],
    says: ['4 SOL', buffer, thief, decoy],
  },
  'stake that anybody deactivates': {
    make: (f) => [f.call(STAKE_PROGRAM, [stake, vote, addressOf(77)], u32(14))],
    says: [`began to unstake the stake account ${stake}`],
  },
  'a second minter': {
    signers: [victim, decoy],
    make: (f) => [
      f.sendSol(victim, decoy, 5n),
      { ...f.mint(stolenUsdt, 7_000_000n), accounts: [USDT, stolenUsdt, decoy] },
    ],
    says: [`7 USDT`],
  },
  'a mint whose authority passes through a decoy': {
    signers: [victim, decoy],
    make: () => [setAuthorityOf(USDT, 0, victim, decoy), setAuthorityOf(USDT, 0, decoy, thief)],
    says: ['right to mint', thief],
  },
  'a swap whose input a delegate of another wallet gives': {
    signers: [decoy],
    make: (f) => [
      f.program(
        RAYDIUM,
        [pool],
        f.send(usdc, poolUsdc, decoy, 1_000_000_000n),
        f.send(poolBonk, stolenBonk, pool, 7_000_000n),
      ),
    ],
    says: [decoy, '1000 USDC', victim, thief],
  },
  'two extensions that two signers pay': {
    signers: [victim, decoy],
    make: (f) => [extendBy(f, victim, program), extendBy(f, decoy, newAccount)],
    says: [`0.07 SOL left ${decoy}`, `${victim} made room for a new version of the program ${program}`],
    never: new RegExp(newAccount),
  },
  'a launch in which a second signer buys': {
    signers: [victim, decoy],
    make: (f) => {
      f.hold(secondUsdc, decoy, addressOf(76), 0n);
      f.hold(poolNew, pool, addressOf(76), 900_000_000n);
      const made: ForgedCall = {
        programId: TOKEN_PROGRAM,
        accounts: [addressOf(76)],
        data: [20, 6, ...key(pool), 0],
        inner: [],
      };
      return [
        namedCall(PUMP, anchor('create'), { 7: victim }, made),
        namedCall(
          PUMP,
          anchor('buy'),
          { 6: decoy },
          f.send(poolNew, secondUsdc, pool, 5_000_000n),
          f.sendSol(decoy, pool, 3_000_000_000n),
        ),
      ];
    },
    says: [`${victim} launched the token`, decoy, '3 SOL'],
  },
  'a circle in which a second signer loses': {
    signers: [victim, decoy],
    holds: [[secondUsdc, decoy, USDC, 8_000_000_000n]],
    make: (f) => [
      f.program(program, [victim, decoy], traded(f), tradedBack(f), f.send(secondUsdc, usdc, decoy, 5_000_000_000n)),
    ],
    says: ['5000 USDC', decoy],
  },
  'an order of the victim that a keeper cancels for itself': {
    signers: [thief],
    holds: [[secondUsdc, escrow, USDC, 6_000_000n]],
    make: (f) => [
      namedCall(
        LIMIT_ORDER,
        anchor('cancel_expired_order'),
        { 0: escrow, 2: victim },
        f.send(secondUsdc, stolenUsdc, escrow, 6_000_000n),
      ),
    ],
    says: [`cancelled an order of ${victim}`, '6 USDC'],
  },
  'what another one lost in an order that a sponsor pays for': {
    signers: [sponsor, victim],
    holds: [[secondUsdc, escrow, USDC, 0n]],
    make: (f) => [openOrder(f, victim, sponsor, 1_000_000_000n)],
    says: [`${victim} opened an order with 1000 USDC on`],
  },
});

/** Thefts of an eighth kind: another one than it seems signs, owns, gets or pays. */
export const THEFTS_BY_PARTIES: Attacks = { ...anywhere, ...besideLittle, ...byThemselves };
