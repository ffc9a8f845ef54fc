import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  TOKEN_PROGRAM_IDS,
} from '../../shared/domain/well-known-addresses.ts';
import { isIncidentalProgram, isTradingProgram, KNOWN_PROGRAMS, programRole } from '../programs/known-programs.ts';
import { allInstructions, type ParsedInstruction, type ParsedTransaction } from './parsed-transaction.ts';

/**
 * Finds the main program of a transaction; null if it only used Solana's own. A known program that an unknown one
 * called takes precedence: a trader's private program says less than the exchange that it trades on. Of several
 * exchanges the one that moved tokens does: a trading bot may only leave its mark beside it.
 */
export function findMainProgram(parsed: Pick<ParsedTransaction, 'instructions'>): string | null {
  const isRelevant = (id: string): boolean => !isIncidentalProgram(id);
  const trades = parsed.instructions.filter(isTrade);
  const called = [...trades, ...parsed.instructions].map(({ programId }) => programId).filter(isRelevant);
  const inner = allInstructions(parsed)
    .map(({ programId }) => programId)
    .filter(isRelevant);
  const findKnown = (ids: readonly string[]): string | undefined =>
    ids.find((id) => programRole(id) === 'orders') ??
    ids.find(isTradingProgram) ??
    ids.find((id) => KNOWN_PROGRAMS.has(id));
  return findKnown(called) ?? findKnown(inner) ?? called[0] ?? null;
}

/** What somebody may call, or pay for, on behalf of the one that acts. */
const MADE_FOR_OTHERS: readonly string[] = [COMPUTE_BUDGET_PROGRAM, ASSOCIATED_TOKEN_PROGRAM];

/** What calls of Solana's own name those that get something. */
const RECEIVERS = /^(destination|recipient|spillAccount|delegate|new[A-Z]\w*)$/;

/**
 * Finds the wallet that acted: the first signer that calls of the main program name, or calls of Solana's own as somebody
 * that gives. A fee payer that they don't name, or for the nonce alone, is a sponsor.
 */
export function findActor(parsed: ParsedTransaction, mainProgram: string | null): string {
  const { instructions, signers, feePayer } = parsed;
  if (signers.length < 2) return feePayer;
  const ofMain = instructions.filter(({ programId }) => programId === mainProgram);
  const own = instructions.filter(({ programId }) => !MADE_FOR_OTHERS.includes(programId));
  const deeds = own.filter(({ type }) => type !== 'advanceNonce');
  const isNamed = (signer: string, { accounts, info }: ParsedInstruction): boolean =>
    info === null
      ? accounts.includes(signer)
      : Object.entries(info).some(([name, value]) => !RECEIVERS.test(name) && [value].flat().includes(signer));
  const actorIn = (calls: readonly ParsedInstruction[]): string | undefined =>
    signers.find((signer) => calls.some((call) => isNamed(signer, call)));
  return actorIn(ofMain.length > 0 ? ofMain : deeds) ?? actorIn(own) ?? feePayer;
}

/** Returns whether an instruction called an exchange that moved tokens. */
const isTrade = ({ programId, innerInstructions }: ParsedInstruction): boolean =>
  isTradingProgram(programId) &&
  innerInstructions.some((call) => TOKEN_PROGRAM_IDS.includes(call.programId) && /^transfer/.test(call.type ?? ''));

/** Returns the `source` of the enhanced view: Helius' name of the program that the description credits, else its id. */
export function sourceOf(credited: string | null, { instructions }: Pick<ParsedTransaction, 'instructions'>): string {
  const ids = instructions.map(({ programId }) => programId).sort(compareImportance);
  const id = credited ?? ids.find((called) => called !== COMPUTE_BUDGET_PROGRAM) ?? ids[0];
  return id === undefined ? 'UNKNOWN' : (KNOWN_PROGRAMS.get(id)?.source ?? id);
}

const PLACES = new Map([...KNOWN_PROGRAMS.keys()].map((id, place) => [id, place]));

/** Compares Solana's own programs by their order in the table, the most significant one first; all others come last. */
function compareImportance(a: string, b: string): number {
  const rank = (id: string): number => (programRole(id) === 'core' ? PLACES.get(id) : undefined) ?? PLACES.size;
  return rank(a) - rank(b);
}
