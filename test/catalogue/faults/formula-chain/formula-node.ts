import { COMMITMENTS, type Commitment } from '../../../../src/shared/domain/commitment.ts';
import type { RpcMethod } from '../../../../src/shared/domain/rpc-methods.ts';
import type { Slot } from '../../../../src/shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../../../src/shared/domain/well-known-addresses.ts';
import { clockText } from '../../../support/clock-text.ts';
import {
  errorBody,
  type ReplyScript,
  type RpcRequest,
  resultBody,
  ScriptedNode,
  subscriptionId,
} from '../../../support/scripted-node.ts';
import type { FormulaChain } from './formula-chain.ts';
import { FormulaSubscribers } from './formula-subscribers.ts';

const SYSTEM = '11111111111111111111111111111111';
const SLOT_NOT_REACHED = '{"code":-32016,"message":"Minimum context slot has not been reached"}';
const SLOTS_PER_EPOCH = 432_000;
/** Slots since a transaction landed. */
const TRANSACTION_AGE = 2000;

/** The lies of a node. */
export interface Lies {
  /** Where: over both, over one of both, or in transactions. */
  readonly over: 'both' | 'http' | 'pubsub' | 'transactions';
  /** What: other balances, or true ones of some slots before. */
  readonly as: 'false-value' | 'older-slot';
  /** One in this many answers and notifications is a lie. */
  readonly every: number;
}

/** Slots by which the values of an `older-slot` are older. */
const OLDER_SLOTS = 7;

/**
 * A node of a formula chain: answers requests, sends slot and account notifications in time, and may have rooted
 * slots that it does not report yet.
 */
export class FormulaNode {
  /**
   * One in this many finalized answers, and slots that are notified, has accounts of up to three slots later: the node has
   * rooted these, and doesn't report them yet. 0: none.
   */
  rootAheadEvery = 0;
  /** How the node lies; null if it doesn't. */
  lies: Lies | null = null;
  /** Milliseconds before each answer. */
  latencyMs = 0;
  readonly #chain: FormulaChain;
  readonly #node: ScriptedNode;
  readonly #subscribers = new FormulaSubscribers();
  readonly #notifiedSlots = new Map<Commitment, Slot>();
  readonly #requests = new Map<string, number>();
  #rootReads = 0;
  #answers = 0;
  /** Newest root whose accounts were notified. */
  #newestRoot: Slot = 0;

  static async start(chain: FormulaChain): Promise<FormulaNode> {
    return new FormulaNode(chain, await ScriptedNode.start());
  }

  private constructor(chain: FormulaChain, node: ScriptedNode) {
    this.#chain = chain;
    this.#node = node;
    for (const [method, result] of Object.entries(this.#results())) {
      node.replies[method as RpcMethod] = this.#replyWith(result); // the keys of the results are RPC methods
    }
    node.onPubsubRequest = (socket, call) => {
      const isEnd = call.method.endsWith('Unsubscribe');
      socket.send(resultBody(call, isEnd ? 'true' : subscriptionId(call)));
      if (isEnd) this.#subscribers.remove(socket, /"params":\[(\d+)\]/.exec(call.text)?.[1] ?? '');
      else this.#subscribers.add(socket, call, (commitment) => this.#slotAt(commitment));
    };
    this.#scheduleTick();
  }

  get port(): number {
    return this.#node.port;
  }

  /** Returns the number of HTTP requests by method. */
  counts(): Readonly<Record<string, number>> {
    for (const { method } of this.#node.httpRequests.splice(0)) {
      this.#requests.set(method, (this.#requests.get(method) ?? 0) + 1);
    }
    return Object.fromEntries(this.#requests);
  }

  #slotAt(commitment: Commitment): Slot {
    return this.#chain.newestSlotAt(commitment, this.#chain.processedSlotAt(Date.now()));
  }

  #replyWith(result: (slot: Slot, call: RpcRequest) => string): ReplyScript {
    return (response, call) => {
      const { commitment = 'confirmed', minContextSlot = 0 } = call.params.at(-1) ?? {};
      const slot = this.#slotAt(commitment);
      if (slot < minContextSlot) response.end(errorBody(call, SLOT_NOT_REACHED));
      else if (this.latencyMs === 0) response.end(resultBody(call, result(slot, call)));
      else setTimeout(() => response.end(resultBody(call, result(slot, call))), this.latencyMs);
    };
  }

