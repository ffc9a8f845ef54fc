import type * as z from 'zod';
import type { ConfiguredOperators } from '../../../config/operators.ts';
import type { Answer } from '../../../shared/domain/answer.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { ClusterVitals } from '../../../shared/domain/cluster-vitals.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Envelope } from '../../../shared/domain/envelope.ts';
import type { ErrorCode } from '../../../shared/domain/gateway-error.ts';
import type { RpcProfile } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { Admit } from '../../../shared/runtime/fair-semaphore.ts';
import type { ThreadPool } from '../../../shared/runtime/thread-pool.ts';
import { settle, type Waiter } from '../../../shared/runtime/waiter.ts';
import type { Cache } from '../../cache/cache.ts';
import type { FinalFor, TimedPolicy } from '../../cache/entry.ts';
import type { GeyserFeedStatus } from '../../live/accounts/geyser-feed.ts';
import type { PastAccounts } from '../../live/accounts/past-accounts.ts';
import type { PastTokenLists } from '../../live/token-lists/past-token-lists.ts';
import type { NetworkHistory } from '../../network-history/network-history.ts';
import type { PriceLookup } from '../../prices/price-lookup.ts';
import type { PriceAsOf } from '../../prices/price-source.ts';
import type { ReceiptKeys } from '../../receipts/keys/receipt-keys.ts';
import type { ReadThrough } from '../../serving/read-through.ts';
import type { KnownMints } from '../../tokens/known-mint-names.ts';
import type { ListOwner } from '../../tokens/owner-listing.ts';
import type { TokenLabels } from '../../tokens/token-labels.ts';
import type { TokenListQuery, TokenListRead } from '../../tokens/token-list.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import type {
  AccountQuery,
  AccountRead,
  BalancesQuery,
  BalancesRead,
  BatchedRead,
  EncodedQuery,
} from '../../upstream/reads/account-batcher.ts';
import type { MergedSignatures } from '../../upstream/reads/merged-signatures.ts';
import type { ProgramIdlCache } from '../../upstream/reads/program-idls.ts';
import type { TransactionRecords } from '../../upstream/reads/transaction-records.ts';
import type { HolderTable } from '../scans/holder-table.ts';
import type { ScanTables } from '../scans/scan-tables.ts';
import type { TablingTasks } from '../scans/tabling-thread.ts';
import type { BlockListings } from './block-listings.ts';
import type { Param } from './params.ts';
import type { Counted, RequestScope } from './request-scope.ts';
import type { SeenBlocks } from './seen-blocks.ts';
import type { StakeTable } from './stake-accounts.ts';
import type { TransactionDecoder } from './transaction-decoder.ts';

// `any` would let a wrong type through; method shorthand below keeps these assignable without it.
export type ParamSet = Readonly<Record<string, Param<unknown>>>;
export type Params<P> = { readonly [K in keyof P]: P[K] extends Param<infer T, unknown> ? T : never };

/** The cluster, and the gateway's own state: everything that a route may use. Routes name what they do: {@link Uses}. */
export interface RouteContext {
  /** The cluster. Its nodes are called through {@link callsFor}. */
  readonly mesh: Omit<Mesh, 'call'>;
  callsFor(scope: Pick<RequestScope, 'cost'>): Pick<Mesh, 'call' | 'tip'>;
  /** Reads accounts from the upstream, several in one call. */
  readonly accounts: AccountReads & {
    readTo(query: Counted<AccountQuery | EncodedQuery>, waiter: Waiter<BatchedRead>): void;
  };
  /** Reads accounts. Those read often are kept live and then cost no upstream call. */
  readonly liveAccounts: LiveAccounts;
  /** Reads accounts that are kept live as they were at a past slot. */
  readonly pastAccounts: PastAccounts;
  /** Reads token lists that are kept live as they were at a past slot. */
  readonly pastTokenLists: PastTokenLists;
  /** Returns the state of the Geyser feed; null where none is configured. */
  readonly geyser: () => GeyserFeedStatus | null;
  /** Reads the token accounts of an owner. Lists read often are kept live. */
  readonly tokenLists: { read(query: Counted<TokenListQuery>): Promise<TokenListRead> };
  /** Lists the token accounts of an owner, unparsed. Reads of one owner that begin at one tip share one list. */
  readonly listOwner: ListOwner;
  readonly mergedSignatures: MergedSignatures;
  readonly cache: Cache;
  /** The operators of the nodes; undefined where there is one, and nothing is compared. */
  readonly operators: ConfiguredOperators | undefined;
  readonly prices: Omit<PriceLookup, 'find'> & {
    find(mints: readonly string[], asOf: Counted<PriceAsOf>): ReturnType<PriceLookup['find']>;
  };
  readonly networkHistory: Pick<NetworkHistory, 'read'>;
  readonly holderTabler: Pick<ThreadPool<TablingTasks>, 'run'>;
  /** The tables of holders, by mint. */
  readonly holderTables: Pick<ScanTables<HolderTable>, 'get' | 'getOrScan'>;
  readonly seenBlocks: SeenBlocks;
  /** The tables of stake accounts, by withdrawer. */
  readonly stakeTables: Pick<ScanTables<StakeTable>, 'getOrScan'>;
  readonly knownMints: KnownMints;
  readonly tokenLabels: TokenLabels;
  readonly programIdls: Pick<ProgramIdlCache, 'find'>;
  readonly blockListings: BlockListings;
  readonly decoder: TransactionDecoder;
  readonly transactionRecords: Pick<TransactionRecords, 'read' | 'readAll'>;
  readonly clock: Clock;
  readonly keys: Pick<ReceiptKeys, 'active' | 'find' | 'validSuccession'>;
  readonly version: string;
  readonly engine: { readonly name: string; readonly version: string };
  /** Start of the process, in monotonic milliseconds. */
  readonly startedMs: number;
  /** The address of the embedded cluster; null over configured nodes. */
  readonly embedded: { readonly rpc: string } | null;
  readonly rpcProfile: RpcProfile;
  readonly rpcReadThrough: ReadThrough<SerializedAnswer>;
  readonly vitals: Readonly<Pick<ClusterVitals, 'isFailing'>>;
  /** Called when a transaction could not be decoded or classified. The answer is then sent without its meaning. */
  onDecodeError(signature: string, defect: unknown): void;
  /** Returns why the first answers of the cluster are not there yet; undefined once they are. */
  startupProblem(): string | undefined;
  /** Returns what is wrong with the gateway itself while its answers can be trusted all the same. */
  problems(): readonly string[];
  /** Returns true once the gateway is about to shut down: it answers, and nobody new should come. */
  isLeaving(): boolean;
  isDraining(): boolean;
}

