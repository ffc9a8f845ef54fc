import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../../shared/domain/well-known-addresses.ts';
import type { AccountInterpretation } from '../interpretation.ts';
import { onlyValue } from '../only-value.ts';
import {
  type AccountData,
  callsOf,
  findCloseAccountInstructions,
  findInstructions,
  hasInstruction,
  infoAddress,
  type ParsedInstruction,
  type ParsedTransaction,
} from '../parsed-transaction.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { findOpenedAccounts } from '../wallet-changes.ts';

const OPENERS: readonly string[] = [LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM];
const CLOSERS: readonly string[] = [LOOKUP_TABLE_PROGRAM, UPGRADEABLE_LOADER, LOADER_V4];

export const closingRule: Rule = (facts) => {
  const { parsed } = facts;
  const all = findCloseAccountInstructions(parsed);
  if (all.length === 0 && !hasInstruction(parsed, CLOSERS, /^close/)) return null;
  const owners = all.map((call) => infoAddress(call, 'owner') ?? '');
  const actor =
    [facts.actor, ...owners].find((owner) => owners.includes(owner) && parsed.signers.includes(owner)) ?? facts.actor;
  const own = ownClosings(actor, parsed);
  // what signers closed of others or for others is described apart
  const closed = all.filter((call) => own.includes(call) || !parsed.signers.includes(infoAddress(call, 'owner') ?? ''));
  const refund = closedBy(actor, parsed).reduce(
    (sum, { nativeBalanceChange }) => sum - BigInt(nativeBalanceChange ?? 0),
    0n,
  );
  const closers = closed.map((call) =>
    parsed.instructions.find((topLevel) => topLevel.innerInstructions.includes(call)),
  );
  const program = facts.isAttempt ? facts.mainProgram : onlyValue(closers.map((closer) => closer?.programId ?? null));
  const common = { ...accountChange(facts), actor, program };
  const closedTokenAccounts = closed.filter((call) => isTokenAccount(call, parsed)).length;
  return { ...common, type: 'CLOSE_ACCOUNT', closedAccounts: closed.length, closedTokenAccounts, refund };
};

/** Returns whether what was closed is known to be a token account: Token-2022 closes mints, too, which no balance names. */
const isTokenAccount = (call: ParsedInstruction, { isIncomplete, actions }: ParsedTransaction): boolean =>
  call.programId === TOKEN_PROGRAM ||
  !(isIncomplete || actions.some(({ kind, actor }) => kind === 'close' && actor === infoAddress(call, 'account')));

/** Returns the token accounts that their owner closed, whose lamports it got. */
export function closedBy(owner: string | null, parsed: ParsedTransaction): readonly AccountData[] {
  const closed = ownClosings(owner, parsed);
  const accounts = new Set(closed.map((call) => infoAddress(call, 'account')));
  for (const opened of closed.length === 0 ? [] : findOpenedAccounts(parsed)) accounts.delete(opened); // it has others' now
  for (const action of closed.length === 0 ? [] : parsed.actions) // some of it went elsewhere before
    if (action.given[0]?.mint === WRAPPED_SOL)
      for (const call of callsOf(action, parsed)) accounts.delete(infoAddress(call, 'source'));
  return parsed.accountData.filter(({ account }) => accounts.has(account));
}

/** Returns the calls by which a wallet closed token accounts of its own, and got their lamports. */
function ownClosings(owner: string | null, parsed: ParsedTransaction): readonly ParsedInstruction[] {
  const closings = parsed.actions.filter(({ kind, authority }) => kind === 'close' && authority === owner);
  const ofOthers = new Set(closings.flatMap((action) => callsOf(action, parsed)));
  return findCloseAccountInstructions(parsed).filter(
    (call) => !ofOthers.has(call) && ['owner', 'destination'].every((party) => infoAddress(call, party) === owner),
  );
}

export const openingRule: Rule = (facts) => {
  const { parsed, isAttempt } = facts;
  const isWhole = !isAttempt && !parsed.isIncomplete;
  const [creation, ...more] = findInstructions(parsed, [ASSOCIATED_TOKEN_PROGRAM], /^create/).filter(
    ({ innerInstructions }) => !isWhole || innerInstructions.length > 0, // else the account was there already
  );
  const isOpening = creation !== undefined || hasInstruction(parsed, OPENERS, /^(create|extend)/);
  if (!isOpening && findOpenedAccounts(parsed).size === 0) return null;
  const [funding] = findInstructions(parsed, [SYSTEM_PROGRAM], /^createAccount/);
  const [extension] = findInstructions(parsed, [LOOKUP_TABLE_PROGRAM], /^extend/);
  const [wallet, mint] = [infoAddress(creation, 'wallet'), infoAddress(creation, 'mint')];
  const tokenAccount = more.length === 0 && wallet !== null && mint !== null ? { wallet, mint } : null;
  const table = infoAddress(extension, 'lookupTableAccount');
  const maker =
    tokenAccount === null && table !== null
      ? infoAddress(extension, 'lookupTableAuthority')
      : infoAddress(tokenAccount === null ? funding : creation, 'source');
  const actor = maker !== null && parsed.signers.includes(maker) ? maker : facts.actor;
  return { ...accountChange(facts), actor, type: 'CREATE_ACCOUNT', tokenAccount, table };
};

const accountChange = ({ actor, mainProgram, parsed }: TransactionFacts): Omit<AccountInterpretation, 'type'> => ({
  actor,
  program: mainProgram,
  states: [],
  accounts: findOpenedAccounts(parsed),
  tokenAccount: null,
  table: null,
  closedAccounts: 0,
  closedTokenAccounts: 0,
  refund: 0n,
});
