import { COMPUTE_BUDGET_PROGRAM } from '../../domain/well-known-addresses.ts';
import { infoAmount, type ParsedTransaction } from './parsed-transaction.ts';

/** Micro-lamports of a lamport: the unit of a price is one of them for each compute unit. */
const MICRO_LAMPORTS = 1_000_000n;

/**
 * Returns the lamports of the fee that were paid for priority: the price times the limit of compute units, rounded up.
 * Zero where the transaction sets no limit: which one counts then depends on the cluster's version.
 */
export function priorityFeeOf({ fee, priorityFee, instructions }: ParsedTransaction): bigint {
  const limit = instructions.find(
    ({ programId, type }) => programId === COMPUTE_BUDGET_PROGRAM && type === 'setComputeUnitLimit',
  );
  const units = limit === undefined ? null : infoAmount(limit, 'units');
  if (units === null) return 0n;
  const paid = (BigInt(priorityFee) * units + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return paid < BigInt(fee) ? paid : 0n;
}
