import { type Agreement, agreedAt, noAgreement, oneVoice, operatorsIn } from '../../../shared/domain/agreement.ts';
import type { Answer } from '../../../shared/domain/answer.ts';
import { parseTarget } from '../../../shared/domain/canonical-request.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { LongJson, toJson } from '../../../shared/domain/to-json.ts';
import { isWithinOneUnit, type RequestCost } from '../../../shared/domain/units.ts';
import type { Admit } from '../../../shared/runtime/fair-semaphore.ts';
import { promised, type Waiter } from '../../../shared/runtime/waiter.ts';
import type { AnswerMeta, Entry, FinalFor, Refresher } from '../../cache/entry.ts';
import { SharedMetas } from '../../cache/shared-metas.ts';
import { type CacheableRead, isLastingRefusal, liveExpired } from '../../serving/load.ts';
import { type CachedRead, ReadThrough } from '../../serving/read-through.ts';
import { translatedError } from '../../upstream/rpc/translate-rpc-error.ts';
import { parsePathArguments, parseQueryArguments } from './arguments.ts';
import { createRouteMatcher, type MatchRoute } from './match-route.ts';
import { commitmentOf } from './params.ts';
import type { GetRoute, LiveRoute, ParamSet, Params, ReadRoute, RouteContext, Uses } from './route.ts';

export interface ReadRequest {
  readonly route: LiveRoute | ReadRoute;
  readonly params: Params<ParamSet>;
  /** Canonical target of the request: the key of the answer in the cache. */
  readonly key: string;
  readonly minSlot?: Slot | undefined;
  /** Whether the answer is for subscribers: it then doesn't count as read. Default: false. */
  readonly isForPush?: boolean | undefined;
  /** Operators that must give the answer, as the caller demands besides the parameters. Default: 1. */
  readonly agree?: number | undefined;
}

/** The longest result that is read again before its next reader comes: each slot, a longer one would take a tenth of the CPU. */
const MAX_REFRESHED_LENGTH = 1 << 20;

export interface RouteReads {
  /**
   * Returns the cached answer if it may be served without waiting; throws a cached negative one. Otherwise the waiter gets the
   * answer of the upstream, or the cached one if that fails. A new read needs admission; what it makes there counts for `cost`.
   * Refreshes in the background count for nobody.
   */
  begin(request: ReadRequest, waiter: Waiter<CachedRead>, admit?: Admit, cost?: RequestCost): CachedRead | undefined;
}

export const readAnswer = (
  reads: RouteReads,
  request: ReadRequest,
  admit?: Admit,
  cost?: RequestCost,
): Promise<CachedRead> => promised((waiter) => reads.begin(request, waiter, admit, cost));

export class RouteReadThrough implements RouteReads {
  readonly #context: RouteContext;
  readonly #readThrough: ReadThrough<Entry, Answer<unknown>>;
  readonly #refreshers = new Map<ReadRoute, Refresher>();
  readonly #metas = new SharedMetas();

  /** `admitOwn` admits what no request waits for, such as refreshes and the reads of the stream. */
  constructor(context: RouteContext, admitOwn: Admit) {
    const { cache, mesh, clock } = context;
    this.#context = context;
    this.#readThrough = new ReadThrough({
      cache,
      mesh,
      clock,
      revalidate: ({ key, refresher }) => refresher?.refresh(key), // what was dear to read waits for its next reader
      staleIf: 'upstream-fails',
      admitOwn,
    });
  }

  begin(request: ReadRequest, waiter: Waiter<CachedRead>, admit?: Admit, cost?: RequestCost): CachedRead | undefined {
    return this.#readThrough.begin(this.#readOf(request, cost), waiter, admit);
  }

  #readOf(request: ReadRequest, cost?: RequestCost): CacheableRead<Entry, Answer<unknown>> {
    const { route, params, key, minSlot = 0, isForPush = false } = request;
    if (route.kind === 'live') return readOfLive(request, route, this.#context);
    const agree = agreeOf(params, request.agree, this.#context);
    return {
      key,
      commitment: commitmentOf(params),
      minSlot,
      isForPush,
      agree,
      isPast: route.pastSlotOf?.(params) !== undefined,
      waitsForMinSlot: true,
      get meta() {
        return metaOf(route, params);
      },
      isNegative,
      load: (floor, namedSlot, waiter) =>
        route.begin(params, this.#context, { cost, minSlot: floor, namedSlot, agree }, agreedBy(agree, waiter)),
      store: (answer, tipAtFetch) => this.#store(request, route, answer, tipAtFetch, cost),
    };
  }

  /** Caches an answer of a route, unless it must not be, and returns what is served. */
  #store(
    { params, key }: ReadRequest,
    route: ReadRoute,
    answer: Answer<unknown>,
    tipAtFetch: Slot,
    cost?: RequestCost,
  ): Entry {
    const { slot, result, final = false, exact, lease, fromSnapshot = false, uncached = false, provenFrom } = answer;
    const { cache, operators } = this.#context;
    const agreement = operators && (answer.agreement ?? oneVoice(slot, operators.needed));
    const isSkipped = (route.pastSlotOf?.(params) ?? slot) !== slot;
    const meta = this.#metas.share({
      ...metaOf(route, params, exact, fromSnapshot, agreement),
      ...(isSkipped && { isSkipped }),
    });
    const json = result instanceof LongJson ? result.bytes : toJson(result);
    if (uncached) return cache.passBy(key, { slot, result: json, provenFrom, agreement }, meta);
    const serialized = { slot, result: json, final, lease, provenFrom, agreement };
    // the next slot may take a processed state back
    if (meta.commitment === 'processed') return cache.put(key, serialized, { slots: 1 }, meta, { tipAtFetch });
    const isDear = json.length > MAX_REFRESHED_LENGTH || (cost !== undefined && !isWithinOneUnit(cost));
    const isLasting = final || meta.isPast === true;
    const refresher = isLasting || isDear ? undefined : this.#refresherOf(route);
    return cache.put(key, serialized, route.cache, meta, { tipAtFetch, refresher });
  }

  /** One refreshes all answers, with parameters parsed from the key: each entry of the cache takes memory. */
  #refresherOf(route: ReadRoute): Refresher {
    const known = this.#refreshers.get(route);
    if (known !== undefined) return known;
    const match = createRouteMatcher([route]);
    const requestOf = (key: string): ReadRequest => ({ route, params: paramsOfKey(route, key, match), key });
    const refresher: Refresher = {
      refresh: (key) => this.#readThrough.refresh(this.#readOf(requestOf(key))),
      ...(route.resolveLive !== undefined && { refreshNow: (key: string) => this.#refreshNow(route, requestOf(key)) }),
    };
    this.#refreshers.set(route, refresher);
    return refresher;
  }

  /** Caches the answer that live state gives at the floor or later. Returns false where it gives none. */
  #refreshNow(route: ReadRoute, request: ReadRequest): boolean {
    const { params, key } = request;
    const { cache, liveAccounts } = this.#context;
    if (params['agree'] !== undefined) return false; // what is kept live is the word of one
    const floor = cache.floor(key, commitmentOf(params)) ?? 0;
    try {
      const answer = route.resolveLive?.(params, liveAccounts, floor > 0 ? floor : undefined);
      if (answer === undefined || answer.slot < floor) return false;
      this.#store(request, route, answer, cache.tip);
      return true;
    } catch {
      return false; // a read that waits meets the same error, and reports it
    }
  }
}

