import type { Clock } from '../../shared/domain/clock.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { WatermarkLease } from './watermark-lease.ts';

/**
 * The most slots by which a lease may be behind the slot that is wanted: a Clock update completes the slot before it, and
 * the one of the tip may still be on its way. The same number of slot times bounds the wait.
 */
const MAX_AWAITED_SLOTS = 2;

/** The longest wait until the tip reaches a slot that a caller names, in milliseconds: one that is only processed yet. */
const MAX_TIP_WAIT_MS = 1000;

export interface LiveReadOptions<R> {
  readonly minSlot: Slot;
  readonly tip: Slot | undefined;
  /** Reads from what is kept live; undefined where that has no answer of `minSlot`. */
  read(): R | undefined | Promise<R | undefined>;
  leaseOf(): WatermarkLease | undefined;
  readonly clock: Clock;
  readonly slotTimeMs: number;
}

/**
 * Reads from what is kept live, if need be after the next Clock updates, where these advance its lease to `minSlot`: an
 * answer of the upstream would be newer than the lease, and so cause the next read at the upstream, too. Undefined where
 * the lease doesn't come to cover that slot soon.
 */
export async function readWhenCovered<R>(options: LiveReadOptions<R>): Promise<R | undefined> {
  const { minSlot, tip = minSlot, read, leaseOf, clock, slotTimeMs } = options;
  const slotsAhead = Math.max(0, minSlot - tip);
  const maxWaitMs = MAX_AWAITED_SLOTS * slotTimeMs + (slotsAhead > 0 ? MAX_TIP_WAIT_MS : 0);
  const deadlineMs = clock.monotonic() + maxWaitMs;
  for (;;) {
    const answer = await read();
    const lease = leaseOf();
    if (answer !== undefined || lease?.watermark.state !== 'active') return answer;
    const missingSlots = minSlot - lease.slot;
    const leftMs = deadlineMs - clock.monotonic();
    if (missingSlots <= 0 || missingSlots > MAX_AWAITED_SLOTS + slotsAhead || leftMs <= 0) return undefined;
    await lease.watermark.nextUpdate(clock, leftMs);
  }
}
