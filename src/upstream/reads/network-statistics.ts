import type { Answer } from '../../domain/answer.ts';
import type { Commitment } from '../../domain/commitment.ts';
import type { EpochInfo } from '../../domain/epoch-info.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { PerformanceSample } from '../../domain/performance-sample.ts';
import type { PrioritizationFee } from '../../domain/priority-fee-estimate.ts';
import type { Slot } from '../../domain/slot.ts';
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
  const {
    absoluteSlot,
    blockHeight,
    epoch,
    slotIndex,
    slotsInEpoch,
    transactionCount = null,
  } = parse<Partial<EpochInfo>>(result);
  const info = {
    absoluteSlot: requireSafeInteger(absoluteSlot),
    blockHeight: requireSafeInteger(blockHeight),
    epoch: requireSafeInteger(epoch),
    slotIndex: requireSafeInteger(slotIndex),
    slotsInEpoch: requireSafeInteger(slotsInEpoch),
    transactionCount: transactionCount === null ? null : requireSafeInteger(transactionCount),
  };
  return { slot: info.absoluteSlot, result: info };
}

/** Reads the performance samples of the last hour, newest first. */
export async function readPerformanceSamples(rpc: RpcCaller): Promise<Answer<readonly PerformanceSample[]>> {
  const { slot, result } = await rpc.call('getRecentPerformanceSamples', [SAMPLE_COUNT], { commitment: 'confirmed' });
  const samples = parse<readonly Partial<PerformanceSample>[]>(result).map((sample) => ({
    slot: requireSafeInteger(sample.slot),
    numTransactions: requireSafeInteger(sample.numTransactions),
    numNonVoteTransactions:
      sample.numNonVoteTransactions == null ? null : requireSafeInteger(sample.numNonVoteTransactions),
    numSlots: requireSafeInteger(sample.numSlots),
    samplePeriodSecs: requireSafeInteger(sample.samplePeriodSecs),
  }));
  return { slot, result: samples };
}

/** Reads the lowest priority fees of the last 150 blocks. A fee is a u64, so it is parsed from its text. */
export async function readPrioritizationFees(rpc: RpcCaller): Promise<Answer<readonly PrioritizationFee[]>> {
  const { slot, result } = await rpc.call('getRecentPrioritizationFees', [[]], { commitment: 'confirmed' });
  const quoted = result.toString().replace(/("prioritizationFee"\s*:\s*)(\d+)/g, '$1"$2"');
  const fees = parse<readonly { slot?: number; prioritizationFee?: string }[]>(quoted).map((row) => ({
    slot: requireSafeInteger(row.slot),
    prioritizationFee: BigInt(row.prioritizationFee ?? throwMalformedResult()),
  }));
  return { slot, result: fees };
}

/** Parses JSON. The caller checks each member: the type is only what they expect. */
function parse<T>(text: Buffer | string): T {
  try {
    return JSON.parse(text.toString()) as T;
  } catch {
    return throwMalformedResult();
  }
}

const requireSafeInteger = (value: number | undefined): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : throwMalformedResult();

function throwMalformedResult(): never {
  throw new GatewayError('upstream_error', 'the upstream sent a malformed result');
}
