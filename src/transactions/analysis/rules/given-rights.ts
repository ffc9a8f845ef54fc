import { compare } from '../../../shared/domain/compare.ts';
import { METADATA_PROGRAM, SYSTEM_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { oncePer } from '../../../shared/runtime/once-per.ts';
import { findEditionAddress } from '../../accounts/metaplex-metadata-account.ts';
import { KNOWN_PROGRAMS, programRole } from '../../programs/known-programs.ts';
import type { Action } from '../action.ts';
import type { AssetAmount } from '../asset-amount.ts';
import { type AuthorityChange, FATES } from '../authority-changes.ts';
import { grouped } from '../grouped.ts';
import { callsOf, infoAddress, type ParsedTransaction, tokenAmountIn } from '../parsed-transaction.ts';
import { findOpenedAccounts, walletChangesOf } from '../wallet-changes.ts';

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
export const RIGHTS_OVER_ASSETS = RIGHTS_BY_DANGER.filter(
  (right) => right !== 'permanentDelegate' && right !== 'closeAccount',
);
/** What is said whoever holds it: rights over a mint from its start, what became of a program or a table, a guard that is off, a rate. */
const SAID_ALWAYS: readonly string[] = [
  ...['permanentDelegate', 'closeMint', ...FATES, 'closedProgram', 'deactivatedTable', 'cpiGuard'],
  ...['transferFee', 'interest', 'scale', 'commissionRate'],
];

export const rightOf = ({ kind, authorityType }: AuthorityChange): string =>
  kind === 'setAuthority' || kind === 'initializeAuthority' ? (authorityType ?? '') : kind;

/**
 * Finds the rights that somebody else has in the end, or that came back with less than was given, whether the transaction
 * itself gave them or a program did, the most dangerous first: of equal ones that over the account with most in it. One that
 * was passed on is said from hand to hand. A right that was used up or taken back within the transaction is none, nor is one
 * over an account that is closed afterwards.
 */
export const findGivenRights = oncePer((parsed: ParsedTransaction): readonly AuthorityChange[] => {
  if (parsed.authorityChanges.length === 0) return [];
  const rights = new Rights(parsed);
  return parsed.authorityChanges
    .filter((change, place) => rights.isGiven(change, place))
    .toSorted((a, b) => dangerOf(a) - dangerOf(b) || compare(stakeOf(b), stakeOf(a)));
});

/** Returns whether an action is what a right over a token account says: what is in it passed with it. */
export const isSaidByRight = (rights: readonly AuthorityChange[], { kind, instruction }: Action): boolean =>
  kind === 'changeOwner' &&
  rights.some((right) => right.instructionIdx === instruction?.[0] && right.innerInstructionIdx === instruction[1]);

function dangerOf(change: AuthorityChange): number {
  const rank = RIGHTS_BY_DANGER.indexOf(rightOf(change));
  return rank < 0 ? RIGHTS_BY_DANGER.length : rank;
}

type Chain = readonly [AuthorityChange, ...AuthorityChange[]];

/** The changes of rights in one transaction: the first and the last of each right, and what was paid for what they are over. */
class Rights {
  readonly #parsed: ParsedTransaction;
  readonly #first: ReadonlyMap<string, AuthorityChange>;
  readonly #last: ReadonlyMap<string, AuthorityChange>;
  /** The first owner of each account. */
  readonly #owners: ReadonlyMap<string, string | null>;
  /** The signers that paid into an account beyond its deposit. */
  readonly #payers: ReadonlyMap<string | null, ReadonlySet<string>>;
  /** Payments of SOL into accounts whose rights change. */
  readonly #funds: readonly Action[];
  readonly #passed: ReadonlySet<AuthorityChange>;
  /** Wallets of which somebody else's token account was made, with the place of that change. */
  readonly #turned: ReadonlyMap<string, number>;

  constructor(parsed: ParsedTransaction) {
    const { authorityChanges, signers, actions } = parsed;
    this.#parsed = parsed;
    this.#last = new Map(authorityChanges.map((change) => [keyOf(change), change]));
    this.#first = new Map(authorityChanges.toReversed().map((change) => [keyOf(change), change]));
    this.#owners = new Map(authorityChanges.toReversed().map(({ account, owner }) => [account, owner]));
    const paid = actions.filter(({ kind, actor }) => kind !== 'rent' && signers.includes(actor));
    const payments = grouped(paid, ({ counterparty }) => counterparty ?? '');
    this.#payers = new Map(payments.map((of) => [of[0].counterparty, new Set(of.map(({ actor }) => actor))]));
    this.#funds = actions.filter(
      (action) =>
        this.#owners.has(action.counterparty ?? '') &&
        callsOf(action, parsed).every(({ programId }) => programId === SYSTEM_PROGRAM), // tokens are no lamports
    );
    const chains = grouped(
      authorityChanges.filter(({ kind }) => kind === 'setAuthority'),
      keyOf,
    );
    this.#passed = new Set(chains.flatMap((chain) => (this.#isPassed(chain) ? chain : [])));
    this.#turned = new Map(
      authorityChanges.flatMap((change, place) =>
        isTurned(change) && this.#passed.has(change) ? [[change.account, place]] : [],
      ),
    );
  }

  isGiven(change: AuthorityChange, place: number): boolean {
    const { kind, authorityType, owner, to, innerInstructionIdx, account } = change;
    const isLast = this.#last.get(keyOf(change)) === change;
    const isTop = innerInstructionIdx === null;
    switch (kind) {
      case 'approve':
        return isLast && !isUndone(change, this.#parsed);
      case 'setAuthority':
        return this.#passed.has(change) || (isLast && this.#isPassedByMaker(change));
      case 'initializeAuthority':
        if (isOverNewMint(change)) return isLast && this.#isOverBought(change);
        return (
          SAID_ALWAYS.includes(authorityType ?? '') ||
          (to !== null &&
            !this.#isOfPayer(change) &&
            !this.#isOfWithdrawer(change) &&
            programRole(topLevelProgramOf(change, this.#parsed)) !== 'staking')
        );
      case 'assign':
        return place > (this.#turned.get(account) ?? -1); // a token account made of it afterwards says more
      case 'upgradeProgram':
        return true;
      case 'setLockup':
        return isLast;
      case 'freeze': {
        const wasFrozen = this.#first.get(keyOf(change))?.kind === 'thaw';
        const isOfProgram = wasFrozen || topLevelProgramOf(change, this.#parsed) === METADATA_PROGRAM;
        return isLast && (isTop || (this.#parsed.signers.includes(owner ?? '') && !isOfProgram));
      }
      case 'pause':
      case 'freezeNewAccounts':
        return isLast;
      default:
        return isLast && isTop && kind !== 'revoke';
    }
  }

  /** Returns whether a right that went from hand to hand is not where it was. */
  #isPassed(chain: Chain): boolean {
    const change = chain.at(-1) ?? chain[0];
    const { account, authorityType, owner, mint, to, tokenBalance, innerInstructionIdx } = change;
    const ownsTokens = authorityType === 'accountOwner';
    // what goes into an account later is described as sent to its owner then
    const isEmpty = (tokenBalance ?? '0') === '0' && !isTurned(change);
    const isMade = innerInstructionIdx !== null && findOpenedAccounts(this.#parsed).has(account) && isEmpty;
    const isOwn = mint === null ? this.#isOfPayer(change) : !this.#parsed.signers.includes(owner ?? '');
    // the owner has what it gave nobody, and somebody else may own the account for a while
    const holder = authorityType === 'closeAccount' ? this.#owners.get(account) : chain[0].from;
    const isCostly = ownsTokens || (holder === to && ['withdrawer', 'nonce'].includes(authorityType ?? ''));
    if (isCostly && isLost(chain)) return true; // closed or not
    return holder !== to && !(isMade && (ownsTokens || isOwn)) && !isUndone(change, this.#parsed);
  }

  /** Returns whether a program that made a mint passed a right over it, but not to Metaplex, which has those over all NFTs. */
  #isPassedByMaker(change: AuthorityChange): boolean {
    const { account, mint, to } = change;
    const isNew = account === mint && this.#first.get(keyOf(change))?.kind === 'initializeAuthority';
    return isNew && this.#isOverBought(change) && to !== findEditionAddress(account);
  }

  /** Returns whether somebody else has a right over a new token of which a signer got some, unless a known program made it. */
  #isOverBought(change: AuthorityChange): boolean {
    const { account, to, innerInstructionIdx } = change;
    const maker = innerInstructionIdx === null ? null : topLevelProgramOf(change, this.#parsed);
    const isOfKnown = KNOWN_PROGRAMS.has(maker ?? '') && programRole(maker) !== 'governance';
    if (to === null || isOfKnown) return false;
    const changesOf = walletChangesOf(this.#parsed);
    const isGain = ({ mint, amount }: AssetAmount): boolean => mint === account && amount > 0n;
    return this.#parsed.signers.some((signer) => signer !== to && changesOf.get(signer)?.some(isGain));
  }

  /** Returns whether the holder of a right signed, and no other signer has or paid for what it is a right over. */
  #isOfPayer(change: AuthorityChange): boolean {
    const { account, to } = change;
    const { signers } = this.#parsed;
    if (to === null || !signers.includes(to)) return false;
    const isPaidByIt = [...(this.#payers.get(account) ?? [])].every((payer) => payer === to);
    return isPaidByIt && (signers.length === 1 || to === account || this.#isFunded(change));
  }

  /** Returns whether somebody may delegate a new stake that may withdraw it, too, which says more. */
  #isOfWithdrawer(change: AuthorityChange): boolean {
    const withdrawer = this.#first.get(keyOf({ ...change, authorityType: 'withdrawer' }));
    return change.authorityType === 'staker' && change.to === withdrawer?.to;
  }

  /** Returns whether an account has no more lamports than this transaction had paid into it. */
  #isFunded(change: AuthorityChange): boolean {
    const before = this.#funds.filter((action) => action.counterparty === change.account && isBefore(action, change));
    const paid = before.reduce((sum, { given: [amount] }) => sum + BigInt(amount?.amount ?? 0), 0n);
    return BigInt(change.lamports ?? 0) <= paid;
  }
}

/** Kinds of changes of which each takes back what the other gave. */
const KINDS_OF_ONE_RIGHT: Readonly<Partial<Record<AuthorityChange['kind'], string>>> = {
  revoke: 'approve',
  thaw: 'freeze',
  resume: 'pause',
  thawNewAccounts: 'freezeNewAccounts',
};

/** Returns which right a change is about: over an account, by its name and terms. */
const keyOf = (change: AuthorityChange): string =>
  `${change.account} ${KINDS_OF_ONE_RIGHT[change.kind] ?? rightOf(change)} ${termsOf(change)}`;

/**
 * Returns what sets a right apart from others of its name: which terms of a lock-up it sets, since the others stay, and who
 * has it from a program other than Solana's own, which may have many members.
 */
function termsOf({ kind, lockup, to, programId }: AuthorityChange): string | null {
  if (lockup !== null) return [lockup.unixTimestamp, lockup.epoch, to].map((term) => term !== null).join(' ');
  return kind === 'setAuthority' && programRole(programId) !== 'core' ? to : '';
}

/** Returns whether a new mint has a right that most mints have. */
const isOverNewMint = ({ account, mint, authorityType }: AuthorityChange): boolean =>
  account === mint && !SAID_ALWAYS.includes(authorityType ?? '') && authorityType !== 'transferHook';

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
