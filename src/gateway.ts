import { randomBytes } from 'node:crypto';
import { openAccess } from './access/access.ts';
import type { AdminListener } from './admin/admin-listener.ts';
import { openAdmin } from './admin/open-admin.ts';
import { Cache } from './cache/cache.ts';
import type { Config } from './config/config-schema.ts';
import { readJupiterKey, type Secrets } from './config/secret-variables.ts';
import { API_PREFIX, parseTarget } from './domain/canonical-request.ts';
import type { Clock } from './domain/clock.ts';
import { ClusterVitals } from './domain/cluster-vitals.ts';
import { COMMITMENTS } from './domain/commitment.ts';
import { GatewayError } from './domain/gateway-error.ts';
import type { LeaseSource } from './domain/lease.ts';
import { parseNetworkSnapshot } from './domain/network-snapshot.ts';
import type { RequestCost } from './domain/request-cost.ts';
import { StartError } from './domain/start-error.ts';
import { Tally } from './domain/tally.ts';
import { RedisFleet } from './fleet/redis/redis-fleet.ts';
import { type RedisSettings, readRedisSettings } from './fleet/redis/redis-settings.ts';
import { PipelineEnd, type PipelineEndOptions } from './fleet/workers/pipeline-end.ts';
import { WorkerEnd, type WorkerEndOptions } from './fleet/workers/worker-end.ts';
import { WorkerReads } from './fleet/workers/worker-reads.ts';
import { RequestMeter } from './http/rest/request-meter.ts';
import { createServer, type ServerOptions } from './http/server.ts';
import { LiveAccountSource } from './live/accounts/live-account-source.ts';
import { RequestBudgets } from './live/request-budget.ts';
import { LiveTokenListSource } from './live/token-lists/live-token-list-source.ts';
import { loadSite, OPENAPI_NAME, SITE_PATHS, type Site, type SiteFile } from './page/site.ts';
import { type Pipeline, startPipeline } from './pipeline/pipeline.ts';
import { configuredPrices } from './prices/configured-prices.ts';
import { EquivocationGuard } from './receipts/equivocation-guard.ts';
import type { KeySource } from './receipts/keys/key-source.ts';
import { loadReceiptKeys } from './receipts/keys/load-keys.ts';
import { ReceiptKeys } from './receipts/keys/receipt-keys.ts';
import { holdSigningLock } from './receipts/keys/signing-lock.ts';
import { Signer } from './receipts/signer.ts';
import { isStrongSignature } from './receipts/verify/ed25519-signature.ts';
import { BlockListingCache } from './routes/block/block-listing-cache.ts';
import { PooledDecoder } from './routes/decoding/pooled-decoder.ts';
import { isHealthy, unhealthyReason } from './routes/health.ts';
import { HolderTableCache } from './routes/holders/holder-table-cache.ts';
import { PooledTabler } from './routes/holders/pooled-tabler.ts';
import { matchRoute } from './routes/index.ts';
import { readMintBalance } from './routes/mint-balance.ts';
import { StakeTableCache } from './routes/portfolio/stake-table-cache.ts';
import { createRpcReadThrough } from './routes/rpc/answer-rpc-call.ts';
import { rpc } from './routes/rpc/rpc.ts';
import { ScanGate } from './routes/scans/scan-gate.ts';
import { contextForRequest } from './routing/request-context.ts';
import type { RouteContext } from './routing/route.ts';
import { paramsOfKey, type ReadRequest, type RouteReads, RouteReadThrough } from './routing/route-read-through.ts';
import { SeenBlocks } from './routing/seen-blocks.ts';
import { Alert } from './runtime/alert.ts';
import { DisposalStack } from './runtime/disposal-stack.ts';
import type { Log } from './runtime/log.ts';
import { oncePerErrorSite } from './runtime/log-once.ts';
import { version } from './runtime/package.ts';
import { polledEvents } from './runtime/polled-events.ts';
import { RecentWarnings } from './runtime/recent-warnings.ts';
import { repeat } from './runtime/repeat.ts';
import { requireFreePort } from './runtime/require-free-port.ts';
import { sleep } from './runtime/sleep.ts';
import { systemClock } from './runtime/system-clock.ts';
import type { Admit } from './serving/read-through.ts';
import { Sealer } from './serving/sealer.ts';
import { createKnownMints } from './tokens/known-mints.ts';
import { SharedListings } from './tokens/owner-listing.ts';
import { TokenLabelCache } from './tokens/token-labels.ts';
import type { NodeStatus } from './upstream/mesh/mesh.ts';
import { AccountBatcher } from './upstream/reads/account-batcher.ts';
import { MergedSignatures } from './upstream/reads/merged-signatures.ts';
import { TransactionRecords } from './upstream/reads/transaction-records.ts';
import { type ClusterInUse, openUpstream } from './wiring/open-upstream.ts';
import { Startup } from './wiring/startup.ts';

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Log;
  /** Source of the signing key; without a key in it, the state folder. */
  readonly receiptKey?: Omit<KeySource, 'stateDir'>;
  /** Secrets that stand in no setting. */
  readonly secrets?: Secrets;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** An embedded cluster that is being started. Default: the gateway starts one where no node is configured. */
  readonly embedded?: Promise<ClusterInUse> | undefined;
  /** Whether the admin listener must have its configured port: else the next free one is taken. Default: true. */
  readonly isAdminPortChosen?: boolean;
}

