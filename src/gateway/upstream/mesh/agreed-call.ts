import { noAgreement, oneVoice } from '../../../shared/domain/agreement.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import { contradictionOf, type Facts } from '../rpc/facts.ts';
import { withMinContextSlot } from '../rpc/response-slot.ts';
import { meaningOfCode } from '../rpc/rpc-error-code.ts';
import {
  type AgreeOptions,
  type CallOptions,
  type ConsensusData,
  NOTHING,
  type RpcResponse,
} from '../rpc/rpc-response.ts';
import type { OperatorAgreement } from './mesh.ts';
import { failsAlike, informativeness, nodesFor, type RouteCallDeps, routeCall } from './route-call.ts';

/** How often operators whose slots differ are read again, and the milliseconds that this may take in all. */
const MAX_REPEATS = 2;
const MAX_REPEAT_MS = 400;

/** Milliseconds before the second repeat: half a slot later another root may be there. */
const REPEAT_PAUSE_MS = 200;

/** Milliseconds without a response after which one operator more is read. */
const SPARE_AFTER_MS = 250;

export interface AgreedCallDeps extends RouteCallDeps, Pick<OperatorAgreement, 'disagreements' | 'needed'> {
  /** Part of the calls of one operator that are repeated at another in the background. */
  readonly sampleRate: number;
}

interface Vote {
  readonly operator: string;
  readonly response: RpcResponse;
  readonly data: ConsensusData;
}

/** Calls as many operators as must give the same, and says how many did. Throws `no_agreement` for a demanded absence. */
export async function agreedCall(
  deps: AgreedCallDeps,
  method: RpcMethod,
  params: readonly unknown[],
  { agree, ...options }: CallOptions & { readonly agree: AgreeOptions },
): Promise<RpcResponse> {
  const reads = new OperatorReads({ deps, method, params, options, agree });
  if (agree.count > 1 && agree.onlyIf === undefined) return decide(reads, await reads.collect(agree.count));
  const first = await routeCall(deps, method, params, options);
  const needsOthers = agree.count > 1 && agree.onlyIf?.(first) === true;
  if (!needsOthers) {
    if (deps.random() < deps.sampleRate) void sample(reads.ofGateway(), first);
    return { ...first, agreement: oneVoice(first.slot, deps.needed) };
  }
  const vote = await reads.voteOf(first);
  return decide(reads, [vote, ...(await reads.collect(agree.count - 1).catch(() => []))]);
}

/** Compares a response with one of another operator, for which nobody waits. */
async function sample(reads: OperatorReads, response: RpcResponse): Promise<void> {
  try {
    const vote = await reads.voteOf(response);
    await decide(reads, [vote, ...(await reads.collect(1, vote.data.slot))], 1);
  } catch {
    // nothing is compared, and nobody waits: a rejection here would end the process, whatever a node has sent
  }
}

/** Compares what operators gave at one slot; where they differ, another one decides. */
async function decide(reads: OperatorReads, first: readonly Vote[], repeats = MAX_REPEATS): Promise<RpcResponse> {
  const { needed } = reads.call.deps;
  let votes = await reads.align(decisive(first), repeats);
  while (new Set(comparable(votes).map(({ data }) => data.digest)).size > 1 && majorityOf(votes) === undefined) {
    const others = await reads.collect(1, slotOf(votes)).catch(() => []);
    if (others.length === 0) break;
    votes = await reads.align(decisive([...votes, ...others]), repeats);
  }
  const majority = majorityOf(votes);
  await reportDifferences(reads, comparable(votes), majority);
  const [winner = first[0] as Vote] = majority ?? comparable(votes); // one at least was read
  const agreed = majority?.length ?? 1;
  if (isNothing(winner) && agreed < reads.demanded) throw noAgreement(reads.demanded);
  const { slot } = winner.response;
  return { ...winner.response, agreement: { slot, agreed, read: Math.max(votes.length, needed), needed } };
}

const isNothing = ({ data }: Vote): boolean => data.digest === NOTHING;

/** Returns the votes for something; all, where no operator has it. */
function decisive(votes: readonly Vote[]): readonly Vote[] {
  const found = votes.filter((vote) => !isNothing(vote));
  return found.length > 0 ? found : votes;
}

