import { programRole } from '../../programs/known-programs.ts';
import type { ProgramRole } from '../../programs/program-roles.ts';
import type { ExchangeOfValueInterpretation, ExchangeType } from '../interpretation.ts';
import { type ProgramFlows, programFlowsOf } from '../program-flows.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { mainInstructions } from './calls.ts';

/** Returns what an exchange of value is by what moved which way; null if that may be anything. */
type Shape = (flows: ProgramFlows) => ExchangeType | null;

/** What an order or a plan trades is left with the program, or comes back. */
const shapeOfOrder: Shape = ({ given, received }) => {
  if (given.length > 0 === received.length > 0) return null;
  return given.length > 0 ? 'OPEN_ORDER' : 'CANCEL_ORDER';
};

/** An asset for a receipt is a deposit, a receipt for an asset a withdrawal. */
const shapeOfDeposit: Shape = ({ given, received, receiptsGot, receiptsGiven }) => {
  if (given.length > 0 && received.length === 0 && receiptsGot.length > 0) return 'DEPOSIT';
  return received.length > 0 && given.length === 0 && receiptsGiven.length > 0 ? 'WITHDRAW' : null;
};

/**
 * Two assets go one way, and nothing but a receipt comes back. A single one counts where the NFT of a position was made or
 * burned with it.
 */
const shapeOfLiquidity: Shape = ({ given, received, receiptsGot, receiptsGiven, hasPositionNft }) => {
  const isPair = ({ length }: readonly unknown[]): boolean => length > 1 || (length === 1 && hasPositionNft);
  if (isPair(given) && received.length + receiptsGiven.length === 0) return 'ADD_TO_POOL';
  return isPair(received) && given.length + receiptsGot.length === 0 ? 'REMOVE_FROM_POOL' : null;
};

/** By the role of the program, where no table names the instruction. A fee for a claim is no price. */
const SHAPES: Readonly<Partial<Record<ProgramRole, Shape>>> = {
  orders: shapeOfOrder,
  lending: shapeOfDeposit,
  vault: shapeOfDeposit,
  exchange: shapeOfLiquidity,
  airdrop: ({ received }) => (received.length > 0 ? 'CLAIM' : null),
};

/** Interprets what the actor gave to the main program and got from it, by what the program is for. */
export const flowRule: Rule = (facts) => {
  const { parsed, mainProgram, isAttempt, actor } = facts;
  const shape = SHAPES[programRole(mainProgram)];
  if (isAttempt || shape === undefined) return null;
  const flows = programFlowsOf(actor, mainProgram, parsed);
  const isMoved = flows.given.length + flows.received.length > 0;
  const isKnown = mainInstructions(facts).every((instruction) => instruction !== null);
  const type = (isMoved ? operatedType(facts) : null) ?? (isKnown ? null : shape(flows));
  return type === null ? null : exchangeOf(type, actor, mainProgram, flows);
};

/** Returns what a call of a vault with loans does, by the signs of its changes; a loan goes before its collateral. */
function operatedType({ parsed, instructionOf }: TransactionFacts): ExchangeType | null {
  for (const call of parsed.instructions) {
    const { collateral = 0, debt = 0 } = instructionOf(call)?.values ?? {};
    if (debt !== 0) return debt === 1 ? 'BORROW' : 'REPAY_LOAN';
    if (collateral !== 0) return collateral === 1 ? 'DEPOSIT' : 'WITHDRAW';
  }
  return null;
}

/** Interprets what somebody gave to a program and got from it, receipts too. */
export const exchangeOf = (
  type: ExchangeType,
  actor: string,
  program: string | null,
  { given, received, receiptsGot, receiptsGiven, states, receiptStates }: ProgramFlows,
): ExchangeOfValueInterpretation => ({
  type,
  actor,
  program,
  gained: [...received, ...receiptsGot],
  lost: [...given, ...receiptsGiven],
  states: [...states, ...receiptStates],
  payouts: [],
  owners: [],
});
