import { SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { oncePer } from '../../shared/runtime/once-per.ts';
import { findAddressWithSeed } from '../accounts/program-derived-address.ts';
import { asArray, asBigInt, asDecimals, asObject, asString } from '../codec/json-fields.ts';
import { findProgramInstruction, mayGiveRights } from '../programs/program-instruction.ts';
import { type Instruction, inExecutionOrder } from '../records/instruction.ts';
import { type ParsedInfo, signerOf } from '../records/instruction-layout.ts';
import type { Transaction } from '../records/transaction.ts';
import { Assignments } from './assignments.ts';
import { addressAt, effectsIn, type Place, placeOf } from './effects.ts';
import type { CurrentBalances } from './transfer-ledger.ts';

/**
 * Kinds of authority changes. `setAuthority`: a right passes to another holder, or nobody; `initializeAuthority`: an account
 * gets a right's first holder, a mint a program that each transfer calls, or an account loses a guard; `assign`: an account
 * of a wallet is given to a program, beyond the deposit of one that is made there.
 */
export const AUTHORITY_CHANGE_KINDS = [
  'setAuthority',
  'initializeAuthority',
  'approve',
  'revoke',
  'freeze',
  'thaw',
  'freezeNewAccounts',
  'thawNewAccounts',
  'pause',
  'resume',
  'setLockup',
  'assign',
  'upgradeProgram',
] as const;

/** A change of the right to dispose of an account, a mint, a stake or a program, with what is at stake. */
export interface AuthorityChange {
  readonly kind: (typeof AUTHORITY_CHANGE_KINDS)[number];
  /**
   * The right, for the first two kinds: a token program's as nodes name it (`accountOwner`, `mintTokens`), one of
   * `effects.tsv`, or the instruction of another program that gave or proposed it; else null.
   */
  readonly authorityType: string | null;
  readonly programId: string;
  /** The token account, mint, stake, vote or nonce account, program data, buffer, table or wallet. */
  readonly account: string;
  /** The mint of a token account, or the mint itself. */
  readonly mint: string | null;
  /** The owner of the token account before the change; null if there is none, or if it is not recorded. */
  readonly owner: string | null;
  /** The holder before; null if there was none, or if no record names it. */
  readonly from: string | null;
  /** The new holder, delegate or program; null if there is none. */
  readonly to: string | null;
  /** The account that signed for it. */
  readonly authority: string | null;
  /** Approved amount in smallest units, or the most that a fee is. */
  readonly amount: string | null;
  /** A fee, a commission or an interest in basis points. */
  readonly basisPoints: string | null;
  /** Tokens in the account at that time, in smallest units. */
  readonly tokenBalance: string | null;
  readonly decimals: number | null;
  /** Lamports in the account at that time; null for mints and for token accounts, but for one that is made of a wallet. */
  readonly lamports: string | null;
  /** What a lock-up changes to: Unix seconds and an epoch, null for one that stays. */
  readonly lockup: { readonly unixTimestamp: string | null; readonly epoch: string | null } | null;
  /** Unix seconds from which it holds, where that is after the block; else null. */
  readonly effectiveTimestamp: string | null;
  readonly instructionIdx: number;
  readonly innerInstructionIdx: number | null;
}

/** How an instruction names a change. */
interface ChangeRow {
  readonly kind: string;
  readonly right: string;
  readonly account: Place;
  readonly to: Place;
  readonly signer: string;
}

const toChangeRow = ([kind = '', right = '', account, to, signer = '']: readonly string[]): ChangeRow => {
  return { kind, right, account: placeOf(account), to: placeOf(to), signer };
};
const changeRowsOf = effectsIn('rights', toChangeRow);

/** Rights over stakes and votes, as nodes name them. */
const STAKE_RIGHTS: Readonly<Record<string, string>> = {
  Staker: 'staker',
  Withdrawer: 'withdrawer',
  Voter: 'voter',
  VoterWithBLS: 'voter',
};
/** What somebody else than its holder can pass on, such as the withdrawer of a stake. */
const PASSED_BY_OTHERS: readonly string[] = ['staker', 'voter', 'commission', 'identity'];

function rightIn({ authorityType }: ParsedInfo): string {
  const name = asString(authorityType) ?? Object.keys(asObject(authorityType))[0] ?? '';
  return STAKE_RIGHTS[name] ?? name;
}

/** Returns who signed for a change, and who held the right: the signer, or the address that is derived from it. */
function signatureIn(info: ParsedInfo, signer: string): Pick<AuthorityChange, 'authority' | 'from'> {
  const [name = '', isSeeded] = signer.split('+');
  const authority = signerOf(info, name);
  if (isSeeded === undefined) return { authority, from: authority };
  const [seed, owner] = [info['authoritySeed'], info['authorityOwner']].map(asString);
  if (authority === null || typeof seed !== 'string' || typeof owner !== 'string') return { authority, from: null };
  try {
    return { authority, from: findAddressWithSeed(authority, seed, owner) };
  } catch {
    return { authority, from: null }; // no address of the record
  }
}

const toText = (value: unknown): string | null => (asBigInt(value) === null ? null : `${asBigInt(value)}`);

/** Returns the rate that an instruction names; a commission may be in percent. */
function basisPointsIn({ transferFeeBasisPoints, commissionBps, newRate, commission }: ParsedInfo): string | null {
  const percent = asBigInt(commission);
  return toText(transferFeeBasisPoints ?? commissionBps ?? newRate) ?? (percent === null ? null : `${percent * 100n}`);
}

const isKind = (kind: string): kind is AuthorityChange['kind'] =>
  AUTHORITY_CHANGE_KINDS.some((known) => known === kind);

/** Returns the kind of a change; what happens to new accounts of a mint depends on the state that it names. */
function kindOf({ kind }: ChangeRow, { accountState }: ParsedInfo): AuthorityChange['kind'] {
  if (isKind(kind)) return kind;
  if (kind === 'open') return 'setAuthority';
  return accountState === 'frozen' ? 'freezeNewAccounts' : 'thawNewAccounts';
}

/** Returns a function that reads the authority changes of an instruction, with the balances right before it. */
export function authorityChangeReader(
  transaction: Transaction,
): (call: Instruction, balances: CurrentBalances) => readonly (AuthorityChange | null)[] {
  const assignments = new Assignments(transaction);
  const readChange = (call: Instruction, balances: CurrentBalances, row: ChangeRow): AuthorityChange | null => {
    const { program, programId, parsed, index, innerIndex } = call;
    const info = parsed?.info ?? {};
    const account = addressAt(info, row.account);
    if (account === null) return null;
    const named = kindOf(row, info);
    const { authority, from } = signatureIn(info, row.signer);
    const to = addressAt(info, row.to);
    const held = transaction.preBalances.length === 0 ? null : balances.lamportsOf(account);
    const assigned =
      named === 'assign' ? assignments.read(call, account, { authority, to, held }) : { isMade: false, lamports: held };
    if (assigned === null) return null;
    const { isMade, lamports } = assigned;
    const kind = isMade ? 'initializeAuthority' : named;
    const right = row.right === 'authorityType' ? rightIn(info) : isMade ? 'program' : row.right;
    const isOpened = row.kind === 'open';
    if (isOpened && !balances.isWallet(account)) return null;
    const tokenAccount = program === 'spl-token' && !isOpened ? balances.tokenAccountOf(account) : undefined;
    const { amount, decimals } = asObject(info['tokenAmount']);
    const { unixTimestamp, epoch } = asObject(info['lockup']);
    const isOfNew = kind === 'setLockup' && row.signer === '-';
    if (isOfNew && [unixTimestamp, epoch].every((end) => asBigInt(end) === 0n)) return null; // a stake that is not locked
    const mint = asString(info['mint']) ?? tokenAccount?.mint ?? null;
    const start = asBigInt(info['newMultiplierTimestamp']);
    const ownsTokens = right === 'accountOwner';
    const isHolder = kind === 'setAuthority' && !PASSED_BY_OTHERS.includes(right);
    return {
      kind,
      authorityType: right === '-' ? null : right,
      programId,
      account,
      mint,
      owner: tokenAccount?.owner ?? (ownsTokens || kind === 'approve' || kind === 'revoke' ? authority : null),
      from: (ownsTokens ? tokenAccount?.owner : null) ?? (isHolder ? from : null),
      to,
      authority,
      amount: toText(info['amount'] ?? amount ?? info['maximumFee']),
      basisPoints: basisPointsIn(info),
      tokenBalance: tokenAccount === undefined ? null : `${tokenAccount.amount}`,
      decimals: asDecimals(decimals) ?? (mint === null ? null : balances.decimalsOf(mint)),
      lamports: (mint === null || isOpened) && lamports !== null ? `${lamports}` : null,
      lockup: kind === 'setLockup' ? { unixTimestamp: toText(unixTimestamp), epoch: toText(epoch) } : null,
      effectiveTimestamp: start !== null && start > (transaction.blockTime ?? 0) ? `${start}` : null,
      instructionIdx: index,
      innerInstructionIdx: innerIndex,
    };
  };
  return (call, balances) => {
    if (call.parsed === null) return programsChangesOf(call, transaction);
    assignments.noteSpace(call);
    return changeRowsOf(call).map((row) => readChange(call, balances, row));
  };
}

/** Instructions that pass on a right to make changes, and nothing else. Others give one to several, or one over funds. */
const PASSING = /^(update|update_metadata_account_v2|update(_collection)?_v[12]|multisig_set_config_authority)$/;

/** Reads the right that a program other than Solana's own gives somebody, or several, by the table of its instructions. */
function programsChangesOf(call: Instruction, transaction: Transaction): readonly AuthorityChange[] {
  const { programId, index, innerIndex } = call;
  const instruction = mayGiveRights(call) ? findProgramInstruction(call) : null;
  if (instruction === null) return [];
  const { roles, values } = instruction;
  const execution = isProposal(instruction.name) ? executionsIn(transaction).get(roles.order ?? '') : undefined;
  const name = execution ?? instruction.name;
  const { mint = null, user = null, owner = user } = roles;
  const account = roles.account ?? mint ?? owner;
  const listed = asArray(values['holder']).flatMap((holder) => asString(holder) ?? []);
  const holders = new Set(listed.length > 0 ? listed : [roles.holder].filter((holder) => holder !== undefined));
  return [...holders].flatMap((holder): AuthorityChange[] => {
    if (account === null || holder === owner) return [];
    const isGivenUp = holder === SYSTEM_PROGRAM && PASSING.test(name); // for which nobody can sign
    const [from, to] = isGivenUp ? [owner, null] : [null, holder];
    return [
      {
        ...{ kind: 'setAuthority', authorityType: name, programId, account, mint, owner, from, to },
        ...{ authority: owner, amount: null, basisPoints: null, tokenBalance: null, decimals: null, lamports: null },
        ...{ lockup: null, effectiveTimestamp: null, instructionIdx: index, innerInstructionIdx: innerIndex },
      },
    ];
  });
}

/** Instructions that only propose to give a right, on which others decide. */
const isProposal = (name: string): boolean =>
  ['config_transaction_create', 'create_settings_transaction'].includes(name);

export const isProposed = ({ authorityType }: AuthorityChange): boolean => isProposal(authorityType ?? '');

/** Finds which instruction carries out each order of a multisig. */
const executionsIn = oncePer(({ instructions }: Transaction): ReadonlyMap<string, string> => {
  const made = inExecutionOrder(instructions)
    .filter(mayGiveRights)
    .flatMap((call) => findProgramInstruction(call) ?? []);
  return new Map(
    made.flatMap(({ name, roles: { order } }) =>
      order !== undefined && name.includes('execute') ? [[order, name] as const] : [],
    ),
  );
});

/** What became of a program that its owner still has: no right passed. */
export const FATES: readonly string[] = ['newProgram', 'movedProgram', 'stoppedProgram'];

export const isStillOwned = ({ authorityType }: AuthorityChange): boolean => FATES.includes(authorityType ?? '');
