import { operatorsIn } from '../../config/operators.ts';
import type { LeaseSource } from '../../shared/domain/lease.ts';
import type { Admit } from '../../shared/runtime/fair-semaphore.ts';
import { oncePerErrorSite } from '../../shared/runtime/log.ts';
import { version } from '../../shared/runtime/package.ts';
import type { WorkerFigures } from '../admin/worker-figures.ts';
import { Cache } from '../cache/cache.ts';
import { EventLog } from '../http/events/event-log.ts';
import { pastAccounts } from '../live/accounts/past-accounts.ts';
import { pastTokenLists } from '../live/token-lists/past-token-lists.ts';
import { NetworkHistory } from '../network-history/network-history.ts';
import { configuredPrices } from '../prices/configured-prices.ts';
import { PooledDecoder } from '../routes/decoding/pooled-decoder.ts';
import { readMintBalance } from '../routes/mint-balance.ts';
import { STAKE_TABLES } from '../routes/portfolio/stake-table.ts';
import { createBlockListings } from '../routes/routing/block-listings.ts';
import type { RouteContext } from '../routes/routing/route.ts';
import { RouteReadThrough } from '../routes/routing/route-read-through.ts';
import { SeenBlocks } from '../routes/routing/seen-blocks.ts';
import { createRpcReadThrough } from '../routes/rpc/answer-rpc-call.ts';
import { createHolderTabler, HOLDER_TABLES } from '../routes/scans/holder-table.ts';
import { ScanGate } from '../routes/scans/scan-gate.ts';
import { ScanTables } from '../routes/scans/scan-tables.ts';
import { createKnownMints } from '../tokens/known-mint-names.ts';
import { TokenLabelCache } from '../tokens/token-labels.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { MergedSignatures } from '../upstream/reads/merged-signatures.ts';
import { ProgramIdlCache } from '../upstream/reads/program-idls.ts';
import { TransactionRecords } from '../upstream/reads/transaction-records.ts';
import { callsForRequest } from '../upstream/rpc/calls-for-request.ts';
import type { Environment } from './environment.ts';
import { openLive } from './open-live.ts';
import type { Signing } from './open-signing.ts';
import type { State } from './open-state.ts';
import type { Upstream } from './open-upstream.ts';
import type { Startup } from './startup.ts';

export type Answers = ReturnType<typeof openAnswers>;

/** What `cache.bytes` is divided by for the limit of cached transactions. */
const TRANSACTION_SHARE = 8;

interface AnswersOptions {
  readonly onLeasesAdvanced?: (() => void) | undefined;
  /** The cache that is filled from elsewhere. Default: one of this process. */
  readonly copy?: Cache;
  /** What workers report; undefined where there are none. */
  readonly workers?: Pick<WorkerFigures, 'problems'> | undefined;
}

