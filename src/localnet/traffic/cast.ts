import { type Address, address } from '@solana/web3.js';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../domain/well-known-addresses.ts';
import { type Keypair, keypair } from './keypair.ts';

/** Those who trade. */
export const WALLETS = keypairs('wallet', 24);
/** Issues the coins and owns the nonce account and the lookup table. */
export const TREASURY = keypair('treasury');
/** Owns the two vaults that swaps go through. */
export const POOL = keypair('pool');
export const NONCE = keypair('nonce');
/** Token accounts beside the associated ones: opened, and closed again. */
export const LOCKERS = keypairs('locker', 8);
/** Accounts that are funded and later emptied, so that they exist only at times. */
export const VISITORS = keypairs('visitor', 16);

/** Holds more lamports than a double can count, and never moves. */
export const WHALE = { address: keypair('whale').address, lamports: 9_007_199_254_740_993n } as const;

/** A mint, and what its metadata says. */
export interface Coin {
  readonly mint: Keypair;
  readonly program: Address;
  readonly decimals: number;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  /** Hundredths of a percent that a transfer costs, kept by the mint. Token-2022 only. */
  readonly transferFee?: number;
}

const token = address(TOKEN_PROGRAM);
const token2022 = address(TOKEN_2022_PROGRAM);

export const DOLLAR = coin(token, 6, 'Demo Dollar', 'DUSD');
export const GOLD = coin(token, 9, 'Demo Gold', 'DGLD');
export const POINTS = coin(token2022, 9, 'Demo Points', 'DPTS');
export const TOLL: Coin = { ...coin(token2022, 6, 'Demo Toll', 'DTOL'), transferFee: 50 };
export const COINS = [DOLLAR, GOLD, POINTS, TOLL] as const;

function coin(program: Address, decimals: number, name: string, symbol: string): Coin {
  const uri = `https://example.com/${symbol.toLowerCase()}.json`;
  return { mint: keypair(symbol), program, decimals, name, symbol, uri };
}

function keypairs(name: string, count: number): [Keypair, ...Keypair[]] {
  const numbered = (index: number): Keypair => keypair(`${name} ${index}`);
  return [numbered(0), ...Array.from({ length: count - 1 }, (_, index) => numbered(index + 1))];
}
