import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import {
  CLOCK_SYSVAR,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  METADATA_PROGRAM,
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
  asset,
  BONK,
  BUBBLEGUM,
  bonk,
  buffer,
  CORE,
  decoy,
  delegate,
  freezer,
  instead,
  interfaceTag,
  JUPITER,
  key,
  lookAlike,
  multisig,
  multisigUsdc,
  newAccount,
  nonce,
  pool,
  poolBonk,
  program,
  RAYDIUM,
  SQUADS,
  sponsor,
  stake,
  stolenBonk,
  stolenSol,
  stolenUsdc,
  stolenUsdt,
  sysvar,
  table,
  thief,
  token,
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
  zeros,
} from './forged-world.ts';
import { addressOf, u64Bytes } from './synthetic-transaction.ts';

const DRIFT = 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH';
const MARGINFI = 'MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA';
/** Scenes in which another program is credited, or pools pay strangers. */
const SWAPPING = 'in the call of a program that swaps';
const IN_A_MULTISIG = 'in the call of a multisig';
const AFTER_JUPITER = 'after a swap on Jupiter in the call of a program';
const SPONSORED = 'that a sponsor pays for';
const IN_A_DEPOSIT = 'in the call of a program that deposits with a lender';
const NAME_SERVICE = 'namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX';
const ROUTE = 'https://evil.example/claim';

const text8 = (text: string): number[] => [text.length, 0, 0, 0, 0, 0, 0, 0, ...new TextEncoder().encode(text)];
function text4(text: string): number[] {
  const bytes = new TextEncoder().encode(text);
  return [...u32(bytes.length), ...bytes];
}
const INITIALIZE_METADATA = interfaceTag('spl_token_metadata_interface:initialize_account');

/** Removes 4 wrapped SOL from the account that pays them out. */
function unwrappedFrom(f: Forgery): string {
  f.burn(wsol, victim, 4_000_000_000n);
  return wsol;
}

const advance = (f: Forgery): ForgedCall => f.call(SYSTEM_PROGRAM, [nonce, sysvar, victim], u32(4));
const checked = (f: Forgery, from: string, mint: string, to: string, authority: string, amount: bigint): ForgedCall => {
  const sent = f.send(from, to, authority, amount);
  const decimals = mint === WRAPPED_SOL ? 9 : mint === BONK ? 5 : 6;
  return { ...sent, accounts: [from, mint, to, authority], data: [12, ...u64Bytes(amount), decimals] };
};
/** Scenes in which programs do to accounts what is no theft at the top level. */
const IN_CALLS = [SWAPPING, IN_A_MULTISIG, IN_A_DEPOSIT, AFTER_JUPITER];

/**
 * Thefts of rights and by extensions: by seeds, over programs and NFTs, words in other scripts, nonces, accounts that come back,
 * extensions of Token-2022, stakes, votes, loaders, multisigs.
 */
