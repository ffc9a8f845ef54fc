import { compare } from '../../../shared/domain/compare.ts';
import { METADATA_PROGRAM, SYSTEM_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { oncePer } from '../../../shared/runtime/once-per.ts';
import { programRole } from '../../programs/known-programs.ts';
import type { Action } from '../action.ts';
import { type AuthorityChange, FATES } from '../authority-changes.ts';
import { grouped } from '../grouped.ts';
import type { AuthorityInterpretation } from '../interpretation.ts';
import { callsOf, infoAddress, type ParsedTransaction, tokenAmountIn } from '../parsed-transaction.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { findOpenedAccounts } from '../wallet-changes.ts';

const TYPE_BY_KIND: Readonly<Partial<Record<AuthorityChange['kind'], AuthorityInterpretation['type']>>> = {
  setAuthority: 'SET_AUTHORITY',
  assign: 'SET_AUTHORITY',
  setLockup: 'SET_AUTHORITY',
  approve: 'APPROVE',
  revoke: 'REVOKE',
  freeze: 'FREEZE',
  freezeNewAccounts: 'FREEZE',
  pause: 'FREEZE',
  thaw: 'THAW',
  thawNewAccounts: 'THAW',
  resume: 'THAW',
};

/** Rights by what their holder can do with what somebody owns, the most dangerous first; all others come after. */
const RIGHTS_BY_DANGER: readonly string[] = [
  'accountOwner',
  'assign',
  'withdrawer',
  'permanentDelegate',
  'approve',
  'staker',
  'nonce',
  'upgrade',
  'closeAccount',
];
const RIGHTS_OVER_ASSETS = RIGHTS_BY_DANGER.filter(
  (right) => right !== 'permanentDelegate' && right !== 'closeAccount',
);
/** What is said whoever holds it: rights over a mint from its start, what became of a program or a table, a guard that is off, a rate. */
const SAID_ALWAYS: readonly string[] = [
  ...['permanentDelegate', 'closeMint', ...FATES, 'closedProgram', 'deactivatedTable', 'cpiGuard'],
  ...['transferFee', 'interest', 'scale', 'commissionRate'],
];

const rightOf = ({ kind, authorityType }: AuthorityChange): string =>
  kind === 'setAuthority' || kind === 'initializeAuthority' ? (authorityType ?? '') : kind;

/**
 * Finds the rights that somebody else has in the end, or that came back with less than was given, whether the transaction
 * itself gave them or a program did, the most dangerous first: of equal ones that over the account with most in it. One that
 * was passed on is said from hand to hand. A right that was used up or taken back within the transaction is none, nor is one
 * over an account that is closed afterwards.
 */
export const findGivenRights = oncePer((parsed: ParsedTransaction): readonly AuthorityChange[] => {
  const { authorityChanges, signers, actions } = parsed;
  if (authorityChanges.length === 0) return [];
  const opened = findOpenedAccounts(parsed);
  const keyOf = (change: AuthorityChange): string =>
    `${change.account} ${KINDS_OF_ONE_RIGHT[change.kind] ?? rightOf(change)} ${termsOf(change)}`;
  const passed = authorityChanges.filter(({ kind }) => kind === 'setAuthority');
  const last = new Map(authorityChanges.map((change) => [keyOf(change), change]));
  const first = new Map(authorityChanges.toReversed().map((change) => [keyOf(change), change]));
  const owners = new Map(authorityChanges.toReversed().map(({ account, owner }) => [account, owner]));
  const paid = actions.filter(({ kind, actor }) => kind !== 'rent' && signers.includes(actor));
  const payments = grouped(paid, ({ counterparty }) => counterparty ?? '');
  const payers = new Map(payments.map((of) => [of[0]?.counterparty, new Set(of.map(({ actor }) => actor))]));
  const accounts = new Set<string | null>(authorityChanges.map(({ account }) => account));
  const funds = actions.filter(
    (action) =>
      accounts.has(action.counterparty) &&
      callsOf(action, parsed).every(({ programId }) => programId === SYSTEM_PROGRAM), // tokens are no lamports
  );
  /** Returns whether an account has no more lamports than this transaction had paid into it. */
  const isFunded = (change: AuthorityChange): boolean =>
    funds
      .filter((action) => action.counterparty === change.account && isBefore(action, change))
      .reduce((left, { given: [paid] }) => left - BigInt(paid?.amount ?? 0), BigInt(change.lamports ?? 0)) <= 0n;
  /** Returns whether the holder of a right signed, and no other signer has or paid for what it is a right over. */
  const isOfPayer = (change: AuthorityChange): boolean =>
    change.to !== null &&
    signers.includes(change.to) &&
    [...(payers.get(change.account) ?? [])].every((payer) => payer === change.to) &&
    (signers.length === 1 || change.to === change.account || isFunded(change));
  const isPassed = (chain: readonly [AuthorityChange, ...AuthorityChange[]]): boolean => {
    const change = chain.at(-1) ?? chain[0];
    const { account, authorityType, owner, mint, to, tokenBalance, innerInstructionIdx } = change;
    const ownsTokens = authorityType === 'accountOwner';
    // what goes into an account later is described as sent to its owner then
    const isEmpty = (tokenBalance ?? '0') === '0' && !isTurned(change);
    const isMade = innerInstructionIdx !== null && opened.has(account) && isEmpty;
    const isOwn = mint === null ? isOfPayer(change) : !signers.includes(owner ?? '');
    // the owner has what it gave nobody, and somebody else may own the account for a while
    const holder = authorityType === 'closeAccount' ? owners.get(account) : chain[0].from;
    const isCostly = ownsTokens || (holder === to && ['withdrawer', 'nonce'].includes(authorityType ?? ''));
    if (isCostly && isLost(chain)) return true; // closed or not
    return holder !== to && !(isMade && (ownsTokens || isOwn)) && !isUndone(change, parsed);
  };
  const given = new Set(grouped(passed, keyOf).flatMap((chain) => (isPassed(chain) ? chain : [])));
  const turned = new Map(
    // wallets of which somebody else's token account was made afterwards: that says more than an assignment
    authorityChanges.flatMap((change, place) =>
      isTurned(change) && given.has(change) ? [[change.account, place]] : [],
    ),
  );
  const isGiven = (change: AuthorityChange): boolean => {
    const { kind, authorityType, owner, to, innerInstructionIdx } = change;
    const isLast = last.get(keyOf(change)) === change;
    const isTop = innerInstructionIdx === null;
    switch (kind) {
      case 'approve':
        return isLast && !isUndone(change, parsed);
      case 'setAuthority':
        return given.has(change);
      case 'initializeAuthority':
        return (
          SAID_ALWAYS.includes(authorityType ?? '') ||
          (to !== null && !isOfPayer(change) && programRole(topLevelProgramOf(change, parsed)) !== 'staking')
        );
      case 'assign':
        return authorityChanges.indexOf(change) > (turned.get(change.account) ?? -1);
      case 'upgradeProgram':
        return true;
      case 'setLockup':
        return isLast;
      case 'freeze': {
        const wasFrozen = first.get(keyOf(change))?.kind === 'thaw';
        const isOfProgram = wasFrozen || topLevelProgramOf(change, parsed) === METADATA_PROGRAM;
        return isLast && (isTop || (signers.includes(owner ?? '') && !isOfProgram));
      }
      case 'pause':
      case 'freezeNewAccounts':
        return isLast;
      default:
        return isLast && isTop && kind !== 'revoke';
    }
  };
  const dangerOf = (change: AuthorityChange): number => {
    const rank = RIGHTS_BY_DANGER.indexOf(rightOf(change));
    return rank < 0 ? RIGHTS_BY_DANGER.length : rank;
  };
  return authorityChanges
    .filter(isGiven)
    .toSorted((a, b) => dangerOf(a) - dangerOf(b) || compare(stakeOf(b), stakeOf(a)));
});

/** Returns whether an action is what a right over a token account says: what is in it passed with it. */
export const isSaidByRight = (rights: readonly AuthorityChange[], { kind, instruction }: Action): boolean =>
  kind === 'changeOwner' &&
  rights.some((right) => right.instructionIdx === instruction?.[0] && right.innerInstructionIdx === instruction[1]);

/**
 * Returns what sets a right apart from others of its name: which terms of a lock-up it sets, since the others stay, and who
 * has it from a program other than Solana's own, which may have many members.
 */
function termsOf({ kind, lockup, to, programId }: AuthorityChange): string | null {
  if (lockup !== null) return [lockup.unixTimestamp, lockup.epoch, to].map((term) => term !== null).join(' ');
  return kind === 'setAuthority' && programRole(programId) !== 'core' ? to : '';
}

const isBefore = ({ instruction }: Action, { instructionIdx, innerInstructionIdx }: AuthorityChange): boolean =>
  instruction !== null &&
  (instruction[0] < instructionIdx ||
    (instruction[0] === instructionIdx && (instruction[1] ?? -1) < (innerInstructionIdx ?? -1)));

/** Returns whether a token account is made of a wallet, which passes its lamports. */
const isTurned = ({ account, from, authorityType }: AuthorityChange): boolean =>
  from === account && authorityType === 'accountOwner';

const stakeOf = ({ tokenBalance, lamports }: AuthorityChange): bigint => BigInt(tokenBalance ?? lamports ?? 0);

/** Returns whether one of its holders gave away more with an account than it got with it, whoever has it in the end. */
function isLost(chain: readonly AuthorityChange[]): boolean {
  const given = new Map<string | null, bigint>();
  for (const change of chain) {
    given.set(change.from, (given.get(change.from) ?? 0n) + stakeOf(change));
    given.set(change.to, (given.get(change.to) ?? 0n) - stakeOf(change));
  }
  return [...given.values()].some((amount) => amount > 0n);
}

/** Kinds of changes of which each takes back what the other gave. */
const KINDS_OF_ONE_RIGHT: Readonly<Partial<Record<AuthorityChange['kind'], string>>> = {
  revoke: 'approve',
  thaw: 'freeze',
  resume: 'pause',
  thawNewAccounts: 'freezeNewAccounts',
};

/** Returns the program of the top-level instruction that made a change, itself or in a call. */
export const topLevelProgramOf = (
  { instructionIdx }: AuthorityChange,
  { instructions }: Pick<ParsedTransaction, 'instructions'>,
): string | null => instructions.find(({ index }) => index === instructionIdx)?.programId ?? null;

/** Returns whether the account was closed afterwards, or the delegate moved all that it was allowed to. */
function isUndone(
  { kind, account, to, amount, ...place }: AuthorityChange,
  { instructions }: ParsedTransaction,
): boolean {
  let moved = 0n;
  for (const topLevel of instructions) {
    if (topLevel.index < place.instructionIdx) continue;
    for (const call of [topLevel, ...topLevel.innerInstructions]) {
      const isBefore = call === topLevel || call.index <= (place.innerInstructionIdx ?? -1); // a batch has one index
      if (topLevel.index === place.instructionIdx && isBefore) continue;
      if ((infoAddress(call, 'source') ?? infoAddress(call, 'account')) !== account) continue;
      if (call.type === 'closeAccount') return true;
      if (kind === 'approve' && call.info?.['authorityType'] === 'accountOwner') return true; // a new owner has no delegate
      if (infoAddress(call, 'destination') === account) continue; // to itself: nothing of the allowance is used up
      if (/^(transfer|burn)/.test(call.type ?? '') && infoAddress(call, 'authority') === to)
        moved += tokenAmountIn(call) ?? 0n;
    }
  }
  return kind === 'approve' && amount !== null && moved >= BigInt(amount);
}

/**
 * Interprets a right over assets that somebody else gets, before whatever was sent beside it: that is how wallets are
 * emptied. Only top-level instructions decide, since programs pass accounts on for their own purposes.
 */
export const ownershipRule: Rule = (facts) => {
  const first = findGivenRights(facts.parsed).find(
    (change) => change.innerInstructionIdx === null && RIGHTS_OVER_ASSETS.includes(rightOf(change)),
  );
  return first === undefined ? null : interpretChange(first, facts);
};

/** Interprets any other change of authority; one that a program made counts where the transaction makes none itself. */
export const authorityRule: Rule = (facts) => {
  if (facts.isAttempt) return triedChange(facts);
  const given = findGivenRights(facts.parsed).filter(({ kind }) => TYPE_BY_KIND[kind] !== undefined);
  const changes = topLevelChanges(facts);
  const first =
    given[0] ?? (changes.length > 0 ? changes : typedChanges(facts)).findLast(({ kind }) => kind !== 'approve');
  return first === undefined ? null : interpretChange(first, facts);
};

/** Returns the changes that have a type; what a new mint is made with is no change. */
const typedChanges = ({ parsed }: TransactionFacts): readonly AuthorityChange[] =>
  parsed.authorityChanges.filter(({ kind }) => TYPE_BY_KIND[kind] !== undefined);

const topLevelChanges = (facts: TransactionFacts): readonly AuthorityChange[] =>
  typedChanges(facts).filter(({ innerInstructionIdx }) => innerInstructionIdx === null);

function interpretChange(
  change: AuthorityChange,
  { actor, mainProgram }: TransactionFacts,
): AuthorityInterpretation | null {
  const type = TYPE_BY_KIND[change.kind];
  if (type === undefined) return null;
  const program = change.innerInstructionIdx === null ? null : mainProgram;
  return { type, actor: change.authority ?? change.owner ?? actor, program, change, states: [] };
}

const TYPE_BY_INSTRUCTION: readonly (readonly [name: RegExp, type: AuthorityInterpretation['type']])[] = [
  [/^approve/, 'APPROVE'],
  [/^revoke/, 'REVOKE'],
  [/^freezeAccount/, 'FREEZE'],
  [/^thawAccount/, 'THAW'],
  [/^(setAuthority|authorize|setLockup|assign|transferAuthority)/, 'SET_AUTHORITY'],
];

/** Interprets what a failed transaction would have changed. */
function triedChange({ parsed, actor }: TransactionFacts): AuthorityInterpretation | null {
  for (const { programId, type } of parsed.instructions) {
    if (programRole(programId) !== 'core') continue;
    const found = TYPE_BY_INSTRUCTION.find(([name]) => name.test(type ?? ''));
    if (found !== undefined) return { type: found[1], actor, program: null, change: null, states: [] };
  }
  return null;
}
