import type { Interpretation, Told } from '../analysis/interpretation.ts';
import type { ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { interpretTransaction } from '../analysis/rules/interpret-transaction.ts';
import type { TransactionFailure } from '../errors/decode-failure.ts';
import { programName } from '../programs/known-programs.ts';
import { describeTransaction } from './describe-transaction.ts';
import { formatSol, shortAddress } from './sentence-formats.ts';

/** Upper bound of an explanation's length, in UTF-16 units. */
export const MAX_EXPLANATION_LENGTH = 280;

/** Explains in one or two sentences what a transaction did and what it cost. The result is deterministic. */
export function explainTransaction(parsed: ParsedTransaction): string {
  const interpretation = interpretTransaction(parsed);
  const { transactionError } = parsed;
  const text =
    transactionError === null
      ? explainSuccess(parsed, interpretation)
      : explainFailure(parsed, interpretation, transactionError);
  return text.length <= MAX_EXPLANATION_LENGTH ? text : `${text.slice(0, MAX_EXPLANATION_LENGTH - 1)}…`;
}

function explainSuccess(parsed: ParsedTransaction, interpretation: Told): string {
  const payer = shortAddress(parsed.feePayer);
  const sentence = describeTransaction(interpretation, shortAddress);
  const fee = formatSol(BigInt(parsed.fee));
  const { type, tip } = interpretation;
  const isTold =
    tip === 0n || (type === 'TRANSFER' && interpretation.program === null && interpretation.payments.length === 0);
  if (sentence.startsWith(payer))
    return `${sentence}. The fee was ${fee}${isTold ? '' : `, the tip ${formatSol(tip)}`}.`;
  return `${sentence}. ${payer} paid the fee of ${fee}${isTold ? '' : `; the tip was ${formatSol(tip)}`}.`;
}

const ATTEMPT_BY_TYPE: Readonly<Partial<Record<Interpretation['type'], string>>> = {
  SWAP: 'tried to trade',
  ARBITRAGE: 'tried to trade',
  FILL_ORDER: 'tried to fill an order',
  OPEN_ORDER: 'tried to open an order',
  PLACE_ORDER: 'tried to change orders',
  CANCEL_ORDER: 'tried to cancel an order',
  QUOTE_UPDATE: 'tried to write new prices',
  ORACLE_UPDATE: 'tried to update an oracle',
  ADD_TO_POOL: 'tried to add to a pool',
  REMOVE_FROM_POOL: 'tried to take assets out of a pool',
  BORROW: 'tried to borrow',
  REPAY_LOAN: 'tried to repay a loan',
  DEPOSIT: 'tried to make a deposit',
  WITHDRAW: 'tried to make a withdrawal',
  LIQUIDATE: 'tried to take over collateral',
  CLAIM: 'tried to make a claim',
  CREATE: 'tried to launch a token',
  SET_AUTHORITY: 'tried to pass on an authority',
  APPROVE: 'tried to let somebody else spend tokens',
  NFT_SALE: 'tried to trade an NFT',
  NFT_LISTING: 'tried to list an NFT',
  NFT_CANCEL_LISTING: 'tried to take back a listing',
  NFT_BID: 'tried to bid for an NFT',
  NFT_BID_CANCELLED: 'tried to take back a bid',
  NFT_MINT: 'tried to mint an NFT',
  COMPRESSED_NFT_MINT: 'tried to mint a compressed NFT',
  COMPRESSED_NFT_TRANSFER: 'tried to send a compressed NFT',
  BURN_NFT: 'tried to burn an NFT',
  COMPRESSED_NFT_BURN: 'tried to burn a compressed NFT',
  TRANSFER: 'tried to send something',
  TOKEN_MINT: 'tried to mint tokens',
  BURN: 'tried to burn tokens',
  STAKE: 'tried to stake SOL',
  UNSTAKE: 'tried to unstake SOL',
  CREATE_ACCOUNT: 'tried to open an account',
  CLOSE_ACCOUNT: 'tried to close an account',
  VOTE: 'tried to vote for a block',
  PROGRAM_DEPLOY: 'tried to put a program on the chain',
  PROGRAM_UPGRADE: 'tried to replace a program',
};

function explainFailure(
  { feePayer, fee, instructions }: ParsedTransaction,
  { type }: Interpretation,
  error: TransactionFailure,
): string {
  const attempt = `${shortAddress(feePayer)} ${ATTEMPT_BY_TYPE[type] ?? 'sent a transaction'}`;
  const cost = `Nothing moved, but the fee of ${formatSol(BigInt(fee))} was paid.`;
  const { instructionIndex, programId } = error;
  if (instructionIndex === null) return `${attempt}, but it failed: ${error.message}. ${cost}`;
  const topLevelProgramId = instructions.find(({ index }) => index === instructionIndex)?.programId ?? null;
  const innerProgram = programId !== null && programId !== topLevelProgramId ? `, in ${programLabel(programId)}` : '';
  const stepCount = (instructions.at(-1)?.index ?? 0) + 1; // instructions of one batch are one step
  const step = `step ${instructionIndex + 1} of ${stepCount} (${topLevelProgramId === null ? 'unknown' : programLabel(topLevelProgramId)}${innerProgram})`;
  return `${attempt}, but ${step} failed: ${error.message}${errorNumber(error)}. ${cost}`;
}

const programLabel = (programId: string): string => programName(programId) ?? `program ${shortAddress(programId)}`;

/** Returns the program's error number, unless the message has it. */
function errorNumber({ code, name, message }: TransactionFailure): string {
  if (typeof code !== 'number' || message.includes(`${code}`)) return '';
  return name === null || name === message ? ` (error ${code})` : ` (error ${code}, ${name})`;
}