export interface Gateway {
  readonly url: string;
  /** Genesis hash in all receipts; null until a first node was reached. */
  readonly cluster: string | null;
  /** The address of the embedded cluster; null over configured nodes. */
  readonly embedded: { readonly rpc: string } | null;
  /** The address of the listener for operators; null for none. */
  readonly admin: string | null;
  /** Public key that signs them now: 32 bytes, base58. */
  readonly publicKey: string;
  /** Number of times a node gave two results for one finalized slot. The second is signed as `observed` only. */
  readonly conflicts: number;
  /** Whether finalized answers may be signed as `exact`: no other process signs with the key. */
  readonly signsAlone: boolean;
  /** The file of the receipt key; null if it was given inline. */
  readonly receiptKeyPath: string | null;
  /** The nodes and their states. */
  readonly nodes: () => readonly NodeStatus[];
  /** Reloads the receipt keys. If they can't be used, the old ones stay in use. */
  reload(): void;
  /** Stops accepting connections, answers pending requests, then releases everything. */
  close(): Promise<void>;
}

/** Everything that all parts of the gateway share. */
interface Environment {
  readonly config: Config;
  readonly log: Log;
  readonly warnings: RecentWarnings;
  readonly clock: Clock;
  readonly random: () => number;
  /** The end of the gateway, which begins before anything is closed. */
  readonly leaving: { hasBegun: boolean };
  /** Closes the parts in reverse order. */
  readonly disposals: DisposalStack;
  readonly vitals: ClusterVitals;
  /** Start of the process, in monotonic milliseconds. */
  readonly startedMs: number;
  /** The key of Jupiter's API; undefined for none. */
  readonly jupiterKey: string | undefined;
  /** The Redis of the fleet; undefined for none. */
  readonly redis: RedisSettings | undefined;
}

/** The part of `cache.bytes` that transactions take: one in so many bytes. */
const TRANSACTION_SHARE = 8;

/** The longest wait for the first frame at the start, so that the first caller gets an answer. */
const MAX_WARM_UP_MS = 5000;

/**
 * Opens the gateway: connects its layers and listens. Resolves when the port is open: with the first answers, or after
 * `upstream.startMs` without a node; the gateway then goes on trying. The only module that knows all layers.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const env = environmentOf(options);
  const { config, disposals } = env;
  const keySource: KeySource = { production: false, ...options.receiptKey, stateDir: config.state };
  try {
    await requireFreePort(config.host, config.port);
    let admin: AdminListener | undefined;
    disposals.defer(() => admin?.close()); // the last that is closed
    const local = await openLocalState(env, keySource);
    const upstream = await openUpstream(config, env, disposals, options.embedded);
    const signing = await openSigning(env, local, upstream);
    const startup = createStartup(env, upstream);
    const serving = openServing(env, local, signing, upstream, startup);
    const answering = openServer(env, local, signing, serving);
    admin = await openAdminOver(env, local, signing, serving, answering, options.isAdminPortChosen ?? true);
    await startup.run(joinThen(openPipeline(env, upstream, signing, serving, answering), signing, upstream));
    const port = await answering.server.listen();
    return gatewayOf(env, keySource, local, upstream, signing, answering, admin, port);
  } catch (thrown) {
    await disposals.disposeAsync().catch(() => {}); // the error that prevented the start is the one to throw
    throw thrown;
  }
}

/** A process of a gateway that has several. */
export interface FleetProcess {
  /** Reloads what the operator may have changed. */
  reload(): void;
  close(): Promise<void>;
}

