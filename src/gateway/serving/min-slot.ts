import type { Clock } from '../../shared/domain/clock.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { RPC_ERROR_CODE } from '../upstream/rpc/rpc-error-code.ts';

export interface SlotSource {
  readonly mesh: Pick<Mesh, 'tip' | 'onTip' | 'slotTimeMs'>;
  readonly clock: Clock;
}

export const MAX_WAIT_MS = 1000;

/** Slots by which one that is waited for may be further away than pass in {@link MAX_WAIT_MS}: nodes differ by some. */
const SPARE_SLOTS = 2;

/** A slot that takes longer is far ahead, in milliseconds: no gateway that is further behind the cluster answers. */
const FAR_AHEAD_MS = 60_000;

/** Parses the `X-Min-Slot` header: the newest slot the caller has seen. Answers may not be older. */
export function parseMinSlot(header: string): Slot | undefined {
  if (header === '') return undefined;
  const slot = slotIn(header);
  if (slot !== undefined) return slot;
  throw new GatewayError('invalid_slot', 'X-Min-Slot must be a slot: a decimal number');
}

export const minSlotOfPast = (): GatewayError =>
  new GatewayError('invalid_query', 'X-Min-Slot is for the newest answer: a request with slot names the slot itself');

export function slotIn(text: string): Slot | undefined {
  const slot = Number(text);
  return /^(0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(slot) ? slot : undefined;
}

/** Throws `min_slot_not_reached` if the slot is too far ahead of the tip to wait for. */
export function checkReachable(slot: Slot, commitment: Commitment, { mesh }: SlotSource): void {
  checkNotFarAhead('min_slot_not_reached', slot, commitment, mesh);
  const tip = mesh.tip(commitment) ?? 0;
  const maxSlots = Math.ceil(MAX_WAIT_MS / mesh.slotTimeMs) + SPARE_SLOTS;
  if (slot - tip > maxSlots) throw minSlotNotReached(slot, tip);
}

/** Throws `code` if the newest slot takes more than {@link FAR_AHEAD_MS} to reach this one. */
export function checkNotFarAhead(
  code: 'min_slot_not_reached' | 'block_not_available',
  slot: Slot,
  commitment: Commitment,
  mesh: Pick<Mesh, 'tip' | 'slotTimeMs'>,
): void {
  const tip = mesh.tip(commitment);
  if (tip === undefined || (slot - tip) * mesh.slotTimeMs <= FAR_AHEAD_MS) return;
  const message = `slot ${slot} is ahead of the newest ${commitment} one, ${tip}`;
  throw new GatewayError(code, message, { retryAfter: FAR_AHEAD_MS / 1000, rpcData: contextSlotData(tip) });
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

export const minSlotNotReached = (slot: Slot, reached: Slot, cause?: unknown): GatewayError =>
  new GatewayError(
    'min_slot_not_reached',
    `no upstream has an answer of slot ${slot} or later, the newest at this commitment is ${reached}; retry in a moment`,
    { cause, rpcData: contextSlotData(reached) },
  );

const contextSlotData = (tip: Slot): string => `"contextSlot":${tip}`;

export const servedSlotNotReached = (cause?: unknown): GatewayError =>
  new GatewayError('stale', 'no upstream has reached the slot of an answer already served; retry in a moment', {
    cause,
  });
