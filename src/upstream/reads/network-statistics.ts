import type { Answer } from '../../domain/answer.ts';
import type { Commitment } from '../../domain/commitment.ts';
import type { EpochInfo } from '../../domain/epoch-info.ts';
import type { PerformanceSample } from '../../domain/performance-sample.ts';
import type { PrioritizationFee } from '../../domain/priority-fee-estimate.ts';
import type { Slot } from '../../domain/slot.ts';
import { malformed } from '../json/json-scanner.ts';
import { elements, members, parseSafeInteger, parseU64, parseU64OrNull } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';

/** Rows of getRecentPerformanceSamples: one a minute, so an hour. */
const SAMPLE_COUNT = 60;

/** Reads the epoch, all of it from one response, which holds at its `absoluteSlot`. */
export async function readEpochInfo(
  rpc: RpcCaller,
  commitment: Commitment,
  minContextSlot?: Slot,
): Promise<Answer<EpochInfo>> {
  const config = { commitment, ...(minContextSlot !== undefined && { minContextSlot }) };
  const { result } = await rpc.call('getEpochInfo', [config], { commitment });
  const parts = members(result);
  const info = {
    absoluteSlot: parseCount(parts.get('absoluteSlot')),
    blockHeight: parseCount(parts.get('blockHeight')),
    epoch: parseCount(parts.get('epoch')),
    slotIndex: parseCount(parts.get('slotIndex')),
    slotsInEpoch: parseCount(parts.get('slotsInEpoch')),
    transactionCount: parseU64OrNull(parts.get('transactionCount')),
  };
  return { slot: info.absoluteSlot, result: info };
}

/** Reads the performance samples of the last hour, newest first. */
export async function readPerformanceSamples(rpc: RpcCaller): Promise<Answer<readonly PerformanceSample[]>> {
  const { slot, result } = await rpc.call('getRecentPerformanceSamples', [SAMPLE_COUNT], { commitment: 'confirmed' });
  const samples = elements(result).map((row) => {
    const parts = members(row);
    return {
      slot: parseCount(parts.get('slot')),
      numTransactions: parseU64(parts.get('numTransactions')),
      numNonVoteTransactions: parseU64OrNull(parts.get('numNonVoteTransactions')),
      numSlots: parseCount(parts.get('numSlots')),
      samplePeriodSecs: parseCount(parts.get('samplePeriodSecs')),
    };
  });
  return { slot, result: samples };
}

/** Reads the lowest priority fees of the last 150 blocks. */
export async function readPrioritizationFees(rpc: RpcCaller): Promise<Answer<readonly PrioritizationFee[]>> {
  const { slot, result } = await rpc.call('getRecentPrioritizationFees', [[]], { commitment: 'confirmed' });
  const fees = elements(result).map((row) => {
    const parts = members(row);
    return { slot: parseCount(parts.get('slot')), prioritizationFee: parseU64(parts.get('prioritizationFee')) };
  });
  return { slot, result: fees };
}

/** Parses a slot or a number of slots or seconds, which a double holds. Throws `upstream_error` for anything else. */
function parseCount(bytes: Buffer | undefined): number {
  const count = parseSafeInteger(bytes);
  if (count < 0) throw malformed();
  return count;
}