/** What is told of a gateway when it listens. */
export interface GatewayFacts
  extends Pick<Gateway, 'cluster' | 'admin' | 'publicKey' | 'signsAlone' | 'receiptKeyPath'> {
  readonly nodes: readonly NodeStatus[];
}

/** Opens the pipeline process: all of a gateway save its listener, for workers that serve copies of what its cache shows. */
export async function createPipelineProcess(
  options: GatewayOptions,
  fleet: Omit<PipelineEndOptions, 'clock'>,
): Promise<FleetProcess & { readonly facts: GatewayFacts }> {
  const env = environmentOf(options);
  const { config, clock, disposals } = env;
  const keySource: KeySource = { production: false, ...options.receiptKey, stateDir: config.state };
  try {
    let admin: AdminListener | undefined;
    disposals.defer(() => admin?.close());
    const local = await openLocalState(env, keySource);
    const upstream = await openUpstream(config, env, disposals, options.embedded);
    const signing = await openSigning(env, local, upstream);
    const startup = createStartup(env, upstream);
    const end = new PipelineEnd({ ...fleet, clock });
    disposals.defer(() => end.close());
    const serving = openServing(env, local, signing, upstream, startup, () => end.onMarksMoved());
    const answering = openServer(env, local, signing, serving);
    admin = await openAdminOver(env, local, signing, serving, answering, options.isAdminPortChosen ?? true);
    const { mesh, embedded } = upstream;
    for (const commitment of COMMITMENTS) mesh.onTip(commitment, (slot) => end.onTip(commitment, slot));
    let resolveStarted = (): void => {};
    const started = new Promise<void>((resolve) => {
      resolveStarted = resolve;
    });
    const { cache, context, readThrough, liveAccounts } = serving;
    const { admission, authenticator } = local.access;
    // Each worker has held the caller to its own tier already.
    const tier = { ...authenticator.tierOf(undefined), inFlight: Number.POSITIVE_INFINITY };
    const admitFor = ({ caller, hasPriority }: RequestCost): Admit =>
      caller === ''
        ? (work) => admission.runOwn(work)
        : (work) => admission.run({ key: caller, tier: { ...tier, priority: hasPriority } }, work);
    await end.open({
      started,
      cache,
      guard: signing.guard,
      liveAccounts,
      vitals: () => ({
        nodes: mesh.nodes(),
        isFailing: env.vitals.isFailing,
        slotTimeMs: env.vitals.slotTimeMs,
        startupProblem: startup.problem ?? null,
        problems: context.problems(),
        genesisHash: mesh.genesisHash ?? null,
        apiVersion: mesh.apiVersion ?? null,
        embedded: addressOf(embedded),
      }),
      read(key, minSlot, isForPush, cost) {
        const request = { ...parseReadRequest(key), minSlot, isForPush };
        const cached = readThrough.fromCache(request);
        return cached === undefined ? readThrough.fetch(request, admitFor(cost), cost) : Promise.resolve(cached);
      },
      answerRpc: (body, minSlot, cost) =>
        rpc.resolve(rpc.parse(body), contextForRequest(context, cost), admitFor(cost), { minSlot }),
    });
    await startup.run(joinThen(openPipeline(env, upstream, signing, serving, answering), signing, upstream));
    resolveStarted();
    const reload = (): void => {
      reloadReceiptKeys(env, keySource, local, answering);
      end.reloadReceiptKeys();
    };
    const facts: GatewayFacts = {
      cluster: mesh.genesisHash ?? null,
      admin: admin?.url ?? null,
      publicKey: signing.signer.publicKey,
      signsAlone: signing.guard.isSoleSigner,
      receiptKeyPath: local.loadedKeys.path,
      nodes: mesh.nodes(),
    };
    return { reload, close: closerOf(env), facts };
  } catch (thrown) {
    await disposals.disposeAsync().catch(() => {}); // the error that prevented the start is the one to throw
    throw thrown;
  }
}

