import type { ServerResponse } from 'node:http';
import { COMMITMENTS, type Commitment } from '../../../../src/domain/commitment.ts';
import type { RpcMethod } from '../../../../src/domain/rpc-methods.ts';
import type { Slot } from '../../../../src/domain/slot.ts';
import {
  errorBody,
  type Reply,
  type RpcRequest,
  resultBody,
  ScriptedNode,
  subscriptionId,
} from '../../../support/scripted-node.ts';
import { fail } from './fail.ts';
import type { FormulaChain } from './formula-chain.ts';
import { GOOD_HABITS, type Habits } from './habits.ts';
import { Subscribers } from './subscribers.ts';

const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const SYSTEM = '11111111111111111111111111111111';
const NOT_REACHED = '{"code":-32016,"message":"Minimum context slot has not been reached"}';
const SLOTS_PER_EPOCH = 432_000;

/** A node of a formula chain: answers what a gateway asks, tells of each slot when its time comes, and errs on demand. */
export class FormulaNode {
  habits: Habits = GOOD_HABITS;
  /** Called just before subscribers are told of a slot. */
  onTell = (_commitment: Commitment, _slot: Slot): void => {};
  readonly #chain: FormulaChain;
  readonly #node: ScriptedNode;
  readonly #subscribers = new Subscribers();
  readonly #told = new Map<Commitment, Slot>();
  readonly #requests = new Map<string, number>();

  static async start(chain: FormulaChain, port: number): Promise<FormulaNode> {
    return new FormulaNode(chain, await ScriptedNode.start(port));
  }

  private constructor(chain: FormulaChain, node: ScriptedNode) {
    this.#chain = chain;
    this.#node = node;
    for (const [method, result] of Object.entries(this.#results())) {
      node.replies[method as RpcMethod] = this.#replying(result); // the keys of the results are reads
    }
    node.onPubsubRequest = (socket, asked) => {
      const isEnd = asked.method.endsWith('Unsubscribe');
      socket.send(resultBody(asked, isEnd ? 'true' : subscriptionId(asked)));
      if (isEnd) this.#subscribers.remove(socket, /"params":\[(\d+)\]/.exec(asked.text)?.[1] ?? '');
      else this.#subscribers.add(socket, asked, (commitment) => this.#slot(commitment));
    };
    this.#tickLater();
  }

  get port(): number {
    return this.#node.port;
  }

  /** How often each method was asked for over HTTP, and how many accounts are subscribed to. */
  counts(): Readonly<Record<string, number>> {
    for (const { method } of this.#node.httpRequests.splice(0)) {
      this.#requests.set(method, (this.#requests.get(method) ?? 0) + 1);
    }
    return { ...Object.fromEntries(this.#requests), subscribed: this.#subscribers.accounts };
  }

  #slot(commitment: Commitment): Slot {
    return this.#chain.reached(commitment, this.#chain.processedAt(Date.now()) - this.habits.lag);
  }

  #replying(result: (slot: Slot, asked: RpcRequest) => string): Reply {
    const reply = (response: ServerResponse, asked: RpcRequest): void => {
      const { failures } = this.habits;
      const failure = failures[asked.method] ?? failures['*'];
      const { commitment = 'confirmed', minContextSlot = 0 } = asked.params.at(-1) ?? {};
      const slot = this.#slot(commitment);
      if (failure !== undefined) fail(failure, response, asked);
      else if (slot < minContextSlot) response.end(errorBody(asked, NOT_REACHED));
      else response.end(resultBody(asked, result(slot, asked)));
    };
    return (response, asked) => {
      if (this.habits.delayMs === 0) reply(response, asked);
      else setTimeout(reply, this.habits.delayMs, response, asked);
    };
  }

  /** What it answers, by method, with the slot at the commitment that is asked about. */
  #results(): Partial<Record<RpcMethod, (slot: Slot, asked: RpcRequest) => string>> {
    return {
      getGenesisHash: () => `"${this.#chain.plan.genesis}"`,
      getHealth: () => '"ok"',
      getBlock: () => 'null',
      getSlot: (slot) => `${this.#said(slot)}`,
      getEpochInfo: (slot) =>
        JSON.stringify({
          absoluteSlot: this.#said(slot),
          blockHeight: this.#said(slot) - 1,
          epoch: Math.floor(slot / SLOTS_PER_EPOCH),
          slotIndex: slot % SLOTS_PER_EPOCH,
          slotsInEpoch: SLOTS_PER_EPOCH,
          transactionCount: slot * 1000,
        }),
      getRecentPerformanceSamples: (slot) =>
        `[{"slot":${this.#said(slot)},"numTransactions":1500,"numNonVoteTransactions":500,"numSlots":150,"samplePeriodSecs":60}]`,
      getRecentPrioritizationFees: (slot) => `[{"slot":${this.#said(slot)},"prioritizationFee":0}]`,
      getMultipleAccounts: (slot, { params }) => {
        const accounts = params[0].map((address: string) => this.#account(address, slot) ?? 'null');
        return `{"context":{"apiVersion":"4.2.2","slot":${this.#said(slot)}},"value":[${accounts.join()}]}`;
      },
    };
  }

  #said(slot: Slot): Slot {
    return slot + this.habits.lie;
  }