/** Returns the slot at which votes are compared; undefined where they are of none. */
function slotOf(votes: readonly Vote[]): Slot | undefined {
  const slots = votes.flatMap(({ data: { slot, needsSlot } }) =>
    slot === undefined ? [] : [Math.max(slot, needsSlot)],
  );
  return slots.length === 0 ? undefined : Math.max(...slots);
}

/**
 * Returns the votes that are of the newest slot: those of others can't be compared with them. A vote that is not proven at its
 * own slot says nothing about any: else a node whose Clock runs ahead would keep the others from being compared.
 */
function comparable(votes: readonly Vote[]): readonly Vote[] {
  const proven = votes.filter(({ data: { slot, needsSlot } }) => slot === undefined || needsSlot <= slot);
  if (proven.length === 0) return votes.slice(0, 1);
  const slot = slotOf(proven);
  return proven.filter(({ data }) => data.slot === slot);
}

/** Returns the votes that say the same, if they are two at least and more than the others. */
function majorityOf(votes: readonly Vote[]): readonly Vote[] | undefined {
  const compared = comparable(votes);
  return compared
    .map(({ data: { digest } }) => compared.filter(({ data }) => data.digest === digest))
    .find(({ length }) => length > 1 && length > compared.length / 2);
}

/** Reports the votes that contradict the majority, or each other where there is none. */
async function reportDifferences(
  { call, subject }: OperatorReads,
  votes: readonly Vote[],
  majority: readonly Vote[] | undefined,
): Promise<void> {
  if (new Set(votes.map(({ data }) => data.digest)).size === 1) return;
  const { method: what, deps } = call;
  const facts = await Promise.all(votes.map(factsOf));
  const [believed] = majority ?? votes;
  const expected = (believed && facts[votes.indexOf(believed)]) ?? NO_FACTS;
  const found = votes.map(({ response: { nodeId = '' }, data: { slot, digest } }) => ({ nodeId, slot, digest }));
  const contradictions = facts.map((given) => contradictionOf(given, expected));
  if (majority === undefined) {
    const isContradicted = contradictions.some((contradiction) => contradiction !== undefined);
    if (isContradicted) deps.disagreements.recordUndecided({ what, subject, votes: found });
    return;
  }
  for (const [i, { nodeId, slot }] of found.entries()) {
    const contradiction = contradictions[i];
    if (contradiction !== undefined) deps.disagreements.record({ nodeId, what, subject, slot, ...contradiction });
  }
}

/** Returns what of a vote another can contradict: nothing where that can't be read. */
async function factsOf({ data: { facts } }: Vote): Promise<Facts> {
  try {
    return (await facts?.()) ?? NO_FACTS;
  } catch {
    return NO_FACTS;
  }
}

const NO_FACTS: Facts = new Map();

interface AgreedCall {
  readonly deps: AgreedCallDeps;
  readonly method: RpcMethod;
  readonly params: readonly unknown[];
  readonly options: CallOptions;
  readonly agree: AgreeOptions;
}

class OperatorReads {
  readonly call: AgreedCall;
  /** The operators that are not read yet, the best first. */
  readonly #left: string[];

  constructor(call: AgreedCall) {
    const { deps, method, params, options } = call;
    this.call = call;
    this.#left = [...new Set(nodesFor(deps, method, params, options).map(({ operator }) => operator))];
  }

  /** What is read, for people. */
  get subject(): string {
    return JSON.stringify(this.call.params[0]).slice(0, MAX_SUBJECT_LENGTH);
  }

  get demanded(): number {
    return this.call.agree.demanded ?? 1;
  }

  /** Returns the same reads as work of the gateway itself. */
  ofGateway(): OperatorReads {
    const { cost: _, ...options } = this.call.options;
    return new OperatorReads({ ...this.call, options });
  }

  async voteOf(response: RpcResponse): Promise<Vote> {
    const { deps, agree } = this.call;
    const { operator = '' } = deps.meshNodes.find(({ id }) => id === response.nodeId) ?? {};
    const at = this.#left.indexOf(operator);
    if (at >= 0) this.#left.splice(at, 1);
    return { operator, response, data: await agree.compare(response) };
  }