/** Opens a worker: the listener, on a port that others share, over a copy of what the pipeline process' cache shows. */
export async function createWorker(
  options: GatewayOptions,
  fleet: Pick<WorkerEndOptions, 'id' | 'folder' | 'onOvertaken'>,
): Promise<FleetProcess & { readonly url: string }> {
  const env = environmentOf({ ...options, config: withDoorShare(options.config) });
  const { config, clock, disposals } = env;
  const keySource: KeySource = { ...options.receiptKey, production: true, stateDir: config.state }; // the key is there
  try {
    const local = await openLocalState(env, keySource);
    let answering: Answering | undefined;
    const reload = (): void => answering && reloadReceiptKeys(env, keySource, local, answering);
    const end: WorkerEnd = new WorkerEnd({
      ...fleet,
      clock,
      cache: { ...config.cache, bytes: config.workers.cacheBytes, clock, hotKeys: config.refresh.hotKeys },
      waitMs: config.upstream.slowTimeoutMs + config.upstream.timeoutMs,
      onLiveAnswer(entry) {
        if (entry.key === NETWORK_KEY) answering?.server.publish(entry, parseNetworkSnapshot(entry.result));
      },
      onReceiptKeys: reload,
    });
    disposals.defer(() => end.close());
    await end.joined;
    const { mesh, cache } = end;
    const signer = new Signer(local.keys, mesh, end.replica);
    const startup = {
      get problem() {
        return end.vitals?.startupProblem ?? undefined;
      },
    };
    const upstream = { mesh, embedded: undefined };
    const base = openServing(env, local, { signer }, upstream, startup, () => {}, cache);
    const readThrough = new WorkerReads({ end, cache, mesh, clock, admitOwn: (work) => work() });
    local.access.readBalancesWith((wallet, mint) => readMintBalance(readThrough, wallet, mint));
    const context: RouteContext = {
      ...base.context,
      embedded: end.vitals?.embedded ?? null,
      liveAccounts: {
        read: (query) => base.liveAccounts.read(query),
        readBalances: (query) => base.liveAccounts.readBalances(query),
        readLive: (query) => base.liveAccounts.readLive(query),
        readLiveBalances: (query) => base.liveAccounts.readLiveBalances(query),
        subscribe: (address, commitment, subscriber, caller) => end.follow(address, commitment, subscriber, caller),
      },
      vitals: {
        get isFailing() {
          return end.vitals?.isFailing ?? true;
        },
        get slotTimeMs() {
          return end.vitals?.slotTimeMs ?? env.vitals.slotTimeMs;
        },
      },
      problems: () => [...new Set([...(end.vitals?.problems ?? []), ...base.context.problems()])],
    };
    answering = openServer(
      env,
      local,
      { signer },
      { ...base, context, readThrough },
      {
        sharesPort: true,
        answerRpc: (body, minSlot, cost) => end.answerRpc(body, minSlot, cost),
      },
    );
    const { server } = answering;
    disposals.defer(() => {
      server.drain();
      return waitUntilIdle(() => server.connections, clock, config.drainMs);
    });
    const port = await server.listen();
    return { reload, close: closerOf(env), url: urlOf(config, port) };
  } catch (thrown) {
    await disposals.disposeAsync().catch(() => {});
    throw thrown;
  }
}

/** Returns the request for the answer under a key. */
function parseReadRequest(key: string): ReadRequest {
  const route = matchRoute(parseTarget(key).path)?.route;
  if (route?.kind !== 'read' && route?.kind !== 'live')
    throw new GatewayError('route_not_found', 'there is no such path');
  return { route, params: paramsOfKey(route, key, matchRoute), key };
}

/** The part of the limit of new connections that a worker has beyond an equal one: the kernel spreads them unevenly. */
const DOOR_SHARE = 1.15;

/** Returns the settings of one worker of several: of the limit of new connections it has a share. */
function withDoorShare(config: Config): Config {
  const { count } = config.workers;
  const connections = Math.ceil((config.limits.connections * DOOR_SHARE) / Number(count));
  return { ...config, limits: { ...config.limits, connections: Math.min(config.limits.connections, connections) } };
}

const NETWORK_KEY = `${API_PREFIX}/network`;

