import type { Answer } from '../../domain/answer.ts';
import type { Commitment } from '../../domain/commitment.ts';
import type { EpochInfo } from '../../domain/epoch.ts';
import { GatewayError } from '../../domain/error.ts';
import type { PerformanceSample } from '../../domain/performance.ts';
import type { PrioritizationFee } from '../../domain/priority-fee.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Mesh } from '../mesh/mesh.ts';

type Reader = Pick<Mesh, 'call'>;

/** One row a minute, an hour of them. */
const SAMPLES = 60;

/** The epoch as one answer of one node, taken whole: its slot is its own `absoluteSlot`. */
export async function readEpoch(
  mesh: Reader,
  commitment: Commitment,
  minContextSlot?: Slot,
): Promise<Answer<EpochInfo>> {
  const config = { commitment, ...(minContextSlot !== undefined && { minContextSlot }) };
  const { result } = await mesh.call('getEpochInfo', [config], { commitment });
  const {
    absoluteSlot,
    blockHeight,
    epoch,
    slotIndex,
    slotsInEpoch,
    transactionCount = null,
  } = parse<Partial<EpochInfo>>(result);
  const info = {
    absoluteSlot: safe(absoluteSlot),
    blockHeight: safe(blockHeight),
    epoch: safe(epoch),
    slotIndex: safe(slotIndex),
    slotsInEpoch: safe(slotsInEpoch),
    transactionCount: transactionCount === null ? null : safe(transactionCount),
  };
  return { slot: info.absoluteSlot, result: info };
}

/** How the cluster did of late, newest first. */
export async function readPerformance(mesh: Reader): Promise<Answer<readonly PerformanceSample[]>> {
  const { slot, result } = await mesh.call('getRecentPerformanceSamples', [SAMPLES], { commitment: 'confirmed' });
  const samples = parse<readonly Partial<PerformanceSample>[]>(result).map((sample) => ({
    slot: safe(sample.slot),
    numTransactions: safe(sample.numTransactions),
    numNonVoteTransactions: sample.numNonVoteTransactions == null ? null : safe(sample.numNonVoteTransactions),
    numSlots: safe(sample.numSlots),
    samplePeriodSecs: safe(sample.samplePeriodSecs),
  }));
  return { slot, result: samples };
}

/** What transactions of the last 150 blocks paid at least for priority. A fee is a u64, so it is read as text. */
export async function readPriorityFees(mesh: Reader): Promise<Answer<readonly PrioritizationFee[]>> {
  const { slot, result } = await mesh.call('getRecentPrioritizationFees', [[]], { commitment: 'confirmed' });
  const quoted = result.toString().replace(/("prioritizationFee"\s*:\s*)(\d+)/g, '$1"$2"');
  const fees = parse<readonly { slot?: number; prioritizationFee?: string }[]>(quoted).map((row) => ({
    slot: safe(row.slot),
    prioritizationFee: BigInt(row.prioritizationFee ?? refuse()),
  }));
  return { slot, result: fees };
}

/** The members are then checked one by one: the type says only what is hoped for. */
function parse<T>(text: Buffer | string): T {
  try {
    return JSON.parse(text.toString()) as T;
  } catch {
    return refuse();
  }
}

const safe = (value: number | undefined): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : refuse();

function refuse(): never {
  throw new GatewayError('upstream_error', 'the upstream answered something else than it was asked');
}
