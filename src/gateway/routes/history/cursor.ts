import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { readTransaction, type Transaction } from '../../../transactions/index.ts';
import { member, parseSafeInteger } from '../../upstream/json/raw-json.ts';
import type { VersionedReadOptions } from '../../upstream/reads/max-supported-version.ts';
import { cursorNotFound } from '../../upstream/reads/signature-page.ts';
import type { RequestScope } from '../routing/request-scope.ts';
import type { Uses } from '../routing/route.ts';

/**
 * Returns the slot of the transaction that a cursor names. Throws `cursor_not_found` for one that names none of the
 * addresses, of which the first one is the owner of the others, nor a token account that this one owns or owned.
 */
export async function slotOfCursor(
  { callsFor, transactionRecords }: Uses<'callsFor' | 'transactionRecords'>,
  addresses: readonly [string, ...string[]],
  cursor: string,
  bounds: VersionedReadOptions,
  scope: Pick<RequestScope, 'cost'>,
): Promise<Slot> {
  const named = { signature: cursor, slot: undefined };
  const { record } = await transactionRecords.read(callsFor(scope), named, bounds, scope.cost);
  if (record === null) throw cursorNotFound();
  if (!namesOneOf(addresses, record)) throw cursorNotFound();
  return parseSafeInteger(member(record, 'slot'));
}

function namesOneOf(addresses: readonly [string, ...string[]], record: Buffer): boolean {
  let transaction: Transaction;
  try {
    transaction = readTransaction(record.toString());
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    return true; // a record that can't be read names whatever the node says
  }
  const { accounts, preTokenBalances, postTokenBalances } = transaction;
  const wanted = new Set(addresses);
  const owners = [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])].map(({ owner }) => owner);
  return accounts.some(({ address }) => wanted.has(address)) || owners.includes(addresses[0]);
}
