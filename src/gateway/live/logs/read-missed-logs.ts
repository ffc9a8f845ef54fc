import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { isNull, pickNestedYielding } from '../../upstream/json/raw-json.ts';
import { callWithMaxSupportedVersion } from '../../upstream/reads/max-supported-version.ts';
import { type Finality, readSignatureRows } from '../../upstream/reads/signature-page.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import type { RequestBudget } from '../request-budget.ts';
import { type LoggedTransaction, type LogTopic, MAX_MISSED, tooLong, tooManyMissed } from './log-topic.ts';

/** The commitment at which a node has histories: not before `confirmed` (Solana RPC). */
export const historyCommitmentOf = (commitment: Commitment): Finality =>
  commitment === 'finalized' ? 'finalized' : 'confirmed';

/**
 * Reads the transactions that no node has notified: those of the history since what a topic covers, up to `minSlot` at least.
 * Resolves to the error of those that are too many or too long.
 */
export async function readMissedLogs(
  caller: RpcCaller,
  budget: RequestBudget,
  topic: LogTopic,
  minSlot: Slot,
): Promise<readonly LoggedTransaction[] | GatewayError> {
  const { address, coveredSlot } = topic;
  const commitment = historyCommitmentOf(topic.commitment);
  const budgeted = budget.pacing(caller, 'sync');
  const page = { address, before: undefined, limit: MAX_MISSED, commitment, minSlot };
  const { rows } = await readSignatureRows({ ...budgeted, tip: () => minSlot }, page);
  const newer = rows.filter(({ slot }) => slot > coveredSlot);
  if (newer.length === MAX_MISSED) return tooManyMissed();
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
    const [, [err, logs] = []] = await pickNestedYielding(transaction, [['meta'], ['err', 'logMessages']]);
    if (isNull(logs)) continue; // it has not run: nodes notify of no such transaction
    const failure = tooLong((err?.length ?? 0) + (logs?.length ?? 0));
    if (failure !== undefined) return failure;
    missed.push({
      slot,
      signature,
      json: `{"signature":${toJson(signature)},"err":${err ?? null},"logs":${logs}}`,
    });
  }
  return missed;
}
