import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../domain/well-known-addresses.ts';
import type { AmountScale } from '../../solana/accounts/ui-amount.ts';
import type { Account } from '../bank/account.ts';
import { isTokenOwned, readMint, readTokenAccount } from '../bank/token-state.ts';
import { invalidParams } from '../encode/node-error.ts';
import { tokenAmount } from '../encode/token-amount.ts';
import { accountView, answeredAccount } from './account-view.ts';
import { type BankView, bankView } from './bank-view.ts';
import type { Methods } from './method.ts';
import { address, type Config, config } from './params.ts';

const MAX_LARGEST = 20;

/** Reads of tokens. */
export const TOKEN_METHODS: Methods = {
  getTokenAccountBalance: {
    required: 1,
    optional: 1,
    answer(node, [key, options]) {
      const wanted = address(key);
      const bank = bankView(node, withoutMinimum(options));
      const held = readTokenAccount(existing(bank, wanted, 'account'));
      if (held === undefined) throw invalidParams('Invalid param: not a Token account');
      return bank.withContext(tokenAmount(held.amount, scale(bank, held.mint)));
    },
  },

  getTokenSupply: {
    required: 1,
    optional: 1,
    answer(node, [key, options]) {
      const wanted = address(key);
      const bank = bankView(node, withoutMinimum(options));
      const account = existing(bank, wanted, 'account');
      if (!isTokenOwned(account)) throw invalidParams('Invalid param: not a Token mint');
      const mint = readMint(account);
      if (mint === undefined) throw invalidParams('Invalid param: mint could not be unpacked');
      return bank.withContext(tokenAmount(mint.supply, scale(bank, wanted)));
    },
  },

  getTokenLargestAccounts: {
    required: 1,
    optional: 1,
    answer(node, [key, options]) {
      const wanted = address(key);
      const bank = bankView(node, withoutMinimum(options));
      const program = programOfMint(bank, wanted);
      const shown = scale(bank, wanted);
      const largest = holdings(bank, program)
        .filter(({ held }) => held.mint === wanted)
        .sort((a, b) => (a.held.amount < b.held.amount ? 1 : a.held.amount > b.held.amount ? -1 : 0))
        .slice(0, MAX_LARGEST)
        .map(({ pubkey, held }) => ({ address: pubkey, ...tokenAmount(held.amount, shown) }));
      return bank.withContext(largest);
    },
  },

  getTokenAccountsByOwner: {
    required: 2,
    optional: 1,
    answer(node, [key, filter, options]) {
      const owner = address(key);
      const wanted = tokenFilter(config(filter));
      const bank = bankView(node, config(options));
      const view = accountView(config(options), 'binary', bank);
      const program = 'mint' in wanted ? programOfMint(bank, wanted.mint) : wanted.programId;
      const found = holdings(bank, program)
        .filter(({ held }) => held.owner === owner && (!('mint' in wanted) || held.mint === wanted.mint))
        .map(({ pubkey, account }) => ({ pubkey, account: answeredAccount(pubkey, account, view) }));
      return bank.withContext(found);
    },
  },
};

/** These methods pay no heed to `minContextSlot`. */
const withoutMinimum = (options: unknown): Config => ({ ...config(options), minContextSlot: undefined });

function tokenFilter(filter: Config): { readonly mint: string } | { readonly programId: string } {
  const [member, ...more] = Object.entries(filter);
  if (member === undefined || more.length > 0) {
    throw invalidParams('Invalid params: invalid value: map, expected map with a single key.');
  }
  const [name, value] = member;
  if (name === 'mint') return { mint: address(value) };
  if (name !== 'programId') {
    throw invalidParams(`Invalid params: unknown variant \`${name}\`, expected \`mint\` or \`programId\`.`);
  }
  const programId = address(value);
  if (programId === TOKEN_PROGRAM || programId === TOKEN_2022_PROGRAM) return { programId };
  throw invalidParams('Invalid param: unrecognized Token program id');
}

function existing(bank: BankView, wanted: string, what: 'account' | 'mint'): Account {
  const account = bank.account(wanted);
  if (account === undefined) throw invalidParams(`Invalid param: could not find ${what}`);
  return account;
}

/** Which token program a mint belongs to. Refuses what is none, in the words that listings use. */
function programOfMint(bank: BankView, mint: string): string {
  const account = existing(bank, mint, 'mint');
  if (readMint(account) === undefined) throw invalidParams('Invalid param: Token mint could not be unpacked');
  return account.owner;
}

function scale(bank: BankView, mint: string): AmountScale {
  const found = bank.scale(mint);
  if (found === undefined) throw invalidParams('Invalid param: could not find mint');
  return found;
}

interface Holding {
  readonly pubkey: string;
  readonly account: Account;
  readonly held: NonNullable<ReturnType<typeof readTokenAccount>>;
}

const holdings = (bank: BankView, program: string): Holding[] =>
  bank.owned(program).flatMap(([pubkey, account]) => {
    const held = readTokenAccount(account);
    return held === undefined ? [] : [{ pubkey, account, held }];
  });