/** Returns the read of what the pipeline keeps current: nothing is loaded for it. */
const readOfLive = (
  { key, minSlot = 0, isForPush = false }: ReadRequest,
  { envelope, commitment }: LiveRoute,
  { cache }: Uses<'cache'>,
): CacheableRead<Entry, never> => ({
  key,
  commitment,
  minSlot,
  isForPush,
  isLive: true,
  meta: { envelope, commitment, exact: false },
  waitsForMinSlot: true,
  isNegative,
  load: (_floor, _minSlot, waiter) => waiter.reject(liveExpired(cache)),
  store: (answer) => answer,
});

/** Passes on an answer of a route that enough operators gave. */
const agreedBy = (agree: number, waiter: Waiter<Answer<unknown>>): Waiter<Answer<unknown>> => ({
  resolve(answer) {
    if (agree > 1 && agreedAt(answer.agreement, answer.slot) < agree) waiter.reject(noAgreement(agree));
    else waiter.resolve(answer);
  },
  reject: (thrown) => waiter.reject(translatedError(thrown, {})), // only `/rpc` has the codes of JSON-RPC
});

/** Returns the operators that `X-Agree` demands; 1 without it. Throws `invalid_query` for a number that no gateway could give. */
export function demandedAgree(route: GetRoute, header: string, context: Uses<'operators'>): number {
  if (header === '') return 1;
  if ('agree' in route.params) return parsedAgree(header, context);
  throw new GatewayError('invalid_query', 'X-Agree is for routes with the parameter agree');
}

function parsedAgree(text: string | undefined, { operators }: Uses<'operators'>): number {
  if (text === undefined) return 1;
  const most = operators?.count ?? 1;
  const demanded = operatorsIn(text);
  if (demanded !== undefined && demanded <= most) return demanded;
  throw new GatewayError(
    'invalid_query',
    `agree must be a whole number from 1 to ${most}, the operators of this gateway`,
  );
}

/** Returns the operators that a request demands, by its parameter or its header. Throws as {@link demandedAgree} does. */
export const agreeOf = (params: Params<ParamSet>, ofHeader = 1, context: Uses<'operators'>): number =>
  Math.max(ofHeader, parsedAgree(textOf(params['agree']), context));

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export function paramsOfKey(route: GetRoute, key: string, match: MatchRoute): Params<ParamSet> {
  const target = parseTarget(key);
  return parseQueryArguments(route, target, parsePathArguments(route, match(target.path)?.pathTexts ?? {}));
}

/** Returns true for what no older answer may hide: a 404 or 410, the cluster's own answer, or a lasting refusal. */
const isNegative = (error: GatewayError): boolean =>
  error.status === 404 || error.status === 410 || isLastingRefusal(error);

const metaOf = (
  route: ReadRoute,
  params: Params<ParamSet>,
  exact?: boolean,
  fromSnapshot = false,
  agreement?: Agreement,
): AnswerMeta => ({
  envelope: route.envelope,
  commitment: commitmentOf(params),
  exact: exact ?? route.isExact?.(params) ?? false,
  claimNumber: route.claimNumberOf?.(params),
  finalFor: finalForOf(route.finalForOf?.(params), agreement),
  route: route.path,
  fromSnapshot,
  ...(route.pastSlotOf?.(params) !== undefined && { isPast: true }),
});

/** Seconds for which callers may keep what one operator gave: of several, others may soon contradict it. */
const OF_ONE_OPERATOR = { seconds: 300, keepsReceipt: true };
const OF_ONE_OF_SEVERAL = { seconds: 60, keepsReceipt: true };

/** Returns for how long callers may keep an answer: for good only if two operators gave it. */
function finalForOf(finalFor: FinalFor | undefined, agreement: Agreement | undefined): FinalFor | undefined {
  if (finalFor !== 'immutable' || (agreement?.agreed ?? 1) > 1) return finalFor;
  return agreement === undefined ? OF_ONE_OPERATOR : OF_ONE_OF_SEVERAL;
}
