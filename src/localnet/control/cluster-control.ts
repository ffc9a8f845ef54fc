import type { Slot } from '../../domain/slot.ts';
import type { Chain } from '../bank/chain.ts';
import type { InjectedFaults } from '../rpc/injected-faults.ts';
import type { SlotTicker } from './slot-ticker.ts';

/** The part of a node's server that a test may act on. */
export interface ControlledServer {
  /** How often each method was called over HTTP; those that no node knows are counted as `unknown`. */
  requestCounts(): Readonly<Record<string, number>>;
  /** Cuts every WebSocket without a word. */
  dropWebSockets(): void;
  /** Ends every WebSocket properly, as a server does that drains. */
  closeWebSockets(): void;
  /** Cuts every connection and takes no more. */
  stopListening(): Promise<void>;
  /** Takes connections again, at the same address. */
  startListening(): Promise<void>;
}

/** What a test can do to a running cluster. Each call has taken effect when its promise resolves. */
export interface ClusterControl {
  /** No more slots pass. */
  pauseSlots(): Promise<void>;
  /** Slots pass again, from where they stopped. */
  resumeSlots(): Promise<void>;
  /** The node falls so many slots behind the clock by standing still; 0 lets it catch up at once. */
  lagBehind(slots: number): Promise<void>;
  /** Abandons what is processed but not confirmed, and goes on from there on another branch. Returns those slots. */
  fork(): Promise<Slot[]>;
  /** Cuts every WebSocket without a word. */
  dropWebSockets(): Promise<void>;
  /** Closes every WebSocket politely (1000), as a load balancer does that drains. */
  closeWebSockets(): Promise<void>;
  /** WebSockets stay open; nothing comes through them and no ping is answered. */
  silenceWebSockets(isSilent: boolean): Promise<void>;
  /** The next requests over HTTP get status 429, with `Retry-After` if seconds are given. */
  rateLimit(requests: number, retryAfterSeconds?: number): Promise<void>;
  /** The next calls that name a slot or an account get error -32016. */
  failMinContextSlot(calls: number): Promise<void>;
  /** So many of the newest confirmed blocks can't be read yet: error -32014. */
  withholdBlockStatus(blocks: number): Promise<void>;
  /** Every HTTP request waits so many milliseconds. */
  delayResponses(ms: number): Promise<void>;
  /** So many slots are added to every slot that the node tells of. */
  skewSlots(slots: number): Promise<void>;
  /** Nobody answers at the address: connections are cut, new ones refused. */
  stopListening(): Promise<void>;
  /** Answers again, at the same address. */
  startListening(): Promise<void>;
  /** How often each JSON-RPC method has been called over HTTP. */
  requestCounts(): Promise<Readonly<Record<string, number>>>;
}

/** The part of a server that the control turns. */
export interface ControlledServer {
  /** How often each method was called over HTTP; those that no node knows are counted as `unknown`. */
  requestCounts(): Readonly<Record<string, number>>;
  /** Cuts every WebSocket without a word. */
  dropWebSockets(): void;
  /** Ends every WebSocket properly, as a server does that drains. */
  closeWebSockets(): void;
  /** Cuts every connection and takes no more. */
  stopListening(): Promise<void>;
  /** Takes connections again, at the same address. */
  startListening(): Promise<void>;
}

/** The parts that the control turns. */
interface ControlledParts {
  readonly chain: Chain;
  readonly slotTicker: SlotTicker;
  readonly faults: InjectedFaults;
  readonly server: ControlledServer;
}

/** The control of a cluster in the same thread. */
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
  };
}
