import type { TransactionType } from './transaction-types.ts';

interface RoleRow {
  /** What programs of this role do. */
  readonly meaning: string;
  /** What a transaction is that calls such a program, while its instruction is unknown; null if that may be anything. */
  readonly fallbackType: TransactionType | null;
  /** Whether it only serves the instructions beside it: a transaction is about another program, if it calls one. */
  readonly isIncidental?: true;
  /** Whether assets are traded through it. */
  readonly isTrading?: true;
}

/** What a program is for. A program whose role is `other` is known by name alone. */
export const PROGRAM_ROLES = {
  core: { meaning: "one of Solana's own", fallbackType: null, isIncidental: true },
  guard: { meaning: 'checks or notes something beside other instructions', fallbackType: null, isIncidental: true },
  helper: { meaning: 'counts or pays something beside other instructions', fallbackType: null, isIncidental: true },
  oracle: {
    meaning: 'brings prices or other outside data on the chain',
    fallbackType: 'ORACLE_UPDATE',
    isIncidental: true,
  },
  exchange: { meaning: 'trades against pools that anybody may fill', fallbackType: null, isTrading: true },
  aggregator: { meaning: 'passes trades on to exchanges: routers, trading bots', fallbackType: null, isTrading: true },
  marketMaker: {
    meaning: 'trades against a single maker that writes the prices',
    fallbackType: 'QUOTE_UPDATE',
    isTrading: true,
  },
  orderBook: { meaning: 'matches orders that rest in a book', fallbackType: 'PLACE_ORDER', isTrading: true },
  orders: {
    meaning: 'trades for the owners of orders: limits, plans of purchases, quotes on request',
    fallbackType: null,
    isTrading: true,
  },
  launchpad: { meaning: 'launches tokens and trades them until they have a pool', fallbackType: null, isTrading: true },
  arbitrageBot: { meaning: 'trades in circles for its operator', fallbackType: 'ARBITRAGE' },
  lending: { meaning: 'lends what others deposited', fallbackType: 'LEND' },
  perps: { meaning: 'trades derivatives: perpetual futures, options', fallbackType: 'PERPS' },
  vault: { meaning: 'invests deposits: strategies, farms', fallbackType: null },
  staking: { meaning: 'stakes for others: stake pools, liquid staking, bonds of validators', fallbackType: null },
  airdrop: { meaning: 'distributes tokens by a list', fallbackType: null },
  bridge: { meaning: 'carries assets or messages between chains', fallbackType: 'BRIDGE' },
  marketplace: { meaning: 'sells NFTs', fallbackType: null },
  nft: { meaning: 'makes and stores NFTs: standards, candy machines, compression', fallbackType: null },
  governance: { meaning: 'lets several decide: multisigs, votes', fallbackType: null },
  game: { meaning: 'is a game', fallbackType: 'GAME' },
  infra: { meaning: 'serves other programs or a network: proofs, queues, rewards', fallbackType: 'INFRA' },
  other: { meaning: 'none of these', fallbackType: null },
} as const satisfies Readonly<Record<string, RoleRow>>;

export type ProgramRole = keyof typeof PROGRAM_ROLES;

/** Returns what a role is for, in the general form: without it, a flag that a role lacks is no property of its row. */
export const roleRow = (role: ProgramRole): RoleRow => PROGRAM_ROLES[role];
