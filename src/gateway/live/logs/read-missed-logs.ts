import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { elements, isNull, members, parseSafeInteger, parseString } from '../../upstream/json/raw-json.ts';
import { callWithMaxSupportedVersion } from '../../upstream/reads/max-supported-version.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import type { RequestBudget } from '../request-budget.ts';
import { type LoggedTransaction, type LogTopic, MAX_MISSED } from './log-topic.ts';

/** The commitment at which a node has histories: not before `confirmed` (Solana RPC). */
export const historyCommitmentOf = (commitment: Commitment): Commitment =>
  commitment === 'finalized' ? 'finalized' : 'confirmed';

/**
 * Reads the transactions that no node has notified: those of the history since what a topic covers, up to `minSlot` at least.
 * Resolves to undefined if they are too many.
 */
export async function readMissedLogs(
  caller: RpcCaller,
  budget: RequestBudget,
  topic: LogTopic,
  minSlot: Slot,
): Promise<readonly LoggedTransaction[] | undefined> {
  const { address, coveredSlot } = topic;
  const commitment = historyCommitmentOf(topic.commitment);
  const budgeted = budget.pacing(caller, 'sync');
  const page = { commitment, limit: MAX_MISSED, minContextSlot: minSlot };
  const { value } = await budgeted.call('getSignaturesForAddress', [address, page], { commitment, minSlot });
  const listed = elements(value).map((item) => {
    const parts = members(item);
    return { slot: parseSafeInteger(parts.get('slot')), signature: parseString(parts.get('signature')) };
  });
  const newer = listed.filter(({ slot }) => slot > coveredSlot);
  if (newer.length === MAX_MISSED) return undefined;
  const missed: LoggedTransaction[] = [];
  for (const { slot, signature } of newer.toReversed()) {
    if (topic.isKnown({ slot, signature })) continue;
    const { value: transaction } = await callWithMaxSupportedVersion(budgeted, {
      method: 'getTransaction',
      subject: signature,
      config: { encoding: 'base64' },
      commitment,
      minSlot,
    });
    if (isNull(transaction))
      throw new GatewayError('upstream_error', 'a node lists a transaction that it does not have');
    const meta = members(members(transaction).get('meta') ?? Buffer.from('{}'));
    const logs = meta.get('logMessages');
    if (isNull(logs)) continue; // it has not run: nodes notify of no such transaction
    missed.push({
      slot,
      signature,
      json: `{"signature":${toJson(signature)},"err":${meta.get('err') ?? null},"logs":${logs}}`,
    });
  }
  return missed;
}
