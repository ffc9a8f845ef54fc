import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { RPC_ERROR_CODE } from '../upstream/rpc/rpc-error-code.ts';

/** Tips of the cluster, and a clock to wait for them. */
export interface SlotSource {
  readonly mesh: Pick<Mesh, 'tip' | 'onTip'>;
  readonly clock: Clock;
}

/** Longest wait for a slot, in milliseconds. */
const MAX_WAIT_MS = 1000;

/** Largest distance of a slot that is waited for: about two slots more than pass in {@link MAX_WAIT_MS}. */
const MAX_WAIT_SLOTS = 5;

/** Parses the `X-Min-Slot` header: the newest slot the caller has seen. Answers may not be older. */
export function parseMinSlot(header: string): Slot | undefined {
  if (header === '') return undefined;
  const slot = slotIn(header);
  if (slot !== undefined) return slot;
  throw new GatewayError('invalid_slot', 'X-Min-Slot must be a slot: a decimal number');
}

/** Returns the slot that a text names; undefined if it is none. */
export function slotIn(text: string): Slot | undefined {
  const slot = Number(text);
  return /^(0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(slot) ? slot : undefined;
}

/** Throws `min_slot_not_reached` if the slot is too far ahead of the tip to wait for. */
export function checkReachable(slot: Slot, commitment: Commitment, { mesh }: SlotSource): void {
  const tip = mesh.tip(commitment) ?? 0;
  if (slot - tip > MAX_WAIT_SLOTS) throw minSlotNotReached(slot, tip);
}

/** Waits until the tip reaches the slot. Rejects with `min_slot_not_reached` after {@link MAX_WAIT_MS}. */
export async function waitForSlot(slot: Slot, commitment: Commitment, { mesh, clock }: SlotSource): Promise<void> {
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
      reject(minSlotNotReached(slot, mesh.tip(commitment) ?? 0));
    });
  });
}

/** Returns true if a read failed because no upstream has reached its minimum slot, also if that is its cause. */
export const isSlotNotReached = (thrown: unknown): boolean =>
  thrown instanceof GatewayError &&
  (thrown.rpcCode === RPC_ERROR_CODE.minContextSlotNotReached ||
    thrown.code === 'stale' ||
    isSlotNotReached(thrown.cause));

/** Returns the error for a caller's minimum slot that no upstream has reached. */
export const minSlotNotReached = (slot: Slot, reached: Slot, cause?: unknown): GatewayError =>
  new GatewayError(
    'min_slot_not_reached',
    `no upstream has an answer of slot ${slot} or later, the newest at this commitment is ${reached}; retry in a moment`,
    { cause },
  );

/** Returns the error for an answer that would be older than one already served. */
export const servedSlotNotReached = (cause?: unknown): GatewayError =>
  new GatewayError('stale', 'no upstream has reached the slot of an answer already served; retry in a moment', {
    cause,
  });
