import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { isNull } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { meaningOfCode, RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { callWithMaxSupportedVersion } from './max-supported-version.ts';

export interface Existence {
  readonly slot: Slot;
  readonly exists: boolean;
}

const commitment = 'confirmed';

/** RPC error codes for a slot without a block: skipped, not available yet, or pruned. */
const NO_BLOCK_CODES: ReadonlySet<number | undefined> = new Set([
  RPC_ERROR_CODE.slotSkipped,
  RPC_ERROR_CODE.blockNotAvailable,
  RPC_ERROR_CODE.blockCleanedUp,
]);

/** Checks whether a transaction is known. The answer is not older than `minSlot`. */
export async function transactionExists(
  mesh: RpcCaller,
  signature: string,
  minSlot: Slot | undefined,
): Promise<Existence> {
  const config = { encoding: 'base64' };
  const request = { method: 'getTransaction', subject: signature, config, commitment, minSlot } as const;
  const { slot, value } = await callWithMaxSupportedVersion(mesh, request);
  return { slot, exists: !isNull(value) };
}

/** Checks whether a slot has a block that the cluster still keeps. A no holds at the tip before the request. */
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
    if (!isNull(value)) return { slot: at, exists: true };
    const config = { transactionDetails: 'none', rewards: false }; // the time of an old block may not be recorded
    const request = { method: 'getBlock', subject: Number(slot), config, commitment, minSlot } as const;
    const header = await callWithMaxSupportedVersion(mesh, request);
    return { slot: header.slot, exists: !isNull(header.value) };
  } catch (thrown) {
    if (none !== undefined && thrown instanceof GatewayError && NO_BLOCK_CODES.has(meaningOfCode(thrown.rpcCode)))
      return none;
    throw thrown;
  }
}