export const THEFTS_OF_RIGHTS: Attacks = {
  'withheld fees withdrawn to a thief': {
    make: (f) => [instead(f.mint(stolenUsdt, 5_000_000n), token(f, [USDT, stolenUsdt, victim, usdt], 26, 3, 1))],
    says: [victim, '5 USDT', 'withheld fees', thief],
  },
  'a fee on each transfer': {
    make: (f) => [token(f, [USDT, victim], 26, 5, 16, 39, ...u64Bytes(ALL))],
    says: ['the fee of each transfer of USDT to 100 %'],
  },
  'wrapped SOL paid out to a thief from an account that stays': {
    make: (f) => [
      f.call(TOKEN_PROGRAM, [wsol, thief, victim], [45, 1, ...u64Bytes(4_000_000_000n)], {
        from: unwrappedFrom(f),
        to: thief,
        lamports: 4_000_000_000n,
      }),
    ],
    says: ['4 SOL', thief],
    never: /closed a token account/,
  },
  'a name passed to a thief': {
    make: (f) => [f.call(NAME_SERVICE, [asset, victim], [2, ...key(thief)])],
    says: [victim, thief, asset],
  },
  'a member added to a multisig': {
    make: (f) => [f.call(SQUADS, [multisig, victim], [...anchor('multisig_add_member'), ...key(thief), 7, 0])],
    says: [victim, thief, multisig, 'Squads'],
  },
  'the authority over a multisig': {
    make: (f) => [f.call(SQUADS, [multisig, victim], [...anchor('multisig_set_config_authority'), ...key(thief), 0])],
    says: [victim, thief, multisig, 'Squads'],
  },
  'an account frozen by a thief that pays': {
    signers: [freezer],
    make: (f) => [f.call(TOKEN_PROGRAM, [usdt, USDT, freezer], [10])],
    says: [`${freezer} `, `froze the account ${usdt} of ${victim}`, '50000 USDT'],
    not: [SWAPPING, IN_A_MULTISIG, IN_A_DEPOSIT, AFTER_JUPITER], // programs freeze accounts of their own
  },
  'an allowance that ends with the ownership': {
    make: (f) => [f.approve(usdt, delegate, victim, ALL), f.giveAway(usdt, victim, thief)],
    says: ['ownership', '50000 USDT', thief],
    never: /allowed/,
  },
  'what is bought sent to a thief': {
    make: (f) => [traded(f, 900_000_000n, 7_000_000n, stolenBonk)],
    says: ['900 USDC', '70 BONK', thief],
    never: /let a program swap/,
  },
  "the right to move everybody's tokens": {
    make: (f) => [f.pass(USDT, 8, victim, thief)],
    says: ["everybody's tokens", thief],
  },
  "a new mint with somebody that can move everybody's tokens": {
    make: (f) => [token(f, [asset], 35, ...key(thief))],
    says: [thief, "everybody's tokens", asset],
    not: [SPONSORED], // nobody signs for it
  },
  'a new mint that somebody can close': {
    make: (f) => [token(f, [asset], 25, 1, ...key(thief))],
    says: [thief, 'close the mint', asset],
    not: [SPONSORED], // nobody signs for it
  },
  'a program in each transfer of a mint': {
    make: (f) => [token(f, [asset, victim], 36, 1, ...key(program))],
    says: ['transfer', asset, program],
  },
  'a program in each transfer of a new mint': {
    make: (f) => [token(f, [asset], 36, 0, ...key(victim), ...key(program))],
    says: ['transfer', asset, program],
  },
  'the right over the program of each transfer': {
    make: (f) => [f.pass(USDT, 10, victim, thief)],
    says: ['each transfer', thief],
  },
  'the right to stop all transfers': {
    make: (f) => [f.pass(USDT, 16, victim, thief)],
    says: ['right to stop', thief],
  },
  'the right to the fees that a token withheld': {
    make: (f) => [f.pass(USDT, 5, victim, thief)],
    says: ['withheld', thief],
  },
  'the guard of an account against programs': {
    make: (f) => [token(f, [usdt, victim], 34, 1)],
    says: ['guard', usdt, '50000 USDT'],
  },
  'the guard of an account, then an allowance': {
    make: (f) => [token(f, [usdt, victim], 34, 1), unnamed(f, f.approve(usdt, thief, victim, ALL))],
    says: ['guard', 'allowed', thief, '50000 USDT'],
  },
  'a hidden amount sent': {
    make: (f) => [
      token(f, [usdt, USDT, stolenUsdt, sysvar, sysvar, sysvar, victim], 27, 7, ...zeros(36 + 128), 0, 0, 0),
    ],
    says: ['hidden amount', thief],
  },
  'tokens hidden, then sent hidden': {
    make: (f) => [
      instead(f.burn(usdt, victim, 9_000_000n), token(f, [usdt, USDT, victim], 27, 5, ...u64Bytes(9_000_000n), 6)),
      token(f, [usdt, USDT, stolenUsdt, sysvar, sysvar, sysvar, victim], 27, 7, ...zeros(36 + 128), 0, 0, 0),
    ],
    says: ['9000000 smallest units', 'hidden amount', thief],
  },
  'an allowance in a batch': {
    make: (f) => [f.call(TOKEN_PROGRAM, [usdt, thief, victim], [255, 3, 9, 4, ...u64Bytes(ALL)])],
    says: ['allowed', thief, 'all tokens', '50000 USDT'],
  },
  'tokens sent in a batch behind a harmless instruction': {
    make: (f) => [
      instead(
        f.send(usdt, stolenUsdt, victim, 8_000_000n),
        f.call(TOKEN_PROGRAM, [wsol, usdt, stolenUsdt, victim], [255, 1, 1, 17, 3, 9, 3, ...u64Bytes(8_000_000n)]),
      ),
    ],
    says: ['8 USDT', thief],
  },
  'an account given away in a batch': {
    make: (f) => [
      instead(
        f.giveAway(usdt, victim, thief),
        f.call(TOKEN_PROGRAM, [usdt, victim], [255, 2, 35, 6, 2, 1, ...key(thief)]),
      ),
    ],
    says: ['ownership', '50000 USDT', thief],
  },
  'a wallet that is created again for a program': {
    make: (f) => [f.call(SYSTEM_PROGRAM, [victim], [...u32(13), ...u64Bytes(0n), ...u64Bytes(0n), ...key(program)])],
    says: ['gave its wallet', 'away', program],
  },
  'an address with a seed allocated for a program': {
    make: (f) => [
      f.call(
        SYSTEM_PROGRAM,
        [buffer, victim],
        [...u32(9), ...key(victim), ...text8('a'), ...u64Bytes(0n), ...key(program)],
      ),
    ],
    says: [buffer, 'away', program],
  },
  'a nonce account in the hands of a thief': {
    make: (f) => [
      f.create(victim, newAccount, 5_000_000_000n, SYSTEM_PROGRAM, 80n),
      f.call(SYSTEM_PROGRAM, [newAccount, sysvar, RENT_SYSVAR], [...u32(6), ...key(thief)]),
    ],
    says: ['authority', newAccount, thief],
  },
  'a buffer in the hands of a thief': {
    make: (f) => [
      f.create(victim, newAccount, 9_000_000_000n, UPGRADEABLE_LOADER, 100_000n),
      f.call(UPGRADEABLE_LOADER, [newAccount, thief], u32(0)),
    ],
    says: ['right to upgrade', newAccount, thief],
  },
  'a lookup table in the hands of a thief': {
    make: (f) => [
      {
        ...f.call(LOOKUP_TABLE_PROGRAM, [newAccount, thief, victim, SYSTEM_PROGRAM], [...u32(0), ...u64Bytes(7n), 255]),
        inner: [f.sendSol(victim, newAccount, 1_280_640n)],
      },
    ],
    says: [newAccount, thief],
  },
  'a vote account in the hands of a thief': {
    make: (f) => [
      f.create(victim, newAccount, 27_074_400n, VOTE_PROGRAM, 3762n),
      f.call(
        VOTE_PROGRAM,
        [newAccount, RENT_SYSVAR, CLOCK_SYSVAR, victim],
        [...u32(0), ...key(victim), ...key(victim), ...key(thief), 100],
      ),
    ],
    says: ['right to withdraw', newAccount, thief],
  },
  'SOL behind the advance of a nonce': {
    make: (f) => [f.call(SYSTEM_PROGRAM, [nonce, sysvar, victim], u32(4)), f.sendSol(victim, thief, 7_000_000_000n)],
    says: ['7 SOL', thief],
    never: /^\S+ advanced the nonce[^;]*$/,
  },
  'an allowance behind the advance of a nonce': {
    make: (f) => [f.call(SYSTEM_PROGRAM, [nonce, sysvar, victim], u32(4)), f.approve(usdt, thief, victim, ALL)],
    says: ['allowed', thief, '50000 USDT'],
  },
  "SOL wrapped in a thief's account": {
    make: (f) => [
      f.sendSol(victim, stolenSol, 7_000_000_000n),
      instead(f.mint(stolenSol, 7_000_000_000n), f.call(TOKEN_PROGRAM, [stolenSol], [17])),
    ],
    says: ['7 SOL', thief],
  },
  'SOL wrapped and sent with what was there': {
    make: (f) => [
      f.sendSol(victim, wsol, 7_000_000_000n),
      instead(f.mint(wsol, 7_000_000_000n), f.call(TOKEN_PROGRAM, [wsol], [17])),
      f.send(wsol, stolenSol, victim, 57_000_000_000n),
    ],
    says: ['57 SOL', thief],
  },
  'wrapped SOL sent by a program that wraps for it': {
    make: (f) => [
      unnamed(
        f,
        f.sendSol(victim, wsol, 2_000_000_000n),
        instead(f.mint(wsol, 2_000_000_000n), f.call(TOKEN_PROGRAM, [wsol], [17])),
        f.send(wsol, stolenSol, victim, 52_000_000_000n),
      ),
    ],
    says: ['52 SOL', thief],
  },
  "a stake merged into a thief's": {
    make: (f) => [
      f.call(STAKE_PROGRAM, [newAccount, stake, CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, victim], u32(7), {
        from: stake,
        to: newAccount,
        lamports: 30_000_000_000n,
      }),
    ],
    says: [stake, newAccount, '30 SOL'],
  },
  'stake moved to another account': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, newAccount, victim], [...u32(16), ...u64Bytes(8_000_000_000n)], {
        lamports: 8_000_000_000n,
      }),
    ],
    says: ['8 SOL', stake, newAccount],
  },
  'lamports of a stake moved to another account': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, newAccount, victim], [...u32(17), ...u64Bytes(8_000_000_000n)], {
        lamports: 8_000_000_000n,
      }),
    ],
    says: ['8 SOL', stake, newAccount],
  },
  'a part of a stake split off and given away': {
    make: (f) => [
      f.call(STAKE_PROGRAM, [stake, newAccount, victim], [...u32(3), ...u64Bytes(8_000_000_000n)], {
        lamports: 8_000_000_000n,
      }),
      f.authorizeStake(newAccount, victim, thief, 1),
    ],
    says: ['8 SOL', 'right to withdraw', newAccount, thief],
  },
  'the right to withdraw a stake, by a seed': {
    make: (f) => [
      f.call(
        STAKE_PROGRAM,
        [stake, victim, CLOCK_SYSVAR],
        [...u32(8), ...key(thief), ...u32(1), ...text8('a'), ...key(SYSTEM_PROGRAM)],
      ),
    ],
    says: ['right to withdraw', '30 SOL', thief],
  },
  'the right to withdraw a stake, signed by both': {
    signers: [victim, thief],
    make: (f) => [f.call(STAKE_PROGRAM, [stake, CLOCK_SYSVAR, victim, thief], [...u32(10), ...u32(1)])],
    says: ['right to withdraw', '30 SOL', thief],
  },
  'a lock-up with a custodian that signs': {
    signers: [victim, thief],
    make: (f) => [f.call(STAKE_PROGRAM, [stake, victim, thief], [...u32(12), 1, ...u64Bytes(4_070_908_800n), 0])],
    says: [stake, thief, '2099'],
  },
  'the commissions of a vote account': {
    make: (f) => [f.call(VOTE_PROGRAM, [vote, thief, victim], [...u32(17), ...u32(0)])],
    says: [vote, thief],
  },
  'the identity of a validator': {
    make: (f) => [f.call(VOTE_PROGRAM, [vote, thief, victim], u32(4))],
    says: [vote, thief],
  },
  'the right to withdraw from a vote account, by a seed': {
    make: (f) => [
      f.call(
        VOTE_PROGRAM,
        [vote, CLOCK_SYSVAR, victim],
        [...u32(10), ...u32(1), ...key(SYSTEM_PROGRAM), ...text8('a'), ...key(thief)],
      ),
    ],
    says: ['right to withdraw', vote, thief],
  },
  'an upgrade whose buffer pays a thief': {
    make: (f) => [
      f.call(UPGRADEABLE_LOADER, [addressOf(49), program, buffer, thief, RENT_SYSVAR, CLOCK_SYSVAR, victim], u32(3), {
        from: buffer,
        to: thief,
        lamports: 30_000_000_000n,
      }),
    ],
    says: ['30 SOL', thief],
  },
  'a program closed for its lamports': {
    make: (f) => [f.call(UPGRADEABLE_LOADER, [buffer, thief, victim, program], u32(5), { lamports: 30_000_000_000n })],
    says: ['30 SOL', thief, program],
  },
  'the right to upgrade a program given up': {
    make: (f) => [f.call(UPGRADEABLE_LOADER, [buffer, victim], u32(4))],
    says: ['right to upgrade', buffer, 'for good'],
  },
  'the right to upgrade a program, signed by both': {
    signers: [victim, thief],
    make: (f) => [f.call(UPGRADEABLE_LOADER, [buffer, victim, thief], u32(7))],
    says: ['right to upgrade', buffer, thief],
  },
  'the right over a program of the newer loader': {
    signers: [victim, thief],
    make: (f) => [f.call(LOADER_V4, [buffer, victim, thief], u32(5))],
    says: ['right to upgrade', buffer, thief],
  },
  'a lookup table that never changes again': {
    make: (f) => [f.call(LOOKUP_TABLE_PROGRAM, [table, victim], u32(1))],
    says: [table, 'for good'],
  },
  'a delegate of a compressed NFT': {
    make: (f) => [
      f.call(
        BUBBLEGUM,
        [sysvar, victim, victim, thief, table, sysvar, sysvar, SYSTEM_PROGRAM],
        [...anchor('delegate'), ...zeros(96), ...u64Bytes(5n), ...u32(5)],
      ),
    ],
    says: [thief, 'delegate'],
  },
  'a delegate of an NFT of Metaplex Core': {
    make: (f) => [f.call(CORE, [asset, CORE, victim, victim, SYSTEM_PROGRAM, CORE], [8, 3, 3, ...key(thief)])],
    says: [asset, thief],
  },
  'a delegate added to an NFT of Metaplex Core': {
    make: (f) => [f.call(CORE, [asset, CORE, victim, victim, SYSTEM_PROGRAM, CORE], [2, 3, 1, 3, ...key(thief)])],
    says: [asset, thief],
  },
  'a delegate of a programmable NFT': {
    make: (f) => [
      f.call(
        METADATA_PROGRAM,
        [METADATA_PROGRAM, thief, sysvar, METADATA_PROGRAM, sysvar, asset, usdt, victim, victim],
        [44, 3, ...u64Bytes(1n), 0],
      ),
    ],
    says: [asset, thief],
  },
  'the update authority of metadata': {
    make: (f) => [
      f.call(
        METADATA_PROGRAM,
        [victim, METADATA_PROGRAM, METADATA_PROGRAM, asset, sysvar],
        [50, 0, 1, ...key(thief), 0, 0, 0, 0, 0, 0, 0, 0],
      ),
    ],
    says: [asset, thief],
  },
  'the update authority of metadata behind new metadata': {
    make: (f) => [
      f.call(
        METADATA_PROGRAM,
        [sysvar, victim],
        [
          ...[15, 1, ...text4('Gift'), ...text4('GIFT'), ...text4(ROUTE), 0, 0, 1, ...u32(1)],
          ...[...key(victim), 1, 100, 0, 0, 1, ...key(thief), 0, 0],
        ],
      ),
    ],
    says: [sysvar, thief],
  },
  'a delegate of an account with an exchange of perpetuals': {
    make: (f) => [f.call(DRIFT, [vote, victim], [...anchor('update_user_delegate'), 0, 0, ...key(thief)])],
    says: [vote, thief, 'Drift'],
  },
  'an account with a lender given to somebody': {
    make: (f) => [f.call(MARGINFI, [vote, table, victim, thief], anchor('set_new_account_authority'))],
    says: [vote, thief, 'marginfi'],
  },
  'what two wallets that signed lose': {
    signers: [sponsor, victim],
    make: (f) => [f.sendSol(sponsor, thief, 3_000_000_000n), f.send(usdt, stolenUsdt, victim, 6_000_000n)],
    says: [sponsor, '3 SOL', victim, '6 USDT', thief],
  },
  'tokens that a thief pays the fee for': {
    signers: [thief, victim],
    make: (f) => [f.send(usdc, stolenUsdc, victim, 20_000_000_000n)],
    says: [victim, '20000 USDC', thief],
  },
  'an allowance that a thief pays the fee for': {
    signers: [thief, victim],
    make: (f) => [f.approve(usdt, thief, victim, ALL)],
    says: [`${victim} `, 'allowed', thief, '50000 USDT'],
  },
  'a wallet given away that a thief pays the fee for': {
    signers: [thief, victim],
    make: (f) => [f.assign(victim, program)],
    says: [victim, 'away', program],
  },
  'tokens of a delegate and of a victim': {
    signers: [delegate, victim],
    make: (f) => [f.send(usdc, stolenUsdc, delegate, 4_000_000n), f.sendSol(delegate, thief, 2_000_000_000n)],
    says: [`${delegate}, as delegate, moved 4 USDC of ${victim} to ${thief}`, '2 SOL'],
  },
  'an order that is filled for nothing': {
    signers: [sponsor, victim],
    make: (f) => [
      f.program(
        RAYDIUM,
        [pool],
        f.send(usdc, stolenUsdc, victim, 100_000_000n),
        f.send(stolenBonk, poolBonk, thief, 1n),
      ),
    ],
    says: [victim, '100 USDC', thief],
  },
  'what looks like Jupiter with an allowance': {
    make: (f) => [f.program(lookAlike(JUPITER), [victim], f.approve(usdt, thief, victim, ALL))],
    says: ['allowed', thief, '50000 USDT'],
  },
  "rent for a thief's account": {
    make: (f) => [
      {
        ...token(f, [stolenUsdt, victim, SYSTEM_PROGRAM, thief], 29, 8, 0),
        inner: [f.sendSol(victim, stolenUsdt, 10_000_000n)],
      },
    ],
    says: ['0.01 SOL', thief],
  },
  'an account of a thief made large': {
    make: (f) => [f.create(victim, wallet, 73_000_000_000n, program, 10_485_760n)],
    says: ['73', wallet],
  },
  'a note in Cyrillic that ends its quotation': {
    make: (f) => [
      f.note(MEMO_PROGRAM, 'Возврат” 900 USDC. You got 900 USDC'),
      f.sendSol(victim, thief, 2_000_000_000n),
    ],
    says: ['2 SOL', thief],
    never: /(?<!“[^”]*)You got/,
  },
  'a note with marks of another width': {
    make: (f) => [
      f.note(MEMO_PROGRAM, 'gift＂ 〞 ❞ ″. You got 900 USDC ｅｖｉｌ．ｃｏｍ'),
      f.sendSol(victim, thief, 2_000_000_000n),
    ],
    says: ['2 SOL', thief],
    never: /(?<!“[^”]*)You got|[＂〞❞″]|ｌ．ｃ/,
  },
  'a note that is written from right to left': {
    make: (f) => [f.note(MEMO_PROGRAM, 'החזר 900 USDC'), f.sendSol(victim, thief, 2_000_000_000n)],
    says: ['2 SOL', thief],
    never: /\p{Script=Hebrew}/u,
  },
  'a note with signs that turn the text around': {
    make: (f) => [
      f.note(MEMO_V1_PROGRAM, 'a\u202eCDSU 009 tog uoY\u2066\u0007\u200f'),
      f.sendSol(victim, thief, 2_000_000_000n),
    ],
    says: ['2 SOL', thief],
    never: /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u,
  },
  'a note with signs that nobody sees': {
    make: (f) => [
      f.note(MEMO_PROGRAM, 'a\u{e0041}\u200b\u2060\u3164b\u0334\u0335\u0336\u0337'),
      f.sendSol(victim, thief, 2_000_000_000n),
    ],
    says: ['2 SOL', thief],
    never: /[\u{e0000}-\u{e007f}\u200b\u2060\u3164]|\u0334\u0335/u,
  },
  'a note that is longer than the sentence': {
    make: (f) => [f.note(MEMO_PROGRAM, '安'.repeat(180)), f.sendSol(victim, thief, 2_000_000_000n)],
    says: ['2 SOL', thief],
    never: /安{81}/,
  },
  'a token with the letters of another script for its name': {
    make: (f) => [
      token(
        f,
        [asset, victim, asset, victim],
        ...INITIALIZE_METADATA,
        ...text4('USDС”. You got 900'),
        ...text4('USDС'),
        ...text4(ROUTE),
      ),
      f.send(usdt, stolenUsdt, victim, 5_000_000n),
    ],
    says: ['5 USDT', thief],
    never: /(?<!“[^”]*)You got|evil[.]example/,
  },
  'SOL that a program pays a stranger from its own account': {
    make: (f) => {
      f.sendSol(vault, thief, 5_000_000_000n);
      return [f.program(program, [victim, vault, thief])];
    },
    says: [vault, '5 SOL', thief, program],
    not: [SWAPPING, IN_A_MULTISIG, IN_A_DEPOSIT, AFTER_JUPITER],
  },
  'SOL that a program pays two strangers from its own account': {
    make: (f) => {
      f.sendSol(vault, thief, 5_000_000_000n);
      f.sendSol(vault, wallet, 1_000_000_000n);
      return [f.program(program, [victim, vault, thief, wallet])];
    },
    says: [vault, '5 SOL', thief, '1 SOL', wallet],
    not: [SWAPPING],
  },
  'SOL to a look-alike of the victim': {
    make: (f) => [f.sendSol(victim, lookAlike(victim), 4_000_000_000n)],
    says: ['4 SOL', lookAlike(victim)],
    never: /itself/,
  },
  'SOL in a new account of wrapped SOL with a seed': {
    make: (f) => [
      instead(
        f.create(victim, newAccount, 6_002_039_280n, TOKEN_PROGRAM, 165n),
        f.call(
          SYSTEM_PROGRAM,
          [victim, newAccount],
          [
            ...[...u32(3), ...key(victim), ...text8('a'), ...u64Bytes(6_002_039_280n), ...u64Bytes(165n)],
            ...key(TOKEN_PROGRAM),
          ],
        ),
      ),
      f.open(newAccount, thief, WRAPPED_SOL, 9),
    ],
    says: ['6.00203928 SOL', thief],
  },
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
    not: [SPONSORED],
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
