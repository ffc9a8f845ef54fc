import {
  LOOKUP_TABLE_PROGRAM,
  METADATA_PROGRAM,
  RENT_SYSVAR,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../src/shared/domain/well-known-addresses.ts';
import type { ForgedCall, Forgery } from './forged-transaction.ts';
import { MAGIC_EDEN, namedCall, ORCA, saleOf } from './forged-words.ts';
import {
  ALONE,
  type Attack,
  type Attacks,
  anchor,
  BONK,
  bonk,
  buffer,
  decoy,
  emptied,
  GAME,
  JUPITER,
  key,
  newAccount,
  nft,
  onlyIn,
  ownNft,
  PYTH,
  pool,
  poolBonk,
  poolUsdc,
  program,
  RAYDIUM,
  routedSwapOf,
  SQUADS,
  secondEmptied,
  stake,
  stolenBonk,
  stolenNft,
  stolenSol,
  stolenUsdc,
  stolenUsdt,
  swapBackOf,
  swapOf,
  sysvar,
  table,
  thief,
  traded,
  USDC,
  u32,
  unnamed,
  usdc,
  usdt,
  vault,
  victim,
  wsol,
} from './forged-world.ts';
import { addressOf, u64Bytes } from './synthetic-transaction.ts';

const PYTH_RECEIVER = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ';
const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';
const NATIVE_2022 = '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP';
const JITO = 'T1pyyaTNZsKv2WcRAB8oVnk93mLJw2XzjtVYqCsaHqt';
const [seller, buyer, secondBuyer] = [addressOf(64), addressOf(68), addressOf(69)];

/** Turns a wallet that signs into a token account of somebody. */
const turnInto = (f: Forgery, account: string, owner: string): readonly ForgedCall[] => [
  f.call(SYSTEM_PROGRAM, [account], [...u32(8), ...u64Bytes(165n)]),
  f.assign(account, TOKEN_PROGRAM),
  f.open(account, owner, USDC),
];

/** Makes a nonce account of a wallet that signs. */
const nonceOf = (f: Forgery, account: string, authority: string): readonly ForgedCall[] => [
  f.call(SYSTEM_PROGRAM, [account], [...u32(8), ...u64Bytes(80n)]),
  f.call(SYSTEM_PROGRAM, [account, sysvar, RENT_SYSVAR], [...u32(6), ...key(authority)]),
];

/** Makes a stake of somebody of an account that is there. */
const stakeFor = (f: Forgery, holder: string): ForgedCall =>
  f.call(
    STAKE_PROGRAM,
    [stake, RENT_SYSVAR],
    [...u32(0), ...key(holder), ...key(holder), ...Array<number>(48).fill(0)],
  );

/** A sale for 1 SOL that a signer pays, whoever buys. */
const saleTo = (f: Forgery, to: string, mint: string): ForgedCall =>
  saleOf(to, mint, f.sendSol(victim, seller, 1_000_000_000n));

const mintBy = (authority: string, minted: ForgedCall): ForgedCall => ({
  ...minted,
  accounts: [...minted.accounts.slice(0, 2), authority],
});

/** Burns the victim's NFT by Token Metadata, which closes its account. */
const burnNft = (f: Forgery): ForgedCall =>
  namedCall(
    METADATA_PROGRAM,
    [29],
    { 1: victim, 2: nft, 3: ownNft },
    f.burn(ownNft, victim, 1n),
    f.close(ownNft, victim, victim),
  );

/** What a thief's program has the victim send, for a unit of a token. */
const forUnit = (f: Forgery, ...taken: readonly ForgedCall[]): readonly ForgedCall[] => [
  ...taken,
  f.send(stolenBonk, bonk, thief, 1n),
];

/** 12,000 USDC that the victim sends to a thief, whose program trades some and passes on some BONK. */
const keptByRouter = (
  traded: bigint,
  paid: bigint,
  passedOn: bigint,
  tradedBack: (forgery: Forgery) => readonly ForgedCall[] = () => [],
): Attack => ({
  make: (f) => {
    const trade = routedSwapOf(f, { sent: 12_000_000_000n, traded, paid, passedOn });
    return [unnamed(f, ...trade, f.program(RAYDIUM, [pool], ...tradedBack(f)))];
  },
  says: [`${victim} sent 12000 USDC to ${thief} through the program ${program}`],
  never: /swap/,
  only: ALONE,
});

/** Makes an account of a new token, and mints a unit of it to the victim. */
function mintUnit(f: Forgery, decimals: number): ForgedCall {
  f.hold(newAccount, victim, addressOf(76), 0n, decimals);
  return f.mint(newAccount, 1n);
}

const anywhere: Attacks = {
  'a wallet that is turned into a token account of its own, whose right to close passes': {
    signers: [victim, newAccount],
    make: (f) => [...turnInto(f, newAccount, newAccount), f.pass(newAccount, 3, newAccount, thief)],
    says: [`${newAccount} gave its wallet ${newAccount} (which holds 100 SOL) away`, thief],
    only: ['alone', 'beside a swap on Raydium'],
  },
  'a wallet that becomes the nonce account of a thief that signs': {
    signers: [victim, newAccount, thief],
    make: (f) => nonceOf(f, newAccount, thief),
    says: [`gave ${thief} the authority of ${newAccount} (which holds 100 SOL)`],
    only: ['alone', 'beside a swap on Raydium'],
  },
  'a stake with SOL of earlier, made for a thief that signs': {
    signers: [victim, thief],
    make: (f) => [
      f.call(
        STAKE_PROGRAM,
        [stake, RENT_SYSVAR],
        [...u32(0), ...key(thief), ...key(thief), ...Array<number>(48).fill(0)],
      ),
    ],
    says: [`${victim} gave ${thief} the right to withdraw of ${stake} (which holds 30 SOL)`],
    only: ['alone', 'beside a swap on Raydium'],
  },
  'a vault that a multisig gives to a program': {
    make: (f) => [f.program(SQUADS, [victim], f.assign(vault, program))],
    says: [`${vault} gave its wallet ${vault} (which holds 30 SOL) away to the program ${program}`],
    only: ['alone', 'beside a swap on Raydium'],
  },
  'SOL of an account that is closed, of more bytes than others have': {
    make: (f) => {
      f.fund(emptied, 6_002_074_080n);
      return [
        f.call(TOKEN_2022_PROGRAM, [emptied, thief, victim], [38], { lamports: 6_000_000_000n }),
        f.close(emptied, victim, victim),
      ];
    },
    says: [`${victim} sent 6 SOL to ${thief}`],
    never: /0000348/,
    only: [...ALONE, 'beside a swap on Raydium'],
  },
  'a lookup table that is deactivated beside a closed account': {
    make: (f) => [f.call(LOOKUP_TABLE_PROGRAM, [table, victim], u32(3)), f.close(emptied, victim, victim)],
    says: [`${victim} deactivated the lookup table ${table}`],
    only: [...ALONE, 'beside a swap on Raydium', 'in the call of a program that swaps'],
  },
  'tokens of which a program trades a part on an exchange': keptByRouter(11_999_999_999n, 300_000n, 300_000n),
  'what an exchange pays a program, which passes on a part': keptByRouter(12_000_000_000n, 300_000n, 280_000n),
  'tokens that an exchange gets for nothing in the call of a program': keptByRouter(12_000_000_000n, 0n, 1n),
};

const besideLittle = onlyIn(ALONE, {
  'rent that an oracle pays back': {
    make: (f) => [f.call(PYTH_RECEIVER, [vault, victim], anchor('reclaim_rent'), { lamports: 1_825_000n })],
    says: [`${victim} called the Pyth program (reclaim_rent) and got 0.001825 SOL`],
  },
  'a right to close that goes back to the owner': {
    make: (f) => [f.call(TOKEN_PROGRAM, [usdc, victim], [6, 3, 0])],
    says: [`${victim} left the right to close of ${usdc} (which holds 50000 USDC) to its owner`],
  },
  'an account that is made ready for a program': {
    make: (f) => [f.call(UPGRADEABLE_LOADER, [buffer, victim], u32(0))],
    says: [`${victim} made the account ${buffer} ready for a program`],
  },
  'two programs that are deployed': {
    make: () =>
      [program, newAccount].map((deployed) =>
        namedCall(UPGRADEABLE_LOADER, [...u32(2), ...u64Bytes(5_000n)], {
          0: victim,
          2: deployed,
          3: buffer,
          7: victim,
        }),
      ),
    says: [`${victim} put the programs ${program} and ${newAccount} on the chain`],
  },
  'a program that is deployed beside the extension of another': {
    make: () => [
      namedCall(UPGRADEABLE_LOADER, [...u32(6), 0, 4, 0, 0], { 1: program }),
      namedCall(UPGRADEABLE_LOADER, [...u32(2), ...u64Bytes(5_000n)], {
        0: victim,
        2: newAccount,
        3: buffer,
        7: victim,
      }),
    ],
    says: [`${victim} put the program ${newAccount} on the chain`],
  },
  'an NFT that a program gets beside a call of a marketplace': {
    make: (f) => [f.program(MAGIC_EDEN, [victim]), unnamed(f, ...forUnit(f, f.send(ownNft, stolenNft, victim, 1n)))],
    says: [`${victim} sent the NFT ${nft} to ${thief} through the program ${program}`],
    never: /Magic Eden/,
  },
  'tokens that a program gets which calls an exchange for nothing': {
    make: (f) => [
      unnamed(f, f.program(RAYDIUM, [pool]), ...forUnit(f, f.send(usdc, stolenUsdc, victim, 12_000_000_000n))),
    ],
    says: [`${victim} sent 12000 USDC to ${thief} through the program ${program}`],
    never: /swap|trade/,
  },
  'tokens that a program trades on an exchange, and back': keptByRouter(12_000_000_000n, 300_000n, 300_000n, (f) => [
    f.send(stolenBonk, poolBonk, thief, 300_000n),
    f.send(poolUsdc, stolenUsdc, pool, 11_000_000_000n),
  ]),
  'tokens that a program gets beside those that it trades': {
    make: (f) => {
      const amounts = { sent: 50_000_000n, traded: 50_000_000n, paid: 300_000n, passedOn: 300_000n };
      f.hold(newAccount, decoy, USDC, 0n);
      const taken = f.send(usdc, newAccount, victim, 12_000_000_000n);
      return [unnamed(f, ...routedSwapOf(f, amounts), taken)];
    },
    says: [`12000 USDC to ${decoy}`],
    never: /swapped 12/,
  },
  'tokens that a program gets, and as many that an exchange gets of the wallet': {
    make: (f) => [
      unnamed(
        f,
        f.program(RAYDIUM, [pool], f.send(usdc, poolUsdc, victim, 12_000_000_000n)),
        f.program(ORCA, [pool], f.send(poolBonk, bonk, pool, 1n)),
        ...forUnit(f, f.send(usdc, stolenUsdc, victim, 12_000_000_000n)),
      ),
    ],
    says: [`12000 USDC to ${thief}`],
  },
  'tokens of two kinds that a program gets which calls an exchange for nothing': {
    make: (f) => [
      unnamed(
        f,
        f.program(JUPITER, [pool]),
        f.send(usdc, stolenUsdc, victim, 9_000_000n),
        f.send(usdt, stolenUsdt, victim, 8_000_000n),
      ),
    ],
    says: ['9 USDC', '8 USDT', thief],
    never: /Jupiter|trade/,
  },
  'what is paid to a thief in the call that mints a token': {
    make: (f) => [unnamed(f, mintUnit(f, 6), f.send(usdc, stolenUsdc, victim, 9_000_000_000n))],
    says: [`${victim} sent 9000 USDC to ${thief} through the program ${program}`],
  },
  'what is paid to a thief in the call that mints an NFT': {
    make: (f) => [
      unnamed(
        f,
        mintUnit(f, 0),
        namedCall(METADATA_PROGRAM, [33], { 2: addressOf(76) }),
        f.send(usdc, stolenUsdc, victim, 9_000_000_000n),
      ),
    ],
    says: [`${victim} sent 9000 USDC to ${thief} through the program ${program}`],
  },
  'SOL that Token-2022 wraps': {
    make: (f) => {
      const [own, stolen] = [addressOf(81), addressOf(82)];
      f.hold(own, victim, NATIVE_2022, 3_000_000_000n, 9);
      f.hold(stolen, thief, NATIVE_2022, 0n, 9);
      f.fund(own, 3_002_039_280n);
      f.sendSol(own, stolen, 3_000_000_000n);
      return [{ ...f.send(own, stolen, victim, 3_000_000_000n), programId: TOKEN_2022_PROGRAM }];
    },
    says: [`${victim} sent 3 SOL to ${thief}`],
    never: / left |of the token/,
  },
});

const byThemselves = onlyIn(['alone'], {
  'SOL that a helper pays beside a program': {
    make: (f) => [f.call(JITO, [vault, victim], [1], { lamports: 3_000_000_000n }), f.program(program, [victim])],
    says: [`${victim} received 3 SOL through Jito tips`],
  },
  'SOL of an account that a guard reads afterwards': {
    make: (f) => [f.call(program, [vault, victim], [1], { lamports: 3_000_000_000n }), f.program(LIGHTHOUSE, [vault])],
    says: [`${victim} received 3 SOL through the program ${program}`],
  },
  'SOL that a guard pays back beside a program': {
    make: (f) => [f.call(LIGHTHOUSE, [vault, victim], [1], { lamports: 3_000_000n }), f.program(program, [victim])],
    says: [`${victim} received 0.003 SOL through Lighthouse`],
  },
  'SOL that two accounts of a program pay to a stranger': {
    make: (f) => [
      f.call(program, [vault, thief], [1], { lamports: 3_000_000n }),
      f.call(program, [buffer, thief], [1], { lamports: 2_000_000n }),
    ],
    says: [`${thief} got 0.005 SOL through the program ${program}`],
    never: / sent /,
  },
  'wrapped SOL that passes with its account in the call of a program': {
    make: (f) => [unnamed(f, f.giveAway(wsol, victim, thief))],
    says: [`passed the ownership of ${wsol} (which holds 50 SOL)`, thief],
    never: /paid|50\.0/,
  },
  'an NFT that passes with its account in the call of a marketplace': {
    make: (f) => [f.program(MAGIC_EDEN, [victim], f.giveAway(ownNft, victim, thief))],
    says: [`passed the ownership of ${ownNft} (which holds the NFT ${nft})`, thief],
    never: /paid/,
  },
  'a wallet that is turned into a token account of another': {
    signers: [victim, newAccount],
    make: (f) => [...turnInto(f, newAccount, victim), traded(f)],
    says: [
      `${newAccount} passed the ownership of ${newAccount} (which holds 100 SOL) from ${newAccount} to ${victim}`,
      'swapped 1000 USDC for 12.34567 BONK on Raydium',
    ],
    never: /100 SOL more|got 100 SOL|gave its wallet/,
  },
  'the wallet that pays the fee, turned into a token account of a thief': {
    make: (f) => turnInto(f, victim, thief),
    says: [`${victim} passed the ownership of ${victim} (which holds 99.999995 SOL) from ${victim} to ${thief}`],
    never: / got /,
  },
  'a wallet that is turned into a token account of another, which passes it on': {
    signers: [victim, newAccount],
    make: (f) => [...turnInto(f, newAccount, victim), f.giveAway(newAccount, victim, thief)],
    says: [`passed the ownership of ${newAccount} from ${victim} to ${thief}`],
  },
  'a wallet that becomes the nonce account of a thief that pays the fee': {
    signers: [thief, victim],
    make: (f) => nonceOf(f, victim, thief),
    says: [`${thief} got the authority of ${victim} (which holds 100 SOL)`],
  },
  'a stake with SOL of earlier, made for a thief that sends it tokens': {
    signers: [victim, thief],
    holds: [[emptied, stake, BONK, 0n, 5]],
    make: (f) => [f.send(stolenBonk, emptied, thief, 40_000_000_000n), stakeFor(f, thief)],
    says: [`gave ${thief} the right to withdraw of ${stake} (which holds 30 SOL)`],
  },
  'a stake with SOL of earlier, made for a thief that pays into it afterwards': {
    signers: [victim, thief],
    make: (f) => [stakeFor(f, thief), f.sendSol(thief, stake, 30_000_000_000n)],
    says: [`gave ${thief} the right to withdraw of ${stake} (which holds 30 SOL)`],
  },
  'SOL of an account that a program moves on after it was closed': {
    make: (f) => {
      f.fund(emptied, 5_002_039_280n);
      return [
        f.call(TOKEN_2022_PROGRAM, [emptied, vault, victim], [38], { lamports: 5_000_000_000n }),
        f.close(emptied, thief, victim),
        f.call(GAME, [vault, thief], [1], { lamports: 6_000_000_000n }),
      ];
    },
    says: [`${victim} sent 5 SOL to ${vault}`, `whose 0.00203928 SOL went to ${thief}`],
    never: /-1/,
  },
  'SOL of an account that gets more than that back': {
    make: (f) => {
      f.fund(emptied, 1_002_039_280n);
      return [
        f.call(TOKEN_2022_PROGRAM, [emptied, thief, victim], [38], { lamports: 1_000_000_000n }),
        f.sendSol(victim, emptied, 1_500_000_000n),
      ];
    },
    says: [`${victim} sent 1 SOL to ${thief}`],
    never: / more |got/,
  },
  'SOL of two accounts that both get some of it back': {
    make: (f) => {
      f.fund(emptied, 5_002_039_280n);
      f.fund(secondEmptied, 3_002_039_280n);
      return [
        f.call(TOKEN_2022_PROGRAM, [emptied, thief, victim], [38], { lamports: 5_000_000_000n }),
        f.call(TOKEN_2022_PROGRAM, [secondEmptied, thief, victim], [38], { lamports: 3_000_000_000n }),
        f.sendSol(victim, emptied, 1_000_000_000n),
        f.sendSol(victim, secondEmptied, 500_000_000n),
      ];
    },
    says: [`${victim} sent 8 SOL to ${thief}`],
    never: / more |got/,
  },
  'SOL of an account that gets some of it back': {
    make: (f) => {
      f.fund(emptied, 6_002_074_080n);
      return [
        f.call(TOKEN_2022_PROGRAM, [emptied, thief, victim], [38], { lamports: 6_000_000_000n }),
        f.sendSol(victim, emptied, 1_000_000_000n),
      ];
    },
    says: [`${victim} sent 6 SOL to ${thief}`],
    never: / more |got/,
  },
  'two NFTs that somebody pays for and others buy': {
    make: (f) => [saleTo(f, buyer, addressOf(201)), saleTo(f, secondBuyer, addressOf(202))],
    says: [`${seller} sold the NFT`, `${victim} also sent 2 SOL to ${seller}`],
    never: /bought|for 2 SOL/,
  },
  'what a buyer pays where another one buys of the same seller for nothing': {
    make: (f) => [saleTo(f, victim, addressOf(201)), saleOf(secondBuyer, addressOf(202))],
    says: [`${seller} sold the NFT`, `${victim} also sent 1 SOL to ${seller}`],
    never: /for 1 SOL/,
  },
  'an NFT that somebody pays for and another one buys': {
    make: (f) => [saleTo(f, buyer, nft)],
    says: [`${buyer} bought the NFT ${nft}`, `${victim} also sent 1 SOL to ${seller}`],
    never: /for 1 SOL/,
  },
  'an NFT that a sponsor pays a part of': {
    signers: [victim, buyer],
    make: (f) => [
      saleOf(buyer, nft, f.sendSol(buyer, seller, 1_000_000_000n), f.sendSol(victim, seller, 500_000_000n)),
    ],
    says: [
      `${buyer} bought the NFT ${nft}`,
      `also sent 1 SOL to ${seller}`,
      `${victim} also sent 0.5 SOL to ${seller}`,
    ],
    never: /1\.5/,
  },
  'an NFT that a delegate buys with what another has': {
    signers: [thief],
    make: (f) => [saleOf(thief, nft, f.send(usdc, poolUsdc, thief, 1_000_000_000n))],
    says: [`${thief} bought the NFT ${nft}`, `${thief}, as delegate, moved 1000 USDC of ${victim} to ${pool}`],
    never: /for 1000 USDC/,
  },
  'SOL of an account whose NFT is burned, sent elsewhere before': {
    make: (f) => {
      f.fund(ownNft, 6_002_039_280n);
      return [f.call(TOKEN_2022_PROGRAM, [ownNft, thief, victim], [38], { lamports: 6_000_000_000n }), burnNft(f)];
    },
    says: [`${victim} sent 6 SOL to ${thief}`, `burned the NFT ${nft}`],
    never: /got|6\.002/,
  },
  'SOL that a program pays beside the burn of an NFT': {
    make: (f) => [burnNft(f), f.call(program, [vault, victim], [1], { lamports: 3_000_000_000n })],
    says: [`burned the NFT ${nft} and got back 0.00203928 SOL of rent`, `3 SOL from ${vault} through the program`],
  },
  'wrapped SOL of a closed account beside the burn of an NFT': {
    make: (f) => [burnNft(f), unnamed(f, f.close(stolenSol, victim, program))],
    says: [`burned the NFT ${nft} and got back 0.00203928 SOL of rent`, '50.00203928 SOL of closed accounts'],
  },
  'tokens that another signer mints beside a payment': {
    signers: [victim, thief],
    make: (f) => [f.sendSol(victim, buyer, 1n), mintBy(thief, f.mint(stolenBonk, 9_000_000n))],
    says: [`${thief} minted 90 BONK`],
  },
  'tokens that two signers mint': {
    signers: [victim, thief],
    make: (f) => [mintBy(victim, f.mint(bonk, 1_000_000n)), mintBy(thief, f.mint(poolUsdc, 90_000_000n))],
    says: [`${victim} minted 10 BONK; ${pool} also got 90 USDC`],
  },
  'tokens that a program and a signer mint': {
    signers: [victim, thief],
    make: (f) => [unnamed(f, f.mint(bonk, 1_000_000n)), mintBy(thief, f.mint(stolenUsdc, 90_000_000n))],
    says: [`${thief} minted 90 USDC; ${victim} also got 10 BONK through the program ${program}`],
  },
  'tokens that a program mints to a stranger beside those of a signer': {
    make: (f) => [mintBy(victim, f.mint(bonk, 1_000_000n)), f.program(program, [], f.mint(stolenBonk, 90_000_000n))],
    says: [`${victim} minted 10 BONK; ${thief} also got 900 BONK through the program ${program}`],
  },
  'tokens that two programs mint to strangers': {
    make: (f) => [
      f.program(program, [], f.mint(stolenBonk, 9_000_000n)),
      f.program(addressOf(204), [], f.mint(poolUsdc, 90_000_000n)),
    ],
    says: [`minted 90 BONK to ${thief} through`, `${pool} also got 90 USDC through the program ${addressOf(204)}`],
  },
  'a program that is replaced in a call beside its extension': {
    make: (f) => [
      f.call(UPGRADEABLE_LOADER, [addressOf(205), program, SYSTEM_PROGRAM, victim], [...u32(6), ...u32(1000)]),
      f.program(
        addressOf(204),
        [],
        f.call(UPGRADEABLE_LOADER, [addressOf(205), program, buffer, victim, RENT_SYSVAR, sysvar, victim], u32(3), {
          lamports: 0n,
        }),
      ),
    ],
    says: [`replaced the program ${program} by a new version`],
  },
  'a mint that is closed and made again with other decimals': {
    make: (f) => {
      const mint = addressOf(203);
      f.fund(mint, 1_461_600n);
      f.hold(emptied, victim, mint, 100_000_000n);
      const calls = [
        f.burn(emptied, victim, 100_000_000n),
        { ...f.close(mint, victim, victim), programId: TOKEN_2022_PROGRAM },
        f.create(victim, mint, 1_461_600n, TOKEN_2022_PROGRAM, 82n),
        f.call(TOKEN_2022_PROGRAM, [mint], [20, 2, ...key(victim), 0]),
      ];
      f.open(emptied, victim, mint, 2);
      return [...calls, mintBy(victim, f.mint(emptied, 700n))];
    },
    says: [`${victim} minted 7 of the token ${addressOf(203)}`, 'burned 100 of the token'],
    never: /000/,
  },
  'an unknown call of an oracle': {
    make: (f) => [f.program(PYTH, [victim])],
    says: [`${victim} called the Pyth program`],
  },
  'a trade of others beside a call of another exchange': {
    signers: [seller],
    make: (f) => [f.program(JUPITER, [seller]), f.program(program, [seller], f.program(ORCA, [pool], ...swapOf(f)))],
    says: ['1000 USDC', '12.34567 BONK'],
    never: /Jupiter/,
  },
  'a trade of others in no exchange, beside a call of one': {
    signers: [seller],
    make: (f) => [f.program(RAYDIUM, [seller]), f.program(program, [seller], ...swapOf(f))],
    says: ['1000 USDC', '12.34567 BONK'],
    never: /Raydium/,
  },
  'a circle beside a call of an exchange that trades nothing': {
    make: (f) => [
      f.program(JUPITER, [victim]),
      unnamed(f, ...[swapOf, swapBackOf].map((leg) => f.program(ORCA, [pool], ...leg(f)))),
    ],
    says: [`${victim} `, '1 USDC'],
    never: /Jupiter/,
  },
  'SOL that a wallet sends to a token account of its own': {
    make: (f) => [f.sendSol(victim, usdc, 5_000_000_000n)],
    says: [`${victim} sent 5 SOL to itself`],
  },
});

/** Thefts of a seventh kind: records that made a sentence claim what nobody did. */
export const THEFTS_BY_CLAIMS: Attacks = { ...anywhere, ...besideLittle, ...byThemselves };
