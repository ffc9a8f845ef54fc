import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import { asString } from '../../codec/json-fields.ts';
import { KNOWN_PROGRAMS, programRole } from '../../programs/known-programs.ts';
import { type Action, effectsOf, toAmount } from '../action.ts';
import { type AssetAmount, negate } from '../asset-amount.ts';
import { type AuthorityChange, isStillOwned } from '../authority-changes.ts';
import type { ConfidentialTransfer } from '../confidential-transfers.ts';
import type { Asides, Interpretation, OrderFillInterpretation } from '../interpretation.ts';
import { allInstructions, type ParsedTransaction } from '../parsed-transaction.ts';
import { findRemainder } from '../remainder.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import { WalletSums } from '../wallet-sums.ts';
import { findGivenRights, topLevelProgramOf } from './given-rights.ts';
import { findStakeChanges } from './native-programs.ts';

const NONE: Asides = {
  ...{ actions: [], changes: [], rights: [], stakes: [], hiddenTransfers: [], unnamedTransfers: 0 },
  ...{ isIncomplete: false, memos: [], goFirst: false },
};

/**
 * Finds what a transaction did beside its interpretation. A swap or a move in a game decides the sentence, which must
 * still name what was sent or given away beside it: that is how wallets are emptied.
 */
export function findAsides(interpretation: Interpretation, facts: TransactionFacts): Asides {
  const { parsed, isAttempt } = facts;
  if (isAttempt) return NONE;
  const remainder = findRemainder(interpretation.states, parsed);
  const described =
    'change' in interpretation && typeof interpretation.change === 'object' ? interpretation.change : null;
  const beside = {
    ...remainder,
    changes:
      interpretation.type === 'FILL_ORDER'
        ? [...remainder.changes, ...keptBy(interpretation, parsed)]
        : remainder.changes,
    rights: findGivenRights(parsed).filter((change) => change !== described && !isOfPrograms(change, interpretation)),
    stakes: findStakeChanges(facts).filter(
      ({ stakeAccount, change }) => !isOfStake(interpretation, stakeAccount, change),
    ),
    hiddenTransfers: parsed.confidentialTransfers.filter(({ type }) => type !== 'apply'),
    unnamedTransfers: countUnnamed(facts),
    isIncomplete: parsed.isIncomplete,
    memos: interpretation.type === 'TRANSFER' || interpretation.type === 'NFT_TRANSFER' ? memosOf(parsed) : [],
  };
  return { ...beside, goFirst: goFirst(beside, interpretation, described, parsed) };
}

const isOfStake = (deed: Interpretation, stakeAccount: string, change: string): boolean =>
  'stakeAccount' in deed &&
  deed.stakeAccount === stakeAccount &&
  (deed.change === change || (deed.change === 'withdrawn' && change === 'deactivated')); // it must be, to be withdrawn

/** Returns whether a change is that of the programs that an interpretation names. */
const isOfPrograms = ({ kind, authorityType, account, authority }: AuthorityChange, deed: Interpretation): boolean =>
  (deed.type === 'PROGRAM_UPGRADE' || deed.type === 'PROGRAM_DEPLOY') &&
  (kind === 'upgradeProgram' ? 'upgraded' : authorityType === 'newProgram' ? 'deployed' : null) === deed.change &&
  deed.accounts.includes(account) &&
  (authority === null || authority === deed.actor);

