import type { ServerResponse } from 'node:http';
import { COMMITMENTS, type Commitment } from '../../../../src/domain/commitment.ts';
import type { RpcMethod } from '../../../../src/domain/rpc-methods.ts';
import type { Slot } from '../../../../src/domain/slot.ts';
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
import { HEALTHY_BEHAVIOUR, type NodeBehaviour } from './node-behaviour.ts';
import { respondWithFailure } from './respond-with-failure.ts';

const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const SYSTEM = '11111111111111111111111111111111';
const SLOT_NOT_REACHED = '{"code":-32016,"message":"Minimum context slot has not been reached"}';
const SLOTS_PER_EPOCH = 432_000;

/** A node of a formula chain: answers requests, sends slot and account notifications in time, and fails on demand. */
export class FormulaNode {
  behaviour: NodeBehaviour = HEALTHY_BEHAVIOUR;
  /** Called just before subscribers are notified of a slot. */
  onNotify = (_commitment: Commitment, _slot: Slot): void => {};
  readonly #chain: FormulaChain;
  readonly #node: ScriptedNode;
  readonly #subscribers = new FormulaSubscribers();
  readonly #notifiedSlots = new Map<Commitment, Slot>();
  readonly #requests = new Map<string, number>();

  static async start(chain: FormulaChain, port: number): Promise<FormulaNode> {
    return new FormulaNode(chain, await ScriptedNode.start(port));
  }

  private constructor(chain: FormulaChain, node: ScriptedNode) {
    this.#chain = chain;
    this.#node = node;
    for (const [method, result] of Object.entries(this.#results())) {
      node.replies[method as RpcMethod] = this.#replyWith(result); // the keys of the results are RPC methods
    }
    node.onPubsubRequest = (socket, asked) => {
      const isEnd = asked.method.endsWith('Unsubscribe');
      socket.send(resultBody(asked, isEnd ? 'true' : subscriptionId(asked)));
      if (isEnd) this.#subscribers.remove(socket, /"params":\[(\d+)\]/.exec(asked.text)?.[1] ?? '');
      else this.#subscribers.add(socket, asked, (commitment) => this.#slotAt(commitment));
    };
    this.#scheduleTick();
  }

  get port(): number {
    return this.#node.port;
  }

  /** Returns the number of HTTP requests by method, and the number of account subscriptions. */
  counts(): Readonly<Record<string, number>> {
    for (const { method } of this.#node.httpRequests.splice(0)) {
      this.#requests.set(method, (this.#requests.get(method) ?? 0) + 1);
    }
    return { ...Object.fromEntries(this.#requests), subscribed: this.#subscribers.accountCount };
  }

  #slotAt(commitment: Commitment): Slot {
    return this.#chain.newestSlotAt(commitment, this.#chain.processedSlotAt(Date.now()) - this.behaviour.lagSlots);
  }

  #replyWith(result: (slot: Slot, asked: RpcRequest) => string): ReplyScript {
    const reply = (response: ServerResponse, asked: RpcRequest): void => {
      const { failures } = this.behaviour;
      const failure = failures[asked.method] ?? failures['*'];
      const { commitment = 'confirmed', minContextSlot = 0 } = asked.params.at(-1) ?? {};
      const slot = this.#slotAt(commitment);
      if (failure !== undefined) respondWithFailure(failure, response, asked);
      else if (slot < minContextSlot) response.end(errorBody(asked, SLOT_NOT_REACHED));
      else response.end(resultBody(asked, result(slot, asked)));
    };
    return (response, asked) => {
      if (this.behaviour.delayMs === 0) reply(response, asked);
      else setTimeout(reply, this.behaviour.delayMs, response, asked);
    };
  }

  /** Results by method, for the slot at the requested commitment. */
  #results(): Partial<Record<RpcMethod, (slot: Slot, asked: RpcRequest) => string>> {
    return {
      getGenesisHash: () => `"${this.#chain.parameters.genesis}"`,
      getHealth: () => '"ok"',
      getBlock: () => 'null',
      getSlot: (slot) => `${this.#reportedSlot(slot)}`,
      getEpochInfo: (slot) =>
        JSON.stringify({
          absoluteSlot: this.#reportedSlot(slot),
          blockHeight: this.#reportedSlot(slot) - 1,
          epoch: Math.floor(slot / SLOTS_PER_EPOCH),
          slotIndex: slot % SLOTS_PER_EPOCH,
          slotsInEpoch: SLOTS_PER_EPOCH,
          transactionCount: slot * 1000,
        }),
      getRecentPerformanceSamples: (slot) =>
        `[{"slot":${this.#reportedSlot(slot)},"numTransactions":1500,"numNonVoteTransactions":500,"numSlots":150,"samplePeriodSecs":60}]`,
      getRecentPrioritizationFees: (slot) => `[{"slot":${this.#reportedSlot(slot)},"prioritizationFee":0}]`,
      getMultipleAccounts: (slot, { params }) => {
        const accounts = params[0].map((address: string) => this.#account(address, slot) ?? 'null');
        return `{"context":{"apiVersion":"4.2.2","slot":${this.#reportedSlot(slot)}},"value":[${accounts.join()}]}`;
      },
    };
  }

  #reportedSlot(slot: Slot): Slot {
    return slot + this.behaviour.slotOffset;
  }

  #account(address: string, slot: Slot): string | undefined {
    const lamports = this.#chain.lamports(address, slot);
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
      const [slot, parent] = [processed + 1, this.#chain.parentOf(processed + 1)];
      const root = this.#chain.newestSlotAt('finalized', processed);
      this.#subscribers.notifySlot(
        `{"slot":${this.#reportedSlot(slot)},"parent":${this.#reportedSlot(parent)},"root":${this.#reportedSlot(root)}}`,
      );
    }
    for (const commitment of COMMITMENTS.slice(1)) {
      for (const slot of this.#newSlots(commitment)) this.#notifyAccounts(commitment, slot);
    }
  }

  #newSlots(commitment: Commitment): readonly Slot[] {
    const newest = this.#slotAt(commitment);
    const notified = this.#notifiedSlots.get(commitment) ?? newest - 1;
    this.#notifiedSlots.set(commitment, Math.max(newest, notified));
    const slots = Array.from({ length: Math.max(0, newest - notified) }, (_, index) => notified + 1 + index);
    return slots.filter((slot) => commitment === 'processed' || !this.#chain.isAbandoned(slot));
  }

  /**
   * Notifies account subscribers, of the Clock first: later notifications then belong to the same slot, which is the
   * harder order for subscribers.
   */
  #notifyAccounts(commitment: Commitment, slot: Slot): void {
    this.onNotify(commitment, slot);
    const context = `{"context":{"slot":${this.#reportedSlot(slot)}}`;
    this.#subscribers.notifyAccounts(commitment, slot, (address) =>
      address === CLOCK ? `${context},"value":${accountJsonOf(1)}}` : undefined,
    );
    this.#subscribers.notifyAccounts(commitment, slot, (address, told) =>
      address !== CLOCK && this.#chain.isChanged(address, told, slot)
        ? `${context},"value":${this.#account(address, slot) ?? accountJsonOf(0)}}`
        : undefined,
    );
  }
}

const accountJsonOf = (lamports: number): string =>
  `{"lamports":${lamports},"data":["","base64"],"owner":"${SYSTEM}","executable":false,"rentEpoch":18446744073709551615,"space":0}`;
