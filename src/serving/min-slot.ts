import type { Commitment } from '../domain/commitment.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import type { RouteContext } from '../routing/route.ts';
import { RPC_ERROR_CODE } from '../upstream/rpc/rpc-error-code.ts';

/** For how long a request waits for the slot that it asks for. */
const MAX_WAIT_MS = 1000;

/** A slot that is further off than the patience lasts is not waited for. */
const MAX_WAIT_SLOTS = 5;

/** Reads the `X-Min-Slot` header: the caller has seen this slot, and won't be shown an older one. */
export function parseMinSlot(header: string): Slot | undefined {
  if (header === '') return undefined;
  const slot = Number(header);
  if (/^(0|[1-9]\d{0,15})$/.test(header) && Number.isSafeInteger(slot)) return slot;
  throw new GatewayError('invalid_slot', 'X-Min-Slot must be a slot: a decimal number');
}

/** Throws `min_slot_not_reached` for a slot that is too far off to be waited for. */
export function checkReachable(slot: Slot, commitment: Commitment, { mesh }: RouteContext): void {
  if (slot - (mesh.tip(commitment) ?? 0) > MAX_WAIT_SLOTS) throw minSlotNotReached();
}

/** Waits until the cluster has come to a slot. Rejects with `min_slot_not_reached` when that takes too long. */
export async function waitForSlot(slot: Slot, commitment: Commitment, { mesh, clock }: RouteContext): Promise<void> {
  if ((mesh.tip(commitment) ?? 0) >= slot) return;
  await new Promise<void>((resolve, reject) => {
    const stop = mesh.onTip(commitment, (tip) => {
      if (tip < slot) return;
      cancel();
      stop();
      resolve();
    });
    const cancel = clock.after(MAX_WAIT_MS, () => {
      stop();
      reject(minSlotNotReached());
    });
  });
}

/** True when a read failed because no upstream has come to the slot that it asked for, whoever has put it in words. */
export const isSlotNotReached = (thrown: unknown): boolean =>
  thrown instanceof GatewayError &&
  (thrown.rpcCode === RPC_ERROR_CODE.minContextSlotNotReached ||
    thrown.code === 'stale' ||
    isSlotNotReached(thrown.cause));

export const minSlotNotReached = (cause?: unknown): GatewayError =>
  new GatewayError('min_slot_not_reached', 'no upstream has reached the slot that is asked for', { cause });

/** For an answer that would go back in time. */
export const servedSlotNotReached = (cause?: unknown): GatewayError =>
  new GatewayError('stale', 'the upstreams answer from before what was said already', { cause });
