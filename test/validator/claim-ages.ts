import { encodeFilter, encodePing } from '../../src/gateway/upstream/geyser/encode-request.ts';
import { createFeedClient } from '../../src/gateway/upstream/geyser/geyser-client.ts';
import type { Slot } from '../../src/shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../src/shared/domain/well-known-addresses.ts';
import { decodeUpdate } from '../support/decode-update.ts';
import { percentile } from '../support/percentile.ts';

export interface ClaimAges {
  /** Percentiles in milliseconds. */
  readonly figures: object;
  close(): void;
}

/** Measures from the arrival of each block of a feed to the first answer with its slot; `slotOf` requests an answer. */
export async function measureClaimAges(feedUrl: string, slotOf: () => Promise<Slot>): Promise<ClaimAges> {
  const client = await createFeedClient({ url: feedUrl, token: undefined });
  const agesMs: number[] = [];
  /** When the blocks arrived that no answer has named yet. */
  const arrivals = new Map<Slot, number>();
  const requestAnswers = async (): Promise<void> => {
    while (arrivals.size > 0) {
      const claimed = await slotOf();
      for (const [slot, arrivedMs] of arrivals) {
        if (slot > claimed) continue;
        agesMs.push(performance.now() - arrivedMs);
        arrivals.delete(slot);
      }
    }
  };
  const call = client.subscribe({
    onMessage(bytes) {
      const update = decodeUpdate(bytes);
      if (update.kind === 'ping') call.send(encodePing());
      if (update.kind === 'block') arrivals.set(update.slot, performance.now());
      if (update.kind === 'block' && arrivals.size === 1) void requestAnswers().catch(() => arrivals.clear());
      return undefined;
    },
    onEnd: () => {},
  });
  call.send(encodeFilter({ mode: 'blocks', version: 1, addresses: [CLOCK_SYSVAR] }));
  return {
    get figures() {
      const at = (share: number): number => Math.round(percentile(agesMs, share) * 10) / 10;
      return { blocks: agesMs.length, p50: at(0.5), p90: at(0.9), p99: at(0.99) };
    },
    close() {
      arrivals.clear();
      client.close();
    },
  };
}