  /** Results by method, for the slot at the requested commitment. */
  #results(): Partial<Record<RpcMethod, (slot: Slot, call: RpcRequest) => string>> {
    return {
      getGenesisHash: () => `"${this.#chain.parameters.genesis}"`,
      getHealth: () => '"ok"',
      getBlock: () => 'null',
      getTransaction: (slot, { params }) => this.#transaction(params[0], slot - TRANSACTION_AGE),
      getSlot: (slot) => `${slot}`,
      getEpochInfo: (slot) =>
        JSON.stringify({
          absoluteSlot: slot,
          blockHeight: slot - 1,
          epoch: Math.floor(slot / SLOTS_PER_EPOCH),
          slotIndex: slot % SLOTS_PER_EPOCH,
          slotsInEpoch: SLOTS_PER_EPOCH,
          transactionCount: slot * 1000,
        }),
      getRecentPerformanceSamples: (slot) =>
        `[{"slot":${slot},"numTransactions":1500,"numNonVoteTransactions":500,"numSlots":150,"samplePeriodSecs":60}]`,
      getRecentPrioritizationFees: (slot) => `[{"slot":${slot},"prioritizationFee":0}]`,
      getMultipleAccounts: (slot, { params }) => {
        const root = params[1].commitment === 'finalized' ? this.#rootAt(slot) : slot;
        const isLie = this.#isLie('http');
        const accounts = params[0].map((address: string) => this.#account(address, root, isLie) ?? 'null');
        return `{"context":{"apiVersion":"4.2.2","slot":${slot}},"value":[${accounts.join()}]}`;
      },
    };
  }

  /** Returns a transaction whose only fact is a fee that follows from its signature. */
  #transaction(signature: string, landedAt: Slot): string {
    const fee = this.#chain.lamports(signature, 0) + (this.#isLie('transactions') ? 1 : 0);
    const meta = `{"err":null,"fee":${fee},"preBalances":[${fee}],"postBalances":[0]}`;
    const message = `{"accountKeys":["${SYSTEM}"],"recentBlockhash":"${SYSTEM}","instructions":[]}`;
    return `{"slot":${landedAt - (landedAt % 1000)},"blockTime":1,"meta":${meta},"transaction":{"signatures":["${signature}"],"message":${message}},"version":"legacy"}`;
  }

  /** Returns the slot whose finalized accounts are read for `slot`. */
  #rootAt(slot: Slot): Slot {
    const { rootAheadEvery } = this;
    const count = ++this.#rootReads;
    return rootAheadEvery === 0 || count % rootAheadEvery !== 0 ? slot : slot + 1 + ((count / rootAheadEvery) % 3);
  }

  #isLie(over: Lies['over']): boolean {
    const { lies } = this;
    return lies !== null && (lies.over === over || lies.over === 'both') && ++this.#answers % lies.every === 0;
  }

  #account(address: string, slot: Slot, isLie = false): string | undefined {
    if (address === CLOCK_SYSVAR) return clockText(slot);
    const isOlder = isLie && this.lies?.as === 'older-slot';
    const truth = this.#chain.lamports(address, isOlder ? slot - OLDER_SLOTS : slot);
    const lamports = isLie && !isOlder ? truth + 1 : truth;
    return lamports === 0 ? undefined : accountJsonOf(lamports);
  }

  #scheduleTick(): void {
    const now = Date.now();
    const next = this.#chain.startMsOf(this.#chain.processedSlotAt(now) + 1);
    setTimeout(() => {
      this.#tick();
      this.#scheduleTick();
    }, next - now);
  }

  /** Sends the notifications of the slots since the last tick, in a node's order. */
  #tick(): void {
    this.counts(); // keeps the list of requests short
    for (const processed of this.#newSlots('processed')) {
      this.#notifyAccounts('processed', processed);
      const root = this.#chain.newestSlotAt('finalized', processed);
      this.#subscribers.notifySlot(`{"slot":${processed + 1},"parent":${processed},"root":${root}}`);
    }
    for (const commitment of COMMITMENTS.slice(1)) {
      for (const slot of this.#newSlots(commitment)) this.#notifyAccounts(commitment, slot);
    }
  }

  #newSlots(commitment: Commitment): readonly Slot[] {
    const newest = this.#slotAt(commitment);
    const notified = this.#notifiedSlots.get(commitment) ?? newest - 1;
    this.#notifiedSlots.set(commitment, Math.max(newest, notified));
    return Array.from({ length: Math.max(0, newest - notified) }, (_, index) => notified + 1 + index);
  }

  /**
   * Notifies account subscribers, of the Clock first: later notifications then belong to the same slot, which is the
   * harder order for subscribers. No accounts are older than those of a root that was read before.
   */
  #notifyAccounts(commitment: Commitment, slot: Slot): void {
    const isFinalized = commitment === 'finalized';
    const clockSlot = isFinalized ? Math.max(slot, this.#newestRoot) : slot;
    const root = isFinalized ? Math.max(clockSlot, this.#rootAt(slot)) : slot;
    if (isFinalized) this.#newestRoot = root;
    const context = `{"context":{"slot":${slot}}`;
    this.#subscribers.notifyAccounts(commitment, clockSlot, (address) =>
      address === CLOCK_SYSVAR ? `${context},"value":${clockText(clockSlot)}}` : undefined,
    );
    const isLie = this.#isLie('pubsub');
    this.#subscribers.notifyAccounts(commitment, root, (address, notified) =>
      address !== CLOCK_SYSVAR && this.#chain.isChanged(address, notified, root)
        ? `${context},"value":${this.#account(address, root, isLie) ?? accountJsonOf(0)}}`
        : undefined,
    );
  }
}

const accountJsonOf = (lamports: number): string =>
  `{"lamports":${lamports},"data":["","base64"],"owner":"${SYSTEM}","executable":false,"rentEpoch":18446744073709551615,"space":0}`;
