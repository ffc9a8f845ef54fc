import type { Interpretation, Interpreted } from '../analysis/interpretation.ts';
import type { ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { type Clause, joinClauses } from './clauses.ts';
import type { FormatAddress } from './sentence-formats.ts';
import { describeAuthority, describeClosing, describeOpening, describeProgramChange } from './sentences-account.ts';
import { describeActions, INCOMPLETE, memoPhrase } from './sentences-aside.ts';
import { describeCall } from './sentences-call.ts';
import { describeBurn, describeMint, describeTransfer } from './sentences-movement.ts';
import { describeMemo, describeNonceAdvance, describeStake, describeVote } from './sentences-native.ts';
import { describeNft, describeNftTransfer } from './sentences-nft.ts';
import {
  describeArbitrage,
  describeExchangeOfValue,
  describeLaunch,
  describeOrderFill,
  describeSwap,
} from './sentences-trade.ts';
import { wordsOf } from './words.ts';

/** What a transaction of a type tried. */
const ATTEMPTS = wordsOf('attempts');

/** Says what a transaction tried by its type, where nothing is known to have happened. */
export const describeAttempt = (
  { type, actor }: Interpretation,
  { feePayer, signers }: ParsedTransaction,
  formatAddress: FormatAddress,
): string =>
  `${formatAddress(signers.includes(actor) ? actor : feePayer)} ${ATTEMPTS.get(type) ?? 'sent a transaction'}`;

/** What is said of a transaction of which no record says whether it succeeded. */
export const OUTCOME_UNKNOWN = 'the record does not say whether it succeeded';

/** Describes a successful transaction in one sentence, without its full stop, from its interpretation alone. */
export const describeTransaction = (interpretation: Interpreted, formatAddress: FormatAddress): string =>
  joinClauses(clausesOf(interpretation, formatAddress), formatAddress(interpretation.actor));

/** Returns the parts of a description: what the transaction was, then what it did besides. */
export function clausesOf(interpretation: Interpreted, formatAddress: FormatAddress): readonly Clause[] {
  const { actor, asides } = interpretation;
  const lacking = asides.isIncomplete ? [INCOMPLETE] : [];
  if (isSaidByAsides(interpretation)) return [...describeActions(asides, { actor, formatAddress }), ...lacking];
  const clause = withMemo(describeDeed(interpretation, formatAddress), interpretation);
  if (!asides.goFirst) return [clause, ...describeActions(asides, { actor, formatAddress, also: 'also ' }), ...lacking];
  const clauses = describeActions(asides, { actor, formatAddress });
  const isLoss = ({ short }: Clause): boolean => short === undefined;
  return [...clauses.filter(isLoss), clause, ...clauses.filter((beside) => !isLoss(beside)), ...lacking];
}

/** Adds the notes of a transaction to a deed. */
export function withMemo(deed: string, interpretation: Interpreted): Clause {
  const memo = memoPhrase(interpretation);
  return memo === '' ? { text: deed } : { text: `${deed}${memo}`, short: `${deed} with a memo` };
}

/** Returns whether the description of a transaction names its tip. */
export const isTipDescribed = (interpretation: Interpreted): boolean =>
  interpretation.type === 'TRANSFER' &&
  interpretation.program === null &&
  interpretation.payments.length === 0 &&
  !isSaidByAsides(interpretation);

/** Returns whether all that happened is described with more detail: hidden amounts, accounts closed for others, rights, burns. */
function isSaidByAsides(interpreted: Interpreted): boolean {
  const { asides } = interpreted;
  if (interpreted.type === 'CLOSE_ACCOUNT')
    return (
      interpreted.closedAccounts === 0 &&
      (asides.rights.length > 0 || asides.actions.some(({ kind }) => kind === 'close'))
    );
  if (interpreted.type === 'BURN') return interpreted.states.length === 0 && asides.actions.length > 0;
  return (
    interpreted.type === 'TRANSFER' &&
    asides.hiddenTransfers.length + asides.unnamedTransfers > 0 &&
    interpreted.payments.length + interpreted.gained.length + interpreted.lost.length === 0
  );
}

function describeDeed(interpretation: Interpreted, formatAddress: FormatAddress): string {
  if ('payouts' in interpretation) return describeExchangeOfValue(interpretation, formatAddress);
  if ('calledName' in interpretation) return describeCall(interpretation, formatAddress);
  if ('stakeAccount' in interpretation) return describeStake(interpretation, formatAddress);
  if ('seller' in interpretation) return describeNft(interpretation, formatAddress);
  switch (interpretation.type) {
    case 'SWAP':
      return describeSwap(interpretation, formatAddress);
    case 'FILL_ORDER':
      return describeOrderFill(interpretation, formatAddress);
    case 'CREATE':
      return describeLaunch(interpretation, formatAddress);
    case 'ARBITRAGE':
      return describeArbitrage(interpretation, formatAddress);
    case 'TRANSFER':
      return describeTransfer(interpretation, formatAddress);
    case 'NFT_TRANSFER':
      return describeNftTransfer(interpretation, formatAddress);
    case 'TOKEN_MINT':
      return describeMint(interpretation, formatAddress);
    case 'BURN':
      return describeBurn(interpretation, formatAddress);
    case 'CREATE_ACCOUNT':
      return describeOpening(interpretation, formatAddress);
    case 'CLOSE_ACCOUNT':
      return describeClosing(interpretation, formatAddress);
    case 'PROGRAM_DEPLOY':
    case 'PROGRAM_UPGRADE':
      return describeProgramChange(interpretation, formatAddress);
    case 'NONCE_ADVANCE':
      return describeNonceAdvance(interpretation, formatAddress);
    case 'MEMO':
      return describeMemo(interpretation, formatAddress);
    case 'VOTE':
      return describeVote(interpretation, formatAddress);
    default:
      return describeAuthority(interpretation, formatAddress);
  }
}
