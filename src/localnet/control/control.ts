import type { Slot } from '../../domain/slot.ts';
import type { Chain } from '../bank/chain.ts';
import type { Faults } from '../rpc/faults.ts';
import type { RpcServer } from '../server.ts';
import type { Pacer } from './pacer.ts';

/** What a test can do to a running cluster. Each call has taken effect when its promise resolves. */
export interface Control {
  /** No more slots pass. */
  pauseSlots(): Promise<void>;
  /** Slots pass again, from where they stopped. */
  resumeSlots(): Promise<void>;
  /** The node falls so many slots behind the clock by standing still; 0 lets it catch up at once. */
  lag(slots: number): Promise<void>;
  /** Abandons what is processed but not confirmed, and goes on from there on another branch. Returns those slots. */
  fork(): Promise<Slot[]>;
  /** Cuts every WebSocket without a word. */
  dropWebSockets(): Promise<void>;
  /** Closes every WebSocket politely (1000), as a load balancer does that drains. */
  closeWebSockets(): Promise<void>;
  /** WebSockets stay open; nothing comes through them and no ping is answered. */
  silenceWebSockets(silent: boolean): Promise<void>;
  /** The next requests over HTTP get status 429, with `Retry-After` if seconds are given. */
  rateLimit(requests: number, retryAfter?: number): Promise<void>;
  /** The next calls that name a slot or an account get error -32016. */
  minContextSlotErrors(calls: number): Promise<void>;
  /** So many of the newest confirmed blocks can't be read yet: error -32014. */
  leaveUnwritten(blocks: number): Promise<void>;
  /** Every HTTP request waits so many milliseconds. */
  delay(ms: number): Promise<void>;
  /** So many slots are added to every slot that the node tells of. */
  lieAboutSlot(slots: number): Promise<void>;
  /** Nobody answers at the address: connections are cut, new ones refused. */
  stopListening(): Promise<void>;
  /** Answers again, at the same address. */
  startListening(): Promise<void>;
  /** How often each JSON-RPC method has been called over HTTP. */
  requests(): Promise<Readonly<Record<string, number>>>;
}

/** The parts that the control turns. */
interface Controlled {
  readonly chain: Chain;
  readonly pacer: Pacer;
  readonly faults: Faults;
  readonly server: RpcServer;
}

/** The control of a cluster in the same thread. */
export function controlOf({ chain, pacer, faults, server }: Controlled): Control {
  return {
    pauseSlots: async () => pacer.pause(),
    resumeSlots: async () => pacer.resume(),
    lag: async (slots) => pacer.lag(slots),
    fork: async () => chain.fork(),
    dropWebSockets: async () => server.dropWebSockets(),
    closeWebSockets: async () => server.closeWebSockets(),
    silenceWebSockets: async (silent) => {
      faults.silent = silent;
    },
    rateLimit: async (requests, retryAfter) => {
      faults.rateLimited = requests;
      faults.retryAfter = retryAfter;
    },
    minContextSlotErrors: async (calls) => {
      faults.minContextSlotErrors = calls;
    },
    leaveUnwritten: async (blocks) => {
      faults.unwrittenBlocks = blocks;
    },
    delay: async (ms) => {
      faults.delayMs = ms;
    },
    lieAboutSlot: async (slots) => {
      faults.slotLie = slots;
    },
    stopListening: () => server.stopListening(),
    startListening: () => server.listenAgain(),
    requests: async () => server.requests(),
  };
}