  #account(address: string, slot: Slot): string | undefined {
    const lamports = this.#chain.lamports(address, slot);
    return lamports === 0 ? undefined : accountOf(lamports);
  }

  #tickLater(): void {
    const now = Date.now();
    const next = this.#chain.startOf(this.#chain.processedAt(now) + 1);
    setTimeout(() => {
      this.#tick();
      this.#tickLater();
    }, next - now);
  }

  /** Tells of the slots that were reached since the last time, in the order in which a node does. */
  #tick(): void {
    this.counts(); // so that the list of what was asked stays short
    for (const processed of this.#newSlots('processed')) {
      this.#tell('processed', processed);
      const [slot, parent] = [processed + 1, this.#chain.parentOf(processed + 1)];
      const root = this.#chain.reached('finalized', processed);
      this.#subscribers.tellSlot(
        `{"slot":${this.#said(slot)},"parent":${this.#said(parent)},"root":${this.#said(root)}}`,
      );
    }
    for (const commitment of COMMITMENTS.slice(1)) {
      for (const slot of this.#newSlots(commitment)) this.#tell(commitment, slot);
    }
  }

  #newSlots(commitment: Commitment): readonly Slot[] {
    const newest = this.#slot(commitment);
    const told = this.#told.get(commitment) ?? newest - 1;
    this.#told.set(commitment, Math.max(newest, told));
    const slots = Array.from({ length: Math.max(0, newest - told) }, (_, index) => told + 1 + index);
    return slots.filter((slot) => commitment === 'processed' || !this.#chain.isAbandoned(slot));
  }

  /** The Clock first: what is told after it belongs to the same slot, which is the harder case for who listens. */
  #tell(commitment: Commitment, slot: Slot): void {
    this.onTell(commitment, slot);
    const context = `{"context":{"slot":${this.#said(slot)}}`;
    this.#subscribers.tellAccounts(commitment, slot, (address) =>
      address === CLOCK ? `${context},"value":${accountOf(1)}}` : undefined,
    );
    this.#subscribers.tellAccounts(commitment, slot, (address, told) =>
      address !== CLOCK && this.#chain.isChanged(address, told, slot)
        ? `${context},"value":${this.#account(address, slot) ?? accountOf(0)}}`
        : undefined,
    );
  }
}

const accountOf = (lamports: number): string =>
  `{"lamports":${lamports},"data":["","base64"],"owner":"${SYSTEM}","executable":false,"rentEpoch":18446744073709551615,"space":0}`;
