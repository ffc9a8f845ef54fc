import { invalidRequest } from '../encode/json-rpc-error.ts';
import { encodeAccount, readAccountView } from './account-view.ts';
import { readBankView } from './bank-view.ts';
import { readAddress, readConfig, readList, readOptional, readU64, readVariant } from './json-rpc-params.ts';
import { type MethodHandlers, method } from './method-handler.ts';
import { parseAccountFilters } from './program-account-filter.ts';

const MAX_ACCOUNTS = 100;
const MAX_LARGEST = 20;
/** The longest account (agave, MAX_PERMITTED_DATA_LENGTH). */
const MAX_ACCOUNT_BYTES = 10 * 1024 * 1024;
const SUPPLY_KINDS = ['circulating', 'nonCirculating'] as const;

export const ACCOUNT_METHODS: MethodHandlers = {
  getBalance: method(1, 1, (node, [key, options]) => {
    const wallet = readAddress(key);
    const bank = readBankView(node, options);
    return bank.withContext(bank.account(wallet)?.lamports ?? 0n);
  }),

  getAccountInfo: method(1, 1, (node, [key, options]) => {
    const wanted = readAddress(key);
    const bank = readBankView(node, options);
    const view = readAccountView(options, 'binary', bank);
    return bank.withContext(encodeAccount(wanted, bank.account(wanted), view));
  }),

  getMultipleAccounts: method(1, 1, (node, [keys, options]) => {
    const wanted = readList(keys, MAX_ACCOUNTS).map(readAddress);
    const bank = readBankView(node, options);
    const view = readAccountView(options, 'base64', bank);
    return bank.withContext(wanted.map((key) => encodeAccount(key, bank.account(key), view)));
  }),

  getProgramAccounts: method(1, 1, (node, [key, options]) => {
    const program = readAddress(key);
    const { filters, withContext } = readConfig(options);
    const { memcmps, matches } = parseAccountFilters(filters);
    const bank = readBankView(node, options);
    const view = readAccountView(options, 'binary', bank);
    const found = bank
      .programAccounts(program, memcmps)
      .filter(([, account]) => matches(account))
      .map(([pubkey, account]) => ({ pubkey, account: encodeAccount(pubkey, account, view) }));
    return withContext === true ? bank.withContext(found) : found;
  }),

  getSupply: method(0, 1, (node, [options]) => {
    const bank = readBankView(node, { ...readConfig(options), minContextSlot: undefined });
    const total = node.chain.supply(bank.commitment);
    return bank.withContext({ circulating: total, nonCirculating: 0, nonCirculatingAccounts: [], total });
  }),

  getLargestAccounts: method(0, 1, (node, [options]) => {
    const { filter, ...config } = readConfig(options);
    const kind = readOptional(filter, (name) => readVariant(name, SUPPLY_KINDS));
    const bank = readBankView(node, { ...config, minContextSlot: undefined });
    const largest = kind === 'nonCirculating' ? [] : node.chain.largestAccounts(bank.commitment, MAX_LARGEST);
    return bank.withContext(largest.map(([address, lamports]) => ({ address, lamports })));
  }),

  getMinimumBalanceForRentExemption: method(1, 1, ({ chain }, [size]) => {
    const bytes = readU64(size);
    if (bytes > MAX_ACCOUNT_BYTES) throw invalidRequest();
    return chain.minimumBalance(bytes);
  }),
};
