import { decodeBase58 } from '../../codec/base58.ts';
import { programRole } from '../../programs/known-programs.ts';
import type { ExchangeOfValueInterpretation } from '../interpretation.ts';
import { programFlowsOf } from '../program-flows.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import type { Rule } from './rule.ts';

/** Jupiter Lend's vaults, where one instruction changes collateral and debt. https://dev.jup.ag/docs/lend */
const JUPITER_VAULTS = 'jupr81YtYssSyPt8jbnGuiWon5f6x9TcDEFxYe3Bdzi';
/** `sha256("global:operate")`, cut to 8 bytes; then the changes of collateral and debt follow, 16 bytes each. */
const OPERATE = 'd96ad06374972a87';

/**
 * Interprets deposits and loans by what moved between the fee payer and a lending program: an asset for a receipt is a
 * deposit, a receipt for an asset a withdrawal.
 */
export const lendingRule: Rule = (facts) => {
  const { parsed, mainProgram, hasFailed } = facts;
  const role = programRole(mainProgram);
  if (hasFailed || (role !== 'lending' && role !== 'vault')) return null;
  const actor = parsed.feePayer;
  const { given, received, receiptsGot, receiptsGiven, states, receiptStates } = programFlowsOf(
    actor,
    mainProgram,
    parsed,
  );
  const common = { actor, program: mainProgram, states, payouts: [] };
  const operated = typeOfOperate(facts);
  if (operated !== null && given.length + received.length > 0)
    return { ...common, type: operated, gained: received, lost: given };
  const all = {
    ...common,
    gained: [...received, ...receiptsGot],
    lost: [...given, ...receiptsGiven],
    states: [...states, ...receiptStates],
  };
  if (given.length > 0 && received.length === 0 && receiptsGot.length > 0) return { ...all, type: 'DEPOSIT' };
  if (received.length > 0 && given.length === 0 && receiptsGiven.length > 0) return { ...all, type: 'WITHDRAW' };
  return null;
};

type LendingType = Extract<ExchangeOfValueInterpretation['type'], 'BORROW' | 'REPAY_LOAN' | 'DEPOSIT' | 'WITHDRAW'>;

/** Returns what a call of a vault does, by the signs of its changes; a loan goes before its collateral. */
function typeOfOperate({ parsed }: TransactionFacts): LendingType | null {
  for (const { programId, data } of parsed.instructions) {
    if (programId !== JUPITER_VAULTS || data === null) continue;
    const bytes = decodeBase58(data);
    if (bytes === undefined || bytes.length < 40) continue;
    if (Buffer.from(bytes.subarray(0, 8)).toString('hex') !== OPERATE) continue;
    const [collateral, debt] = [signOf(bytes.subarray(8, 24)), signOf(bytes.subarray(24, 40))];
    if (debt !== 0) return debt > 0 ? 'BORROW' : 'REPAY_LOAN';
    if (collateral !== 0) return collateral > 0 ? 'DEPOSIT' : 'WITHDRAW';
  }
  return null;
}

/** Returns the sign of an i128. */
function signOf(bytes: Uint8Array): -1 | 0 | 1 {
  if (bytes.every((byte) => byte === 0)) return 0;
  return (bytes.at(-1) ?? 0) >= 0x80 ? -1 : 1;
}