/** Returns what all parts of a process share. */
function environmentOf(options: GatewayOptions): Environment {
  const { config, secrets = {}, clock = systemClock, random = Math.random } = options;
  const warnings = new RecentWarnings(options.log, clock);
  return {
    config,
    log: warnings.log,
    warnings,
    clock,
    random,
    leaving: { hasBegun: false },
    disposals: new DisposalStack(),
    vitals: new ClusterVitals(),
    startedMs: clock.monotonic(),
    jupiterKey: readJupiterKey(secrets, config.prices.jupiter.keyFile),
    redis: readRedisSettings(config, secrets),
  };
}

let loadedSite: Promise<Site> | undefined;

/** Loads pages and document once for all gateways of the process: they are the same for each. */
async function openSite({ pages }: Config) {
  loadedSite ??= loadSite();
  const site = await loadedSite;
  const fileOf = (name: string): SiteFile => {
    const file = site.get(name);
    if (file === undefined) throw new StartError(1, `the build has made no ${name}: npm run build`);
    return file;
  };
  const served = pages ? [...SITE_PATHS].map(([path, name]) => [path, fileOf(name)] as const) : [];
  return { openApiDocument: fileOf(OPENAPI_NAME), site: new Map(served) };
}

/** Opens everything that needs no node, so that a mistake there stops the start at once. */
async function openLocalState({ config, log, clock, random, disposals }: Environment, keySource: KeySource) {
  const loadedKeys = loadReceiptKeys(keySource, clock.now());
  const keys = new ReceiptKeys(loadedKeys.ring, clock, ({ publicKey, kid }) =>
    log.info({ publicKey, kid }, 'another receipt key signs'),
  );
  const { openApiDocument, site } = await openSite(config);
  const access = openAccess({
    ...config,
    waitMs: config.upstream.timeoutMs,
    clock,
    random,
    verifySignature: isStrongSignature,
    onProblem: (problem, err) => log.warn(err === undefined ? {} : { err }, problem),
    onRecovery: (message) => log.info({}, message),
  });
  disposals.defer(() => access.close());
  return { loadedKeys, keys, site, openApiDocument, access };
}

/** Opens the signing of receipts, which may be `exact` once no other process signs with the same key. */
async function openSigning(env: Environment, { loadedKeys, keys }: LocalState, { mesh }: Upstream) {
  const { config, log, clock, random, disposals, redis } = env;
  const { path, created, warning } = loadedKeys;
  const guard = new EquivocationGuard(
    (conflict) => log.error(conflict, 'two results for one finalized slot'),
    () => log.warn({}, 'too many finalized answers to remember: new ones are signed as observed for a while'),
  );
  const signer = new Signer(keys, mesh, guard, (leadMs) =>
    log.warn({ leadMs }, 'the clock was set back: later receipts have earlier times than some before'),
  );
  if (warning !== null) log.warn({}, warning);
  if (created) log.info({ publicKey: signer.publicKey, path }, 'receipt key created');
  const releaseSigningLock = await holdSigningLock({
    keys: loadedKeys,
    guard,
    clock,
    random,
    onExactWithheld: (reason, err) => log.warn({ err }, reason),
    onExactGranted: () => log.info({}, 'this process alone signs with the receipt key now'),
  });
  disposals.defer(releaseSigningLock);
  const tip = () => mesh.tip('finalized');
  const fleet =
    redis && new RedisFleet({ settings: redis, config, log, clock, random, guard, tip, kids: () => keys.ids });
  disposals.defer(() => fleet?.close());
  return { guard, signer, fleet };
}

/** Returns a start that first joins the fleet, which may refuse this gateway. */
const joinThen =
  (follow: () => Promise<void>, { fleet }: Pick<Signing, 'fleet'>, { mesh }: Upstream) =>
  async (): Promise<void> => {
    await fleet?.join(mesh.genesisHash ?? '');
    await follow();
  };

/** Prepares the start over the cluster. */
function createStartup({ config, log, clock, disposals }: Environment, { mesh }: Upstream): Startup {
  return new Startup({
    mesh,
    clock,
    settings: config.upstream,
    onUnreached: (problem) => log.warn({}, `${problem}; the port opens without, and the nodes are tried again`),
    onConnected: () => log.info({ cluster: mesh.genesisHash }, 'connected'),
    isClosing: () => disposals.disposed,
  });
}

