import { isTradingProgram, programRole } from '../../programs/known-programs.ts';
import type { ProgramInstruction } from '../../programs/program-instruction.ts';
import type { TransactionType } from '../../programs/transaction-types.ts';
import type { Action } from '../action.ts';
import { type Interpretation, isCallType, isExchangeType } from '../interpretation.ts';
import { splitBySign } from '../net-change.ts';
import type { ParsedTransaction } from '../parsed-transaction.ts';
import { paymentsIn, sumByMint } from '../payments.ts';
import { programFlowsOf } from '../program-flows.ts';
import { isSent } from '../remainder.ts';
import { type Share, shareOf } from '../share.ts';
import type { Swap } from '../swap-legs.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { interpretCall, isOrder, mainInstructions } from './calls.ts';
import { exchangeOf } from './flows.ts';

/** Types that a table of instructions decides, the most significant one first: a loan goes before its collateral. */
const DECIDED: readonly TransactionType[] = [
  'LIQUIDATE',
  'BORROW',
  'REPAY_LOAN',
  'FILL_ORDER',
  'OPEN_ORDER',
  'PLACE_ORDER',
  'CANCEL_ORDER',
  'ADD_TO_POOL',
  'REMOVE_FROM_POOL',
  'WITHDRAW',
  'DEPOSIT',
  'CLAIM',
  'BRIDGE_FULFILMENT',
  'BRIDGE_DEPOSIT',
  'QUOTE_UPDATE',
];

/** Types that say no more than what a program is for: rules on movements go before them. */
const PURPOSES: readonly TransactionType[] = ['ORACLE_UPDATE', 'BRIDGE', 'PERPS', 'GAME', 'LEND', 'INFRA'];

/** Interprets the main program's instruction by its table. Orders in order books have a rule of their own. */
export const decodedRule: Rule = (facts) => findDecoded(DECIDED, facts);

/** Interprets what the main program's instruction is about, where no other rule says more. */
export const decodedPurposeRule: Rule = (facts) => findDecoded(PURPOSES, facts);

function findDecoded(types: readonly TransactionType[], facts: TransactionFacts): Interpretation | null {
  const { mainProgram } = facts;
  if (mainProgram === null) return null;
  const decoded = mainInstructions(facts).filter((instruction) => instruction !== null);
  if (decoded.some(isOrder) && programRole(mainProgram) === 'orderBook') return null;
  for (const type of types) {
    const ofType = decoded.filter((candidate) => candidate.type === type);
    const instruction = ofType.find(({ roles }) => roles.owner !== undefined) ?? ofType[0]; // a fill may take several
    if (instruction !== undefined) return interpretDecoded(type, instruction, ownersOf(ofType), facts);
  }
  return null;
}

const ownersOf = (instructions: readonly ProgramInstruction[]): readonly string[] => [
  ...new Set(instructions.flatMap(({ roles }) => roles.owner ?? [])),
];

function interpretDecoded(
  type: TransactionType,
  { name, roles }: ProgramInstruction,
  owners: readonly string[],
  facts: TransactionFacts,
): Interpretation | null {
  const { parsed, mainProgram: program } = facts;
  const named = [roles['user'], roles['owner'], roles['seller'], roles['buyer']].filter((role) => role !== undefined);
  const actor = named.find((wallet) => parsed.signers.includes(wallet)) ?? facts.actor;
  if (type === 'FILL_ORDER') return interpretFill(roles, facts);
  if (isCallType(type)) return { ...interpretCall(facts, type), actor, instruction: name };
  if (!isExchangeType(type)) return null;
  const exchange = exchangeOf(type, actor, program, programFlowsOf(actor, program, parsed));
  const { gained, lost, states } = exchange;
  if (type === 'CLAIM' && !facts.isAttempt && gained.length === 0) return null;
  if (type === 'REMOVE_FROM_POOL') return { ...exchange, ...paidToOthers(program, exchange.states, parsed) };
  if (type !== 'BRIDGE_FULFILMENT')
    return owners.every((owner) => owner === actor) ? exchange : { ...exchange, owners };
  const paid = sentToOthers(program, parsed);
  const payouts = paymentsIn(paid);
  const others = lost.filter(({ mint }) => payouts.every((payout) => payout.from !== actor || payout.mint !== mint));
  return { ...exchange, lost: others, states: [...states, ...shareOf(paid)], payouts };
}

/** Returns what a pool paid to others than signers, who put nothing into it. */
function paidToOthers(program: string | null, states: readonly Share[], parsed: ParsedTransaction) {
  const givers = new Set(parsed.actions.flatMap(({ given, actor }) => (given.length > 0 ? [actor] : [])));
  const paid = sentToOthers(program, parsed).filter(
    ({ actor, counterparty }) => !parsed.signers.includes(actor) && !givers.has(counterparty ?? ''),
  );
  return { states: [...states, ...shareOf(paid)], payouts: paymentsIn(paid) };
}

/** Returns what a program sent to others than signers. */
const sentToOthers = (program: string | null, { actions, signers }: ParsedTransaction): readonly Action[] =>
  actions.filter(
    (action) => isSent(action) && action.program === program && !signers.includes(action.counterparty ?? ''),
  );

/** A fill is stated from the side of the order's owner; what is left to those that signed for it is one figure for each mint. */
const statesOfFill = (owner: string, order: string | null, { signers, actions }: ParsedTransaction): readonly Share[] =>
  shareOf(
    actions.filter(
      ({ kind, actor, counterparty, program, authority }) =>
        ['swap', 'transfer', 'payout'].includes(kind) &&
        ((program === order && (authority === null || [actor, counterparty].includes(owner))) ||
          (isTradingProgram(program) && signers.includes(actor) && ![actor, counterparty].includes(owner))),
    ),
  );

/** Interprets a fill from the side of the order's owner; null if the instruction doesn't name it, or if nothing came in for it. */
function interpretFill(roles: ProgramInstruction['roles'], facts: TransactionFacts): Interpretation | null {
  const owner = roles['owner'] ?? roles['user'];
  const { mainProgram: program, isAttempt, parsed } = facts;
  if (owner === undefined || owner === roles['keeper']) return null;
  if (isAttempt) return { type: 'FILL_ORDER', actor: owner, program, swap: null, states: [] };
  const outputs = programFlowsOf(owner, program, parsed).received;
  const moved = parsed.tokenTransfers.flatMap(({ fromUserAccount, toUserAccount, mint, amount, decimals }) =>
    fromUserAccount === toUserAccount || ![fromUserAccount, toUserAccount].includes(roles['order'] ?? '')
      ? []
      : { mint, decimals, amount: fromUserAccount === roles['order'] ? BigInt(amount) : -BigInt(amount) },
  );
  const { gained: given } = splitBySign(sumByMint(moved));
  const inputs = given.filter(({ mint }) => outputs.every((output) => output.mint !== mint)); // what the keeper brought
  const states = statesOfFill(owner, program, parsed);
  const swap: Swap = { wallet: owner, inputs, outputs, program, states };
  return inputs.length === 0 || outputs.length === 0
    ? null
    : { type: 'FILL_ORDER', actor: owner, program, swap, states };
}
