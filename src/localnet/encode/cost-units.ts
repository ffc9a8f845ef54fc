import type { LandedTransaction } from '../bank/produced-block.ts';

const SIGNATURE_COST = 720n;
const WRITE_LOCK_COST = 300n;
const DATA_BYTES_PER_UNIT = 4;
/** Cost of a page of loaded account data; a node counts pages, here each transaction loads one. */
const LOADED_PAGE_COST = 8n;

/** Returns the cost units of a transaction by the node's cost model, which block producers use. */
export function costUnitsOf({ transaction, writable, computeUnits }: LandedTransaction): bigint {
  const { signatures, message } = transaction;
  const dataBytes = message.instructions.reduce((bytes, { data }) => bytes + data.length, 0);
  const locks = BigInt(writable.filter(Boolean).length);
  const perTransaction = SIGNATURE_COST * BigInt(signatures.length) + WRITE_LOCK_COST * locks + LOADED_PAGE_COST;
  return computeUnits + perTransaction + BigInt(Math.floor(dataBytes / DATA_BYTES_PER_UNIT));
}
