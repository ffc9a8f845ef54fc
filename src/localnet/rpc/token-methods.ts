import bs58 from 'bs58';
import { compare } from '../../shared/domain/compare.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import type { AmountScale } from '../../transactions/index.ts';
import { type Memcmp, TOKEN_MINT_OFFSET, TOKEN_OWNER_OFFSET } from '../bank/account-index.ts';
import type { Account } from '../bank/svm-account.ts';
import { isOwnedByTokenProgram, readMint, readTokenAccount } from '../bank/token-state.ts';
import { invalidParams } from '../encode/json-rpc-error.ts';
import { toUiTokenAmount } from '../encode/ui-token-amount.ts';
import { encodeAccount, readAccountView } from './account-view.ts';
import { type BankView, readBankView } from './bank-view.ts';
import { type RpcConfig, readAddress, readConfig } from './json-rpc-params.ts';
import { type MethodHandlers, method, type NodeContext } from './method-handler.ts';

const MAX_LARGEST = 20;

export const TOKEN_METHODS: MethodHandlers = {
  getTokenAccountBalance: method(1, 1, (node, [key, options]) => {
    const wanted = readAddress(key);
    const bank = readBankView(node, withoutMinContextSlot(options));
    const tokenAccount = readTokenAccount(requireAccount(bank, wanted, 'account'));
    if (tokenAccount === undefined) throw invalidParams('Invalid param: not a Token account');
    return bank.withContext(toUiTokenAmount(tokenAccount.amount, requireAmountScale(bank, tokenAccount.mint)));
  }),

  getTokenSupply: method(1, 1, (node, [key, options]) => {
    const wanted = readAddress(key);
    const bank = readBankView(node, withoutMinContextSlot(options));
    const account = requireAccount(bank, wanted, 'account');
    if (!isOwnedByTokenProgram(account)) throw invalidParams('Invalid param: not a Token mint');
    const mint = readMint(account);
    if (mint === undefined) throw invalidParams('Invalid param: mint could not be unpacked');
    return bank.withContext(toUiTokenAmount(mint.supply, requireAmountScale(bank, wanted)));
  }),

  getTokenLargestAccounts: method(1, 1, (node, [key, options]) => {
    const wanted = readAddress(key);
    const bank = readBankView(node, withoutMinContextSlot(options));
    const program = tokenProgramOfMint(bank, wanted);
    const scale = requireAmountScale(bank, wanted);
    const largest = tokenAccountsOf(bank, program, [addressAt(TOKEN_MINT_OFFSET, wanted)])
      .sort((a, b) => compare(b.token.amount, a.token.amount))
      .slice(0, MAX_LARGEST)
      .map(({ pubkey, token }) => ({ address: pubkey, ...toUiTokenAmount(token.amount, scale) }));
    return bank.withContext(largest);
  }),

  getTokenAccountsByOwner: method(2, 1, (node, params) => {
    const { bank, program, filters, encode } = readListing(node, params);
    const ofOwner = addressAt(TOKEN_OWNER_OFFSET, readAddress(params[0]));
    return bank.withContext(tokenAccountsOf(bank, program, [ofOwner, ...filters]).map(encode));
  }),

  getTokenAccountsByDelegate: method(2, 1, (node, params) => {
    const { bank, program, filters, encode } = readListing(node, params);
    const delegate = readAddress(params[0]);
    const found = tokenAccountsOf(bank, program, filters).filter(({ token }) => token.delegate === delegate);
    return bank.withContext(found.map(encode));
  }),
};

/** Removes `minContextSlot`, which these methods ignore. */
const withoutMinContextSlot = (options: unknown): RpcConfig => ({ ...readConfig(options), minContextSlot: undefined });

function readListing(node: NodeContext, [key, filter, options]: readonly unknown[]) {
  readAddress(key);
  const wanted = readTokenFilter(readConfig(filter));
  const bank = readBankView(node, options);
  const view = readAccountView(options, 'binary', bank);
  const encode = ({ pubkey, account }: TokenAccountEntry): object => ({
    pubkey,
    account: encodeAccount(pubkey, account, view),
  });
  const ofMint = 'mint' in wanted ? [addressAt(TOKEN_MINT_OFFSET, wanted.mint)] : [];
  const program = 'mint' in wanted ? tokenProgramOfMint(bank, wanted.mint) : wanted.programId;
  return { bank, program, filters: ofMint, encode };
}

function readTokenFilter(filter: RpcConfig): { readonly mint: string } | { readonly programId: string } {
  const [member, ...more] = Object.entries(filter);
  if (member === undefined || more.length > 0) {
    throw invalidParams('Invalid params: invalid value: map, expected map with a single key.');
  }
  const [name, value] = member;
  if (name === 'mint') return { mint: readAddress(value) };
  if (name !== 'programId') {
    throw invalidParams(`Invalid params: unknown variant \`${name}\`, expected \`mint\` or \`programId\`.`);
  }
  const programId = readAddress(value);
  if (programId === TOKEN_PROGRAM || programId === TOKEN_2022_PROGRAM) return { programId };
  throw invalidParams('Invalid param: unrecognized Token program id');
}

function requireAccount(bank: BankView, address: string, kind: 'account' | 'mint'): Account {
  const account = bank.account(address);
  if (account === undefined) throw invalidParams(`Invalid param: could not find ${kind}`);
  return account;
}

/** Returns the token program of a mint. Throws for another account, with the message that listings have for it. */
function tokenProgramOfMint(bank: BankView, mint: string): string {
  const account = requireAccount(bank, mint, 'mint');
  if (readMint(account) === undefined) throw invalidParams('Invalid param: Token mint could not be unpacked');
  return account.owner;
}

function requireAmountScale(bank: BankView, mint: string): AmountScale {
  const found = bank.scale(mint);
  if (found === undefined) throw invalidParams('Invalid param: could not find mint');
  return found;
}

interface TokenAccountEntry {
  readonly pubkey: string;
  readonly account: Account;
  readonly token: NonNullable<ReturnType<typeof readTokenAccount>>;
}

const addressAt = (offset: number, address: string): Memcmp => ({ offset, bytes: bs58.decode(address) });

const tokenAccountsOf = (bank: BankView, program: string, filters: readonly Memcmp[]): TokenAccountEntry[] =>
  bank.programAccounts(program, filters).flatMap(([pubkey, account]) => {
    const token = readTokenAccount(account);
    return token === undefined ? [] : [{ pubkey, account, token }];
  });
