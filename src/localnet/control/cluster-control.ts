import type { Slot } from '../../shared/domain/slot.ts';
import type { Chain } from '../bank/chain.ts';
import type { EmbeddedFeed } from '../geyser/embedded-feed.ts';
import type { GeyserFaults } from '../geyser/geyser-faults.ts';
import type { InjectedFaults, SubscriptionRefusal } from '../rpc/injected-faults.ts';
import type { SlotTicker } from './slot-ticker.ts';

export interface ControlledServer {
  /** Cuts every WebSocket without a close frame. */
  dropWebSockets(): Promise<void>;
  /** Closes every WebSocket with code 1000, as a load balancer does that drains. */
  closeWebSockets(): Promise<void>;
  /** Cuts all connections and refuses new ones. */
  stopListening(): Promise<void>;
  /** Listens again, at the same address. */
  startListening(): Promise<void>;
  /** Returns the number of calls over HTTP by JSON-RPC method; methods that no node has are counted as `unknown`. */
  requestCounts(): Promise<Readonly<Record<string, number>>>;
  /** Returns the number of subscriptions of each open WebSocket. */
  subscriptionCounts(): Promise<readonly number[]>;
}

interface ControlledParts {
  readonly chain: Chain;
  readonly slotTicker: SlotTicker;
  readonly faults: InjectedFaults;
  readonly server: ControlledServer;
  /** Undefined where the cluster has no Geyser feed. */
  readonly feed: EmbeddedFeed | undefined;
  readonly geyserFaults: GeyserFaults;
}

/** Faults and events that a test can trigger. Each call has taken effect when its promise resolves. */
export type ClusterControl = ReturnType<typeof createClusterControl>;

/** Creates the control of a cluster in the same thread. */
export function createClusterControl({ chain, slotTicker, faults, server, feed, geyserFaults }: ControlledParts) {
  const inject = async (changes: Partial<InjectedFaults>): Promise<void> => void Object.assign(faults, changes);
  return {
    ...server,
    /** Stops the slots. */
    pauseSlots: async () => slotTicker.pause(),
    /** Lets slots pass again, from where they stopped. */
    resumeSlots: async () => slotTicker.resume(),
    /** Makes the node lag the clock by a number of slots; 0 lets it catch up immediately. */
    lagBehind: async (slots: number) => slotTicker.lagBehind(slots),
    /** Abandons the blocks that are processed but not confirmed, and continues on another fork. Returns the abandoned slots. */
    fork: async (): Promise<Slot[]> => chain.fork(),
    /** Keeps WebSockets open, but sends nothing and answers no ping. */
    silenceWebSockets: (isSilent: boolean) => inject({ isSilent }),
    /** Limits the subscriptions of each WebSocket; `refusal` is what happens to one more. Infinity ends the limit. */
    limitSubscriptions: (perWebSocket: number, refusal: SubscriptionRefusal) =>
      inject({ subscriptionLimit: perWebSocket, subscriptionRefusal: refusal }),
    /** Answers the next HTTP requests with status 429, with `Retry-After` if seconds are given. */
    rateLimit: (requests: number, retryAfterSeconds?: number) =>
      inject({ rateLimitedRequests: requests, retryAfterSeconds }),
    /** Answers the next calls that name a slot or an account with error -32016. */
    failMinContextSlot: (calls: number) => inject({ minContextSlotFailures: calls }),
    /** Answers calls for the given number of newest confirmed blocks with error -32014. */
    withholdBlockStatus: (blocks: number) => inject({ blocksWithoutStatus: blocks }),
    /** Delays every HTTP response. */
    delayResponses: (ms: number) => inject({ delayMs: ms }),
    /** Adds a number to every slot that the node reports. */
    skewSlots: (slots: number) => inject({ slotSkew: slots }),
    /** Injects faults into the Geyser feed. */
    injectGeyser: async (changes: Partial<GeyserFaults>): Promise<void> => void Object.assign(geyserFaults, changes),
    /** Ends all subscriptions to the Geyser feed, as a restart does; without a replay its blocks are forgotten. */
    restartGeyser: async (keepsReplay: boolean) => feed?.restart(keepsReplay),
    /** Ends all subscriptions to the Geyser feed as those of slow readers. */
    lagGeyser: async () => feed?.lag(),
  };
}
