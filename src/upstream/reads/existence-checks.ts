import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { isNull } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import { callWithMaxSupportedVersion } from './max-supported-version.ts';

/** Whether something can be had from the cluster, and at which slot that was so. */
export interface Existence {
  readonly slot: Slot;
  readonly exists: boolean;
}

const commitment = 'confirmed';

/** Skipped, not there yet, or not kept any more. */
const NO_BLOCK_CODES: ReadonlySet<number | undefined> = new Set([
  RPC_ERROR_CODE.slotSkipped,
  RPC_ERROR_CODE.longTermStorageSlotSkipped,
  RPC_ERROR_CODE.blockNotAvailable,
  RPC_ERROR_CODE.blockStatusNotAvailableYet,
  RPC_ERROR_CODE.blockCleanedUp,
  RPC_ERROR_CODE.transactionHistoryNotAvailable,
]);

/** Whether a transaction is known. The answer is not older than `minSlot`. */
export async function transactionExists(
  mesh: Pick<Mesh, 'call'>,
  signature: string,
  minSlot: Slot | undefined,
): Promise<Existence> {
  const config = { encoding: 'base64' };
  const request = { method: 'getTransaction', subject: signature, config, commitment, minSlot } as const;
  const { slot, value } = await callWithMaxSupportedVersion(mesh, request);
  return { slot, exists: !isNull(value) };
}

/** Whether a slot has a block that the cluster still keeps: if not, as of the newest slot known before it was asked. */
export async function blockExists(
  mesh: Pick<Mesh, 'call' | 'tip'>,
  slot: bigint,
  minSlot: Slot | undefined,
): Promise<Existence> {
  const tip = mesh.tip(commitment);
  const none = tip === undefined ? undefined : { slot: tip, exists: false };
  if (none !== undefined && slot > BigInt(none.slot)) return none;
  try {
    const { slot: at, value } = await mesh.call('getBlockTime', [slot], { commitment, minSlot });
    return { slot: at, exists: !isNull(value) };
  } catch (thrown) {
    if (none !== undefined && thrown instanceof GatewayError && NO_BLOCK_CODES.has(thrown.rpcCode)) return none;
    throw thrown;
  }
}
