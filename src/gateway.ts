import { randomBytes } from 'node:crypto';
import { openAccess } from './access/access.ts';
import type { AdminListener } from './admin/admin-listener.ts';
import { openAdmin } from './admin/open-admin.ts';
import { Cache } from './cache/cache.ts';
import type { Config } from './config/config-schema.ts';
import { readJupiterKey, type Secrets } from './config/secret-variables.ts';
import type { Clock } from './domain/clock.ts';
import { ClusterVitals } from './domain/cluster-vitals.ts';
import type { LeaseSource } from './domain/lease.ts';
import { StartError } from './domain/start-error.ts';
import { Tally } from './domain/tally.ts';
import { RequestMeter } from './http/rest/request-meter.ts';
import { createServer } from './http/server.ts';
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
import { readMintBalance } from './routes/mint-balance.ts';
import { StakeTableCache } from './routes/portfolio/stake-table-cache.ts';
import { createRpcReadThrough } from './routes/rpc/answer-rpc-call.ts';
import { ScanGate } from './routes/scans/scan-gate.ts';
import type { RouteContext } from './routing/route.ts';
import { RouteReadThrough } from './routing/route-read-through.ts';
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
import { openUpstream } from './wiring/open-upstream.ts';
import type { startEmbedded } from './wiring/start-embedded.ts';
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
  readonly embedded?: ReturnType<typeof startEmbedded>;
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
  const { config, receiptKey, secrets = {}, clock = systemClock, random = Math.random } = options;
  const warnings = new RecentWarnings(options.log, clock);
  const { log } = warnings;
  const jupiterKey = readJupiterKey(secrets, config.prices.jupiter.keyFile);
  const disposals = new DisposalStack();
  const vitals = new ClusterVitals();
  const startedMs = clock.monotonic();
  const leaving = { hasBegun: false };
  const env: Environment = { config, log, warnings, clock, random, leaving, disposals, vitals, startedMs, jupiterKey };
  const keySource: KeySource = { production: false, ...receiptKey, stateDir: config.state };
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
    await startup.run(openPipeline(env, upstream, signing, serving, answering));
    const port = await answering.server.listen();
    return gatewayOf(env, keySource, local, upstream, signing, answering, admin, port);
  } catch (thrown) {
    await disposals.disposeAsync().catch(() => {}); // the error that prevented the start is the one to throw
    throw thrown;
  }
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
  const { log, clock, random, disposals } = env;
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
  return { guard, signer };
}

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
  { signer }: Signing,
  { mesh, embedded }: Upstream,
  startup: Startup,
) {
  const { config, log, clock, vitals, leaving, disposals, startedMs, jupiterKey } = env;
  const recordBytes = Math.floor(config.cache.bytes / TRANSACTION_SHARE);
  const bytes = config.cache.bytes - recordBytes;
  const cache = new Cache({ ...config.cache, bytes, clock, hotKeys: config.refresh.hotKeys });
  const budgets = new RequestBudgets(clock, config.watch.requestsPerSecond);
  disposals.defer(() => budgets.close());
  const liveOptions = {
    mesh,
    clock,
    settings: config.watch,
    budgets,
    onLeasesAdvanced: (source: LeaseSource) => cache.advanceHot(source),
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
    problems: () => [...access.problems(), ...signer.problems(clock.now())],
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
  { signer }: Signing,
  { cache, context, readThrough, liveSources }: Serving,
) {
  const sealer = new Sealer({ ...config.cache, cache, signer, clock });
  const meter = new RequestMeter({
    clock,
    slowMs: config.log.slowMs,
    onSlow: ({ ms, ...request }, omitted) =>
      log.info({ ...request, ms: Math.round(ms), ...(omitted > 0 && { omitted }) }, 'a slow request'),
  });
  const server = createServer({
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
    onInternalError: (requestId, err) => log.error({ requestId, err }, 'a request met a defect'),
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
  { config, log, clock, leaving, disposals }: Environment,
  keySource: KeySource,
  { loadedKeys, keys }: LocalState,
  { mesh, embedded }: Upstream,
  { guard, signer }: Signing,
  { sealer }: Answering,
  admin: AdminListener | undefined,
  port: number,
): Gateway {
  let closing: Promise<void> | undefined;
  const leaveAndClose = async (): Promise<void> => {
    leaving.hasBegun = true;
    if (config.drainDelayMs > 0) await sleep(clock, config.drainDelayMs);
    await disposals.disposeAsync();
  };
  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
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
    receiptKeyPath: loadedKeys.path,
    nodes: () => mesh.nodes(),
    reload() {
      if (loadedKeys.path === null) return log.info({}, 'the receipt key was given inline: there is nothing to reload');
      try {
        const { ring } = loadReceiptKeys({ ...keySource, production: true }, clock.now()); // production creates no key
        if (keys.replace(ring)) sealer.invalidateReceipts();
        log.info({ publicKey: signer.publicKey }, 'the receipt keys were reloaded');
      } catch (err) {
        log.error({ err }, "the receipt keys can't be used; the old ones stay in use");
      }
    },
    close() {
      closing ??= leaveAndClose();
      return closing;
    },
  };
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