/** Returns whether rights or losses are more than what an interpretation states: in the same token, or in none. */
function goFirst(
  { actions, changes, rights, hiddenTransfers }: Omit<Asides, 'goFirst'>,
  { type, states, program }: Interpretation,
  described: AuthorityChange | null,
  { signers, instructions }: ParsedTransaction,
): boolean {
  if (actions.length + changes.length + rights.length + hiddenTransfers.length === 0) return false;
  const stated = states.flatMap((share) => [...share.actions]);
  const isDeed = stated.length > 0 || type.startsWith('NFT') || type === 'CREATE';
  const isKnown = isDeed && KNOWN_PROGRAMS.has(program ?? '') && programRole(program) !== 'governance';
  /** What a program that is known does for what it is called for is a part of that. */
  const isPart = (maker: string | null): boolean => isKnown && maker === program;
  const makerOf = (change: AuthorityChange): string | null =>
    change.innerInstructionIdx === null ? null : topLevelProgramOf(change, { instructions });
  const isGiven = (right: AuthorityChange): boolean =>
    !isStillOwned(right) && (!isDeed || right.to !== null || right.kind !== 'setAuthority') && !isPart(makerOf(right));
  const stake = described === null ? null : stakeIn(described);
  if (stake === null && rights.some(isGiven)) return true;
  if (hiddenTransfers.some(({ type: moved }) => HIDDEN_LOSSES.includes(moved))) return true;
  const isOfSigner = ({ kind, actor, authority }: Action): boolean =>
    authority !== null || signers.includes(actor) || (kind === 'payout' && !isDeed);
  const lost = new WalletSums();
  for (const action of actions)
    if (LOSSES.includes(action.kind) && isOfSigner(action) && !isPart(action.program))
      for (const amount of amountsIn(action)) lost.add('', amount);
  for (const [, amount] of changes) if (amount.amount < 0n) lost.add('', negate(amount));
  const moved = new WalletSums();
  if (stake !== null) moved.add('', stake);
  for (const amount of stated.flatMap(amountsIn)) moved.add('', amount);
  const isMore = ({ mint, amount }: AssetAmount): boolean =>
    amount > moved.of('', mint) && (stake === null || stake.amount === 0n || stake.mint === mint);
  return lost.entries().some(([, amount]) => isMore(amount));
}

const amountsIn = ({ given, got }: Action): readonly AssetAmount[] => [...given, ...got].map(toAmount);

/** What costs somebody something: deposits do not count. */
const LOSSES: readonly Action['kind'][] = [
  ...(['transfer', 'payout', 'burn', 'close', 'funding', 'asset', 'withheldFee'] as const),
];
const HIDDEN_LOSSES: readonly ConfidentialTransfer['type'][] = ['transfer', 'burn', 'withdrawWithheldFee'];

/** Returns what the new holder of a right over assets can dispose of; null for a right over something else. */
function stakeIn({ kind, authorityType, mint, amount, tokenBalance, lamports, decimals }: AuthorityChange) {
  const isOver =
    kind === 'approve' || kind === 'assign' || ['accountOwner', 'withdrawer'].includes(authorityType ?? '');
  if (!isOver) return null;
  const [held, most] = [BigInt(tokenBalance ?? lamports ?? 0), amount === null ? null : BigInt(amount)];
  return {
    ...(lamports === null && mint !== null ? { mint, decimals: decimals ?? 9 } : { mint: WRAPPED_SOL, decimals: 9 }),
    amount: most !== null && most < held ? most : held,
  };
}

/** Returns what a fill left to those that signed for it, and to the order's owner beside what the order got. */
function keptBy({ states, actor, swap }: OrderFillInterpretation, { signers }: ParsedTransaction): Asides['changes'] {
  const sums = new WalletSums();
  for (const output of swap?.outputs ?? []) sums.add(actor, negate(output));
  for (const [wallet, amount] of states.flatMap(({ actions }) => [...actions]).flatMap(effectsOf))
    if (wallet === actor || signers.includes(wallet)) sums.add(wallet, amount);
  return sums.entries();
}

/** Counts the transfers of tokens that are not among those of known mints: very old records have no balances of tokens. */
function countUnnamed({ parsed, calls }: TransactionFacts): number {
  const moved = calls.filter(
    ({ programId, type }) => type?.startsWith('transfer') === true && TOKEN_PROGRAM_IDS.includes(programId),
  );
  const named = parsed.tokenTransfers.filter(
    (transfer) => transfer.fromTokenAccount !== null && transfer.toTokenAccount !== null,
  );
  return Math.max(0, moved.length - named.length);
}

const memosOf = (parsed: ParsedTransaction): readonly string[] =>
  allInstructions(parsed)
    .filter(({ programId }) => KNOWN_PROGRAMS.get(programId)?.source === 'MEMO_PROGRAM')
    .flatMap(({ info }) => asString(info?.['memo']) ?? []);
