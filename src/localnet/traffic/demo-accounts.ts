import { type Address, address } from '@solana/web3.js';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { deriveKeypair, type Keypair } from './demo-keypair.ts';

/** Wallets that send the traffic. */
export const WALLETS = deriveKeypairs('wallet', 24);
/** Issuer of the coins, and owner of the nonce account and the lookup table. */
export const TREASURY = deriveKeypair('treasury');
/** Owner of the two vaults of the swaps. */
export const POOL = deriveKeypair('pool');
export const NONCE = deriveKeypair('nonce');
/** Token accounts besides the associated ones, opened and closed by turns. */
export const EXTRA_TOKEN_ACCOUNTS = deriveKeypairs('locker', 8);
/** Wallets that are funded and later emptied, so that they exist only at times. */
export const TRANSIENT_WALLETS = deriveKeypairs('visitor', 16);

/** Account with more lamports than a double can represent, which never changes. */
export const WHALE: { readonly address: Address; readonly lamports: bigint } = {
  address: deriveKeypair('whale').address,
  lamports: 9_007_199_254_740_993n,
};

/** A mint and its metadata. */
export interface Coin {
  readonly mint: Keypair;
  readonly program: Address;
  readonly decimals: number;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  /** Transfer fee in basis points, withheld for the mint. Token-2022 only. */
  readonly transferFeeBps?: number;
}

const token = address(TOKEN_PROGRAM);
const token2022 = address(TOKEN_2022_PROGRAM);

export const DOLLAR = createCoin(token, 6, 'Demo Dollar', 'DUSD');
export const GOLD = createCoin(token, 9, 'Demo Gold', 'DGLD');
export const POINTS = createCoin(token2022, 9, 'Demo Points', 'DPTS');
export const TOLL: Coin = { ...createCoin(token2022, 6, 'Demo Toll', 'DTOL'), transferFeeBps: 50 };
export const COINS = [DOLLAR, GOLD, POINTS, TOLL] as const;

/** An account to try requests with. */
export interface DemoAccount {
  readonly name: string;
  readonly address: Address;
  readonly holds: string;
}

/** Some of the accounts above, by the names that the README and the log give them. */
export const DEMO_ACCOUNTS: readonly DemoAccount[] = [
  { name: 'alice', address: WALLETS[0].address, holds: 'SOL and all four tokens; history, portfolio with prices' },
  { name: 'bob', address: WALLETS[1].address, holds: 'the same, at first half as much' },
  { name: 'whale', address: WHALE.address, holds: '9,007,199.254740993 SOL, beyond a double; never changes' },
  { name: 'pool', address: POOL.address, holds: 'the DUSD and DGLD that wallets swap' },
  { name: 'nonce', address: NONCE.address, holds: 'a durable nonce' },
  { name: 'DUSD', address: DOLLAR.mint.address, holds: 'mint of Demo Dollar: Token program, Metaplex metadata' },
  { name: 'DGLD', address: GOLD.mint.address, holds: 'mint of Demo Gold: the same' },
  { name: 'DPTS', address: POINTS.mint.address, holds: 'mint of Demo Points: Token-2022, metadata in the mint' },
  { name: 'DTOL', address: TOLL.mint.address, holds: 'mint of Demo Toll: the same, with a transfer fee of 0.5 %' },
];

function createCoin(program: Address, decimals: number, name: string, symbol: string): Coin {
  const uri = `https://example.com/${symbol.toLowerCase()}.json`;
  return { mint: deriveKeypair(symbol), program, decimals, name, symbol, uri };
}

function deriveKeypairs(name: string, count: number): [Keypair, Keypair, ...Keypair[]] {
  const numbered = (index: number): Keypair => deriveKeypair(`${name} ${index}`);
  return [numbered(0), numbered(1), ...Array.from({ length: count - 2 }, (_, index) => numbered(index + 2))];
}
