import { accountFilters } from './account-filter.ts';
import { accountView, answeredAccount } from './account-view.ts';
import { bankView } from './bank-view.ts';
import type { Methods } from './method.ts';
import { address, config, list, u64 } from './params.ts';

const MAX_ACCOUNTS = 100;

/** Reads of accounts. */
export const ACCOUNT_METHODS: Methods = {
  getBalance: {
    required: 1,
    optional: 1,
    answer(node, [key, options]) {
      const wallet = address(key);
      const bank = bankView(node, config(options));
      return bank.withContext(bank.account(wallet)?.lamports ?? 0n);
    },
  },

  getAccountInfo: {
    required: 1,
    optional: 1,
    answer(node, [key, options]) {
      const wanted = address(key);
      const bank = bankView(node, config(options));
      const view = accountView(config(options), 'binary', bank);
      const account = bank.account(wanted);
      return bank.withContext(account === undefined ? null : answeredAccount(wanted, account, view));
    },
  },

  getMultipleAccounts: {
    required: 1,
    optional: 1,
    answer(node, [keys, options]) {
      const wanted = list(keys, MAX_ACCOUNTS).map(address);
      const bank = bankView(node, config(options));
      const view = accountView(config(options), 'base64', bank);
      const found = wanted.map((key) => {
        const account = bank.account(key);
        return account === undefined ? null : answeredAccount(key, account, view);
      });
      return bank.withContext(found);
    },
  },

  getProgramAccounts: {
    required: 1,
    optional: 1,
    answer(node, [key, options]) {
      const program = address(key);
      const { filters, withContext } = config(options);
      const belongs = accountFilters(filters);
      const bank = bankView(node, config(options));
      const view = accountView(config(options), 'binary', bank);
      const found = bank
        .owned(program)
        .filter(([, account]) => belongs(account))
        .map(([pubkey, account]) => ({ pubkey, account: answeredAccount(pubkey, account, view) }));
      return withContext === true ? bank.withContext(found) : found;
    },
  },

  getMinimumBalanceForRentExemption: {
    required: 1,
    optional: 1,
    answer: ({ chain }, [size]) => chain.minimumBalance(u64(size)),
  },
};
