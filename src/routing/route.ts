import type { z } from 'zod';
import type { Cache } from '../cache/cache.ts';
import type { SingleFlight } from '../cache/single-flight.ts';
import type { AccountSubscriber } from '../domain/account-change.ts';
import type { Answer } from '../domain/answer.ts';
import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Envelope } from '../domain/envelope.ts';
import type { ErrorCode } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import type { PriceLookup } from '../prices/price-lookup.ts';
import type { ReceiptKeys } from '../receipts/keys/receipt-keys.ts';
import type { TokenListSource } from '../tokens/token-list.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { AccountBatcher, AccountSource } from '../upstream/reads/account-batcher.ts';
import type { HolderTables } from './holder-tables.ts';
import type { Param } from './params.ts';

// `any` would let a wrong type through; method shorthand below keeps these assignable without it.
export type ParamSet = Readonly<Record<string, Param<unknown>>>;
export type Params<P> = { readonly [K in keyof P]: P[K] extends Param<infer T, unknown> ? T : never };

/** What the gateway knows of itself and the cluster: all that a route may use. */
export interface RouteContext {
  readonly mesh: Mesh;
  readonly accounts: AccountBatcher;
  /** The same one by one: an account that is read again and again is kept live, and costs no upstream read then. */
  readonly liveAccounts: LiveAccounts;
  /** The token accounts of owners: those of an owner that is read again and again are kept live too. */
  readonly tokenLists: TokenListSource;
  readonly cache: Cache;
  readonly prices: PriceLookup;
  readonly holderTables: HolderTables;
  readonly clock: Clock;
  readonly keys: Pick<ReceiptKeys, 'active' | 'find' | 'validSuccession'>;
  readonly version: string;
  /** Monotonic milliseconds at the start of the process. */
  readonly startedMs: number;
  /** Passed-on calls that are under way, so that equal ones travel once. */
  readonly rpcFlights: SingleFlight<PostAnswer>;
  readonly vitals: ClusterVitals;
  /** Told of a transaction that could not be read or judged: the answer goes on without what it means. */
  onDecodeError(signature: string, defect: unknown): void;
  /** True from the moment the process was told to end. */
  isDraining(): boolean;
}

/** Accounts that are kept live. */
export interface LiveAccounts extends AccountSource {
  /** Tells of each change, whether the account is read or not, until the returned function is called. */
  subscribe(address: string, commitment: Commitment, subscriber: AccountSubscriber): () => void;
}

/** What the pipeline knows beside the answers it keeps. */
export interface ClusterVitals {
  /** True while a read that keeps the cache warm fails. */
  isFailing(): boolean;
  /** The average slot time of late. */
  slotTimeMs(): number;
}

/** Starts work that needs the upstream when its turn has come. Rejects with `overloaded` where it can't come. */
export type Admit = <T>(work: () => Promise<T>) => Promise<T>;

/** How a read is made. */
export interface Freshness {
  /** An answer older than this would go back in time. */
  readonly minSlot: Slot | undefined;
}

interface RouteDescription<R> {
  readonly path: `/${string}`;
  readonly summary: string;
  readonly result: z.ZodType<R>;
  readonly envelope: Envelope;
  /** The errors that are this route's own, for the document. */
  readonly errors?: readonly ErrorCode[];
}

/** The pipeline keeps the answer; there is nothing to resolve. */
export interface LiveRoute<R = unknown> extends RouteDescription<R> {
  readonly kind: 'live';
  readonly params: Readonly<Record<never, never>>;
  readonly commitment: Commitment;
}

/** Read from the upstream when asked for, and kept for some slots. */
export interface ReadRoute<P extends ParamSet = ParamSet, R = unknown> extends RouteDescription<R> {
  readonly kind: 'read';
  readonly params: P;
  readonly cache: { readonly slots: number };
  /** A final answer's whole body stands for good, its receipt too. */
  readonly immutable?: boolean;
  commitmentOf(params: Params<P>): Commitment;
  /**
   * True when the result is a pure function of the ledger at its slot: the claim is then `exact`. Where the parameters
   * can't tell, the answer does, which comes before this.
   */
  isExact?(params: Params<P>): boolean;
  resolve(params: Params<P>, context: RouteContext, freshness: Freshness): Promise<Answer<R>>;
}

/** Told at once from what the process knows; never cached. */
export interface LocalRoute<P extends ParamSet = ParamSet, R = unknown> extends RouteDescription<R> {
  readonly kind: 'now';
  readonly params: P;
  readonly cacheControl: string;
  /** Requests that a balancer or a probe makes all the time don't count against anybody. */
  readonly isMetered: boolean;
  answer(params: Params<P>, context: RouteContext): R;
  readonly header?: RouteHeader<P>;
}

/** What stands in the head beside the answers of one route. */
interface RouteHeader<P> {
  readonly name: string;
  readonly description: string;
  /** A regular expression for all its values. */
  readonly pattern: string;
  /** Undefined where it is left out. */
  valueOf(params: Params<P>, context: RouteContext): string | undefined;
}

/** A question too long for a URL. */
export interface PostRoute<B = unknown, R = unknown, I = unknown> extends RouteDescription<R> {
  readonly kind: 'post';
  /** For the document and the client; `parse` is what checks. */
  readonly body: z.ZodType<I>;
  /** The longest body, where it may be longer than others. */
  readonly maxBytes?: number;
  /** Reads the raw body. Throws `invalid_json`, `invalid_request` and the like. */
  parse(text: Buffer): B;
  /** What has to ask the upstream, and is not asking it already, does so by way of `admit`. */
  resolve(body: B, context: RouteContext, admit: Admit): Promise<PostAnswer>;
}

/** What a POST answers: the result's own bytes. */
export interface PostAnswer {
  readonly result: string | Buffer;
  /** Absent from an answer that is about no slot. */
  readonly slot?: Slot;
  readonly cacheStatus: 'HIT' | 'MISS' | 'STALE' | 'BYPASS';
}

export type GetRoute = LiveRoute | ReadRoute | LocalRoute;
export type Route = GetRoute | PostRoute;

/** What the type of a declaration keeps word for word: the client's own types are made of it. */
export interface RouteLiterals<Path, E> {
  readonly path: Path;
  readonly envelope: E;
}

type RouteDeclaration<R extends Route, Path, E> = Omit<R, 'kind' | 'path' | 'envelope'> & RouteLiterals<Path, E>;

export const liveRoute = <R, const Path extends `/${string}`, const E extends Envelope>(
  route: Omit<RouteDeclaration<LiveRoute<R>, Path, E>, 'params'>,
): LiveRoute<R> & RouteLiterals<Path, E> => ({ kind: 'live', params: {}, ...route });
export const readRoute = <P extends ParamSet, R, const Path extends `/${string}`, const E extends Envelope>(
  route: RouteDeclaration<ReadRoute<P, R>, Path, E>,
): ReadRoute<P, R> & RouteLiterals<Path, E> => ({ kind: 'read', ...route });
export const localRoute = <P extends ParamSet, R, const Path extends `/${string}`, const E extends Envelope>(
  route: RouteDeclaration<LocalRoute<P, R>, Path, E>,
): LocalRoute<P, R> & RouteLiterals<Path, E> => ({ kind: 'now', ...route });
export const postRoute = <B, R, I, const Path extends `/${string}`, const E extends Envelope>(
  route: RouteDeclaration<PostRoute<B, R, I>, Path, E>,
): PostRoute<B, R, I> & RouteLiterals<Path, E> => ({ kind: 'post', ...route });
