import type { Cache } from '../cache/cache.ts';
import type { AnswerMeta, Entry } from '../cache/entry.ts';
import { SingleFlight } from '../cache/single-flight.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import { toJson } from '../domain/to-json.ts';
import type { Admit, Context, Live, ParamSet, Params, Read } from '../routing/route.ts';
import { translateRpcError } from '../upstream/rpc/translate-rpc-error.ts';
import { checkReachable, isBehind, notReached, overtaken, reach } from './min-slot.ts';

/** How an answer was come by: the `X-Cache` header. */
export type Source = 'HIT' | 'MISS' | 'STALE';

export interface Served {
  readonly entry: Entry;
  readonly source: Source;
}

/** A read that is kept: its route, and its parameters, all of them valid. */
export interface Question {
  readonly route: Live | Read;
  readonly params: Params<ParamSet>;
  /** The canonical target: the name of the answer in the cache. */
  readonly key: string;
  /** The answer must not be older than this. */
  readonly minSlot?: Slot | undefined;
}

/** A stale key is tried again in the background at most this often. */
const RETRY_MS = 400;

/** For how many slots it is told again that something is not there. */
const REFUSAL_SLOTS = 2;

/** Where answers that are no plain hit come from. Equal questions at one time are one question to the upstream. */
export class Answers {
  readonly #context: Context;
  readonly #cache: Cache;
  readonly #flight = new SingleFlight<Entry>();
  readonly #triedMs = new WeakMap<Entry, number>();

  constructor(context: Context) {
    this.#context = context;
    this.#cache = context.cache;
  }

  /** How many questions are with the upstream now. */
  get inFlight(): number {
    return this.#flight.size;
  }

  /** The answer if it can be had without waiting, or undefined: then {@link resolve} gets it. May throw its refusal. */
  lookUp(question: Question): Served | undefined {
    const kept = this.#cache.get(question.key);
    const entry = kept && this.#cache.advanceToLease(kept);
    if (entry === undefined) {
      if (question.route.kind === 'live') throw new GatewayError('warming_up', 'not read from the cluster yet');
      return undefined;
    }
    const freshness = this.#cache.statusOf(entry);
    if (entry.slot < (question.minSlot ?? 0) && entry.refusal?.final !== true) {
      if (question.route.kind === 'live') throw notReached();
      return undefined;
    }
    switch (freshness) {
      case 'fresh':
        if (entry.refusal !== undefined) throw entry.refusal;
        return { entry, source: 'HIT' };
      case 'stale':
        this.#retry(question, entry);
        return { entry, source: 'STALE' };
      case 'old':
        return undefined;
      case 'expired':
        if (question.route.kind === 'live')
          throw new GatewayError('stale', 'the cluster was not heard of for too long');
        return undefined;
    }
  }

  /**
   * Asks the upstream when its turn has come; who asks what is being asked already only waits. When it can't do better,
   * the old answer goes on until it is too old.
   */
  async resolve(question: Question, admit: Admit = (work) => work()): Promise<Served> {
    const { key, minSlot = 0 } = question;
    const ask = (): Promise<Entry> => this.#askInTime(question, minSlot);
    try {
      const isAsked = this.#flight.has(flightOf(key, minSlot));
      const entry = this.#newest(await (isAsked ? ask() : admit(ask))) ?? this.#newest(await ask());
      if (entry === undefined) throw overtaken();
      return { entry, source: 'MISS' };
    } catch (thrown) {
      const kept = this.#cache.peek(key);
      const isDefect = !(thrown instanceof GatewayError); // ours, so an old answer must not cover it
      const older = kept === undefined || kept.refusal !== undefined || kept.slot < minSlot ? undefined : kept;
      if (isDefect || isFact(thrown) || older === undefined) throw thrown;
      if (this.#cache.statusOf(older) !== 'expired') return { entry: older, source: 'STALE' };
      throw new GatewayError('stale', 'no upstream answers, and what is known is too old', { cause: thrown });
    }
  }

  /** Asks, and once more a little later when the upstreams have not come to the slot that is wanted. */
  async #askInTime(question: Question, minSlot: Slot): Promise<Entry> {
    const { route, params } = question;
    if (minSlot === 0 || route.kind === 'live') return this.#ask(question);
    const commitment = route.commitmentOf(params);
    checkReachable(minSlot, commitment, this.#context);
    try {
      return await this.#ask(question);
    } catch (thrown) {
      if (!isBehind(thrown)) throw thrown;
    }
    await reach(minSlot, commitment, this.#context);
    return this.#ask(question).catch((thrown: unknown) => {
      throw isBehind(thrown) ? notReached(thrown) : thrown;
    });
  }

