import { programRole } from '../../programs/known-programs.ts';
import type { AuthorityChange } from '../authority-changes.ts';
import type { AuthorityInterpretation } from '../interpretation.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { findGivenRights, RIGHTS_OVER_ASSETS, rightOf } from './given-rights.ts';

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
