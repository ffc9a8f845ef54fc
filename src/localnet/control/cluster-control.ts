import type { Slot } from '../../domain/slot.ts';
import type { Chain } from '../bank/chain.ts';
import type { InjectedFaults, SubscriptionRefusal } from '../rpc/injected-faults.ts';
import type { SlotTicker } from './slot-ticker.ts';

/**
 * Faults and events that a test can trigger in a running cluster. Each call has taken effect when its promise resolves.
 */
export interface ClusterControl {
  /** Stops the slots. */
  pauseSlots(): Promise<void>;
  /** Lets slots pass again, from where they stopped. */
  resumeSlots(): Promise<void>;
  /** Makes the node lag the clock by a number of slots; 0 lets it catch up at once. */
  lagBehind(slots: number): Promise<void>;
  /**
   * Abandons the blocks that are processed but not confirmed, and continues on another fork. Returns the abandoned
   * slots.
   */
  fork(): Promise<Slot[]>;
  /** Cuts every WebSocket without a close frame. */
  dropWebSockets(): Promise<void>;
  /** Closes every WebSocket with code 1000, as a load balancer does that drains. */
  closeWebSockets(): Promise<void>;
  /** Keeps WebSockets open, but sends nothing and answers no ping. */
  silenceWebSockets(isSilent: boolean): Promise<void>;
  /** Limits the subscriptions of each WebSocket; `refusal` is what happens to one more. Infinity ends the limit. */
  limitSubscriptions(perWebSocket: number, refusal: SubscriptionRefusal): Promise<void>;
  /** Answers the next HTTP requests with status 429, with `Retry-After` if seconds are given. */
  rateLimit(requests: number, retryAfterSeconds?: number): Promise<void>;
  /** Answers the next calls that name a slot or an account with error -32016. */
  failMinContextSlot(calls: number): Promise<void>;
  /** Answers calls for the newest confirmed blocks, as many as given, with error -32014. */
  withholdBlockStatus(blocks: number): Promise<void>;
  /** Delays every HTTP response. */
  delayResponses(ms: number): Promise<void>;
  /** Adds a number to every slot that the node reports. */
  skewSlots(slots: number): Promise<void>;
  /** Cuts all connections and refuses new ones. */
  stopListening(): Promise<void>;
  /** Listens again, at the same address. */
  startListening(): Promise<void>;
  /** Returns the number of calls over HTTP by JSON-RPC method. */
  requestCounts(): Promise<Readonly<Record<string, number>>>;
  /** Returns the number of subscriptions of each open WebSocket. */
  subscriptionCounts(): Promise<readonly number[]>;
}

/** Part of the server that the control uses. */
export interface ControlledServer {
  /** Returns the number of calls over HTTP by method; methods that no node has are counted as `unknown`. */
  requestCounts(): Readonly<Record<string, number>>;
  /** Returns the number of subscriptions of each open WebSocket. */
  subscriptionCounts(): readonly number[];
  /** Cuts every WebSocket without a close frame. */
  dropWebSockets(): void;
  /** Closes every WebSocket with code 1000. */
  closeWebSockets(): void;
  /** Cuts all connections and refuses new ones. */
  stopListening(): Promise<void>;
  /** Listens again, at the same address. */
  startListening(): Promise<void>;
}

/** Parts of the cluster that the control changes. */
interface ControlledParts {
  readonly chain: Chain;
  readonly slotTicker: SlotTicker;
  readonly faults: InjectedFaults;
  readonly server: ControlledServer;
}

/** Creates the control of a cluster in the same thread. */
export function createClusterControl({ chain, slotTicker, faults, server }: ControlledParts): ClusterControl {
  return {
    pauseSlots: async () => slotTicker.pause(),
    resumeSlots: async () => slotTicker.resume(),
    lagBehind: async (slots) => slotTicker.lagBehind(slots),
    fork: async () => chain.fork(),
    dropWebSockets: async () => server.dropWebSockets(),
    closeWebSockets: async () => server.closeWebSockets(),
    silenceWebSockets: async (silent) => {
      faults.isSilent = silent;
    },
    limitSubscriptions: async (perWebSocket, refusal) => {
      faults.subscriptionLimit = perWebSocket;
      faults.subscriptionRefusal = refusal;
    },
    rateLimit: async (requests, retryAfter) => {
      faults.rateLimitedRequests = requests;
      faults.retryAfterSeconds = retryAfter;
    },
    failMinContextSlot: async (calls) => {
      faults.minContextSlotFailures = calls;
    },
    withholdBlockStatus: async (blocks) => {
      faults.blocksWithoutStatus = blocks;
    },
    delayResponses: async (ms) => {
      faults.delayMs = ms;
    },
    skewSlots: async (slots) => {
      faults.slotSkew = slots;
    },
    stopListening: () => server.stopListening(),
    startListening: () => server.startListening(),
    requestCounts: async () => server.requestCounts(),
    subscriptionCounts: async () => server.subscriptionCounts(),
  };
}
