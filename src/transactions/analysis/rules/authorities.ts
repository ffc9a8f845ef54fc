import { METADATA_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { asBigInt, asObject } from '../../codec/json-fields.ts';
import { programRole } from '../../programs/known-programs.ts';
import type { AuthorityChange } from '../authority-changes.ts';
import type { AuthorityInterpretation } from '../interpretation.ts';
import { infoAddress, infoAmount, type ParsedTransaction } from '../parsed-transaction.ts';
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
/** What is said whoever holds it: rights over a mint from its start, a program that is no more, a guard that is off, a rate. */
const SAID_ALWAYS: readonly string[] = [
  ...['permanentDelegate', 'closeMint', 'closedProgram', 'cpiGuard'],
  ...['transferFee', 'interest', 'scale', 'commissionRate'],
];

const rightOf = ({ kind, authorityType }: AuthorityChange): string =>
  kind === 'setAuthority' || kind === 'initializeAuthority' ? (authorityType ?? '') : kind;

/**
 * Finds the rights that somebody else has in the end, whether the transaction itself gave them or a program did, the most
 * dangerous first: of equal ones that over the account with most in it. A right that was used up, taken back or passed on
 * within the transaction is none, nor is one over an account that is closed afterwards.
 */
export function findGivenRights(parsed: ParsedTransaction): readonly AuthorityChange[] {
  const { authorityChanges, signers, instructions } = parsed;
  if (authorityChanges.length === 0) return [];
  const opened = findOpenedAccounts(parsed);
  const keyOf = (change: AuthorityChange): string =>
    `${change.account} ${KINDS_OF_ONE_RIGHT[change.kind] ?? rightOf(change)}`;
  const holders = new Map(authorityChanges.toReversed().map((change) => [keyOf(change), change.from]));
  const last = new Map(authorityChanges.map((change) => [keyOf(change), change]));
  const isGiven = (change: AuthorityChange): boolean => {
    const { kind, account, authorityType, owner, mint, to, tokenBalance, innerInstructionIdx, instructionIdx } = change;
    const isLast = last.get(keyOf(change)) === change;
    const isTop = innerInstructionIdx === null;
    switch (kind) {
      case 'approve':
        return isLast && !isUndone(change, parsed);
      case 'setAuthority': {
        // what goes into an account later is described as sent to its owner then
        const isMade = !isTop && opened.has(account) && (tokenBalance ?? '0') === '0';
        const isOwn = mint === null ? signers.includes(to ?? '') : !signers.includes(owner ?? '');
        const isHarmless = isMade && (authorityType === 'accountOwner' || isOwn);
        const returned = last.get(keyOf(change));
        if (authorityType === 'accountOwner' && returned?.to === change.from) return lostWithin(change, returned);
        const isFilled = authorityType === 'accountOwner' && (tokenBalance ?? '0') !== '0'; // closed or not, it is lost
        return isLast && holders.get(keyOf(change)) !== to && !isHarmless && (isFilled || !isUndone(change, parsed));
      }
      case 'initializeAuthority':
        return SAID_ALWAYS.includes(authorityType ?? '') || isForStranger(change, parsed);
      case 'assign':
      case 'setLockup':
        return true;
      case 'freeze':
        return (
          isLast &&
          (isTop || (signers.includes(owner ?? '') && instructions[instructionIdx]?.programId !== METADATA_PROGRAM))
        );
      default:
        return isTop && kind !== 'revoke' && kind !== 'upgradeProgram';
    }
  };
  const dangerOf = (change: AuthorityChange): number => {
    const rank = RIGHTS_BY_DANGER.indexOf(rightOf(change));
    return rank < 0 ? RIGHTS_BY_DANGER.length : rank;
  };
  const stakeOf = ({ tokenBalance, lamports }: AuthorityChange): bigint => BigInt(tokenBalance ?? lamports ?? 0);
  return authorityChanges
    .filter(isGiven)
    .toSorted((a, b) => dangerOf(a) - dangerOf(b) || (stakeOf(a) < stakeOf(b) ? 1 : stakeOf(a) > stakeOf(b) ? -1 : 0));
}

/** Returns whether an account came back to its owner with less than it had when it was given away. */
const lostWithin = (given: AuthorityChange, returned: AuthorityChange): boolean =>
  BigInt(returned.tokenBalance ?? 0) < BigInt(given.tokenBalance ?? 0);

/** Kinds of changes of which each takes back what the other gave. */
const KINDS_OF_ONE_RIGHT: Readonly<Partial<Record<AuthorityChange['kind'], string>>> = {
  revoke: 'approve',
  thaw: 'freeze',
};

/** Returns whether a new account is in the hands of somebody that did not sign, but for pools of stakes. */
const isForStranger = (
  { to, instructionIdx }: AuthorityChange,
  { signers, instructions }: ParsedTransaction,
): boolean =>
  to !== null && !signers.includes(to) && programRole(instructions[instructionIdx]?.programId ?? null) !== 'staking';

/** Returns whether the account was closed afterwards, or the delegate moved all that it was allowed to. */
function isUndone(
  { kind, account, to, amount, ...place }: AuthorityChange,
  { instructions }: ParsedTransaction,
): boolean {
  let moved = 0n;
  for (const topLevel of instructions) {
    if (topLevel.index < place.instructionIdx) continue;
    for (const call of [topLevel, ...topLevel.innerInstructions]) {
      const isBefore =
        call === topLevel ? place.innerInstructionIdx !== null : call.index <= (place.innerInstructionIdx ?? -1);
      if (topLevel.index === place.instructionIdx && isBefore) continue;
      if ((infoAddress(call, 'source') ?? infoAddress(call, 'account')) !== account) continue;
      if (call.type === 'closeAccount') return true;
      if (kind === 'approve' && call.info?.['authorityType'] === 'accountOwner') return true; // a new owner has no delegate
      if (/^(transfer|burn)/.test(call.type ?? '') && infoAddress(call, 'authority') === to)
        moved += infoAmount(call, 'amount') ?? asBigInt(asObject(call.info?.['tokenAmount'])['amount']) ?? 0n;
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
  const first = given[0] ?? (changes.length > 0 ? changes : typedChanges(facts)).find(({ kind }) => kind !== 'approve');
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