/** Creates the cache and the sources of answers. */
function openServing(
  env: Environment,
  { keys, access }: LocalState,
  { signer, fleet }: Pick<Signing, 'signer'> & Partial<Pick<Signing, 'fleet'>>,
  { mesh, embedded }: Upstream,
  startup: Pick<Startup, 'problem'>,
  onLeasesAdvanced: () => void = () => {},
  copy?: Cache,
) {
  const { config, log, clock, vitals, leaving, disposals, startedMs, jupiterKey } = env;
  const recordBytes = Math.floor(config.cache.bytes / TRANSACTION_SHARE);
  const bytes = config.cache.bytes - recordBytes;
  const cache = copy ?? new Cache({ ...config.cache, bytes, clock, hotKeys: config.refresh.hotKeys });
  const budgets = new RequestBudgets(clock, config.watch.requestsPerSecond);
  disposals.defer(() => budgets.close());
  const liveOptions = {
    mesh,
    clock,
    settings: config.watch,
    budgets,
    onLeasesAdvanced(source: LeaseSource) {
      cache.advanceHot(source);
      onLeasesAdvanced();
    },
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
  return { cache, context, readThrough, liveAccounts, tokenLists, liveSources: [liveAccounts, tokenLists] };
}

/** Creates what answers requests; it does not listen yet. */
function openServer(
  { config, log, clock, random, disposals }: Environment,
  { access, site, openApiDocument }: LocalState,
  { signer }: Pick<Signing, 'signer'>,
  { cache, context, readThrough, liveSources }: Omit<Serving, 'readThrough'> & { readonly readThrough: RouteReads },
  elsewhere: Pick<ServerOptions, 'sharesPort' | 'answerRpc'> = {},
) {
  const sealer = new Sealer({ ...config.cache, cache, signer, clock });
  const meter = new RequestMeter({
    clock,
    slowMs: config.log.slowMs,
    onSlow: ({ ms, ...request }, omitted) =>
      log.info({ ...request, ms: Math.round(ms), ...(omitted > 0 && { omitted }) }, 'a slow request'),
  });
  const server = createServer({
    ...elsewhere,
    host: config.host,
    port: config.port,
    hosts: config.hosts,
    origins: config.origins,
    clock,
    random,
    polledEvents,
    context,
    readThrough,
    sealer,
    access,
    meter,
    maxBodyBytes: config.limits.bodyBytes,
    owedBytes: config.limits.owedBytes,
    openApiDocument,
    site,
    stream: config.stream,
    onInternalError: (requestId: string, err: unknown) => log.error({ requestId, err }, 'a request met a defect'),
  });
  disposals.defer(() => server.close());
  for (const source of liveSources.toReversed()) disposals.defer(() => source.close());
  return { server, sealer, frameDelays: new Tally(FRAME_DELAY_BOUNDS) };
}

/** Opens the listener for operators. */
function openAdminOver(
  { config, log, warnings, vitals }: Environment,
  { access }: LocalState,
  { guard }: Signing,
  { context, liveAccounts, tokenLists }: Serving,
  { server, sealer, frameDelays }: Answering,
  isPortChosen: boolean,
): Promise<AdminListener | undefined> {
  const live = { liveAccounts: liveAccounts.stats, tokenLists: tokenLists.stats };
  return openAdmin({
    sources: { config, context, vitals, server, access, sealer, guard, ...live, frameDelays, warnings },
    isPortChosen,
    onWarning: (message) => log.warn({}, message),
    onDefect: (path, err) => log.error({ path, err }, 'the listener for operators met a defect'),
  });
}

/**
 * Returns a function that starts the pipeline, which keeps the cache current. It resolves with the first frame, or after
 * {@link MAX_WARM_UP_MS}.
 */
function openPipeline(
  { config, log, clock, vitals, disposals }: Environment,
  { mesh }: Upstream,
  { guard }: Signing,
  { cache, context, liveSources }: Serving,
  { server, frameDelays }: Answering,
): () => Promise<void> {
  let newestSlot = 0;
  let pipeline: Pipeline | undefined;
  const start = (onFirstFrame: () => void): Pipeline =>
    startPipeline({
      mesh,
      cache,
      clock,
      vitals,
      liveSources,
      equivocationGuard: guard,
      streamId: randomBytes(8).toString('hex'),
      refresh: config.refresh,
      ...config.stream,
      isHealthy: () => isHealthy(context),
      onFrame(frame, snapshot) {
        if (frame.body !== undefined) server.publish(frame, snapshot);
        if (frame.slot > newestSlot && frame.slot === cache.tip) frameDelays.record(cache.tipAgeMs / 1000);
        newestSlot = frame.slot; // a frame that is repeated in silence tells no delay
        onFirstFrame();
      },
      onError: (part, err) =>
        log.warn({ part, err }, 'a read failed; it is repeated, and the previous answer is still served meanwhile'),
    });
  const health = new Alert({
    onFiring: (reason) => log.warn({}, `unhealthy: ${reason}`),
    onResolved: () => log.info({}, 'healthy again'),
  });
  disposals.defer(() => pipeline?.close());
  disposals.defer(() => {
    server.drain();
    return waitUntilIdle(() => server.pendingResponses, clock, config.drainMs);
  });
  const checkHealth = () => context.startupProblem() === undefined && health.check(unhealthyReason(context));
  disposals.defer(repeat(clock, HEALTH_CHECK_MS, checkHealth));
  return async () => {
    if (disposals.disposed) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(MAX_WARM_UP_MS, resolve);
      pipeline = start(() => {
        cancel();
        resolve();
      });
    });
  };
}

