import { TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import { fallbackTypeOf, isIncidentalProgram, isTradingProgram, programRole } from '../../programs/known-programs.ts';
import type { ProgramInstruction } from '../../programs/program-instruction.ts';
import { isCallType } from '../interpretation.ts';
import type { ParsedInstruction } from '../parsed-transaction.ts';
import { programFlowsOf } from '../program-flows.ts';
import type { Rule } from '../transaction-facts.ts';
import { interpretCall, isOrder, isUnchanged, mainInstructions } from './calls.ts';
import { exchangeOf } from './flows.ts';

/**
 * Interprets prices that a market maker wrote. Evidence: the transaction itself calls an exchange that trades against one
 * maker's own prices, and no other one; it calls nothing and isn't passed a token program, so that it can't move a token;
 * and no balance changed. An exchange with pools that anybody fills is called like this for other reasons, such as its
 * books.
 */
export const quoteRule: Rule = (facts) => {
  const { parsed, isAttempt } = facts;
  const calls = parsed.instructions.filter(({ programId }) => isTradingProgram(programId));
  const [call] = calls;
  if (call === undefined || !calls.every(isQuote)) return null;
  return isAttempt || isUnchanged(facts) ? interpretCall(facts, 'QUOTE_UPDATE', call.programId) : null;
};

const isQuote = ({ programId, accounts, innerInstructions }: ParsedInstruction): boolean =>
  programRole(programId) === 'marketMaker' &&
  innerInstructions.length === 0 &&
  accounts.length > 0 &&
  !accounts.some((account) => TOKEN_PROGRAM_IDS.includes(account));

/** Returns whether a table has all calls of an order book, and none places or cancels an order: they deposit, or settle. */
const isNoOrder = (called: readonly (ProgramInstruction | null)[]): boolean =>
  called.every((instruction) => instruction !== null) && !called.some(isOrder);

/**
 * Interprets orders in an order book that were placed or cancelled, with what was put in or came back for them. A
 * transaction that does both places a new set of orders.
 */
export const orderBookRule: Rule = (facts) => {
  const { parsed, mainProgram, swap, actor } = facts;
  if (programRole(mainProgram) !== 'orderBook' || swap !== null) return null;
  const called = mainInstructions(facts);
  if (isNoOrder(called)) return null;
  const types = called.map((call) => call?.type);
  const isPlaced = !types.includes('CANCEL_ORDER') || types.includes('PLACE_ORDER') || types.includes('SWAP');
  if (isPlaced) return interpretCall(facts, 'PLACE_ORDER', mainProgram);
  const flows = programFlowsOf(actor, mainProgram, parsed);
  return exchangeOf('CANCEL_ORDER', actor, mainProgram, flows);
};

/** Interprets a call of an oracle, where only helpers were called besides; it may reward those that update it. */
export const oracleRule: Rule = (facts) => {
  const { parsed, mainProgram, payments, instructionOf } = facts;
  if (mainProgram !== null) return null;
  const oracles = parsed.instructions.filter(({ programId }) => programRole(programId) === 'oracle');
  const update = oracles.find((oracle) =>
    [oracle, ...oracle.innerInstructions].some((call) => instructionOf(call)?.type === 'ORACLE_UPDATE'),
  );
  const oracle = update ?? oracles[0];
  if (oracle === undefined || payments.some(({ program }) => program !== null && program !== oracle.programId))
    return null;
  return interpretCall(facts, update === undefined ? 'INFRA' : 'ORACLE_UPDATE', oracle.programId);
};

/** Interprets a call by the program's role where its instruction isn't known: the last resort. */
export const roleRule: Rule = (facts) => {
  const { mainProgram } = facts;
  if (mainProgram === null || isIncidentalProgram(mainProgram)) return null;
  const type = fallbackTypeOf(mainProgram);
  if (type === 'PLACE_ORDER' && isNoOrder(mainInstructions(facts))) return null;
  const isOfMaker = type === 'QUOTE_UPDATE' || type === 'PLACE_ORDER'; // where anything moved it may have been a trade
  if (!isCallType(type) || (isOfMaker && !isUnchanged(facts) && !facts.isAttempt)) return null;
  return { ...interpretCall(facts, type), isByRole: true };
};