export function openAnswers(
  env: Environment,
  { keys, access }: State,
  { signer, fleet }: Pick<Signing, 'signer'> & Partial<Pick<Signing, 'fleet'>>,
  { mesh, embedded }: Pick<Upstream, 'embedded'> & { readonly mesh: Mesh },
  startup: Pick<Startup, 'problem'>,
  { onLeasesAdvanced = () => {}, copy, workers }: AnswersOptions = {},
) {
  const { config, engine, log, clock, vitals, leaving, disposals, startedMs, jupiterKey, writes } = env;
  const recordBytes = Math.floor(config.cache.bytes / TRANSACTION_SHARE);
  const bytes = config.cache.bytes - recordBytes;
  const cache = copy ?? new Cache({ ...config.cache, bytes, clock, hotKeys: config.refresh.hotKeys });
  const advanceHot = (source: LeaseSource): void => {
    cache.advanceHot(source);
    onLeasesAdvanced();
  };
  const admitOwn: Admit = (work) => access.admission.enterOwn(work);
  const live = openLive(env, { mesh, embedded }, { advanceHot, isFollower: copy !== undefined });
  const { accounts, liveAccounts, listings, tokenLists, blocks, pastSlots, ring, listRing, liveSources } = live;
  const pricing = configuredPrices(config.prices, {
    accounts: liveAccounts,
    clock,
    clusterFeeds: embedded?.priceFeeds,
    jupiterKey,
    timeoutMs: config.upstreamPolicy.timeoutMs,
    tip: () => ({ slot: cache.tip, slotTimeMs: mesh.slotTimeMs }),
    onOutage: (source, err) =>
      log.warn({ source, err }, 'a price source fails: until it recovers, its last prices are shown as stale'),
    onRecovery: (source) => log.info({ source }, 'a price source gives prices again'),
  });
  const onDecodeError = oncePerErrorSite((signature: string, err) =>
    log.warn({ signature, err }, 'a transaction could not be decoded'),
  );
  const scans = { clock, gate: new ScanGate(clock) };
  const decoder = new PooledDecoder(clock);
  disposals.defer(() => decoder.close());
  const holderTabler = createHolderTabler(clock);
  disposals.defer(() => holderTabler.close());
  const networkHistory = new NetworkHistory(clock);
  const knownMints = createKnownMints(config.tokens.known, pricing.findVerified);
  const transactionRecords = new TransactionRecords(mesh, recordBytes);
  const blockListings = createBlockListings(clock);
  const seenBlocks = new SeenBlocks();
  const mergedSignatures = new MergedSignatures();
  const holderTables = new ScanTables({ ...scans, ...HOLDER_TABLES });
  const stakeTables = new ScanTables({ ...scans, ...STAKE_TABLES });
  const tokenLabels = new TokenLabelCache(clock, knownMints);
  const programIdls = new ProgramIdlCache(clock);
  const context: RouteContext = {
    mesh,
    callsFor: ({ cost }) =>
      cost === undefined ? mesh : { ...callsForRequest(mesh, cost), tip: (commitment) => mesh.tip(commitment) },
    cache,
    operators: operatorsIn(config),
    clock,
    keys,
    version,
    engine: { name: engine.name, version: engine.version },
    startedMs,
    embedded: addressOf(embedded),
    accounts,
    liveAccounts,
    pastAccounts: pastAccounts(ring, pastSlots),
    pastTokenLists: pastTokenLists(listRing, pastSlots),
    tokenLists,
    listOwner: listings.list,
    mergedSignatures,
    networkHistory,
    holderTabler,
    holderTables,
    stakeTables,
    knownMints,
    tokenLabels,
    programIdls,
    seenBlocks,
    blockListings,
    decoder,
    transactionRecords,
    prices: pricing.prices,
    rpcProfile: config.rpc.profile,
    rpcReadThrough: createRpcReadThrough({ cache, mesh, clock, admitOwn }),
    vitals,
    geyser: () => liveAccounts.feed?.status() ?? null,
    onDecodeError,
    startupProblem: () => startup.problem,
    problems: () => [
      ...new Set([
        ...writes.problems(),
        ...access.problems(),
        ...signer.problems(clock.now()),
        ...(mesh.agreement?.disagreements.problems() ?? []),
        ...(fleet?.problems() ?? []),
        ...(workers?.problems ?? []),
        ...(liveAccounts.feed?.problems ?? []),
      ]),
    ],
    isLeaving: () => leaving.hasBegun || disposals.disposed,
    isDraining: () => disposals.disposed,
  };
  const readThrough = new RouteReadThrough(context, admitOwn);
  access.readBalancesWith((wallet, mint) => readMintBalance(readThrough, wallet, mint));
  const eventLog = new EventLog({
    ring,
    liveAccounts,
    feed: liveAccounts.feed,
    isMoving: (address, commitment) => liveAccounts.liveSet.isMoving(address, commitment),
    replayBytes: config.ring.feedBytes,
  });
  /** What else has values that one node alone gave. None keeps what a read gives that began before. */
  const ofOneNode: readonly { clear(): void }[] = [
    ...[listings, tokenLists, blockListings, seenBlocks, holderTables, stakeTables, tokenLabels, programIdls],
    ...[mergedSignatures, pricing, blocks, pastSlots, eventLog, access.stakeBalances ?? []].flat(),
  ];
  mesh.agreement?.onContradicted((nodeId) => {
    liveAccounts.feed?.refuse(nodeId);
    for (const source of liveSources) source.distrust(nodeId);
    for (const each of [cache, transactionRecords, networkHistory, ring, listRing]) each.dropUnagreed();
    for (const each of ofOneNode) each.clear();
    vitals.consensus = null;
  });
  const { read: readEvents } = eventLog;
  const rings = [ring, listRing];
  return { cache, context, rings, readEvents, readThrough, networkHistory, ...live, onLeasesAdvanced: advanceHot };
}

/** Returns the address of the embedded cluster; null where there is none. */
export const addressOf = (embedded: Upstream['embedded']): { readonly rpc: string } | null =>
  embedded === undefined ? null : { rpc: embedded.url };
