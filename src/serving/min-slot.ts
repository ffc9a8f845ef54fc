import type { Commitment } from '../domain/commitment.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import type { Context } from '../routing/route.ts';
import { RPC_ERROR_CODE } from '../upstream/rpc/rpc-error-code.ts';

/** For how long a request waits for the slot that it asks for. */
const PATIENCE_MS = 1000;

/** A slot that is further off than the patience lasts is not waited for. */
const REACHABLE_SLOTS = 5;

/** Reads the `X-Min-Slot` header: the caller has seen this slot, and won't be shown an older one. */
export function parseMinSlot(header: string): Slot | undefined {
  if (header === '') return undefined;
  const slot = Number(header);
  if (/^(0|[1-9]\d{0,15})$/.test(header) && Number.isSafeInteger(slot)) return slot;
  throw new GatewayError('invalid_slot', 'X-Min-Slot must be a slot: a decimal number');
}

/** Throws `min_slot_not_reached` for a slot that is too far off to be waited for. */
export function checkReachable(slot: Slot, commitment: Commitment, { mesh }: Context): void {
  if (slot - (mesh.tip(commitment) ?? 0) > REACHABLE_SLOTS) throw notReached();
}

/** Waits until the cluster has come to a slot. Rejects with `min_slot_not_reached` when that takes too long. */
export async function reach(slot: Slot, commitment: Commitment, { mesh, clock }: Context): Promise<void> {
  if ((mesh.tip(commitment) ?? 0) >= slot) return;
  await new Promise<void>((resolve, reject) => {
    const stop = mesh.onTip(commitment, (newest) => {
      if (newest < slot) return;
      cancel();
      stop();
      resolve();
    });
    const cancel = clock.after(PATIENCE_MS, () => {
      stop();
      reject(notReached());
    });
  });
}

/** True when a read failed because no upstream has come to the slot that it asked for, whoever has put it in words. */
export const isBehind = (thrown: unknown): boolean =>
  thrown instanceof GatewayError &&
  (thrown.rpcCode === RPC_ERROR_CODE.minContextSlotNotReached || thrown.code === 'stale' || isBehind(thrown.cause));

export const notReached = (cause?: unknown): GatewayError =>
  new GatewayError('min_slot_not_reached', 'no upstream has reached the slot that is asked for', { cause });

/** For an answer that would go back in time. */
export const overtaken = (cause?: unknown): GatewayError =>
  new GatewayError('stale', 'the upstreams answer from before what was said already', { cause });