  /**
   * Reads operators that were not read yet, `count` in parallel, and one more for each that fails, has nothing or is slow. The
   * others get some time after the first that has something, or `count` that have nothing. Rejects with the failure that says most
   * if none answers.
   */
  collect(count: number, minSlot?: Slot): Promise<readonly Vote[]> {
    const { clock } = this.call.deps;
    const votes: Vote[] = [];
    const failures: unknown[] = [];
    const running = new Set<string>();
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        cancelSpare();
        cancelWait?.();
        if (votes.length > 0) resolve([...votes]);
        else reject(this.#failureOf(failures));
      };
      const onAnswer = (vote: Vote): void => {
        votes.push(vote);
        const found = votes.filter((each) => !isNothing(each)).length;
        if (isNothing(vote)) start();
        if (found > 0 || votes.length >= count) cancelWait ??= clock.after(MAX_REPEAT_MS, finish);
        if (found >= count || running.size === 0) finish();
      };
      const onFailure = (thrown: unknown): void => {
        failures.push(thrown);
        if (!failsAlike(thrown)) start();
        if (running.size === 0) finish();
      };
      const start = (): void => {
        const operator = this.#left.shift();
        if (operator === undefined) return;
        running.add(operator);
        this.#read(operator, minSlot)
          .then((vote) => {
            running.delete(operator); // with the vote: another that ends in the same turn still counts as running
            onAnswer(vote);
          })
          .catch((thrown: unknown) => {
            running.delete(operator);
            onFailure(thrown);
          });
      };
      let cancelWait: (() => void) | undefined;
      const cancelSpare = clock.after(SPARE_AFTER_MS, start);
      for (let i = 0; i < count; i++) start();
      if (running.size === 0) finish();
    });
  }

  /** Returns the failure that says most; `no_agreement` for an absence that fewer operators gave than the caller demands. */
  #failureOf(failures: readonly unknown[]): unknown {
    const [most] = failures.toSorted((a, b) => informativeness(b) - informativeness(a));
    if (!(most instanceof GatewayError))
      return most ?? new GatewayError('upstream_unavailable', 'no other operator can be read');
    const alike = failures.filter((thrown) => meaningOf(thrown) === meaningOf(most)).length;
    return most.status === 404 && alike < this.demanded ? noAgreement(this.demanded) : most;
  }

  /** Reads the operators again whose slot is below that of another, until all are at one slot. */
  async align(votes: readonly Vote[], repeats: number): Promise<readonly Vote[]> {
    const { clock } = this.call.deps;
    const deadlineMs = clock.monotonic() + MAX_REPEAT_MS;
    let aligned = votes;
    for (let repeat = 0; repeat < repeats; repeat++) {
      const slot = slotOf(aligned);
      if (slot === undefined || aligned.every(({ data }) => data.slot === slot) || clock.monotonic() >= deadlineMs)
        break;
      if (repeat > 0) await sleep(clock, REPEAT_PAUSE_MS);
      aligned = await Promise.all(
        aligned.map((vote) =>
          vote.data.slot === slot ? vote : this.#read(vote.operator, slot, deadlineMs).catch(() => vote),
        ),
      );
    }
    return aligned;
  }

  async #read(operator: string, minSlot: Slot | undefined, latestMs = Number.POSITIVE_INFINITY): Promise<Vote> {
    const { deps, method, params, options, agree } = this.call;
    const meshNodes = deps.meshNodes.filter((node) => node.operator === operator);
    const wanted = minSlot === undefined ? params : withMinContextSlot(params, minSlot);
    const deadlineMs = Math.min(options.deadlineMs ?? Number.POSITIVE_INFINITY, latestMs);
    const response = await routeCall({ ...deps, meshNodes }, method, wanted, { ...options, deadlineMs });
    return { operator, response, data: await agree.compare(response) };
  }
}

const MAX_SUBJECT_LENGTH = 200;

const meaningOf = (thrown: unknown): number | undefined =>
  thrown instanceof GatewayError ? meaningOfCode(thrown.rpcCode) : undefined;