/** Returns the address of the embedded cluster; null where there is none. */
const addressOf = (embedded: Upstream['embedded']): Gateway['embedded'] =>
  embedded === undefined ? null : { rpc: embedded.url };

/** Returns the gateway as its process sees it. */
function gatewayOf(
  env: Environment,
  keySource: KeySource,
  local: LocalState,
  { mesh, embedded }: Upstream,
  { guard, signer }: Signing,
  answering: Answering,
  admin: AdminListener | undefined,
  port: number,
): Gateway {
  const { config } = env;
  return {
    url: urlOf(config, port),
    get cluster() {
      return mesh.genesisHash ?? null;
    },
    embedded: addressOf(embedded),
    admin: admin?.url ?? null,
    get publicKey() {
      return signer.publicKey;
    },
    get conflicts() {
      return guard.conflicts;
    },
    get signsAlone() {
      return guard.isSoleSigner;
    },
    receiptKeyPath: local.loadedKeys.path,
    nodes: () => mesh.nodes(),
    reload: () => reloadReceiptKeys(env, keySource, local, answering),
    close: closerOf(env),
  };
}

const urlOf = ({ host }: Config, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Returns the function that ends a process: it is no longer healthy, then takes no more requests, then releases all. */
function closerOf({ config, clock, leaving, disposals }: Environment): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const leaveAndClose = async (): Promise<void> => {
    leaving.hasBegun = true;
    if (config.drainDelayMs > 0) await sleep(clock, config.drainDelayMs);
    await disposals.disposeAsync();
  };
  return () => {
    closing ??= leaveAndClose();
    return closing;
  };
}

/** Reloads the receipt keys. If they can't be used, the old ones stay in use. */
function reloadReceiptKeys(
  { log, clock }: Environment,
  keySource: KeySource,
  { loadedKeys, keys }: LocalState,
  { sealer }: Answering,
): void {
  if (loadedKeys.path === null) {
    log.info({}, 'the receipt key was given inline: there is nothing to reload');
    return;
  }
  try {
    const { ring } = loadReceiptKeys({ ...keySource, production: true }, clock.now()); // production creates no key
    if (keys.replace(ring)) sealer.invalidateReceipts();
    log.info({ publicKey: keys.active.publicKey }, 'the receipt keys were reloaded');
  } catch (err) {
    log.error({ err }, "the receipt keys can't be used; the old ones stay in use");
  }
}

/** Resolves when no response is pending, or after `ms` milliseconds. */
async function waitUntilIdle(pending: () => number, clock: Clock, ms: number): Promise<void> {
  const deadlineMs = clock.monotonic() + ms;
  while (pending() > 0 && clock.monotonic() < deadlineMs) await sleep(clock, POLL_MS);
}

/** The bounds of frame delays, in seconds. */
const FRAME_DELAY_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];

const POLL_MS = 20;

/** One thread decodes about ten of the longest transactions a second. */
const DECODING_THREADS = 1;

/** Time between two checks of the health that is logged. */
const HEALTH_CHECK_MS = 1000;

type LocalState = Awaited<ReturnType<typeof openLocalState>>;
type Upstream = Awaited<ReturnType<typeof openUpstream>>;
type Signing = Awaited<ReturnType<typeof openSigning>>;
type Serving = ReturnType<typeof openServing>;
type Answering = ReturnType<typeof openServer>;
