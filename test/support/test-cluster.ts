import { randomBytes } from 'node:crypto';
import type { LocalClusterOptions } from '../../src/localnet/embedded-cluster.ts';
import type { GeyserFaults } from '../../src/localnet/geyser/geyser-faults.ts';
import { startInThreadCluster } from '../../src/localnet/in-thread-cluster.ts';
import type { InjectedFaults, SubscriptionRefusal } from '../../src/localnet/rpc/injected-faults.ts';
import type { Clock } from '../../src/shared/domain/clock.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';

export type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

/** Starts a cluster in this thread, with its faults and events. Each call has taken effect when its promise resolves. */
export async function startTestCluster(clock: Clock, genesis: Uint8Array, options: LocalClusterOptions) {
  const cluster = await startInThreadCluster(clock, genesis, options);
  const { chain, server, slotTicker, faults, geyserFaults, feed } = cluster;
  const inject = async (changes: Partial<InjectedFaults>): Promise<void> => void Object.assign(faults, changes);
  const control = {
    requestCounts: async (): Promise<Readonly<Record<string, number>>> => Object.fromEntries(server.requests),
    subscriptionCounts: async () => server.subscriptionCounts(),
    dropWebSockets: async () => server.dropWebSockets(),
    closeWebSockets: async () => server.closeWebSockets(),
    stopListening: server.stopListening,
    startListening: server.startListening,
    pauseSlots: async () => slotTicker.pause(),
    resumeSlots: async () => slotTicker.resume(),
    lagBehind: async (slots: number) => slotTicker.lagBehind(slots),
    /** Returns the slots of the blocks that were abandoned. */
    fork: async () => chain.fork(),
    silenceWebSockets: (isSilent: boolean) => inject({ isSilent }),
    limitSubscriptions: (perWebSocket: number, refusal: SubscriptionRefusal) =>
      inject({ subscriptionLimit: perWebSocket, subscriptionRefusal: refusal }),
    rateLimit: (requests: number, retryAfterSeconds?: number) =>
      inject({ rateLimitedRequests: requests, retryAfterSeconds }),
    failMinContextSlot: (calls: number) => inject({ minContextSlotFailures: calls }),
    withholdBlockStatus: (blocks: number) => inject({ blocksWithoutStatus: blocks }),
    delayResponses: (ms: number) => inject({ delayMs: ms }),
    skewSlots: (slots: number) => inject({ slotSkew: slots }),
    injectGeyser: async (changes: Partial<GeyserFaults>): Promise<void> => void Object.assign(geyserFaults, changes),
    restartGeyser: async (keepsReplay: boolean) => feed?.restart(keepsReplay),
    lagGeyser: async () => feed?.lag(),
  };
  return { ...cluster, control };
}

/** Starts one at the time of the system, and with a genesis of its own. */
export const startLiveCluster = (options: LocalClusterOptions): Promise<TestCluster> =>
  startTestCluster(systemClock, randomBytes(32), options);
