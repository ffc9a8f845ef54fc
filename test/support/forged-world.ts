import bs58 from 'bs58';
import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import { TOKEN_2022_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { type ForgedCall, Forgery } from './forged-transaction.ts';
import { addressesOf } from './synthetic-transaction.ts';

export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
export const BONK = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';
export const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
export const RAYDIUM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';
export const GAME = 'SAGE2HAwep459SNq61LHvjxPk4pLPEJLoMETef7f7EE';
export const SQUADS = 'SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf';
export const KAMINO = 'KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD';
export const PYTH = 'FsJ3A3u2vn5cTVofAjvy6y5kwABJAqYWpe4975bi2epH';
export const JITO_TIPS = '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5';

export const [sponsor, victim, thief, pool, delegate, program, stake, wallet, account, ...dust] = addressesOf(
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
);
export const [usdc, usdt, wsol, bonk, stolenUsdc, stolenUsdt, stolenSol, stolenBonk, poolUsdc, poolBonk] = addressesOf(
  20,
  21,
  22,
  23,
  24,
  25,
  26,
  27,
  28,
  29,
);
export const [nonce, vote, table, buffer, multisig, multisigUsdc, newAccount, asset, shared, vault] = addressesOf(
  30,
  31,
  32,
  33,
  34,
  35,
  36,
  37,
  38,
  39,
);
/** An NFT, and the accounts for it of a victim and of a thief. */
export const [nft, ownNft, stolenNft] = addressesOf(54, 55, 56);
export const [decoy, secondDecoy, sysvar, freezer, emptied, secondEmptied] = addressesOf(40, 41, 42, 43, 47, 48);

/** A wallet of a victim, and accounts of a thief and a pool, before the transaction. */
export function prepare(signers: readonly string[] = [victim]): Forgery {
  const forgery = new Forgery(signers);
  for (const [owner, accounts] of [
    [victim, [usdc, usdt, wsol, bonk]],
    [thief, [stolenUsdc, stolenUsdt, stolenSol, stolenBonk]],
  ] as const)
    for (const [place, mint] of [USDC, USDT, WRAPPED_SOL, BONK].entries()) {
      const decimals = mint === WRAPPED_SOL ? 9 : mint === BONK ? 5 : 6;
      forgery.hold(accounts[place] ?? '', owner, mint, 50_000_000_000n, decimals);
    }
  forgery.hold(poolUsdc, pool, USDC, 900_000_000_000n);
  forgery.hold(poolBonk, pool, BONK, 900_000_000_000n, 5);
  forgery.hold(multisigUsdc, multisig, USDC, 700_000_000_000n);
  forgery.hold(ownNft, victim, nft, 1n, 0);
  forgery.hold(stolenNft, thief, nft, 0n, 0);
  for (const empty of [emptied, secondEmptied]) forgery.hold(empty, victim, USDT, 0n);
  for (const funded of [stake, nonce, vote, table, buffer, vault]) forgery.fund(funded, 30_000_000_000n);
  return forgery;
}

/** An address that begins as another one does. */
export const lookAlike = (address: string): string =>
  bs58.encode([...bs58.decode(address).subarray(0, 28), 1, 2, 3, 4]);

export const ALL = 2n ** 64n - 1n;
export const key = (address: string): readonly number[] => [...bs58.decode(address)];
export const u32 = (value: number): number[] => [value, 0, 0, 0];

/** A call of Token-2022. */
export const token = (f: Forgery, accounts: readonly string[], ...data: readonly number[]): ForgedCall =>
  f.call(TOKEN_2022_PROGRAM, accounts, data);

/** A call of a program that has no name. */
export const unnamed = (f: Forgery, ...inner: readonly ForgedCall[]): ForgedCall =>
  f.program(program, [victim], ...inner);

/** The second of two calls that are one: the first changes the balances alone. */
export const instead = (_: ForgedCall, call: ForgedCall): ForgedCall => call;

/** What moves when the victim buys BONK, for another if named. */
export const swapOf = (f: Forgery, paid = 1_000_000_000n, bought = 1_234_567n, buyer = bonk): readonly ForgedCall[] => [
  f.send(usdc, poolUsdc, victim, paid),
  f.send(poolBonk, buyer, pool, bought),
];

/** A trade on Raydium: 1,000 USDC for 12.34567 BONK, or as named. */
export const traded = (f: Forgery, ...trade: readonly [paid?: bigint, bought?: bigint, buyer?: string]): ForgedCall =>
  f.program(RAYDIUM, [pool], ...swapOf(f, ...trade));

/** A trade of USDC for BONK of the victim through accounts of another. */
export const routedSwapOf = (
  forgery: Forgery,
  { sent, traded, paid, passedOn }: Readonly<Record<'sent' | 'traded' | 'paid' | 'passedOn', bigint>>,
): readonly ForgedCall[] => [
  forgery.send(usdc, stolenUsdc, victim, sent),
  forgery.program(
    RAYDIUM,
    [pool],
    forgery.send(stolenUsdc, poolUsdc, thief, traded),
    forgery.send(poolBonk, stolenBonk, pool, paid),
  ),
  forgery.send(stolenBonk, bonk, thief, passedOn),
];
