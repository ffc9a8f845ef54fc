import { Cache } from '../cache/cache.ts';
import type { LeaseSource } from '../domain/lease.ts';
import { LiveAccountSource } from '../live/accounts/live-account-source.ts';
import { RequestBudgets } from '../live/request-budget.ts';
import { LiveTokenListSource } from '../live/token-lists/live-token-list-source.ts';
import { configuredPrices } from '../prices/configured-prices.ts';
import { BlockListingCache } from '../routes/block/block-listing-cache.ts';
import { PooledDecoder } from '../routes/decoding/pooled-decoder.ts';
import { HolderTableCache } from '../routes/holders/holder-table-cache.ts';
import { PooledTabler } from '../routes/holders/pooled-tabler.ts';
import { readMintBalance } from '../routes/mint-balance.ts';
import { StakeTableCache } from '../routes/portfolio/stake-table-cache.ts';
import { createRpcReadThrough } from '../routes/rpc/answer-rpc-call.ts';
import { ScanGate } from '../routes/scans/scan-gate.ts';
import type { RouteContext } from '../routing/route.ts';
import { RouteReadThrough } from '../routing/route-read-through.ts';
import { SeenBlocks } from '../routing/seen-blocks.ts';
import { oncePerErrorSite } from '../runtime/log-once.ts';
import { version } from '../runtime/package.ts';
import type { Admit } from '../serving/read-through.ts';
import { createKnownMints } from '../tokens/known-mints.ts';
import { SharedListings } from '../tokens/owner-listing.ts';
import { TokenLabelCache } from '../tokens/token-labels.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { AccountBatcher } from '../upstream/reads/account-batcher.ts';
import { MergedSignatures } from '../upstream/reads/merged-signatures.ts';
import { TransactionRecords } from '../upstream/reads/transaction-records.ts';
import type { Upstream } from '../wiring/open-upstream.ts';
import type { Startup } from '../wiring/startup.ts';
import type { Environment } from './environment.ts';
import type { Signing } from './open-signing.ts';
import type { State } from './open-state.ts';

export type Answers = ReturnType<typeof openAnswers>;

/** The part of `cache.bytes` that transactions take: one in so many bytes. */
const TRANSACTION_SHARE = 8;

/** One thread decodes about ten of the longest transactions a second. */
const DECODING_THREADS = 1;

/** What differs between processes. */
interface AnswersOptions {
  readonly onLeasesAdvanced?: (() => void) | undefined;
  /** The cache that is filled from elsewhere. Default: one of this process. */
  readonly copy?: Cache;
}

/** Creates the cache and the sources of answers. */
export function openAnswers(
  env: Environment,
  { keys, access }: State,
  { signer, fleet }: Pick<Signing, 'signer'> & Partial<Pick<Signing, 'fleet'>>,
  { mesh, embedded }: Pick<Upstream, 'embedded'> & { readonly mesh: Mesh },
  startup: Pick<Startup, 'problem'>,
  { onLeasesAdvanced = () => {}, copy }: AnswersOptions = {},
) {
  const { config, engine, log, clock, vitals, leaving, disposals, startedMs, jupiterKey } = env;
  const recordBytes = Math.floor(config.cache.bytes / TRANSACTION_SHARE);
  const bytes = config.cache.bytes - recordBytes;
  const cache = copy ?? new Cache({ ...config.cache, bytes, clock, hotKeys: config.refresh.hotKeys });
  const budgets = new RequestBudgets(clock, config.watch.requestsPerSecond);
  disposals.defer(() => budgets.close());
  const advanceHot = (source: LeaseSource): void => {
    cache.advanceHot(source);
    onLeasesAdvanced();
  };
  const liveOptions = {
    mesh,
    clock,
    settings: config.watch,
    budgets,
    onLeasesAdvanced: advanceHot,
    onProblem: (problem: string, fields: object) => log.warn(fields, problem),
  };
  const admitOwn: Admit = (work) => access.admission.runOwn(work);
  const accounts = new AccountBatcher(mesh, { clock, tip: (commitment) => mesh.tip(commitment) });
  const liveAccounts = new LiveAccountSource({ ...liveOptions, upstream: accounts });
  const { list: listOwner } = new SharedListings(mesh);
  const tokenLists = new LiveTokenListSource({ ...liveOptions, listOwner });
  const { prices, findVerified } = configuredPrices(config.prices, {
    accounts: liveAccounts,
    clock,
    clusterFeeds: embedded?.priceFeeds,
    jupiterKey,
    timeoutMs: config.upstream.timeoutMs,
    tip: () => ({ slot: cache.tip, slotTimeMs: vitals.slotTimeMs }),
    onOutage: (source, err) =>
      log.warn({ source, err }, 'a price source fails: its last prices are shown as stale meanwhile'),
    onRecovery: (source) => log.info({ source }, 'a price source gives prices again'),
  });
  const onDecodeError = oncePerErrorSite((signature: string, err) =>
    log.warn({ signature, err }, 'a transaction could not be decoded'),
  );
  const scanGate = new ScanGate(clock);
  const decoder = new PooledDecoder(clock, DECODING_THREADS);
  disposals.defer(() => decoder.close());
  const holderTabler = new PooledTabler(clock);
  disposals.defer(() => holderTabler.close());
  const knownMints = createKnownMints(config.tokens.known, findVerified);
  const context: RouteContext = {
    mesh,
    cache,
    clock,
    keys,
    version,
    engine: { name: engine.name, version: engine.version },
    startedMs,
    embedded: addressOf(embedded),
    accounts,
    liveAccounts,
    tokenLists,
    listOwner,
    mergedSignatures: new MergedSignatures(),
    holderTables: new HolderTableCache(clock, scanGate, holderTabler),
    stakeTables: new StakeTableCache(clock, scanGate),
    knownMints,
    tokenLabels: new TokenLabelCache(clock, knownMints),
    seenBlocks: new SeenBlocks(),
    blockListings: new BlockListingCache(clock),
    decoder,
    transactionRecords: new TransactionRecords(mesh, recordBytes),
    prices,
    rpcReadThrough: createRpcReadThrough({ cache, mesh, clock, admitOwn }),
    vitals,
    countRows: () => {}, // work of the gateway itself has no price
    onDecodeError,
    startupProblem: () => startup.problem,
    problems: () => [...access.problems(), ...signer.problems(clock.now()), ...(fleet?.problems() ?? [])],
    isLeaving: () => leaving.hasBegun || disposals.disposed,
    isDraining: () => disposals.disposed,
  };
  const readThrough = new RouteReadThrough(context, admitOwn);
  access.readBalancesWith((wallet, mint) => readMintBalance(readThrough, wallet, mint));
  const liveSources = [liveAccounts, tokenLists];
  return { cache, context, readThrough, liveAccounts, tokenLists, liveSources, onLeasesAdvanced: advanceHot };
}

/** Returns the address of the embedded cluster; null where there is none. */
export const addressOf = (embedded: Upstream['embedded']): { readonly rpc: string } | null =>
  embedded === undefined ? null : { rpc: embedded.url };
