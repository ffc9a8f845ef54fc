import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../../shared/domain/well-known-addresses.ts';
import type { AccountInterpretation } from '../interpretation.ts';
import { findCloseAccountInstructions, findInstructions, hasInstruction, infoAddress } from '../parsed-transaction.ts';
import { shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';

const OPENERS: readonly string[] = [ASSOCIATED_TOKEN_PROGRAM, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM];
const CLOSERS: readonly string[] = [LOOKUP_TABLE_PROGRAM, UPGRADEABLE_LOADER, LOADER_V4];

export const closingRule: Rule = (facts) => {
  const { parsed, actor } = facts;
  const closed = findCloseAccountInstructions(parsed);
  if (closed.length === 0 && !hasInstruction(parsed, CLOSERS, /^(close|deactivate)/)) return null;
  const own = closed.filter(
    (call) => infoAddress(call, 'owner') === actor && infoAddress(call, 'destination') === actor,
  );
  const ownAccounts = new Set(own.map((call) => infoAddress(call, 'account')));
  const returned = parsed.actions.filter(
    ({ kind, program, counterparty }) => kind === 'transfer' && program === null && counterparty === actor,
  );
  const refund = [
    ...parsed.accountData
      .filter((data) => ownAccounts.has(data.account))
      .map((data) => -BigInt(data.nativeBalanceChange)),
    ...returned.map(({ given: [lamports] }) => BigInt(lamports?.amount ?? 0)),
  ].reduce((sum, lamports) => sum + lamports, 0n);
  const common = { ...accountChange(facts), states: shareOf(returned, actor) };
  return { ...common, type: 'CLOSE_ACCOUNT', closedTokenAccounts: closed.length, refund };
};

export const openingRule: Rule = (facts) => {
  const { parsed, openedAccounts } = facts;
  if (!hasInstruction(parsed, OPENERS, /^(create|extend)/) && openedAccounts.size === 0) return null;
  const [creation, ...more] = findInstructions(parsed, [ASSOCIATED_TOKEN_PROGRAM], /^create/);
  const wallet = infoAddress(creation, 'wallet');
  const mint = infoAddress(creation, 'mint');
  return {
    ...accountChange(facts),
    type: 'CREATE_ACCOUNT',
    tokenAccount: more.length === 0 && wallet !== null && mint !== null ? { wallet, mint } : null,
    extendedTable: infoAddress(findInstructions(parsed, [LOOKUP_TABLE_PROGRAM], /^extend/)[0], 'lookupTableAccount'),
  };
};

const accountChange = ({
  actor,
  mainProgram,
  openedAccounts,
}: TransactionFacts): Omit<AccountInterpretation, 'type'> => ({
  actor,
  program: mainProgram,
  states: [],
  accounts: openedAccounts,
  tokenAccount: null,
  extendedTable: null,
  closedTokenAccounts: 0,
  refund: 0n,
});