/** The caller of a route, as far as an answer may depend on it. */
export interface Caller {
  /** Whether the request comes from this machine, as far as the trusted proxies show. */
  readonly isLoopback: boolean;
}

/** The parts of the context that a route, or a function of it, uses: each declares its own. */
export type Uses<K extends keyof RouteContext> = Pick<RouteContext, K>;

export interface AccountReads {
  /** Gives the account to its waiter, in the call in which it is there. */
  readTo(query: Counted<AccountQuery>, waiter: Waiter<AccountRead>): void;
  read(query: Counted<AccountQuery>): Promise<AccountRead>;
  readBalances(query: Counted<BalancesQuery>): Promise<BalancesRead>;
}

export interface LiveAccounts extends AccountReads {
  /** Reads an account that is kept live from memory; undefined if it isn't, or if its state can't answer the query. */
  readLive(query: AccountQuery): AccountRead | undefined;
  /** Reads balances of accounts that are kept live from memory; undefined if that can't be at one slot. */
  readLiveBalances(query: BalancesQuery): BalancesRead | undefined;
}

/** The most units of a read of one account: 14 MiB from the node, as much as an answer, and some tries. */
export const LARGE_READ_UNITS = 28;

/** The most units of a read whose answer is short, however many nodes are tried. */
export const SMALL_READ_UNITS = 2;

interface RouteDescription<R> {
  readonly path: `/${string}`;
  readonly summary: string;
  readonly result: z.ZodType<R>;
  readonly envelope: Envelope;
  /** The units of what its misses do and others don't, in words, such as scans. */
  readonly missUnitPrice?: string;
  /** Errors of this route alone, for the document. */
  readonly errors?: readonly ErrorCode[];
}

/** A route whose answer the pipeline keeps current, so that it has nothing to resolve. */
export interface LiveRoute<R = unknown> extends RouteDescription<R> {
  readonly kind: 'live';
  readonly params: Readonly<Record<never, never>>;
  readonly commitment: Commitment;
}

/** A route whose answer is read from the upstream on request and cached for some slots or some time. */
export interface ReadRoute<P extends ParamSet = ParamSet, R = unknown> extends RouteDescription<R> {
  readonly kind: 'read';
  readonly params: P;
  readonly cache: TimedPolicy;
  /** Returns for how long callers may keep a final answer. Default: they revalidate it each time. */
  finalForOf?(params: Params<P>): FinalFor;
  /**
   * Returns true if the result is a pure function of the ledger at its slot: the receipt then claims `exact`. If this
   * depends on more than the parameters, `Answer.exact` decides instead.
   */
  isExact?(params: Params<P>): boolean;
  /** Returns the past slot that the request names; undefined for the newest answer. Default: it can't name one. */
  pastSlotOf?(params: Params<P>): Slot | undefined;
  /**
   * Returns the number of the claim: it rises by one with each release in which the same data give other result bytes.
   * Default: 1.
   */
  claimNumberOf?(params: Params<P>): number;
  /** Returns the units that a miss surely costs besides: it is refused unless they are left. Default: 0. */
  missUnitsOf?(params: Params<P>): number;
  /** Returns the most units that a miss may cost besides, which it reserves. Default: {@link LARGE_READ_UNITS}. */
  mostUnitsOf?(params: Params<P>): number;
  begin(params: Params<P>, context: RouteContext, scope: RequestScope, waiter: Waiter<Answer<R>>): void;
  /**
   * Answers as {@link begin} does, from state that is kept live: without waiting, or undefined where there is no such state.
   * Readers of an account that has just changed then get a hit.
   */
  resolveLive?(
    params: Params<P>,
    live: Pick<LiveAccounts, 'readLive' | 'readLiveBalances'>,
    minSlot: Slot | undefined,
  ): Answer<R> | undefined;
}

