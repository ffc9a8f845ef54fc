import type { Answer } from '../../../shared/domain/answer.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { EpochInfo } from '../../../shared/domain/epoch-info.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { PerformanceSample } from '../../../shared/domain/performance-sample.ts';
import type { PrioritizationFee } from '../../../shared/domain/priority-fee-estimate.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { malformed } from '../json/json-scanner.ts';
import { elements, members, parseSafeInteger, parseString, parseU64, parseU64OrNull } from '../json/raw-json.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';

/** Rows of getRecentPerformanceSamples: one a minute, so an hour. */
const SAMPLE_COUNT = 60;

/** Bytes of the longest rows that are looked at in one turn of the event loop; 150 fees have 9 KB. */
const MAX_ROWS_BYTES = 256 * 1024;

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
    slotsInEpoch: parseCount(parts.get('slotsInEpoch'), 1),
    transactionCount: parseU64OrNull(parts.get('transactionCount')),
  };
  return { slot: info.absoluteSlot, result: info };
}

export async function readPerformanceSamples(rpc: RpcCaller): Promise<Answer<readonly PerformanceSample[]>> {
  const { slot, result } = await rpc.call('getRecentPerformanceSamples', [SAMPLE_COUNT], { commitment: 'confirmed' });
  const samples = rowsOf(result).map((row) => {
    const parts = members(row);
    return {
      slot: parseCount(parts.get('slot')),
      numTransactions: parseU64(parts.get('numTransactions')),
      numNonVoteTransactions: parseU64OrNull(parts.get('numNonVoteTransactions')),
      numSlots: parseCount(parts.get('numSlots')),
      samplePeriodSecs: parseCount(parts.get('samplePeriodSecs'), 1),
    };
  });
  return { slot, result: samples };
}

export async function readPrioritizationFees(rpc: RpcCaller): Promise<Answer<readonly PrioritizationFee[]>> {
  const { slot, result } = await rpc.call('getRecentPrioritizationFees', [[]], { commitment: 'confirmed' });
  const fees = rowsOf(result).map((row) => {
    const parts = members(row);
    return { slot: parseCount(parts.get('slot')), prioritizationFee: parseU64(parts.get('prioritizationFee')) };
  });
  return { slot, result: fees };
}

/**
 * Reads who leads each of some slots in a row: fewer where the next epoch ends, since a node refuses all of a range that it has no
 * schedule for. Throws `not_found` where no node has the schedule of the first.
 */
export async function readSlotLeaders(
  rpc: RpcCaller,
  first: Slot,
  count: number,
  minSlot: Slot | undefined,
): Promise<Answer<readonly string[]>> {
  try {
    return await callSlotLeaders(rpc, first, count, minSlot).catch(async (thrown: unknown) => {
      if (!isInvalid(thrown)) throw thrown;
      const { absoluteSlot, slotIndex, slotsInEpoch } = (await readEpochInfo(rpc, 'finalized')).result; // schedules follow the root
      const known = absoluteSlot - slotIndex + 2 * slotsInEpoch - first;
      if (known <= 0 || known >= count) throw thrown;
      return callSlotLeaders(rpc, first, known, minSlot);
    });
  } catch (thrown) {
    if (!isInvalid(thrown)) throw thrown;
    throw new GatewayError('not_found', 'no node has the leader schedule of this slot');
  }
}

async function callSlotLeaders(
  rpc: RpcCaller,
  first: Slot,
  count: number,
  minSlot: Slot | undefined,
): Promise<Answer<readonly string[]>> {
  const { slot, result } = await rpc.call('getSlotLeaders', [first, count], { commitment: 'confirmed', minSlot });
  const leaders = rowsOf(result).map(parseString);
  if (leaders.length !== count) throw malformed();
  return { slot, result: leaders };
}

const isInvalid = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && thrown.rpcCode === RPC_ERROR_CODE.invalidParams;

/** Finds the rows of statistics. Throws `upstream_error` for a text that is much longer than statistics are. */
function rowsOf(result: Buffer): readonly Buffer[] {
  if (result.length > MAX_ROWS_BYTES) throw malformed();
  return elements(result);
}

/** Slots or seconds, which a double holds. Throws `upstream_error` for anything else, and for less than `least`. */
function parseCount(bytes: Buffer | undefined, least = 0): number {
  const count = parseSafeInteger(bytes);
  if (count < least) throw malformed();
  return count;
}
