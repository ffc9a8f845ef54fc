import { programRole } from '../../programs/known-programs.ts';
import type { AuthorityChange } from '../authority-changes.ts';
import type { AuthorityInterpretation } from '../interpretation.ts';
import { findCloseAccountInstructions, infoAddress } from '../parsed-transaction.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import type { Rule } from './rule.ts';

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

/** Rights over what somebody owns: who gets one can take it. */
const RIGHTS_OVER_ASSETS: readonly string[] = ['accountOwner', 'staker', 'withdrawer', 'nonce', 'upgrade'];

/**
 * Tells of what somebody else may take from now on, before whatever was sent beside it: that is how wallets are emptied.
 * Only what the transaction itself asks for counts, since programs hand accounts on for a moment.
 */
export const ownershipRule: Rule = (facts) => {
  const first = findRightOverAssets(facts);
  return first === null ? null : interpretChange(first, topLevelChanges(facts).length - 1, facts);
};

/** Finds the first right over assets that the transaction itself gives to somebody else, and doesn't take back. */
function findRightOverAssets(facts: TransactionFacts): AuthorityChange | null {
  const isLasting = lastingDelegations(facts);
  const given = topLevelChanges(facts).find(
    (change) =>
      (change.kind === 'approve' && isLasting(change)) ||
      change.kind === 'assign' ||
      (change.kind === 'setAuthority' && RIGHTS_OVER_ASSETS.includes(change.authorityType ?? '')),
  );
  return given ?? null;
}

/** Returns the function that tells whether an approval, or its end, is the last word on its account. */
function lastingDelegations({ parsed }: TransactionFacts): (change: AuthorityChange) => boolean {
  const last = new Map(
    parsed.authorityChanges
      .filter(({ kind }) => kind === 'approve' || kind === 'revoke')
      .map((change) => [change.account, change]),
  );
  return (change) => last.get(change.account) === change;
}

/**
 * Finds a right over assets that somebody else has in the end, programs' doings included: tokens of a signer that belong
 * to another by then.
 */
export function findLostRight(facts: TransactionFacts): AuthorityChange | null {
  const { parsed } = facts;
  const closed = new Set(findCloseAccountInstructions(parsed).map((call) => infoAddress(call, 'account')));
  const lastByAccount = new Map(
    parsed.authorityChanges
      .filter(({ authorityType }) => authorityType === 'accountOwner')
      .map((change) => [change.account, change]),
  );
  const first = parsed.authorityChanges.find(
    ({ account, authorityType, owner, tokenBalance }) =>
      authorityType === 'accountOwner' &&
      (tokenBalance ?? '0') !== '0' &&
      parsed.signers.includes(owner ?? '') &&
      lastByAccount.get(account)?.to !== owner &&
      !closed.has(account),
  );
  return findRightOverAssets(facts) ?? first ?? null;
}

/** Tells of any other change of authority; of what programs changed, where nothing else tells more. */
export const authorityRule: Rule = (facts) => {
  if (facts.hasFailed) return triedChange(facts);
  const changes = topLevelChanges(facts);
  const all = changes.length > 0 ? changes : toldChanges(facts);
  const isLasting = lastingDelegations(facts);
  const first = all.find((change) => change.kind !== 'approve' || isLasting(change));
  return first === undefined ? null : interpretChange(first, all.length - 1, facts);
};

/** Returns the changes of a kind that is told; what a new mint is made with is no change. */
const toldChanges = ({ parsed }: TransactionFacts): readonly AuthorityChange[] =>
  parsed.authorityChanges.filter(({ kind }) => TYPE_BY_KIND[kind] !== undefined);

const topLevelChanges = (facts: TransactionFacts): readonly AuthorityChange[] =>
  toldChanges(facts).filter(({ innerInstructionIdx }) => innerInstructionIdx === null);

function interpretChange(
  change: AuthorityChange,
  others: number,
  facts: TransactionFacts,
): AuthorityInterpretation | null {
  const type = TYPE_BY_KIND[change.kind];
  const { parsed, mainProgram, payments } = facts;
  if (type === undefined) return null;
  const program = change.innerInstructionIdx === null ? null : mainProgram;
  return { type, actor: change.owner ?? change.authority ?? parsed.feePayer, program, change, others, payments };
}

const TYPE_BY_INSTRUCTION: readonly (readonly [name: RegExp, type: AuthorityInterpretation['type']])[] = [
  [/^approve/, 'APPROVE'],
  [/^revoke/, 'REVOKE'],
  [/^freezeAccount/, 'FREEZE'],
  [/^thawAccount/, 'THAW'],
  [/^(setAuthority|authorize|setLockup|assign|transferAuthority)/, 'SET_AUTHORITY'],
];

/** Tells what a failed transaction would have changed. */
function triedChange({ parsed }: TransactionFacts): AuthorityInterpretation | null {
  for (const { programId, type } of parsed.instructions) {
    if (programRole(programId) !== 'core') continue;
    const found = TYPE_BY_INSTRUCTION.find(([name]) => name.test(type ?? ''));
    if (found !== undefined)
      return { type: found[1], actor: parsed.feePayer, program: null, change: null, others: 0, payments: [] };
  }
  return null;
}