  /** The answer that is kept, if it is newer than one of `slot`: equal questions may be answered out of order. */
  #newer(key: string, slot: Slot): Entry | undefined {
    const kept = this.#cache.peek(key);
    return kept !== undefined && kept.refusal === undefined && kept.slot > slot ? kept : undefined;
  }

  /** The same for an answer; undefined when a newer one was given while this one came, and is not kept any more. */
  #newest(entry: Entry): Entry | undefined {
    const { key, slot, meta } = entry;
    const isOvertaken = slot < (this.#cache.floor(key, meta.commitment) ?? 0) && meta.fromSnapshot !== true;
    return this.#newer(key, slot) ?? (isOvertaken ? undefined : entry);
  }

  /** Reads an answer again before it is asked for again. A failure keeps the old one: nobody waits for this. */
  async #renew(question: Question): Promise<void> {
    await this.#ask(question).catch(() => undefined);
  }

  #retry(question: Question, entry: Entry): void {
    const { coarseNowMs } = this.#cache;
    if (coarseNowMs - (this.#triedMs.get(entry) ?? Number.NEGATIVE_INFINITY) < RETRY_MS) return;
    this.#triedMs.set(entry, coarseNowMs);
    void this.#renew(question);
  }

  #ask(question: Question): Promise<Entry> {
    const { route, params, key, minSlot = 0 } = question;
    if (route.kind === 'live') return Promise.reject(new GatewayError('stale', 'the cluster was not heard of lately'));
    return this.#flight.run(flightOf(key, minSlot), async () => {
      const label = labelOf(route, params);
      try {
        const entry = (await this.#read(route, question, label)) ?? (await this.#read(route, question, label));
        if (entry === undefined) throw overtaken();
        return entry;
      } catch (thrown) {
        if (isFact(thrown)) this.#cache.putRefusal(key, thrown, REFUSAL_SLOTS, label);
        throw thrown;
      }
    });
  }

  /** Reads an answer and keeps it. Undefined when a newer one was given meanwhile, and is not kept any more. */
  async #read(route: Read, { params, key, minSlot = 0 }: Question, label: AnswerMeta): Promise<Entry | undefined> {
    const tipAtFetch = this.#cache.tip;
    const floorNow = (): Slot => this.#cache.floor(key, label.commitment) ?? 0;
    const floor = Math.max(floorNow(), minSlot);
    const bounds = { minSlot: floor > 0 ? floor : undefined };
    const resolving = route.resolve(params, this.#context, bounds).catch(withoutRpcCode);
    const { slot, result, final = false, exact, lease, fromSnapshot = false } = await resolving;
    if (fromSnapshot && slot < minSlot) throw notReached();
    if (slot < floor && !fromSnapshot) throw overtaken();
    if (slot < floorNow() && !fromSnapshot) return this.#newer(key, slot);
    const answer = { slot, result: toJson(result), final, proof: lease };
    const said: AnswerMeta = { ...labelOf(route, params, exact), fromSnapshot };
    // A processed state may be taken back with the next slot.
    if (said.commitment === 'processed') return this.#cache.put(key, answer, { slots: 1 }, said, { tipAtFetch });
    const refresh = (): Promise<void> => this.#renew({ route, params, key });
    return this.#cache.put(key, answer, route.cache, said, { tipAtFetch, ...(!final && { refresh }) });
  }
}

/** Who wants an answer that is not too old can't join those who take any. */
const flightOf = (key: string, minSlot: Slot): string => (minSlot === 0 ? key : `${key} ${minSlot}`);

/** True of what the cluster says by it: that there is no such thing. No older answer must cover that. */
const isFact = (thrown: unknown): thrown is GatewayError =>
  thrown instanceof GatewayError && (thrown.status === 404 || thrown.status === 410);

const labelOf = (route: Read, params: Params<ParamSet>, exact?: boolean): AnswerMeta => ({
  envelope: route.envelope,
  commitment: route.commitmentOf(params),
  exact: exact ?? route.isExact?.(params) ?? false,
  immutable: route.immutable ?? false,
});

/** For a refusal that the route has no word of its own for: the numbers of JSON-RPC belong to `/rpc`. */
const withoutRpcCode = translateRpcError({});