/** A route that is answered synchronously from the state of the process, and never cached. */
export interface LocalRoute<P extends ParamSet = ParamSet, R = unknown> extends RouteDescription<R> {
  readonly kind: 'local';
  readonly params: P;
  readonly cacheControl: string;
  /** Whether requests count against the rate limit. Health probes of a load balancer don't. */
  readonly isMetered: boolean;
  answer(params: Params<P>, context: RouteContext, caller: Caller): R;
  readonly header?: RouteHeader<P>;
}

interface RouteHeader<P> {
  readonly name: string;
  readonly description: string;
  readonly pattern: string;
  /** Returns the value, or undefined to leave the header out. */
  valueOf(params: Params<P>, context: RouteContext): string | undefined;
}

/** A route whose input is too long for a URL. */
export interface PostRoute<B = unknown, R = unknown, I = unknown> extends RouteDescription<R> {
  readonly kind: 'post';
  /** Schema for the document and the client. `parse` does the validation. */
  readonly body: z.ZodType<I>;
  /** Maximum length of the body, if it differs from that of other routes. */
  readonly maxBytes?: number;
  /** Returns the units that a body costs besides, whatever answers it. Default: 0. */
  unitsOf?(body: B): number;
  /** Returns the units that a miss surely costs besides: it is refused unless they are left. Default: 0. */
  missUnitsOf?(body: B): number;
  /** Returns the most units that a miss may cost besides, which it reserves. Default: {@link LARGE_READ_UNITS}. */
  mostUnitsOf?(body: B): number;
  /** Parses the raw body. Throws `invalid_json`, `invalid_request` or another 400. */
  parse(text: Buffer, context: Uses<'rpcProfile'>): B;
  /** Whether an answer holds at a slot: it then names it in `X-Slot`, and `X-Min-Slot` is a floor for it. */
  readonly hasSlot: boolean;
  readonly hasJsonRpcForm: boolean;
  /** Answers a parsed body. Every new upstream call must go through `admit`. */
  resolve(body: B, context: RouteContext, admit: Admit, scope: RequestScope): Promise<PostAnswer>;
}

/** An answer to a call, its result as the node wrote it. */
export interface SerializedAnswer {
  readonly slot: Slot;
  readonly result: string | Buffer;
}

export interface PostAnswer {
  readonly result: string | Buffer;
  /** Absent if the answer depends on no slot. */
  readonly slot?: Slot;
  readonly cacheStatus: 'HIT' | 'MISS' | 'STALE' | 'BYPASS';
  /** The id of a JSON-RPC call, as JSON text; undefined for the plain form. */
  readonly jsonRpcId?: string | undefined;
  /** The whole body of a batch, in parts, so that no long result is copied; `result` is empty. */
  readonly batch?: readonly Buffer[];
}

export type GetRoute = LiveRoute | ReadRoute | LocalRoute;
export type Route = GetRoute | PostRoute;

/** Literal types of a declaration, from which the SDK derives the types of its methods. */
export interface RouteLiterals<Path, E> {
  readonly path: Path;
  readonly envelope: E;
}

type RouteDeclaration<R extends Route, Path, E> = Omit<R, 'kind' | 'path' | 'envelope'> & RouteLiterals<Path, E>;

export const liveRoute = <R, const Path extends `/${string}`, const E extends Envelope>(
  route: Omit<RouteDeclaration<LiveRoute<R>, Path, E>, 'params'>,
): LiveRoute<R> & RouteLiterals<Path, E> => ({ kind: 'live', params: {}, ...route });
interface Resolving<P extends ParamSet, R> {
  resolve(params: Params<P>, context: RouteContext, scope: RequestScope): Promise<Answer<R>>;
}

export const readRoute = <P extends ParamSet, R, const Path extends `/${string}`, const E extends Envelope>({
  resolve,
  ...route
}: Omit<RouteDeclaration<ReadRoute<P, R>, Path, E>, 'begin'> & Resolving<P, R>): ReadRoute<P, R> &
  RouteLiterals<Path, E> => ({
  kind: 'read',
  begin: (params, context, scope, waiter) => settle(() => resolve(params, context, scope), waiter),
  ...route,
});
export const localRoute = <P extends ParamSet, R, const Path extends `/${string}`, const E extends Envelope>(
  route: RouteDeclaration<LocalRoute<P, R>, Path, E>,
): LocalRoute<P, R> & RouteLiterals<Path, E> => ({ kind: 'local', ...route });
export const postRoute = <B, R, I, const Path extends `/${string}`, const E extends Envelope>(
  route: RouteDeclaration<PostRoute<B, R, I>, Path, E>,
): PostRoute<B, R, I> & RouteLiterals<Path, E> => ({ kind: 'post', ...route });
