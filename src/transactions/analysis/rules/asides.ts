import { TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import { asString } from '../../codec/json-fields.ts';
import { KNOWN_PROGRAMS } from '../../programs/known-programs.ts';
import { effectsOf } from '../action.ts';
import type { Asides, Interpretation } from '../interpretation.ts';
import { allInstructions, type ParsedTransaction } from '../parsed-transaction.ts';
import { findRemainder } from '../remainder.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import { WalletSums } from '../wallet-sums.ts';
import { findGivenRights } from './authorities.ts';

const NONE: Asides = { actions: [], changes: [], rights: [], hiddenTransfers: [], unnamedTransfers: 0, memos: [] };

/**
 * Finds what a transaction did beside its interpretation. A swap or a move in a game decides the sentence, which must
 * still name what was sent or given away beside it: that is how wallets are emptied.
 */
export function findAsides(interpretation: Interpretation, facts: TransactionFacts): Asides {
  const { parsed, hasFailed } = facts;
  if (hasFailed) return NONE;
  const remainder = findRemainder(interpretation.states, parsed);
  const described = 'change' in interpretation ? interpretation.change : null;
  return {
    ...remainder,
    changes:
      interpretation.type === 'FILL_ORDER'
        ? [...remainder.changes, ...keptBy(interpretation, parsed)]
        : remainder.changes,
    rights: findGivenRights(parsed).filter((change) => change !== described),
    hiddenTransfers: parsed.confidentialTransfers.filter(({ type }) => type !== 'apply'),
    unnamedTransfers: countUnnamed(facts),
    memos: interpretation.type === 'TRANSFER' || interpretation.type === 'NFT_TRANSFER' ? memosOf(parsed) : [],
  };
}

/** Returns what a fill left to those that signed for it. */
function keptBy({ states, actor }: Interpretation, { signers }: ParsedTransaction): Asides['changes'] {
  const sums = new WalletSums();
  for (const [wallet, amount] of states.flatMap(({ actions }) => [...actions]).flatMap(effectsOf))
    if (wallet !== actor && signers.includes(wallet)) sums.add(wallet, amount);
  return sums.entries();
}

/** Counts the transfers of tokens that are not among those of known mints: very old records have no balances of tokens. */
function countUnnamed({ parsed, calls }: TransactionFacts): number {
  const moved = calls.filter(
    ({ programId, type }) => TOKEN_PROGRAM_IDS.includes(programId) && /^transfer/.test(type ?? ''),
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
